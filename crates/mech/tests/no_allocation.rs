//! No function of the dynamics allocates once `Data` exists.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]
#![allow(non_snake_case)] // matrices keep the capitals of the papers

mod common;

use common::{Random, mixed, state};
use nalgebra::Vector3;
use stiction_mech::*;
use stiction_testkit::{CountingAllocator, allocations};

#[global_allocator]
static ALLOCATOR: CountingAllocator = CountingAllocator;

#[test]
fn soft_bodies_do_not_allocate() {
    let corners = vec![Vector3::zeros(), Vector3::x(), Vector3::y(), Vector3::z(), -Vector3::x()];
    let tetrahedra = vec![[0, 1, 2, 3], [4, 0, 2, 3]];
    for entry in MATERIALS {
        let parameters = &[2.0, 0.3, 9.0][..entry.parameters.len()];
        let material = Material::from_name(entry.name, parameters).unwrap();
        let spec = SoftSpec::new(corners.clone(), tetrahedra.clone(), material, 1.0);
        let body =
            SoftBody::new(SoftSpec { stiffness_damping: 0.1, fixed: vec![2], ..spec }).unwrap();
        let x: Vec<_> = corners.iter().map(|x| Vector3::new(x.y, x.x, -1.2 * x.z)).collect();
        let v = vec![Vector3::new(0.1, 0.2, 0.3); x.len()];
        let mut work = SoftWorkspace::new(&body);
        let before = allocations();
        body.update_rotations(&x, &mut work);
        body.forces(&x, &mut work);
        body.stiffness(&x, &mut work);
        body.exact_stiffness(&x, &mut work);
        let energy = body.energy(&x) + body.kinetic_energy(&v);
        let (linear, angular) = body.momentum(&x, &v, Vector3::zeros());
        assert_eq!(allocations(), before);
        assert!((energy + linear.norm() + angular.norm()).is_finite());
    }
}

#[test]
fn the_dynamics_do_not_allocate() {
    let mut rng = Random(1);
    let model = mixed(&mut rng, 12, false);
    let state = state(&mut rng, &model);
    let (mut data, nv) = (Data::new(&model), model.nv());
    let (mut out, mut q) = (vec![0.0; nv], vec![0.0; model.nq()]);
    let (mut jacobian_rows, tau) = (vec![0.0; 6 * nv], vec![0.0; nv]);
    let before = allocations();
    kinematics(&model, &state.q, &mut data);
    velocities(&model, &state.v, &mut data);
    bias_forces(&model, &state.v, &mut data);
    mass_matrix(&model, &mut data);
    let factored = factor_mass(&model, &mut data);
    solve_mass(&model, &data, &mut out);
    gravity_compensation(&model, &data, &mut out);
    inverse_dynamics(&model, &mut data, &state.v, &tau, &mut out);
    forward_dynamics_aba(&model, &mut data, &state.q, &state.v, &tau, &mut out);
    jacobian(&model, &data, BodyId(5), Vector3::zeros(), &mut jacobian_rows);
    let energy =
        kinetic_energy(&model, &data, &state.v) + potential_energy(&model, &data, &state.q);
    integrate(&model, &state.q, &state.v, 0.1, &mut q);
    difference(&model, &state.q, &q, &mut out);
    let checked = state.check(&model);
    assert_eq!(allocations(), before);
    assert!(factored.is_ok() && checked.is_ok() && energy.is_finite());
}
