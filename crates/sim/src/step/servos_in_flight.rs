//! Servos with bounds that need no row: those on single joints of trees that nothing else constrains.
//!
//! A tree on which no constraint rows act advances by a rule of second order, of which a servo within its bounds is
//! a part. A servo near a bound gets a row, in which saturation is exact.

use stiction_mech::{Drive, DriveKind, RowEntry};

use crate::contacts::RowContact;
use crate::free_motion::{FreeMotion, MAX_SERVO_STIFFNESS};
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
    time_step: f64,
}

impl ServosInFlight {
    /// Determines the trees with rows: from the rows that were written so far, contacts to be written, and drives that
    /// need rows.
    pub fn find(
        &mut self,
        world: &World,
        (scheme, time_step): (Scheme, f64),
        free: &FreeMotion,
        rows: &RowBuilder,
        contacts: &[RowContact],
    ) {
        let model = &world.model;
        self.time_step = time_step;
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
        for drive in free
            .forces
            .drives
            .iter()
            .filter(|drive| !is_single_servo(world, free, time_step, drive))
        {
            for entry in free.forces.row(drive.row) {
                self.constrained[tree_of_dof(model, entry.dof)] = true;
            }
        }
    }

    /// Whether a drive needs no row.
    pub fn contains(&self, world: &World, free: &FreeMotion, drive: &Drive) -> bool {
        let tree = free.forces.row(drive.row).first().map(|e| tree_of_dof(&world.model, e.dof));
        is_single_servo(world, free, self.time_step, drive)
            && tree.is_some_and(|tree| !self.constrained[tree])
    }
}

/// Whether a drive is a servo on a single velocity, well within its bounds, that the step resolves.
fn is_single_servo(world: &World, free: &FreeMotion, h: f64, drive: &Drive) -> bool {
    let &[RowEntry { dof, coefficient }] = free.forces.row(drive.row) else { return false };
    let tree = &world.model.trees()[tree_of_dof(&world.model, dof)];
    let place = (dof - tree.dofs.start) * (tree.dofs.len() + 1);
    let inertia = free.matrix(tree.mass.clone())[place];
    let stiffness = coefficient * coefficient * drive.stiffness;
    let is_inside =
        UNSATURATED * drive.lower < drive.force && drive.force < UNSATURATED * drive.upper;
    let is_resolved = h * h * stiffness <= MAX_SERVO_STIFFNESS * inertia;
    matches!(drive.kind, DriveKind::Servo(_)) && is_inside && is_resolved
}
