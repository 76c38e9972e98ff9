//! Prints the time of each stage of the dynamics: an arm with seven hinges, and free bodies.
//!
//! `cargo run --release -p stiction-mech --example arm_timing`

use std::hint::black_box;
use std::time::Instant;

use nalgebra::{Isometry3, Matrix3, Translation3, UnitQuaternion, Vector3};
use stiction_mech::*;

const N_JOINTS: usize = 7;
const N_FREE: usize = 1000;
const ROUNDS: usize = 20;

fn link_mass(com: Vector3<f64>) -> Result<MassProperties, InertiaError> {
    MassProperties::new(2.0, com, Matrix3::from_diagonal(&Vector3::new(0.02, 0.02, 0.01)))
}

fn arm() -> Result<Model, Box<dyn std::error::Error>> {
    let mut builder = ModelBuilder::new();
    let mut parent = BodyId::WORLD;
    for k in 0..N_JOINTS {
        let turn = if k % 2 == 0 { 1.0 } else { -1.0 } * std::f64::consts::FRAC_PI_2;
        let pose = Isometry3::from_parts(
            Translation3::new(0.0, 0.0, 0.3),
            UnitQuaternion::from_scaled_axis(turn * Vector3::x()),
        );
        let mass = Some(link_mass(Vector3::new(0.0, 0.02, 0.1))?);
        parent = builder.body(BodySpec { parent, pose, mass, ..Default::default() });
        let kind = JointKind::Hinge { axis: Vector3::z() };
        builder.joint(parent, JointSpec { armature: 0.1, ..JointSpec::new(kind) });
    }
    Ok(builder.build()?)
}

fn clutter() -> Result<Model, Box<dyn std::error::Error>> {
    let mut builder = ModelBuilder::new();
    for k in 0..N_FREE {
        let pose = Isometry3::translation(k as f64, 0.0, 1.0);
        let mass = Some(link_mass(Vector3::zeros())?);
        let body = builder.body(BodySpec { pose, mass, ..Default::default() });
        builder.joint(body, JointSpec::new(JointKind::Free));
    }
    Ok(builder.build()?)
}

/// Smallest mean time of a call [ns] over some rounds.
fn time(calls: usize, mut f: impl FnMut()) -> f64 {
    let mut best = f64::INFINITY;
    for _ in 0..ROUNDS {
        let start = Instant::now();
        for _ in 0..calls {
            f();
        }
        best = best.min(start.elapsed().as_secs_f64() * 1e9 / calls as f64);
    }
    best
}

fn report(name: &str, model: &Model, calls: usize) {
    let mut data = Data::new(model);
    let mut q = model.q0().to_vec();
    let v: Vec<_> = (0..model.nv()).map(|k| 0.1 * ((k % 5) as f64 - 2.0)).collect();
    let mut next = q.clone();
    integrate(model, &q.clone(), &v, 1.0, &mut q);
    let mut x = v.clone();
    let tau = vec![0.0; model.nv()];
    println!("{name}: nv = {}", model.nv());
    let mut total = 0.0;
    let line = |stage: &str, ns: f64| {
        println!("  {stage:<12} {ns:>10.0} ns");
        ns
    };
    total += line("kinematics", time(calls, || kinematics(model, black_box(&q), &mut data)));
    total += line("velocities", time(calls, || velocities(model, black_box(&v), &mut data)));
    total += line("bias", time(calls, || bias_forces(model, black_box(&v), &mut data)));
    let (mut forces, input) = (Forces::new(model), Input::new(model));
    total += line(
        "forces",
        time(calls, || {
            black_box(forces.evaluate(model, (black_box(&q), &v), &data, &input, 1e-3).is_ok());
        }),
    );
    total += line("mass", time(calls, || mass_matrix(model, black_box(&mut data))));
    total += line(
        "factor",
        time(calls, || {
            black_box(factor_mass(model, black_box(&mut data)).is_ok());
        }),
    );
    total += line(
        "solve",
        time(calls, || {
            x.copy_from_slice(&data.bias);
            solve_mass(model, &data, black_box(&mut x));
        }),
    );
    total += line(
        "integrate",
        time(calls, || integrate(model, black_box(&q), &v, 1e-3, black_box(&mut next))),
    );
    line("sum", total);
    line(
        "(ABA, alone)",
        time(calls, || {
            forward_dynamics_aba(model, &mut data, black_box(&q), &v, &tau, black_box(&mut x))
        }),
    );
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    report("arm", &arm()?, 20_000);
    report("free bodies", &clutter()?, 20);
    Ok(())
}
