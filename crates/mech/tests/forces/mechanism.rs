//! Seeded random trees for tendons and actuators, and derivatives by finite differences.

use nalgebra::{Isometry3, Matrix3, Vector3};
use stiction_mech::{
    BodyId, BodySpec, Data, Forces, Input, JointKind, JointSpec, MassProperties, Model,
    ModelBuilder, State, integrate, kinematics, velocities,
};

/// SplitMix64.
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

    /// A number in (0.5, 1.5).
    pub fn positive(&mut self) -> f64 {
        1.0 + 0.5 * self.number()
    }

    pub fn below(&mut self, n: usize) -> usize {
        (self.bits() % n as u64) as usize
    }

    pub fn vector(&mut self) -> Vector3<f64> {
        Vector3::from_fn(|_, _| self.number())
    }

    pub fn pose(&mut self) -> Isometry3<f64> {
        Isometry3::new(self.vector(), 2.0 * self.vector())
    }
}

pub fn mass() -> Option<MassProperties> {
    let com = Vector3::new(0.1, -0.2, 0.05);
    Some(MassProperties::new(1.5, com, 0.1 * Matrix3::identity()).unwrap())
}

/// A joint kind, all in turn; those of several velocities only if `scalar` is false.
fn kind(rng: &mut Random, turn: usize, scalar: bool) -> JointKind {
    let axis = rng.vector();
    match turn % if scalar { 3 } else { 6 } {
        0 => JointKind::Hinge { axis },
        1 => JointKind::Slide { axis },
        2 => JointKind::Screw { axis, pitch: 0.2 },
        3 => JointKind::Ball,
        4 => JointKind::planar(axis),
        _ => JointKind::Universal { axes: [axis, axis.cross(&rng.vector())] },
    }
}

/// Two trees of `n` bodies in all, of every joint, with `edit` applied to each joint.
pub fn tree(
    rng: &mut Random,
    n: usize,
    scalar: bool,
    mut edit: impl FnMut(&mut Random, &mut JointSpec),
) -> ModelBuilder {
    let mut builder = ModelBuilder::new();
    builder.gravity(Vector3::zeros());
    for id in 1..=n {
        // The second tree begins in the middle.
        let first = if id > n / 2 { n / 2 + 1 } else { 1 };
        let parent = BodyId(if id == first { 0 } else { first + rng.below(id - first) });
        let pose = rng.pose();
        let body = builder.body(BodySpec { parent, pose, mass: mass(), ..Default::default() });
        let is_free = !scalar && id == n / 2 + 1;
        let kind = if is_free { JointKind::Free } else { kind(rng, id, scalar) };
        let anchor = rng.vector();
        let mut spec = JointSpec { anchor, ..JointSpec::new(kind) };
        edit(rng, &mut spec);
        builder.joint(body, spec);
    }
    builder
}

/// A model with all arrays needed to evaluate its forces.
pub struct Scene {
    pub model: Model,
    pub state: State,
    pub data: Data,
    pub input: Input,
    pub forces: Forces,
}

impl Scene {
    pub fn new(builder: ModelBuilder) -> Self {
        let model = builder.build().unwrap();
        let (state, data) = (State::new(&model), Data::new(&model));
        let (input, forces) = (Input::new(&model), Forces::new(&model));
        Self { model, state, data, input, forces }
    }

    /// Moves to a random state and chooses random controls.
    pub fn shuffle(&mut self, rng: &mut Random) -> &mut Self {
        let move_by: Vec<f64> = (0..self.model.nv()).map(|_| rng.number()).collect();
        let from = self.model.q0().to_vec();
        integrate(&self.model, &from, &move_by, 1.0, &mut self.state.q);
        self.state.v.iter_mut().for_each(|v| *v = rng.number());
        self.input.control.iter_mut().for_each(|u| *u = rng.number());
        self
    }

    pub fn evaluate(&mut self) -> &Forces {
        self.evaluate_within(0.0)
    }

    pub fn evaluate_within(&mut self, time_step: f64) -> &Forces {
        let Self { model, state, data, input, forces } = self;
        kinematics(model, &state.q, data);
        velocities(model, &state.v, data);
        forces.evaluate(model, (&state.q, &state.v), data, input, time_step).unwrap();
        forces
    }

    /// All present forces.
    pub fn total(&mut self) -> Vec<f64> {
        let mut total = vec![0.0; self.model.nv()];
        self.evaluate().add_total(&mut total);
        total
    }

    /// Derivative of `value` along the velocity `v`, by central differences of a step `h`.
    pub fn along(&mut self, v: &[f64], h: f64, value: impl Fn(&mut Self) -> f64) -> f64 {
        let q = self.state.q.clone();
        let mut at = |dt: f64| {
            integrate(&self.model, &q, v, dt, &mut self.state.q);
            kinematics(&self.model, &self.state.q, &mut self.data);
            value(self)
        };
        let slope = (at(h) - at(-h)) / (2.0 * h);
        self.state.q = q;
        slope
    }

    /// A velocity with a single entry of one.
    pub fn unit(&self, dof: usize) -> Vec<f64> {
        let mut v = vec![0.0; self.model.nv()];
        v[dof] = 1.0;
        v
    }
}

/// Step of the central differences below.
pub const STEP: f64 = 1e-5;

/// Lengths, their third derivatives and forces are of order one to ten: the differences are off by
/// STEP² times the latter, and by round-off of the former over STEP.
pub const DIFFERENCE: f64 = 1e-8;
