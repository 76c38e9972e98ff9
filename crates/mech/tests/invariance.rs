//! Invariances of the dynamics of random trees with all joints: the pose of the world, the order of
//! the bodies and the units of mass and length.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]
#![allow(non_snake_case)] // matrices keep the capitals of the papers

mod common;

use common::{Random, SPEED, mixed_builder, slow, state};
use nalgebra::{DMatrix, DVector, Isometry3, Point3, Translation3, UnitQuaternion, Vector3};
use proptest::prelude::*;
use proptest::test_runner::RngSeed;
use stiction_mech::*;

/// Bodies per model; with the chances of `mixed_builder`, some trees are chains of several links.
const BODIES: usize = 9;

/// Mass matrix, bias forces and energies of one state.
struct Dynamics {
    /// Mass matrix of all trees.
    mass: DMatrix<f64>,
    /// Bias forces [N, N·m].
    bias: DVector<f64>,
    /// Kinetic energy [J].
    kinetic: f64,
    /// Potential energy [J].
    potential: f64,
    /// Largest distance of a body's origin from the reference point of its tree, plus 1 m, the order
    /// of the extent of a link [m].
    extent: f64,
}

impl Dynamics {
    fn new(model: &Model, state: &State) -> Self {
        let mut data = Data::new(model);
        kinematics(model, &state.q, &mut data);
        velocities(model, &state.v, &mut data);
        bias_forces(model, &state.v, &mut data);
        mass_matrix(model, &mut data);
        let mut mass = DMatrix::zeros(model.nv(), model.nv());
        for tree in model.trees() {
            let (start, n) = (tree.dofs.start, tree.dofs.len());
            let block = DMatrix::from_row_slice(n, n, &data.mass[tree.mass.clone()]);
            mass.view_mut((start, start), (n, n)).copy_from(&block);
        }
        let distance = |tree: usize, body: usize| {
            (data.body_pose[body].translation.vector - data.reference[tree]).norm()
        };
        let trees = model.trees().iter().enumerate();
        let distances = trees.flat_map(|(k, tree)| tree.bodies.clone().map(move |b| (k, b)));
        Self {
            mass,
            bias: DVector::from_column_slice(&data.bias),
            kinetic: kinetic_energy(model, &data, &state.v),
            potential: potential_energy(model, &data, &state.q),
            extent: distances.fold(1.0, |most, (k, b)| f64::max(most, 1.0 + distance(k, b))),
        }
    }

    /// Asserts that `self` and `other` agree to round-off.
    ///
    /// The pose of a link is a product of at most [`BODIES`] poses and joint motions, each of which
    /// rounds fewer than 64 times; its position then has an error of 64 BODIES ε (extent + offset),
    /// where `offset` [m] is the distance from the world's origin. Masses, forces and energies depend
    /// on the positions through their ratio to lengths of order 1 m, and forces are sums of terms no
    /// larger than m (g + ω² extent) extent with ω ≤ SPEED.
    fn assert_close(&self, other: &Self, model: &Model, offset: f64) {
        let extent = self.extent.max(other.extent);
        let bound = 64.0 * BODIES as f64 * f64::EPSILON * (extent + offset);
        let (m, g) = (model.mass(), model.gravity().norm());
        let close = |what: &str, difference: f64, size: f64| {
            assert!(difference <= bound * size, "{what}: {difference} of {size}, bound {bound}");
        };
        close("mass", (&self.mass - &other.mass).amax(), self.mass.amax());
        let force = m * (g + SPEED * SPEED * extent) * extent;
        close("bias", (&self.bias - &other.bias).amax(), force);
        close("kinetic", (self.kinetic - other.kinetic).abs(), m * (SPEED * extent).powi(2));
        close("potential", (self.potential - other.potential).abs(), m * g * (extent + offset));
    }
}

/// A random tree with all joints, and a random state with bounded velocities.
fn case(seed: u64) -> (ModelBuilder, Model, State) {
    let mut rng = Random(seed);
    let builder = mixed_builder(&mut rng, BODIES, false);
    let model = builder.clone().build().unwrap();
    let mut state = state(&mut rng, &model);
    slow(&mut state.v);
    (builder, model, state)
}

fn free_joints(model: &Model) -> impl Iterator<Item = &Joint> {
    model.joints().iter().filter(|joint| joint.spec.kind == JointKind::Free)
}

/// A builder with all bodies, joints and the gravity of another, each changed by a function.
fn rebuilt(
    builder: &ModelBuilder,
    gravity: Vector3<f64>,
    body: impl Fn(BodySpec) -> BodySpec,
    joint: impl Fn(JointSpec) -> JointSpec,
) -> ModelBuilder {
    let declared = builder.declared();
    let mut rebuilt = ModelBuilder::new();
    rebuilt.gravity(gravity);
    declared.bodies[1..].iter().for_each(|spec| {
        rebuilt.body(body(spec.clone()));
    });
    declared.joints.iter().for_each(|(id, spec)| {
        rebuilt.joint(*id, joint(spec.clone()));
    });
    rebuilt
}

/// The state in a world moved by `X`: only free joints measure their coordinates in the world.
fn moved(model: &Model, state: &State, X: &Isometry3<f64>) -> State {
    let mut moved = state.clone();
    for joint in free_joints(model) {
        let (q, v) = (joint.q.start, joint.dofs.start);
        let p = X * Point3::new(state.q[q], state.q[q + 1], state.q[q + 2]);
        let [w, i, j, k] = [3, 4, 5, 6].map(|n| state.q[q + n]);
        let rotation = X.rotation.into_inner() * nalgebra::Quaternion::new(w, i, j, k);
        let linear = X.rotation * Vector3::new(state.v[v], state.v[v + 1], state.v[v + 2]);
        moved.q[q..q + 3].copy_from_slice(p.coords.as_slice());
        moved.q[q + 3..q + 7].copy_from_slice(&[rotation.w, rotation.i, rotation.j, rotation.k]);
        moved.v[v..v + 3].copy_from_slice(linear.as_slice());
    }
    moved
}

/// The velocity transform of a world rotated by `X`: the identity but for the linear velocities of
/// free joints, which have world axes.
fn velocity_transform(model: &Model, X: &Isometry3<f64>) -> DMatrix<f64> {
    let mut T = DMatrix::identity(model.nv(), model.nv());
    for joint in free_joints(model) {
        let start = joint.dofs.start;
        T.view_mut((start, start), (3, 3)).copy_from(X.rotation.to_rotation_matrix().matrix());
    }
    T
}

/// The bodies in a random order in which parents come before children.
fn random_order(rng: &mut Random, bodies: &[BodySpec]) -> Vec<usize> {
    let (mut order, mut left) = (vec![0], (1..bodies.len()).collect::<Vec<_>>());
    while !left.is_empty() {
        let index = rng.below(left.len());
        if order.contains(&bodies[left[index]].parent.0) {
            order.push(left.remove(index));
        }
    }
    order
}

/// The unit factor of each velocity of a joint: `length` for translations, one for rotations.
fn unit_factors(kind: JointKind, length: f64) -> Vec<f64> {
    match kind {
        JointKind::Free => [[length; 3], [1.0; 3]].concat(),
        JointKind::Planar { .. } => vec![length, length, 1.0],
        JointKind::Slide { .. } => vec![length],
        _ => vec![1.0; kind.nv()],
    }
}

/// The joint in units in which masses are multiplied by `mass` and lengths by `length`. Armature and
/// reference are one number for all coordinates of a joint, which a planar joint with coordinates of
/// two units cannot scale: there they are zero.
fn scaled_joint(spec: JointSpec, mass: f64, length: f64) -> JointSpec {
    let mut scaled = JointSpec { anchor: length * spec.anchor, ..spec };
    match &mut scaled.kind {
        JointKind::Slide { .. } => {
            (scaled.armature, scaled.reference) = (mass * spec.armature, length * spec.reference);
        }
        JointKind::Planar { .. } => (scaled.armature, scaled.reference) = (0.0, 0.0),
        kind => {
            if let JointKind::Screw { pitch, .. } = kind {
                *pitch *= length;
            }
            scaled.armature = mass * length * length * spec.armature;
        }
    }
    scaled
}

fn scaled_builder(builder: &ModelBuilder, mass: f64, length: f64) -> ModelBuilder {
    let body = |spec: BodySpec| BodySpec {
        pose: Isometry3::from_parts(
            Translation3::from(length * spec.pose.translation.vector),
            spec.pose.rotation,
        ),
        mass: spec.mass.map(|m| {
            let inertia = (mass * length * length) * m.inertia();
            MassProperties::new(mass * m.mass(), length * m.com(), inertia).unwrap()
        }),
        ..spec
    };
    let gravity = length * builder.declared().gravity;
    rebuilt(builder, gravity, body, |spec| scaled_joint(spec, mass, length))
}

/// The dynamics of a case in scaled units, converted back to the original ones.
fn in_scaled_units(builder: &ModelBuilder, state: &State, mass: f64, length: f64) -> Dynamics {
    let model = scaled_builder(builder, mass, length).build().unwrap();
    let mut scaled = state.clone();
    let mut units = Vec::new();
    for joint in model.joints() {
        let factors = unit_factors(joint.spec.kind, length);
        // Translations come first among coordinates and velocities of a joint.
        for (k, factor) in factors.iter().enumerate() {
            scaled.v[joint.dofs.start + k] *= factor;
            if *factor != 1.0 {
                scaled.q[joint.q.start + k] *= factor;
            }
        }
        units.extend(factors);
    }
    let energy = mass * length * length;
    let found = Dynamics::new(&model, &scaled);
    let nv = model.nv();
    Dynamics {
        // T = ½ vᵀ M v scales as an energy.
        mass: DMatrix::from_fn(nv, nv, |i, j| found.mass[(i, j)] / energy * (units[i] * units[j])),
        bias: DVector::from_fn(nv, |i, _| found.bias[i] / energy * units[i]),
        kinetic: found.kinetic / energy,
        potential: found.potential / energy,
        extent: 1.0,
    }
}

fn vector(size: f64) -> impl Strategy<Value = Vector3<f64>> {
    prop::array::uniform3(-size..size).prop_map(Vector3::from)
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 64,
        failure_persistence: None,
        rng_seed: RngSeed::Fixed(5),
        ..Default::default()
    })]

    #[test]
    fn moving_the_world_changes_nothing_but_the_height(
        seed: u64,
        axis in vector(3.0),
        shift in vector(10.0),
    ) {
        let (builder, model, state) = case(seed);
        let rotation = UnitQuaternion::from_scaled_axis(axis);
        let X = Isometry3::from_parts(Translation3::from(shift), rotation);
        let gravity = rotation * model.gravity();
        let root = |spec: BodySpec| match spec.parent {
            BodyId::WORLD => BodySpec { pose: X * spec.pose, ..spec },
            _ => spec,
        };
        let moved_model = rebuilt(&builder, gravity, root, |spec| spec).build().unwrap();
        let found = Dynamics::new(&moved_model, &moved(&model, &state, &X));

        // Momenta and forces of the linear velocities of free joints rotate with the world; the
        // weight that is not compensated gains the energy of the shift.
        let expected = Dynamics::new(&model, &state);
        let T = velocity_transform(&model, &X);
        let weight: f64 = model.links().iter().map(|link| link.mass - link.compensated_mass).sum();
        let expected = Dynamics {
            mass: &T * expected.mass * T.transpose(),
            bias: &T * expected.bias,
            potential: expected.potential - weight * gravity.dot(&shift),
            ..expected
        };
        found.assert_close(&expected, &model, shift.norm());
    }

    #[test]
    fn reordering_siblings_permutes_the_dynamics(seed: u64) {
        let (builder, model, state) = case(seed);
        let declared = builder.declared();
        let order = random_order(&mut Random(!seed), declared.bodies);
        let mut new_id = vec![BodyId::WORLD; order.len()];
        let mut reordered = ModelBuilder::new();
        reordered.gravity(declared.gravity);
        for &body in &order[1..] {
            let spec = declared.bodies[body].clone();
            let parent = new_id[spec.parent.0];
            new_id[body] = reordered.body(BodySpec { parent, ..spec });
        }
        let joints: Vec<JointId> = declared
            .joints
            .iter()
            .map(|(body, spec)| reordered.joint(new_id[body.0], spec.clone()))
            .collect();
        let other = reordered.build().unwrap();

        // Coordinates of the reordered model, and the original index of each of its velocities.
        let mut other_state = State::new(&other);
        let mut original = vec![0; model.nv()];
        for (id, &joint) in joints.iter().enumerate() {
            let from = &model.joints()[model.joint_of_builder(JointId(id)).unwrap().0];
            let to = &other.joints()[other.joint_of_builder(joint).unwrap().0];
            other_state.q[to.q.clone()].copy_from_slice(&state.q[from.q.clone()]);
            other_state.v[to.dofs.clone()].copy_from_slice(&state.v[from.dofs.clone()]);
            to.dofs.clone().zip(from.dofs.clone()).for_each(|(to, from)| original[to] = from);
        }
        let expected = Dynamics::new(&model, &state);
        let nv = model.nv();
        let expected = Dynamics {
            mass: DMatrix::from_fn(nv, nv, |i, j| expected.mass[(original[i], original[j])]),
            bias: DVector::from_fn(nv, |i, _| expected.bias[original[i]]),
            ..expected
        };
        Dynamics::new(&other, &other_state).assert_close(&expected, &model, 0.0);
    }

    #[test]
    fn the_dynamics_scale_as_their_units_say(
        seed: u64,
        mass in -3.0..3.0,
        length in -2.0..2.0,
    ) {
        let (builder, _, state) = case(seed);
        // Without armature and reference of planar joints.
        let builder = scaled_builder(&builder, 1.0, 1.0);
        let model = builder.clone().build().unwrap();
        let expected = Dynamics::new(&model, &state);
        let scaled = in_scaled_units(&builder, &state, f64::exp(mass), f64::exp(length));
        scaled.assert_close(&expected, &model, 0.0);

        // Powers of two scale every operand and every sum without rounding.
        let (mass, length) = (f64::exp2(mass.round()), f64::exp2(length.round()));
        let scaled = in_scaled_units(&builder, &state, mass, length);
        prop_assert_eq!(scaled.mass, expected.mass);
        prop_assert_eq!(scaled.bias, expected.bias);
        prop_assert_eq!(scaled.kinetic, expected.kinetic);
        prop_assert_eq!(scaled.potential, expected.potential);
    }
}
