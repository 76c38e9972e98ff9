//! A recording as the page reads it: a header and packed columns.
//!
//! The place of a body is quantised to a small fraction of its own smallest visible size, or, if it
//! travels far, to the resolution of a 32-bit float at the farthest place it reaches, so that every
//! body is drawn where it is (`FINENESS`, `REACH`). A contact point has the quantum of the finer
//! of its two bodies. Rotations and normals are quantised to a small angle, forces and residuals to
//! a few digits over any range. A contact is predicted from the
//! same contact of the frame before, if there was one, so that resting contacts take few bytes.

use std::collections::HashMap;

use nalgebra::{Isometry3, Vector3};
use serde_json::{Map, Value, json};
use stiction_geom::Shape;
use stiction_sim::PHASES;
use stiction_sim::record::{Geometry, Recording};

use super::patches::patches;
use crate::draw_list::creases;
use crate::mesh::{Mesh, Meshes};
use crate::pack::{Packer, Quanta, Scale};

/// Version of the layout; the page refuses others.
pub const VERSION: u32 = 4;

/// Quantum of the places of a body or a soft surface, relative to its smallest visible size.
const FINENESS: f64 = 1.0 / 4096.0;
/// Least quantum of a coordinate, relative to its largest magnitude: places have 32-bit floats in
/// the page.
pub(super) const REACH: f64 = 1.0 / 16_777_216.0;
/// Least quantum of gaps and times, relative to their largest magnitude: they have 32-bit integers.
const SPAN: f64 = 1.0 / 1_073_741_824.0;
/// Quantum of lengths [m] if no visible shape has a size.
const NO_SIZE: f64 = 1e-4;
/// Exponents of quanta of lengths: within those of 32-bit floats.
const EXPONENTS: std::ops::RangeInclusive<i32> = -120..=100;
/// Quantum of quaternions.
const TURN: f64 = 1.0 / 32768.0;
/// Quantum of folded unit vectors of contacts and of meshes.
const DIRECTION: f64 = 1.0 / 2048.0;
const SHADING: f64 = 1.0 / 511.0;
/// Quantum of a mesh, relative to its largest extent.
const MESH: f64 = 1.0 / 65_536.0;
/// Low bits of a 32-bit float that residuals, times and forces drop.
pub(super) const ROUGH: Scale = Scale::Float { shift: 12 };
/// Quantum of energies, relative to their range.
const ENERGY: f64 = 1.0 / 4_194_304.0;
/// Quantum of times, relative to the time step.
const TIME: f64 = 1.0 / 16.0;
/// Forces below this part of the largest are round-off of the solver and become zero.
const FAINT: f64 = 1.0 / 1_048_576.0;

/// The recording, deflated.
pub fn encode(recording: &Recording) -> std::io::Result<Vec<u8>> {
    let mut packer = Packer::default();
    let resolution = Resolution::of(recording);
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
    header.insert("exponents".into(), resolution.bodies.clone().into());
    motion(recording, &resolution, &mut packer);
    contacts(recording, &resolution, &mut packer);
    patches(recording, &resolution.bodies, &mut packer);
    figures(recording, &mut packer);
    packer.finish(header)
}

/// Exponents of the quanta of lengths. Quanta are powers of two, so that bodies at round coordinates
/// are kept exactly.
struct Resolution {
    /// Per body, for its origin and its contact points.
    bodies: Vec<i32>,
    /// Per soft surface.
    softs: Vec<i32>,
}

impl Resolution {
    fn of(recording: &Recording) -> Self {
        let sizes = body_sizes(recording);
        let soft_sizes = soft_sizes(recording);
        let known = sizes.iter().chain(&soft_sizes).filter(|s| **s > 0.0 && s.is_finite());
        let least = known.copied().fold(f64::INFINITY, f64::min);
        let unknown = if least.is_finite() { least } else { NO_SIZE / FINENESS };
        let exponents = |sizes: Vec<f64>, reaches: Vec<f64>| {
            let each = sizes.into_iter().zip(reaches);
            each.map(|(size, reach)| exponent(size, reach, unknown)).collect()
        };
        Self {
            bodies: exponents(sizes, body_reaches(recording)),
            softs: exponents(soft_sizes, soft_reaches(recording)),
        }
    }

    /// The exponent of a contact point: that of the finer of its two bodies.
    fn of_contact(&self, bodies: [u32; 2]) -> i32 {
        let of = |body: u32| self.bodies.get(body as usize).copied();
        bodies.into_iter().filter_map(of).min().unwrap_or(0)
    }
}

/// Exponent of the quantum for something of a size [m] whose coordinates reach up to `reach` [m].
fn exponent(size: f64, reach: f64, unknown: f64) -> i32 {
    let size = if size > 0.0 && size.is_finite() { size } else { unknown };
    let wanted = (size * FINENESS).log2().floor();
    let least = if reach > 0.0 { (reach * REACH).log2().ceil() } else { f64::NEG_INFINITY };
    (wanted.max(least) as i32).clamp(*EXPONENTS.start(), *EXPONENTS.end())
}

/// Smallest visible size of each body [m]; infinite for a body without shapes.
fn body_sizes(recording: &Recording) -> Vec<f64> {
    let mut sizes = vec![f64::INFINITY; recording.bodies.len()];
    for seen in &recording.shapes {
        let found = match &seen.geometry {
            Geometry::Shape(shape) => smallest(shape),
            Geometry::Triangles(seen) => half_extent(&seen.vertices),
        };
        if let Some(size) = sizes.get_mut(seen.body).filter(|_| found > 0.0) {
            *size = size.min(found);
        }
    }
    sizes
}

/// Largest finite magnitude of the coordinates of each body's origin and contact points [m].
fn body_reaches(recording: &Recording) -> Vec<f64> {
    let mut reaches = vec![0.0; recording.bodies.len()];
    let mut extend = |body: usize, p: &[f64; 3]| {
        if let Some(reach) = reaches.get_mut(body) {
            *reach = p.iter().filter(|x| x.is_finite()).fold(*reach, |r: f64, x| r.max(x.abs()));
        }
    };
    let frames = &recording.frames;
    for (p, body) in frames.position.iter().zip(recording.moving.iter().cycle()) {
        extend(*body, p);
    }
    for (p, bodies) in frames.contacts.point.iter().zip(&frames.contacts.bodies) {
        bodies.iter().for_each(|&body| extend(body as usize, p));
    }
    reaches
}

/// Vertices of each soft surface at one frame after the other.
fn soft_vertices(recording: &Recording) -> impl Iterator<Item = (usize, &[[f32; 3]])> {
    let counts: Vec<usize> = recording.softs.iter().map(|soft| soft.vertices).collect();
    let mut left = recording.frames.soft.as_slice();
    (0..recording.len()).flat_map(move |_| counts.clone().into_iter().enumerate()).map_while(
        move |(k, count)| {
            let (these, others) = left.split_at_checked(count)?;
            left = others;
            Some((k, these))
        },
    )
}

/// Half the largest extent of each soft surface at the first frame [m].
fn soft_sizes(recording: &Recording) -> Vec<f64> {
    let mut sizes = vec![0.0; recording.softs.len()];
    for (k, vertices) in soft_vertices(recording).take(recording.softs.len()) {
        sizes[k] = half_extent(vertices);
    }
    sizes
}

/// Largest finite magnitude of the coordinates of each soft surface [m].
fn soft_reaches(recording: &Recording) -> Vec<f64> {
    let mut reaches = vec![0.0_f64; recording.softs.len()];
    for (k, vertices) in soft_vertices(recording) {
        let finite = vertices.iter().flatten().filter(|x| x.is_finite());
        reaches[k] = finite.fold(reaches[k], |reach, x| reach.max(f64::from(x.abs())));
    }
    reaches
}

/// Half the largest extent of some points [m].
fn half_extent(points: &[[f32; 3]]) -> f64 {
    let extents = [0, 1, 2].map(|axis| {
        let (low, high) = range(points.iter().map(|p| f64::from(p[axis])));
        high - low
    });
    0.5 * extents.into_iter().fold(0.0, f64::max)
}

fn smallest(shape: &Shape) -> f64 {
    match shape {
        Shape::Compound(parts) => {
            parts.parts().iter().map(|part| smallest(&part.1)).fold(f64::INFINITY, f64::min)
        }
        shape => shape.bounding_radius(),
    }
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
fn motion(recording: &Recording, resolution: &Resolution, packer: &mut Packer) {
    let frames = &recording.frames;
    let offset = frames.time.first().copied().unwrap_or(0.0);
    let tick = time_quantum(recording);
    packer.column("time", 1, Scale::Quantum { quantum: tick, offset }, &frames.time);
    let moving = recording.moving.len();
    let mut quanta = Quanta::default();
    recording.moving.iter().for_each(|&body| quanta.push(3, resolution.bodies[body]));
    packer.quantised("position", &quanta, frames.position.as_flattened());
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
    let mut quanta = Quanta::default();
    for (surface, &exponent) in recording.softs.iter().zip(&resolution.softs) {
        quanta.push(3 * surface.vertices, exponent);
    }
    packer.quantised("soft", &quanta, &soft);
}

/// Quantum of times [s].
fn time_quantum(recording: &Recording) -> f64 {
    let tick = if recording.time_step > 0.0 { recording.time_step * TIME } else { TIME };
    let (begin, end) = range(recording.frames.time.iter().copied());
    tick.max((end - begin) * SPAN)
}

/// Numbers per contact: point, folded normal, force, gap.
const POINT: usize = 3;
const NORMAL: usize = 2;
const FORCE: usize = 3;

/// Contacts, each predicted from [`origins`].
fn contacts(recording: &Recording, resolution: &Resolution, packer: &mut Packer) {
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
    let exponents: Vec<i32> =
        contacts.bodies.iter().map(|&bodies| resolution.of_contact(bodies)).collect();
    let mut predicted = |name: &str, series: usize, scale: Scale, encoded: Vec<i32>| {
        let mut left = Vec::with_capacity(encoded.len());
        for s in 0..series {
            for (k, origin) in origins.iter().enumerate() {
                let guess = origin.map_or(0, |o| encoded[o * series + s]);
                left.push(encoded[k * series + s].wrapping_sub(guess));
            }
        }
        packer.predicted(name, series, scale, &left);
    };
    // Integers only; the page knows the quantum of each contact from those of its bodies.
    let points = contacts.point.iter().zip(&exponents).flat_map(|(p, &exponent)| {
        let scale = Scale::quantum(f64::from(exponent).exp2());
        p.map(|x| scale.encode(x))
    });
    predicted("contact.point", POINT, Scale::WHOLE, points.collect());
    let direction = Scale::quantum(DIRECTION);
    let normals = contacts.normal.iter().flat_map(|n| fold(&Vector3::from(*n)));
    predicted("contact.normal", NORMAL, direction, normals.map(|x| direction.encode(x)).collect());
    let forces = contacts.force.as_flattened().iter().map(|f| ROUGH.encode(audible(*f)));
    predicted("contact.force", FORCE, ROUGH, forces.collect());
    let finest = exponents.iter().copied().min().unwrap_or(0);
    let (_, largest) = range(contacts.gap.iter().map(|gap| gap.abs()));
    let fine = Scale::quantum((f64::from(finest).exp2() / 16.0).max(largest * SPAN));
    let gaps = contacts.gap.iter().map(|gap| fine.encode(*gap));
    predicted("contact.gap", 1, fine, gaps.collect());
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

/// Statistics per frame.
fn figures(recording: &Recording, packer: &mut Packer) {
    let figures = &recording.frames.statistics;
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
    use stiction_sim::record::{Contacts, Frames, RecordedSoftBody, Recorder};

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
        let frames = &recording.frames;
        assert!(!frames.contacts.gap.is_empty());
        let deflated = encode(&recording).unwrap();
        let (header, column) = unpack(&deflated);
        assert_eq!(header["frames"], 41);
        // The bodies of a stack are a decimetre large: half of 1/4096 of that, or less.
        assert!(worst_place(&recording, &deflated).iter().all(|error| *error < 2e-5));
        let tick = recording.time_step * TIME;
        let scale = Scale::Quantum { quantum: tick, offset: 0.0 };
        for (k, time) in column("time").into_iter().zip(&frames.time) {
            assert!((scale.decode(k) - time).abs() <= 0.5 * tick * (1.0 + 1e-9), "{time}");
        }
        for (found, exact) in
            contact_points(&recording, &deflated).iter().zip(&frames.contacts.point)
        {
            assert!((found - Vector3::from(*exact)).amax() < 2e-5, "{exact:?} became {found}");
        }
    }

    /// Places of the moving bodies as the page decodes them, row after row.
    fn places(deflated: &[u8]) -> Vec<f64> {
        let (header, column) = unpack(deflated);
        let runs = header["columns"]["position"]["quanta"].as_array().unwrap().clone();
        let quanta: Vec<f64> = runs
            .iter()
            .flat_map(|run| {
                let of = |k: usize| run[k].as_i64().unwrap() as i32;
                std::iter::repeat_n(f64::from(of(1)).exp2(), of(0) as usize)
            })
            .collect();
        let rows = column("position").into_iter().zip(quanta.into_iter().cycle());
        // The page has 32-bit floats.
        rows.map(|(k, quantum)| f64::from((f64::from(k) * quantum) as f32)).collect()
    }

    /// Largest error of a coordinate of each moving body in the page [m].
    fn worst_place(recording: &Recording, deflated: &[u8]) -> Vec<f64> {
        let exact = recording.frames.position.as_flattened();
        let found = places(deflated);
        assert_eq!(found.len(), exact.len());
        let mut worst = vec![0.0_f64; recording.moving.len()];
        for (k, (x, y)) in found.iter().zip(exact).enumerate() {
            let body = k / 3 % worst.len();
            worst[body] = worst[body].max((x - y).abs());
        }
        worst
    }

    /// Contact points as the page decodes them.
    fn contact_points(recording: &Recording, deflated: &[u8]) -> Vec<Vector3<f64>> {
        let (header, column) = unpack(deflated);
        let exponent = |body: u32| header["exponents"][body as usize].as_i64().unwrap();
        let mut rows = column("contact.point");
        for (k, origin) in origins(recording).into_iter().enumerate() {
            for s in 0..POINT {
                let guess = origin.map_or(0, |o| rows[o * POINT + s]);
                rows[k * POINT + s] = rows[k * POINT + s].wrapping_add(guess);
            }
        }
        let bodies = recording.frames.contacts.bodies.iter();
        let points = rows.as_chunks::<POINT>().0.iter().zip(bodies).map(|(row, &[a, b])| {
            let quantum = (exponent(a).min(exponent(b)) as f64).exp2();
            Vector3::from(*row).map(|k| f64::from(k) * quantum)
        });
        points.collect()
    }

    /// Bodies of radius 1e-4 to 1e3 m, each of which travels from near the origin over distances of
    /// 1e-3 to 1e5 m, and a contact of each with the world under it.
    #[test]
    fn bodies_of_any_size_are_drawn_where_they_are_however_far_others_travel() {
        let radii: Vec<f64> = (-4..=3).map(|k| 10_f64.powi(k)).collect();
        let travels: Vec<f64> = (-3..=5).map(|k| 10_f64.powi(k)).collect();
        let mut recording = Recording { bodies: vec!["world".into()], ..Recording::default() };
        let cases: Vec<(f64, f64)> =
            radii.iter().flat_map(|r| travels.iter().map(move |t| (*r, *t))).collect();
        for (k, (radius, _)) in cases.iter().enumerate() {
            recording.bodies.push(format!("body {k}"));
            recording.moving.push(k + 1);
            recording.shapes.push(stiction_sim::record::VisualShape {
                name: String::new(),
                body: k + 1,
                pose: Isometry3::identity(),
                geometry: Geometry::Shape(Shape::sphere(*radius).unwrap()),
                colour: [1.0; 4],
                collides: true,
            });
        }
        recording.rest = vec![Isometry3::identity(); recording.bodies.len()];
        recording.time_step = 0.01;
        let frames = &mut recording.frames;
        for frame in 0..30 {
            let t = f64::from(frame) / 29.0;
            frames.time.push(t);
            frames.contacts.first.push(frames.contacts.gap.len());
            for (k, (radius, travel)) in cases.iter().enumerate() {
                let p = [travel * t * t, -0.37 * travel * t, 0.123 * k as f64 + radius];
                frames.position.push(p);
                frames.rotation.push([1.0, 0.0, 0.0, 0.0]);
                frames.contacts.bodies.push([0, k as u32 + 1]);
                frames.contacts.point.push([p[0], p[1], p[2] - radius]);
                frames.contacts.normal.push([0.0, 0.0, 1.0]);
                frames.contacts.force.push([0.0; 3]);
                frames.contacts.gap.push(0.0);
            }
        }
        let deflated = encode(&recording).unwrap();
        let worst = worst_place(&recording, &deflated);
        let points = contact_points(&recording, &deflated);
        for (k, (&(radius, travel), found)) in cases.iter().zip(worst).enumerate() {
            // Half a quantum, of which each is at most 1/4096 of the size or twice 2^-24 of the
            // reach (rounded up to a power of two), and the rounding to a 32-bit float.
            let reach = travel.max(0.123 * k as f64 + radius);
            let bound =
                (0.5 * radius / 4096.0).max(reach * 2_f64.powi(-24)) + reach * 2_f64.powi(-24);
            assert!(found <= bound, "radius {radius}, travel {travel}: off by {found} m");
            let exact = recording.frames.contacts.point.iter().skip(k).step_by(cases.len());
            for (found, exact) in points.iter().skip(k).step_by(cases.len()).zip(exact) {
                assert!(
                    (found - Vector3::from(*exact)).amax() <= bound,
                    "{exact:?} became {found}"
                );
            }
        }
    }

    #[test]
    fn times_of_very_many_steps_are_not_clipped() {
        let time = vec![0.0, 1e-9, 1e4];
        let frames = Frames { time, ..Frames::default() };
        let recording = Recording { time_step: 1e-9, frames, ..Recording::default() };
        let deflated = encode(&recording).unwrap();
        let (header, column) = unpack(&deflated);
        let quantum = header["columns"]["time"]["quantum"].as_f64().unwrap();
        let last = f64::from(column("time")[2]) * quantum;
        assert!((last - 1e4).abs() <= 1e4 * SPAN, "{last}");
    }

    #[test]
    fn a_recording_of_nothing_is_encoded() {
        let deflated = encode(&Recording::default()).unwrap();
        let (header, column) = unpack(&deflated);
        assert_eq!((header["frames"].as_u64(), column("position").len()), (Some(0), 0));
        // Frames, but nothing that moves or touches.
        let statistics = stiction_sim::record::FrameStatistics::default();
        let frames = Frames { time: vec![0.0, 0.1], statistics, ..Frames::default() };
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
        recording.softs.push(RecordedSoftBody {
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
            let figures = &mut frames.statistics;
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
