//! A primal-dual interior-point method for the convex problem, with the sparse algebra of SAP.
//!
//! Solves the optimality conditions of [Castro22, Eqs. (19), (21)] for contacts with friction,
//!
//! ```text
//! A v − b − Jᵀ P y = 0,   s = P (J v + e + R P y),   s ∘ y = 0,   s, y ∈ Lorentz cone
//! ```
//!
//! with γ = P y and P = diag(1/μ, 1, 1), which maps the Lorentz cone onto the friction cone. Newton's method with the scaling W of
//! Nesterov and Todd and Mehrotra's corrector: per iteration one factorization of `A + Jᵀ G J`, `G = P (W² + P R P)⁻¹ P`, and two solves.
//! Starts cold. Stands for the Geodesic IPM that the paper compares with, which shares its sparse algebra with SAP too
//! [Castro22, Sec. VI-A]. Other laws than friction at contacts are refused. It is for compliant contacts: without compliance, round-off ends
//! it near an e_μ of 1e-8 where contacts are redundant.

use nalgebra::{Matrix2, Matrix3, Vector2, Vector3};
use stiction_solve::contact::ContactVec;
use stiction_solve::monitor::Verdict;
use stiction_solve::solver::Solver;
use stiction_solve::solver::newton::Hessian;
use stiction_solve::{FrictionModel, Law, Monitor, Problem, Solution, Status};

use super::second_order_cone::{Scaling, determinant, distance, product, quotient, unit};

/// Part of the way to the border of the cones that a step takes [-].
const PART: f64 = 0.95;
/// Length of the predictor below which its second-order term says nothing about the step, and is left out [-].
const SHORT: f64 = 0.1;
/// Factor by which a step that round-off takes to the border is shortened, and how often [-].
const SHORTER: f64 = 0.8;
const MOST_SHORTENED: usize = 20;
/// Cost, relative to the kinetic energy of the free motion, that counts as none: no contact acts [-].
const NO_COST: f64 = 1e-10;

/// Primal-dual interior-point method.
pub struct InteriorPoint {
    /// Errors of momentum e_m, of complementarity e_μ [Castro22, Eqs. (32), (33)] and of s, relative to the reference
    /// velocity, at which it stops [-].
    pub tolerance: f64,
    /// Iterations.
    pub max_iterations: usize,
    hessian: Hessian,
    slopes: Vec<f64>,
    contacts: Vec<ConePair>,
    /// A v − b − Jᵀ P y [N·s], and what the right-hand side adds.
    residual: Vec<f64>,
    momentum: Vec<f64>,
    impulse: Vec<f64>,
    step: Vec<f64>,
    refused: Option<String>,
}

/// A contact: its velocity s and impulse y in the scaled cone, and how they change.
#[derive(Clone, Copy, Debug)]
struct ConePair {
    /// Diagonals of P, and of P R P.
    p: Vector3<f64>,
    compliance: Vector3<f64>,
    s: Vector3<f64>,
    y: Vector3<f64>,
    scaling: Scaling,
    /// W y = W⁻¹ s.
    scaled: Vector3<f64>,
    /// (W² + P R P)⁻¹.
    inverse: Matrix3<f64>,
    /// P (J v + e + R P y) − s [m/s].
    open: Vector3<f64>,
    /// Right-hand side of the complementarity, scaled.
    d: Vector3<f64>,
    ds: Vector3<f64>,
    dy: Vector3<f64>,
}

impl ConePair {
    /// Whether both points are inside the cone after a step.
    fn is_inside_after(&self, length: f64) -> bool {
        [(self.s, self.ds), (self.y, self.dy)].into_iter().all(|(u, d)| {
            let moved = u + length * d;
            moved.x > 0.0 && determinant(&moved) > 0.0
        })
    }
}

/// Errors of an iterate [-].
struct Errors {
    momentum: f64,
    complementarity: f64,
    open: f64,
}

impl Errors {
    fn largest(&self) -> f64 {
        self.momentum.max(self.complementarity).max(self.open)
    }
}

impl InteriorPoint {
    /// With a tolerance.
    pub fn new(tolerance: f64) -> Self {
        Self {
            tolerance,
            max_iterations: 100,
            hessian: Hessian::default(),
            slopes: Vec::new(),
            contacts: Vec::new(),
            residual: Vec::new(),
            momentum: Vec::new(),
            impulse: Vec::new(),
            step: Vec::new(),
            refused: None,
        }
    }

    /// Sets up a problem with v and pairs s = v_ref e, y = v_ref/w e; false if it has other laws than friction.
    fn prepare(&mut self, problem: &Problem) -> bool {
        self.refused = None;
        self.contacts.clear();
        let reference = problem.reference_velocity().max(f64::MIN_POSITIVE);
        for i in 0..problem.constraints().len() {
            let friction = match problem.law(i) {
                Law::Coulomb(law) if law.friction() > 0.0 => law.friction(),
                _ => {
                    self.refused =
                        Some(format!("constraint {i} is no contact with isotropic friction"));
                    return false;
                }
            };
            let p = vector(ContactVec { n: 1.0 / friction, t: Vector2::repeat(1.0) });
            let r = vector(ContactVec::load(&problem.compliance()[problem.row_range(i)]));
            let w = problem.delassus().scale(i) + r.mean();
            let (s, y) = (reference * unit(), reference / w * unit());
            let zero = Vector3::zeros();
            self.contacts.push(ConePair {
                p,
                compliance: p.component_mul(&r).component_mul(&p),
                s,
                y,
                scaling: Scaling::new(&s, &y),
                scaled: zero,
                inverse: Matrix3::identity(),
                open: zero,
                d: zero,
                ds: zero,
                dy: zero,
            });
        }
        self.hessian.prepare(problem);
        self.slopes.clear();
        self.slopes.resize(self.hessian.stencil().slopes(), 0.0);
        for x in [&mut self.residual, &mut self.momentum, &mut self.impulse, &mut self.step] {
            x.clear();
            x.resize(problem.dofs(), 0.0);
        }
        true
    }

    /// Residuals at an iterate, and its errors.
    fn evaluate(&mut self, problem: &Problem, v: &[f64], scaling: &[f64]) -> Errors {
        let jacobian = problem.jacobian();
        self.impulse.fill(0.0);
        let (mut gap, mut stored, mut open) = (0.0, 0.0, 0.0_f64);
        for (i, contact) in self.contacts.iter_mut().enumerate() {
            let mut rows = [0.0; 3];
            jacobian.mul_constraint(i, v, &mut rows);
            let e = ContactVec::load(&problem.bias()[problem.row_range(i)]);
            let c = vector(ContactVec::load(&rows)) + vector(e);
            contact.open = contact.p.component_mul(&c)
                + contact.compliance.component_mul(&contact.y)
                - contact.s;
            open = open.max(contact.open.amax());
            gap += contact.s.dot(&contact.y);
            stored += contact.y.dot(&contact.compliance.component_mul(&contact.y));
            triple(contact.p.component_mul(&contact.y)).store(&mut rows);
            jacobian.mul_constraint_transposed_add(i, &rows, &mut self.impulse);
        }
        problem.mass().mul(v, &mut self.momentum);
        let (b, free) = (problem.momentum(), problem.free_velocity());
        let (mut error, mut inertia, mut impulse, mut kinetic) = (0.0, 0.0, 0.0, 0.0);
        let mut total = 0.0;
        for k in 0..v.len() {
            let change = self.momentum[k] - b[k]; // A (v − v*)
            self.residual[k] = change - self.impulse[k];
            error += (scaling[k] * self.residual[k]).powi(2);
            inertia += (scaling[k] * self.momentum[k]).powi(2);
            impulse += (scaling[k] * self.impulse[k]).powi(2);
            kinetic += change * (v[k] - free[k]);
            total += b[k] * free[k];
        }
        let count = self.contacts.len().max(1) as f64;
        let cost = 0.5 * (kinetic + stored).max(NO_COST * total);
        Errors {
            momentum: ratio(error.sqrt(), inertia.max(impulse).sqrt()),
            complementarity: ratio(gap / count, cost),
            open: ratio(open, problem.reference_velocity()),
        }
    }

    /// Factors `A + Jᵀ G J` at the present pairs; false if it is not positive definite in floating point.
    fn factor(&mut self, problem: &Problem) -> bool {
        for (i, contact) in self.contacts.iter_mut().enumerate() {
            contact.scaling = Scaling::new(&contact.s, &contact.y);
            contact.scaled = contact.scaling.forward(&contact.y);
            let matrix = contact.scaling.square() + Matrix3::from_diagonal(&contact.compliance);
            let Some(inverse) = matrix.try_inverse() else { return false };
            contact.inverse = inverse;
            let P = Matrix3::from_diagonal(&contact.p);
            store(&(P * inverse * P), &mut self.slopes[self.hessian.stencil().slope_range(i)]);
        }
        self.hessian.assemble(problem, &self.slopes);
        self.hessian.factor()
    }

    /// The Newton step for the complementarity d of the pairs.
    fn solve(&mut self, problem: &Problem) {
        let jacobian = problem.jacobian();
        for (step, residual) in self.step.iter_mut().zip(&self.residual) {
            *step = -residual;
        }
        for (i, contact) in self.contacts.iter().enumerate() {
            let from = contact.inverse * (contact.scaling.forward(&contact.d) - contact.open);
            let mut rows = [0.0; 3];
            triple(contact.p.component_mul(&from)).store(&mut rows);
            jacobian.mul_constraint_transposed_add(i, &rows, &mut self.step);
        }
        self.hessian.solve(&mut self.step);
        for (i, contact) in self.contacts.iter_mut().enumerate() {
            let mut rows = [0.0; 3];
            jacobian.mul_constraint(i, &self.step, &mut rows);
            let change = contact.p.component_mul(&vector(ContactVec::load(&rows)));
            let from = contact.scaling.forward(&contact.d);
            contact.dy = contact.inverse * (from - contact.open - change);
            // Not W d − W² dy, whose terms cancel where W is large.
            contact.ds = change + contact.compliance.component_mul(&contact.dy) + contact.open;
        }
    }

    /// The length of the step, at most one, that stays in the cones.
    fn length(&self) -> f64 {
        let most = |c: &ConePair| distance(&c.s, &c.ds).min(distance(&c.y, &c.dy));
        let most = self.contacts.iter().map(most).fold(f64::INFINITY, f64::min);
        let mut length = (PART * most).min(1.0);
        for _ in 0..MOST_SHORTENED {
            if self.contacts.iter().all(|contact| contact.is_inside_after(length)) {
                return length;
            }
            length *= SHORTER;
        }
        0.0
    }

    /// One iteration: predictor, corrector, step. False, without a step, if it broke down.
    fn iterate(&mut self, problem: &Problem, v: &mut [f64]) -> bool {
        if !self.factor(problem) {
            return false;
        }
        let count = self.contacts.len().max(1) as f64;
        let mean = self.contacts.iter().map(|c| c.s.dot(&c.y)).sum::<f64>() / count;
        for contact in &mut self.contacts {
            contact.d = -contact.scaled;
        }
        self.solve(problem);
        // What the predictor leaves of the complementarity decides how far the corrector centres.
        let predicted = self.length();
        let centring = (1.0 - predicted).powi(3);
        let weight = if predicted > SHORT { 1.0 } else { 0.0 };
        for contact in &mut self.contacts {
            let (W, scaled) = (contact.scaling, contact.scaled);
            let second = product(&W.backward(&contact.ds), &W.forward(&contact.dy));
            let aim = centring * mean * unit() - product(&scaled, &scaled) - weight * second;
            contact.d = quotient(&scaled, &aim);
        }
        self.solve(problem);
        let length = self.length();
        if !(length > 0.0 && self.step.iter().all(|step| step.is_finite())) {
            return false;
        }
        for contact in &mut self.contacts {
            contact.s += length * contact.ds;
            contact.y += length * contact.dy;
        }
        for (v, step) in v.iter_mut().zip(&self.step) {
            *v += length * step;
        }
        true
    }
}

/// a/b, or zero if a is.
fn ratio(a: f64, b: f64) -> f64 {
    if a == 0.0 { 0.0 } else { a / b }
}

/// Components in the order of the cone: the normal first.
fn vector(c: ContactVec) -> Vector3<f64> {
    Vector3::new(c.n, c.t.x, c.t.y)
}

fn triple(u: Vector3<f64>) -> ContactVec {
    ContactVec { n: u.x, t: Vector2::new(u.y, u.z) }
}

/// Writes a matrix in the order of the cone over the rows of a contact.
fn store(m: &Matrix3<f64>, out: &mut [f64]) {
    let (nt, tn) = (Vector2::new(m.m12, m.m13), Vector2::new(m.m21, m.m31));
    ContactVec::store_matrix(m.m11, nt, tn, Matrix2::new(m.m22, m.m23, m.m32, m.m33), out);
}

impl Solver for InteriorPoint {
    fn models(&self) -> &'static [FrictionModel] {
        &[FrictionModel::Convex]
    }

    fn notes(&self) -> Vec<String> {
        self.refused.iter().cloned().collect()
    }

    fn improve(
        &mut self,
        problem: &Problem,
        monitor: &mut Monitor,
        solution: &mut Solution,
    ) -> Status {
        if !self.prepare(problem) {
            return Status::Failed;
        }
        let scaling = monitor.scaling().to_vec();
        let mut status = Status::IterationLimit;
        for iteration in 0..=monitor.iteration_limit(self.max_iterations) {
            let errors = self.evaluate(problem, &solution.velocity, &scaling);
            if errors.largest() <= self.tolerance {
                status = Status::Converged;
                break;
            }
            if iteration == monitor.iteration_limit(self.max_iterations) {
                break;
            }
            monitor.count(1);
            if !self.iterate(problem, &mut solution.velocity) {
                status = Status::Stalled;
                break;
            }
        }
        for (i, contact) in self.contacts.iter().enumerate() {
            let impulse = triple(contact.p.component_mul(&contact.y));
            impulse.store(&mut solution.impulse[problem.row_range(i)]);
        }
        match monitor.observe(problem, &solution.velocity, &solution.impulse) {
            Verdict::Stop(status) => status,
            Verdict::Continue => status,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use stiction_solve::catalogue::{self, Variation};
    use stiction_solve::{Goal, Session};

    fn solve(entry: &str, tolerance: f64) -> (Problem, stiction_solve::Report, Solution) {
        let entry = catalogue::find(entry).unwrap();
        let mut problem = (entry.build)(&Variation::default()).unwrap();
        for i in 0..problem.constraints().len() {
            problem.raise_compliance(i, 1e-2 * problem.delassus().scale(i));
        }
        let mut session = Session::with("interior-point", Box::new(InteriorPoint::new(tolerance)));
        let mut solution = Solution::cold(&problem);
        // A complementarity of 1e-12 leaves errors of its square root.
        let goal = Goal { tolerance: 1e-5, ..Goal::default() };
        let report = session.solve(&problem, &goal, &mut solution).unwrap();
        (problem, report, solution)
    }

    #[test]
    fn it_finds_the_minimum_that_newton_finds_to_the_root_of_its_gap_in_few_iterations() {
        const TOLERANCE: f64 = 1e-12;
        for name in ["box-slide", "sphere-pile"] {
            let (problem, report, found) = solve(name, TOLERANCE);
            assert_eq!(report.status, Status::Converged, "{name}: {report:?}");
            assert!(report.iterations <= 25, "{name}: {}", report.iterations);
            // SAP without softening, to round-off.
            let mut session = Session::new("sap").unwrap();
            for (key, value) in [("beta", "0"), ("sigma", "0"), ("epsilon-r", "1e-11")] {
                session.set(key, value).unwrap();
            }
            let mut reference = Solution::cold(&problem);
            let goal = Goal { tolerance: 1e-9, ..Goal::default() };
            let other = session.solve(&problem, &goal, &mut reference).unwrap();
            assert_eq!(other.status, Status::Converged, "{name}: {other:?}");
            // Strong convexity: ½ |v − v*|²_A is at most the gap Σ s·y = n e_μ ℓ; twice, for v and s are as exact as the gap.
            let mut measure = stiction_solve::ResidualMeasure::default();
            measure.prepare(&problem);
            let cost = measure.primal_cost(&problem, &reference.velocity, &reference.impulse);
            let off: Vec<f64> =
                found.velocity.iter().zip(&reference.velocity).map(|(a, b)| a - b).collect();
            let mut momentum = vec![0.0; off.len()];
            problem.mass().mul(&off, &mut momentum);
            let energy: f64 = 0.5 * off.iter().zip(&momentum).map(|(v, p)| v * p).sum::<f64>();
            let gap = problem.contacts() as f64 * TOLERANCE * cost;
            assert!(energy <= 2.0 * gap, "{name}: {energy} {gap}");
        }
    }

    #[test]
    fn laws_other_than_friction_are_refused_with_a_note() {
        let problem = catalogue::CATALOGUE
            .iter()
            .map(|entry| (entry.build)(&Variation::default()).unwrap())
            .find(|p| (0..p.constraints().len()).any(|i| !p.law(i).is_contact()))
            .unwrap();
        let mut session = Session::with("interior-point", Box::new(InteriorPoint::new(1e-8)));
        let mut solution = Solution::cold(&problem);
        let report = session.solve(&problem, &Goal::default(), &mut solution).unwrap();
        assert_ne!(report.status, Status::Converged);
        assert!(session.notes()[0].contains("friction"), "{:?}", session.notes());
    }
}
