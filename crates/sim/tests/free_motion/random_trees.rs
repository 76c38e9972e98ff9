//! Random trees of mixed joints.

use nalgebra::{Isometry3, Matrix3, UnitQuaternion, Vector3};
use stiction_math::random::SplitMix64;
use stiction_mech::{BodyId, BodySpec, JointKind, JointSpec, MassProperties};
use stiction_sim::{Simulation, WorldBuilder};

use super::{CONSERVING, start};

fn vector(rng: &mut SplitMix64, most: f64) -> Vector3<f64> {
    Vector3::from_fn(|_, _| rng.uniform(-most, most))
}

/// A tree of two to six links with inertias within a factor of a thousand, on a free base or a fixed
/// one.
fn tree(rng: &mut SplitMix64, is_floating: bool, gravity: f64) -> WorldBuilder {
    let mut builder = WorldBuilder::new();
    builder.mechanism.gravity(Vector3::new(0.0, 0.0, -gravity));
    let links = 2 + (rng.uniform(0.0, 5.0) as usize).min(4);
    let mut bodies = vec![BodyId::WORLD];
    for k in 0..links {
        let mass = 10.0_f64.powf(rng.uniform(-1.5, 1.5));
        let sides = Vector3::from_fn(|_, _| rng.uniform(0.05, 0.4));
        let square = sides.component_mul(&sides);
        let moments =
            Vector3::new(square.y + square.z, square.x + square.z, square.x + square.y) / 12.0;
        let turn = UnitQuaternion::from_scaled_axis(vector(rng, 2.0)).to_rotation_matrix();
        let inertia = turn * Matrix3::from_diagonal(&(mass * moments)) * turn.inverse();
        let inertia = 0.5 * (inertia + inertia.transpose());
        let com = vector(rng, 0.2);
        let from = if k == 0 { 0 } else { 1 + (rng.uniform(0.0, k as f64) as usize).min(k - 1) };
        let turn = UnitQuaternion::from_scaled_axis(vector(rng, 2.0));
        let body = builder.mechanism.body(BodySpec {
            parent: bodies[from],
            pose: Isometry3::from_parts(vector(rng, 0.4).into(), turn),
            mass: Some(MassProperties::new(mass, com, inertia).unwrap()),
            ..BodySpec::default()
        });
        let axis = vector(rng, 1.0);
        let kind = if k == 0 && is_floating {
            JointKind::Free
        } else {
            match rng.uniform(0.0, 5.0) as usize {
                0 => JointKind::Ball,
                1 => JointKind::Universal { axes: [axis, vector(rng, 1.0)] },
                2 => JointKind::Slide { axis },
                _ => JointKind::Hinge { axis },
            }
        };
        builder.mechanism.joint(body, JointSpec::new(kind));
        bodies.push(body);
    }
    builder
}

/// Sets random velocities with the fastest link at a rate [rad/s].
fn spin(simulation: &mut Simulation, rng: &mut SplitMix64, rate: f64) {
    let n = simulation.state().v.len();
    let v: Vec<f64> = (0..n).map(|_| rng.uniform(-1.0, 1.0)).collect();
    simulation.state_mut().v.copy_from_slice(&v);
    let fastest = fastest(simulation);
    simulation.state_mut().v.iter_mut().for_each(|v| *v *= rate / fastest.max(1e-3));
}

fn fastest(simulation: &mut Simulation) -> f64 {
    let rates = simulation.data().velocity.iter().map(|V| V.fixed_rows::<3>(0).norm());
    rates.fold(0.0, f64::max)
}

fn kinetic_energy(simulation: &mut Simulation) -> f64 {
    let (world, v) = (simulation.world().clone(), simulation.state().v.clone());
    stiction_mech::kinetic_energy(world.model(), simulation.data(), &v)
}

#[test]
fn random_trees_keep_their_energy_and_lose_it_only_in_steps_that_say_so() {
    let h = 0.002;
    let mut rng = SplitMix64::new(7);
    let mut resolved = 0;
    for index in 0..50 {
        for scheme in CONSERVING {
            let mut rng = SplitMix64::new(rng.bits());
            let gravity = if index % 2 == 0 { 0.0 } else { 9.81 };
            let builder = tree(&mut rng, index % 4 < 2, gravity);
            let mut simulation = start(builder, scheme, h);
            spin(&mut simulation, &mut rng, 0.3 / h);
            let before = simulation.energy();
            let scale = kinetic_energy(&mut simulation);
            let (mut gain, mut loss, mut is_flagged) = (0.0_f64, 0.0_f64, false);
            for _ in 0..300 {
                is_flagged |= simulation.step().unwrap().unresolved;
                let change = (simulation.energy() - before) / scale;
                (gain, loss) = (gain.max(change), loss.max(-change));
            }
            // A step may be wrong by a thousandth of the kinetic energy before it is divided, and errors
            // of a symmetric rule change sign: of 300 steps, the square root adds up, some
            // twenty thousandths, with a margin of three standard deviations.
            assert!(gain <= 0.06, "{index}: {gain}");
            assert!(loss <= 0.06 || is_flagged, "{index}: {loss}");
            resolved += usize::from(gain.max(loss) <= 0.06);
        }
    }
    // Few trees whip a light link so fast that no number of substeps follows it.
    assert!(resolved >= 95, "{resolved} of 100");
}

#[test]
fn the_momentum_of_floating_trees_converges_with_the_square_of_the_step() {
    let (time, rate) = (0.1, 10.0);
    let mut rng = SplitMix64::new(11);
    for index in 0..10 {
        let seed = rng.bits();
        let drift = [0.004, 0.002, 0.001].map(|h| {
            let mut rng = SplitMix64::new(seed);
            let mut simulation = start(tree(&mut rng, true, 0.0), CONSERVING[0], h);
            spin(&mut simulation, &mut rng, rate);
            let world = simulation.world().clone();
            let momentum = |simulation: &mut Simulation| {
                stiction_mech::momentum(world.model(), simulation.data(), Vector3::zeros())
            };
            let before = momentum(&mut simulation);
            for _ in 0..(time / h).round() as usize {
                assert!(!simulation.step().unwrap().unresolved);
            }
            let after = momentum(&mut simulation);
            [
                (after.0 - before.0).norm() / before.0.norm(),
                (after.1 - before.1).norm() / before.1.norm(),
            ]
        });
        for k in 0..2 {
            // Turns of 0.04 rad per step: errors of their square in the long run.
            assert!(drift[0][k] <= 0.04 * 0.04, "{index}: {drift:?}");
            assert!(drift[2][k] <= 0.3 * drift[1][k] + 1e-9, "{index}: {drift:?}");
        }
    }
}
