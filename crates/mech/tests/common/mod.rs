//! Seeded random mechanisms for the tests of this crate.

#![allow(dead_code, non_snake_case, clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use nalgebra::{Isometry3, Matrix3, Translation3, UnitQuaternion, Vector3};
use stiction_mech::{
    BodyId, BodySpec, JointKind, JointSpec, MassProperties, Model, ModelBuilder, State,
};

/// Steele, Lea and Flood's SplitMix64 generator.
pub struct Random(pub u64);

impl Random {
    pub fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number in [-1, 1).
    pub fn number(&mut self) -> f64 {
        (self.bits() >> 11) as f64 / (1u64 << 52) as f64 - 1.0
    }

    pub fn below(&mut self, n: usize) -> usize {
        (self.bits() % n as u64) as usize
    }

    pub fn vector(&mut self) -> Vector3<f64> {
        Vector3::from_fn(|_, _| self.number())
    }

    pub fn numbers(&mut self, n: usize) -> Vec<f64> {
        (0..n).map(|_| self.number()).collect()
    }

    pub fn direction(&mut self) -> Vector3<f64> {
        loop {
            let v = self.vector();
            if v.norm() > 0.2 && v.norm() < 1.0 {
                return v.normalize();
            }
        }
    }

    pub fn pose(&mut self) -> Isometry3<f64> {
        let rotation = UnitQuaternion::from_scaled_axis(3.0 * self.vector());
        Isometry3::from_parts(Translation3::from(0.5 * self.vector()), rotation)
    }
}

/// The inertia of a solid box with random edges and random orientation.
pub fn mass(rng: &mut Random) -> MassProperties {
    let mass = 1.0 + 0.8 * rng.number();
    let edge = Vector3::from_fn(|_, _| 0.3 + 0.2 * rng.number());
    let squared = edge.component_mul(&edge);
    let moments = Vector3::from_fn(|k, _| mass / 12.0 * (squared.sum() - squared[k]));
    let R = UnitQuaternion::from_scaled_axis(rng.vector()).to_rotation_matrix().into_inner();
    let inertia = R * Matrix3::from_diagonal(&moments) * R.transpose();
    MassProperties::new(mass, 0.3 * rng.vector(), inertia).unwrap()
}

/// A random joint of the kind with this index in `JOINTS`.
pub fn kind(rng: &mut Random, index: usize) -> JointKind {
    match index {
        0 => JointKind::Ball,
        1 => JointKind::Free,
        2 => JointKind::Hinge { axis: rng.direction() },
        3 => JointKind::Planar { normal: rng.direction(), x: rng.direction() },
        4 => JointKind::Screw { axis: rng.direction(), pitch: 0.3 * rng.number() },
        5 => JointKind::Slide { axis: rng.direction() },
        _ => {
            let first = rng.direction();
            let second = first.cross(&rng.direction()) + 0.3 * first;
            JointKind::Universal { axes: [first, second] }
        }
    }
}

pub fn joint(rng: &mut Random, kind: JointKind) -> JointSpec {
    JointSpec {
        anchor: 0.2 * rng.vector(),
        armature: 0.05 * rng.number().max(0.0),
        reference: 0.3 * rng.number(),
        ..JointSpec::new(kind)
    }
}

/// One child of the world with one joint of the given kind, and a body welded to it.
pub fn one(rng: &mut Random, index: usize) -> Model {
    let mut builder = ModelBuilder::new();
    let pose = rng.pose();
    let body = builder.body(BodySpec { pose, mass: Some(mass(rng)), ..Default::default() });
    let kind = kind(rng, index);
    let spec = joint(rng, kind);
    builder.joint(body, spec);
    let (pose, mass) = (rng.pose(), Some(mass(rng)));
    builder.body(BodySpec { parent: body, pose, mass, ..Default::default() });
    builder.build().unwrap()
}

/// Several trees that mix all joints, several of them per body, with welded bodies.
/// `scalar_only` leaves out the joints whose coordinates are quaternions.
pub fn mixed(rng: &mut Random, n: usize, scalar_only: bool) -> Model {
    mixed_builder(rng, n, scalar_only).build().unwrap()
}

/// The declarations of [`mixed`].
pub fn mixed_builder(rng: &mut Random, n: usize, scalar_only: bool) -> ModelBuilder {
    let mut builder = ModelBuilder::new();
    builder.gravity(5.0 * rng.vector());
    for id in 1..=n {
        let parent = BodyId(if rng.below(6) == 0 { 0 } else { rng.below(id) });
        let spec = BodySpec {
            parent,
            pose: rng.pose(),
            mass: Some(mass(rng)),
            gravity_compensation: 0.5 * rng.number(),
            ..Default::default()
        };
        let body = builder.body(spec);
        let is_free = !scalar_only && parent.0 == 0 && rng.below(2) == 0;
        if is_free {
            builder.joint(body, JointSpec::new(JointKind::Free));
            continue;
        }
        // Up to three velocities per body, so that none is redundant.
        let mut left = [0, 1, 1, 2, 3][rng.below(5)];
        while left > 0 {
            let index = [0, 2, 3, 4, 5, 6][rng.below(6)];
            let kind = kind(rng, index);
            if kind.nv() > left || (scalar_only && kind == JointKind::Ball) {
                continue;
            }
            left -= kind.nv();
            let spec = joint(rng, kind);
            builder.joint(body, spec);
        }
    }
    builder
}

/// A random state.
pub fn state(rng: &mut Random, model: &Model) -> State {
    let v = rng.numbers(model.nv());
    let mut state = State::new(model);
    stiction_mech::integrate(model, model.q0(), &v, 2.0, &mut state.q);
    state.v = rng.numbers(model.nv());
    state
}

/// Largest difference over the largest entry of either.
pub fn relative(a: &[f64], b: &[f64]) -> f64 {
    assert_eq!(a.len(), b.len());
    let largest = |x: &[f64]| x.iter().fold(0.0, |m: f64, v| m.max(v.abs()));
    let difference: Vec<_> = a.iter().zip(b).map(|(a, b)| a - b).collect();
    assert!(difference.iter().all(|x| x.is_finite()), "{a:?} {b:?}");
    largest(&difference) / largest(a).max(largest(b)).max(f64::MIN_POSITIVE)
}

/// Step of [`rate`].
pub const STEP: f64 = 1e-3;

/// The derivative of `f` at zero by differences over four points: exact to STEP⁴/30 times the fifth
/// derivative, and to ε/STEP times the size of `f`.
pub fn rate(mut f: impl FnMut(f64) -> Vec<f64>) -> Vec<f64> {
    let h = STEP;
    let (a, b, c, d) = (f(-2.0 * h), f(-h), f(h), f(2.0 * h));
    (0..a.len()).map(|k| (8.0 * (c[k] - b[k]) - (d[k] - a[k])) / (12.0 * h)).collect()
}

/// Scales velocities so that their magnitudes sum to [`SPEED`], which bounds all angular speeds.
pub fn slow(v: &mut [f64]) {
    let sum: f64 = v.iter().map(|v| v.abs()).sum();
    v.iter_mut().for_each(|v| *v *= SPEED / sum);
}

/// Sum of the magnitudes of the velocities after [`slow`] [m/s, rad/s].
pub const SPEED: f64 = 2.0;

/// Bound on [`rate`] of positions, velocities and momenta of bodies that move no faster than
/// [`SPEED`], relative to their own size: the k-th derivative has the factor SPEEDᵏ, and sizes along
/// chains of bodies reach some tens.
pub const RATE_TOLERANCE: f64 =
    STEP * STEP * STEP * STEP / 30.0 * (SPEED * SPEED * SPEED * SPEED * SPEED) * 50.0;
