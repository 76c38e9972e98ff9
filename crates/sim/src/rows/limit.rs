//! Rows of joint and tendon limits that can be reached within the step. Soft ones follow MuJoCo's law
//! ([`SoftLaw`]) and have a row only beyond their margin.

use stiction_mech::{Forces, LimitRow, LimitSource, SoftLaw, SoftRowError};
use stiction_solve::law::{Law, Unilateral};

use super::{ConstraintClass, ConstraintContext, ConstraintKey, RowBuilder, RowParameters};
use crate::world::World;

/// Softness of a limit, and the distance from its end at which it begins to act [m, rad]; `None` if it is rigid.
pub(crate) fn softness(world: &World, source: LimitSource) -> Option<(SoftLaw, f64)> {
    let (law, limit) = match source {
        LimitSource::Joint(joint, _) => {
            let spec = &world.model.joints()[joint.0].spec;
            (spec.limit_softness, spec.limit)
        }
        LimitSource::Tendon(tendon) => {
            let spec = &world.model.tendons()[tendon.0].spec;
            (spec.limit_softness, spec.limit)
        }
    };
    law.map(|law| (law, limit.map_or(0.0, |limit| limit.margin)))
}

/// Inverse inertia along a limit [1/kg, 1/(kg·m²)].
fn inverse_weight(world: &World, source: LimitSource) -> f64 {
    match source {
        LimitSource::Joint(joint, k) => {
            world.inverse_weights.dof[world.model.joints()[joint.0].dofs.start + k]
        }
        LimitSource::Tendon(tendon) => world.inverse_weights.tendon[tendon.0],
    }
}

/// Adds the rows of the rigid limits.
pub(crate) fn add_rigid_rows(
    world: &World,
    time_step: f64,
    forces: &Forces,
    context: &ConstraintContext,
    rows: &mut RowBuilder,
) {
    for limit in forces.limits.iter().filter(|limit| softness(world, limit.source).is_none()) {
        open(limit, limit.gap, limit.gap.max(0.0) / time_step, rows);
        close(limit, forces, context, rows);
    }
}

/// Adds the rows of all limits.
pub(crate) fn add_rows(
    world: &World,
    parameters: &RowParameters,
    forces: &Forces,
    context: &ConstraintContext,
    rows: &mut RowBuilder,
) {
    let h = parameters.time_step;
    for limit in &forces.limits {
        let Some((law, margin)) = softness(world, limit.source) else {
            open(limit, limit.gap, limit.gap.max(0.0) / h, rows);
            close(limit, forces, context, rows);
            continue;
        };
        let (position, velocity) = (limit.gap - margin, limit.gap_rate);
        if position < 0.0 {
            let error = SoftRowError { position, size: position, velocity };
            let row = law.row(error, inverse_weight(world, limit.source), h);
            open(limit, position, 0.0, rows);
            rows.set_soft(row, velocity, parameters.alpha);
            close(limit, forces, context, rows);
        }
    }
}

fn open(limit: &LimitRow, gap: f64, bias: f64, rows: &mut RowBuilder) {
    let (a, b) = key_of(limit.source);
    let (class, feature) = (ConstraintClass::Limit, u32::from(limit.sign < 0.0));
    let key = ConstraintKey { class, a, b, feature, row: 0 };
    rows.open(key, Law::Unilateral(Unilateral), gap, &[bias], &[0.0]);
}

fn close(limit: &LimitRow, forces: &Forces, context: &ConstraintContext, rows: &mut RowBuilder) {
    for entry in limit.row.of(&forces.entries) {
        rows.add_dof(context, entry.dof, limit.sign * entry.coefficient);
    }
    rows.close();
}

/// Ascending in the order in which limits are listed.
fn key_of(source: LimitSource) -> (u32, u32) {
    match source {
        LimitSource::Tendon(tendon) => (0, tendon.0 as u32),
        LimitSource::Joint(joint, k) => (1 + joint.0 as u32, k as u32),
    }
}
