//! Free motion of soft bodies: A and b of each from its elements.
//!
//! The unknown u is the velocity on which contact laws act. With x₀ and v₀ at the start of the step,
//!
//! ```text
//! m(u) = M (u − v₀)/α − h [f(x₀ + h (κ u + κ₀ v₀)) − (a M + β K₀)(δ u + δ₀ v₀) + M g],
//! A    = ∂m/∂u = M/α + h² κ K + h δ (a M + β K₀),    b = A u − m(u),
//! ```
//!
//! with Rayleigh damping, a and β, and the stiffness K₀ at the start of the step. θ = θ_vq = 1 gives
//! κ = δ = 1 [Han23, Eqs. (8)–(11)], θ = θ_vq = ½ gives κ = κ₀ = ¼ and δ = δ₀ = ½, and the mid-velocity
//! convention α = κ = ½, δ = 1 [Lee23, Eqs. (4)–(9)]. Elastic forces are implicit in every other scheme as
//! well: evaluated at the start of the step they are unstable at practical time steps. Rows and columns of
//! fixed vertices are left out.
//!
//! Materials whose forces are linear within a step need one solve. The others are linearised at the start
//! of the step, and again at later iterates, with [`SoftMotion::linearise`]: with their exact stiffness if A
//! is positive definite with it, else with a blend of it and the clamped stiffness of each element. In a
//! body under pressure the clamped one is far too stiff, and Newton's method slow.
//!
//! Cost: one pass over the elements and one over A; a factorization where the body has no contact.

mod body;
mod compliance;
mod fixed_axes;
mod newton;
#[cfg(test)]
mod tests;

use nalgebra::Vector3;
use stiction_math::block::Symmetric;
use stiction_mech::{Model, SoftBody, State};

use crate::scheme::Scheme;
use body::SoftBodyMotion;
use newton::{NewtonResult, SearchLine};

/// Fraction of an element's size by which its vertices may move relative to one another in a step [-].
const RESOLVED: f64 = 0.5;

/// Weights of old and next velocities of soft bodies in a scheme.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct SoftWeights {
    /// α: the next velocity in the unknown.
    pub alpha: f64,
    /// κ and κ₀: the unknown and the old velocity in the position at which forces are evaluated.
    pub ahead: f64,
    pub ahead_old: f64,
    /// δ and δ₀: the same in the velocity that is damped.
    pub damped: f64,
    pub damped_old: f64,
    /// The unknown in the velocity with which positions move; the old one has the rest.
    pub moving: f64,
}

impl SoftWeights {
    /// The weights of a scheme.
    pub fn new(scheme: Scheme) -> Self {
        let implicit = Self {
            alpha: 1.0,
            ahead: 1.0,
            ahead_old: 0.0,
            damped: 1.0,
            damped_old: 0.0,
            moving: 1.0,
        };
        match scheme {
            Scheme::MidVelocity => Self { alpha: 0.5, ahead: 0.5, ..implicit },
            Scheme::Midpoint => Self {
                ahead: 0.25,
                ahead_old: 0.25,
                damped: 0.5,
                damped_old: 0.5,
                moving: 0.5,
                ..implicit
            },
            _ => implicit,
        }
    }
}

/// A, b and v* of all soft bodies.
pub(crate) struct SoftMotion {
    bodies: Vec<SoftBodyMotion>,
    weights: SoftWeights,
    time_step: f64,
    /// Whether a body moved farther than the step resolves, or its equations were not solved.
    unresolved: bool,
    inverted: usize,
}

impl SoftMotion {
    /// Allocates memory, and estimates the compliance of each vertex at rest, which follows from the
    /// model, the scheme and the time step alone.
    pub fn new(model: &Model, scheme: Scheme, h: f64) -> Self {
        let weights = SoftWeights::new(scheme);
        let make = |body: &SoftBody| SoftBodyMotion::new(body, &model.gravity(), &weights, h);
        Self {
            bodies: model.softs().iter().map(make).collect(),
            weights,
            time_step: h,
            unresolved: false,
            inverted: 0,
        }
    }

    /// Takes over a changed gravity.
    pub fn set_gravity(&mut self, model: &Model) {
        for (motion, body) in self.bodies.iter_mut().zip(model.softs()) {
            motion.set_weight(body, &model.gravity());
        }
    }

    /// Sets the time step [s].
    pub fn set_time_step(&mut self, h: f64) {
        self.time_step = h;
    }

    /// The weights of the scheme.
    pub fn weights(&self) -> SoftWeights {
        self.weights
    }

    /// A of a soft body, without its fixed vertices [kg].
    pub fn matrix(&self, soft: usize) -> &Symmetric {
        &self.bodies[soft].A
    }

    /// b of a soft body [N·s].
    pub fn momentum(&self, soft: usize) -> &[f64] {
        &self.bodies[soft].b
    }

    /// Per vertex that is not fixed, an estimate of its compliance at rest [1/kg].
    pub fn node_compliance(&self, soft: usize) -> &[f64] {
        &self.bodies[soft].node_compliance
    }

    /// Vertices of a soft body that are not fixed, ascending.
    pub fn free_vertices(&self, soft: usize) -> &[u32] {
        &self.bodies[soft].free
    }

    /// Whether a body moved farther than the step resolves, or its equations were not solved.
    pub fn is_unresolved(&self) -> bool {
        self.unresolved
    }

    /// Marks the step as unresolved.
    pub fn set_unresolved(&mut self) {
        self.unresolved = true;
    }

    /// Inverted elements after the last step.
    pub fn inverted(&self) -> usize {
        self.inverted
    }

    /// Whether the forces of a body are nonlinear within a step.
    pub fn is_nonlinear(&self, soft: usize) -> bool {
        self.bodies[soft].damping.is_some()
    }

    /// A and b from the state at the start of a step.
    pub fn compute(&mut self, model: &Model, state: &State) {
        self.unresolved = false;
        for (body, motion) in model.softs().iter().zip(&mut self.bodies) {
            motion.start(&SoftStepStart::new(body, state, self.weights, self.time_step));
        }
    }

    /// Linearises a body at the unknown `u`. Returns false if forces or stiffness are not finite
    /// there; then only A and b have changed.
    pub fn linearise(&mut self, model: &Model, soft: usize, state: &State, u: &[f64]) -> bool {
        let start = SoftStepStart::new(&model.softs()[soft], state, self.weights, self.time_step);
        self.bodies[soft].linearise(&start, u)
    }

    /// How the work of a body's imbalance of momentum, against the impulses on it that an `solution` implies,
    /// changes along the way there from `at`, where it is linearised: at its beginning, which is minus the
    /// product of A with the way twice, and after a `t` of it [J]. Not finite where it has no forces.
    pub fn slope(
        &mut self,
        model: &Model,
        soft: usize,
        state: &State,
        (at, solution): (&[f64], &[f64]),
        t: f64,
    ) -> [f64; 2] {
        let start = SoftStepStart::new(&model.softs()[soft], state, self.weights, self.time_step);
        self.bodies[soft].slope(&start, &SearchLine { at, solution, t })
    }

    /// The motion of a body without contact, into `out`. False if A is not positive definite.
    pub fn solve(&mut self, model: &Model, soft: usize, state: &State, out: &mut [f64]) -> bool {
        let motion = &mut self.bodies[soft];
        if motion.damping.is_none() {
            out.copy_from_slice(&motion.b);
            return motion.apply_inverse(out);
        }
        let start = SoftStepStart::new(&model.softs()[soft], state, self.weights, self.time_step);
        let solved = motion.newton(&start, out);
        self.unresolved |= solved == NewtonResult::Unfinished;
        solved != NewtonResult::Singular
    }

    /// Newton's method on the free motion of all nonlinear bodies, which linearises them at its result.
    /// Returns a body whose matrix is singular, if there is one.
    pub fn iterate(&mut self, model: &Model, state: &State) -> Option<usize> {
        for soft in 0..self.bodies.len() {
            if !self.is_nonlinear(soft) {
                continue;
            }
            let mut u = std::mem::take(&mut self.bodies[soft].trial);
            let fine = self.solve(model, soft, state, &mut u);
            let fine = fine && self.linearise(model, soft, state, &u);
            self.bodies[soft].trial = u;
            if !fine {
                return Some(soft);
            }
        }
        None
    }

    /// Counts inverted elements after a step from `old` to `next`, and marks the step as unresolved if
    /// there are any, or if vertices of an element moved too far relative to one another.
    pub fn inspect(&mut self, model: &Model, old: &State, next: &State) {
        self.inverted = 0;
        let mut fast = false;
        for body in model.softs() {
            let (before, after) = (&old.x[body.nodes.clone()], &next.x[body.nodes.clone()]);
            for tetrahedron in &body.spec.tetrahedra {
                let corner = tetrahedron.map(|v| after[v as usize]);
                let edges = [1, 2, 3].map(|k| corner[k] - corner[0]);
                self.inverted += usize::from(!(edges[0].cross(&edges[1]).dot(&edges[2]) > 0.0));
                let rest = tetrahedron.map(|v| body.spec.vertices[v as usize]);
                let size = (1..4).map(|k| (rest[k] - rest[0]).norm_squared()).fold(0.0, f64::max);
                let moved = tetrahedron.map(|v| after[v as usize] - before[v as usize]);
                let most = (1..4).map(|k| (moved[k] - moved[0]).norm_squared()).fold(0.0, f64::max);
                fast |= !(most <= RESOLVED * RESOLVED * size);
            }
        }
        self.unresolved |= fast || self.inverted > 0;
    }
}

/// The start of a step of a soft body, at x₀ and v₀.
#[derive(Clone, Copy)]
struct SoftStepStart<'a> {
    body: &'a SoftBody,
    x0: &'a [Vector3<f64>],
    v0: &'a [Vector3<f64>],
    weights: SoftWeights,
    h: f64,
}

impl<'a> SoftStepStart<'a> {
    fn new(body: &'a SoftBody, state: &'a State, weights: SoftWeights, h: f64) -> Self {
        let (x0, v0) = (&state.x[body.nodes.clone()], &state.x_dot[body.nodes.clone()]);
        Self { body, x0, v0, weights, h }
    }

    /// h² κ: that of K in A.
    fn elastic(&self) -> f64 {
        self.h * self.h * self.weights.ahead
    }

    /// 1/α + h δ a and h δ β: those of M and K₀ in A.
    fn scales(&self) -> (f64, f64) {
        let (weights, spec, h) = (&self.weights, &self.body.spec, self.h);
        let mass = 1.0 / weights.alpha + h * weights.damped * spec.mass_damping;
        (mass, h * weights.damped * spec.stiffness_damping)
    }
}
