//! A simulation: a world, its state, and the step that moves it.
//!
//! The step is a table of contents: kinematics, collision, dynamics, assembly, solve, integrate,
//! accept. It happens or it does not: an error leaves the state bit for bit as it was.

mod newton;

use std::sync::Arc;

use nalgebra::{Isometry3, Vector3};
use stiction_geom::{Detector, SoftDetector};
use stiction_mech::{
    BodyId, Data, Input, Model, SoftId, State, angular_velocity, integrate, kinematics,
    point_velocity, set_driven_poses, tree_kinematics, tree_velocities, velocities,
};
use stiction_solve::law::FrictionModel;
use stiction_solve::{Goal, Problem, ProblemError, Session, Solution, Status, contact};

use crate::assemble::{self, Chords, FORESIGHT, Rules};
use crate::cable;
use crate::constraint::{Ahead, Place};
use crate::driven::Driven;
use crate::effort::{self, Next, Outcome};
use crate::error::{SettingsError, SnapshotError, StepError};
use crate::free::{Fault, FreeMotion};
use crate::pose::{Poser, Question};
use crate::report::{Clock, Phase, StepReport};
use crate::rows::{Class, Rows, Sight};
use crate::scheme::Scheme;
use crate::sensor::{self, Reader};
use crate::settings::{Settings, Stabilisation};
use crate::sleep::Sleepers;
use crate::snapshot::{Kept, Snapshot};
use crate::soft::{self, SideOf};
use crate::stabilise::{Found, Stabiliser, Wrong};
use crate::twist;
use crate::warm::Memory;
use crate::world::World;

/// Speeds of approach below this many steps of free fall do not bounce.
const BOUNCE_STEPS: f64 = 2.0;
/// Yield of constraints, relative to their Delassus scale, if a problem has no solution without.
const SOFTENING: f64 = 1e-2;
/// How often position errors are measured and corrected in one step; how often for penetration
/// alone, unless it is this many times what is left alone.
const CORRECTIONS: usize = 6;
const DEPTH_CORRECTIONS: usize = 2;
const DEEP: f64 = 10.0;

/// Depth of a soft body in something else, in shortest edges of a mesh, that means little.
const UNRESOLVED_DEPTH: f64 = 0.5;

/// A contact of the last step, with the force that the solver used.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ContactPoint {
    /// Indices of the two shapes, A and B; [`ContactPoint::NO_GEOM`] for a side that is soft.
    pub geoms: [usize; 2],
    /// Indices of their bodies; that of the world for a side that is soft.
    pub bodies: [usize; 2],
    /// The soft bodies, for sides that are soft.
    pub soft: [Option<SoftId>; 2],
    /// Position in the world [m].
    pub point: Vector3<f64>,
    /// Normal from A into B.
    pub normal: Vector3<f64>,
    /// Distance along the normal [m], negative in penetration.
    pub gap: f64,
    /// Force on B, and its opposite on A, mean over the step, world axes [N].
    pub force: Vector3<f64>,
    /// Torque of friction against spinning and rolling on B, and its opposite on A, mean over the
    /// step, world axes [N·m].
    pub torque: Vector3<f64>,
    /// Velocity of B relative to A after the step, world axes [m/s].
    pub velocity: Vector3<f64>,
}

impl ContactPoint {
    /// Stands for the shape of a side that is soft.
    pub const NO_GEOM: usize = u32::MAX as usize;

    /// Whether a side is soft.
    pub fn is_soft(&self) -> bool {
        self.soft.iter().any(Option::is_some)
    }
}

/// A world in motion.
pub struct Simulation {
    world: Arc<World>,
    settings: Settings,
    state: State,
    /// Controls and wrenches; they stay until changed.
    input: Input,
    session: Session,
    goal: Goal,
    work: Workspace,
    report: Option<StepReport>,
    reader: Reader,
}

/// Memory without truth.
struct Workspace {
    spare: State,
    /// Whether `data` and the contacts belong to the present state.
    seen: bool,
    data: Data,
    detector: Detector,
    soft_detector: SoftDetector,
    reach: Vec<f64>,
    /// How far each node can get within a step [m].
    node_reach: Vec<f64>,
    resting: Vec<bool>,
    free: FreeMotion,
    ahead: Ahead,
    rows: Rows,
    poser: Poser,
    problem: Problem,
    solution: Solution,
    memory: Memory,
    /// Velocities on which the laws acted, per velocity of the model: the next guess.
    lawful: Vec<f64>,
    /// The same per node.
    soft_lawful: Vec<Vector3<f64>>,
    /// Where soft bodies were linearised last.
    linearised: Vec<f64>,
    candidate: Vec<f64>,
    /// Contacts of soft bodies where the step begins, and impulses on the way to its answer.
    begun: Vec<soft::Begun>,
    tried: Memory,
    /// Velocities with which positions move.
    speed: Vec<f64>,
    /// Per tree: whether it moves with the mean of the old and next velocity.
    takes_mean: Vec<bool>,
    /// Coordinates after a correction.
    corrected: Vec<f64>,
    stabiliser: Stabiliser,
    sleepers: Sleepers,
    contacts: Vec<ContactPoint>,
    driven: Driven,
    /// Axes of the rows against spinning and rolling.
    axes: Vec<Vector3<f64>>,
}

impl Simulation {
    /// Puts a world into its reference configuration, at rest.
    pub fn new(world: impl Into<Arc<World>>, settings: Settings) -> Result<Self, SettingsError> {
        let session = Session::new(&settings.solver)?;
        Self::with_session(world, settings, session)
    }

    /// [`Simulation::new`] with a solver from outside; that of the settings does not count, but
    /// their parameters of it do.
    pub fn with_session(
        world: impl Into<Arc<World>>,
        settings: Settings,
        mut session: Session,
    ) -> Result<Self, SettingsError> {
        let world = world.into();
        settings.check()?;
        effort::prepare(&mut session)?;
        for (key, value) in &settings.solver_settings {
            session.set(key, value)?;
        }
        let goal = Goal {
            tolerance: settings.tolerance,
            max_iterations: settings.max_iterations,
            friction_model: settings.friction_model,
            ..Goal::default()
        };
        let model = &world.model;
        let (state, input) = (State::new(model), Input::new(model));
        let work = Workspace {
            spare: state.clone(),
            seen: false,
            data: Data::new(model),
            detector: Detector::new(&world.colliders),
            soft_detector: SoftDetector::new(&world.colliders, &world.softs.surfaces),
            node_reach: vec![0.0; model.nodes()],
            reach: vec![0.0; model.bodies().len()],
            resting: vec![false; model.bodies().len()],
            free: FreeMotion::new(model, settings.scheme, settings.time_step),
            ahead: Ahead::new(model),
            rows: Rows::default(),
            poser: Poser::new(model),
            problem: Problem::default(),
            solution: Solution::default(),
            memory: Memory::default(),
            lawful: vec![0.0; model.nv()],
            soft_lawful: vec![Vector3::zeros(); model.nodes()],
            linearised: Vec::new(),
            candidate: Vec::new(),
            begun: Vec::new(),
            tried: Memory::default(),
            speed: vec![0.0; model.nv()],
            takes_mean: Vec::with_capacity(model.trees().len()),
            corrected: vec![0.0; model.nq()],
            stabiliser: Stabiliser::new(&world)?,
            sleepers: Sleepers::new(model),
            contacts: Vec::new(),
            driven: Driven::new(model, &input),
            axes: Vec::new(),
        };
        let reader = Reader::new(&world);
        Ok(Self { world, settings, state, input, session, goal, work, report: None, reader })
    }

    /// The world.
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

    /// The state, to be changed. Everything wakes up; the next step checks what it finds.
    pub fn state_mut(&mut self) -> &mut State {
        self.work.sleepers.wake_all();
        self.work.seen = false;
        &mut self.state
    }

    /// Replaces the state, and forgets what was learnt from the last one. Driven bodies stand where
    /// the input wants them.
    pub fn set_state(&mut self, state: &State) -> Result<(), StepError> {
        state
            .check(&self.world.model)
            .map_err(|source| StepError::State { time: state.time, source })?;
        self.state.clone_from(state);
        self.stand_driven();
        self.work.memory.clear();
        self.work.lawful.copy_from_slice(&state.v);
        self.work.soft_lawful.copy_from_slice(&state.x_dot);
        self.reader.last.forget();
        Ok(())
    }

    /// Poses in the world where driven bodies stand, in the order of [`Model::driven`].
    pub fn driven_pose(&self) -> &[Isometry3<f64>] {
        &self.work.driven.now
    }

    /// Lets driven bodies stand where the input wants them, at once and at rest: nothing feels them
    /// come. Everything wakes up.
    pub fn stand_driven(&mut self) {
        let work = &mut self.work;
        work.driven.stand(&self.input.driven_pose);
        set_driven_poses(&self.world.model, &work.driven.now, &mut work.data);
        work.seen = false;
        work.sleepers.wake_all();
    }

    /// All that later steps depend on: taken up by another simulation of the same world and
    /// settings, it continues with the same bits.
    pub fn snapshot(&self) -> Snapshot {
        let work = &self.work;
        let (asleep, still, group, groups) = work.sleepers.memory();
        let (keys, impulses) = work.memory.contents();
        let kept = Kept {
            lawful: work.lawful.clone(),
            soft_lawful: work.soft_lawful.clone(),
            keys: keys.collect(),
            impulses: impulses.to_vec(),
            asleep: asleep.to_vec(),
            still: still.to_vec(),
            group: group.to_vec(),
            groups,
            seen: work.seen,
            driven: work.driven.now.clone(),
            reach: work.reach.clone(),
            found: work.detector.contacts().to_vec(),
            last_step: self.reader.last.clone(),
        };
        let (state, input) = (self.state.clone(), self.input.clone());
        Snapshot { state, input, contacts: work.contacts.clone(), kept }
    }

    /// Takes up a snapshot, or returns an error and leaves everything as it was. There is no report
    /// until the next step.
    pub fn restore(&mut self, snapshot: &Snapshot) -> Result<(), SnapshotError> {
        let (world, model, kept) = (&*self.world, &self.world.model, &snapshot.kept);
        let (trees, bodies) = (model.trees().len(), model.bodies().len());
        for (what, found, expected) in [
            ("controls", snapshot.input.control.len(), model.nu()),
            ("wrenches", snapshot.input.wrench.len(), bodies),
            ("velocities of laws", kept.lawful.len(), model.nv()),
            ("velocities of nodes", kept.soft_lawful.len(), model.nodes()),
            ("trees", kept.asleep.len(), trees),
            ("times of rest", kept.still.len(), trees),
            ("groups of sleepers", kept.group.len(), trees),
            ("reaches", kept.reach.len(), bodies),
            ("driven bodies", kept.driven.len(), model.driven().len()),
            ("driven poses", snapshot.input.driven_pose.len(), model.driven().len()),
        ] {
            if found != expected {
                return Err(SnapshotError::OtherWorld { what, found, expected });
            }
        }
        if !kept.last_step.belongs_to(world) {
            let (what, found) = ("numbers of the last step", kept.last_step.q.len());
            return Err(SnapshotError::OtherWorld { what, found, expected: model.nq() });
        }
        snapshot.state.check(model)?;
        let mut memory = Memory::default();
        let mut data = Data::new(model);
        set_driven_poses(model, &kept.driven, &mut data);
        kinematics(model, &snapshot.state.q, &mut data);
        velocities(model, &snapshot.state.v, &mut data);
        if !memory.remember(&kept.keys, &kept.impulses) {
            let (what, found) = ("impulses", kept.impulses.len());
            let expected = kept.keys.iter().map(|(_, dim)| *dim as usize).sum();
            return Err(SnapshotError::OtherWorld { what, found, expected });
        }
        let work = &mut self.work;
        work.detector.restore_contacts(&world.colliders, &data.body_pose, &kept.reach, &kept.found);
        (work.memory, work.data) = (memory, data);
        work.sleepers.remember((&kept.asleep, &kept.still, &kept.group, kept.groups));
        work.lawful.copy_from_slice(&kept.lawful);
        work.soft_lawful.copy_from_slice(&kept.soft_lawful);
        work.driven.stand(&kept.driven);
        work.reach.copy_from_slice(&kept.reach);
        work.contacts.clone_from(&snapshot.contacts);
        work.look_soft(world, &snapshot.state, self.settings.time_step);
        work.seen = kept.seen;
        self.state.clone_from(&snapshot.state);
        self.input.clone_from(&snapshot.input);
        self.reader.last.clone_from(&kept.last_step);
        self.report = None;
        Ok(())
    }

    /// Controls and wrenches.
    pub fn input(&self) -> &Input {
        &self.input
    }

    /// Controls and wrenches, to be changed. Everything wakes up.
    pub fn input_mut(&mut self) -> &mut Input {
        self.work.sleepers.wake_all();
        &mut self.input
    }

    /// What the last step did.
    pub fn report(&self) -> Option<&StepReport> {
        self.report.as_ref()
    }

    /// What the solver had to say about the last step.
    pub fn notes(&self) -> Vec<String> {
        self.session.notes()
    }

    /// The contacts of the last step, with the forces that the solver used.
    pub fn contacts(&self) -> &[ContactPoint] {
        &self.work.contacts
    }

    /// The readings of all sensors, one after the other; [`World::sensor_range`] says where.
    ///
    /// Positions and velocities are those of the present state; accelerations, forces and touch
    /// those of the last step. Before the first step and after [`Simulation::set_state`] the
    /// mechanism counts as held: see [`sensor`](crate::sensor). From a state or input with which no
    /// step can begin, every reading is NaN.
    pub fn sensor_data(&mut self) -> &[f64] {
        let Self { world, settings, state, input, work, reader, .. } = self;
        reader.read(world, settings.scheme, state, input, &mut work.data)
    }

    /// Pose of a body in the world at the present state.
    pub fn body_pose(&mut self, body: usize) -> Isometry3<f64> {
        kinematics(&self.world.model, &self.state.q, &mut self.work.data);
        self.work.data.body_pose[body]
    }

    /// Kinetic and potential energy [J].
    pub fn energy(&mut self) -> f64 {
        let (model, data) = (&self.world.model, &mut self.work.data);
        kinematics(model, &self.state.q, data);
        velocities(model, &self.state.v, data);
        stiction_mech::kinetic_energy(model, data, &self.state.v)
            + stiction_mech::potential_energy(model, data, &self.state.q)
            + stiction_mech::soft_kinetic_energy(model, &self.state.x_dot)
            + stiction_mech::soft_potential_energy(model, &self.state.x)
    }

    /// The arrays of the mechanism at the present state.
    pub fn data(&mut self) -> &Data {
        kinematics(&self.world.model, &self.state.q, &mut self.work.data);
        velocities(&self.world.model, &self.state.v, &mut self.work.data);
        &self.work.data
    }

    /// A, b, J and laws of the coming step; `None` if nothing is constrained.
    pub fn problem(&mut self) -> Result<Option<&Problem>, StepError> {
        let mut clock = Clock::start();
        self.prepare(&mut clock)?;
        Ok((!self.work.rows.is_empty()).then_some(&self.work.problem))
    }

    /// Advances the state by one time step, or returns an error and leaves it as it was.
    pub fn step(&mut self) -> Result<StepReport, StepError> {
        let mut clock = Clock::start();
        self.prepare(&mut clock)?;
        let outcome = self.solve()?;
        self.work.read_contacts(&self.world, &self.settings);
        let contacts =
            self.work.detector.contacts().len() + self.work.soft_detector.contacts().len();
        clock.lap(Phase::Solve);
        let wrong = self.integrate(&mut clock)?;
        self.accept(&outcome);
        clock.lap(Phase::Integrate);
        let report = StepReport {
            status: outcome.status,
            friction_model: outcome.friction_model,
            iterations: outcome.iterations,
            residuals: outcome.residuals,
            contacts,
            rows: self.work.rows.len(),
            penetration: wrong.depth,
            limit_error: wrong.limit,
            equality_error: wrong.equality,
            softened: outcome.softened,
            unresolved: self.work.free.is_unresolved(),
            inverted: self.work.free.soft.inverted(),
            asleep: self.work.sleepers.asleep(),
            phases: clock.phases,
        };
        self.report = Some(report);
        Ok(report)
    }

    /// From the state to the problem.
    fn prepare(&mut self, clock: &mut Clock) -> Result<(), StepError> {
        let (world, settings, state) = (&*self.world, &self.settings, &self.state);
        let (model, h, time) = (&world.model, settings.time_step, state.time);
        let work = &mut self.work;
        work.driven.aim(&self.input.driven_pose, h);
        // Contacts were found before it was known how far driven bodies would go.
        work.seen &= !work.driven_outrun(world, h);
        if !work.seen {
            state.check(model).map_err(|source| StepError::State { time, source })?;
            if let Some((what, soft, vertex, found)) = too_large(world, state) {
                return Err(StepError::SoftTooLarge { time, what, soft, vertex, found });
            }
            set_driven_poses(model, &work.driven.now, &mut work.data);
            work.look(world, &state.q, &state.v, h, clock);
            work.look_soft(world, state, h);
            clock.lap(Phase::Collision);
            work.seen = true;
        }
        work.free.set_driven_poses(model, &work.driven.now);
        let contacts = work.detector.contacts();
        work.sleepers.wake_touched(world, contacts, &work.data, settings.sleep);
        work.sleepers.wake_beside_soft(world, work.soft_detector.contacts(), settings.sleep);
        let (input, data) = (&self.input, &mut work.data);
        work.free
            .compute(model, settings.scheme, h, state, input, work.sleepers.flags(), data)
            .map_err(|fault| match fault {
                Fault::Force(source) => StepError::Force { time, source },
                Fault::Singular { tree } => singular(world, time, tree),
            })?;
        work.free.soft.compute(model, state);
        if settings.relinearisations == 0
            && let Some(soft) = work.free.soft.iterate(model, state)
        {
            return Err(soft_singular(world, time, soft));
        }
        clock.lap(Phase::Dynamics);

        let rules = rules(model, settings, &self.session, &self.goal);
        let rows = &mut work.rows;
        rows.clear();
        let sight = Sight {
            model,
            data: &work.data,
            whole: work.free.whole(),
            asleep: work.sleepers.flags(),
            driven: &work.driven,
        };
        let place = Place { model, q: &state.q, data: &work.data };
        work.ahead.look(world, settings.scheme, state, &sight, h);
        let chords = Chords { ahead: &work.ahead, v: &state.v, time_step: h };
        assemble::equalities(world, &place, &sight, Some(&chords), rows);
        soft::attachment_rows(world, &state.x, h, rules.alpha, &sight, rows);
        assemble::limits(h, &work.free.forces, &sight, rows);
        assemble::drives(&rules, &work.free.forces, &sight, rows);
        assemble::contacts(world, &rules, work.detector.contacts(), &sight, rows);
        let found = work.detector.contacts();
        twist::rows(world, &rules, found, &sight, &work.memory, rows, &mut work.axes);
        let (touching, fastest) = (work.soft_detector.contacts(), settings.stabilisation.max_speed);
        soft::contact_rows(world, &rules, touching, &state.x_dot, None, fastest, &sight, rows);
        cable::clamp::rows(settings.scheme, h, &sight, &state.v, rows);
        work.pose(world).map_err(|source| not_posed(world, &work.poser, time, source))?;
        clock.lap(Phase::Assembly);
        Ok(())
    }

    /// Solves the contact problem from the last impulses. One that has no solution, or for which the
    /// default solver finds none with reasonable effort, is solved again with constraints that yield
    /// a little, and the report says so.
    fn solve(&mut self) -> Result<Outcome, StepError> {
        let (world, work, time) = (&*self.world, &mut self.work, self.state.time);
        if work.rows.is_empty() {
            return Ok(Outcome::nothing(self.goal.friction_model));
        }
        work.memory.recall(&work.rows, &mut work.solution.impulse);
        work.guess(&world.model);
        let Workspace { problem, solution, .. } = work;
        let (mut outcome, next) = effort::solve(&mut self.session, problem, &self.goal, solution)?;
        if next != Next::Stands {
            for index in 0..work.rows.constraints().len() {
                let least = SOFTENING * work.problem.delassus().scale(index);
                work.rows.soften(index, least);
            }
            work.pose(world).map_err(|source| not_posed(world, &work.poser, time, source))?;
            if next == Next::YieldFromCold {
                work.solution.reset(&work.problem);
            }
            outcome.soften(&self.session.solve(&work.problem, &self.goal, &mut work.solution)?);
        }
        self.relinearise(&mut outcome)?;
        Ok(outcome)
    }

    /// Velocities and positions of the next state, into the spare one.
    fn integrate(&mut self, clock: &mut Clock) -> Result<Wrong, StepError> {
        let (world, settings, work) = (&*self.world, &self.settings, &mut self.work);
        let (model, scheme, h) = (&world.model, settings.scheme, settings.time_step);
        if let Some(tree) = work.collect_velocities(model) {
            return Err(singular(world, self.state.time, tree));
        }
        let (alpha, theta_vq) = (scheme.alpha(), scheme.theta_vq());
        for dof in 0..model.nv() {
            let (old, lawful) = (self.state.v[dof], work.lawful[dof]);
            work.spare.v[dof] = (lawful - (1.0 - alpha) * old) / alpha;
            work.speed[dof] = theta_vq * lawful + (1.0 - theta_vq) * old;
        }
        if scheme == Scheme::Refined {
            work.refine_speed(model, &self.state.v);
        }
        integrate(model, &self.state.q, &work.speed, h, &mut work.spare.q);
        if let Some(soft) = work.move_softs(model, scheme, &self.state, h) {
            return Err(soft_singular(world, self.state.time, soft));
        }
        work.spare.time = self.state.time + h;
        check_next(world, &work.spare, self.state.time, h)?;
        clock.lap(Phase::Integrate);
        let mut wrong = work.settle(world, settings, clock);
        check_next(world, &work.spare, self.state.time, h)?;
        if model.nodes() > 0 {
            let spare = std::mem::take(&mut work.spare);
            work.look_soft(world, &spare, h);
            work.spare = spare;
            let depth = soft::deepest(world, work.soft_detector.contacts(), settings.combine);
            wrong.depth = wrong.depth.max(depth);
            if depth > UNRESOLVED_DEPTH * world.softs.shortest {
                work.free.soft.set_unresolved();
            }
            let apart = soft::largest_error(world, &work.spare.x, &work.data);
            wrong.equality = wrong.equality.max(apart);
            clock.lap(Phase::Collision);
            work.free.soft.inspect(model, &self.state, &work.spare);
        }
        Ok(wrong)
    }

    /// Makes the spare state the state.
    fn accept(&mut self, outcome: &Outcome) {
        let work = &mut self.work;
        if work.rows.is_empty() {
            work.memory.clear();
        } else {
            work.memory.store(&work.rows, &work.solution.impulse);
        }
        std::mem::swap(&mut self.state, &mut work.spare);
        work.driven.arrive();
        work.seen = true;
        self.reader.keep(&sensor::Step {
            world: &self.world,
            old: &work.spare,
            next: &self.state.v,
            time_step: self.settings.time_step,
            input: &self.input,
            contacts: &work.contacts,
            rows: &work.rows,
            impulse: &work.solution.impulse,
            asleep: work.sleepers.flags(),
        });
        let settled = outcome.status == Status::Converged && !outcome.softened;
        work.sleepers.watch(
            &self.world.model,
            &mut self.state.v,
            &mut work.data,
            &work.problem,
            &work.poser,
            settled,
            &self.settings,
        );
    }
}

impl Workspace {
    /// Velocities to begin with: those on which the laws acted last.
    fn guess(&mut self, model: &Model) {
        self.solution.velocity.clear();
        for (tree, _) in self.poser.parts() {
            let dofs = model.trees()[*tree].dofs.clone();
            self.solution.velocity.extend_from_slice(&self.lawful[dofs]);
        }
        for (soft, _) in self.poser.soft_parts() {
            let first = model.softs()[*soft].nodes.start;
            for vertex in self.free.soft.free_vertices(*soft) {
                let u = &self.soft_lawful[first + *vertex as usize];
                self.solution.velocity.extend_from_slice(u.as_slice());
            }
        }
    }

    /// Poses, velocities and contacts at a state.
    fn look(&mut self, world: &World, q: &[f64], v: &[f64], h: f64, clock: &mut Clock) {
        self.seen = false;
        self.pose_trees(&world.model, q, v);
        clock.lap(Phase::Kinematics);
        self.look_ahead(world, h, world.model.gravity().norm());
        let Self { detector, data, reach, resting, .. } = self;
        detector.detect(&world.colliders, &data.body_pose, reach, resting);
        clock.lap(Phase::Collision);
    }

    /// Poses and velocities of what is awake.
    fn pose_trees(&mut self, model: &Model, q: &[f64], v: &[f64]) {
        for (tree, asleep) in self.sleepers.flags().iter().enumerate() {
            if !asleep {
                tree_kinematics(model, tree, q, &mut self.data);
                tree_velocities(model, tree, v, &mut self.data);
            }
        }
    }

    /// Contacts of soft bodies at a state whose poses are known.
    fn look_soft(&mut self, world: &World, state: &State, h: f64) {
        if world.model.nodes() == 0 {
            return;
        }
        let fall = h * world.model.gravity().norm();
        for (reach, v) in self.node_reach.iter_mut().zip(&state.x_dot) {
            *reach = FORESIGHT * h * (v.norm() + fall);
        }
        self.soft_detector.detect(
            &world.colliders,
            &world.softs.surfaces,
            &self.data.body_pose,
            &state.x,
            &self.reach,
            &self.node_reach,
        );
    }

    /// Velocities on which the laws acted on soft bodies, and their next positions and velocities, into
    /// the spare state. Returns a body whose matrix has no inverse, if there is one.
    fn move_softs(&mut self, model: &Model, scheme: Scheme, old: &State, h: f64) -> Option<usize> {
        let Self { poser, free, solution, candidate, soft_lawful, spare, .. } = self;
        let weights = free.soft.weights();
        for (soft, body) in model.softs().iter().enumerate() {
            let part = poser.soft_parts().iter().find(|(taking_part, _)| *taking_part == soft);
            let u = match part {
                Some((_, part)) => &solution.velocity[part.clone()],
                None => {
                    candidate.resize(free.soft.momentum(soft).len(), 0.0);
                    if !free.soft.solve(model, soft, old, candidate) {
                        return Some(soft);
                    }
                    &candidate[..]
                }
            };
            let lawful = &mut soft_lawful[body.nodes.clone()];
            lawful.fill(Vector3::zeros());
            for (vertex, u) in free.soft.free_vertices(soft).iter().zip(u.chunks_exact(3)) {
                lawful[*vertex as usize] = Vector3::from_column_slice(u);
            }
            let has_held = !(body.spec.fixed.is_empty() && body.spec.fixed_axes.is_empty());
            if has_held {
                for (lawful, held) in lawful.iter_mut().zip(body.fixed_axes()) {
                    (0..3).filter(|axis| held[*axis]).for_each(|axis| lawful[axis] = 0.0);
                }
            }
            for node in body.nodes.clone() {
                let (v0, u) = (old.x_dot[node], soft_lawful[node]);
                spare.x_dot[node] = (u - (1.0 - weights.alpha) * v0) / weights.alpha;
                let speed = weights.moving * u + (1.0 - weights.moving) * v0;
                spare.x[node] = old.x[node] + h * speed;
            }
            // In flight as rigid bodies do: the centre of mass moves with the mean velocity.
            if scheme == Scheme::Refined && part.is_none() && !has_held {
                let change = body.centre_of_mass(&spare.x_dot[body.nodes.clone()])
                    - body.centre_of_mass(&old.x_dot[body.nodes.clone()]);
                let back = -0.5 * h * change;
                spare.x[body.nodes.clone()].iter_mut().for_each(|x| *x += back);
            }
        }
        None
    }

    /// Looks at the spare state and takes its position errors back.
    fn settle(&mut self, world: &World, settings: &Settings, clock: &mut Clock) -> Wrong {
        let (h, model) = (settings.time_step, &world.model);
        let mut spare = std::mem::take(&mut self.spare);
        set_driven_poses(model, &self.driven.next, &mut self.data);
        let mut wrong = Wrong::default();
        for round in 0..=CORRECTIONS {
            self.look(world, &spare.q, &spare.v, h, clock);
            let found = Found {
                world,
                q: &spare.q,
                v: &spare.v,
                sight: Sight {
                    model,
                    data: &self.data,
                    whole: self.free.whole(),
                    asleep: self.sleepers.flags(),
                    driven: &self.driven,
                },
                contacts: self.detector.contacts(),
                free: &self.free,
                time_step: h,
            };
            wrong = self.stabiliser.inspect(&found);
            let Stabilisation { slop, closure, .. } = settings.stabilisation;
            let open = wrong.equality > closure;
            let deep = wrong.depth.max(wrong.limit)
                > if round < DEPTH_CORRECTIONS { slop } else { DEEP * slop };
            if round == CORRECTIONS || !(open || deep) {
                break;
            }
            let Some(displacement) = self.stabiliser.correct(&found, &settings.stabilisation)
            else {
                break;
            };
            // The old coordinates are not needed any more; `speed` neither.
            self.speed.copy_from_slice(displacement);
            integrate(model, &spare.q, &self.speed, 1.0, &mut self.corrected);
            std::mem::swap(&mut spare.q, &mut self.corrected);
            clock.lap(Phase::Integrate);
        }
        self.spare = spare;
        wrong
    }

    /// How far each body can get within the step, and which bodies rest; those keep their reach.
    fn look_ahead(&mut self, world: &World, h: f64, gravity: f64) {
        let model = &world.model;
        for link in model.links() {
            let tree = model.bodies()[link.body].tree.unwrap_or(0);
            self.resting[link.body] = self.sleepers.flags()[tree];
            if self.resting[link.body] {
                continue;
            }
            let (data, body) = (&self.data, BodyId(link.body));
            let origin = data.body_pose[link.body].translation.vector;
            let speed = point_velocity(model, data, body, origin).norm()
                + angular_velocity(data, body).norm() * world.radius[link.body];
            self.reach[link.body] = FORESIGHT * h * (speed + h * gravity);
        }
        for (k, driven) in model.driven().iter().enumerate() {
            self.reach[driven.0] = FORESIGHT * self.driven.way(k, world.radius[driven.0], h);
        }
    }

    /// Whether a driven body goes farther within the step than its contacts were looked for.
    fn driven_outrun(&self, world: &World, h: f64) -> bool {
        let mut driven = world.model.driven().iter().enumerate();
        driven.any(|(k, body)| self.driven.way(k, world.radius[body.0], h) > self.reach[body.0])
    }

    fn pose(&mut self, world: &World) -> Result<(), stiction_solve::ProblemError> {
        if self.rows.is_empty() {
            self.poser.nothing();
            return Ok(());
        }
        let Self { poser, data, free, rows, problem, .. } = self;
        poser.pose(world, data, free, rows, Question::Velocities, problem)
    }

    /// The velocities on which the laws acted: the problem's for what takes part in it, free motion
    /// for the rest. Returns a tree whose matrix has no inverse, if there is one.
    fn collect_velocities(&mut self, model: &Model) -> Option<usize> {
        let mut parts = self.poser.parts().iter().peekable();
        for (tree, range) in model.trees().iter().enumerate() {
            let out = &mut self.lawful[range.dofs.clone()];
            if let Some((_, part)) = parts.next_if(|(taking_part, _)| *taking_part == tree) {
                out.copy_from_slice(&self.solution.velocity[part.clone()]);
            } else if self.sleepers.flags()[tree] {
                out.fill(0.0);
            } else if let Some(rod) = model.rod_of_tree(tree) {
                // All segments of a rod move together, with the first.
                let range = &model.rods()[rod.0];
                let out = &mut self.lawful[range.dofs.clone()];
                if range.trees.start == tree && !self.free.solve_rod(model, rod.0, out) {
                    return Some(tree);
                }
            } else if !self.free.solve(model, tree, out) {
                return Some(tree);
            }
        }
        None
    }

    /// Free bodies in flight or in lasting contact move with the mean of the old and next velocity.
    fn refine_speed(&mut self, model: &Model, old: &[f64]) {
        let trees = model.trees();
        self.takes_mean.clear();
        self.takes_mean.extend(trees.iter().map(|tree| tree.single));
        // A rod is stiff: its strains follow from the next velocity.
        model.rods().iter().for_each(|rod| self.takes_mean[rod.trees.clone()].fill(false));
        for constraint in self.rows.constraints().iter().filter(|c| !c.lasting) {
            for term in self.rows.terms(constraint) {
                if let Some(takes) = self.takes_mean.get_mut(term.tree as usize) {
                    *takes = false;
                }
            }
        }
        for (tree, _) in trees.iter().zip(&self.takes_mean).filter(|(_, takes)| **takes) {
            for dof in tree.dofs.clone() {
                self.speed[dof] = 0.5 * (self.speed[dof] + old[dof]);
            }
        }
    }

    /// Contacts with their forces, for those who look.
    fn read_contacts(&mut self, world: &World, settings: &Settings) {
        self.contacts.clear();
        let sight = Sight {
            model: &world.model,
            data: &self.data,
            whole: self.free.whole(),
            asleep: self.sleepers.flags(),
            driven: &self.driven,
        };
        let rows = self.rows.constraints();
        let mut next = rows.partition_point(|c| c.key.class < Class::Contact);
        for found in self.detector.contacts() {
            let Some(constraint) = rows.get(next) else { break };
            if constraint.key != assemble::contact_key(found) {
                continue;
            }
            let pairing = world.pairing(found, settings.combine);
            let bodies = world.bodies_of(found);
            let frame = assemble::frame(world, found, &pairing, &sight);
            let impulse = &self.solution.impulse[constraint.rows()];
            let mut c = [0.0; contact::DIM];
            self.problem.jacobian().mul_constraint(next, &self.solution.velocity, &mut c);
            let to_world = |rows: &[f64]| frame.tr_mul(&Vector3::from_column_slice(rows));
            self.contacts.push(ContactPoint {
                geoms: [found.a.index(), found.b.index()],
                bodies,
                soft: [None; 2],
                point: found.point,
                normal: found.normal,
                gap: found.gap,
                force: to_world(impulse) / settings.time_step,
                torque: Vector3::zeros(),
                velocity: to_world(&c) + assemble::given_velocity(&sight, bodies, &found.point),
            });
            next += 1;
        }
        let Self { rows, axes, solution, contacts, .. } = self;
        twist::torques(rows, axes, &solution.impulse, settings.time_step, contacts);
        self.read_soft_contacts(world, settings);
    }

    /// Contacts of soft bodies with their forces, after the others.
    fn read_soft_contacts(&mut self, world: &World, settings: &Settings) {
        let sight = Sight {
            model: &world.model,
            data: &self.data,
            whole: self.free.whole(),
            asleep: self.sleepers.flags(),
            driven: &self.driven,
        };
        let rows = self.rows.constraints();
        let mut next = rows.partition_point(|c| c.key.class < Class::SoftContact);
        for found in self.soft_detector.contacts() {
            let Some(constraint) = rows.get(next) else { break };
            if constraint.key != soft::contact_key(found) {
                continue;
            }
            let sides = soft::sides_of(world, found);
            let pairing = soft::pairing(world, &sides, settings.combine);
            let frame = soft::frame(world, found, &sides, &pairing, &sight);
            let mut c = [0.0; contact::DIM];
            self.problem.jacobian().mul_constraint(next, &self.solution.velocity, &mut c);
            let to_world = |rows: &[f64]| frame.tr_mul(&Vector3::from_column_slice(rows));
            let given = soft::given_velocity(&sight, &sides, &found.point);
            let impulse = &self.solution.impulse[constraint.rows()];
            let names = sides.map(|side| match side {
                SideOf::Rigid { geom, body } => (geom, body, None),
                SideOf::Soft { soft, .. } => (ContactPoint::NO_GEOM, 0, Some(SoftId(soft))),
            });
            self.contacts.push(ContactPoint {
                geoms: names.map(|name| name.0),
                bodies: names.map(|name| name.1),
                soft: names.map(|name| name.2),
                point: found.point,
                normal: found.normal,
                gap: found.gap,
                force: to_world(impulse) / settings.time_step,
                torque: Vector3::zeros(),
                velocity: to_world(&c) + given,
            });
            next += 1;
        }
    }
}

/// What rows depend on beside positions and velocities.
fn rules(model: &Model, settings: &Settings, session: &Session, goal: &Goal) -> Rules {
    Rules {
        time_step: settings.time_step,
        alpha: settings.scheme.alpha(),
        bounce_threshold: BOUNCE_STEPS * model.gravity().norm() * settings.time_step,
        combine: settings.combine,
        glides: session.friction_model(goal) == FrictionModel::Convex,
    }
}

/// The next state must be a state.
fn check_next(world: &World, next: &State, time: f64, time_step: f64) -> Result<(), StepError> {
    for joint in world.model.joints() {
        let arrays =
            [("velocity", &next.v[joint.dofs.clone()]), ("position", &next.q[joint.q.clone()])];
        for (what, array) in arrays {
            if let Some(found) = array.iter().find(|x| !x.is_finite()) {
                let joint = joint_name(world, joint);
                return Err(StepError::NotFinite { time, time_step, what, joint, found: *found });
            }
        }
    }
    if let Some((what, soft, vertex, found)) = too_large(world, next) {
        return Err(StepError::SoftNotFinite { time, time_step, what, soft, vertex, found });
    }
    Ok(())
}

/// A number of a soft body whose square is not finite: what it is, whose, of which vertex. Contact laws and
/// energies square velocities, and distances positions.
fn too_large(world: &World, state: &State) -> Option<(&'static str, String, usize, f64)> {
    let wrong = |x: &Vector3<f64>| x.iter().copied().find(|x| !(x * x).is_finite());
    for soft in world.model.softs() {
        let nodes = soft.nodes.clone();
        for (what, array) in
            [("velocity", &state.x_dot[nodes.clone()]), ("position", &state.x[nodes])]
        {
            let found = array.iter().enumerate().find_map(|(k, x)| Some((k, wrong(x)?)));
            if let Some((vertex, found)) = found {
                return Some((what, soft.spec.name.clone(), vertex, found));
            }
        }
    }
    None
}

/// The mass matrix of a tree has no inverse.
fn singular(world: &World, time: f64, tree: usize) -> StepError {
    let joint = &world.model.joints()[world.model.trees()[tree].joints.start];
    StepError::Singular { time, joint: joint_name(world, joint) }
}

/// The matrix of a soft body has no inverse.
fn soft_singular(world: &World, time: f64, soft: usize) -> StepError {
    StepError::SoftSingular { time, soft: world.model.softs()[soft].spec.name.clone() }
}

/// Why a problem could not be posed, in the words of mechanisms.
fn not_posed(world: &World, poser: &Poser, time: f64, source: ProblemError) -> StepError {
    let subsystem = match source {
        ProblemError::NotPositiveDefinite { subsystem } => subsystem,
        ProblemError::NotFinite { owner: "subsystem", index, .. } => index,
        _ => return StepError::Problem { time, source },
    };
    let is_singular = matches!(source, ProblemError::NotPositiveDefinite { .. });
    let mut trees = poser.parts().iter().map(|part| part.0);
    if let Some(tree) = trees.find(|tree| poser.subsystem_of(*tree) == subsystem)
        && is_singular
    {
        return singular(world, time, tree);
    }
    let mut softs = poser.soft_parts().iter().map(|part| part.0);
    match softs.find(|soft| poser.subsystem_of_soft(*soft) == subsystem) {
        Some(soft) => soft_singular(world, time, soft),
        None => StepError::Problem { time, source },
    }
}

/// The name of a joint, or of its body if it has none.
fn joint_name(world: &World, joint: &stiction_mech::Joint) -> String {
    if !joint.spec.name.is_empty() {
        return joint.spec.name.clone();
    }
    let name = &world.model.bodies()[joint.body].spec.name;
    if name.is_empty() { format!("body {}", joint.body) } else { name.clone() }
}
