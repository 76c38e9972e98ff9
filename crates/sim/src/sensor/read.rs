//! Computes the readings of all sensors from a state and the last step.
//!
//! Readings are computed on demand, and quantities of the last step only if some sensor reads them.

use nalgebra::{Point3, Vector3};
use stiction_geom::narrow::Manifold;
use stiction_mech::{
    BodyId, Data, Forces, Input, JointId, MechanismState, Model, State, kinematics, kinetic_energy,
    potential_energy, soft_kinetic_energy, soft_potential_energy, velocities,
};

use super::acceleration::Accelerations;
use super::contact::ContactContext;
use super::drive::LastStepForces;
use super::equality::EqualityWrenches;
use super::frame::View;
use super::interaction::{ParentWrenches, Wrench};
use super::last_step::LastStep;
use super::subtree::{self, SubtreeMotion};
use super::{SensorFrame, SensorKind, SensorSpec, limit, ray, separation, string, touch};
use crate::constraint::Configuration;
use crate::scheme::Scheme;
use crate::world::World;

/// Reads the sensors of a world.
pub(crate) struct SensorReader {
    readings: Vec<f64>,
    /// Lengths and rates at the present state, if some sensor reads them.
    measures: Option<Box<(Forces, Input)>>,
    /// The last step, evaluated again, if some sensor reads it.
    last_step: Option<Box<LastStepReader>>,
    /// Memory of the narrow phase.
    manifold: Manifold,
}

/// The last step, evaluated again at its start.
struct LastStepReader {
    data: Data,
    forces: Forces,
    input: Input,
    contact_velocity: Vec<f64>,
    accelerations: Accelerations,
    parent_wrenches: ParentWrenches,
    equality_wrenches: EqualityWrenches,
}

/// A state whose arrays are filled.
#[derive(Clone, Copy)]
struct PresentState<'a> {
    view: View<'a>,
    state: &'a State,
}

impl SensorReader {
    pub fn new(world: &World) -> Self {
        let (model, sensors) = (&world.model, &world.sensors);
        Self {
            readings: vec![0.0; sensors.len],
            measures: sensors
                .any(SensorKind::reads_lengths)
                .then(|| Box::new((Forces::new(model), Input::new(model)))),
            last_step: sensors.read_last_step.then(|| Box::new(LastStepReader::new(model))),
            manifold: Manifold::default(),
        }
    }

    /// Takes over changed parameters of a model.
    pub fn update_parameters(&mut self, model: &Model) {
        self.measures.iter_mut().for_each(|measures| measures.0.update_parameters(model));
        if let Some(last_step) = &mut self.last_step {
            last_step.data.update_parameters(model);
            last_step.forces.update_parameters(model);
        }
    }

    /// Reads everything. `data` is filled from the state unless it `is_current`, as a step leaves it; `input` is used if no
    /// step was taken.
    pub fn read(
        &mut self,
        world: &World,
        scheme: Scheme,
        (state, input): (&State, &Input),
        last: &mut LastStep,
        (data, is_current): (&mut Data, bool),
    ) -> &mut [f64] {
        let model = &world.model;
        if self.readings.is_empty() {
            return &mut self.readings;
        }
        if !is_current && state.check(model).is_err() || input.check(model).is_err() {
            self.readings.fill(f64::NAN);
            return &mut self.readings;
        }
        if !is_current {
            kinematics(model, &state.q, data);
            velocities(model, &state.v, data);
        }
        let now = PresentState { view: View { model, data }, state };
        if let Some(measures) = &mut self.measures {
            let (forces, none) = &mut **measures;
            // Cannot fail: arrays have the right lengths and the input is zero.
            let _ = forces.evaluate(model, (&state.q, &state.v), data, none, 0.0);
        }
        if let Some(last_step) = &mut self.last_step {
            if !last.taken {
                last.hold(world, state, input);
            }
            last_step.evaluate(world, scheme, last, data);
        }
        let mut rest = &mut self.readings[..];
        for spec in &world.sensors.specs {
            let (out, others) = rest.split_at_mut(spec.kind.dim());
            rest = others;
            let measures = self.measures.as_ref().map(|measures| &measures.0);
            let done = now.read(world, &spec.kind, measures, out)
                || now.read_geometry(world, spec, &mut self.manifold, out)
                || self
                    .last_step
                    .as_ref()
                    .is_some_and(|last_step| last_step.read(world, scheme, last, &spec.kind, out));
            debug_assert!(done, "every kind is read by one of the two");
            if spec.cutoff > 0.0 && spec.kind.is_clamped() {
                out.iter_mut().for_each(|x| *x = x.clamp(-spec.cutoff, spec.cutoff));
            }
        }
        &mut self.readings
    }
}

fn write(out: &mut [f64], v: Vector3<f64>) -> bool {
    out.copy_from_slice(v.as_slice());
    true
}

fn write_one(out: &mut [f64], x: f64) -> bool {
    out[0] = x;
    true
}

impl PresentState<'_> {
    /// Reads a sensor of the present state; false if the sensor is of another kind.
    fn read(
        &self,
        world: &World,
        kind: &SensorKind,
        measures: Option<&Forces>,
        out: &mut [f64],
    ) -> bool {
        let Self { view, state } = self;
        let subtree = |body: &BodyId| world.sensors.subtree(*body);
        let joint = |id: JointId| &world.model.joints()[id.0];
        let measure = |length: fn(&Forces) -> &[f64], index: usize| {
            measures.map_or(f64::NAN, |forces| length(forces)[index])
        };
        match kind {
            SensorKind::Gyro(at) => write(out, view.in_axes_of(at, &view.angular_velocity(at))),
            SensorKind::Velocimeter(at) => write(out, view.in_axes_of(at, &view.velocity(at))),
            SensorKind::Magnetometer { at, field } => write(out, view.in_axes_of(at, field)),
            SensorKind::FramePosition { of, seen_from } => {
                write(out, view.position_seen(of, seen_from.as_ref()))
            }
            SensorKind::FrameOrientation { of, seen_from } => {
                let turn = view.orientation_seen(of, seen_from.as_ref());
                out.copy_from_slice(&[turn.w, turn.i, turn.j, turn.k]);
                true
            }
            SensorKind::FrameAxis { of, seen_from, axis } => {
                let turn = view.orientation_seen(of, seen_from.as_ref());
                write(out, turn * Vector3::ith(*axis, 1.0))
            }
            SensorKind::FrameLinearVelocity { of, seen_from } => {
                write(out, view.velocity_seen(of, seen_from.as_ref()))
            }
            SensorKind::FrameAngularVelocity { of, seen_from } => {
                write(out, view.angular_velocity_seen(of, seen_from.as_ref()))
            }
            SensorKind::JointPosition(id) => write_one(out, state.q[joint(*id).q.start]),
            SensorKind::JointVelocity(id) => write_one(out, state.v[joint(*id).dofs.start]),
            SensorKind::BallOrientation(id) => {
                let q = &state.q[joint(*id).q.clone()];
                let norm = q.iter().map(|x| x * x).sum::<f64>().sqrt();
                out.iter_mut().zip(q).for_each(|(out, x)| *out = x / norm);
                true
            }
            SensorKind::BallVelocity(id) => {
                out.copy_from_slice(&state.v[joint(*id).dofs.clone()]);
                true
            }
            SensorKind::ActuatorPosition(id) => {
                write_one(out, measure(|forces| &forces.actuator_length, id.0))
            }
            SensorKind::ActuatorVelocity(id) => {
                write_one(out, measure(|forces| &forces.actuator_rate, id.0))
            }
            SensorKind::TendonPosition(id) => {
                write_one(out, measure(|forces| &forces.tendon_length, id.0))
            }
            SensorKind::TendonVelocity(id) => {
                write_one(out, measure(|forces| &forces.tendon_rate, id.0))
            }
            SensorKind::SubtreeCom(body) => {
                write(out, SubtreeMotion::of(*view, subtree(body)).centre)
            }
            SensorKind::SubtreeLinearVelocity(body) => {
                write(out, SubtreeMotion::of(*view, subtree(body)).velocity)
            }
            SensorKind::SubtreeAngularMomentum(body) => {
                write(out, subtree::angular_momentum(*view, subtree(body)))
            }
            SensorKind::KineticEnergy => {
                let soft = soft_kinetic_energy(view.model, &state.x_dot);
                write_one(out, kinetic_energy(view.model, view.data, &state.v) + soft)
            }
            SensorKind::PotentialEnergy => {
                let soft = soft_potential_energy(view.model, &state.x);
                write_one(out, potential_energy(view.model, view.data, &state.q) + soft)
            }
            SensorKind::Clock => write_one(out, state.time),
            SensorKind::User { .. } => {
                out.fill(0.0);
                true
            }
            SensorKind::JointLimitPosition(_)
            | SensorKind::JointLimitVelocity(_)
            | SensorKind::TendonLimitPosition(_)
            | SensorKind::TendonLimitVelocity(_) => limit::read(view.model, measures, kind, out),
            SensorKind::Inside { .. }
            | SensorKind::Separation { .. }
            | SensorKind::Rangefinder { .. }
            | SensorKind::Contact(_)
            | SensorKind::Accelerometer(_)
            | SensorKind::Force(_)
            | SensorKind::Torque(_)
            | SensorKind::Touch { .. }
            | SensorKind::FrameLinearAcceleration { .. }
            | SensorKind::FrameAngularAcceleration { .. }
            | SensorKind::JointActuatorForce(_)
            | SensorKind::JointLimitForce(_)
            | SensorKind::TendonActuatorForce(_)
            | SensorKind::TendonLimitForce(_)
            | SensorKind::ActuatorForce(_) => false,
        }
    }

    /// Reads a sensor of the present places of shapes and volumes; false if the sensor is of another kind.
    fn read_geometry(
        &self,
        world: &World,
        spec: &SensorSpec,
        manifold: &mut Manifold,
        out: &mut [f64],
    ) -> bool {
        let Self { view, .. } = self;
        match &spec.kind {
            SensorKind::Inside { of, at, volume } => {
                let p_W = Point3::from(view.pose(of).translation.vector);
                let inside = volume.contains(&view.pose(at).inverse_transform_point(&p_W).coords);
                write_one(out, f64::from(u8::from(inside)))
            }
            SensorKind::Separation { between, reads } => {
                separation::read(world, view.data, between, *reads, spec.cutoff, manifold, out);
                true
            }
            SensorKind::Rangefinder { at, reads } => {
                ray::read(world, view.data, (at.body, &view.pose(at)), *reads, out);
                true
            }
            _ => false,
        }
    }
}

impl LastStepReader {
    fn new(model: &Model) -> Self {
        let bodies = model.bodies().len();
        Self {
            data: Data::new(model),
            forces: Forces::new(model),
            input: Input::new(model),
            contact_velocity: vec![0.0; model.nv()],
            accelerations: Accelerations::new(bodies),
            parent_wrenches: ParentWrenches::new(bodies),
            equality_wrenches: EqualityWrenches::new(model),
        }
    }

    /// Evaluates the last step again, as far as some sensor reads it; driven bodies have their present
    /// poses.
    fn evaluate(&mut self, world: &World, scheme: Scheme, last: &LastStep, now: &Data) {
        let (model, sensors) = (&world.model, &world.sensors);
        if !model.driven().is_empty() {
            for (index, body) in model.bodies().iter().enumerate() {
                if body.driver.is_some() {
                    self.data.body_pose[index] = now.body_pose[index];
                }
            }
        }
        kinematics(model, &last.q, &mut self.data);
        velocities(model, &last.v, &mut self.data);
        let view = View { model, data: &self.data };
        self.accelerations.compute(&view, &last.acceleration);
        let reads_interaction = sensors.any(SensorKind::reads_interaction);
        if sensors.any(SensorKind::reads_actuators)
            || reads_interaction && !model.tendons().is_empty()
        {
            let alpha_step = scheme.alpha() * last.time_step;
            for dof in 0..model.nv() {
                self.contact_velocity[dof] = last.v[dof] + alpha_step * last.acceleration[dof];
            }
            self.input.control.clone_from(&last.control);
            // Cannot fail: the step was taken with the same arrays, or they were checked.
            let LastStep { q, v, activation, .. } = last;
            let state = MechanismState { q, v, activation };
            let _ = self.forces.evaluate(model, state, &self.data, &self.input, last.time_step);
        }
        if reads_interaction {
            self.compute_parent_wrenches(world, scheme, last);
        }
    }

    /// Computes the wrench that every body requires from its parent.
    fn compute_parent_wrenches(&mut self, world: &World, scheme: Scheme, last: &LastStep) {
        let Self {
            data,
            forces,
            contact_velocity,
            accelerations,
            parent_wrenches,
            equality_wrenches,
            ..
        } = self;
        let view = View { model: &world.model, data };
        parent_wrenches.begin(&view, accelerations);
        parent_wrenches.subtract_contacts(&view, &last.contacts);
        parent_wrenches.subtract_applied(&view, &last.wrench);
        let mut subtract = |body: BodyId, wrench: &Wrench, p_W: &Vector3<f64>| {
            parent_wrenches.subtract(&view, body, wrench, p_W);
        };
        let configuration = Configuration { model: &world.model, q: &last.q, data };
        equality_wrenches.for_each(world, &configuration, last, &mut subtract);
        let step_forces = last_step_forces(world, forces, scheme, contact_velocity, last);
        string::for_each_pull(world, data, &step_forces, last, &mut subtract);
    }

    /// Reads a sensor of the last step; false if the sensor is of another kind.
    fn read(
        &self,
        world: &World,
        scheme: Scheme,
        last: &LastStep,
        kind: &SensorKind,
        out: &mut [f64],
    ) -> bool {
        let model = &world.model;
        let view = View { model, data: &self.data };
        let step_forces =
            last_step_forces(world, &self.forces, scheme, &self.contact_velocity, last);
        let acceleration = |frame: &SensorFrame| {
            let p_W = view.pose(frame).translation.vector;
            self.accelerations.of_point(&view, frame.body, &p_W)
        };
        let interaction = |frame: &SensorFrame| {
            let p_W = view.pose(frame).translation.vector;
            self.parent_wrenches.of_subtree(&view, world.sensors.subtree(frame.body), &p_W)
        };
        // Snapshots of older versions have no forces of limits.
        let number = |of: &[f64], index: usize| of.get(index).copied().unwrap_or(0.0);
        match kind {
            SensorKind::Accelerometer(at) => write(out, view.in_axes_of(at, &acceleration(at))),
            SensorKind::FrameLinearAcceleration { of } => write(out, acceleration(of)),
            SensorKind::FrameAngularAcceleration { of } => {
                write(out, self.accelerations.angular(of.body))
            }
            SensorKind::Force(at) => write(out, view.in_axes_of(at, &interaction(at).force)),
            SensorKind::Torque(at) => write(out, view.in_axes_of(at, &interaction(at).torque)),
            SensorKind::Touch { at, volume } => {
                let BodyId(body) = at.body;
                write_one(out, touch::pressure(&last.contacts, body, volume, &view.pose(at)))
            }
            SensorKind::Contact(query) => {
                query.read(&ContactContext { world, view, contacts: &last.contacts }, out);
                true
            }
            SensorKind::ActuatorForce(id) => write_one(out, step_forces.actuator(*id)),
            SensorKind::JointActuatorForce(id) => write_one(out, step_forces.on_joint(*id)),
            SensorKind::TendonActuatorForce(id) => {
                write_one(out, step_forces.of_tendon_actuators(*id))
            }
            SensorKind::JointLimitForce(id) => {
                write_one(out, number(&last.joint_limit_force, id.0))
            }
            SensorKind::TendonLimitForce(id) => {
                write_one(out, number(&last.tendon_limit_force, id.0))
            }
            _ => false,
        }
    }
}

/// Data to evaluate the force laws over the last step.
fn last_step_forces<'a>(
    world: &'a World,
    forces: &'a Forces,
    scheme: Scheme,
    contact_velocity: &'a [f64],
    last: &'a LastStep,
) -> LastStepForces<'a> {
    let (model, time_step) = (&world.model, last.time_step);
    let actuator_force = &last.actuator_force;
    LastStepForces { model, forces, scheme, time_step, contact_velocity, actuator_force }
}
