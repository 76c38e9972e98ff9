//! The linear system of an implicit step, and motions made of such steps.

use crate::mesh::*;
use nalgebra::{DVector, Vector3};
use stiction_math::block::{Cholesky, Symmetric};
use stiction_mech::{Lumping, Material, SoftBody, SoftScheme, SoftSpec, SoftWork};

const GRAVITY: Vector3<f64> = Vector3::new(0.0, 0.0, -9.81);

fn damped_block(lumping: Lumping, fixed: Vec<u32>) -> SoftBody {
    let spec = cuboid([0.2, 0.2, 0.2], [2, 2, 2], RUBBER);
    let (mass_damping, stiffness_damping) = (0.4, 3e-3);
    SoftBody::new(SoftSpec { mass_damping, stiffness_damping, lumping, fixed, ..spec }).unwrap()
}

/// The unknown of a step, by a Cholesky factorization.
fn solve(
    body: &SoftBody,
    scheme: &SoftScheme,
    (x0, v0): (&[Vector3<f64>], &[Vector3<f64>]),
    gravity: Vector3<f64>,
) -> Vec<Vector3<f64>> {
    let (mut work, n) = (SoftWork::new(body), x0.len());
    let (mut A, mut z) = (Symmetric::default(), vec![Vector3::zeros(); n]);
    let mut u = vec![Vector3::zeros(); n];
    let steps = if body.spec.material.entry().linear { 1 } else { 8 };
    body.freeze(x0, &mut work);
    for _ in 0..steps {
        scheme.positions(x0, v0, &u, &mut z);
        body.forces(&z, &mut work);
        body.stiffness(&z, &mut work);
        body.step_matrix(scheme, &work, &mut A);
        let mut b = vec![0.0; 3 * n];
        body.free_momentum(scheme, v0, Some(&u), gravity, &mut work, &mut b);
        let mut factor = Cholesky::analyse(A.pattern());
        factor.factor(&A).unwrap();
        factor.solve_in_place(&mut b);
        u = b.chunks_exact(3).map(Vector3::from_column_slice).collect();
    }
    u
}

/// [Han23, Eq. (8)] with forces asked for anew at q^θ(v), against the linear system.
#[test]
fn the_solution_of_the_linear_system_has_no_momentum_residual() {
    let mut rng = Random(41);
    for lumping in [Lumping::Consistent, Lumping::Lumped] {
        let body = damped_block(lumping, vec![0, 3, 4]);
        let n = body.nodes.len();
        let (x0, mut v0) = (rng.shape(&body, 0.01), rng.vectors(n, 0.3));
        body.spec.fixed.iter().for_each(|&k| v0[k as usize].fill(0.0));
        let (h, M) = (0.01, body.mass().to_dense());
        for (theta, theta_vq) in [(1.0, 1.0), (0.5, 0.5), (0.7, 0.9), (0.5, 1.0)] {
            let v = solve(&body, &SoftScheme::theta(h, theta, theta_vq), (&x0, &v0), GRAVITY);
            let mut work = SoftWork::new(&body);
            body.freeze(&x0, &mut work);
            body.stiffness(&x0, &mut work);
            let K = work.stiffness.to_dense();
            let mix = |w: f64| -> Vec<_> {
                v.iter().zip(&v0).map(|(v, v0)| w * v + (1.0 - w) * v0).collect()
            };
            let q: Vec<_> = x0.iter().zip(mix(theta_vq)).map(|(x, v)| x + theta * h * v).collect();
            body.forces(&q, &mut work);
            let (v_theta, change) =
                (mix(theta), flat(&v).iter().zip(flat(&v0)).map(|(a, b)| a - b).collect());
            let damping = (0.4 * &M + 3e-3 * K) * DVector::from_vec(flat(&v_theta));
            let weight = &M * DVector::from_fn(3 * n, |k, _| GRAVITY[k % 3]);
            let force = DVector::from_vec(flat(&work.force)) - damping + weight;
            let residual = &M * DVector::from_vec(change) - h * &force;
            for k in 0..n {
                if body.is_fixed()[k] {
                    assert_eq!(v[k], Vector3::zeros());
                } else {
                    let most = residual.rows(3 * k, 3).amax();
                    // Round-off of the factorization, times the impulses that cancel.
                    assert!(most <= 1e-12 * h * force.amax(), "{theta} {theta_vq}: {most}");
                }
            }
        }
    }
}

#[test]
fn the_mid_velocity_and_the_midpoint_rule_are_one_motion() {
    let mut rng = Random(42);
    let body = damped_block(Lumping::Consistent, vec![1]);
    let (x0, mut v0) = (rng.shape(&body, 0.01), rng.vectors(body.nodes.len(), 0.3));
    v0[1].fill(0.0);
    let end = solve(&body, &SoftScheme::theta(0.01, 0.5, 0.5), (&x0, &v0), GRAVITY);
    let mean = solve(&body, &SoftScheme::mean_velocity(0.01, 0.5), (&x0, &v0), GRAVITY);
    let size = end.iter().map(|v| v.amax()).fold(0.0, f64::max);
    for ((end, mean), v0) in end.iter().zip(&mean).zip(&v0) {
        assert!((2.0 * mean - v0 - end).amax() <= 1e-12 * size);
    }
    // Both are implicit Euler with all weight on the end.
    let end = solve(&body, &SoftScheme::theta(0.01, 1.0, 1.0), (&x0, &v0), GRAVITY);
    assert_eq!(end, solve(&body, &SoftScheme::mean_velocity(0.01, 1.0), (&x0, &v0), GRAVITY));
}

#[test]
fn a_guess_does_not_change_a_linear_step() {
    let mut rng = Random(43);
    let body = damped_block(Lumping::Consistent, vec![]);
    let n = body.nodes.len();
    let (x0, v0, guess) = (rng.shape(&body, 0.01), rng.vectors(n, 0.3), rng.vectors(n, 0.5));
    let scheme = SoftScheme::theta(0.01, 0.6, 0.8);
    let mut work = SoftWork::new(&body);
    body.freeze(&x0, &mut work);
    body.stiffness(&x0, &mut work);
    let (mut z, zero) = (vec![Vector3::zeros(); n], vec![Vector3::zeros(); n]);
    let mut momentum = |guess: &[Vector3<f64>], given: bool| {
        scheme.positions(&x0, &v0, guess, &mut z);
        body.forces(&z, &mut work);
        let mut b = vec![0.0; 3 * n];
        body.free_momentum(&scheme, &v0, given.then_some(guess), GRAVITY, &mut work, &mut b);
        b
    };
    let (with, without) = (momentum(&guess, true), momentum(&zero, false));
    let size = with.iter().fold(0.0, |most: f64, b| most.max(b.abs()));
    for (a, b) in with.iter().zip(&without) {
        assert!((a - b).abs() <= 1e-12 * size, "{a} {b}");
    }
}

/// Positions [m] and velocities [m/s].
type Moment = (Vec<Vector3<f64>>, Vec<Vector3<f64>>);

/// Steps a body freely and returns its positions and velocities at the end of each step.
fn motion(
    body: &SoftBody,
    h: f64,
    steps: usize,
    start: Moment,
    gravity: Vector3<f64>,
) -> Vec<Moment> {
    let scheme = SoftScheme::mean_velocity(h, 0.5);
    let mut states = vec![start];
    for _ in 0..steps {
        let (x, v) = states.last().unwrap();
        let mean = solve(body, &scheme, (x, v), gravity);
        let next_x = x.iter().zip(&mean).map(|(x, u)| x + h * u).collect();
        let next_v = v.iter().zip(&mean).map(|(v, u)| 2.0 * u - v).collect();
        states.push((next_x, next_v));
    }
    states
}

#[test]
fn mid_velocity_steps_of_a_linear_solid_keep_its_energy() {
    let mut rng = Random(44);
    let body = block(Material::Linear { young: 5e4, poisson: 0.3 });
    let x: Vec<_> = body.spec.vertices.iter().map(|x| x + 0.005 * rng.vector()).collect();
    let v = rng.vectors(body.nodes.len(), 0.1);
    let energy = |(x, v): &Moment| body.energy(x) + body.kinetic_energy(v);
    let states = motion(&body, 0.01, 100, (x, v), Vector3::zeros());
    let first = energy(&states[0]);
    for state in &states {
        // A step rounds at some hundred eps.
        assert!((energy(state) / first - 1.0).abs() <= 1e-11, "{}", energy(state) / first);
    }
}

#[test]
fn a_body_in_free_flight_keeps_its_momentum_and_falls_as_a_stone_does() {
    let mut rng = Random(45);
    for material in materials().into_iter().filter(|m| m.entry().rotation_invariant) {
        let body = block(material);
        let x = rng.shape(&body, 0.005);
        let spin = 2.0 * rng.vector();
        let v: Vec<_> = x.iter().map(|x| spin.cross(x) + 0.1 * rng.vector()).collect();
        let (p0, _) = body.momentum(&x, &v, Vector3::zeros());
        let centre = body.centre_of_mass(&x);
        let (h, steps) = (0.01, 10);
        let states = motion(&body, h, steps, (x, v), GRAVITY);
        let (x, v) = states.last().unwrap();
        let (t, mass) = (h * steps as f64, body.total_mass());
        let (p, _) = body.momentum(x, v, Vector3::zeros());
        assert!((p - p0 - mass * t * GRAVITY).amax() <= 1e-11 * mass, "{material:?}");
        let expected = centre + t * p0 / mass + 0.5 * t * t * GRAVITY;
        assert!((body.centre_of_mass(x) - expected).amax() <= 1e-11, "{material:?}");
    }
}

#[test]
fn angular_momentum_is_kept_to_the_order_of_the_step() {
    // Forces at the middle of a step turn nothing about the middle, but the frozen rotation is that of
    // its beginning: an error of first order in h per unit of time for the lagged material, none for
    // the one that knows its present rotation.
    let mut rng = Random(46);
    let (x, spin) = (rng.shape(&block(RUBBER), 0.004), Vector3::new(0.5, 3.0, 1.0));
    let drift = |material: Material, h: f64| {
        let body = block(material);
        let v: Vec<_> = x.iter().map(|x| spin.cross(x)).collect();
        let (_, before) = body.momentum(&x, &v, Vector3::zeros());
        let steps = (0.08 / h).round() as usize;
        let states = motion(&body, h, steps, (x.clone(), v), Vector3::zeros());
        let (x, v) = states.last().unwrap();
        let (_, after) = body.momentum(x, v, Vector3::zeros());
        (after - before).norm() / before.norm()
    };
    let (coarse, fine) = (drift(RUBBER, 8e-3), drift(RUBBER, 1e-3));
    assert!(fine < coarse / 4.0 && coarse < 0.1, "{coarse} {fine}");
    let exact = drift(Material::NeoHookean { young: 5e4, poisson: 0.3 }, 8e-3);
    // Newton's method ends at round-off: mean positions see symmetric stresses only.
    assert!(exact <= 1e-9, "{exact}");
}
