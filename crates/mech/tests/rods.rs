//! Rods against finite differences and beam theory. Section, length and modulus are those of a rubber
//! hose; relative results do not depend on them.

#![allow(non_snake_case, clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod common;

use common::Random;
use nalgebra::{DMatrix, Isometry3, Matrix3, Translation3, UnitQuaternion, Vector3, Vector6};
use std::f64::consts::PI;
use stiction_math::block::{Cholesky, Symmetric};
use stiction_mech::rod::Bond;
use stiction_mech::{
    BodyId, BodySpec, Data, JointKind, JointSpec, MassProperties, Model, ModelBuilder, ModelError,
    RodEnd, RodError, RodRest, RodSpec, RodWorkspace, State, integrate, kinematics,
    potential_energy,
};

const YOUNG: f64 = 2.954e6;
const POISSON: f64 = 0.49;
const RADIUS: f64 = 5e-3;
const LENGTH: f64 = 0.5;
const DENSITY: f64 = 1100.0;

/// A straight rod along z from the origin, without gravity.
fn rod(segments: usize, change: impl FnOnce(&mut RodSpec)) -> Result<Model, ModelError> {
    let mut builder = ModelBuilder::new();
    builder.gravity(Vector3::zeros());
    let l = LENGTH / segments as f64;
    let m = DENSITY * PI * RADIUS * RADIUS * l;
    let across = m * (RADIUS * RADIUS / 4.0 + l * l / 12.0);
    let inertia = Vector3::new(across, across, m * RADIUS * RADIUS / 2.0);
    let mass = MassProperties::new(m, Vector3::zeros(), Matrix3::from_diagonal(&inertia)).unwrap();
    let mut spec = RodSpec {
        segment_length: l,
        radius: RADIUS,
        young: YOUNG,
        poisson: POISSON,
        ..RodSpec::default()
    };
    for k in 0..segments {
        let pose = Isometry3::translation(0.0, 0.0, (k as f64 + 0.5) * l);
        let body = builder.body(BodySpec { pose, mass: Some(mass), ..BodySpec::default() });
        builder.joint(body, JointSpec::new(JointKind::Free));
        spec.segments.push(body);
    }
    change(&mut spec);
    builder.rod(spec);
    builder.build()
}

fn clamped_at_origin(spec: &mut RodSpec) {
    let pose = Isometry3::identity();
    spec.ends[0] = RodEnd::Clamped { body: BodyId::WORLD, pose };
}

/// Forces of the rod at coordinates q.
fn forces(model: &Model, q: &[f64]) -> Vec<f64> {
    let (mut data, rod) = (Data::new(model), &model.rods()[0]);
    kinematics(model, q, &mut data);
    let mut work = RodWorkspace::new(rod);
    rod.evaluate(&data, &mut work);
    let mut out = vec![0.0; model.nv()];
    rod.add_forces(&work, 1.0, &mut out);
    out
}

fn stiffness(model: &Model, q: &[f64], tension: f64) -> Symmetric {
    let (mut data, rod) = (Data::new(model), &model.rods()[0]);
    kinematics(model, q, &mut data);
    let mut work = RodWorkspace::new(rod);
    rod.evaluate(&data, &mut work);
    let mut K = Symmetric::zeros(rod.pattern());
    rod.add_stiffness(&work, 1.0, (tension, 0.0), &mut K);
    K
}

/// −∂f/∂q by central differences of the forces.
fn hessian(model: &Model, q: &[f64]) -> DMatrix<f64> {
    let (n, step) = (model.nv(), 1e-6);
    let mut H = DMatrix::zeros(n, n);
    for dof in 0..n {
        let at = |sign: f64| {
            let (mut v, mut out) = (vec![0.0; n], vec![0.0; model.nq()]);
            v[dof] = sign;
            integrate(model, q, &v, step, &mut out);
            forces(model, &out)
        };
        let (ahead, behind) = (at(1.0), at(-1.0));
        for k in 0..n {
            H[(k, dof)] = -(ahead[k] - behind[k]) / (2.0 * step);
        }
    }
    H
}

/// A random state near the straight one: positions within `shift` [m], rotations within `angle` [rad].
fn perturbed(model: &Model, rng: &mut Random, shift: f64, angle: f64) -> Vec<f64> {
    let v: Vec<f64> =
        (0..model.nv()).map(|dof| rng.number() * if dof % 6 < 3 { shift } else { angle }).collect();
    let mut q = vec![0.0; model.nq()];
    integrate(model, model.q0(), &v, 1.0, &mut q);
    q
}

#[test]
fn the_rates_of_strains_are_their_derivatives() {
    let mut rng = Random(1);
    for round in 0..200 {
        let X_i = rng.pose();
        // Bending up to almost π, and gaps of the order of the arms.
        let turn = UnitQuaternion::from_scaled_axis(rng.direction() * (0.015 * f64::from(round)));
        let X_j = Isometry3::from_parts(
            Translation3::from(X_i.translation.vector + 0.1 * rng.vector()),
            X_i.rotation * turn,
        );
        let (a_i, a_j) = (0.05, 0.08);
        let (K, rest) = (Vector6::repeat(1.0), Vector6::zeros());
        let bond = |X_i, X_j| Bond::new((X_i, a_i), (X_j, a_j), &K, &rest);
        let (v_i, v_j) = (rng.numbers(6), rng.numbers(6));
        let moved = |X: &Isometry3<f64>, v: &[f64], t: f64| {
            let (v, w) = (Vector3::new(v[0], v[1], v[2]), Vector3::new(v[3], v[4], v[5]));
            Isometry3::from_parts(
                Translation3::from(X.translation.vector + t * v),
                X.rotation * UnitQuaternion::from_scaled_axis(t * w),
            )
        };
        let step = 1e-5;
        let strain = |t: f64| bond(moved(&X_i, &v_i, t), moved(&X_j, &v_j, t)).strain;
        let by_difference = (strain(step) - strain(-step)) / (2.0 * step);
        let here = bond(X_i, X_j);
        let by_formula = here.rate(&v_i, &v_j);
        // Second differences leave step² times the third derivative, which grows near π;
        // round-off leaves ε/step.
        assert!(
            (by_formula - by_difference).amax() <= 2e-8,
            "{round}: {by_formula} {by_difference}"
        );
        let [J_i, J_j] = here.rows();
        let by_rows =
            J_i * Vector6::from_column_slice(&v_i) + J_j * Vector6::from_column_slice(&v_j);
        assert!((by_formula - by_rows).amax() <= 1e-13);
        // The transposed map conserves work.
        let lambda = Vector6::from_column_slice(&rng.numbers(6));
        let [f_i, f_j] = here.pull_back(&lambda);
        assert!((f_i - J_i.tr_mul(&lambda)).amax() <= 1e-13);
        assert!((f_j - J_j.tr_mul(&lambda)).amax() <= 1e-13);
    }
}

#[test]
fn forces_are_minus_the_gradient_of_the_energy_and_have_no_resultant() {
    let mut rng = Random(2);
    let model = rod(6, |_| {}).unwrap();
    let q = perturbed(&model, &mut rng, 0.02, 1.0);
    let f = forces(&model, &q);
    let mut data = Data::new(&model);
    let mut energy = |q: &[f64]| {
        kinematics(&model, q, &mut data);
        potential_energy(&model, &data, q)
    };
    let (step, scale) = (1e-6, f.iter().fold(0.0, |most: f64, f| most.max(f.abs())));
    for dof in 0..model.nv() {
        let mut at = |sign: f64| {
            let (mut v, mut out) = (vec![0.0; model.nv()], vec![0.0; model.nq()]);
            v[dof] = sign;
            integrate(&model, &q, &v, step, &mut out);
            energy(&out)
        };
        let slope = (at(1.0) - at(-1.0)) / (2.0 * step);
        assert!((slope + f[dof]).abs() <= 1e-6 * scale, "{dof}: {slope} {}", f[dof]);
    }
    kinematics(&model, &q, &mut data);
    let (mut force, mut torque) = (Vector3::zeros(), Vector3::zeros());
    for (k, body) in model.rods()[0].spec.segments.iter().enumerate() {
        let part = |at: usize| Vector3::new(f[6 * k + at], f[6 * k + at + 1], f[6 * k + at + 2]);
        let X = data.body_pose[body.0];
        force += part(0);
        torque += X.translation.vector.cross(&part(0)) + X.rotation * part(3);
    }
    assert!(force.norm() <= 1e-12 * scale && torque.norm() <= 1e-12 * scale, "{force} {torque}");
}

#[test]
fn a_rigid_motion_of_a_rod_causes_no_force() {
    let model = rod(7, |_| {}).unwrap();
    let X = Isometry3::from_parts(
        Translation3::new(1.0, -2.0, 0.5),
        UnitQuaternion::from_scaled_axis(Vector3::new(1.0, 2.0, -0.5)),
    );
    let mut q = model.q0().to_vec();
    for pose in q.chunks_exact_mut(7) {
        let moved = X * Translation3::new(pose[0], pose[1], pose[2]);
        pose[..3].copy_from_slice(moved.translation.vector.as_slice());
        let r = moved.rotation;
        pose[3..].copy_from_slice(&[r.w, r.i, r.j, r.k]);
    }
    // Positions of the order of one metre round to 1e-16 of it; K is of the order of EA/l.
    let EA = YOUNG * PI * RADIUS * RADIUS;
    let bound = 1e-14 * EA * 7.0 / LENGTH;
    assert!(forces(&model, &q).iter().all(|f| f.abs() <= bound));
}

#[test]
fn the_stiffness_is_positive_semi_definite_for_every_shape() {
    let mut rng = Random(3);
    for _ in 0..20 {
        let model = rod(4, clamped_at_origin).unwrap();
        let q = perturbed(&model, &mut rng, 0.3, 3.0);
        let K = stiffness(&model, &q, 1.0).to_dense();
        let eigenvalues = K.symmetric_eigenvalues();
        assert!(eigenvalues.min() >= -1e-12 * eigenvalues.max(), "{eigenvalues}");
    }
}

#[test]
fn the_stiffness_of_an_unstrained_rod_is_minus_the_derivative_of_its_forces() {
    let model = rod(3, clamped_at_origin).unwrap();
    let K = stiffness(&model, model.q0(), 1.0).to_dense();
    let H = hessian(&model, model.q0());
    assert!((&K - &H).amax() <= 1e-8 * K.amax(), "{}", (&K - &H).amax() / K.amax());
}

#[test]
fn tension_stiffens_a_rod_as_it_does_a_string() {
    // Stretched by 1e-3: the derivative of the forces along a rotation of a segment that
    // its neighbours follow without shear is that of T l θ²/2 and bending.
    let model = rod(9, clamped_at_origin).unwrap();
    let (l, stretch) = (LENGTH / 9.0, 1e-3);
    let mut q = model.q0().to_vec();
    for (k, pose) in q.chunks_exact_mut(7).enumerate() {
        pose[2] += (k as f64 + 0.5) * l * stretch;
    }
    let H = hessian(&model, &q);
    let with = stiffness(&model, &q, 1.0).to_dense();
    let without = stiffness(&model, &q, 0.0).to_dense();
    // One half wave, all segments tangent to the wave: x' = cos, θ_y = x'.
    let mut wave = nalgebra::DVector::zeros(model.nv());
    let mut x = 0.0;
    for k in 0..9 {
        let slope = (PI * (k as f64 + 0.5) / 9.0).cos();
        wave[6 * k] = x + 0.5 * l * slope;
        wave[6 * k + 4] = slope;
        x += l * slope;
    }
    let of = |K: &DMatrix<f64>| wave.dot(&(K * &wave));
    let tension = YOUNG * PI * RADIUS * RADIUS * stretch;
    // The free end has no tension: the last segment has tension on one side only.
    let sides = |k: usize| if k == 8 { 0.5 } else { 1.0 };
    let string: f64 = (0..9).map(|k| sides(k) * wave[6 * k + 4].powi(2) * tension * l).sum();
    // All other terms are of the order of the strain.
    assert!((of(&with) - of(&without) - string).abs() <= 1e-2 * string);
    assert!((of(&H) - of(&with)).abs() <= 1e-2 * string, "{} {}", of(&H), of(&with));
}

#[test]
fn the_first_cantilever_frequency_is_that_of_a_beam() {
    // Inverse iteration on K x = ω² M x.
    let frequency = |n: usize| {
        let model = rod(n, clamped_at_origin).unwrap();
        let mut data = Data::new(&model);
        stiction_mech::mass_matrix(&model, &mut data);
        let K = stiffness(&model, model.q0(), 0.0);
        let mut factor = Cholesky::analyse(K.pattern());
        factor.factor(&K).unwrap();
        let mut x: Vec<f64> = (0..model.nv()).map(|k| f64::from(u8::from(k % 6 == 0))).collect();
        let mut squared = 0.0;
        for _ in 0..30 {
            let mut y = vec![0.0; model.nv()];
            for (k, M) in data.mass.chunks_exact(36).enumerate() {
                for r in 0..6 {
                    y[6 * k + r] = (0..6).map(|c| M[6 * r + c] * x[6 * k + c]).sum();
                }
            }
            let before: f64 = x.iter().zip(&y).map(|(x, y)| x * y).sum();
            factor.solve_in_place(&mut y);
            let cross: f64 = {
                let mut My = 0.0;
                for (k, M) in data.mass.chunks_exact(36).enumerate() {
                    for r in 0..6 {
                        for c in 0..6 {
                            My += x[6 * k + r] * M[6 * r + c] * y[6 * k + c];
                        }
                    }
                }
                My
            };
            squared = before / cross;
            let norm = y.iter().map(|y| y * y).sum::<f64>().sqrt();
            x = y.iter().map(|y| y / norm).collect();
        }
        squared.sqrt()
    };
    // Euler-Bernoulli: ω = 1.8751² √(EI/(ρA L⁴)).
    let I = PI * RADIUS.powi(4) / 4.0;
    let line = DENSITY * PI * RADIUS * RADIUS;
    let exact = 1.875_104_068_711_961_f64.powi(2) * (YOUNG * I / line / LENGTH.powi(4)).sqrt();
    let error = |n: usize| 1.0 - frequency(n) / exact;
    // Shear and rotary inertia of the section lower it by about (π² r²/(4 L²))(1 + E/(kG)) ≈ 1e-4; the
    // segments by c/N².
    let (coarse, fine) = (error(10), error(40));
    let section = 3e-4;
    assert!(coarse > 0.0 && coarse < 6e-3, "{coarse}");
    assert!((fine - coarse / 16.0).abs() <= section, "{fine} {coarse}");
}

#[test]
fn a_twisted_rod_between_clamps_buckles_at_greenhills_moment() {
    // M L/(2 EI) = tan(M L/(2 EI)) between clamps without thrust [Love27, Art. 272]; the least root.
    let critical = 2.0 * 4.493_409_457_909_064;
    let least_eigenvalue = |n: usize, moment: f64| {
        // M = GJ Φ/L and GJ/EI = 1/(1 + ν).
        let angle = moment * (1.0 + POISSON);
        let model = rod(n, |spec| {
            clamped_at_origin(spec);
            let rotation = UnitQuaternion::from_axis_angle(&Vector3::z_axis(), angle);
            let pose = Isometry3::from_parts(Translation3::new(0.0, 0.0, LENGTH), rotation);
            spec.ends[1] = RodEnd::Clamped { body: BodyId::WORLD, pose };
        })
        .unwrap();
        let mut q = model.q0().to_vec();
        for (k, pose) in q.chunks_exact_mut(7).enumerate() {
            let half = 0.5 * angle * (k as f64 + 0.5) / n as f64;
            pose[3..].copy_from_slice(&[half.cos(), 0.0, 0.0, half.sin()]);
        }
        assert!(forces(&model, &q).iter().all(|f| f.abs() < 1e-12), "straight is an equilibrium");
        let H = hessian(&model, &q);
        (0.5 * (&H + H.transpose())).symmetric_eigenvalues().min()
    };
    let mut errors = Vec::new();
    for n in [12, 24] {
        let (mut low, mut high) = (0.8 * critical, 1.2 * critical);
        assert!(least_eigenvalue(n, low) > 0.0 && least_eigenvalue(n, high) < 0.0, "{n}");
        while high - low > 1e-4 * critical {
            let middle = 0.5 * (low + high);
            if least_eigenvalue(n, middle) > 0.0 { low = middle } else { high = middle }
        }
        errors.push((low / critical - 1.0).abs());
    }
    // Of second order, and the wave has about two segments per radian at the coarse one.
    assert!(errors[0] < 0.1 && errors[1] < 0.35 * errors[0], "{errors:?}");
}

#[test]
fn a_rod_can_be_stress_free_in_its_reference_configuration() {
    let bent = |rest| {
        let mut builder = ModelBuilder::new();
        let mut spec = RodSpec {
            segment_length: 0.1,
            radius: 0.01,
            young: 1e6,
            poisson: 0.3,
            rest,
            ..RodSpec::default()
        };
        let mass = MassProperties::new(1.0, Vector3::zeros(), Matrix3::identity()).unwrap();
        let mut tip = Vector3::zeros();
        for k in 0..5 {
            let rotation =
                UnitQuaternion::from_scaled_axis(Vector3::new(0.2 * f64::from(k), 0.0, 0.0));
            let along = rotation * Vector3::new(0.0, 0.0, 0.1);
            let pose = Isometry3::from_parts(Translation3::from(tip + 0.5 * along), rotation);
            tip += along;
            let body = builder.body(BodySpec { pose, mass: Some(mass), ..BodySpec::default() });
            builder.joint(body, JointSpec::new(JointKind::Free));
            spec.segments.push(body);
        }
        builder.rod(spec);
        let model = builder.build().unwrap();
        let mut data = Data::new(&model);
        kinematics(&model, model.q0(), &mut data);
        model.rods()[0].energy(&data)
    };
    let EI = 1e6 * PI * 0.01_f64.powi(4) / 4.0;
    assert!((bent(RodRest::Straight) - 4.0 * 0.5 * EI / 0.1 * 0.04).abs() <= 1e-12);
    assert!(bent(RodRest::AsBuilt).abs() <= 1e-20);
}

#[test]
fn invalid_numbers_are_rejected_with_their_name() {
    let fault = |change: &dyn Fn(&mut RodSpec)| match rod(3, change) {
        Err(ModelError::Rod { source, .. }) => source,
        other => panic!("{other:?}"),
    };
    assert_eq!(fault(&|spec| spec.segments.clear()), RodError::Empty);
    let number = |error: RodError| match error {
        RodError::Number { field, .. } => field,
        other => panic!("{other:?}"),
    };
    for bad in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        assert_eq!(number(fault(&|spec| spec.radius = bad)), "radius [m]");
        assert_eq!(number(fault(&|spec| spec.young = bad)), "Young's modulus [Pa]");
        assert_eq!(number(fault(&|spec| spec.segment_length = bad)), "segment length [m]");
    }
    for bad in [-1e-9, f64::NAN] {
        assert_eq!(number(fault(&|spec| spec.damping = bad)), "damping [s]");
        assert_eq!(number(fault(&|spec| spec.mass_damping = bad)), "mass damping [1/s]");
    }
    for bad in [-1.0, 0.500_001, f64::NAN] {
        assert_eq!(number(fault(&|spec| spec.poisson = bad)), "Poisson's ratio");
    }
    assert!(rod(3, |spec| spec.poisson = 0.5).is_ok());
    assert!(matches!(fault(&|spec| spec.segments.swap(0, 1)), RodError::Order { .. }));
    let unknown = fault(&|spec| spec.segments[2] = BodyId(99));
    assert!(matches!(unknown, RodError::UnknownBody { found: 99, .. }));
    assert!(matches!(fault(&|spec| spec.segments[0] = BodyId(0)), RodError::NotFree { .. }));
    let own = fault(&|spec| {
        let (body, pose) = (spec.segments[1], Isometry3::identity());
        spec.ends[1] = RodEnd::Clamped { body, pose };
    });
    assert!(matches!(own, RodError::OwnSegment { end: 1, .. }));
    assert!(own.to_string().contains("expected a body that is not one of its segments"));
    let _ = State::new(&rod(3, |_| {}).unwrap());
}
