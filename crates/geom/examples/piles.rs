//! Time of detection for settled piles: boxes and balls in a container, and balls by the thousand.
//!
//! `cargo run --release -p stiction-geom --example piles`

use nalgebra::{Isometry3, UnitQuaternion, Vector3};
use stiction_geom::{Collider, Colliders, Detector, Groups, Shape, ShapeError};
use stiction_math::random::SplitMix64;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let (set, frames) = clutter(40)?;
    report("40 boxes and balls", &set, frames, 1e-3, 1e-7)?;
    let (set, frames) = clutter(160)?;
    report("160 boxes and balls", &set, frames, 1e-3, 1e-7)?;
    let (set, frames) = balls(9000)?;
    report("9000 balls, settled", &set, frames.clone(), 1e-4, 1e-7)?;
    report("9000 balls, falling", &set, frames, 1e-4, 1e-3)?;
    Ok(())
}

/// Colliders and the poses of their frames.
type Scene = (Colliders, Vec<Isometry3<f64>>);

/// Half edge of the boxes and radius of the balls in the clutter [m].
const HALF: f64 = 0.05;
/// Radius of the granular balls [m].
const RADIUS: f64 = 0.01;

/// Boxes and balls by turns in four columns of layers, each resting on the one below.
fn clutter(n: usize) -> Result<Scene, Box<dyn std::error::Error>> {
    let mut builder = Colliders::builder();
    let mut frames = vec![Isometry3::identity()];
    builder.fixed(0);
    let walls = [(0.0, 0.0), (0.5, 0.0), (0.5, 0.5), (0.5, 1.0), (0.5, 1.5)];
    for (tilt, turn) in walls {
        let half_turn = std::f64::consts::PI;
        let rotation = UnitQuaternion::from_euler_angles(0.0, tilt * half_turn, turn * half_turn);
        let inward = rotation * Vector3::z();
        let offset = if tilt == 0.0 { 0.0 } else { -0.4 };
        let pose = Isometry3::from_parts((offset * inward).into(), rotation);
        builder.add(collider(Shape::Plane, 0, pose));
    }
    for k in 0..n {
        let shape =
            if k % 2 == 0 { Shape::cuboid(Vector3::repeat(HALF))? } else { Shape::sphere(HALF)? };
        let (layer, place) = (k / 4, k % 4);
        let at = Vector3::new(
            HALF * if place % 2 == 0 { -1.0 } else { 1.0 },
            HALF * if place / 2 == 0 { -1.0 } else { 1.0 },
            HALF * (1.0 + 2.0 * layer as f64),
        );
        let turn = UnitQuaternion::from_euler_angles(0.0, 0.0, 0.2 * k as f64);
        builder.add(collider(shape, k as u32 + 1, Isometry3::identity()));
        frames.push(Isometry3::from_parts((at * 0.9999).into(), turn));
    }
    Ok((builder.build()?, frames))
}

/// Balls in a dense packing of layers, on a plane.
fn balls(n: usize) -> Result<Scene, Box<dyn std::error::Error>> {
    let mut builder = Colliders::builder();
    let mut frames = vec![Isometry3::identity()];
    builder.fixed(0);
    builder.add(collider(Shape::Plane, 0, Isometry3::identity()));
    let edge = (n as f64).cbrt() as usize;
    let mut rng = SplitMix64::new(12345);
    let mut noise = || rng.uniform(-0.001, 0.001) * RADIUS;
    for k in 0..n {
        let (x, y, z) = (k % edge, k / edge % edge, k / (edge * edge));
        // Every other layer sits in the hollows of the one below.
        let shift = if z % 2 == 1 { 0.5 } else { 0.0 };
        let pitch = 2.06 * RADIUS;
        let rise = (4.0f64 - 2.0 * 1.03 * 1.03).sqrt(); // balls of neighbouring layers touch
        let at = Vector3::new(
            (x as f64 + shift) * pitch + noise(),
            (y as f64 + shift) * pitch + noise(),
            RADIUS * (1.0 + rise * z as f64) + noise(),
        );
        builder.add(collider(Shape::sphere(RADIUS)?, k as u32 + 1, Isometry3::identity()));
        frames.push(Isometry3::from_parts(at.into(), UnitQuaternion::identity()));
    }
    Ok((builder.build()?, frames))
}

/// CPU time of this process [s], or wall-clock time where the system does not tell.
fn cpu_seconds() -> f64 {
    let spent = std::fs::read_to_string("/proc/self/schedstat").ok();
    let nanoseconds = spent.and_then(|text| text.split(' ').next()?.parse::<f64>().ok());
    let wall = || std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    nanoseconds.map_or_else(|| wall().map_or(0.0, |t| t.as_secs_f64()), |ns| ns * 1e-9)
}

fn collider(shape: Shape, frame: u32, pose: Isometry3<f64>) -> Collider {
    Collider { shape, frame, pose, groups: Groups::default(), margin: 0.0 }
}

/// Moves all frames to and fro by `motion` [m] per call and prints the time of a call.
fn report(
    name: &str,
    set: &Colliders,
    mut frames: Vec<Isometry3<f64>>,
    reach: f64,
    motion: f64,
) -> Result<(), ShapeError> {
    let mut detector = Detector::new(set);
    let reaches = vec![reach; frames.len()];
    let resting = vec![false; frames.len()];
    detector.detect(set, &frames, &reaches, &resting);
    let calls = if set.len() > 1000 { 100 } else { 10_000 };
    let before = detector.narrow_calls();
    let start = cpu_seconds();
    for call in 0..calls {
        let sense = if call % 20 < 10 { -1.0 } else { 1.0 };
        for frame in &mut frames[1..] {
            frame.translation.vector.z += sense * motion;
        }
        detector.detect(set, &frames, &reaches, &resting);
    }
    let each = (cpu_seconds() - start) * 1e6 / f64::from(calls);
    let visits = (detector.narrow_calls() - before) / u64::from(calls as u32);
    println!("{name:24} {each:9.1} µs  {visits:6} pairs  {:6} contacts", detector.contacts().len());
    let resting = vec![true; frames.len()];
    let start = cpu_seconds();
    for _ in 0..calls {
        detector.detect(set, &frames, &reaches, &resting);
    }
    let each = (cpu_seconds() - start) * 1e6 / f64::from(calls);
    println!("{name:24} {each:9.1} µs  asleep");
    Ok(())
}
