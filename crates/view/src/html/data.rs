//! A recording as the page reads it: a header and packed columns.
//!
//! Lengths are quantised to a small fraction of the smallest visible size, rotations and normals to a
//! small angle, forces and residuals to a few digits over any range. A contact is predicted from the
//! same contact of the frame before, if there was one, so that resting contacts take few bytes.

use std::collections::HashMap;

use nalgebra::{Isometry3, Vector3};
use serde_json::{Map, Value, json};
use stiction_geom::Shape;
use stiction_sim::PHASES;
use stiction_sim::record::{Geometry, Recording};

use crate::draw_list::creases;
use crate::mesh::{Mesh, Meshes};
use crate::pack::{Packer, Scale};

/// Version of the layout; the page refuses others.
pub const VERSION: u32 = 2;

/// Quantum of lengths, relative to the smallest visible size.
const FINENESS: f64 = 1.0 / 4096.0;
/// Quantum of lengths [m] if no visible shape has a size.
const NO_SIZE: f64 = 1e-4;
/// Quantum of quaternions.
const TURN: f64 = 1.0 / 32768.0;
/// Quantum of folded unit vectors of contacts and of meshes.
const DIRECTION: f64 = 1.0 / 2048.0;
const SHADING: f64 = 1.0 / 511.0;
/// Quantum of a mesh, relative to its largest extent.
const MESH: f64 = 1.0 / 65_536.0;
/// Low bits of a 32-bit float that residuals, times and forces drop.
const ROUGH: Scale = Scale::Float { shift: 12 };
/// Quantum of energies, relative to their range.
const ENERGY: f64 = 1.0 / 4_194_304.0;
/// Quantum of times, relative to the time step.
const TIME: f64 = 1.0 / 16.0;
/// Forces below this part of the largest are round-off of the solver and become zero.
const FAINT: f64 = 1.0 / 1_048_576.0;

/// The recording, deflated.
pub fn encode(recording: &Recording) -> std::io::Result<Vec<u8>> {
    let mut packer = Packer::default();
    let quantum = length_quantum(recording);
    let mut header = Map::new();
    header.insert("version".into(), VERSION.into());
    header.insert("title".into(), recording.title.clone().into());
    header.insert("solver".into(), recording.solver.clone().into());
    header.insert("time_step".into(), recording.time_step.into());
    header.insert("tolerance".into(), recording.tolerance.into());
    header.insert("frames".into(), recording.len().into());
    header.insert("bodies".into(), recording.bodies.clone().into());
    header.insert("moving".into(), recording.moving.clone().into());
    header.insert("rest".into(), recording.rest.iter().map(pose).collect());
    header.insert("phases".into(), PHASES.as_slice().into());
    shapes_and_meshes(recording, &mut header, &mut packer);
    motion(recording, quantum, &mut packer);
    contacts(recording, quantum, &mut packer);
    figures(recording, &mut packer);
    packer.finish(header)
}

/// A power of two, so that static bodies at round coordinates are kept exactly.
fn length_quantum(recording: &Recording) -> f64 {
    let size = |geometry: &Geometry| match geometry {
        Geometry::Shape(shape) => smallest(shape),
        Geometry::Triangles(_) => f64::INFINITY,
    };
    let sizes = recording.shapes.iter().map(|seen| size(&seen.geometry));
    let least =
        sizes.chain(soft_size(recording)).filter(|s| *s > 0.0).fold(f64::INFINITY, f64::min);
    let wanted = if least.is_finite() { least * FINENESS } else { NO_SIZE };
    wanted.log2().floor().exp2()
}

fn smallest(shape: &Shape) -> f64 {
    match shape {
        Shape::Compound(parts) => {
            parts.parts().iter().map(|part| smallest(&part.1)).fold(f64::INFINITY, f64::min)
        }
        shape => shape.bounding_radius(),
    }
}

/// Half the largest extent of the soft surfaces at the first frame [m].
fn soft_size(recording: &Recording) -> Option<f64> {
    let count: usize = recording.softs.iter().map(|soft| soft.vertices).sum();
    let first = recording.frames.soft.get(..count)?;
    let extent = |axis: usize| {
        let (low, high) = range(first.iter().map(|p| f64::from(p[axis])));
        high - low
    };
    (count > 0).then(|| 0.5 * (0..3).map(extent).fold(0.0, f64::max))
}

/// Smallest and largest finite value; zeros if there is none.
fn range(values: impl Iterator<Item = f64>) -> (f64, f64) {
    let both = values
        .filter(|x| x.is_finite())
        .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), x| (low.min(x), high.max(x)));
    if both.0 <= both.1 { both } else { (0.0, 0.0) }
}

fn pose(pose: &Isometry3<f64>) -> Value {
    let (p, r) = (&pose.translation.vector, pose.rotation.quaternion());
    [p.x, p.y, p.z, r.w, r.i, r.j, r.k].map(|x| x as f32).as_slice().into()
}

/// Meshes, shapes and soft surfaces.
fn shapes_and_meshes(recording: &Recording, header: &mut Map<String, Value>, packer: &mut Packer) {
    let mut meshes = Meshes::expecting(recording.shapes.len());
    let mut shapes = Vec::new();
    for (index, seen) in recording.shapes.iter().enumerate() {
        for placed in meshes.of(&seen.geometry) {
            shapes.push(json!({
                "of": index,
                "name": seen.name,
                "body": seen.body,
                "mesh": placed.mesh,
                "pose": pose(&(seen.pose * placed.pose)),
                "scale": placed.scale.map(|x| x as f32),
                "colour": seen.colour,
                "collides": seen.collides,
            }));
        }
    }
    header.insert("shapes".into(), shapes.into());
    header.insert("meshes".into(), meshes.all().len().into());
    for (k, mesh) in meshes.all().iter().enumerate() {
        pack_mesh(k, mesh, packer);
    }
    let soft =
        recording.softs.iter().enumerate().zip(creases(recording)).map(|((k, soft), drawn)| {
            let corners: Vec<i32> = drawn.triangles.iter().flatten().map(|&v| v as i32).collect();
            packer.integers(format!("soft.{k}.triangles"), 3, Scale::WHOLE, &corners);
            let vertices: Vec<i32> = drawn.vertices.iter().map(|&v| v as i32).collect();
            packer.integers(format!("soft.{k}.corners"), 1, Scale::WHOLE, &vertices);
            json!({"name": soft.name, "vertices": soft.vertices, "colour": soft.colour})
        });
    let soft: Vec<Value> = soft.collect();
    header.insert("softs".into(), soft.into());
}

fn pack_mesh(k: usize, mesh: &Mesh, packer: &mut Packer) {
    let positions: Vec<f64> = mesh.positions.iter().flatten().map(|&x| f64::from(x)).collect();
    let (low, high) = range(positions.iter().copied());
    let quantum = if high > low { (high - low) * MESH } else { 1.0 };
    let scale = Scale::Quantum { quantum, offset: low };
    packer.column(format!("mesh.{k}.positions"), 3, scale, &positions);
    let folded: Vec<f64> =
        mesh.normals.iter().flat_map(|n| fold(&Vector3::from(*n).cast())).collect();
    packer.column(format!("mesh.{k}.normals"), 2, Scale::quantum(SHADING), &folded);
    let corners: Vec<i32> = mesh.triangles.iter().flatten().map(|&v| v as i32).collect();
    packer.integers(format!("mesh.{k}.triangles"), 3, Scale::WHOLE, &corners);
}

/// A direction as two numbers within ±1: the octahedron |x| + |y| + |z| = 1 projected along z, its
/// lower half folded outwards.
pub fn fold(n: &Vector3<f64>) -> [f64; 2] {
    let sum = n.abs().sum();
    if !(sum > 0.0) {
        return [0.0, 0.0];
    }
    let (x, y) = (n.x / sum, n.y / sum);
    if n.z >= 0.0 {
        return [x, y];
    }
    let sign = |a: f64| if a >= 0.0 { 1.0 } else { -1.0 };
    [(1.0 - y.abs()) * sign(x), (1.0 - x.abs()) * sign(y)]
}

/// Times, poses and soft vertices.
fn motion(recording: &Recording, quantum: f64, packer: &mut Packer) {
    let frames = &recording.frames;
    let offset = frames.time.first().copied().unwrap_or(0.0);
    let tick = if recording.time_step > 0.0 { recording.time_step * TIME } else { TIME };
    packer.column("time", 1, Scale::Quantum { quantum: tick, offset }, &frames.time);
    let moving = recording.moving.len();
    packer.column("position", 3 * moving, Scale::quantum(quantum), frames.position.as_flattened());
    // q and −q are the same rotation: take the one nearer to the last.
    let mut rotation = frames.rotation.clone();
    for k in moving..rotation.len() {
        let last = rotation[k - moving];
        let dot: f64 = rotation[k].iter().zip(last).map(|(a, b)| a * b).sum();
        if dot < 0.0 {
            rotation[k] = rotation[k].map(|x| -x);
        }
    }
    packer.column("rotation", 4 * moving, Scale::quantum(TURN), rotation.as_flattened());
    let soft: Vec<f64> = frames.soft.iter().flatten().map(|&x| f64::from(x)).collect();
    let vertices: usize = recording.softs.iter().map(|soft| soft.vertices).sum();
    packer.column("soft", 3 * vertices, Scale::quantum(quantum), &soft);
}

/// Numbers per contact: point, folded normal, force, gap.
const POINT: usize = 3;
const NORMAL: usize = 2;
const FORCE: usize = 3;

/// Contacts, each predicted from [`origins`].
fn contacts(recording: &Recording, quantum: f64, packer: &mut Packer) {
    let contacts = &recording.frames.contacts;
    let count: Vec<i32> =
        (0..recording.len()).map(|frame| contacts.of(frame).len() as i32).collect();
    packer.integers("contact.count", 1, Scale::WHOLE, &count);
    let bodies: Vec<i32> = contacts.bodies.iter().flatten().map(|&b| b as i32).collect();
    packer.integers("contact.bodies", 2, Scale::WHOLE, &bodies);
    let origins = origins(recording);
    let (low, high) = range(contacts.force.iter().flatten().map(|f| f.abs()));
    let faint = low.max(high * FAINT);
    let audible = |f: f64| if f.abs() < faint { 0.0 } else { f };
    let mut predicted = |name: &str, series: usize, scale: Scale, values: Vec<f64>| {
        let encoded: Vec<i32> = values.iter().map(|x| scale.encode(*x)).collect();
        let mut left = Vec::with_capacity(encoded.len());
        for s in 0..series {
            for (k, origin) in origins.iter().enumerate() {
                let guess = origin.map_or(0, |o| encoded[o * series + s]);
                left.push(encoded[k * series + s].wrapping_sub(guess));
            }
        }
        packer.predicted(name, series, scale, &left);
    };
    let lengths = Scale::quantum(quantum);
    predicted("contact.point", POINT, lengths, contacts.point.as_flattened().to_vec());
    let normal = contacts.normal.iter().flat_map(|n| fold(&Vector3::from(*n))).collect();
    predicted("contact.normal", NORMAL, Scale::quantum(DIRECTION), normal);
    let force = contacts.force.as_flattened().iter().map(|f| audible(*f)).collect();
    predicted("contact.force", FORCE, ROUGH, force);
    let fine = Scale::quantum(quantum / 16.0);
    predicted("contact.gap", 1, fine, contacts.gap.clone());
}

/// Per contact, the index of the one it is predicted from: the contact of the same two bodies and the
/// same rank among these in the frame before; otherwise the contact listed before it.
fn origins(recording: &Recording) -> Vec<Option<usize>> {
    let contacts = &recording.frames.contacts;
    let mut origins = Vec::with_capacity(contacts.gap.len());
    let (mut before, mut now) = (HashMap::new(), HashMap::new());
    for frame in 0..recording.len() {
        let mut ordinals: HashMap<[u32; 2], u32> = HashMap::new();
        for k in contacts.of(frame) {
            let bodies = contacts.bodies[k];
            let ordinal = ordinals.entry(bodies).or_default();
            origins.push(before.get(&(bodies, *ordinal)).copied().or(k.checked_sub(1)));
            now.insert((bodies, *ordinal), k);
            *ordinal += 1;
        }
        std::mem::swap(&mut before, &mut now);
        now.clear();
    }
    origins
}

/// Figures per frame.
fn figures(recording: &Recording, packer: &mut Packer) {
    let figures = &recording.frames.figures;
    for (name, column) in [
        ("momentum", &figures.momentum),
        ("coulomb", &figures.coulomb),
        ("convex", &figures.convex),
        ("penetration", &figures.penetration),
        ("equality_error", &figures.equality_error),
    ] {
        packer.column(name, 1, ROUGH, column);
    }
    packer.column("phases", PHASES.len(), ROUGH, figures.phases.as_flattened());
    for (name, column) in [("kinetic", &figures.kinetic), ("potential", &figures.potential)] {
        let (low, high) = range(column.iter().copied());
        let quantum = if high > low { (high - low) * ENERGY } else { 1.0 };
        packer.column(name, 1, Scale::Quantum { quantum, offset: low }, column);
    }
    for (name, column) in [
        ("steps", &figures.steps),
        ("iterations", &figures.iterations),
        ("contacts", &figures.contacts),
        ("asleep", &figures.asleep),
    ] {
        let whole: Vec<f64> = column.iter().map(|&x| f64::from(x)).collect();
        packer.column(name, 1, Scale::WHOLE, &whole);
    }
    let status: Vec<i32> = figures.status.iter().map(|&x| i32::from(x)).collect();
    packer.integers("status", 1, Scale::WHOLE, &status);
    let flags: Vec<i32> = figures.flags.iter().map(|&x| i32::from(x)).collect();
    packer.integers("flags", 1, Scale::WHOLE, &flags);
    let softened: Vec<i32> = figures.softened.iter().map(|&x| i32::from(x)).collect();
    packer.integers("softened", 1, Scale::WHOLE, &softened);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pack::tests::unpack;
    use stiction_math::random::SplitMix64;
    use stiction_sim::record::{Contacts, Frames, Recorder, Soft};

    /// A heap of dropped boxes, run for some steps.
    fn heap(steps: usize) -> Recording {
        let mut scene_run = stiction_study::scenario("stack", &[]).unwrap().start().unwrap();
        let mut recorder = Recorder::new(&scene_run.simulation, f64::INFINITY).unwrap();
        for _ in 0..steps {
            let report = scene_run.step().unwrap();
            recorder.observe(&scene_run.simulation, &report);
        }
        recorder.finish()
    }

    #[test]
    fn directions_unfold_to_themselves() {
        for k in 0..500 {
            let a = f64::from(k);
            let n = Vector3::new((1.1 * a).sin(), (2.3 * a).cos(), (0.7 * a).sin()).normalize();
            let [x, y] = fold(&n);
            // As codec.js: z = 1 − |x| − |y|, and what is below is folded back.
            let z = 1.0 - x.abs() - y.abs();
            let back = (-z).max(0.0);
            let found = Vector3::new(x - back * x.signum(), y - back * y.signum(), z).normalize();
            assert!((found - n).norm() < 1e-12, "{n} became {found}");
        }
    }

    #[test]
    fn a_run_comes_back_within_the_quanta() {
        let recording = heap(40);
        let (frames, quantum) = (&recording.frames, length_quantum(&recording));
        assert!(!frames.contacts.gap.is_empty());
        let deflated = encode(&recording).unwrap();
        let (header, column) = unpack(&deflated);
        assert_eq!(header["frames"], 41);
        let near = |found: Vec<i32>, scale: Scale, exact: &[f64], bound: f64| {
            assert_eq!(found.len(), exact.len());
            for (k, x) in found.into_iter().zip(exact) {
                let y = scale.decode(k);
                assert!((x - y).abs() <= bound * (1.0 + 1e-9), "{x} became {y}");
            }
        };
        let lengths = Scale::quantum(quantum);
        near(column("position"), lengths, frames.position.as_flattened(), 0.5 * quantum);
        let scale = Scale::Quantum { quantum: recording.time_step * TIME, offset: 0.0 };
        near(column("time"), scale, &frames.time, 0.5 * recording.time_step * TIME);
        // Contacts: undo the prediction from the origins.
        let left = column("contact.point");
        let mut points = left.clone();
        for (k, origin) in origins(&recording).into_iter().enumerate() {
            for s in 0..POINT {
                points[k * POINT + s] =
                    left[k * POINT + s].wrapping_add(origin.map_or(0, |o| points[o * POINT + s]));
            }
        }
        near(points, lengths, frames.contacts.point.as_flattened(), 0.5 * quantum);
    }

    #[test]
    fn a_recording_of_nothing_is_encoded() {
        let deflated = encode(&Recording::default()).unwrap();
        let (header, column) = unpack(&deflated);
        assert_eq!((header["frames"].as_u64(), column("position").len()), (Some(0), 0));
        // Frames, but nothing that moves or touches.
        let figures = stiction_sim::record::Figures::default();
        let frames = Frames { time: vec![0.0, 0.1], figures, ..Frames::default() };
        let recording = Recording { frames, ..Recording::default() };
        assert!(recording.check().is_err());
        assert!(encode(&recording).is_ok());
    }

    #[test]
    fn twenty_bodies_and_a_soft_one_for_four_seconds_take_less_than_two_megabytes() {
        let (n, grid) = (240, 30_usize);
        let mut recording = Recording {
            bodies: (0..21).map(|k| format!("body {k}")).collect(),
            rest: vec![Isometry3::identity(); 21],
            moving: (1..21).collect(),
            ..Recording::default()
        };
        recording.time_step = 1.0 / 60.0;
        let cell = |i: usize, j: usize| (i * grid + j) as u32;
        let triangles =
            (1..grid).flat_map(|i| (1..grid).map(move |j| (i, j))).flat_map(|(i, j)| {
                let (a, b, c, d) = (cell(i - 1, j - 1), cell(i, j - 1), cell(i, j), cell(i - 1, j));
                [[a, b, c], [a, c, d]]
            });
        recording.softs.push(Soft {
            name: "sheet".into(),
            vertices: grid * grid,
            triangles: triangles.collect(),
            colour: [0.5, 0.6, 0.7, 1.0],
        });
        // Noise of a fixed sequence, so that no prediction is too good to be true.
        let mut rng = SplitMix64::new(1);
        let mut noise = move || rng.uniform(-0.5, 0.5);
        let frames = &mut recording.frames;
        for k in 0..n {
            let t = k as f64 / 60.0;
            frames.time.push(t);
            for body in 0..20 {
                let phase = f64::from(body);
                let (sin, cos) = (3.0 * t + phase).sin_cos();
                frames.position.push([sin + 1e-4 * noise(), phase, cos + 1e-4 * noise()]);
                frames.rotation.push([cos, sin * 0.6, sin * 0.8, 0.0]);
            }
            for v in 0..grid * grid {
                let (x, y) = ((v / grid) as f64 / 30.0, (v % grid) as f64 / 30.0);
                let z =
                    0.1 * (9.0 * x + 4.0 * t).sin() * (7.0 * y - 5.0 * t).cos() + 1e-3 * noise();
                frames.soft.push([x as f32, y as f32, (1.0 - 0.2 * t + z) as f32]);
            }
            // Each body rests on four points whose forces tremble.
            frames.contacts.first.push(frames.contacts.gap.len());
            for body in 1..21 {
                for corner in 0..4 {
                    frames.contacts.bodies.push([0, body]);
                    frames.contacts.shapes.push([0, body]);
                    let at = f64::from(body) + 0.1 * f64::from(corner);
                    frames.contacts.point.push([at + 1e-4 * noise(), at, 0.0]);
                    frames.contacts.normal.push([1e-3 * noise(), 0.0, 1.0]);
                    frames.contacts.force.push([noise(), noise(), 10.0 + noise()]);
                    frames.contacts.gap.push(1e-5 * noise());
                }
            }
            let figures = &mut frames.figures;
            for column in [
                &mut figures.momentum,
                &mut figures.coulomb,
                &mut figures.convex,
                &mut figures.penetration,
                &mut figures.equality_error,
                &mut figures.kinetic,
                &mut figures.potential,
            ] {
                column.push(noise().abs());
            }
            figures.phases.push([0.0; PHASES.len()].map(|_| noise().abs()));
            for column in [
                &mut figures.steps,
                &mut figures.iterations,
                &mut figures.contacts,
                &mut figures.asleep,
            ] {
                column.push(1);
            }
            figures.status.push(0);
            figures.flags.push(0);
            figures.softened.push(false);
        }
        recording.check().unwrap();
        let page = crate::html::page(&recording).unwrap();
        println!(
            "{} bytes, page {}",
            page.len(),
            crate::html::page(&Recording::default()).unwrap().len()
        );
        assert!(page.len() < 2_000_000, "{} bytes", page.len());
    }

    #[test]
    fn a_contact_is_predicted_from_itself_one_frame_ago() {
        let contacts = Contacts {
            first: vec![0, 2],
            bodies: vec![[0, 1], [0, 2], [0, 2], [0, 1], [3, 4]],
            gap: vec![0.0; 5],
            ..Contacts::default()
        };
        let frames = Frames { time: vec![0.0, 0.1], contacts, ..Frames::default() };
        let recording = Recording { frames, ..Recording::default() };
        assert_eq!(origins(&recording), [None, Some(0), Some(1), Some(0), Some(3)]);
    }
}
