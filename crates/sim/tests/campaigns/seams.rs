//! Motion over floors of many pieces in one plane is the motion over one plane.
//!
//! Boxes, plates, hulls and cylinders slide on a face; spheres, cylinders and capsules slide and roll on
//! their sides. Sliding with friction does not turn, and without friction a body may also spin about the vertical:
//! then the sum of the contact forces and their moment follow from the motion, wherever the contacts are, and
//! the motion over every floor is the same.

use super::{campaign, fixed, scenes, set_motion};
use nalgebra::{Isometry3, UnitQuaternion, Vector3};
use stiction_geom::{Shape, shape::generate};
use stiction_math::random::SplitMix64;
use stiction_sim::{Settings, Simulation, Surface, WorldBuilder};

/// Half the side of the floors, and the longest way over them [m].
const HALF: f64 = 1.2;
const WAY: f64 = 1.2;
/// Difference of velocities, relative to the speed at the start. Contacts at other points of the same plane
/// give the same motion up to the tolerance of the solver, 1e-10 relative, over at most 150 steps; with
/// penetrations below the slop, 1e-5 m, of bodies of 0.1 m none is amplified by more than 10.
const TOLERANCE: f64 = 1e-6;

const FLOORS: [&str; 11] = [
    "two boxes",
    "tiles",
    "tiles of many sizes",
    "compound of tiles",
    "compound of tiles of many sizes",
    "hull tiles",
    "triangles",
    "slab of triangles",
    "tiles of triangles",
    "height field",
    "tiles of three kinds",
];

/// A body in its rest pose over the plane z = 0.
struct Mover {
    shape: Shape,
    name: &'static str,
    /// Orientation in which it touches the plane with its lowest feature.
    rest: UnitQuaternion<f64>,
    /// Height of its origin [m].
    height: f64,
    /// Direction in the plane of the axis about which it rolls; zero for a sphere.
    axis: Option<Vector3<f64>>,
    /// Largest coefficient of friction with which it slides without tipping over.
    most_friction: f64,
}

fn flat(shape: Shape, name: &'static str, height: f64, base: f64) -> Mover {
    let most_friction = (0.4 * base / height).min(0.5);
    Mover { shape, name, rest: UnitQuaternion::identity(), height, axis: None, most_friction }
}

fn lying(shape: Shape, name: &'static str, radius: f64, half_length: f64) -> Mover {
    let rest = UnitQuaternion::from_scaled_axis(Vector3::y() * std::f64::consts::FRAC_PI_2);
    let most_friction = (0.4 * half_length / radius).min(0.5);
    Mover { shape, name, rest, height: radius, axis: Some(Vector3::x()), most_friction }
}

/// A hull with a flat base, on which it stands.
fn hull(random: &mut SplitMix64) -> Mover {
    let (corners, radius) = (3 + random.below(6), random.uniform(0.05, 0.12));
    let phase = random.unit();
    let mut points: Vec<_> = (0..corners)
        .map(|k| {
            let angle = std::f64::consts::TAU * (k as f64 + phase) / corners as f64;
            radius * Vector3::new(angle.cos(), angle.sin(), 0.0)
        })
        .collect();
    let height = radius * random.uniform(0.2, 0.6);
    for _ in 0..1 + random.below(6) {
        let p = 0.4 * radius * random.vector3();
        points.push(Vector3::new(p.x, p.y, height));
    }
    // The centre of mass is below half the height, and at least half the incircle from all sides.
    Mover { height: 0.0, ..flat(Shape::convex(&points).unwrap(), "hull", height, 0.3 * radius) }
}

fn mover(random: &mut SplitMix64, kind: usize) -> Mover {
    let mut length = |low: f64, high: f64| random.uniform(low, high);
    match kind {
        0 => {
            let half = Vector3::new(length(0.04, 0.12), length(0.04, 0.12), length(0.02, 0.08));
            flat(Shape::cuboid(half).unwrap(), "box", half.z, half.x.min(half.y))
        }
        1 => {
            let half = Vector3::new(length(0.08, 0.2), length(0.08, 0.2), length(0.001, 0.01));
            flat(Shape::cuboid(half).unwrap(), "plate", half.z, half.x.min(half.y))
        }
        2 => {
            let (radius, half) = (length(0.04, 0.12), length(0.02, 0.08));
            // Contacts on the plane span a square in the rim.
            flat(Shape::cylinder(radius, half).unwrap(), "standing cylinder", half, 0.5 * radius)
        }
        3 => {
            let (radius, half) = (length(0.03, 0.1), length(0.03, 0.12));
            lying(Shape::cylinder(radius, half).unwrap(), "lying cylinder", radius, half)
        }
        4 => {
            let (radius, half) = (length(0.02, 0.08), length(0.03, 0.12));
            lying(Shape::capsule(radius, half).unwrap(), "capsule", radius, half)
        }
        5 => hull(random),
        _ => {
            let radius = length(0.03, 0.1);
            let shape = Shape::sphere(radius).unwrap();
            Mover { axis: Some(Vector3::zeros()), ..flat(shape, "sphere", radius, 2.0 * radius) }
        }
    }
}

/// Ends of intervals that cover [−HALF, HALF].
fn cuts(random: &mut SplitMix64, equal: bool) -> Vec<f64> {
    let side = random.uniform(0.12, 0.6);
    let mut ends = vec![-HALF - side * random.unit()];
    while ends[ends.len() - 1] < HALF {
        let width = if equal { side } else { random.uniform(0.05, 0.6) };
        ends.push(ends[ends.len() - 1] + width);
    }
    ends
}

/// Centres and half extents [m] of tiles with their upper faces at z = 0.
fn tiles(random: &mut SplitMix64, equal: bool) -> Vec<(Vector3<f64>, Vector3<f64>)> {
    let depth = random.uniform(0.01, 0.1);
    let (columns, rows) = (cuts(random, equal), cuts(random, equal));
    let mut tiles = Vec::new();
    for x in columns.windows(2) {
        let rows = if equal { rows.clone() } else { cuts(random, false) };
        for y in rows.windows(2) {
            let depth = if equal { depth } else { random.uniform(0.005, 0.1) };
            let half = Vector3::new(0.5 * (x[1] - x[0]), 0.5 * (y[1] - y[0]), depth);
            let centre = Vector3::new(0.5 * (x[0] + x[1]), 0.5 * (y[0] + y[1]), -depth);
            tiles.push((centre, half));
        }
    }
    tiles
}

fn mesh((vertices, triangles): generate::TriangleSoup) -> Shape {
    Shape::mesh(&vertices, &triangles).unwrap()
}

fn box_corners(half: &Vector3<f64>) -> Vec<Vector3<f64>> {
    let sign = |k: usize, bit: usize| if k >> bit & 1 == 1 { 1.0 } else { -1.0 };
    (0..8).map(|k| half.component_mul(&Vector3::new(sign(k, 0), sign(k, 1), sign(k, 2)))).collect()
}

/// Adds a floor of a kind with its surface in the plane z = 0 of the frame F.
fn floor(
    builder: &mut WorldBuilder,
    kind: &str,
    X_WF: &Isometry3<f64>,
    friction: f64,
    random: &mut SplitMix64,
) {
    let at = |p: Vector3<f64>| Isometry3::translation(p.x, p.y, p.z);
    let mut add = |shape: Shape, pose: Isometry3<f64>| fixed(builder, shape, X_WF * pose, friction);
    let cells =
        |random: &mut SplitMix64| (3 + random.below(20) as u32, 3 + random.below(20) as u32);
    match kind {
        "plane" => add(Shape::Plane, Isometry3::identity()),
        "two boxes" => {
            let (seam, half) = (random.uniform(-0.2, 0.2), Vector3::new(1.5, 2.0, 0.1));
            for side in [-1.0, 1.0] {
                let centre = Vector3::new(seam + side * half.x, 0.0, -half.z);
                add(Shape::cuboid(half).unwrap(), at(centre));
            }
        }
        "compound of tiles" | "compound of tiles of many sizes" => {
            let equal = kind == "compound of tiles";
            let part = |(centre, half)| (at(centre), Shape::cuboid(half).unwrap());
            let parts = tiles(random, equal).into_iter().map(part).collect();
            add(Shape::compound(parts).unwrap(), Isometry3::identity());
        }
        "triangles" => {
            add(
                mesh(generate::grid((2.0 * HALF, 2.0 * HALF), cells(random))),
                Isometry3::identity(),
            );
        }
        "slab of triangles" => {
            let half = Vector3::new(HALF, HALF, 0.1);
            add(mesh(generate::cuboid(half)), at(-0.1 * Vector3::z()));
        }
        "height field" => {
            let (columns, rows) = cells(random);
            let (columns, rows) = (columns as usize + 1, rows as usize + 1);
            let heights = vec![0.0; rows * columns];
            let size = (2.0 * HALF, 2.0 * HALF);
            add(Shape::height_field(rows, columns, heights, size).unwrap(), Isometry3::identity());
        }
        _ => {
            let equal = kind == "tiles";
            for (k, (centre, half)) in tiles(random, equal).into_iter().enumerate() {
                let shape = match (kind, k % 3) {
                    ("hull tiles", _) | ("tiles of three kinds", 1) => {
                        Shape::convex(&box_corners(&half)).unwrap()
                    }
                    ("tiles of triangles", _) | ("tiles of three kinds", 2) => {
                        mesh(generate::cuboid(half))
                    }
                    _ => Shape::cuboid(half).unwrap(),
                };
                add(shape, at(centre));
            }
        }
    }
}

/// A motion over a floor.
struct Slide {
    mover: Mover,
    /// Frame of the floor; its yaw turns the seams against the direction of the motion.
    X_WF: Isometry3<f64>,
    /// Pose of the body in the world.
    X_WB: Isometry3<f64>,
    velocity: Vector3<f64>,
    spin: Vector3<f64>,
    friction: f64,
    time_step: f64,
    steps: usize,
}

fn angle(random: &mut SplitMix64) -> f64 {
    // Half of the bodies and floors have parallel edges.
    let quarter = 0.25 * std::f64::consts::TAU;
    if random.below(2) == 0 {
        quarter * random.below(4) as f64
    } else {
        4.0 * quarter * random.unit()
    }
}

fn about_z(angle: f64) -> UnitQuaternion<f64> {
    UnitQuaternion::from_scaled_axis(angle * Vector3::z())
}

fn draw(random: &mut SplitMix64) -> Slide {
    let kind = random.below(7);
    let mover = mover(random, kind);
    let time_step = [0.001, 0.002, 0.005, 0.01][random.below(4)];
    let speed = random.log_uniform(0.1, 10.0);
    let steps = ((WAY / (speed * time_step)) as usize).clamp(3, 150);
    let yaw = about_z(angle(random));
    let axis = mover.axis.map(|axis| yaw * axis);
    let rolls = mover.axis.is_some() && random.below(2) == 0;
    let slides_smoothly = !rolls && random.below(2) == 0;
    let friction = if slides_smoothly { 0.0 } else { random.uniform(0.02, mover.most_friction) };
    let heading = match axis {
        // Along the axis or across it, so that friction does not turn the body.
        Some(axis) if !slides_smoothly && axis != Vector3::zeros() => {
            let across = Vector3::z().cross(&axis);
            let heading = if rolls || random.below(2) == 0 { across } else { axis };
            if random.below(2) == 0 { heading } else { -heading }
        }
        _ => about_z(angle(random)) * Vector3::x(),
    };
    let velocity = speed * heading;
    let spin = if rolls {
        Vector3::z().cross(&velocity) / mover.height
    } else if slides_smoothly && random.below(2) == 0 {
        3.0 * random.signed_unit() * Vector3::z()
    } else {
        Vector3::zeros()
    };
    let way = speed * time_step * steps as f64;
    let jitter = 0.05 * random.vector3();
    let gap = if random.below(2) == 0 { 0.0 } else { random.uniform(-5e-6, 5e-6) };
    let start = Vector3::new(jitter.x, jitter.y, 0.0) - 0.5 * way * heading;
    let place = start + (mover.height + gap) * Vector3::z();
    // Half of the worlds are turned as a whole, gravity with them.
    let world = if random.below(2) == 0 { Isometry3::identity() } else { random.pose(1.0) };
    let X_WB = world * Isometry3::from_parts(place.into(), yaw * mover.rest);
    let X_WF = world * about_z(angle(random));
    let (velocity, spin) = (world.rotation * velocity, world.rotation * spin);
    Slide { mover, X_WF, X_WB, velocity, spin, friction, time_step, steps }
}

impl Slide {
    fn start(&self, kind: &str, random: &mut SplitMix64) -> Simulation {
        let mut builder = WorldBuilder::new();
        builder.mechanism.gravity(self.X_WF.rotation * Vector3::new(0.0, 0.0, -9.81));
        floor(&mut builder, kind, &self.X_WF, self.friction, random);
        let surface = Surface::with_friction(self.friction);
        scenes::free(&mut builder, self.mover.shape.clone(), 1.0, self.X_WB, surface);
        let settings =
            Settings { time_step: self.time_step, tolerance: 1e-10, ..Settings::default() };
        let mut simulation = Simulation::new(builder.build().unwrap(), settings).unwrap();
        set_motion(&mut simulation, self.velocity, self.spin);
        simulation
    }
}

#[test]
fn motion_over_seams_is_that_over_a_plane() {
    campaign("seams", 330, |k, random| {
        let kind = FLOORS[k % FLOORS.len()];
        let slide = draw(random);
        let mut plane = slide.start("plane", random);
        let mut floor = slide.start(kind, random);
        let speed = slide.velocity.norm();
        let radius = slide.mover.shape.bounding_radius();
        for step in 0..slide.steps {
            for simulation in [&mut plane, &mut floor] {
                let _ = simulation.step().map_err(|error| error.to_string())?;
            }
            let difference = |dof: usize| (plane.state().v[dof] - floor.state().v[dof]).abs();
            let linear = (0..3).map(difference).fold(0.0, f64::max);
            let angular = (3..6).map(difference).fold(0.0, f64::max);
            let error = linear.max(radius * angular) / speed;
            if error.is_nan() || error > TOLERANCE {
                let Slide { mover, friction, time_step, steps, .. } = &slide;
                let at = &floor.state().q;
                let floor_at = Vector3::new(at[0], at[1], at[2]);
                // Contacts across the plane first.
                let up = slide.X_WF.rotation * Vector3::z();
                let mut contacts = floor.contacts().to_vec();
                contacts
                    .sort_by(|a, b| a.normal.dot(&up).abs().total_cmp(&b.normal.dot(&up).abs()));
                let contacts: Vec<_> = contacts
                    .iter()
                    .map(|c| {
                        let n = slide.X_WF.inverse() * c.normal;
                        let (gap, force) = (c.gap, c.force.norm());
                        let p = slide.X_WF.inverse() * (c.point - floor_at);
                        format!(
                            "({:.1e} {:.1e} {:.3}; {gap:.1e}; {force:.2e}; {:.4} {:.4})",
                            n.x, n.y, n.z, p.x, p.y
                        )
                    })
                    .collect();
                return Err(format!(
                    "{} on {kind}, step {step} of {steps}: off by {error:.1e}, {speed:.2} m/s, \
                     friction {friction:.2}, {time_step} s, spin {:.2}; {contacts:?}",
                    mover.name,
                    slide.spin.norm(),
                ));
            }
        }
        Ok(())
    });
}
