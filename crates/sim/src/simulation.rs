//! A simulation: a world, its state, and the interface to step it.

use std::sync::Arc;
use std::time::Duration;

use nalgebra::Isometry3;
use stiction_mech::{Actuator, Data, Input, State, kinematics, set_driven_poses, velocities};
use stiction_solve::law::FrictionModel;
use stiction_solve::{Goal, Problem, Session};

use crate::contact_model;
use crate::contact_point::ContactPoint;
use crate::divided_step::PartMemory;
use crate::error::{SettingsError, SnapshotError, StepError};
use crate::history::StepHistory;
use crate::parameters::ParameterState;
use crate::report::{PhaseClock, StepReport};
use crate::scheme::Scheme;
use crate::sensor::SensorReader;
use crate::settings::Settings;
use crate::snapshot::Snapshot;
use crate::solve_policy;
use crate::step::{self, Scratch, StepContext, StepPart};
use crate::world::World;

/// A world in motion.
pub struct Simulation {
    pub(crate) world: Arc<World>,
    pub(crate) settings: Settings,
    pub(crate) goal: Goal,
    session: Session,
    pub(crate) state: State,
    /// Controls and wrenches; they stay until changed.
    input: Input,
    /// Memory for an input with the wrenches of adhesion.
    pulled_input: Input,
    /// The input with delayed controls, if some are delayed, and memory for the readings at the start of a step.
    delayed_input: Option<Box<Input>>,
    sampled_readings: Vec<f64>,
    /// Data that later steps depend on besides state and input.
    pub(crate) history: StepHistory,
    /// Memory of a step.
    pub(crate) scratch: Scratch,
    /// Memory of a step in parts.
    pub(crate) parts: PartMemory,
    pub(crate) report: Option<StepReport>,
    pub(crate) sensors: SensorReader,
    pub(crate) parameters: ParameterState,
}

impl Simulation {
    /// Puts a world into its reference configuration, at rest.
    pub fn new(world: impl Into<Arc<World>>, settings: Settings) -> Result<Self, SettingsError> {
        let session = Session::new(&settings.solver)?;
        Self::with_session(world, settings, session)
    }

    /// [`Simulation::new`] with a solver from outside, which replaces the one named in the settings;
    /// the solver parameters of the settings apply to it.
    pub fn with_session(
        world: impl Into<Arc<World>>,
        settings: Settings,
        mut session: Session,
    ) -> Result<Self, SettingsError> {
        let world = world.into();
        settings.check()?;
        let mut settings = settings;
        if settings.scheme == Scheme::File {
            settings.scheme = settings.file_scheme.ok_or(SettingsError::NoFileScheme)?;
        }
        solve_policy::prepare(&mut session)?;
        contact_model::prepare(&settings, &mut session)?;
        for (key, value) in &settings.solver_settings {
            session.set(key, value)?;
        }
        let goal = Goal {
            tolerance: settings.tolerance,
            max_iterations: settings.max_iterations,
            friction_model: settings.friction_model,
            time_limit: settings
                .budget
                .and_then(|seconds| Duration::try_from_secs_f64(seconds).ok()),
            ..Goal::default()
        };
        let (state, input) = (State::new(&world.model), Input::new(&world.model));
        let history = StepHistory::new(&world, &input, settings.time_step);
        let has_delay = |actuator: &Actuator| actuator.spec.delay.is_some();
        let delays = world.model.actuators().iter().any(has_delay);
        let delayed_input = delays.then(|| Box::new(input.clone()));
        let sampled_readings = vec![0.0; world.sensor_len()];
        let scratch = Scratch::new(&world, &settings, &state, &input)?;
        let parts = PartMemory::new(&world, &settings, goal, &state);
        let sensors = SensorReader::new(&world);
        let report = None;
        let pulled_input = input.clone();
        let parameters = ParameterState::new(world.clone());
        Ok(Self {
            world,
            settings,
            goal,
            session,
            state,
            input,
            pulled_input,
            delayed_input,
            sampled_readings,
            history,
            scratch,
            parts,
            report,
            sensors,
            parameters,
        })
    }

    /// The world, with the parameters of this simulation.
    pub fn world(&self) -> &Arc<World> {
        &self.world
    }

    /// The settings.
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// The state.
    pub fn state(&self) -> &State {
        &self.state
    }

    /// The state, to be changed. Wakes everything; the next step checks the state.
    pub fn state_mut(&mut self) -> &mut State {
        self.history.sleep.wake_all();
        self.history.detection_is_current = false;
        self.history.yielding.follows = false;
        &mut self.state
    }

    /// Replaces the state and resets warm starts. Quaternions get unit length; a zero one becomes the
    /// identity. Driven bodies are placed at the poses of the input.
    pub fn set_state(&mut self, state: &State) -> Result<(), StepError> {
        // Beside the present state, which stays if the new one is refused.
        let (model, next) = (&self.world.model, &mut self.scratch.next);
        next.clone_from(state);
        next.normalise_quaternions(model);
        let checked = next.check(model);
        if let Err(source) = checked {
            next.clone_from(&self.state);
            return Err(StepError::State { time: state.time, source });
        }
        self.state.clone_from(next);
        self.reset_driven_pose();
        let times = (self.state.time, self.settings.time_step);
        self.history.restart(&self.state);
        self.history.samples.restart(&self.world, times);
        Ok(())
    }

    /// Present poses of driven bodies in the world, in the order of [`stiction_mech::Model::driven`].
    pub fn driven_pose(&self) -> &[Isometry3<f64>] {
        &self.history.driven_pose
    }

    /// Places driven bodies at the poses of the input, at rest: contacts do not react to the jump.
    /// Wakes everything.
    pub fn reset_driven_pose(&mut self) {
        let Self { world, history, scratch, .. } = self;
        scratch.driven.set_pose(&self.input.driven_pose);
        history.driven_pose.copy_from_slice(&scratch.driven.now);
        set_driven_poses(&world.model, &history.driven_pose, &mut scratch.data);
        history.detection_is_current = false;
        history.sleep.wake_all();
    }

    /// Whether each equality holds, in the order of [`World::equalities`].
    pub fn equality_active(&self) -> &[bool] {
        &self.history.equality_active
    }

    /// Switches an equality on or off, by its index; one that does not exist is ignored. Wakes everything. An exact
    /// equality that is off its target when it is switched on is closed at a bounded speed.
    pub fn set_equality_active(&mut self, equality: usize, active: bool) {
        if let Some(now) = self.history.equality_active.get_mut(equality) {
            *now = active;
            self.history.sleep.wake_all();
        }
    }

    /// All that later steps depend on: restored in another simulation of the same world and settings,
    /// it continues with the same bits.
    pub fn snapshot(&self) -> Snapshot {
        Snapshot {
            state: self.state.clone(),
            input: self.input.clone(),
            history: self.history.clone(),
            parameters: self.changed_parameters(),
        }
    }

    /// Restores a snapshot, or returns an error and leaves everything as it was. There is no report
    /// until the next step.
    pub fn restore(&mut self, snapshot: &Snapshot) -> Result<(), SnapshotError> {
        snapshot.check(&self.world)?;
        self.restore_parameters(&snapshot.parameters)?;
        self.state.clone_from(&snapshot.state);
        self.input.clone_from(&snapshot.input);
        self.history.clone_from(&snapshot.history);
        self.history.complete_switches(&self.world);
        self.update_parameters();
        let times = (self.state.time, self.settings.time_step);
        self.history.complete_samples(&self.world, times);
        let Self { world, settings, state, history, scratch, .. } = self;
        scratch.rebuild(world, state, history, settings);
        self.report = None;
        Ok(())
    }

    /// Controls and wrenches.
    pub fn input(&self) -> &Input {
        &self.input
    }

    /// Controls and wrenches, to be changed. Wakes everything.
    pub fn input_mut(&mut self) -> &mut Input {
        self.history.sleep.wake_all();
        &mut self.input
    }

    /// Results of the last step.
    pub fn report(&self) -> Option<&StepReport> {
        self.report.as_ref()
    }

    /// Remarks of the solver on the last step.
    pub fn notes(&self) -> Vec<String> {
        self.session.notes()
    }

    /// The contacts of the last step, with the forces that the solver found.
    pub fn contacts(&self) -> &[ContactPoint] {
        &self.history.contacts
    }

    /// The readings of all sensors, one after the other; [`World::sensor_range`] gives the range of each.
    ///
    /// Positions and velocities are those of the present state; accelerations, forces and touch
    /// those of the last step. Before the first step and after [`Simulation::set_state`] the
    /// mechanism counts as held: see [`sensor`](crate::sensor). From a state or input with which no
    /// step can begin, every reading is NaN.
    pub fn sensor_data(&mut self) -> &[f64] {
        self.update_parameters();
        let Self { world, settings, state, input, history, scratch, sensors, .. } = self;
        let data = (&mut scratch.data, history.detection_is_current);
        let last = &mut history.last_step;
        let readings = sensors.read(world, settings.scheme, (state, input), last, data);
        history.samples.delay_readings(world, state.time, readings);
        readings
    }

    /// Controls and wrenches with which a step from the present state acts: those of the input, but for delayed controls.
    pub fn acting_input(&mut self) -> &Input {
        self.delay_controls();
        self.delayed_input.as_deref().unwrap_or(&self.input)
    }

    /// Updates the input with delayed controls. Wakes everything if they have changed.
    fn delay_controls(&mut self) {
        let Self { world, state, input, history, delayed_input, .. } = self;
        let Some(delayed) = delayed_input else { return };
        // Controls without delay have woken everything when they were changed.
        let mut changed = false;
        delayed.wrench.clone_from(&input.wrench);
        delayed.force.clone_from(&input.force);
        delayed.driven_pose.clone_from(&input.driven_pose);
        for (actuator, spec) in world.model.actuators().iter().map(|found| (found, &found.spec)) {
            if spec.delay.is_none_or(|delay| delay.delay <= 0.0) {
                let controls = actuator.controls.clone();
                delayed.control[controls.clone()].copy_from_slice(&input.control[controls]);
            }
        }
        history.samples.delay_controls(world, state.time, &mut delayed.control, &mut changed);
        if changed {
            history.sleep.wake_all();
        }
    }

    /// Keeps the readings at the start of a step, if a sensor is sampled.
    fn sample_start(&mut self) {
        if !self.history.samples.sensors.is_empty() {
            let Self { world, settings, state, input, history, scratch, sensors, .. } = self;
            let data = (&mut scratch.data, history.detection_is_current);
            let last = &mut history.last_step;
            let readings = sensors.read(world, settings.scheme, (state, input), last, data);
            self.sampled_readings.copy_from_slice(readings);
        }
    }

    /// Adds the samples of a step that began at `time`: its controls, the readings at its start, and the accelerations and
    /// forces of the step itself.
    fn sample_step(&mut self, time: f64) {
        if self.history.samples.is_empty() {
            return;
        }
        let Self { world, settings, state, input, history, scratch, sensors, .. } = self;
        history.samples.add_controls(world, time, &input.control);
        if history.samples.sensors.is_empty() {
            return;
        }
        if world.sensors.read_last_step {
            let data = (&mut scratch.data, history.detection_is_current);
            let last = &mut history.last_step;
            let readings = sensors.read(world, settings.scheme, (state, input), last, data);
            for (spec, range) in world.sensors().iter().zip(world.sensor_ranges()) {
                if spec.kind.reads_last_step() {
                    self.sampled_readings[range.clone()].copy_from_slice(&readings[range]);
                }
            }
        }
        history.samples.add_readings(world, time, &self.sampled_readings);
    }

    /// Pose of a body in the world at the present state.
    pub fn body_pose(&mut self, body: usize) -> Isometry3<f64> {
        kinematics(&self.world.model, &self.state.q, &mut self.scratch.data);
        self.scratch.data.body_pose[body]
    }

    /// Kinetic and potential energy [J].
    pub fn energy(&mut self) -> f64 {
        let Self { world, state, .. } = self;
        let (model, data) = (&world.model, &mut self.scratch.data);
        kinematics(model, &state.q, data);
        velocities(model, &state.v, data);
        stiction_mech::kinetic_energy(model, data, &state.v)
            + stiction_mech::potential_energy(model, data, &state.q)
            + stiction_mech::soft_kinetic_energy(model, &state.x_dot)
            + stiction_mech::soft_potential_energy(model, &state.x)
    }

    /// The arrays of the mechanism at the present state.
    pub fn data(&mut self) -> &Data {
        self.update_parameters();
        kinematics(&self.world.model, &self.state.q, &mut self.scratch.data);
        velocities(&self.world.model, &self.state.v, &mut self.scratch.data);
        &self.scratch.data
    }

    /// A, b, J and laws of the coming step; `None` if nothing is constrained.
    pub fn problem(&mut self) -> Result<Option<&Problem>, StepError> {
        self.update_parameters();
        self.scratch.free.predict_modes([false; 2], std::iter::empty(), std::iter::empty());
        self.delay_controls();
        let whole = StepPart::whole(self.settings.time_step, false);
        step::assemble_problem(&mut self.step_context(whole))?;
        let Scratch { rows, problem, .. } = &self.scratch;
        Ok((!rows.is_empty()).then_some(problem))
    }

    /// Advances the state by one time step, or returns an error and leaves it as it was. A step whose motion is not
    /// resolved is computed in parts, see [`Settings::divisions`].
    pub fn step(&mut self) -> Result<StepReport, StepError> {
        let Settings { time_step, divisions, scheme, contact, .. } = self.settings;
        let is_divisible = scheme == Scheme::Refined && contact.has_divisible_steps();
        let may_be_divided = divisions > 0 && is_divisible;
        let whole = StepPart::whole(time_step, may_be_divided);
        self.update_parameters();
        self.keep_driven_poses();
        self.delay_controls();
        self.sample_start();
        let start = self.state.time;
        let mut context = self.step_context(whole);
        let is_accepted = step::try_advance(&mut context)?;
        let mut report = context.report;
        if is_accepted {
            report.unresolved |= self.substeps_move_too_far(&report);
        } else {
            report = self.step_in_parts(&report)?;
        }
        self.sample_step(start);
        self.report = Some(report);
        Ok(report)
    }

    pub(crate) fn friction_model(&self) -> FrictionModel {
        self.goal.friction_model.unwrap_or(FrictionModel::Coulomb)
    }

    /// All that the stages of a part of a step read and write.
    pub(crate) fn step_context(&mut self, part: StepPart) -> StepContext<'_> {
        let friction_model = self.friction_model();
        let whole = part.fraction == 1.0;
        let (settings, goal) = if whole {
            (&self.settings, &self.goal)
        } else {
            (&self.parts.settings, &self.parts.goal)
        };
        let mut report = StepReport::without_problem(friction_model);
        report.reproducible = goal.time_limit.is_none();
        StepContext {
            world: &self.world,
            settings,
            part,
            input: self.delayed_input.as_deref().unwrap_or(&self.input),
            pulled_input: Some(&mut self.pulled_input),
            goal,
            session: &mut self.session,
            state: &mut self.state,
            history: &mut self.history,
            scratch: &mut self.scratch,
            report,
            clock: PhaseClock::start(),
        }
    }
}
