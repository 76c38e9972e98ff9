//! The schemes `euler` and `implicit-fast`: one step is MuJoCo's formula, computed by another route.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]
#![allow(non_snake_case)] // matrices keep the capitals of the papers

use nalgebra::{DMatrix, DVector, Isometry3, Matrix3, Vector3};
use stiction_math::random::SplitMix64;
use stiction_mech::*;
use stiction_sim::{Scheme, Settings, Simulation, WorldBuilder};

/// Time step [s].
const H: f64 = 0.004;

fn mass(rng: &mut SplitMix64) -> Option<MassProperties> {
    let com = Vector3::from_fn(|_, _| rng.uniform(-0.1, 0.1));
    let moments = Vector3::from_fn(|_, _| rng.uniform(0.02, 0.03));
    MassProperties::new(rng.uniform(0.5, 2.0), com, Matrix3::from_diagonal(&moments)).ok()
}

/// A branched arm with springs, dampers, tendons and servos, some at their limits, beside two free
/// bodies, one of them off its centre of mass.
fn world(rng: &mut SplitMix64) -> WorldBuilder {
    let mut builder = WorldBuilder::new();
    let b = &mut builder.mechanism;
    let at = |x, y, z| Isometry3::translation(x, y, z);
    let base = b.body(BodySpec { pose: at(0.0, 0.0, 1.0), mass: mass(rng), ..Default::default() });
    let first = JointSpec { damping: 0.3, armature: 0.02, stiffness: 2.0, ..hinge(Vector3::y()) };
    let first = b.joint(base, first);
    let range = Some((-0.4, 0.5));
    let mut joints = vec![first];
    for (y, kind) in [(0.2, hinge(Vector3::x())), (-0.2, slide(Vector3::z()))] {
        let pose = at(0.3, y, 0.0);
        let body = b.body(BodySpec { parent: base, pose, mass: mass(rng), ..Default::default() });
        let spec = JointSpec { damping: 0.5, actuator_force_range: range, ..kind };
        joints.push(b.joint(body, spec));
    }
    let ball = b.body(BodySpec { parent: base, mass: mass(rng), ..Default::default() });
    b.joint(ball, JointSpec { damping: 0.05, stiffness: 0.7, ..JointSpec::new(JointKind::Ball) });
    for x in [1.0, 2.0] {
        let mut mass = mass(rng);
        if x == 2.0 {
            mass = mass
                .and_then(|m| MassProperties::new(m.mass(), Vector3::zeros(), m.inertia()).ok());
        }
        let body = b.body(BodySpec { pose: at(x, 0.0, 0.0), mass, ..Default::default() });
        b.joint(body, JointSpec::new(JointKind::Free));
    }
    let path = TendonPath::Fixed(joints.iter().copied().zip([0.5, -0.7, 0.3]).collect());
    let sum = TendonSpec { stiffness: 5.0, damping: 0.8, ..TendonSpec::new("sum", path) };
    let sum = b.tendon(sum);
    let on = Transmission::Joint;
    for spec in [
        ActuatorSpec { gear: 2.0, ..ActuatorSpec::motor("motor", on(joints[0])) },
        ActuatorSpec { gear: 1.5, ..ActuatorSpec::position("place", on(joints[1]), 6.0, 0.8) },
        ActuatorSpec::velocity("rate", on(joints[2]), 3.0),
        ActuatorSpec {
            force_range: Some((-0.1, 0.1)),
            ..ActuatorSpec::position("weak", Transmission::Tendon(sum), 20.0, 2.0)
        },
        ActuatorSpec {
            law: ActuatorLaw::Affine { gain: 1.0, bias: [0.1, -0.2, 0.3] },
            ..ActuatorSpec::motor("feeding", on(joints[0]))
        },
    ] {
        b.actuator(spec);
    }
    builder
}

fn hinge(axis: Vector3<f64>) -> JointSpec {
    JointSpec::new(JointKind::Hinge { axis })
}

fn slide(axis: Vector3<f64>) -> JointSpec {
    JointSpec::new(JointKind::Slide { axis })
}

/// All forces at a state: f = τ − bias.
fn forces(model: &Model, state: &State, input: &Input) -> (DVector<f64>, Forces, Data) {
    let mut data = Data::new(model);
    kinematics(model, &state.q, &mut data);
    velocities(model, &state.v, &mut data);
    bias_forces(model, &state.v, &mut data);
    mass_matrix(model, &mut data);
    let mut forces = Forces::new(model);
    forces.evaluate(model, (&state.q, &state.v), &data, input, H).unwrap();
    let mut f: Vec<f64> = data.bias.iter().map(|bias| -bias).collect();
    forces.add_total(&mut f);
    (DVector::from_vec(f), forces, data)
}

/// The mass matrix of all trees.
fn dense_mass(model: &Model, data: &Data) -> DMatrix<f64> {
    let mut M = DMatrix::zeros(model.nv(), model.nv());
    for (index, tree) in model.trees().iter().enumerate() {
        let (n, start) = (tree.dofs.len(), tree.dofs.start);
        let block = DMatrix::from_row_slice(n, n, &data.mass[model.mass_range(index)]);
        M.view_mut((start, start), (n, n)).copy_from(&block);
    }
    M
}

/// −∂f/∂v by central differences, which are exact up to round-off where f is quadratic: of all
/// forces, or of the damping of joints alone.
fn damping(model: &Model, state: &State, input: &Input, scheme: Scheme) -> DMatrix<f64> {
    let nv = model.nv();
    let mut D = DMatrix::zeros(nv, nv);
    for joint in model.joints() {
        joint.dofs.clone().for_each(|dof| D[(dof, dof)] = joint.spec.damping);
    }
    if scheme == Scheme::Euler {
        return D;
    }
    let at = |column: usize, change: f64| {
        let mut state = state.clone();
        state.v[column] += change;
        let (f, _, data) = forces(model, &state, input);
        let bias = DVector::from_column_slice(&data.bias);
        (f, bias)
    };
    for column in 0..nv {
        // Small enough that no force reaches or leaves a limit, large for round-off.
        let ((after, bias_after), (before, bias_before)) = (at(column, 1e-3), at(column, -1e-3));
        let tree = model.trees().iter().find(|tree| tree.dofs.contains(&column)).unwrap();
        for row in tree.dofs.clone() {
            let mut slope = (after[row] - before[row]) / 2e-3;
            if !tree.single {
                slope += (bias_after[row] - bias_before[row]) / 2e-3;
            }
            D[(row, column)] = -slope;
        }
    }
    // Forces between branches stay out.
    for tree in model.trees() {
        let start = tree.dofs.start;
        let is_above = |i: usize, j: usize| {
            let mut at = Some(i);
            while let Some(dof) = at {
                if dof == j {
                    return true;
                }
                at = model.dof_parents()[dof].map(|parent| start + parent as usize);
            }
            false
        };
        for i in tree.dofs.clone() {
            for j in tree.dofs.clone() {
                if !is_above(i, j) && !is_above(j, i) {
                    D[(i, j)] = 0.0;
                }
            }
        }
    }
    D
}

#[test]
fn a_step_is_the_linear_solve_of_its_formula() {
    let mut rng = SplitMix64::new(3);
    for scheme in [Scheme::Euler, Scheme::ImplicitFast] {
        let settings = Settings { scheme, time_step: H, ..Settings::default() };
        let mut simulation = Simulation::new(world(&mut rng).build().unwrap(), settings).unwrap();
        let world = simulation.world().clone();
        let model = world.model();
        let mut saturated = 0;
        for _ in 0..20 {
            let state = simulation.state_mut();
            state.v.iter_mut().for_each(|v| *v = rng.uniform(-2.0, 2.0));
            let jump: Vec<f64> = (0..model.nv()).map(|_| rng.uniform(-0.5, 0.5)).collect();
            integrate(model, &state.q.clone(), &jump, 1.0, &mut state.q);
            let controls = &mut simulation.input_mut().control;
            controls.iter_mut().for_each(|u| *u = rng.uniform(-0.5, 0.5));
            let (before, input) = (simulation.state().clone(), simulation.input().clone());

            let (f, evaluated, data) = forces(model, &before, &input);
            saturated += usize::from(evaluated.actuation[1].abs() >= 0.4);
            let A = dense_mass(model, &data) + H * damping(model, &before, &input, scheme);
            let change = H * A.lu().solve(&f).unwrap();
            let report = simulation.step().unwrap();
            assert_eq!(report.rows, 0, "servos are forces in this scheme");
            let after = simulation.state();
            let mut q = before.q.clone();
            integrate(model, &before.q, &after.v, H, &mut q);
            assert_eq!(after.q, q);
            for dof in 0..model.nv() {
                let expected = before.v[dof] + change[dof];
                // Accelerations are below 1e3; differences of forces below 1e2 over 2e-3 leave
                // 1e-11 in D, and H² times as much in the velocity, beside round-off.
                let error = (after.v[dof] - expected).abs();
                assert!(error <= 1e-11, "{} velocity {dof}: {error:e}", scheme.name());
            }
        }
        assert!(saturated > 0, "limits must be met for the test to say anything");
    }
}
