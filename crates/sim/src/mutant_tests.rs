//! Mutated recordings, snapshots and checkpoints with the right checksums: reading ends with a value or
//! an error, and what was read can be used.

use stiction_testkit::mutation::campaign;

use crate::hash::Fnv;
use crate::record::container::{self, Chunk};
use crate::record::{Recorder, Recording};
use crate::settings::Settings;
use crate::simulation::Simulation;
use crate::snapshot::Snapshot;
use crate::world::{Geom, WorldBuilder};
use crate::{Checkpoint, fingerprint};
use nalgebra::{Isometry3, Matrix3, Vector3};
use stiction_geom::Shape;
use stiction_mech::{BodyId, BodySpec, JointKind, JointSpec, MassProperties};

/// Balls and a compound on a floor.
fn pile() -> Simulation {
    let mut builder = WorldBuilder::new();
    builder.geom(Geom::new(BodyId::WORLD, Shape::Plane).named("floor"));
    let ball = Shape::sphere(0.1).unwrap();
    let at = |x: f64| Isometry3::translation(x, 0.0, 0.0);
    let pair = Shape::compound(vec![(at(-0.1), ball.clone()), (at(0.1), ball.clone())]).unwrap();
    for (k, shape) in [ball, pair.clone(), pair].into_iter().enumerate() {
        let mass = MassProperties::new(1.0, Vector3::zeros(), Matrix3::identity() * 0.01).unwrap();
        let body = builder.mechanism.body(BodySpec {
            name: format!("body {k}"),
            pose: Isometry3::translation(0.15 * k as f64, 0.0, 0.1),
            mass: Some(mass),
            ..BodySpec::default()
        });
        builder.mechanism.joint(body, JointSpec::new(JointKind::Free));
        builder.geom(Geom::new(body, shape));
    }
    let settings = Settings { time_step: 0.01, ..Settings::default() };
    Simulation::new(builder.build().unwrap(), settings).unwrap()
}

fn recording() -> Recording {
    let mut simulation = pile();
    let mut recorder = Recorder::new(&simulation, f64::INFINITY).unwrap();
    for _ in 0..4 {
        let report = simulation.step().unwrap();
        recorder.observe(&simulation, &report);
    }
    recorder.finish()
}

#[test]
fn mutated_recordings_are_read_or_refused() {
    let recording = recording();
    let bodies = container::bodies_of(&recording);
    // The parts of a mutation are those of the head, then those of the frames.
    let corpus: Vec<Vec<u8>> = vec![bodies[0].clone(), bodies[1].clone()];
    let (head, frames) = (bodies[0].clone(), bodies[1].clone());
    let in_file = move |body: Vec<u8>, is_head: bool| {
        let pair = if is_head { [&body, &frames] } else { [&head, &body] };
        [Chunk::raw_head(pair[0]), Chunk::raw_frames(pair[1])].concat()
    };
    for (is_head, input) in [(true, &corpus[0]), (false, &corpus[1])] {
        let in_file = in_file.clone();
        let whole = in_file(input.clone(), is_head);
        assert!(container::read(&whole).is_ok());
        campaign(
            "recording",
            std::slice::from_ref(input),
            |bytes| bytes,
            move |body| {
                if let Ok(found) = container::read(&in_file(body.to_vec(), is_head)) {
                    let mut recording = found.recording;
                    recording.check().unwrap();
                    let again = container::to_bytes(&recording, 1);
                    assert!(container::read(&again).is_ok());
                    recording.keep_until(0.02);
                }
            },
        );
    }
    // Bytes without the right sums, too.
    let whole = container::to_bytes(&recording, 42);
    campaign("chunks", &[whole], |bytes| bytes, |bytes| drop(container::read(bytes)));
}

/// Replaces the checksum at the end of bytes by the right one.
fn summed(mut bytes: Vec<u8>) -> Vec<u8> {
    let end = bytes.len().saturating_sub(size_of::<u64>());
    bytes.truncate(end);
    let sum = Fnv::of(bytes.iter().copied());
    bytes.extend_from_slice(&sum.to_le_bytes());
    bytes
}

#[test]
fn mutated_snapshots_are_restored_or_refused() {
    let mut simulation = pile();
    for _ in 0..3 {
        let _ = simulation.step().unwrap();
    }
    let bytes = simulation.snapshot().to_bytes();
    campaign("snapshot", &[bytes], summed, |bytes| {
        let Ok(snapshot) = Snapshot::from_bytes(bytes) else { return };
        let mut simulation = pile();
        if simulation.restore(&snapshot).is_ok() {
            let _ = simulation.step();
        }
    });
}

#[test]
fn mutated_checkpoints_are_read_or_refused() {
    let simulation = pile();
    let checkpoint = Checkpoint {
        run: 7,
        fingerprint: fingerprint(simulation.world(), simulation.settings(), &()),
        step: 120,
        recipe: vec!["clutter".to_owned(), "--set".to_owned(), "bodies=4".to_owned()],
        snapshot: simulation.snapshot(),
    };
    campaign("checkpoint", &[checkpoint.to_bytes()], summed, |bytes| {
        let _ = Checkpoint::from_bytes(bytes);
    });
}
