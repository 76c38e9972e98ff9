//! The three splits against one another, against ALM, against references and across threads.

use nalgebra::{Matrix3, Rotation3, Vector3, Vector6};
use stiction_math::spatial::{Inertia10, skew};

use crate::law::{Bilateral, Bounded, Coulomb, FrictionModel, Law, Soft, Unilateral};
use crate::problem::{Builder, Map, PortId, Problem, Tree};
use crate::random::SplitMix64;
use crate::{Goal, Report, Session, Solution, Status};

const SPLITS: [&str; 3] = ["admm", "admm-subsystem", "subadmm"];

fn solve(
    solver: &str,
    problem: &Problem,
    tolerance: f64,
    settings: &[(&str, &str)],
    model: FrictionModel,
) -> (Report, Solution) {
    let mut session = Session::new(solver).unwrap();
    for (key, value) in settings {
        session.set(key, value).unwrap();
    }
    let mut solution = Solution::cold(problem);
    let goal = Goal { tolerance, friction_model: Some(model), ..Goal::default() };
    let report = session.solve(problem, &goal, &mut solution).unwrap();
    (report, solution)
}

fn distance(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max)
}

/// C of one side of a contact at `p` with rows normal, tangent, tangent along the columns of F.
fn side(sign: f64, F: &Matrix3<f64>, p: Vector3<f64>) -> Vec<f64> {
    let (linear, angular) = (sign * F.transpose(), -sign * F.transpose() * skew(p));
    (0..18)
        .map(|k| {
            let (row, col) = (k / 6, k % 6);
            if col < 3 { angular[(row, col)] } else { linear[(row, col - 3)] }
        })
        .collect()
}

/// A frame whose first column is the normal.
fn frame(normal: Vector3<f64>) -> Matrix3<f64> {
    let n = normal.normalize();
    let t = if n.x.abs() < 0.7 { Vector3::x() } else { Vector3::y() };
    let t = (t - n * n.dot(&t)).normalize();
    Matrix3::from_columns(&[n, t, n.cross(&t)])
}

fn revolute(axis: Vector3<f64>, at: Vector3<f64>) -> Vector6<f64> {
    let linear = at.cross(&axis);
    Vector6::new(axis.x, axis.y, axis.z, linear.x, linear.y, linear.z)
}

/// A free cube as a tree of one link: rotation about and translation of its centre.
fn free(centre: Vector3<f64>, mass: f64) -> Tree {
    let axes = [Vector3::x(), Vector3::y(), Vector3::z()];
    let mut S: Vec<_> = axes.iter().map(|a| Vector6::new(0.0, 0.0, 0.0, a.x, a.y, a.z)).collect();
    S.extend(axes.iter().map(|a| revolute(*a, centre)));
    let central = Matrix3::identity() * (mass * 0.01 / 6.0);
    let mut tree = Tree::new();
    tree.link(None, &S, Inertia10::from_central(mass, centre, &central), &[0.0; 6]);
    tree
}

/// A hand of two fingers of two links each on a slide; the finger tips pinch a cube, and one
/// another, above the ground.
///
/// ```text
///        ===palm===
///        |        |      the middle links touch one another through a bumper,
///        /        \      the tips touch the cube from both sides,
///        \ [cube] /      the cube rests on the ground
/// ```
fn pinching_hand(friction: f64, compliance: f64) -> Problem {
    let mut tree = Tree::new();
    let slide = Vector6::new(0.0, 0.0, 0.0, 0.0, 0.0, 1.0);
    let central = Matrix3::identity() * 1e-3;
    let palm = Inertia10::from_central(1.0, Vector3::new(0.0, 0.0, 0.5), &central);
    let palm = tree.link(None, &[slide], palm, &[0.05]);
    let mut tips = Vec::new();
    let mut middles = Vec::new();
    for sign in [-1.0, 1.0] {
        let (knuckle, joint) =
            (Vector3::new(0.1 * sign, 0.0, 0.5), Vector3::new(0.12 * sign, 0.0, 0.3));
        let inertia =
            |x: f64, z: f64| Inertia10::from_central(0.2, Vector3::new(x * sign, 0.0, z), &central);
        let S = [revolute(Vector3::y(), knuckle)];
        let middle = tree.link(Some(palm), &S, inertia(0.11, 0.4), &[0.01]);
        let S = [revolute(Vector3::y(), joint), revolute(Vector3::x(), joint)];
        tips.push(tree.link(Some(middle), &S, inertia(0.08, 0.2), &[0.01; 2]));
        middles.push(middle);
    }
    // b = A v0 + dt × torques that close the fingers; gravity pulls the palm.
    let momentum = [-0.03, -0.02, -0.03, 0.002, 0.02, 0.03, -0.001];
    let mut builder = Problem::builder("pinching hand");
    let hand = builder.tree(&tree, &momentum);
    let centre = Vector3::new(0.0, 0.0, 0.05);
    let cube = builder.tree(&free(centre, 0.3), &[0.01, 0.02, -0.03, 0.0, 1e-4, -1e-4]);
    let cube = builder.port(cube, Map::Link(0));
    let mut link = |l: usize| builder.port(hand, Map::Link(l));
    let (middles, tips) = ([link(middles[0]), link(middles[1])], [link(tips[0]), link(tips[1])]);
    let joint = builder.port(hand, Map::Coordinates { first: 3, count: 1 });
    let contact = Law::Coulomb(Coulomb::new(friction).unwrap());
    let mut touch = |A: PortId, B: Option<PortId>, normal: Vector3<f64>, p: Vector3<f64>| {
        let F = frame(normal);
        let (a, b) = (side(1.0, &F, p), side(-1.0, &F, p));
        let terms: Vec<(PortId, &[f64])> = match B {
            Some(B) => vec![(A, &a), (B, &b)],
            None => vec![(A, &a)],
        };
        builder.constraint(contact, &[0.0; 3], &[compliance; 3], &terms);
    };
    for (tip, sign) in [(tips[0], -1.0), (tips[1], 1.0)] {
        for y in [-0.02, 0.02] {
            touch(tip, Some(cube), Vector3::x() * sign, Vector3::new(0.05 * sign, y, 0.06));
        }
    }
    touch(middles[1], Some(middles[0]), Vector3::x(), Vector3::new(0.0, 0.0, 0.4));
    for (x, y) in [(-0.05, -0.05), (-0.05, 0.05), (0.05, -0.05), (0.05, 0.05)] {
        touch(cube, None, Vector3::z(), Vector3::new(x, y, 0.0));
    }
    let motor = Law::Bounded(Bounded::new(-1e-3, 1e-3).unwrap());
    builder.constraint(motor, &[0.0], &[0.0], &[(joint, &[1.0])]);
    builder.build().unwrap()
}

#[test]
fn a_hand_that_touches_itself_and_an_object_moves_as_alm_says() {
    // The relaxed pinch has hardly an interior: a little compliance [1/kg] keeps it well-posed.
    for (model, compliance) in [(FrictionModel::Coulomb, 0.0), (FrictionModel::Convex, 0.05)] {
        let problem = pinching_hand(0.4, compliance);
        let (report, reference) = solve("alm", &problem, 1e-11, &[], model);
        assert_eq!(report.status, Status::Converged);
        assert!(reference.impulse.iter().any(|l| *l != 0.0));
        let size = problem.reference_velocity();
        for solver in SPLITS {
            let (report, found) =
                solve(solver, &problem, 1e-8, &[("max-iterations", "5000")], model);
            assert_eq!(report.status, Status::Converged, "{solver}: {report:?}");
            // A violation of 1e-8 in the laws; three digits for the conditioning of the contacts.
            let error = distance(&found.velocity, &reference.velocity);
            assert!(error <= 1e-5 * size, "{solver} {model:?}: {error:e}");
        }
    }
}

#[test]
fn without_trees_a_split_by_links_is_a_split_by_subsystems() {
    let problem = pile(&mut SplitMix64::new(3), 3, 3);
    let model = FrictionModel::Coulomb;
    let (a, x) = solve("admm-subsystem", &problem, 1e-6, &[], model);
    let (b, y) = solve("subadmm", &problem, 1e-6, &[], model);
    assert_eq!((a.iterations, x), (b.iterations, y));
}

/// Spheres on a grid of `side × side` columns of `height`, each touching its neighbours and the
/// lowest the ground, with random masses and velocities.
fn pile(rng: &mut SplitMix64, width: usize, height: usize) -> Problem {
    let mut builder = Problem::builder("pile");
    let (radius, dt) = (0.05, 0.01);
    let index = |x: usize, y: usize, z: usize| (z * width + y) * width + x;
    let mut ports = Vec::new();
    for _ in 0..width * width * height {
        let mass = rng.uniform(0.5, 2.0);
        let inertia = 0.4 * mass * radius * radius;
        let diagonal = [mass, mass, mass, inertia, inertia, inertia];
        let mut A = [0.0; 36];
        (0..6).for_each(|k| A[7 * k] = diagonal[k]);
        let mut b = diagonal.map(|d| d * 0.3 * rng.normal());
        b[2] -= mass * 9.81 * dt;
        let sphere = builder.dense(&A, &b);
        ports.push(builder.port(sphere, Map::Whole));
    }
    let law = Law::Coulomb(Coulomb::new(0.5).unwrap());
    // Rows of a sphere's velocity (linear first) at the point `normal · radius` below or beside it.
    let rows = |sign: f64, F: &Matrix3<f64>, arm: Vector3<f64>| -> Vec<f64> {
        let (linear, angular) = (sign * F.transpose(), -sign * F.transpose() * skew(arm));
        let entry = |k: usize| {
            if k % 6 < 3 { linear[(k / 6, k % 6)] } else { angular[(k / 6, k % 6 - 3)] }
        };
        (0..18).map(entry).collect()
    };
    for z in 0..height {
        for y in 0..width {
            for x in 0..width {
                let this = ports[index(x, y, z)];
                let mut touch = |other: Option<PortId>, normal: Vector3<f64>| {
                    let tilt = Rotation3::new(Vector3::from_fn(|_, _| 0.1 * rng.normal()));
                    let F = frame(tilt * normal);
                    let n: Vector3<f64> = F.column(0).into();
                    let (a, b) = (rows(1.0, &F, -radius * n), rows(-1.0, &F, radius * n));
                    let terms: Vec<(PortId, &[f64])> = match other {
                        Some(other) => vec![(this, &a), (other, &b)],
                        None => vec![(this, &a)],
                    };
                    builder.constraint(law, &[0.0; 3], &[0.0; 3], &terms);
                };
                let below = (z > 0).then(|| ports[index(x, y, z.saturating_sub(1))]);
                touch(below, Vector3::z());
                if x > 0 {
                    touch(Some(ports[index(x - 1, y, z)]), Vector3::x());
                }
                if y > 0 {
                    touch(Some(ports[index(x, y - 1, z)]), Vector3::y());
                }
            }
        }
    }
    builder.build().unwrap()
}

#[test]
fn threads_change_no_bit() {
    // Large enough for an iteration to be split: see the least work in `system.rs`.
    let spheres = pile(&mut SplitMix64::new(1), 12, 6);
    let mut systems = super::Systems::default();
    let mut layout = super::Layout::default();
    layout.prepare(&spheres, super::Split::Link);
    systems.prepare(&spheres, &layout, super::Split::Link);
    assert!(systems.parallel());
    for solver in SPLITS {
        let with_threads = |n: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(n).build().unwrap();
            let settings = [("max-iterations", "25")];
            pool.install(|| solve(solver, &spheres, 1e-12, &settings, FrictionModel::Coulomb).1)
        };
        let one = with_threads(1);
        for n in [2, 8] {
            let many = with_threads(n);
            let bits = |x: &[f64]| x.iter().map(|x| x.to_bits()).collect::<Vec<_>>();
            assert_eq!(bits(&one.velocity), bits(&many.velocity), "{solver}, {n} threads");
            assert_eq!(bits(&one.impulse), bits(&many.impulse), "{solver}, {n} threads");
        }
    }
}

/// One row each of every law but contact, on a chain of three masses.
fn mixed_rows(compliance: f64) -> Problem {
    let mut builder = Problem::builder("rows");
    let masses: Vec<PortId> = [(1.0, 0.5), (10.0, -3.0), (0.2, 0.4)]
        .map(|(m, b)| builder.dense(&[m], &[b]))
        .map(|s| builder.port(s, Map::Whole))
        .to_vec();
    let pair = [(masses[0], [1.0]), (masses[1], [-1.0])];
    let terms = pair.each_ref().map(|(p, c)| (*p, c.as_slice()));
    let mut add = |law: Law, bias: f64, terms: &[(PortId, &[f64])]| {
        builder.constraint(law, &[bias], &[compliance], terms);
    };
    add(Law::Bilateral(Bilateral), 0.1, &terms);
    add(Law::Unilateral(Unilateral), 0.0, &[(masses[1], &[1.0])]);
    add(Law::Soft(Soft::new(2.0).unwrap()), 0.05, &[(masses[1], &[1.0]), (masses[2], &[-1.0])]);
    add(Law::Bounded(Bounded::new(-0.1, 0.1).unwrap()), 0.0, &[(masses[2], &[1.0])]);
    builder.build().unwrap()
}

#[test]
fn every_law_is_solved_with_and_without_compliance() {
    for compliance in [0.0, 0.3] {
        let problem = mixed_rows(compliance);
        let (_, reference) = solve("alm", &problem, 1e-12, &[], FrictionModel::Coulomb);
        for solver in SPLITS {
            let (report, found) = solve(solver, &problem, 1e-10, &[], FrictionModel::Coulomb);
            assert_eq!(report.status, Status::Converged, "{solver}");
            let error = distance(&found.velocity, &reference.velocity);
            assert!(error <= 1e-8 * problem.reference_velocity(), "{solver}: {error:e}");
        }
    }
}

#[test]
fn a_solution_is_recognised_and_a_neighbour_of_it_soon_found() {
    let problem = pinching_hand(0.4, 0.0);
    for solver in SPLITS {
        let (cold, mut solution) =
            solve(solver, &problem, 1e-8, &[("max-iterations", "5000")], FrictionModel::Coulomb);
        let mut session = Session::new(solver).unwrap();
        let goal = Goal { tolerance: 1e-8, ..Goal::default() };
        let again = session.solve(&problem, &goal, &mut solution).unwrap();
        assert_eq!((again.status, again.iterations), (Status::Converged, 0), "{solver}");
        solution.impulse.iter_mut().for_each(|l| *l *= 1.0 + 1e-4);
        let near = session.solve(&problem, &goal, &mut solution).unwrap();
        assert_eq!(near.status, Status::Converged);
        assert!(
            near.iterations < cold.iterations,
            "{solver}: {} {}",
            near.iterations,
            cold.iterations
        );
    }
}

#[test]
fn the_default_is_free_of_units() {
    // Kilograms or grams, metres or millimetres: the same iterations, the velocities to scale.
    let build = |mass: f64, length: f64| {
        let mut rng = SplitMix64::new(9);
        let mut builder: Builder = Problem::builder("units");
        let law = Law::Coulomb(Coulomb::new(0.3).unwrap());
        let mut last = None;
        for _ in 0..4 {
            let m = mass * rng.log_uniform(0.1, 10.0);
            let A = [m, 0.0, 0.0, 0.0, m, 0.0, 0.0, 0.0, m];
            let b = [0, 1, 2].map(|_| m * length * rng.normal());
            let point = builder.dense(&A, &b);
            let port = builder.port(point, Map::Whole);
            let I = [1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0];
            let minus = I.map(|x: f64| -x);
            let mut terms: Vec<(PortId, &[f64])> = vec![(port, &I)];
            terms.extend(last.map(|p| (p, minus.as_slice())));
            builder.constraint(law, &[0.01 * length, 0.0, 0.0], &[0.0; 3], &terms);
            last = Some(port);
        }
        builder.build().unwrap()
    };
    for solver in SPLITS {
        let model = FrictionModel::Coulomb;
        let (a, x) = solve(solver, &build(1.0, 1.0), 1e-8, &[], model);
        let (b, y) = solve(solver, &build(1024.0, 4096.0), 1e-8, &[], model);
        assert_eq!(a.iterations, b.iterations, "{solver}");
        // Scaling by powers of two rounds nowhere but in square roots of odd powers.
        let scaled: Vec<f64> = x.velocity.iter().map(|v| 4096.0 * v).collect();
        assert!(distance(&scaled, &y.velocity) <= 1e-12 * 4096.0, "{solver}");
    }
}

#[test]
fn the_papers_penalties_solve_too() {
    let problem = pile(&mut SplitMix64::new(4), 2, 1);
    for solver in SPLITS {
        let settings = [("pseudo-density", "true"), ("paper-adaptation", "true")];
        let (report, _) = solve(solver, &problem, 1e-6, &settings, FrictionModel::Coulomb);
        assert_eq!(report.status, Status::Converged, "{solver}: {report:?}");
    }
}
