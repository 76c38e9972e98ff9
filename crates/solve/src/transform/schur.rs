//! Reduction to participating velocities by the Schur complement [Han23, Eqs. (14)-(18)].
//!
//! Few nodes of a mesh touch anything, but all of them feel it. With the nodes ordered into
//! those that no constraint reads (n) and those that take part (p), the contact problem in v_p has
//! the matrix `Â = A_pp − A_pn A_nn⁻¹ A_np` and the momentum `b̂ = b_p − A_pn A_nn⁻¹ b_n`; the rest
//! follows from v_p. One factorization of A serves all Newton iterations, which then cost what the
//! contact costs, not what the mesh costs. Subsystems that nothing touches are left out: they
//! move freely. Laws, scales and rows are those of the whole.
//!
//! The nodes that are kept may be more than those that take part: as long as the participants stay
//! among the kept of the last problem, and those are not far more, the analysis is kept, so that
//! contacts which come and go cost no analysis and no memory.

use stiction_math::block;
use stiction_math::schur::Schur;

use crate::error::ProblemError;
use crate::problem::{Builder, Map, PortId, Problem, Structure, SubsystemId};
use crate::solution::Solution;

/// A problem reduced to the velocities that take part, and the way back.
#[derive(Debug, Default)]
pub struct Reduction {
    builder: Builder,
    reduced: Problem,
    parts: Vec<Part>,
    condensed: Vec<Condensed>,
    used: usize,
    ports: Vec<Option<PortId>>,
    /// Work of a factorization of each mesh, for [`Reduction::pays`].
    known: Vec<(block::Pattern, f64)>,
}

/// How the velocities of one subsystem are found again.
#[derive(Clone, Copy, Debug)]
enum Part {
    /// Nothing touches it.
    Free,
    /// Taken over as it is, at this place among the reduced velocities.
    Whole(usize),
    /// Reduced, at this place among the reduced velocities, by one of the condensed ones.
    Condensed { at: usize, which: usize },
}

/// A mesh of which some nodes are kept.
#[derive(Debug)]
struct Condensed {
    keep: Vec<bool>,
    schur: Schur,
    /// Â by blocks.
    complement: block::Symmetric,
    momentum: Vec<f64>,
}

/// Velocities in sparse subsystems from which on a reduction may pay.
const WORTH_FROM: usize = 1000;
/// Work of a factorization of Â, relative to that of A, up to which it pays: a few Newton
/// iterations with Â then cost less than with A, the complement included.
const WORTH_WORK: f64 = 0.5;
/// Nodes may be kept beyond those that take part: this many times, and this many more.
const KEPT_FACTOR: f64 = 1.3;
const KEPT_MORE: f64 = 10.0;

impl Condensed {
    fn analyse(pattern: &block::Pattern, keep: Vec<bool>, node_size: usize) -> Self {
        let nodes = keep.iter().filter(|k| **k).count();
        let all = (0..nodes).flat_map(|i| (0..i).map(move |j| (i, j)));
        let complement =
            block::Symmetric::zeros(&block::Pattern::new(&vec![node_size; nodes], all));
        let momentum = vec![0.0; node_size * nodes];
        Self { schur: Schur::analyse(pattern, &keep), keep, complement, momentum }
    }

    /// Whether it serves nodes that take part, without keeping far too many.
    fn serves(&self, pattern: &block::Pattern, takes_part: impl Fn(usize) -> bool) -> bool {
        if self.schur.pattern() != pattern {
            return false;
        }
        let touched = (0..self.keep.len()).filter(|k| takes_part(*k)).count();
        let kept = self.keep.iter().filter(|k| **k).count();
        (0..self.keep.len()).all(|k| self.keep[k] || !takes_part(k)) && acceptable(kept, touched)
    }

    /// Forms Â and b̂. False if A is not positive definite.
    fn reduce(&mut self, A: block::View<'_>, b: &[f64], size: usize) -> bool {
        if self.schur.factor_view(A).is_err() {
            return false;
        }
        self.schur.reduce_rhs(b, &mut self.momentum);
        let (S, n) = (self.schur.complement(), self.schur.dim());
        let mut blocks = self.complement.values_mut().chunks_exact_mut(size * size);
        for i in 0..n / size {
            for (j, block) in (0..=i).zip(&mut blocks) {
                for (p, row) in block.chunks_exact_mut(size).enumerate() {
                    row.copy_from_slice(&S[(i * size + p) * n + j * size..][..size]);
                }
            }
        }
        true
    }
}

fn acceptable(kept: usize, touched: usize) -> bool {
    kept as f64 <= KEPT_FACTOR * touched as f64 + KEPT_MORE
}

impl Reduction {
    /// Whether a reduction is likely to pay: a large mesh, little of it touched.
    pub fn pays(&mut self, problem: &Problem) -> bool {
        let mass = problem.mass();
        let (mut all, mut less, mut more) = (0, 0.0, 0.0);
        for s in (0..mass.subsystems()).map(SubsystemId) {
            let Some(A) = mass.part(s).filter(|_| mass.is_lazy(s)) else { continue };
            let n = mass.dofs(s).len();
            let touched = participants(problem, s).count() * (n / mass.blocks(s).len());
            if touched == 0 || touched == n {
                continue;
            }
            all += n;
            more += (touched as f64).powi(3) / 6.0;
            less += self.work_of(A.pattern());
        }
        all >= WORTH_FROM && more <= WORTH_WORK * less
    }

    fn work_of(&mut self, pattern: &block::Pattern) -> f64 {
        if let Some((_, work)) = self.known.iter().find(|(known, _)| known == pattern) {
            return *work;
        }
        let work = block::Cholesky::work_of(pattern);
        self.known.push((pattern.clone(), work));
        work
    }

    /// Reduces a problem.
    pub fn new(problem: &Problem) -> Result<Self, ProblemError> {
        let mut reduction = Self::default();
        reduction.update(problem)?;
        Ok(reduction)
    }

    /// Reduces another problem, in the same memory while participants stay among the kept.
    pub fn update(&mut self, problem: &Problem) -> Result<(), ProblemError> {
        let (mass, jacobian) = (problem.mass(), problem.jacobian());
        self.builder.clear();
        self.parts.clear();
        self.used = 0;
        self.ports.clear();
        self.ports.resize(mass.matrix().pattern().n_blocks(), None);
        let mut at = 0;
        for s in (0..mass.subsystems()).map(SubsystemId) {
            let part = match participants(problem, s).count() {
                0 => Part::Free,
                count => self.add(problem, s, count, at)?,
            };
            self.parts.push(part);
            at += match part {
                Part::Free => 0,
                Part::Whole(_) => mass.dofs(s).len(),
                Part::Condensed { which, .. } => self.condensed[which].schur.dim(),
            };
        }
        for i in 0..problem.constraints().len() {
            let rows = problem.row_range(i);
            let terms = jacobian
                .constraint_entries(i)
                .iter()
                .filter_map(|e| Some((self.ports[e.block as usize]?, jacobian.block(e))));
            let (e, R) = (&problem.bias()[rows.clone()], &problem.compliance()[rows]);
            self.builder.constraint_of(*problem.law(i), e, R, terms);
        }
        self.builder.build_like(&mut self.reduced, problem)
    }

    /// Adds a subsystem of which `count` blocks take part.
    fn add(
        &mut self,
        problem: &Problem,
        s: SubsystemId,
        count: usize,
        at: usize,
    ) -> Result<Part, ProblemError> {
        let mass = problem.mass();
        let (first, b) = (mass.blocks(s).start, &problem.momentum()[mass.dofs(s)]);
        let (node_size, A) = match (mass.structure(s), mass.part(s)) {
            (Structure::Sparse { node_size }, Some(A)) => (*node_size, A),
            (Structure::Tree { .. }, _) => {
                if let Some(tree) = mass.tree(s) {
                    let id = self.builder.tree(tree, b);
                    self.ports[first] = Some(self.builder.port(id, Map::Whole));
                }
                return Ok(Part::Whole(at));
            }
            _ => {
                let diagonal = mass.matrix().pattern().diagonal(first);
                let id = self.builder.dense(mass.matrix().block(diagonal), b);
                self.ports[first] = Some(self.builder.port(id, Map::Whole));
                return Ok(Part::Whole(at));
            }
        };
        let nodes = mass.blocks(s).len();
        if count == nodes {
            let id = self.builder.sparse_view(A, b, None);
            for k in 0..nodes {
                self.ports[first + k] = Some(self.builder.port(id, Map::node(k as u32)));
            }
            return Ok(Part::Whole(at));
        }
        let which = self.used;
        self.used += 1;
        self.keep_participants(problem, s, A.pattern(), node_size, which);
        let condensed = &mut self.condensed[which];
        if !condensed.reduce(A, b, node_size) {
            return Err(ProblemError::NotPositiveDefinite { subsystem: s.0 });
        }
        let id = self.builder.sparse_matrix(&condensed.complement, &condensed.momentum, None);
        let kept = (0..nodes).filter(|k| condensed.keep[*k]);
        for (new, old) in kept.enumerate() {
            self.ports[first + old] = Some(self.builder.port(id, Map::node(new as u32)));
        }
        Ok(Part::Condensed { at, which })
    }

    /// Analyses a mesh anew if the last analysis does not serve.
    fn keep_participants(
        &mut self,
        problem: &Problem,
        s: SubsystemId,
        pattern: &block::Pattern,
        node_size: usize,
        which: usize,
    ) {
        let first = problem.mass().blocks(s).start;
        let takes_part = |k: usize| !problem.jacobian().column_entries(first + k).is_empty();
        if self.condensed.get(which).is_some_and(|c| c.serves(pattern, takes_part)) {
            return;
        }
        let mut keep: Vec<bool> = (0..pattern.n_blocks()).map(takes_part).collect();
        let touched = keep.iter().filter(|k| **k).count();
        if let Some(last) = self.condensed.get(which).filter(|c| c.schur.pattern() == pattern) {
            // What has taken part may do so again.
            let both: Vec<bool> = keep.iter().zip(&last.keep).map(|(a, b)| a | b).collect();
            if acceptable(both.iter().filter(|k| **k).count(), touched) {
                keep = both;
            }
        }
        let condensed = Condensed::analyse(pattern, keep, node_size);
        match self.condensed.get_mut(which) {
            Some(slot) => *slot = condensed,
            None => self.condensed.push(condensed),
        }
    }

    /// The reduced problem. Its rows are those of the whole.
    pub fn problem(&self) -> &Problem {
        &self.reduced
    }

    /// Reads the velocities that take part out of a solution of the whole.
    pub fn restrict(&self, problem: &Problem, whole: &Solution, reduced: &mut Solution) {
        reduced.velocity.clear();
        for (s, part) in self.parts.iter().enumerate() {
            let v = &whole.velocity[problem.mass().dofs(SubsystemId(s))];
            match part {
                Part::Free => {}
                Part::Whole(_) => reduced.velocity.extend_from_slice(v),
                Part::Condensed { which, .. } => {
                    let kept = self.condensed[*which].schur.kept();
                    reduced.velocity.extend(kept.iter().map(|k| v[*k]));
                }
            }
        }
        reduced.impulse.clone_from(&whole.impulse);
    }

    /// Extends a solution of the reduced problem to the whole.
    pub fn expand(&mut self, problem: &Problem, reduced: &Solution, whole: &mut Solution) {
        whole.impulse.clone_from(&reduced.impulse);
        let mass = problem.mass();
        for (s, part) in self.parts.iter().enumerate() {
            let dofs = mass.dofs(SubsystemId(s));
            let v = &mut whole.velocity[dofs.clone()];
            match part {
                Part::Free => {
                    v.copy_from_slice(&problem.momentum()[dofs]);
                    mass.solve_subsystem(SubsystemId(s), v);
                }
                Part::Whole(at) => v.copy_from_slice(&reduced.velocity[*at..*at + v.len()]),
                Part::Condensed { at, which } => {
                    let schur = &mut self.condensed[*which].schur;
                    schur.expand(&reduced.velocity[*at..*at + schur.dim()], v);
                }
            }
        }
    }
}

/// Blocks of a subsystem that a constraint reads.
fn participants(problem: &Problem, s: SubsystemId) -> impl Iterator<Item = usize> + '_ {
    let read = |k: &usize| !problem.jacobian().column_entries(*k).is_empty();
    problem.mass().blocks(s).filter(read)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalogue::{self, Variation};
    use crate::{Goal, Session};

    #[test]
    fn the_reduced_problem_has_the_motion_of_the_whole() {
        for name in ["fem-block", "soft-plate", "gripped-block"] {
            let entry = catalogue::find(name).unwrap();
            let problem = (entry.build)(&Variation::default()).unwrap();
            let goal = Goal { tolerance: 1e-13, ..Goal::default() };
            let mut direct = Solution::cold(&problem);
            let mut session = Session::new("alm").unwrap();
            session.reduce(false);
            let _ = session.solve(&problem, &goal, &mut direct).unwrap();

            let mut reduction = Reduction::new(&problem).unwrap();
            assert!(reduction.problem().dofs() < problem.dofs());
            let mut small = Solution::cold(reduction.problem());
            let _ = session.solve(reduction.problem(), &goal, &mut small).unwrap();
            let mut whole = Solution::cold(&problem);
            reduction.expand(&problem, &small, &mut whole);
            let reference = problem.reference_velocity();
            for (a, b) in whole.velocity.iter().zip(&direct.velocity) {
                // Both are within the tolerance of the same velocity; ten covers the condition.
                assert!((a - b).abs() <= 1e-12 * reference.max(1.0), "{name}: {a} against {b}");
            }
            let mut back = Solution::default();
            reduction.restrict(&problem, &whole, &mut back);
            assert_eq!(back.velocity.len(), small.velocity.len());
            for (a, b) in back.velocity.iter().zip(&small.velocity) {
                assert!((a - b).abs() <= 1e-14 * (1.0 + b.abs()));
            }
        }
    }
}
