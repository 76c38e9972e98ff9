//! Random trees that mix all joints: every quantity of the dynamics against an independent computation.

#![allow(non_snake_case, clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod common;

use common::{RATE_TOLERANCE, mixed, rate, relative, slow, state};
use nalgebra::{Point3, Vector3};
use stiction_math::random::SplitMix64;
use stiction_mech::*;

const N_MODELS: u64 = 400;

/// A random model in a random state, with the position and velocity stages filled.
fn case(seed: u64) -> (SplitMix64, Model, State, Data) {
    let mut rng = SplitMix64::new(seed);
    let n = 1 + rng.below(14);
    let mut model = mixed(&mut rng, n, false);
    while model.nv() == 0 {
        model = mixed(&mut rng, n, false);
    }
    let mut state = state(&mut rng, &model);
    slow(&mut state.v);
    let mut data = Data::new(&model);
    kinematics(&model, &state.q, &mut data);
    velocities(&model, &state.v, &mut data);
    bias_forces(&model, &state.v, &mut data);
    mass_matrix(&model, &mut data);
    (rng, model, state, data)
}

/// `M x` of all trees.
fn times_mass(model: &Model, data: &Data, x: &[f64]) -> Vec<f64> {
    let mut out = vec![0.0; model.nv()];
    for tree in model.trees() {
        let (n, start, M) = (tree.dofs.len(), tree.dofs.start, &data.mass[tree.mass.clone()]);
        for i in 0..n {
            out[start + i] = (0..n).map(|j| M[i * n + j] * x[start + j]).sum();
        }
    }
    out
}

#[test]
fn inverse_dynamics_undoes_forward_dynamics() {
    let mut seen = std::collections::BTreeSet::new();
    for seed in 0..N_MODELS {
        let (mut rng, model, state, mut data) = case(seed);
        seen.extend(model.joints().iter().map(|joint| joint.spec.kind.entry().name));
        let tau: Vec<_> = rng.values(model.nv()).iter().map(|x| 10.0 * x).collect();
        let (mut a, mut back) = (vec![0.0; model.nv()], vec![0.0; model.nv()]);
        forward_dynamics_aba(&model, &mut data, &state.q, &state.v, &tau, &mut a);
        inverse_dynamics(&model, &mut data, &state.v, &a, &mut back);
        let error = relative(&tau, &back);
        assert!(error <= 1e-10, "seed {seed}: {error:e}");
    }
    assert_eq!(seen.len(), JOINTS.len(), "{seen:?}");
}

#[test]
fn forward_dynamics_by_mass_matrix_and_by_articulated_bodies_agree() {
    for seed in 0..N_MODELS {
        let (mut rng, model, state, mut data) = case(seed);
        let tau = rng.values(model.nv());
        let mut by_mass: Vec<_> = tau.iter().zip(&data.bias).map(|(t, b)| t - b).collect();
        factor_mass(&model, &mut data).unwrap();
        solve_mass(&model, &data, &mut by_mass);
        let mut a = vec![0.0; model.nv()];
        forward_dynamics_aba(&model, &mut data, &state.q, &state.v, &tau, &mut a);
        let error = relative(&a, &by_mass);
        assert!(error <= 1e-10, "seed {seed}: {error:e}");
    }
}

#[test]
fn columns_of_the_mass_matrix_are_forces_of_unit_accelerations() {
    for seed in 0..N_MODELS {
        let (_, model, state, mut data) = case(seed);
        let nv = model.nv();
        let (mass, bias) = (data.mass.clone(), data.bias.clone());
        let scale = mass.iter().chain(&bias).fold(0.0, |m: f64, x| m.max(x.abs()));
        let (mut unit, mut tau) = (vec![0.0; nv], vec![0.0; nv]);
        for k in 0..nv {
            unit[k] = 1.0;
            inverse_dynamics(&model, &mut data, &state.v, &unit, &mut tau);
            data.mass.copy_from_slice(&mass);
            for (i, column) in times_mass(&model, &data, &unit).into_iter().enumerate() {
                let error = (tau[i] - bias[i] - column).abs();
                assert!(error <= 1e-12 * scale, "seed {seed}, ({i}, {k}): {error:e}");
            }
            unit[k] = 0.0;
        }
    }
}

#[test]
fn solving_with_the_factor_undoes_the_mass_matrix() {
    for seed in 0..N_MODELS {
        let (mut rng, model, _, mut data) = case(seed);
        let x = rng.values(model.nv());
        let mut y = times_mass(&model, &data, &x);
        factor_mass(&model, &mut data).unwrap();
        solve_mass(&model, &data, &mut y);
        let error = relative(&x, &y);
        assert!(error <= 1e-10, "seed {seed}: {error:e}");
    }
}

#[test]
fn one_tree_at_a_time_gives_the_same_bits() {
    for seed in 0..50 {
        let (mut rng, model, state, mut all) = case(seed);
        factor_mass(&model, &mut all).unwrap();
        let (x, mut by_tree) = (rng.values(model.nv()), Data::new(&model));
        let (mut x_all, mut x_tree) = (x.clone(), x);
        solve_mass(&model, &all, &mut x_all);
        let (mut q_all, mut q_tree) = (vec![0.0; model.nq()], vec![0.0; model.nq()]);
        integrate(&model, &state.q, &state.v, 0.1, &mut q_all);
        for tree in (0..model.trees().len()).rev() {
            tree_kinematics(&model, tree, &state.q, &mut by_tree);
            tree_velocities(&model, tree, &state.v, &mut by_tree);
            tree_bias_forces(&model, tree, &state.v, &mut by_tree);
            tree_mass_matrix(&model, tree, &mut by_tree);
            tree_factor_mass(&model, tree, &mut by_tree).unwrap();
            tree_solve_mass(&model, tree, &by_tree, &mut x_tree);
            tree_integrate(&model, tree, &state.q, &state.v, 0.1, &mut q_tree);
        }
        assert_eq!(by_tree.body_pose, all.body_pose);
        assert_eq!(by_tree.velocity, all.velocity);
        assert_eq!((by_tree.bias, by_tree.factor), (all.bias, all.factor));
        assert_eq!((x_tree, q_tree), (x_all, q_all));
    }
}

#[test]
fn jacobians_are_derivatives_of_positions() {
    for seed in 0..N_MODELS {
        let (mut rng, model, state, mut data) = case(seed);
        let body = BodyId(1 + rng.below(model.bodies().len() - 1));
        let (local, nv) = (Point3::from(rng.vector3()), model.nv());
        let point = (data.body_pose[body.0] * local).coords;
        let mut J = vec![0.0; 6 * nv];
        jacobian(&model, &data, body, point, &mut J);

        // J v is the velocity that the recursion computes.
        let times_v = |row: usize| -> f64 { (0..nv).map(|k| J[row * nv + k] * state.v[k]).sum() };
        let linear = Vector3::new(times_v(3), times_v(4), times_v(5));
        let angular = Vector3::new(times_v(0), times_v(1), times_v(2));
        let by_recursion = point_velocity(&model, &data, body, point);
        // Sums of a few dozen terms of order ten.
        assert!((linear - by_recursion).norm() <= 1e-13, "seed {seed}");
        assert!((angular - angular_velocity(&data, body)).norm() <= 1e-13, "seed {seed}");

        let mut moved = vec![0.0; model.nq()];
        let by_difference = rate(|dt| {
            integrate(&model, &state.q, &state.v, dt, &mut moved);
            kinematics(&model, &moved, &mut data);
            (data.body_pose[body.0] * local).coords.as_slice().to_vec()
        });
        let error = (Vector3::from_column_slice(&by_difference) - linear).norm();
        assert!(error <= RATE_TOLERANCE, "seed {seed}: {error:e}");
    }
}

#[test]
fn wrenches_map_to_generalized_forces_by_jacobians() {
    for seed in 0..N_MODELS {
        let (mut rng, model, _, data) = case(seed);
        let body = BodyId(rng.below(model.bodies().len()));
        let (point, torque, force) = (rng.vector3(), rng.vector3(), rng.vector3());
        let nv = model.nv();
        let (mut J, mut out) = (vec![0.0; 6 * nv], vec![0.0; nv]);
        jacobian(&model, &data, body, point, &mut J);
        apply_wrench(&model, &data, body, point, torque, force, &mut out);
        for k in 0..nv {
            let column = |row: usize| J[row * nv + k];
            let work: f64 = (0..3).map(|r| column(r) * torque[r] + column(3 + r) * force[r]).sum();
            assert!((out[k] - work).abs() <= 1e-12, "seed {seed}");
        }
    }
}

/// Momentum and angular momentum about its centre of mass, six numbers for each body, at q ⊕ dt v.
fn momenta(model: &Model, state: &State, dt: f64) -> Vec<f64> {
    let mut data = Data::new(model);
    let mut q = vec![0.0; model.nq()];
    integrate(model, &state.q, &state.v, dt, &mut q);
    kinematics(model, &q, &mut data);
    velocities(model, &state.v, &mut data);
    let mut out = vec![0.0; 6 * model.bodies().len()];
    for (id, body) in model.bodies().iter().enumerate() {
        let Some(mass) = body.spec.mass else { continue };
        let X = data.body_pose[id];
        let com = (X * Point3::from(mass.com())).coords;
        let linear = mass.mass() * point_velocity(model, &data, BodyId(id), com);
        let w = angular_velocity(&data, BodyId(id));
        let angular = X.rotation * (mass.inertia() * X.rotation.inverse_transform_vector(&w));
        out[6 * id..6 * id + 3].copy_from_slice(linear.as_slice());
        out[6 * id + 3..6 * id + 6].copy_from_slice(angular.as_slice());
    }
    out
}

#[test]
fn gravity_forces_are_the_bias_forces_at_rest() {
    for seed in 0..N_MODELS {
        let (_, model, state, mut data) = case(seed);
        let (rest, mut gravity) = (vec![0.0; model.nv()], vec![0.0; model.nv()]);
        velocities(&model, &rest, &mut data);
        bias_forces(&model, &rest, &mut data);
        let bias = data.bias.clone();
        velocities(&model, &state.v, &mut data);
        for (index, tree) in model.trees().iter().enumerate().filter(|(_, tree)| !tree.single) {
            tree_gravity_forces(&model, index, &mut data, &mut gravity);
            let largest = bias.iter().fold(1.0, |most: f64, b| most.max(b.abs()));
            for dof in tree.dofs.clone() {
                // Round-off of sums over at most a few dozen links.
                assert!((gravity[dof] - bias[dof]).abs() <= 1e3 * f64::EPSILON * largest);
            }
        }
    }
}

#[test]
fn bias_forces_at_other_velocities_leave_the_velocity_stage_and_poses_need_nothing_else() {
    for seed in 0..N_MODELS {
        let (_, model, state, mut data) = case(seed);
        let (bias, poses) = (data.bias.clone(), data.body_pose.clone());
        velocities(&model, &vec![f64::NAN; model.nv()], &mut data);
        for tree in 0..model.trees().len() {
            tree_bias_forces_at(&model, tree, &state.v, &mut data);
        }
        // The same products in another order, over at most a few dozen links.
        assert!(relative(&data.bias, &bias) <= 1e3 * f64::EPSILON);
        assert!(
            model.links().iter().all(|link| data.velocity[link.body].iter().any(|x| x.is_nan()))
        );
        let mut other = Data::new(&model);
        body_poses(&model, &state.q, &mut other);
        assert_eq!(other.body_pose, poses);
    }
}

#[test]
fn bias_forces_are_the_projected_rates_of_momentum() {
    // Newton-Euler equations of every single body, rates by differences along q ⊕ t v, projected on
    // the coordinates by Jacobians.
    for seed in 0..N_MODELS {
        let (_, model, state, data) = case(seed);
        let rates = rate(|dt| momenta(&model, &state, dt));
        let mut projected = vec![0.0; model.nv()];
        for (id, body) in model.bodies().iter().enumerate() {
            let Some(mass) = body.spec.mass else { continue };
            let com = (data.body_pose[id] * Point3::from(mass.com())).coords;
            let of_body = &rates[6 * id..6 * id + 6];
            let inertial = Vector3::from_column_slice(&of_body[..3]);
            let torque = Vector3::from_column_slice(&of_body[3..]);
            let force = inertial - mass.mass() * model.gravity();
            apply_wrench(&model, &data, BodyId(id), com, torque, force, &mut projected);
        }
        let error = relative(&projected, &data.bias);
        assert!(error <= RATE_TOLERANCE, "seed {seed}: {error:e}");
    }
}

#[test]
fn bias_forces_satisfy_the_lagrange_equations() {
    // d/dt ∂T/∂q̇ − ∂T/∂q + ∂V/∂q at q̈ = 0, for joints whose velocities are rates of coordinates:
    // Σ (∂M_ij/∂q_k − ½ ∂M_jk/∂q_i) q̇_j q̇_k + ∂V/∂q_i, derivatives by differences. The potential
    // excludes the compensated weight.
    for seed in 0..50 {
        let mut rng = SplitMix64::new(1000 + seed);
        let model = mixed(&mut rng, 6, true);
        let (mut state, nv) = (state(&mut rng, &model), model.nv());
        slow(&mut state.v);
        let mut data = Data::new(&model);
        let mut lagrange = vec![0.0; nv];
        for k in 0..nv {
            // Momenta, then T, then V.
            let rates = rate(|dq| {
                let mut q = state.q.clone();
                q[k] += dq;
                kinematics(&model, &q, &mut data);
                velocities(&model, &state.v, &mut data);
                mass_matrix(&model, &mut data);
                let mut values = times_mass(&model, &data, &state.v);
                values.push(kinetic_energy(&model, &data, &state.v));
                values.push(potential_energy(&model, &data, &q));
                values
            });
            lagrange[k] += rates[nv + 1] - rates[nv];
            for i in 0..nv {
                lagrange[i] += rates[i] * state.v[k];
            }
        }
        kinematics(&model, &state.q, &mut data);
        velocities(&model, &state.v, &mut data);
        bias_forces(&model, &state.v, &mut data);
        let mut expected = vec![0.0; nv];
        gravity_compensation(&model, &data, &mut expected);
        for (sum, bias) in expected.iter_mut().zip(&data.bias) {
            *sum = bias - *sum;
        }
        let error = relative(&lagrange, &expected);
        assert!(error <= RATE_TOLERANCE, "seed {seed}: {error:e}");
    }
}

#[test]
fn kinetic_energy_is_the_form_of_the_mass_matrix() {
    for seed in 0..N_MODELS {
        let (_, model, state, data) = case(seed);
        let form: f64 = times_mass(&model, &data, &state.v)
            .iter()
            .zip(&state.v)
            .map(|(p, v)| 0.5 * p * v)
            .sum();
        let energy = kinetic_energy(&model, &data, &state.v);
        assert!((form - energy).abs() <= 1e-12 * energy, "seed {seed}");
    }
}

#[test]
fn the_closed_forms_of_one_free_body_equal_the_recursions() {
    // Inverse dynamics always uses the recursion.
    let mut rng = SplitMix64::new(5);
    for _ in 0..20 {
        let model = common::one(&mut rng, 1);
        assert!(model.trees()[0].single);
        let state = state(&mut rng, &model);
        let (mut data, mut tau) = (Data::new(&model), vec![0.0; 6]);
        kinematics(&model, &state.q, &mut data);
        velocities(&model, &state.v, &mut data);
        bias_forces(&model, &state.v, &mut data);
        mass_matrix(&model, &mut data);
        let (bias, mass) = (data.bias.clone(), data.mass.clone());
        for k in 0..7 {
            let mut a = [0.0; 6];
            a.iter_mut().skip(k).take(1).for_each(|x| *x = 1.0);
            inverse_dynamics(&model, &mut data, &state.v, &a, &mut tau);
            for i in 0..6 {
                let closed = bias[i] + if k < 6 { mass[6 * i + k] } else { 0.0 };
                // Numbers of order ten.
                assert!((tau[i] - closed).abs() <= 1e-13, "{i} {k}: {} {closed}", tau[i]);
            }
        }
    }
}

#[test]
fn a_free_body_balanced_at_its_origin_has_a_constant_mass_matrix() {
    let mut rng = SplitMix64::new(6);
    for _ in 0..20 {
        let mut builder = ModelBuilder::new();
        let uneven = common::mass(&mut rng);
        let mass = MassProperties::new(uneven.mass(), Vector3::zeros(), uneven.inertia()).unwrap();
        let (pose, mass) = (rng.pose(0.5), Some(mass));
        let body = builder.body(BodySpec { pose, mass, ..Default::default() });
        builder.joint(body, JointSpec { armature: 0.01, ..JointSpec::new(JointKind::Free) });
        let model = builder.build().unwrap();
        assert!(model.trees()[0].constant_mass);
        let (state, tau) = (state(&mut rng, &model), rng.values(6));
        let (mut data, mut a) = (Data::new(&model), vec![0.0; 6]);
        kinematics(&model, &state.q, &mut data);
        velocities(&model, &state.v, &mut data);
        bias_forces(&model, &state.v, &mut data);
        mass_matrix(&model, &mut data);
        factor_mass(&model, &mut data).unwrap();
        let mut by_mass: Vec<_> = tau.iter().zip(&data.bias).map(|(t, b)| t - b).collect();
        solve_mass(&model, &data, &mut by_mass);
        forward_dynamics_aba(&model, &mut data, &state.q, &state.v, &tau, &mut a);
        assert!(relative(&a, &by_mass) <= 1e-13);
    }
}

#[test]
fn results_keep_their_accuracy_far_from_the_origin() {
    // Positions at 1e4 m have errors of 1e4 ε = 2e-12 m; forces and masses change by that much relative to
    // lengths of order one, times the number of links.
    let mut rng = SplitMix64::new(9);
    let offset = Vector3::new(1e4, -7e3, 4e3);
    let build = |offset: Vector3<f64>, seed: u64| {
        let mut rng = SplitMix64::new(seed);
        let mut builder = ModelBuilder::new();
        let mut parent = BodyId::WORLD;
        for k in 0..8 {
            let mut pose = rng.pose(0.5);
            if k == 0 {
                pose.translation.vector += offset;
            }
            let mass = Some(common::mass(&mut rng));
            let body = builder.body(BodySpec { parent, pose, mass, ..Default::default() });
            let place =
                if k == 0 && seed.is_multiple_of(2) { 1 } else { [0, 2, 4, 5, 6][rng.below(5)] };
            let kind = common::kind(&mut rng, place);
            builder.joint(body, JointSpec::new(kind));
            parent = body;
        }
        builder.build().unwrap()
    };
    for seed in 0..20 {
        let (near, far) = (build(Vector3::zeros(), seed), build(offset, seed));
        let v = rng.values(near.nv());
        let run = |model: &Model| {
            let mut q = vec![0.0; model.nq()];
            integrate(model, model.q0(), &v, 0.5, &mut q);
            let mut data = Data::new(model);
            kinematics(model, &q, &mut data);
            velocities(model, &v, &mut data);
            bias_forces(model, &v, &mut data);
            mass_matrix(model, &mut data);
            (data.mass, data.bias)
        };
        let ((M0, b0), (M1, b1)) = (run(&near), run(&far));
        assert!(relative(&M0, &M1) <= 1e-10 && relative(&b0, &b1) <= 1e-10, "seed {seed}");
    }
}

#[test]
fn full_compensation_leaves_no_weight() {
    for seed in 0..20 {
        let mut rng = SplitMix64::new(2000 + seed);
        let mut builder = ModelBuilder::new();
        for id in 0..6 {
            let parent = BodyId(rng.below(id + 1));
            let (pose, mass) = (rng.pose(0.5), Some(common::mass(&mut rng)));
            let gravity_compensation = 1.0;
            let body = builder.body(BodySpec {
                parent,
                pose,
                mass,
                gravity_compensation,
                ..Default::default()
            });
            if id == 0 || rng.below(4) > 0 {
                let place = [0, 2, 3, 4, 5, 6][rng.below(6)];
                let kind = common::kind(&mut rng, place);
                builder.joint(body, JointSpec::new(kind));
            }
        }
        let model = builder.build().unwrap();
        let state = state(&mut rng, &model);
        let mut data = Data::new(&model);
        kinematics(&model, &state.q, &mut data);
        let rest = vec![0.0; model.nv()];
        velocities(&model, &rest, &mut data);
        bias_forces(&model, &rest, &mut data);
        let mut lift = vec![0.0; model.nv()];
        gravity_compensation(&model, &data, &mut lift);
        assert!(relative(&lift, &data.bias) <= 1e-13, "seed {seed}");
        assert!(potential_energy(&model, &data, &state.q).abs() <= 1e-12);
    }
}
