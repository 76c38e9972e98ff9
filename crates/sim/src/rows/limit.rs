//! Rows of joint and tendon limits that can be reached within the step. Soft ones, and those that yield since the
//! start, follow MuJoCo's law ([`SoftLaw`]) and have a row only beyond their margin.

use stiction_mech::{
    Forces, JointId, JointKind, LimitRow, LimitSource, Model, SoftLaw, SoftRowError, TendonId,
};
use stiction_solve::law::{Law, Unilateral};

use super::{ConstraintClass, ConstraintContext, ConstraintKey, RowBuilder, RowParameters};
use crate::world::World;

/// Softness of a limit, and the distance from its end at which it begins to act [m, rad]; `None` if it is rigid.
pub(crate) fn softness(world: &World, source: LimitSource) -> Option<(SoftLaw, f64)> {
    let (law, margin) = law_and_margin(world, source);
    law.map(|law| (law, margin))
}

fn law_and_margin(world: &World, source: LimitSource) -> (Option<SoftLaw>, f64) {
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
    (law, limit.map_or(0.0, |limit| limit.margin))
}

/// The law that a limit follows in this step, and the distance from its end at which it begins to act [m, rad];
/// `None` if it is exact.
fn present_law(
    world: &World,
    limit: &LimitRow,
    context: &ConstraintContext,
) -> Option<(SoftLaw, f64)> {
    let (law, margin) = law_and_margin(world, limit.source);
    let yields = context.yielding.has_limit(limit).then(SoftLaw::default);
    law.or(yields).map(|law| (law, margin))
}

/// Inverse inertia along a limit [1/kg, 1/(kg·m²)].
fn inverse_weight(world: &World, source: LimitSource) -> f64 {
    match source {
        LimitSource::Joint(joint, k) => {
            world.inverse_weights().dof[world.model.joints()[joint.0].dofs.start + k]
        }
        LimitSource::Tendon(tendon) => world.inverse_weights().tendon[tendon.0],
    }
}

/// Adds the rows of the limits that are exact.
pub(crate) fn add_rigid_rows(
    world: &World,
    time_step: f64,
    forces: &Forces,
    context: &ConstraintContext,
    rows: &mut RowBuilder,
) {
    for limit in forces.limits.iter().filter(|limit| present_law(world, limit, context).is_none()) {
        open(limit, limit.gap, limit.gap.max(0.0) / time_step, rows);
        close(limit, forces, context, rows);
    }
}

/// Adds the rows of all limits. `v` are the velocities at the start of the step.
pub(crate) fn add_rows(
    world: &World,
    parameters: &RowParameters,
    (forces, v): (&Forces, &[f64]),
    context: &ConstraintContext,
    rows: &mut RowBuilder,
) {
    let h = parameters.time_step;
    for limit in &forces.limits {
        let Some((law, margin)) = present_law(world, limit, context) else {
            let bias = limit.gap.max(0.0) / h - swing(world, limit, v, h);
            open(limit, limit.gap, bias, rows);
            close(limit, forces, context, rows);
            continue;
        };
        let (position, velocity) = (limit.gap - margin, limit.gap_rate);
        if position < 0.0 {
            let error = SoftRowError { position, size: position, velocity };
            let weight = inverse_weight(world, limit.source);
            let row = law.row(error, weight, parameters.law_steps());
            open(limit, position, 0.0, rows);
            rows.set_soft(row, velocity, parameters.alpha);
            close(limit, forces, context, rows);
        }
    }
}

/// Mean rate in the step at which the angle θ of a limited ball joint grows by the part ω of its angular velocity across the
/// axis of the angle, beyond its rate at the start [rad/s]: `h/4 |ω|² cot(θ/2)`, from θ̈ = ½ |ω|² cot(θ/2) [Shuster93].
fn swing(world: &World, limit: &LimitRow, v: &[f64], h: f64) -> f64 {
    let LimitSource::Joint(joint, _) = limit.source else { return 0.0 };
    let joint = &world.model.joints()[joint.0];
    let (JointKind::Ball, Some(range)) = (joint.spec.kind, joint.spec.limit) else { return 0.0 };
    let squared: f64 = v[joint.dofs.clone()].iter().map(|v| v * v).sum();
    let across = (squared - limit.gap_rate * limit.gap_rate).max(0.0);
    let half_angle = 0.5 * (range.upper - limit.gap);
    // A turn by half a radian and more is not resolved.
    (0.25 * h * across / half_angle.tan()).max(0.0).min(0.5 * across.sqrt())
}

fn open(limit: &LimitRow, gap: f64, bias: f64, rows: &mut RowBuilder) {
    rows.open(key(limit), Law::Unilateral(Unilateral), gap, &[bias], &[0.0]);
}

fn close(limit: &LimitRow, forces: &Forces, context: &ConstraintContext, rows: &mut RowBuilder) {
    for entry in limit.row.of(&forces.entries) {
        rows.add_dof(context, entry.dof, limit.sign * entry.coefficient);
    }
    rows.close();
}

/// The joint or tendon whose limit a row is; `None` for other constraints.
pub(crate) fn limited(key: &ConstraintKey) -> Option<LimitSource> {
    (key.class == ConstraintClass::Limit).then(|| match key.a as usize {
        0 => LimitSource::Tendon(TendonId(key.b as usize)),
        joint => LimitSource::Joint(JointId(joint - 1), key.b as usize),
    })
}

/// The velocity that a row limits, if it is the only one of its joint, and the sign of the row's impulse on it.
pub(crate) fn limited_dof(model: &Model, key: &ConstraintKey) -> Option<(usize, f64)> {
    let LimitSource::Joint(joint, _) = limited(key)? else { return None };
    let dofs = &model.joints()[joint.0].dofs;
    (dofs.len() == 1).then_some((dofs.start, if key.feature == 0 { 1.0 } else { -1.0 }))
}

/// The identity of a limit over time; ascending in the order in which limits are listed.
pub(crate) fn key(limit: &LimitRow) -> ConstraintKey {
    let (a, b) = match limit.source {
        LimitSource::Tendon(tendon) => (0, tendon.0 as u32),
        LimitSource::Joint(joint, k) => (1 + joint.0 as u32, k as u32),
    };
    let (class, feature) = (ConstraintClass::Limit, u32::from(limit.sign < 0.0));
    ConstraintKey { class, a, b, feature, row: 0 }
}
