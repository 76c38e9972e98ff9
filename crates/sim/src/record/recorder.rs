//! Records a frame of a simulation after each step in which one is due.
//!
//! Frame times are multiples of the period of the requested rate; each frame is taken at the step
//! nearest to its time. A rate above that of the steps records every step. A step without a frame costs a few comparisons. A frame costs
//! one pass of kinematics in memory of its own and a copy of poses and contacts.

use nalgebra::{Isometry3, Vector3};
use stiction_geom::PatchDetector;
use stiction_mech::{
    Data, kinematics, kinetic_energy, potential_energy, set_driven_poses, soft_kinetic_energy,
    soft_potential_energy, velocities,
};

use super::{RecordError, RecordedSoftBody, Recording, VisualShape};
use crate::report::StepReport;
use crate::simulation::Simulation;
use crate::soft::{SoftObject, SoftSurfaceMesh};
use crate::statistics::StepStatistics;
use crate::world::World;

/// Makes a [`Recording`].
#[derive(Debug)]
pub struct Recorder {
    recording: Recording,
    data: Data,
    /// Time between frames [s].
    interval: f64,
    /// Time of the first frame [s].
    begin: f64,
    /// Index of the next frame.
    due: u64,
    /// Statistics of the steps since the last frame.
    since: StepStatistics,
    /// Patches at the poses of a frame, apart from those of the simulation.
    patches: PatchDetector,
}

/// Surfaces of the soft bodies of a world.
fn softs_of(world: &World) -> Vec<RecordedSoftBody> {
    let of = |(object, surface_mesh): (&SoftObject, &SoftSurfaceMesh)| RecordedSoftBody {
        name: object.spec.name.clone(),
        vertices: surface_mesh.vertices.len(),
        triangles: surface_mesh.triangles.clone(),
        colour: object.colour,
    };
    world.softs().iter().zip(&world.softs.surface_meshes).map(of).collect()
}

/// Appends the vertices of the surfaces of all soft bodies, for nodes at `x` [m].
pub fn append_soft_vertices(world: &World, x: &[Vector3<f64>], to: &mut Vec<[f32; 3]>) {
    for (soft, surface_mesh) in world.model().softs().iter().zip(&world.softs.surface_meshes) {
        let own = &x[soft.nodes.clone()];
        let positions = surface_mesh.vertices.iter().map(|v| own[*v as usize].cast::<f32>());
        to.extend(positions.map(<[f32; 3]>::from));
    }
}

impl Recorder {
    /// Begins a recording at `rate` frames per second of simulated time; infinity records every step.
    /// The first frame is the present state.
    pub fn new(simulation: &Simulation, rate: f64) -> Result<Self, RecordError> {
        if !(rate > 0.0) {
            return Err(RecordError::Rate { found: rate });
        }
        let (world, settings) = (simulation.world(), simulation.settings());
        let model = world.model();
        let name = |(k, body): (usize, &stiction_mech::Body)| match body.spec.name.as_str() {
            "" if k == 0 => "world".to_owned(),
            "" => format!("body {k}"),
            name => name.to_owned(),
        };
        let bodies = model.bodies();
        let moves = |body: &usize| bodies[*body].link.is_some() || bodies[*body].driver.is_some();
        let recording = Recording {
            solver: settings.solver.clone(),
            time_step: settings.time_step,
            tolerance: settings.tolerance,
            bodies: bodies.iter().enumerate().map(name).collect(),
            moving: (0..bodies.len()).filter(moves).collect(),
            shapes: VisualShape::of_world(world),
            softs: softs_of(world),
            ..Recording::default()
        };
        let mut recorder = Self {
            recording,
            data: Data::new(model),
            interval: 1.0 / rate,
            begin: simulation.state().time,
            due: 0,
            since: StepStatistics::default(),
            patches: PatchDetector::with_pieces(),
        };
        recorder.keep(simulation);
        recorder.recording.rest.clone_from(&recorder.data.body_pose);
        Ok(recorder)
    }

    /// Continues a recording of the same scene, without those of its frames that are later than
    /// the present state. The next frame has the statistics of the steps from now on.
    pub fn resume(&mut self, mut earlier: Recording) -> Result<(), RecordError> {
        let (found, expected) = (earlier.moving.len(), self.recording.moving.len());
        if found != expected || earlier.bodies.len() != self.recording.bodies.len() {
            return Err(RecordError::OtherScene { found, expected });
        }
        let Some(now) = self.recording.frames.time.last().copied() else { return Ok(()) };
        earlier.keep_until(now);
        let (Some(&first), Some(&last)) = (earlier.frames.time.first(), earlier.frames.time.last())
        else {
            return Ok(());
        };
        self.recording = earlier;
        self.begin = first;
        self.due = 0;
        self.schedule_after(last);
        Ok(())
    }

    /// Sets the next frame to the first one due after a time [s].
    fn schedule_after(&mut self, time: f64) {
        let passed = (time - self.begin + 0.5 * self.recording.time_step) / self.interval;
        self.due = (passed.max(0.0) as u64).saturating_add(1).max(self.due);
    }

    /// Sets the title.
    pub fn title(&mut self, title: impl Into<String>) {
        self.recording.title = title.into();
    }

    /// Adds a shape that is visual only, such as the visual mesh of a robot's link.
    pub fn visual(&mut self, visual: VisualShape) {
        self.recording.shapes.push(visual);
    }

    /// Adds a step, and stores a frame if one is due.
    pub fn observe(&mut self, simulation: &Simulation, report: &StepReport) {
        self.since.add(report);
        let half_step = 0.5 * self.recording.time_step;
        let due = self.begin + self.due as f64 * self.interval;
        if simulation.state().time + half_step >= due {
            self.keep(simulation);
        }
    }

    /// Stores a frame of the present state, due or not; does nothing if the last frame has the same
    /// time.
    pub fn keep(&mut self, simulation: &Simulation) {
        let state = simulation.state();
        if self.recording.frames.time.last() == Some(&state.time) {
            return;
        }
        let (model, data) = (simulation.world().model(), &mut self.data);
        set_driven_poses(model, simulation.driven_pose(), data);
        kinematics(model, &state.q, data);
        velocities(model, &state.v, data);
        let frames = &mut self.recording.frames;
        frames.time.push(state.time);
        for &body in &self.recording.moving {
            let pose: &Isometry3<f64> = &data.body_pose[body];
            let r = pose.rotation.quaternion();
            frames.position.push(pose.translation.vector.into());
            frames.rotation.push([r.w, r.i, r.j, r.k]);
        }
        append_soft_vertices(simulation.world(), &state.x, &mut frames.soft);
        let contacts = &mut frames.contacts;
        contacts.first.push(contacts.gap.len());
        // Contacts of a step before the recording or a reset do not belong to this frame.
        if self.since.steps > 0 {
            for contact in simulation.contacts() {
                contacts.bodies.push(contact.bodies.map(|body| body as u32));
                contacts.shapes.push(contact.geoms.map(|geom| geom as u32));
                contacts.point.push(contact.point.into());
                contacts.normal.push(contact.normal.into());
                contacts.force.push(contact.force.into());
                contacts.gap.push(contact.gap);
            }
        }
        let world = simulation.world();
        self.patches.detect(&world.colliders, &world.pressure, &data.body_pose, &[]);
        frames.patches.add(&self.patches);
        let (since, statistics) = (std::mem::take(&mut self.since), &mut frames.statistics);
        statistics.steps.push(since.steps as u32);
        statistics.momentum.push(since.momentum.max());
        statistics.coulomb.push(since.coulomb.max());
        statistics.convex.push(since.convex.max());
        statistics.iterations.push(since.iterations.max() as u32);
        statistics.status.push(since.solver_status as u8);
        statistics.flags.push(since.flags.bits());
        statistics.softened.push(since.softened > 0);
        statistics.penetration.push(since.penetration.max());
        statistics.equality_error.push(since.equality_error.max());
        let soft_kinetic = soft_kinetic_energy(model, &state.x_dot);
        statistics.kinetic.push(kinetic_energy(model, data, &state.v) + soft_kinetic);
        let soft_potential = soft_potential_energy(model, &state.x);
        statistics.potential.push(potential_energy(model, data, &state.q) + soft_potential);
        let steps = since.steps.max(1) as f64;
        statistics.phases.push(since.phases.map(|sum| sum.as_secs_f64() / steps));
        statistics.contacts.push(since.contacts.last() as u32);
        statistics.asleep.push(since.asleep.last() as u32);
        self.schedule_after(state.time);
    }

    /// The recording so far.
    pub fn recording(&self) -> &Recording {
        &self.recording
    }

    /// The recording.
    pub fn finish(self) -> Recording {
        self.recording
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settings::Settings;
    use crate::world::{Geom, WorldBuilder};
    use nalgebra::Vector3;
    use stiction_geom::Shape;
    use stiction_mech::{BodyId, BodySpec, JointKind, JointSpec, MassProperties};

    /// A ball at a height above a floor.
    fn ball(height: f64, time_step: f64) -> Simulation {
        let mut builder = WorldBuilder::new();
        builder.geom(Geom::new(BodyId::WORLD, Shape::Plane));
        let shape = Shape::sphere(0.1).unwrap();
        let mass =
            MassProperties::new(1.0, Vector3::zeros(), shape.mass_properties(1.0).2).unwrap();
        let pose = Isometry3::translation(0.0, 0.0, height);
        let body = builder.mechanism.body(BodySpec {
            name: "ball".into(),
            pose,
            mass: Some(mass),
            ..BodySpec::default()
        });
        builder.mechanism.joint(body, JointSpec::new(JointKind::Free));
        builder.geom(Geom::new(body, shape));
        let settings = Settings { time_step, ..Settings::default() };
        Simulation::new(builder.build().unwrap(), settings).unwrap()
    }

    fn run(simulation: &mut Simulation, rate: f64, steps: usize) -> Recording {
        let mut recorder = Recorder::new(simulation, rate).unwrap();
        for _ in 0..steps {
            let report = simulation.step().unwrap();
            recorder.observe(simulation, &report);
        }
        recorder.finish()
    }

    #[test]
    fn frames_lie_on_the_raster_nearest_to_its_times() {
        // 300 steps of 1/240 s at 60 frames per second: every fourth step, and the start.
        let recording = run(&mut ball(10.0, 1.0 / 240.0), 60.0, 300);
        recording.check().unwrap();
        assert_eq!(recording.len(), 76);
        for (k, time) in recording.frames.time.iter().enumerate() {
            assert!((time - k as f64 / 60.0).abs() < 1e-9, "{k}: {time}");
        }
        // A step that divides no interval: never off by more than half of it, no frame twice.
        let recording = run(&mut ball(10.0, 0.007), 60.0, 300);
        assert_eq!(recording.len(), 1 + (300.0_f64 * 0.007 * 60.0 + 0.5 * 0.007 * 60.0) as usize);
        for (k, time) in recording.frames.time.iter().enumerate() {
            assert!((time - k as f64 / 60.0).abs() <= 0.0035 + 1e-9, "{k}: {time}");
        }
    }

    #[test]
    fn a_rate_above_that_of_the_steps_keeps_them_all() {
        for rate in [1e5, f64::INFINITY] {
            let recording = run(&mut ball(10.0, 0.01), rate, 20);
            assert_eq!(recording.len(), 21);
            assert!(recording.frames.statistics.steps[1..].iter().all(|&steps| steps == 1));
        }
    }

    #[test]
    fn poses_are_those_of_the_state_and_contacts_those_of_the_last_step() {
        let mut simulation = ball(0.1, 0.01);
        let recording = run(&mut simulation, f64::INFINITY, 10);
        let frames = &recording.frames;
        let pose = simulation.body_pose(1);
        assert_eq!(frames.position.last(), Some(&pose.translation.vector.into()));
        assert_eq!((recording.bodies[0].as_str(), &recording.moving), ("world", &vec![1]));
        assert!(frames.contacts.of(0).is_empty());
        let last = frames.contacts.of(10);
        assert_eq!(last.len(), simulation.contacts().len());
        // One kilogram at rest.
        assert!((frames.contacts.force[last.start][2] - 9.81).abs() < 1e-3);
        assert_eq!(frames.contacts.bodies[last.start], [0, 1]);
        let energy = frames.statistics.kinetic[10] + frames.statistics.potential[10];
        assert_eq!(energy, simulation.energy());
    }

    #[test]
    fn a_frame_has_the_worst_values_of_the_steps_since_the_last() {
        let (mut every, mut some) = (ball(0.12, 0.01), ball(0.12, 0.01));
        let (every, some) = (run(&mut every, f64::INFINITY, 40), run(&mut some, 10.0, 40));
        assert_eq!(some.len(), 5);
        let worst_of = |range: std::ops::Range<usize>, column: &[f64]| {
            column[range].iter().copied().fold(0.0, f64::max)
        };
        for frame in 1..5 {
            let steps = 10 * frame - 9..10 * frame + 1;
            let (all, one) = (&every.frames.statistics, &some.frames.statistics);
            assert_eq!(one.coulomb[frame], worst_of(steps.clone(), &all.coulomb));
            assert_eq!(one.penetration[frame], worst_of(steps, &all.penetration));
            assert_eq!(one.steps[frame], 10);
        }
    }

    #[test]
    fn recording_does_not_change_the_simulation() {
        let (mut alone, mut watched) = (ball(0.3, 0.01), ball(0.3, 0.01));
        for _ in 0..50 {
            let _ = alone.step().unwrap();
        }
        run(&mut watched, 60.0, 50);
        assert_eq!(crate::state_hash(alone.state()), crate::state_hash(watched.state()));
    }

    #[test]
    fn a_recording_continues_as_if_it_had_never_stopped() {
        let mut simulation = ball(0.2, 0.01);
        let whole = run(&mut simulation, 30.0, 100);
        // Another process: the state of step 50, and a recording that went on for longer.
        let (mut first, mut second) = (ball(0.2, 0.01), ball(0.2, 0.01));
        let mut snapshot = None;
        let mut recorder = Recorder::new(&first, 30.0).unwrap();
        for step in 0..70 {
            if step == 50 {
                snapshot = Some(first.snapshot());
            }
            let report = first.step().unwrap();
            recorder.observe(&first, &report);
        }
        second.restore(&snapshot.unwrap()).unwrap();
        let mut recorder_again = Recorder::new(&second, 30.0).unwrap();
        recorder_again.resume(recorder.finish()).unwrap();
        for _ in 50..100 {
            let report = second.step().unwrap();
            recorder_again.observe(&second, &report);
        }
        let found = recorder_again.finish();
        found.check().unwrap();
        let (found, expected) = (&found.frames, &whole.frames);
        assert_eq!((&found.time, &found.position), (&expected.time, &expected.position));
        assert_eq!(found.contacts, expected.contacts);
    }

    #[test]
    fn an_invalid_rate_is_refused() {
        for rate in [0.0, -1.0, f64::NAN] {
            assert!(matches!(Recorder::new(&ball(1.0, 0.01), rate), Err(RecordError::Rate { .. })));
        }
    }

    #[test]
    fn columns_that_do_not_fit_are_found() {
        let mut recording = run(&mut ball(0.1, 0.01), 60.0, 10);
        recording.frames.contacts.bodies[0] = [0, 7];
        assert!(matches!(recording.check(), Err(RecordError::Index { found: 7, count: 2, .. })));
        recording.frames.time.pop();
        assert!(matches!(recording.check(), Err(RecordError::Length { .. })));
    }
}
