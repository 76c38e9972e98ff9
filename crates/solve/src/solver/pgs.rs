//! PGS: projected Gauss-Seidel on the assembled Delassus operator, the baseline of
//! [Lee25, Sec. VII].
//!
//! W = J A⁻¹ Jᵀ is stored as blocks between constraints that share a subsystem, which grows with
//! the square of the constraints on one subsystem. Constraints are updated in turn, by the strict
//! operator with a scalar step or, for exact friction, by an exact solve of its own contact
//! ([`super::local`]). Iterates on λ alone; v is formed only to measure the residual.

use super::Solver;
use super::local;
use super::sweep::{
    Direction, STANDSTILL, StepRule, at, due, groups, largest_of, spread_over, update_impulse,
};
use crate::contact::{ContactVec, DIM};
use crate::law::{FrictionModel, Law};
use crate::monitor::{Monitor, Status, Verdict};
use crate::problem::small::add_product;
use crate::problem::{Problem, SubsystemId};
use crate::setting::{NamedSettings, SettingRange};
use crate::solution::Solution;
use crate::{setting_choices, setting_table};

/// How one constraint is solved within a sweep.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LocalSolve {
    /// One projected step.
    Projected,
    /// Exact solve of its own problem, with exact friction.
    Exact,
}

setting_choices!(LocalSolve {
    "projected" => LocalSolve::Projected,
    "exact" => LocalSolve::Exact,
});

/// W in blocks, by rows.
#[derive(Clone, Debug, Default)]
struct Operator {
    start: Vec<usize>,
    columns: Vec<u32>,
    value_start: Vec<usize>,
    values: Vec<f64>,
    /// J v* + e.
    q: Vec<f64>,
    touching_start: Vec<u32>,
    touching: Vec<u32>,
    place: Vec<u32>,
    work: Vec<f64>,
}

impl Operator {
    fn assemble(&mut self, problem: &Problem) {
        self.list_touching(problem);
        self.list_columns(problem);
        self.q.clear();
        self.q.resize(problem.rows(), 0.0);
        problem.constraint_velocity(problem.free_velocity(), &mut self.q);
        let mass = problem.mass();
        let largest = (0..mass.subsystems()).map(|s| mass.dofs(SubsystemId(s)).len()).max();
        self.work.clear();
        self.work.resize(largest.unwrap_or(0), 0.0);
        for i in 0..problem.constraints().len() {
            for k in self.start[i]..self.start[i + 1] {
                self.place[self.columns[k] as usize] = k as u32;
            }
            for (subsystem, group) in groups(problem, i) {
                self.add_group(problem, i, subsystem, group);
            }
        }
    }

    /// Lists the constraints on each subsystem.
    fn list_touching(&mut self, problem: &Problem) {
        let (m, subsystems) = (problem.constraints().len(), problem.mass().subsystems());
        self.touching_start.clear();
        self.touching_start.resize(subsystems + 1, 0);
        for (s, _) in (0..m).flat_map(|i| groups(problem, i)) {
            self.touching_start[s.0 + 1] += 1;
        }
        for s in 0..subsystems {
            self.touching_start[s + 1] += self.touching_start[s];
        }
        self.touching.clear();
        self.touching.resize(self.touching_start[subsystems] as usize, 0);
        // Counting sort; `touching_start` is shifted while filling and restored below.
        for i in 0..m {
            for (s, _) in groups(problem, i) {
                let slot = &mut self.touching_start[s.0];
                self.touching[*slot as usize] = i as u32;
                *slot += 1;
            }
        }
        for s in (1..=subsystems).rev() {
            self.touching_start[s] = self.touching_start[s - 1];
        }
        self.touching_start[0] = 0;
    }

    fn touching(&self, s: SubsystemId) -> std::ops::Range<usize> {
        self.touching_start[s.0] as usize..self.touching_start[s.0 + 1] as usize
    }

    /// Lists the blocks of each row, in order, and allocates their values.
    fn list_columns(&mut self, problem: &Problem) {
        const NONE: u32 = u32::MAX;
        let (m, jacobian) = (problem.constraints().len(), problem.jacobian());
        self.place.clear();
        self.place.resize(m, NONE);
        self.start.clear();
        self.start.push(0);
        self.columns.clear();
        self.value_start.clear();
        let mut values = 0;
        for i in 0..m {
            let first = self.columns.len();
            for (s, _) in groups(problem, i) {
                for t in self.touching(s) {
                    let j = self.touching[t];
                    if self.place[j as usize] != i as u32 {
                        self.place[j as usize] = i as u32;
                        self.columns.push(j);
                    }
                }
            }
            self.columns[first..].sort_unstable();
            for j in &self.columns[first..] {
                self.value_start.push(values);
                values += jacobian.dim(i) * jacobian.dim(*j as usize);
            }
            self.start.push(self.columns.len());
        }
        self.value_start.push(values);
        self.values.clear();
        self.values.resize(values, 0.0);
    }

    /// Adds `J_is A_s⁻¹ J_jsᵀ` for every constraint j on the subsystem.
    fn add_group(
        &mut self,
        problem: &Problem,
        i: usize,
        subsystem: SubsystemId,
        group: std::ops::Range<usize>,
    ) {
        let jacobian = problem.jacobian();
        let dofs = problem.mass().dofs(subsystem);
        for d in 0..jacobian.dim(i) {
            let mut unit = [0.0; DIM];
            unit[d] = 1.0;
            let s = &mut self.work[..dofs.len()];
            let entries = &jacobian.entries()[group.clone()];
            spread_over(problem, subsystem, entries, &unit[..jacobian.dim(i)], s);
            for t in self.touching(subsystem) {
                let j = self.touching[t] as usize;
                let k = self.place[j] as usize;
                let row = self.value_start[k] + d * jacobian.dim(j);
                let out = &mut self.values[row..row + jacobian.dim(j)];
                for e in jacobian.constraint_entries(j) {
                    let range = jacobian.block_range(e.block as usize);
                    if range.start >= dofs.start && range.end <= dofs.end {
                        let part = &self.work[range.start - dofs.start..range.end - dofs.start];
                        add_product(jacobian.block(e), part, out);
                    }
                }
            }
        }
    }

    /// `c_i = (W λ)_i + J_i v* + e_i`, without compliance.
    #[inline]
    fn velocity(&self, problem: &Problem, i: usize, lambda: &[f64], c: &mut [f64]) {
        c.copy_from_slice(&self.q[problem.row_range(i)]);
        for k in self.start[i]..self.start[i + 1] {
            let x = &lambda[problem.row_range(self.columns[k] as usize)];
            add_product(&self.values[self.value_start[k]..self.value_start[k + 1]], x, c);
        }
    }

    /// W_ii.
    fn diagonal(&self, i: usize) -> &[f64] {
        let row = &self.columns[self.start[i]..self.start[i + 1]];
        let k = self.start[i] + row.partition_point(|j| (*j as usize) < i);
        match row.get(k - self.start[i]) {
            Some(j) if *j as usize == i => {
                &self.values[self.value_start[k]..self.value_start[k + 1]]
            }
            _ => &[],
        }
    }
}

/// Settings of PGS.
#[derive(Clone, Debug, PartialEq)]
pub struct PgsSettings {
    /// How one constraint is solved within a sweep.
    pub local: LocalSolve,
    /// Length of the projected step.
    pub step: StepRule,
    /// Over-relaxation ω of the projected step [-].
    pub omega: f64,
    /// Sweeps over all constraints.
    pub max_sweeps: usize,
}

impl Default for PgsSettings {
    fn default() -> Self {
        Self { local: LocalSolve::Projected, step: StepRule::Safe, omega: 1.0, max_sweeps: 1000 }
    }
}

setting_table!(
    PgsSettings,
    "solver 'pgs'",
    [
        (
            "local",
            local,
            "",
            SettingRange::ANY,
            "how a contact is solved: projected step or exact solve"
        ),
        ("step", step, "", SettingRange::ANY, "η: safe (1/λ_max) or trace (3/trace)"),
        ("omega", omega, "-", SettingRange::POSITIVE, "over-relaxation ω of the projected step"),
        ("max-sweeps", max_sweeps, "", SettingRange::ANY, "sweeps over all constraints"),
    ]
);

/// Projected Gauss-Seidel on an assembled operator.
#[derive(Default)]
pub struct Pgs {
    settings: PgsSettings,
    operator: Operator,
    /// W_ii + R_i, row-major, padded to the size of a contact.
    blocks: Vec<[f64; DIM * DIM]>,
    local_compliance: Vec<f64>,
    projected_instead: usize,
}

impl Pgs {
    fn prepare(&mut self, problem: &Problem) {
        self.operator.assemble(problem);
        self.blocks.clear();
        self.local_compliance.clear();
        for i in 0..problem.constraints().len() {
            let rows = problem.row_range(i);
            let dim = rows.len();
            let mut g = [0.0; DIM * DIM];
            let diagonal = self.operator.diagonal(i);
            g[..diagonal.len()].copy_from_slice(diagonal);
            for (d, r) in problem.compliance()[rows].iter().enumerate() {
                g[d * dim + d] += r;
            }
            self.local_compliance
                .push(self.settings.step.inverse_step(&g[..dim * dim]) / self.settings.omega);
            let ridge = local::RIDGE * (0..dim).map(|d| g[d * dim + d]).sum::<f64>();
            for d in 0..dim {
                g[d * dim + d] += ridge;
            }
            self.blocks.push(g);
        }
    }

    /// The friction of a contact that is solved exactly.
    fn exact(&self, law: &Law, model: FrictionModel) -> Option<f64> {
        match law {
            Law::Coulomb(k)
                if self.settings.local == LocalSolve::Exact && model == FrictionModel::Coulomb =>
            {
                Some(k.friction())
            }
            _ => None,
        }
    }

    /// One sweep. Returns the largest change as a velocity [m/s].
    fn pass(&mut self, problem: &Problem, model: FrictionModel, impulse: &mut [f64]) -> f64 {
        let count = problem.constraints().len();
        let mut largest: f64 = 0.0;
        for place in 0..count {
            let i = at(Direction::Forward, place, count);
            let (rows, r) = (problem.row_range(i), self.local_compliance[i]);
            let (dim, mut c) = (rows.len(), [0.0; DIM]);
            self.operator.velocity(problem, i, impulse, &mut c[..dim]);
            for (c, (R, l)) in c
                .iter_mut()
                .zip(problem.compliance()[rows.clone()].iter().zip(&impulse[rows.clone()]))
            {
                *c += R * l;
            }
            let lambda = &mut impulse[rows];
            let change = match self.exact(problem.law(i), model) {
                Some(mu) => {
                    let G = &self.blocks[i];
                    let mut old = [0.0; DIM];
                    old[..dim].copy_from_slice(lambda);
                    let mut without = [0.0; DIM];
                    add_product(G, &old, &mut without);
                    let c0: [f64; DIM] = std::array::from_fn(|k| c[k] - without[k]);
                    local::solve(mu, G, ContactVec::load(&c0)).store(lambda);
                    std::array::from_fn(|k| lambda[k] - old[k])
                }
                None => update_impulse(problem, i, model, &mut c[..dim], r, 1.0, lambda),
            };
            largest = largest.max(r * largest_of(&change));
        }
        largest
    }
}

impl Solver for Pgs {
    fn models(&self) -> &'static [FrictionModel] {
        &[FrictionModel::Coulomb, FrictionModel::Convex]
    }

    fn worth_reducing(&self, _far: bool) -> f64 {
        1.0 // W is assembled by solves with A
    }

    fn settings(&self) -> Option<&dyn NamedSettings> {
        Some(&self.settings)
    }

    fn settings_mut(&mut self) -> Option<&mut dyn NamedSettings> {
        Some(&mut self.settings)
    }

    fn notes(&self) -> Vec<String> {
        match self.projected_instead {
            0 => Vec::new(),
            n => vec![format!("{n} contacts have no exact local solve and were projected")],
        }
    }

    fn improve(
        &mut self,
        problem: &Problem,
        monitor: &mut Monitor,
        solution: &mut Solution,
    ) -> Status {
        let model = monitor.model();
        self.projected_instead = match self.settings.local {
            LocalSolve::Projected => 0,
            LocalSolve::Exact => problem
                .constraints()
                .iter()
                .filter(|c| c.law.is_contact() && self.exact(&c.law, model).is_none())
                .count(),
        };
        problem.velocity_of(&solution.impulse, &mut solution.velocity);
        if let Verdict::Stop(status) =
            monitor.observe(problem, &solution.velocity, &solution.impulse)
        {
            return status;
        }
        self.prepare(problem);
        let limit = monitor.iteration_limit(self.settings.max_sweeps);
        for sweep in 1..=limit {
            let change = self.pass(problem, model, &mut solution.impulse);
            monitor.count(1);
            if !change.is_finite() {
                return Status::Failed;
            }
            let standstill = change <= STANDSTILL * problem.reference_velocity();
            if due(sweep) || standstill || sweep == limit {
                problem.velocity_of(&solution.impulse, &mut solution.velocity);
                if let Verdict::Stop(status) =
                    monitor.observe(problem, &solution.velocity, &solution.impulse)
                {
                    return status;
                }
            }
            if standstill {
                return Status::Stalled;
            }
        }
        Status::IterationLimit
    }
}
