//! The residual measure: the distance of (v, λ) from solving the problem, the same for every solver.
//!
//! - `momentum`: `|D (A v − b − Jᵀλ)| / max(|D A v|, |D Jᵀλ|)`, D = diag(A)^(−1/2)
//!   [Castro22, Eqs. (25), (26)]. Deviation: diag(A) in place of diag(M), which a problem does
//!   not hold.
//! - `coulomb`, `convex` [m/s]: the largest natural map of a constraint in its own scale,
//!   `r_i = |λ_i − T(λ_i − ρ_i c_i)| / ρ_i`, `ρ_i = 1/(w_i + R_i)`, with T the solution of
//!   the local problem with exact or relaxed friction. Zero if and only if the law holds; its unit is
//!   that of a velocity.
//! - [`ResidualMeasure::contact_slack`] \[N·s\]: the contact residual of [Lee25, Sec. VII], for traces; not unit invariant.
//! - `natural_map`: the published metric of the FCLIB collection over contacts, with unit step. It
//!   follows from the impulse alone, through a solve with A; where a subsystem is too large for
//!   that, the solution's own velocity and the estimate of the free motion replace it.
//!
//! Costs one product with A, two passes over J and three local problems per constraint, and no
//! factorization; no allocation after the first call.

use std::ops::Range;

use stiction_math::simd;

use crate::contact::{DIM, add_to_normal};
use crate::law::FrictionModel;
use crate::problem::{Problem, SubsystemId};

/// Residuals of a solution, measured on the problem.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Residuals {
    /// Relative error of momentum [-].
    pub momentum: f64,
    /// Largest violation of the laws with exact friction [m/s].
    pub coulomb: f64,
    /// Largest violation of the laws with relaxed friction [m/s].
    pub convex: f64,
    /// Natural map of the contacts with unit step, relative to |q| [-].
    pub natural_map: f64,
    /// The velocity to compare violations with [m/s].
    pub reference_velocity: f64,
}

impl Residuals {
    /// The violation [m/s] in one friction model.
    pub fn of(&self, model: FrictionModel) -> f64 {
        match model {
            FrictionModel::Coulomb => self.coulomb,
            FrictionModel::Convex => self.convex,
        }
    }

    /// The larger of each of two solutions. Not a number is the largest.
    #[must_use]
    pub fn largest(&self, other: &Self) -> Self {
        let largest = |a: f64, b: f64| if a.is_nan() || a > b { a } else { b };
        Self {
            momentum: largest(self.momentum, other.momentum),
            coulomb: largest(self.coulomb, other.coulomb),
            convex: largest(self.convex, other.convex),
            natural_map: largest(self.natural_map, other.natural_map),
            reference_velocity: largest(self.reference_velocity, other.reference_velocity),
        }
    }
}

/// Relative error of momentum that is round-off [-].
const EXACT_MOMENTUM: f64 = 1e-13;

/// Computes [`Residuals`]; keeps the scratch that this takes.
#[derive(Clone, Debug, Default)]
pub struct ResidualMeasure {
    inverse_root_diagonal: Vec<f64>,
    momentum_change: Vec<f64>,
    impulse: Vec<f64>,
    velocity: Vec<f64>,
}

impl ResidualMeasure {
    /// Prepares for a problem; must be called again for another problem.
    pub fn prepare(&mut self, problem: &Problem) {
        let n = problem.dofs();
        for x in [
            &mut self.inverse_root_diagonal,
            &mut self.momentum_change,
            &mut self.impulse,
            &mut self.velocity,
        ] {
            x.clear();
            x.resize(n, 0.0);
        }
        problem.mass().matrix().diagonal(&mut self.inverse_root_diagonal);
        for d in &mut self.inverse_root_diagonal {
            *d = 1.0 / d.sqrt();
        }
    }

    /// Jᵀλ [N·s] of the solution that was measured last.
    pub fn constraint_impulse(&self) -> &[f64] {
        &self.impulse
    }

    /// diag(A)^(−1/2).
    pub fn scaling(&self) -> &[f64] {
        &self.inverse_root_diagonal
    }

    /// The relative error of momentum [-].
    pub fn momentum(&mut self, problem: &Problem, v: &[f64], lambda: &[f64]) -> f64 {
        self.impulse.fill(0.0);
        problem.jacobian().mul_transposed_add(lambda, &mut self.impulse);
        self.momentum_of_impulse(problem, v)
    }

    /// The relative error of momentum, given Jᵀλ.
    fn momentum_of_impulse(&mut self, problem: &Problem, v: &[f64]) -> f64 {
        problem.mass().mul(v, &mut self.momentum_change);
        self.momentum_over(problem, 0..problem.dofs())
    }

    /// The relative error of momentum over some velocities, given Jᵀλ and A v.
    fn momentum_over(&self, problem: &Problem, dofs: Range<usize>) -> f64 {
        let (mut error, mut inertia, mut impulse) = (0.0, 0.0, 0.0);
        let b = problem.momentum();
        for i in dofs {
            let d = self.inverse_root_diagonal[i];
            let (p, j) = (self.momentum_change[i], self.impulse[i]);
            error += (d * (p - b[i] - j)).powi(2);
            inertia += (d * p).powi(2);
            impulse += (d * j).powi(2);
        }
        relative(f64::sqrt(error), f64::sqrt(f64::max(inertia, impulse)))
    }

    /// The largest relative error of momentum of a subsystem [-], after the violation was measured.
    pub(crate) fn largest_momentum(&mut self, problem: &Problem, v: &[f64]) -> f64 {
        let mass = problem.mass();
        mass.mul(v, &mut self.momentum_change);
        let of = |s: usize| self.momentum_over(problem, mass.dofs(SubsystemId(s)));
        (0..mass.subsystems()).map(of).fold(0.0, largest)
    }

    /// The largest violation of a law [m/s] in each of some friction models; leaves Jᵀλ.
    fn violations<const N: usize>(
        &mut self,
        problem: &Problem,
        models: [FrictionModel; N],
        v: &[f64],
        lambda: &[f64],
    ) -> [f64; N] {
        self.impulse.fill(0.0);
        let impulse = Some(&mut self.impulse[..]);
        simd::dispatch(Violations { problem, models, v, lambda, impulse, natural_map: None })
    }

    /// The largest violation of a law [m/s].
    pub fn violation(
        &mut self,
        problem: &Problem,
        model: FrictionModel,
        v: &[f64],
        lambda: &[f64],
    ) -> f64 {
        let [largest] = self.violations(problem, [model], v, lambda);
        largest
    }

    /// The largest violation of a law [m/s] and the relative error of momentum [-].
    pub fn both(
        &mut self,
        problem: &Problem,
        model: FrictionModel,
        v: &[f64],
        lambda: &[f64],
    ) -> (f64, f64) {
        let [largest] = self.violations(problem, [model], v, lambda);
        (largest, self.momentum_of_impulse(problem, v))
    }

    /// All residuals.
    pub fn measure(&mut self, problem: &Problem, v: &[f64], lambda: &[f64]) -> Residuals {
        self.measure_all_of(problem, v, lambda, (None, |_| true))
    }

    /// All residuals; the natural map, where it takes a solve, only if `wants` returns true for the others. `momentum` is the
    /// relative error of momentum, if it was the last that was measured, of the same v and λ.
    pub(crate) fn measure_all_of(
        &mut self,
        problem: &Problem,
        v: &[f64],
        lambda: &[f64],
        (momentum, wants): (Option<f64>, impl Fn(&Residuals) -> bool),
    ) -> Residuals {
        let models = [FrictionModel::Coulomb, FrictionModel::Convex];
        let mut sums = NaturalMapSums::default();
        if momentum.is_none() {
            self.impulse.fill(0.0);
        }
        let impulse = momentum.is_none().then_some(&mut self.impulse[..]);
        let natural_map = Some(&mut sums);
        let [coulomb, convex] =
            simd::dispatch(Violations { problem, models, v, lambda, impulse, natural_map });
        let momentum = momentum.unwrap_or_else(|| self.momentum_of_impulse(problem, v));
        let reference_velocity = problem.reference_velocity();
        let natural_map = sums.relative();
        let mut found = Residuals { momentum, coulomb, convex, natural_map, reference_velocity };
        // Otherwise v is the velocity that the impulse causes, up to round-off.
        if momentum > EXACT_MOMENTUM && wants(&found) {
            found.natural_map = self.natural_map_at(problem, FrictionModel::Coulomb, v, lambda);
        }
        found
    }

    /// `|λ − P_K(λ − ĉ)| / |q|` over contacts, `ĉ = c + μ‖c_t‖ n` (`ĉ = c` in the convex model),
    /// where c follows from the impulse alone and `q = J v* + e`.
    pub fn natural_map(&mut self, problem: &Problem, model: FrictionModel, lambda: &[f64]) -> f64 {
        problem.velocity_of(lambda, &mut self.velocity);
        self.natural_map_of_velocity(problem, model, lambda)
    }

    /// `‖J v − z‖` over contacts, divided by their number \[N·s\]: the residual of [Lee25, Sec. VII], with the penalty of one
    /// kilogram that its formula `z = J v − λ + T(λ − J v − e)` contains, and v from the impulse alone. Where A is too large to
    /// factor, at the given velocity.
    pub fn contact_slack(&mut self, problem: &Problem, v: &[f64], lambda: &[f64]) -> f64 {
        if problem.is_large() {
            self.velocity.copy_from_slice(v);
        } else {
            problem.velocity_of(lambda, &mut self.velocity);
        }
        let (mut square, mut contacts) = (0.0, 0);
        for i in (0..problem.constraints().len()).filter(|i| problem.law(*i).is_contact()) {
            let (mut c0, mut solved) = ([0.0; DIM], [0.0; DIM]);
            velocity(problem, i, &self.velocity, lambda, &mut c0);
            let lambda = &lambda[problem.row_range(i)];
            c0.iter_mut().zip(lambda).for_each(|(c, l)| *c -= l);
            problem.law(i).respond(FrictionModel::Coulomb, &c0, &[1.0; DIM], &mut solved);
            square += lambda.iter().zip(&solved).map(|(l, s)| (l - s).powi(2)).sum::<f64>();
            contacts += 1;
        }
        relative(f64::sqrt(square), f64::from(contacts))
    }

    /// The cost of the convex model, `½ |v − v*|²_A + ½ |λ|²_R` [J] [Castro22, Eq. (24)].
    pub fn primal_cost(&mut self, problem: &Problem, v: &[f64], lambda: &[f64]) -> f64 {
        for ((d, v), free) in self.velocity.iter_mut().zip(v).zip(problem.free_velocity()) {
            *d = v - free;
        }
        let mut momentum = vec![0.0; self.velocity.len()];
        problem.mass().mul(&self.velocity, &mut momentum);
        let kinetic: f64 = self.velocity.iter().zip(&momentum).map(|(d, p)| d * p).sum();
        let stored: f64 = lambda.iter().zip(problem.compliance()).map(|(l, r)| r * l * l).sum();
        0.5 * (kinetic + stored)
    }

    /// Complementarity slackness e_μ of the convex model: the mean of `|c·λ|` over the contacts, relative to the cost
    /// [Castro22, Eq. (33)].
    pub fn complementarity(
        &mut self,
        problem: &Problem,
        v: &[f64],
        lambda: &[f64],
        cost: f64,
    ) -> f64 {
        let (mut sum, mut contacts) = (0.0, 0);
        for i in (0..problem.constraints().len()).filter(|i| problem.law(*i).is_contact()) {
            let mut c = [0.0; DIM];
            velocity(problem, i, v, lambda, &mut c);
            let lambda = &lambda[problem.row_range(i)];
            sum += c.iter().zip(lambda).map(|(c, l)| c * l).sum::<f64>().abs();
            contacts += 1;
        }
        relative(sum / f64::from(contacts.max(1)), cost)
    }

    /// The natural map; if A is too large to factor, at the given velocity v.
    pub(crate) fn natural_map_at(
        &mut self,
        problem: &Problem,
        model: FrictionModel,
        v: &[f64],
        lambda: &[f64],
    ) -> f64 {
        if problem.is_large() {
            self.velocity.copy_from_slice(v);
        } else {
            problem.velocity_of(lambda, &mut self.velocity);
        }
        self.natural_map_of_velocity(problem, model, lambda)
    }

    /// The natural map, given the velocity that the impulse causes.
    fn natural_map_of_velocity(
        &self,
        problem: &Problem,
        model: FrictionModel,
        lambda: &[f64],
    ) -> f64 {
        let mut sums = NaturalMapSums::default();
        for i in 0..problem.constraints().len() {
            if problem.law(i).is_contact() {
                let mut c = [0.0; DIM];
                velocity(problem, i, &self.velocity, lambda, &mut c);
                sums.add(problem, i, model, c, lambda);
            }
        }
        sums.relative()
    }
}

/// Squares of the natural map and of q, summed over contacts.
#[derive(Default)]
struct NaturalMapSums {
    error: f64,
    size: f64,
}

impl NaturalMapSums {
    /// Adds a contact, given its velocity c.
    #[inline(always)]
    fn add(
        &mut self,
        problem: &Problem,
        contact: usize,
        model: FrictionModel,
        mut c: [f64; DIM],
        lambda: &[f64],
    ) {
        let law = problem.law(contact);
        let mut q = [0.0; DIM];
        problem.free_row_estimate(contact, &mut q);
        self.size += q.iter().map(|q| q * q).sum::<f64>();
        if model == FrictionModel::Coulomb {
            let shift = law.shift(&c);
            add_to_normal(&mut c, shift);
        }
        let lambda = &lambda[problem.row_range(contact)];
        for (c, l) in c.iter_mut().zip(lambda) {
            *c -= l;
        }
        let mut nearest = [0.0; DIM];
        law.respond(FrictionModel::Convex, &c, &[1.0; DIM], &mut nearest);
        self.error += lambda.iter().zip(&nearest).map(|(a, b)| (a - b).powi(2)).sum::<f64>();
    }

    fn relative(&self) -> f64 {
        relative(self.error.sqrt(), self.size.sqrt())
    }
}

/// One pass over J: the violation of every law, Jᵀλ, and the natural map in Coulomb's model if it is asked for.
struct Violations<'a, const N: usize> {
    problem: &'a Problem,
    models: [FrictionModel; N],
    v: &'a [f64],
    lambda: &'a [f64],
    /// Memory for Jᵀλ, zero before; `None` if it is known.
    impulse: Option<&'a mut [f64]>,
    natural_map: Option<&'a mut NaturalMapSums>,
}

impl<const N: usize> simd::Job for Violations<'_, N> {
    type Output = [f64; N];

    #[inline(always)]
    fn run(self) -> [f64; N] {
        let Self { problem, models, v, lambda, mut impulse, mut natural_map } = self;
        let mut worst = [0.0; N];
        for i in 0..problem.constraints().len() {
            let (law, rows) = (problem.law(i), problem.row_range(i));
            let (dim, w) = (rows.len(), compliance_scale(problem, i));
            let mut c0 = [0.0; DIM];
            velocity(problem, i, v, lambda, &mut c0[..dim]);
            if let Some(sums) = natural_map.as_deref_mut().filter(|_| law.is_contact()) {
                sums.add(problem, i, FrictionModel::Coulomb, c0, lambda);
            }
            let lambda = &lambda[rows];
            if let Some(impulse) = impulse.as_deref_mut() {
                problem.jacobian().mul_constraint_transposed_add(i, lambda, impulse);
            }
            for (c, l) in c0.iter_mut().zip(lambda) {
                *c -= w * l;
            }
            for (worst, model) in worst.iter_mut().zip(models) {
                // |λ − T(λ − ρ c)| / ρ [m/s].
                let (mut solved, mut square) = ([0.0; DIM], 0.0);
                law.respond(model, &c0[..dim], &[w; DIM][..dim], &mut solved[..dim]);
                for (l, s) in lambda.iter().zip(&solved) {
                    square += (l - s) * (l - s);
                }
                *worst = largest(*worst, w * square.sqrt());
            }
        }
        worst
    }
}

/// `a / b`, zero if a is, and infinite where it is NaN: an overflow of the squares must not pass for zero.
fn relative(a: f64, b: f64) -> f64 {
    let ratio = a / b;
    if a == 0.0 {
        0.0
    } else if ratio.is_nan() {
        f64::INFINITY
    } else {
        ratio
    }
}

/// The larger of two; a NaN counts as infinite, so that it is not lost.
fn largest(a: f64, b: f64) -> f64 {
    if b.is_nan() { f64::INFINITY } else { a.max(b) }
}

/// `c_i = J_i v + e_i + R_i∘λ_i`.
#[inline(always)]
pub(crate) fn velocity(problem: &Problem, i: usize, v: &[f64], lambda: &[f64], c: &mut [f64]) {
    problem.jacobian().mul_constraint(i, v, c);
    let rows = problem.row_range(i);
    let (e, r) = (&problem.bias()[rows.clone()], &problem.compliance()[rows.clone()]);
    for (k, l) in lambda[rows].iter().enumerate() {
        c[k] += e[k] + r[k] * l;
    }
}

/// 1/ρ of a constraint [1/kg]: its Delassus scale and mean compliance.
#[inline(always)]
pub(crate) fn compliance_scale(problem: &Problem, i: usize) -> f64 {
    let compliance = &problem.compliance()[problem.row_range(i)];
    let mean = compliance.iter().sum::<f64>() / compliance.len() as f64;
    let scale = problem.delassus().scale(i) + mean;
    if scale > 0.0 { scale } else { 1.0 }
}
