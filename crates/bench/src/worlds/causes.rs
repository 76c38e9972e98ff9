//! Causes of changes of energy and momentum in a step, bounded from the states at both ends.

use stiction_mech::{
    ActuatorLaw, BodyId, JointKind, Link, Model, angular_velocity, point_velocity,
};
use stiction_sim::{ContactPoint, Simulation, World};

use super::build::BuiltWorld;
use super::look::Look;
use super::oracles::{EnergyCauses, scheme_error};
use super::plan::WorldPlan;

const MAX_NV: usize = 6;
/// Factor of the error of the scheme in momenta, for lever arms beyond the bodies [-].
const MOMENTUM_SCHEME: f64 = 10.0;
/// Error of the momentum of a tree relative to all momenta: closed loops within it move lever arms [-].
const TREE_MOMENTUM: f64 = 6e-3;
/// Round-off relative to the size of energies [-].
const ROUND_OFF: f64 = 1e-11;

/// A step as the oracles see it.
#[derive(Clone, Copy)]
pub struct ObservedStep<'a> {
    /// State before.
    pub before: &'a Look,
    /// State after.
    pub after: &'a Look,
    /// Contacts of the step, as detected before it.
    pub contacts: &'a [ContactPoint],
    /// Deepest penetration after the step [m].
    pub penetration: f64,
    /// Time step [s].
    pub h: f64,
}

impl ObservedStep<'_> {
    /// Largest position error that a correction may have removed [m, rad].
    pub fn position_error(&self) -> f64 {
        let gaps = self.contacts.iter().map(|c| -c.gap);
        let equalities = self.before.equality.iter().chain(&self.after.equality).flatten();
        let limits = self.before.limits.iter().chain(&self.after.limits);
        let errors = equalities.chain(limits).copied().chain([self.penetration]);
        gaps.chain(errors).fold(0.0, f64::max)
    }

    /// Turn that a correction may have made [rad], for the smallest radius of bodies.
    pub fn correction_turn(&self, radius: &[f64]) -> f64 {
        let smallest = radius.iter().filter(|r| **r > 0.0).copied().fold(1.0, f64::min);
        (self.position_error() / smallest).min(0.1)
    }
}

/// The causes of a change of energy in a step.
pub fn energy_causes(
    (plan, built): (&WorldPlan, &BuiltWorld),
    step: &ObservedStep,
    radius: &[f64],
) -> EnergyCauses {
    let world = built.simulation.world();
    let (model, h) = (world.model(), step.h);
    let (springs, pull) = spring_sampling(model, step);
    let error = step.position_error();
    let gravity = model.gravity().norm();
    let fastest = Look::largest(&step.before.speed, &step.after.speed);
    let mass = model.mass() + model.softs().iter().map(|soft| soft.total_mass()).sum::<f64>();
    let shift = error.min(2.0 * h * (1.0 + fastest));
    let kinetic = step.before.kinetic.max(step.after.kinetic);
    let weight = gravity * mass;
    let size = step.before.potential.abs() + step.after.potential.abs() + kinetic;
    let far = step.before.data.body_pose.iter().map(|X| X.translation.vector.norm());
    let far = far.fold(0.0, f64::max);
    EnergyCauses {
        work: actuator_work((plan, built), step),
        sampling: weight_sampling(world, step) + springs,
        correction: (weight + pull) * shift + 2.0 * step.correction_turn(radius) * kinetic,
        relative: scheme_error(step.before, step.after, h),
        round_off: ROUND_OFF * (size + weight * far) + 1e-12,
    }
}

/// Bound on the work of actuators [J]: the larger force times the larger speed of both states, and the energy that the spring of a
/// position servo releases.
fn actuator_work((plan, built): (&WorldPlan, &BuiltWorld), step: &ObservedStep) -> f64 {
    let model = built.simulation.world().model();
    let mut work = 0.0;
    for (k, ids) in built.bodies.iter().enumerate() {
        let (Some((_, joint)), Some(actuator)) = (ids, plan.bodies[k].actuator) else { continue };
        if !plan.has_of_body("actuator", k) {
            continue;
        }
        let joint = &model.joints()[joint.0];
        let (q, v) = (joint.q.start, joint.dofs.start);
        let (mut force, mut speed) = (0.0_f64, 0.0_f64);
        for look in [step.before, step.after] {
            let (length, rate) = (look.state.q[q], look.state.v[v]);
            let (low, high) = actuator.force_range.unwrap_or((f64::NEG_INFINITY, f64::INFINITY));
            let present = ActuatorLaw::force(&actuator.law, actuator.control, length, rate);
            force = force.max(present.clamp(low, high).abs());
            speed = speed.max(rate.abs());
        }
        let released = match actuator.law {
            ActuatorLaw::Position { kp, .. } => {
                let stretch = |look: &Look| actuator.control - look.state.q[q];
                0.5 * kp * (stretch(step.before).powi(2) - stretch(step.after).powi(2))
            }
            _ => 0.0,
        };
        work += released.max(force * speed * step.h);
    }
    work
}

/// Work of the weight on half of the change of velocities, and the energy of one step of fall [J].
fn weight_sampling(world: &World, step: &ObservedStep) -> f64 {
    let (model, h) = (world.model(), step.h);
    let gravity = model.gravity();
    let mut sum = 0.0;
    for link in model.links() {
        let p = |look: &Look| {
            let X_WB = &look.data.body_pose[link.body];
            let p_W = X_WB.translation.vector + X_WB.rotation * link.com;
            point_velocity(model, &look.data, BodyId(link.body), p_W)
        };
        let change = p(step.after) - p(step.before);
        sum += link.mass * (0.5 * h * gravity.dot(&change).abs());
        sum += 0.5 * link.mass * (h * gravity.norm()).powi(2);
    }
    for soft in model.softs() {
        let velocity = |look: &Look| soft.centre_of_mass(&look.state.x_dot[soft.nodes.clone()]);
        let change = velocity(step.after) - velocity(step.before);
        sum += soft.total_mass() * 0.5 * h * gravity.dot(&change).abs();
        sum += 0.5 * soft.total_mass() * (h * gravity.norm()).powi(2);
    }
    sum
}

/// The same for the springs of joints [J], and the sum of their forces [N, N·m].
fn spring_sampling(model: &Model, step: &ObservedStep) -> (f64, f64) {
    let (mut sum, mut pull) = (0.0, 0.0);
    for joint in model.joints().iter().filter(|joint| joint.spec.stiffness > 0.0) {
        let rest = &model.q_spring()[joint.q.clone()];
        let mut stretch = [[0.0; MAX_NV]; 2];
        let count = joint.dofs.len();
        for (look, stretch) in [step.before, step.after].into_iter().zip(&mut stretch) {
            joint.difference(rest, &look.state.q[joint.q.clone()], &mut stretch[..count]);
        }
        for (k, dof) in joint.dofs.clone().enumerate() {
            let x = stretch[0][k].abs().max(stretch[1][k].abs());
            let (v_0, v_1) = (step.before.state.v[dof], step.after.state.v[dof]);
            let speed = v_0.abs().max(v_1.abs());
            let stiffness = joint.spec.stiffness;
            sum += 0.5 * step.h * stiffness * x * (v_1 - v_0).abs();
            sum += 0.5 * stiffness * (step.h * speed).powi(2);
            pull += stiffness * x;
        }
    }
    (sum, pull)
}

/// Sum of all momenta without direction [N·s], and the error of the scheme in their sum relative to it.
pub fn momentum_scale(simulation: &Simulation, step: &ObservedStep, radius: &[f64]) -> (f64, f64) {
    let model = simulation.world().model();
    let speed = |body: usize| step.before.speed[body].max(step.after.speed[body]);
    let mut gross: f64 = model.links().iter().map(|link| link.mass * speed(link.body)).sum();
    for soft in model.softs() {
        let rates = [step.before, step.after].map(|look| &look.state.x_dot[soft.nodes.clone()]);
        let largest = rates.iter().flat_map(|v| v.iter()).map(|v| v.norm()).fold(0.0, f64::max);
        gross += soft.total_mass() * largest;
    }
    // Coordinates of a single body about its centre of mass are Cartesian: momentum has no error.
    let cartesian = |link: &Link| {
        link.parent.is_none() && link.com.norm() <= 1e-12 * radius[link.body].max(1e-3)
    };
    if model.links().iter().all(cartesian) {
        return (gross, 0.0);
    }
    // Momenta turn by Ω h while they change, and Coriolis forces are those of the old angular velocity: both
    // products are of the order of the error.
    // So is the change of lever arms by joints that slide.
    let turn = scheme_error(step.before, step.after, step.h).sqrt() + sliding(model, step, radius);
    let change: f64 = model.links().iter().map(|link| velocity_change(model, link, step)).sum();
    let relative = if gross > 0.0 { change / gross } else { 0.0 };
    let spin = |link: &Link| {
        let [old, new] =
            [step.before, step.after].map(|look| angular_velocity(&look.data, BodyId(link.body)));
        step.h * (new - old).norm()
    };
    let spin_up = model.links().iter().map(spin).fold(0.0, f64::max);
    let scheme = TREE_MOMENTUM + MOMENTUM_SCHEME * turn * (turn + relative) + 2.0 * spin_up;
    (gross, scheme + 2.0 * step.correction_turn(radius))
}

/// Distance by which joints slide in a step, relative to the smallest radius of bodies [-].
fn sliding(model: &Model, step: &ObservedStep, radius: &[f64]) -> f64 {
    let slides = |kind: &JointKind| {
        use JointKind::{Planar, Screw, Slide};
        matches!(kind, Slide { .. } | Planar { .. } | Screw { .. })
    };
    let joints = model.joints().iter().filter(|joint| slides(&joint.spec.kind));
    let rate = |dof: usize| step.before.state.v[dof].abs().max(step.after.state.v[dof].abs());
    let fastest = joints.flat_map(|joint| joint.dofs.clone()).map(rate).fold(0.0, f64::max);
    let smallest = radius.iter().filter(|r| **r > 0.0).copied().fold(1.0, f64::min);
    step.h * fastest / smallest
}

/// Mass of a link times the change of the velocity of its centre of mass [N·s].
fn velocity_change(model: &Model, link: &Link, step: &ObservedStep) -> f64 {
    let velocity = |look: &Look| {
        let X_WB = &look.data.body_pose[link.body];
        let p_W = X_WB.translation.vector + X_WB.rotation * link.com;
        point_velocity(model, &look.data, BodyId(link.body), p_W)
    };
    link.mass * (velocity(step.after) - velocity(step.before)).norm()
}
