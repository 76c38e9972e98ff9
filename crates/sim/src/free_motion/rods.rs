//! Rods in free motion: A and b of a rod's segments together, elastic forces at the end of the step.
//!
//! In every scheme a rod is implicit. With the next velocity (α = 1) it takes linearly implicit Euler
//! steps, `A = M + h (h + τ) JᵀKJ + h² E`, `b = M v₀ + h (f − JᵀKe)`. With the mean velocity v̂ (α = ½)
//! A is that of [Lee23, Eq. (9)] in impulses with damping, `2 M + h (h/2 + 2 τ) JᵀKJ + (h²/2) E`, and
//! b has `h τ JᵀKJ v₀`: damping acts with the velocity `2 v̂ − v₀` at the end of the step.
//! Deviation: [Lee23] has no damping. Damped with the mean velocity, stiff strains would change sign in
//! every step without decay; damped with the velocity at the end of the step, they come to rest.
//! Deviation: bonds are linearised at `q̃ = q₀ ⊕ (h/2) v₀`, not at q₀, with
//! `b = 2 M v₀ + h (f − JᵀKe) + (h²/2) (JᵀKJ + E) v₀`: the same where strains are linear in q, and
//! of second order where they are not, whatever E leaves out; q̃ is nearer to q₀ where strains are
//! fast. With the old velocity for positions, bonds are evaluated at the next positions. Iterated
//! schemes take forces at q^θ and v^θ, with
//! `A = M + h θ (h θ_vq + τ) JᵀKJ + h² θ θ_vq E` [Han23, Eq. (11)].
//! E is the geometric stiffness of tension, without the part that is stable if it is explicit. Cost:
//! linear in the number of segments.

use nalgebra::Vector3;
use stiction_math::block;
use stiction_mech::{Data, Model, Rod, RodWorkspace, State, tree_integrate, tree_kinematics};

use super::{FreeMotion, Trial};
use crate::scheme::Scheme;

/// Largest change of strain [-, rad] up to the point where bonds are linearised: beyond it waves in the
/// rod are faster than the step resolves, and the old velocity does not predict the motion.
const MAX_LOOKAHEAD_STRAIN: f64 = 0.2;

/// A of one rod and its scratch memory.
pub(super) struct RodSystem {
    matrix: block::Symmetric,
    factor: block::Cholesky,
    work: RodWorkspace,
}

/// Weights of the terms of A and b.
struct Weights {
    elastic: f64,
    /// Of tension, and how much of it is left out [N].
    geometric: (f64, f64),
    /// Of the mass matrix, for damping by a medium.
    mass: f64,
}

impl RodSystem {
    pub fn new(rod: &Rod) -> Self {
        Self {
            matrix: block::Symmetric::zeros(rod.pattern()),
            factor: block::Cholesky::analyse(rod.pattern()),
            work: RodWorkspace::new(rod),
        }
    }

    pub fn matrix(&self) -> &block::Symmetric {
        &self.matrix
    }

    /// Sums A from those of the segments alone, at one configuration, and the bonds, at another.
    fn assemble(
        &mut self,
        model: &Model,
        rod: &Rod,
        own: &[f64],
        (data, bonds): (&Data, &Data),
        weights: &Weights,
    ) {
        rod.evaluate(bonds, &mut self.work);
        self.matrix.clear();
        for (k, tree) in model.trees()[rod.trees.clone()].iter().enumerate() {
            let id = rod.pattern().diagonal(k);
            let parts = own[tree.mass.clone()].iter().zip(&data.mass[tree.mass.clone()]);
            for (a, (own, mass)) in self.matrix.block_mut(id).iter_mut().zip(parts) {
                *a = own + weights.mass * mass;
            }
        }
        rod.add_stiffness(&self.work, weights.elastic, weights.geometric, &mut self.matrix);
    }

    /// `x ← A⁻¹ x`. False if A is not positive definite.
    fn solve(&mut self, x: &mut [f64]) -> bool {
        let factored = self.factor.factor(&self.matrix).is_ok();
        if factored {
            self.factor.solve_in_place(x);
        }
        factored
    }
}

/// Largest rate of strain of a rod, turning as a whole included [1/s, rad/s], by the velocities of the
/// model.
fn fastest_strain(rod: &Rod, v: &[f64]) -> f64 {
    let part = |dof: usize| Vector3::new(v[dof], v[dof + 1], v[dof + 2]);
    let nodes = rod.dofs.clone().step_by(6);
    let pairs = nodes.clone().zip(nodes.clone().skip(1));
    let apart = pairs.clone().map(|(i, j)| (part(j) - part(i)).norm());
    let turning = pairs.map(|(i, j)| (part(j + 3) - part(i + 3)).norm());
    let stretching = apart.fold(0.0, f64::max) / rod.spec.segment_length;
    turning.fold(stretching, f64::max)
}

impl FreeMotion {
    /// A of a rod.
    pub fn rod_matrix(&self, rod: usize) -> &block::Symmetric {
        self.rods[rod].matrix()
    }

    /// `v* = A⁻¹ b` of one rod. False if A is not positive definite.
    pub fn solve_rod(&mut self, model: &Model, rod: usize, out: &mut [f64]) -> bool {
        out.copy_from_slice(&self.momentum[model.rods()[rod].dofs.clone()]);
        self.rods[rod].solve(out)
    }

    /// Couples the segments of rods, whose own A and b were computed before. Sleeping rods are skipped.
    pub(super) fn couple_rods(
        &mut self,
        model: &Model,
        scheme: Scheme,
        h: f64,
        state: &State,
        asleep: &[bool],
        data: &Data,
    ) {
        let Trial { data: trial, q, .. } = &mut self.trial;
        let ahead = scheme.alpha() * h;
        // Time [s] ahead at which bonds are linearised, with the old velocity: to the middle of the
        // step, or to its end if the next positions are given.
        let lookahead = match scheme {
            Scheme::MidVelocity => 0.5 * h,
            Scheme::Explicit => h,
            _ => 0.0,
        };
        for (rod, system) in model.rods().iter().zip(&mut self.rods) {
            if asleep[rod.trees.start] {
                continue;
            }
            let mut bond_data = data;
            let lookahead = if scheme == Scheme::MidVelocity {
                lookahead.min(MAX_LOOKAHEAD_STRAIN / fastest_strain(rod, &state.v))
            } else {
                lookahead
            };
            if lookahead > 0.0 {
                for tree in rod.trees.clone() {
                    tree_integrate(model, tree, &state.q, &state.v, lookahead, q);
                    tree_kinematics(model, tree, q, trial);
                }
                bond_data = trial;
            }
            let spared = rod.explicit_tension(h, scheme == Scheme::MidVelocity);
            // v₁ = 2 v̂ − v₀ in steps by the mean velocity.
            let is_mean = scheme == Scheme::MidVelocity;
            let damping = if is_mean { 2.0 * rod.spec.damping } else { rod.spec.damping };
            let weights = Weights {
                elastic: h * (ahead + damping),
                geometric: (h * ahead, spared),
                mass: h * rod.spec.mass_damping,
            };
            system.assemble(model, rod, &self.matrix, (data, bond_data), &weights);
            let b = &mut self.momentum[rod.dofs.clone()];
            rod.add_forces(&system.work, h, b);
            if is_mean {
                let (v, back) = (&state.v[rod.dofs.clone()], h * lookahead);
                let elastic = back + h * rod.spec.damping;
                rod.add_product(&system.work, elastic, (back, spared), v, b);
            }
        }
    }

    /// One Newton step of the rods in an iterated scheme, from the forces on their segments alone in
    /// b. Returns the largest relative change of a velocity.
    pub(super) fn improve_rods(&mut self, model: &Model, scheme: Scheme, h: f64) -> f64 {
        let (theta, theta_vq) = (scheme.theta(), scheme.theta_vq());
        let mut change = 0.0_f64;
        for (rod, system) in model.rods().iter().zip(&mut self.rods) {
            let (dofs, spec, data) = (rod.dofs.clone(), &rod.spec, &self.trial.data);
            let weights = Weights {
                elastic: h * theta * (h * theta_vq + spec.damping),
                geometric: (h * h * theta * theta_vq, 0.0),
                mass: h * theta * spec.mass_damping,
            };
            system.assemble(model, rod, &self.matrix, (data, data), &weights);
            let (v, b) = (&self.trial.v[dofs.clone()], &mut self.momentum[dofs.clone()]);
            rod.add_forces(&system.work, h, b);
            if spec.damping > 0.0 {
                rod.add_product(&system.work, -h * spec.damping, (0.0, 0.0), v, b);
            }
            if spec.mass_damping > 0.0 {
                for (k, tree) in model.trees()[rod.trees.clone()].iter().enumerate() {
                    let (b, v) = (&mut b[6 * k..6 * k + 6], &v[6 * k..6 * k + 6]);
                    for (row, b) in data.mass[tree.mass.clone()].chunks_exact(6).zip(b) {
                        let momentum: f64 = row.iter().zip(v).map(|(m, v)| m * v).sum();
                        *b -= h * spec.mass_damping * momentum;
                    }
                }
            }
            if !system.solve(b) {
                continue;
            }
            for (next, step) in self.velocity[dofs].iter_mut().zip(&*b) {
                *next += step;
                change = change.max(step.abs() / next.abs().max(1.0));
            }
        }
        change
    }
}
