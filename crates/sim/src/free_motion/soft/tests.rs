//! The matrix is the slope of the momentum balance, and free motion satisfies it.

use super::*;
use stiction_math::random::SplitMix64;
use stiction_mech::SoftWorkspace;
use stiction_mech::{Lumping, Material, ModelBuilder, SoftSpec};

/// A box of 2×2×2 cubes of 10 cm, cut into tetrahedra, its lowest vertices fixed.
fn model(material: &str) -> Model {
    let mesh = stiction_geom::TetMesh::cuboid(Vector3::repeat(0.2), [2; 3]).unwrap();
    let material = Material::from_name(material, &[1e4, 0.3]).unwrap();
    let fixed = (0..27).filter(|v| mesh.vertices()[*v as usize].z < -0.05).collect();
    let spec = SoftSpec {
        mass_damping: 0.5,
        stiffness_damping: 0.02,
        lumping: Lumping::Consistent,
        fixed,
        ..SoftSpec::new(mesh.vertices().to_vec(), mesh.tetrahedra().to_vec(), material, 1e3)
    };
    let mut builder = ModelBuilder::new();
    builder.soft(spec);
    builder.build().unwrap()
}

/// Pulled and shaken: under tension no stiffness has to be clamped to stay positive.
fn state(model: &Model, rng: &mut SplitMix64) -> State {
    let mut state = State::new(model);
    let still = |v: usize| model.softs()[0].is_fixed()[v];
    for v in (0..model.nodes()).filter(|v| !still(*v)) {
        let pull = Vector3::z() * (0.2 * (state.x[v].z + 0.1));
        state.x[v] += pull + Vector3::from_fn(|_, _| rng.uniform(-2e-3, 2e-3));
        state.x_dot[v] = Vector3::from_fn(|_, _| rng.uniform(-0.2, 0.2));
    }
    state
}

/// m(u) = A u − b where it is linearised at u.
fn imbalance(motion: &mut SoftMotion, model: &Model, state: &State, u: &[f64]) -> Vec<f64> {
    assert!(motion.linearise(model, 0, state, u));
    let mut m = vec![0.0; u.len()];
    motion.matrix(0).mul(u, &mut m);
    m.iter_mut().zip(motion.momentum(0)).for_each(|(m, b)| *m -= b);
    m
}

#[test]
fn the_matrix_is_the_slope_of_the_imbalance_of_momentum() {
    let mut rng = SplitMix64::new(5);
    for material in ["linear", "linear-corotated", "corotational", "neo-hookean"] {
        for scheme in [Scheme::Refined, Scheme::Midpoint, Scheme::MidVelocity] {
            let model = model(material);
            let state = state(&model, &mut rng);
            let mut motion = SoftMotion::new(&model, scheme, 0.01);
            motion.compute(&model, &state);
            let n = motion.momentum(0).len();
            assert_eq!(n, 3 * 18);
            let u: Vec<f64> = (0..n).map(|_| rng.uniform(-0.2, 0.2)).collect();
            let d: Vec<f64> = (0..n).map(|_| rng.uniform(-1.0, 1.0)).collect();
            // Central differences: truncation of order ε², round-off of order 1/ε.
            let epsilon = 1e-5;
            let mut at = |sign: f64| {
                let u: Vec<f64> = u.iter().zip(&d).map(|(u, d)| u + sign * epsilon * d).collect();
                imbalance(&mut motion, &model, &state, &u)
            };
            let (plus, minus) = (at(1.0), at(-1.0));
            imbalance(&mut motion, &model, &state, &u);
            let mut slope = vec![0.0; n];
            motion.matrix(0).mul(&d, &mut slope);
            let size = slope.iter().fold(0.0_f64, |most, x| most.max(x.abs()));
            for k in 0..n {
                let found = (plus[k] - minus[k]) / (2.0 * epsilon);
                let error = (found - slope[k]).abs();
                assert!(error <= 1e-6 * size, "{material} {scheme:?}: {found} {}", slope[k]);
            }
        }
    }
}

#[test]
fn free_motion_balances_momentum_also_where_forces_are_not_linear() {
    let mut rng = SplitMix64::new(6);
    for material in ["linear-corotated", "corotational", "neo-hookean"] {
        let model = model(material);
        let state = state(&model, &mut rng);
        let mut motion = SoftMotion::new(&model, Scheme::Implicit, 0.01);
        motion.compute(&model, &state);
        let mut u = vec![0.0; motion.momentum(0).len()];
        assert!(motion.solve(&model, 0, &state, &mut u) && !motion.is_unresolved());
        let left = imbalance(&mut motion, &model, &state, &u);
        let size = motion.momentum(0).iter().fold(0.0_f64, |most, b| most.max(b.abs()));
        assert!(left.iter().all(|m| m.abs() <= 1e-9 * size), "{material}");
    }
}

/// [Han23, Eq. (8)], with forces evaluated again at q^θ(v), against the linear system.
#[test]
fn a_step_leaves_no_residual_of_momentum_in_every_scheme() {
    let (mut rng, h) = (SplitMix64::new(7), 0.01);
    let gravity = ModelBuilder::new().build().unwrap().gravity();
    for (scheme, theta, mean) in [
        (Scheme::Implicit, 1.0, false),
        (Scheme::Midpoint, 0.5, false),
        (Scheme::MidVelocity, 0.5, true),
    ] {
        let model = model("linear-corotated");
        let (body, state) = (&model.softs()[0], state(&model, &mut rng));
        let mut motion = SoftMotion::new(&model, scheme, h);
        motion.compute(&model, &state);
        let mut u = vec![0.0; motion.momentum(0).len()];
        assert!(motion.solve(&model, 0, &state, &mut u));
        // The velocity at the end, of all vertices.
        let mut v = vec![Vector3::zeros(); model.nodes()];
        for (vertex, u) in motion.free_vertices(0).iter().zip(u.chunks_exact(3)) {
            let (k, u) = (*vertex as usize, Vector3::from_column_slice(u));
            v[k] = if mean { 2.0 * u - state.x_dot[k] } else { u };
        }
        let at = |k: usize| theta * v[k] + (1.0 - theta) * state.x_dot[k];
        let mut work = SoftWorkspace::new(body);
        body.update_rotations(&state.x, &mut work);
        body.stiffness(&state.x, &mut work);
        let q: Vec<_> = (0..v.len()).map(|k| state.x[k] + theta * h * at(k)).collect();
        body.forces(&q, &mut work);
        let times = |matrix: &Symmetric, x: &dyn Fn(usize) -> Vector3<f64>| {
            let x: Vec<f64> = (0..v.len()).flat_map(|k| x(k).data.0[0]).collect();
            let mut out = vec![0.0; x.len()];
            matrix.mul(&x, &mut out);
            out
        };
        let change = times(body.mass(), &|k| v[k] - state.x_dot[k]);
        let pull = times(body.mass(), &|k| gravity - body.spec.mass_damping * at(k));
        let damping = times(&work.stiffness, &|k| body.spec.stiffness_damping * at(k));
        for k in motion.free_vertices(0).iter().flat_map(|v| 3 * v..3 * v + 3) {
            let k = k as usize;
            let impulse = h * (work.force[k / 3][k % 3] + pull[k] - damping[k]);
            // Round-off of a factorization, times impulses of 0.1 N·s that cancel.
            let error = change[k] - impulse;
            assert!(error.abs() <= 1e-12, "{scheme:?}: {error}");
        }
    }
}

#[test]
fn the_mid_velocity_and_the_midpoint_rule_are_one_motion() {
    let mut rng = SplitMix64::new(8);
    let model = model("linear-corotated");
    let state = state(&model, &mut rng);
    let [end, mean] = [Scheme::Midpoint, Scheme::MidVelocity].map(|scheme| {
        let mut motion = SoftMotion::new(&model, scheme, 0.01);
        motion.compute(&model, &state);
        let mut u = vec![0.0; motion.momentum(0).len()];
        assert!(motion.solve(&model, 0, &state, &mut u));
        let vertices = motion.free_vertices(0).to_vec();
        (vertices, u)
    });
    let size = end.1.iter().fold(0.0_f64, |most, u| most.max(u.abs()));
    for (k, vertex) in end.0.iter().enumerate() {
        let v0 = state.x_dot[*vertex as usize];
        for axis in 0..3 {
            let (end, mean) = (end.1[3 * k + axis], mean.1[3 * k + axis]);
            assert!((2.0 * mean - v0[axis] - end).abs() <= 1e-12 * size);
        }
    }
}

#[test]
fn the_slope_along_a_way_is_that_of_the_imbalance_of_momentum() {
    let mut rng = SplitMix64::new(9);
    let model = model("neo-hookean");
    let state = state(&model, &mut rng);
    let mut motion = SoftMotion::new(&model, Scheme::Implicit, 0.01);
    motion.compute(&model, &state);
    let n = motion.momentum(0).len();
    let mut draw = || (0..n).map(|_| rng.uniform(-0.2, 0.2)).collect::<Vec<f64>>();
    let (at, solution) = (draw(), draw());
    let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
    let way: Vec<f64> = solution.iter().zip(&at).map(|(u, at)| u - at).collect();
    let before = imbalance(&mut motion, &model, &state, &at);
    // A u − b at the solution, linearised where it begins: the impulses that it implies.
    let mut impulses = vec![0.0; n];
    motion.matrix(0).mul(&solution, &mut impulses);
    impulses.iter_mut().zip(motion.momentum(0)).for_each(|(i, b)| *i -= b);
    let [first, last] = motion.slope(&model, 0, &state, (&at, &solution), 0.4);
    let expected = dot(&way, &before) - dot(&way, &impulses);
    assert!((first - expected).abs() <= 1e-10 * expected.abs(), "{first} {expected}");
    let there: Vec<f64> = at.iter().zip(&way).map(|(at, d)| at + 0.4 * d).collect();
    let after = imbalance(&mut motion, &model, &state, &there);
    let expected = dot(&way, &after) - dot(&way, &impulses);
    assert!((last - expected).abs() <= 1e-10 * first.abs(), "{last} {expected}");
}

#[test]
fn a_sample_gives_the_compliance_of_all_vertices_approximately() {
    let model = model("linear-corotated");
    let mut motion = SoftMotion::new(&model, Scheme::Refined, 0.01);
    let exact = motion.node_compliance(0).to_vec();
    motion.bodies[0].estimate_node_compliance(0);
    // Vertices of edges and corners are more compliant than those inside.
    for (found, exact) in motion.node_compliance(0).iter().zip(&exact) {
        assert!((0.3..3.0).contains(&(found / exact)), "{found} against {exact}");
    }
}
