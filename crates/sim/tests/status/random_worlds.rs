//! Well-posed random worlds: at least 99.9 % of their steps are ok.
//!
//! Free bodies and trees of hinges, balls and slides over a plane, with mass ratios up to 10³. Velocities are such
//! that nothing turns by more than a tenth of a radian per step, and nothing contradicts anything.

use crate::*;
use stiction_geom::Shape;
use stiction_math::random::SplitMix64;
use stiction_sim::{Geom, StepStatistics, Surface};

const WORLDS: u64 = 50;
const STEPS: usize = 300;
const TIME_STEP: f64 = 2e-3;

/// A ball, box or capsule of about a decimetre.
fn shape(random: &mut SplitMix64) -> Shape {
    let mut size = || random.uniform(0.05, 0.12);
    let (a, b, c) = (size(), size(), size());
    match random.below(3) {
        0 => Shape::sphere(a).unwrap(),
        1 => Shape::cuboid(Vector3::new(a, b, c)).unwrap(),
        _ => Shape::capsule(0.5 * a, b).unwrap(),
    }
}

fn mass_of(shape: &Shape, mass: f64) -> MassProperties {
    let (unit, com, inertia) = shape.mass_properties(1.0);
    MassProperties::new(mass, com, inertia * (mass / unit)).unwrap()
}

/// A tree of three to five links that hangs above the ground.
fn tree(builder: &mut WorldBuilder, random: &mut SplitMix64, x: f64) {
    let mut parent = BodyId::WORLD;
    for k in 0..3 + random.below(3) {
        let shape = shape(random);
        let pose = if k == 0 {
            Isometry3::translation(x, 0.0, 0.8)
        } else {
            let aside = Vector3::new(random.signed_unit(), random.signed_unit(), -2.0).normalize();
            Isometry3::translation(0.3 * aside.x, 0.3 * aside.y, 0.3 * aside.z)
        };
        let mass = Some(mass_of(&shape, random.log_uniform(0.1, 10.0)));
        let body = builder.mechanism.body(BodySpec { parent, pose, mass, ..BodySpec::default() });
        let axis = random.direction();
        let kind = match random.below(4) {
            0 => JointKind::Ball,
            1 if k > 0 => JointKind::Slide { axis },
            _ => JointKind::Hinge { axis },
        };
        // A slide without spring would leave its tree.
        let slides = matches!(kind, JointKind::Slide { .. });
        let (stiffness, damping) = if slides { (200.0, 2.0) } else { (0.0, 0.02) };
        let anchor = if k == 0 { Vector3::zeros() } else { -0.5 * pose.translation.vector };
        let joint = JointSpec { stiffness, damping, anchor, ..JointSpec::new(kind) };
        builder.mechanism.joint(body, joint);
        // Only the last link touches anything.
        parent = body;
    }
    let ball = Shape::sphere(0.1).unwrap();
    builder.geom(Geom::new(parent, ball).surface(Surface::with_friction(0.5)));
}

fn world(seed: u64) -> Simulation {
    let mut random = SplitMix64::new(seed);
    let mut builder = common::on_ground(0.5);
    let base = random.log_uniform(0.01, 1.0);
    let frees = 1 + random.below(4);
    for k in 0..frees {
        let shape = shape(&mut random);
        let at = Vector3::new(0.6 * k as f64, 0.0, random.uniform(0.2, 0.8));
        let pose = Isometry3::from_parts(at.into(), random.rotation());
        let restitution = if random.below(2) == 0 { 0.0 } else { 0.5 };
        let surface = Surface { restitution, ..Surface::with_friction(random.uniform(0.0, 0.9)) };
        let mass = base * random.log_uniform(1.0, 1e3);
        common::free(&mut builder, shape, mass, pose, surface);
    }
    for k in 0..random.below(3) {
        tree(&mut builder, &mut random, -1.5 * (k + 1) as f64);
    }
    let mut simulation = common::start(builder, TIME_STEP);
    // 0.02 rad per step at the start; falling adds to it.
    for v in simulation.state_mut().v.iter_mut() {
        *v = random.uniform(-1.0, 1.0);
    }
    simulation
}

#[test]
fn steps_of_well_posed_random_worlds_are_ok() {
    let mut all = StepStatistics::default();
    let mut worst = Vec::new();
    for seed in 0..WORLDS {
        let mut simulation = world(seed);
        for step in 0..STEPS {
            let report = simulation.step().unwrap();
            all.add(&report);
            if report.status() != StepStatus::Ok {
                worst.push(format!("world {seed}, step {step}: {}", told(&report)));
            }
        }
    }
    let wrong = all.steps - all.count(StepStatus::Ok);
    println!("{:?} of {}; {}", all.status_counts, all.steps, worst.join("\n"));
    assert!(wrong as f64 <= 1e-3 * all.steps as f64, "{wrong}:\n{}", worst.join("\n"));
}
