//! Wrenches of equalities on bodies, from the impulses of their rows.
//!
//! The rows are rebuilt, link by link, in the configuration of the step: a row whose rate is c·V acts
//! on its link with c times its impulse. An end without a link is fixed to the world; the wrench on it
//! is the opposite of that on the other end.

use nalgebra::{Vector3, Vector6};
use stiction_mech::{BodyId, Model};
use stiction_solve::law::{Bilateral, Law};

use super::interaction::Wrench;
use super::last_step::LastStep;
use crate::constraint::{Configuration, SoftWeld};
use crate::driven::DrivenBodies;
use crate::rows::{ConstraintContext, ConstraintKey, RowBuilder, RowPort};
use crate::start_errors::YieldingConstraints;
use crate::world::World;

/// Scratch memory for the rebuilt rows.
#[derive(Debug)]
pub(super) struct EqualityWrenches {
    rows: RowBuilder,
    /// Per tree: `false`, for both `by_tree` and `asleep`.
    no: Vec<bool>,
}

impl EqualityWrenches {
    pub fn new(model: &Model) -> Self {
        Self { rows: RowBuilder::default(), no: vec![false; model.trees().len()] }
    }

    /// Calls `visit(body, wrench, point)` for the wrenches of equalities on bodies in the last
    /// step, mean over the step; the force acts at the point [m], world frame.
    pub fn for_each(
        &mut self,
        world: &World,
        configuration: &Configuration,
        last: &LastStep,
        mut visit: impl FnMut(BodyId, &Wrench, &Vector3<f64>),
    ) {
        let Self { rows, no } = self;
        // No term contains the motion of driven bodies.
        let driven = DrivenBodies::default();
        let Configuration { model, data, .. } = *configuration;
        let (driven, yielding) = (&driven, YieldingConstraints::NONE);
        let context = ConstraintContext { model, data, by_tree: no, asleep: no, driven, yielding };
        for (index, equality) in world.equalities.iter().enumerate() {
            let Some(ends) = equality.bodies() else { continue };
            let options = &world.equality_options[index];
            let soft = SoftWeld::of(equality, options, configuration);
            for row in 0..equality.dim() {
                let force = last.equality_force(index, row);
                if force == 0.0 {
                    continue;
                }
                rows.clear();
                rows.open(ConstraintKey::default(), Law::Bilateral(Bilateral), 0.0, &[0.0], &[0.0]);
                match &soft {
                    Some(weld) => weld.add_row(row, &context, rows),
                    None => equality.add_row(row, configuration, &context, rows),
                }
                rows.close();
                for (port, term) in rows.ports().iter().zip(rows.rows().terms()) {
                    let RowPort::Link { body: link, tree } = *port else { continue };
                    let c = Vector6::from_column_slice(rows.rows().values(term)) * force;
                    let wrench = Wrench {
                        torque: c.fixed_rows::<3>(0).into(),
                        force: c.fixed_rows::<3>(3).into(),
                    };
                    let opposite = Wrench { torque: -wrench.torque, force: -wrench.force };
                    let point = configuration.data.reference[tree as usize];
                    for body in ends {
                        match configuration.model.link(body) {
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
