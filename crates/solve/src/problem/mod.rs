//! The contact problem: `A v = b + Jᵀ λ`, `c = J v + e + R∘λ`, `(c, λ) ∈ S`.
//!
//! A is block diagonal over *subsystems*. J keeps its two factors: ports read the velocities of a
//! subsystem, rows combine ports. A problem is checked once, when it is built; a `Problem` that
//! exists is finite, consistent and has a positive definite A, and solvers never check again.
//!
//! Building also computes the diagonal blocks of the Delassus operator W = J A⁻¹ Jᵀ with their scales,
//! the reference velocity, and the islands. The free velocity v* = A⁻¹ b and the factorization of a
//! large A are computed on first use; the cost of building is proportional to the number of entries of
//! A and J.

mod builder;
mod check;
mod constraint_rows;
mod delassus;
mod estimate;
mod extension;
mod from_raw;
mod island;
mod jacobian;
mod large;
mod lazy;
mod mass;
mod port;
mod restrict;
mod rows;
pub(crate) mod small;
mod tree;

pub use builder::Builder;
pub use constraint_rows::{Constraint, ConstraintRows, Term};
pub use delassus::Delassus;
pub(crate) use estimate::common_motion;
pub use from_raw::FromFile;
pub(crate) use from_raw::subsystems;
pub use island::Islands;
pub use jacobian::{Jacobian, JacobianEntry};
pub use mass::{Mass, Structure};
pub(crate) use mass::{Root, cholesky};
pub use port::{Map, Port, PortId, SubsystemId};
pub use restrict::Restriction;
pub(crate) use small::dot;
pub use tree::Tree;

use crate::error::ProblemError;
use crate::law::Law;
use lazy::Lazy;

/// The motion without constraints.
#[derive(Clone, Debug, Default)]
struct FreeMotion {
    /// v* = A⁻¹ b [m/s].
    velocity: Vec<f64>,
    /// J v* + e [m/s], per row.
    rows: Vec<f64>,
}

/// Lower bound of the reference velocity, relative to the largest entry of v* [-].
const STANDSTILL: f64 = 1e-4;

/// A checked contact problem. Built by [`Builder`], or loaded from a file. The default is
/// empty and serves as memory for [`Builder::build_into`].
#[derive(Clone, Debug, Default)]
pub struct Problem {
    name: String,
    mass: Mass,
    momentum: Vec<f64>,
    free: Lazy<FreeMotion>,
    ports: Vec<Port>,
    rows: ConstraintRows,
    jacobian: Jacobian,
    delassus: Delassus,
    reference_velocity: f64,
    islands: Islands,
    /// v*, or an estimate of it.
    estimate: Vec<f64>,
    /// Scratch of the estimate: the common motion of the nodes of a large subsystem.
    common: Vec<f64>,
    work: Vec<f64>,
}

impl Problem {
    /// A builder for a problem of this name.
    pub fn builder(name: impl Into<String>) -> Builder {
        Builder::new(name.into())
    }

    /// The name of the problem.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Number of velocities.
    pub fn dofs(&self) -> usize {
        self.momentum.len()
    }

    /// Number of rows of J.
    pub fn rows(&self) -> usize {
        self.rows.rows()
    }

    /// Number of contacts with friction.
    pub fn contacts(&self) -> usize {
        self.constraints().iter().filter(|c| c.law.is_contact()).count()
    }

    /// A and its factorization.
    pub fn mass(&self) -> &Mass {
        &self.mass
    }

    /// b [N·s].
    pub fn momentum(&self) -> &[f64] {
        &self.momentum
    }

    /// v* = A⁻¹ b [m/s], the motion without constraints. Computed on first use if A has a large
    /// subsystem, which must be factored for it.
    pub fn free_velocity(&self) -> &[f64] {
        &self.free_motion().velocity
    }

    /// J v* + e [m/s], per row: the constraint velocities without impulses.
    pub fn free_rows(&self) -> &[f64] {
        &self.free_motion().rows
    }

    /// Whether some subsystem is so large that it is factored only on first use.
    pub fn is_large(&self) -> bool {
        (0..self.mass.subsystems()).any(|s| self.mass.is_lazy(SubsystemId(s)))
    }

    /// v* of small subsystems, and an estimate of it for large ones; computed when the problem is
    /// built.
    pub fn start_velocity(&self) -> &[f64] {
        &self.estimate
    }

    /// `J_i v + e_i` [m/s] of a constraint at the start velocity.
    pub(crate) fn free_row_estimate(&self, constraint: usize, out: &mut [f64]) {
        let rows = self.row_range(constraint);
        if !self.is_large()
            && let Some(free) = self.free.ready()
        {
            out[..rows.len()].copy_from_slice(&free.rows[rows]);
            return;
        }
        self.jacobian.mul_constraint(constraint, &self.estimate, &mut out[..rows.len()]);
        out.iter_mut().zip(&self.rows.bias()[rows]).for_each(|(c, e)| *c += e);
    }

    fn free_motion(&self) -> &FreeMotion {
        self.free.get(|old| {
            let FreeMotion { mut velocity, mut rows } = old.unwrap_or_default();
            velocity.clear();
            velocity.extend_from_slice(&self.momentum);
            self.mass.solve(&mut velocity);
            rows.clear();
            rows.resize(self.rows.rows(), 0.0);
            self.constraint_velocity(&velocity, &mut rows);
            FreeMotion { velocity, rows }
        })
    }

    /// The ports.
    pub fn ports(&self) -> &[Port] {
        &self.ports
    }

    /// The constraints, in the order of their rows.
    pub fn constraints(&self) -> &[Constraint] {
        self.rows.constraints()
    }

    /// The law of a constraint.
    #[inline]
    pub fn law(&self, constraint: usize) -> &Law {
        &self.constraints()[constraint].law
    }

    /// The terms `C·P` of a constraint.
    pub fn terms(&self, constraint: usize) -> &[Term] {
        &self.rows.terms()[self.constraints()[constraint].terms()]
    }

    /// C of a term, row-major, one row per row of its constraint.
    pub fn term_values(&self, term: &Term) -> &[f64] {
        self.rows.values(term)
    }

    /// e [m/s], per row.
    pub fn bias(&self) -> &[f64] {
        self.rows.bias()
    }

    /// Changes e of a row [m/s].
    pub fn set_bias(&mut self, row: usize, bias: f64) {
        self.rows.bias_mut()[row] = bias;
        self.free.reset();
    }

    /// R [1/kg], per row.
    pub fn compliance(&self) -> &[f64] {
        self.rows.compliance()
    }

    /// Raises the compliance of a constraint's rows to at least `least` [1/kg].
    pub fn raise_compliance(&mut self, constraint: usize, least: f64) {
        let rows = self.row_range(constraint);
        for r in &mut self.rows.compliance_mut()[rows] {
            *r = r.max(least);
        }
    }

    /// Raises the compliance of a row to at least `least` [1/kg].
    pub fn raise_row_compliance(&mut self, row: usize, least: f64) {
        let r = &mut self.rows.compliance_mut()[row];
        *r = r.max(least);
    }

    /// Swaps the constraint rows with `rows`, so that the caller can reuse their memory. The problem has
    /// no constraints until it is built again.
    pub fn exchange_rows(&mut self, rows: &mut ConstraintRows) {
        std::mem::swap(&mut self.rows, rows);
        self.rows.clear();
        self.jacobian.clear();
    }

    /// J.
    pub fn jacobian(&self) -> &Jacobian {
        &self.jacobian
    }

    /// Rows of a constraint.
    #[inline]
    pub fn row_range(&self, constraint: usize) -> std::ops::Range<usize> {
        self.jacobian.row_range(constraint)
    }

    /// Diagonal blocks of W = J A⁻¹ Jᵀ and their scales.
    pub fn delassus(&self) -> &Delassus {
        &self.delassus
    }

    /// The velocity that residuals are compared with [m/s]: the largest of `|J v*|` and `|e|`,
    /// where v* of a large subsystem is replaced by its estimate.
    /// Deviation: it is bounded below by a small fraction of the largest entry of v*. Where constraints
    /// are at rest in a moving frame (the brakes of a robot in free fall), J v* consists only of the
    /// rounding errors of v*.
    pub fn reference_velocity(&self) -> f64 {
        self.reference_velocity
    }

    /// Subsystems that constraints connect.
    pub fn islands(&self) -> &Islands {
        &self.islands
    }

    /// `out = J v + e`.
    pub fn constraint_velocity(&self, v: &[f64], out: &mut [f64]) {
        self.jacobian.mul(v, out);
        for (c, e) in out.iter_mut().zip(self.bias()) {
            *c += e;
        }
    }

    /// `v = A⁻¹ (b + Jᵀ λ)`: the velocity that an impulse causes.
    pub fn velocity_of(&self, lambda: &[f64], v: &mut [f64]) {
        v.copy_from_slice(&self.momentum);
        self.jacobian.mul_transposed_add(lambda, v);
        self.mass.solve(v);
    }

    fn derive(&mut self) {
        self.free.reset();
        self.delassus.compute(&self.mass, &self.jacobian);
        self.islands.find(&self.mass, &self.jacobian);
        let mut motion = std::mem::take(&mut self.estimate);
        estimate::free_motion(&self.mass, &self.momentum, &mut motion, &mut self.common);
        let fastest = motion.iter().fold(0.0, |most: f64, v| most.max(v.abs()));
        let mut largest = STANDSTILL * fastest;
        let FreeMotion { mut velocity, mut rows } = self.free.take_memory().unwrap_or_default();
        rows.clear();
        rows.resize(self.rows.rows(), 0.0);
        self.jacobian.mul(&motion, &mut rows);
        for (c, e) in rows.iter_mut().zip(self.rows.bias()) {
            largest = largest.max(c.abs()).max(e.abs());
            *c += e;
        }
        self.reference_velocity = largest;
        self.estimate = motion;
        if self.is_large() {
            self.free.give_memory(FreeMotion { velocity, rows });
        } else {
            // The estimate is exact.
            velocity.clone_from(&self.estimate);
            self.free.get(|_| FreeMotion { velocity, rows });
        }
    }

    /// Copies the quantities derived from A⁻¹ from another problem with the same constraints.
    fn measure_like(&mut self, other: &Self) {
        self.free.reset();
        self.delassus.clone_from(&other.delassus);
        self.islands.find(&self.mass, &self.jacobian);
        self.reference_velocity = other.reference_velocity;
        self.estimate.clear();
        self.estimate.resize(self.momentum.len(), 0.0);
    }

    /// Checks that derived quantities are finite: products of finite numbers can overflow.
    fn check_derived(&self) -> Result<(), ProblemError> {
        check::finite("A⁻¹ b", "problem", 0, &self.estimate)?;
        check::finite("J v*", "problem", 0, &[self.reference_velocity])?;
        if !check::all_finite(self.delassus.blocks()) {
            for i in 0..self.rows.len() {
                check::finite("J A⁻¹ Jᵀ", "constraint", i, self.delassus.block(i))?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
