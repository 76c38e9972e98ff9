//! Servos with bounds that need no row: those on single joints of trees that nothing else constrains.
//!
//! A tree on which no constraint rows act advances by a rule of second order, of which a servo within its bounds is
//! a part. A servo near a bound gets a row, in which saturation is exact.

use stiction_mech::{Drive, DriveKind};

use crate::contacts::RowContact;
use crate::free_motion::FreeMotion;
use crate::rows::{RowBuilder, tree_of_dof};
use crate::scheme::Scheme;
use crate::world::World;

/// Fraction of its bounds within which a servo counts as unsaturated for the step [-].
const UNSATURATED: f64 = 0.8;

/// Trees that have constraint rows other than those of servos.
#[derive(Default)]
pub(crate) struct ServosInFlight {
    /// Per tree: whether it has rows.
    constrained: Vec<bool>,
}

impl ServosInFlight {
    /// Determines the trees with rows: from the rows that were written so far, contacts to be written, and drives that
    /// need rows.
    pub fn find(
        &mut self,
        world: &World,
        scheme: Scheme,
        free: &FreeMotion,
        rows: &RowBuilder,
        contacts: &[RowContact],
    ) {
        let model = &world.model;
        self.constrained.clear();
        // Rows of soft bodies and cables come after those of drives.
        let is_rigid = model.nodes() == 0 && model.rods().is_empty() && scheme != Scheme::Rk4;
        let flies = |tree| is_rigid && free.flies(model, scheme, tree);
        self.constrained.extend((0..model.trees().len()).map(|tree| !flies(tree)));
        let of_rows = rows.ports().iter().filter_map(|port| port.tree());
        of_rows.for_each(|tree| self.constrained[tree] = true);
        for contact in contacts {
            for body in world.bodies_of(&contact.contact) {
                if let Some(tree) = model.bodies()[body].tree {
                    self.constrained[tree] = true;
                }
            }
        }
        for drive in free.forces.drives.iter().filter(|drive| !is_single_servo(free, drive)) {
            for entry in free.forces.row(drive.row) {
                self.constrained[tree_of_dof(model, entry.dof)] = true;
            }
        }
    }

    /// Whether a drive needs no row.
    pub fn contains(&self, world: &World, free: &FreeMotion, drive: &Drive) -> bool {
        let tree = free.forces.row(drive.row).first().map(|e| tree_of_dof(&world.model, e.dof));
        is_single_servo(free, drive) && tree.is_some_and(|tree| !self.constrained[tree])
    }
}

/// Whether a drive is a servo on a single velocity, well within its bounds.
fn is_single_servo(free: &FreeMotion, drive: &Drive) -> bool {
    let is_inside =
        UNSATURATED * drive.lower < drive.force && drive.force < UNSATURATED * drive.upper;
    matches!(drive.kind, DriveKind::Servo(_)) && free.forces.row(drive.row).len() == 1 && is_inside
}
