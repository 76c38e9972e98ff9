//! What equalities between bodies do to them: impulses of rows turned into wrenches.
//!
//! The rows are written again, link by link, in the configuration of the step: a row whose rate is
//! c·V acts on its link with c times its impulse. What has no link is held by the world; it feels
//! the opposite of what the other end does.

use nalgebra::{Vector3, Vector6};
use stiction_mech::{BodyId, Model};
use stiction_solve::law::{Bilateral, Law};

use super::interaction::Wrench;
use super::last_step::LastStep;
use crate::constraint::{Equality, Place};
use crate::driven::Driven;
use crate::rows::{Key, Port, Rows, Sight};
use crate::world::World;

/// The two bodies of an equality that acts on bodies.
pub(super) fn ends(equality: &Equality) -> Option<[BodyId; 2]> {
    match equality {
        Equality::Connect(relation) => Some([relation.body_a, relation.body_b]),
        Equality::Distance(relation) => Some([relation.body_a, relation.body_b]),
        Equality::Weld(relation) => Some([relation.body_a, relation.body_b]),
        Equality::Joint(_) | Equality::Tendon(_) => None,
    }
}

/// Memory for rows that are written again.
#[derive(Debug)]
pub(super) struct Pulls {
    rows: Rows,
    /// Per tree: no.
    no: Vec<bool>,
}

impl Pulls {
    pub fn new(model: &Model) -> Self {
        Self { rows: Rows::default(), no: vec![false; model.trees().len()] }
    }

    /// Calls `visit(body, wrench, point)` with what equalities did to bodies in the last step, mean
    /// over the step; the force acts at the point [m], world frame.
    pub fn for_each(
        &mut self,
        world: &World,
        place: &Place,
        last: &LastStep,
        mut visit: impl FnMut(BodyId, &Wrench, &Vector3<f64>),
    ) {
        let Self { rows, no } = self;
        // The motion of driven bodies is in no term.
        let driven = Driven::default();
        let Place { model, data, .. } = *place;
        let sight = Sight { model, data, whole: no, asleep: no, driven: &driven };
        for (index, equality) in world.equalities.iter().enumerate() {
            let Some(ends) = ends(equality) else { continue };
            for row in 0..equality.dim() {
                let force = last.equality_force(index, row);
                if force == 0.0 {
                    continue;
                }
                rows.clear();
                rows.open(Key::default(), Law::Bilateral(Bilateral), 0.0, &[0.0], &[0.0]);
                equality.row(row, place, &sight, rows);
                rows.close();
                let Some(written) = rows.constraints().last() else { continue };
                for term in rows.terms(written) {
                    let Port::Link(link) = term.port else { continue };
                    let c = Vector6::from_column_slice(rows.values(term)) * force;
                    let wrench = Wrench {
                        torque: c.fixed_rows::<3>(0).into(),
                        force: c.fixed_rows::<3>(3).into(),
                    };
                    let opposite = Wrench { torque: -wrench.torque, force: -wrench.force };
                    let point = place.data.reference[term.tree as usize];
                    for body in ends {
                        match place.model.link(body) {
                            Some(own) if own == link as usize => visit(body, &wrench, &point),
                            Some(_) => {}
                            None => visit(body, &opposite, &point),
                        }
                    }
                }
            }
        }
    }
}
