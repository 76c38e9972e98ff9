//! Bodies that pass by with clearance keep their motion.
//!
//! The motion without the obstacle is computed first. Conservative advancement over it, with distances of the
//! narrow phase, proves a clearance; draws without are repeated. With the obstacle the motion must be the same.

use super::{campaign, fixed, random_hull, scenes, set_motion, weightless};
use nalgebra::{Isometry3, Quaternion, UnitQuaternion, Vector3};
use stiction_geom::narrow::{self, Manifold, PosedShape};
use stiction_geom::{Shape, shape::generate};
use stiction_math::random::SplitMix64;
use stiction_sim::{Simulation, Surface};

/// Least clearance [m]: ten times the slop.
const CLEARANCE: f64 = 1e-4;
const STEPS: usize = 8;

fn mesh((vertices, triangles): generate::TriangleSoup) -> Shape {
    Shape::mesh(&vertices, &triangles).unwrap()
}

fn body(random: &mut SplitMix64) -> Shape {
    let kind = random.below(5);
    let mut length = || random.log_uniform(0.01, 0.15);
    match kind {
        0 => Shape::sphere(length()).unwrap(),
        1 => Shape::cuboid(Vector3::new(length(), length(), length())).unwrap(),
        2 => Shape::capsule(length(), length()).unwrap(),
        3 => Shape::cylinder(length(), length()).unwrap(),
        _ => {
            let half = Vector3::new(length(), length(), length());
            random_hull(random, half)
        }
    }
}

fn obstacle(random: &mut SplitMix64) -> (&'static str, Shape) {
    let kind = random.below(8);
    let mut length = || random.log_uniform(0.05, 0.5);
    let hills = |x: f64, y: f64| 0.03 * (9.0 * x).sin() * (7.0 * y).cos();
    match kind {
        0 => ("box", Shape::cuboid(Vector3::new(length(), length(), length())).unwrap()),
        1 => ("plate", Shape::cuboid(Vector3::new(length(), length(), 5e-4)).unwrap()),
        2 => ("sheet", mesh(generate::grid((length(), length()), (5, 4)))),
        3 => ("torus", mesh(generate::torus(0.2, 0.05, 18, 9))),
        4 => {
            let (at, half) = (Isometry3::translation(length(), 0.0, 0.1), length());
            let cube = |half| Shape::cuboid(Vector3::repeat(half)).unwrap();
            let parts = vec![(Isometry3::identity(), cube(0.1)), (at, cube(0.2 * half))];
            ("compound", Shape::compound(parts).unwrap())
        }
        5 => {
            let (vertices, _) = generate::sheet((1.0, 1.0), (12, 12), hills);
            let heights = vertices.iter().map(|p| p.z).collect();
            ("height field", Shape::height_field(13, 13, heights, (1.0, 1.0)).unwrap())
        }
        6 => {
            let half = Vector3::new(length(), length(), length());
            ("hull", random_hull(random, half))
        }
        _ => ("plane", Shape::Plane),
    }
}

fn pose(simulation: &Simulation) -> Isometry3<f64> {
    let q = &simulation.state().q;
    let turn = UnitQuaternion::from_quaternion(Quaternion::new(q[3], q[4], q[5], q[6]));
    Isometry3::from_parts(Vector3::new(q[0], q[1], q[2]).into(), turn)
}

/// Gap [m] of two shapes, at most `reach`.
fn gap(a: (&Shape, &Isometry3<f64>), b: (&Shape, &Isometry3<f64>), reach: f64) -> f64 {
    let mut manifold = Manifold::default();
    let posed = |(shape, X_WS)| PosedShape { shape, X_WS };
    narrow::contacts(posed(a), posed(b), reach, &mut manifold);
    manifold.points().iter().fold(reach, |least, touch| least.min(touch.gap))
}

/// Whether a body that moves from one pose to the next, its centre of mass `com` (in its frame) [m] on a
/// straight line, stays clear of an obstacle at X_WO.
fn stays_clear(
    (shape, com): (&Shape, Vector3<f64>),
    poses: [&Isometry3<f64>; 2],
    (obstacle, X_WO): (&Shape, &Isometry3<f64>),
    turn: Vector3<f64>,
) -> bool {
    let centres = poses.map(|X_WB| X_WB * nalgebra::Point3::from(com));
    let shift = centres[1] - centres[0];
    let radius = shape.bounding_radius() + com.norm();
    let speed = shift.norm() + turn.norm() * radius;
    let mut s = 0.0;
    while s < 1.0 {
        let rotation = UnitQuaternion::from_scaled_axis(s * turn) * poses[0].rotation;
        let centre = centres[0].coords + s * shift;
        let X_WB = Isometry3::from_parts((centre - rotation * com).into(), rotation);
        let reach = (1.0 - s) * speed + 2.0 * CLEARANCE;
        let apart = gap((obstacle, X_WO), (shape, &X_WB), reach);
        if apart < 1.5 * CLEARANCE {
            return false;
        }
        // At the next time the gap is at least the clearance. Gaps to ground are those to its surface: the solid
        // below has sides that only a fine sampling finds.
        let ground = matches!(obstacle, Shape::HeightField(_));
        let step = if ground { (apart - CLEARANCE).min(4e-3) } else { apart - CLEARANCE };
        s += step / speed;
    }
    true
}

#[test]
fn bodies_that_pass_by_with_clearance_keep_their_motion() {
    campaign("passes", 400, |_, random| {
        let h = if random.below(2) == 0 { 0.002 } else { 0.01 };
        for _ in 0..1000 {
            let shape = body(random);
            let (name, obstacle) = obstacle(random);
            let X_WO = Isometry3::from_parts(Vector3::zeros().into(), random.rotation());
            let speed = random.log_uniform(1.0, 100.0);
            let along = random.direction();
            let spin = random.log_uniform(0.1, 300.0) * random.direction();
            let spin = if random.below(3) == 0 { Vector3::zeros() } else { spin };
            let around = if obstacle.bounding_radius().is_finite() {
                obstacle.bounding_radius()
            } else {
                0.0
            };
            let across = along.cross(&random.direction()).normalize();
            let distance = random.uniform(0.0, around + shape.bounding_radius() + 0.01);
            let way = speed * h * STEPS as f64;
            let (mut begin, mut along) = (distance * across - along * way * random.unit(), along);
            if name == "plane" {
                // Along the plane, just above it.
                let up = X_WO.rotation * Vector3::z();
                along = (along - up * up.dot(&along)).normalize();
                begin = up * (shape.bounding_radius() * random.uniform(0.3, 1.2) + 0.01);
            }
            let X_WB = Isometry3::from_parts(begin.into(), random.rotation());
            let run = |with: bool| {
                let mut builder = weightless();
                if with {
                    fixed(&mut builder, obstacle.clone(), X_WO, 1.0);
                }
                let surface = Surface::with_friction(1.0);
                scenes::free(&mut builder, shape.clone(), 1.0, X_WB, surface);
                let mut simulation = scenes::start(builder, h);
                set_motion(&mut simulation, speed * along, spin);
                simulation
            };
            let (mut free, com) = (run(false), shape.mass_properties(1.0).1);
            let is_clear = (0..STEPS).all(|_| {
                let before = pose(&free);
                let _ = free.step().unwrap();
                let after = pose(&free);
                // More than half a turn in a step looks like less: the mean of the angular velocity counts.
                let turn = (after.rotation * before.rotation.inverse()).scaled_axis();
                let is_slow = h * spin.norm() < 2.5;
                is_slow && stays_clear((&shape, com), [&before, &after], (&obstacle, &X_WO), turn)
            });
            if !is_clear {
                continue;
            }
            let mut passing = run(true);
            for step in 0..STEPS {
                let report = passing.step().map_err(|error| error.to_string())?;
                let _ = report;
                if step + 1 == STEPS && passing.state() != free.state() {
                    let change = |dof: usize| passing.state().v[dof] - free.state().v[dof];
                    let off = (0..6).map(|dof| change(dof).abs()).fold(0.0, f64::max);
                    // A row without an impulse changes rounding errors only.
                    if off > 1e-9 * speed {
                        return Err(format!(
                            "{} past {name}: deflected by {off:.1e} m/s at {speed:.2} m/s, spin \
                             {:.1}, {h} s",
                            shape.name(),
                            spin.norm()
                        ));
                    }
                }
            }
            return Ok(());
        }
        Err("no clear pass among 1000 draws".to_owned())
    });
}
