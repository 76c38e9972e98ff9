//! Reduction to participating velocities by the Schur complement [Han23, Eqs. (14)-(18)].
//!
//! Few nodes of a mesh are in contact, but all of them move with it. With the nodes ordered into
//! those that no constraint reads (n) and those that take part (p), the contact problem in v_p has
//! the matrix `Â = A_pp − A_pn A_nn⁻¹ A_np` and the momentum `b̂ = b_p − A_pn A_nn⁻¹ b_n`; the rest
//! follows from v_p. One factorization of A serves all Newton iterations, whose cost then depends
//! on the number of contacts, not on the size of the mesh. Subsystems without constraints are left out:
//! they move freely. Laws, scales and rows are those of the whole.
//!
//! The kept nodes are those that take part, no matter what was kept before: the bits of a solution do
//! not depend on earlier steps. The order of elimination is found once for a mesh and the last few
//! analyses are kept, so that changing contacts cost little.

use stiction_math::block;
use stiction_math::schur::Schur;

use crate::error::ProblemError;
use crate::problem::{Builder, Map, PortId, Problem, Structure, SubsystemId};
use crate::solution::Solution;

/// A problem reduced to the participating velocities, and the map back to all velocities.
#[derive(Debug, Default)]
pub struct Reduction {
    builder: Builder,
    reduced: Problem,
    parts: Vec<SubsystemPart>,
    condensed: Vec<Condensed>,
    /// Counts reductions.
    clock: u64,
    keep: Vec<bool>,
    ports: Vec<Option<PortId>>,
    meshes: Vec<MeshAnalysis>,
}

/// Analysis of a mesh that does not depend on its contacts.
#[derive(Debug)]
struct MeshAnalysis {
    pattern: block::Pattern,
    order: Vec<usize>,
    /// Multiplications of a factorization.
    work: f64,
}

/// How the velocities of one subsystem follow from the reduced ones.
#[derive(Clone, Copy, Debug)]
enum SubsystemPart {
    /// No constraint reads it.
    Free,
    /// Kept as it is, from this index on in the reduced velocities.
    Whole(usize),
    /// Condensed, from this index on in the reduced velocities, with this index of the condensed meshes.
    Condensed { at: usize, which: usize },
}

/// A mesh of which some nodes are kept.
#[derive(Debug)]
struct Condensed {
    /// The subsystem and the count of the reduction that last used it.
    subsystem: usize,
    used: u64,
    keep: Vec<bool>,
    schur: Schur,
    /// Â by blocks.
    complement: block::Symmetric,
    momentum: Vec<f64>,
}

/// Number of velocities in sparse subsystems above which a reduction may be faster.
const WORTH_FROM: usize = 1000;
/// Analyses kept beyond those of the last problem.
const SPARE_ANALYSES: usize = 4;

impl Condensed {
    fn analyse(mesh: &MeshAnalysis, keep: &[bool], node_size: usize) -> Self {
        let nodes = keep.iter().filter(|k| **k).count();
        let all = (0..nodes).flat_map(|i| (0..i).map(move |j| (i, j)));
        let complement =
            block::Symmetric::zeros(&block::Pattern::new(&vec![node_size; nodes], all));
        Self {
            subsystem: 0,
            used: 0,
            keep: keep.to_vec(),
            schur: Schur::analyse_in(&mesh.pattern, keep, &mesh.order),
            complement,
            momentum: vec![0.0; node_size * nodes],
        }
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

impl Reduction {
    /// Whether a reduction is likely to be faster: a large mesh, so little of it touched that factoring Â
    /// takes at most `worth` times the work of factoring A. With an infinite worth, true if
    /// anything can be left out.
    pub fn pays(&mut self, problem: &Problem, worth: f64) -> bool {
        let mass = problem.mass();
        let (mut all, mut less, mut more) = (0, 0.0, 0.0);
        for s in (0..mass.subsystems()).map(SubsystemId) {
            let sparse = matches!(mass.structure(s), Structure::Sparse { .. });
            let wanted = mass.is_lazy(s) || (sparse && worth.is_infinite());
            let Some(A) = mass.part(s).filter(|_| wanted) else { continue };
            let n = mass.dofs(s).len();
            let touched = participants(problem, s).count() * (n / mass.blocks(s).len());
            if touched == 0 || touched == n {
                continue;
            }
            if worth.is_infinite() {
                return true;
            }
            all += n;
            more += (touched as f64).powi(3) / 6.0;
            less += self.mesh_of(A.pattern()).work;
        }
        all >= WORTH_FROM && more <= worth * less
    }

    fn mesh_of(&mut self, pattern: &block::Pattern) -> &MeshAnalysis {
        let known = self.meshes.iter().position(|mesh| &mesh.pattern == pattern);
        let known = known.unwrap_or_else(|| {
            let order = Schur::order_of(pattern);
            let work = block::Cholesky::work_in(pattern, &order);
            self.meshes.push(MeshAnalysis { pattern: pattern.clone(), order, work });
            self.meshes.len() - 1
        });
        &self.meshes[known]
    }

    /// Reduces a problem.
    pub fn new(problem: &Problem) -> Result<Self, ProblemError> {
        let mut reduction = Self::default();
        reduction.update(problem)?;
        Ok(reduction)
    }

    /// Reduces another problem, in the same memory while the same nodes take part.
    pub fn update(&mut self, problem: &Problem) -> Result<(), ProblemError> {
        let (mass, jacobian) = (problem.mass(), problem.jacobian());
        self.builder.clear();
        self.parts.clear();
        self.clock += 1;
        self.ports.clear();
        self.ports.resize(mass.matrix().pattern().n_blocks(), None);
        let mut at = 0;
        for s in (0..mass.subsystems()).map(SubsystemId) {
            let part = match participants(problem, s).count() {
                0 => SubsystemPart::Free,
                count => self.add(problem, s, count, at)?,
            };
            self.parts.push(part);
            at += match part {
                SubsystemPart::Free => 0,
                SubsystemPart::Whole(_) => mass.dofs(s).len(),
                SubsystemPart::Condensed { which, .. } => self.condensed[which].schur.dim(),
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
    ) -> Result<SubsystemPart, ProblemError> {
        let mass = problem.mass();
        let (first, b) = (mass.blocks(s).start, &problem.momentum()[mass.dofs(s)]);
        let (node_size, A) = match (mass.structure(s), mass.part(s)) {
            (Structure::Sparse { node_size }, Some(A)) => (*node_size, A),
            (Structure::Tree { .. }, _) => {
                if let Some(tree) = mass.tree(s) {
                    let id = self.builder.tree(tree, b);
                    self.ports[first] = Some(self.builder.port(id, Map::Whole));
                }
                return Ok(SubsystemPart::Whole(at));
            }
            _ => {
                let diagonal = mass.matrix().pattern().diagonal(first);
                let id = self.builder.dense(mass.matrix().block(diagonal), b);
                self.ports[first] = Some(self.builder.port(id, Map::Whole));
                return Ok(SubsystemPart::Whole(at));
            }
        };
        let nodes = mass.blocks(s).len();
        if count == nodes {
            let id = self.builder.sparse_view(A, b, None);
            for k in 0..nodes {
                self.ports[first + k] = Some(self.builder.port(id, Map::node(k as u32)));
            }
            return Ok(SubsystemPart::Whole(at));
        }
        let which = self.keep_participants(problem, s, A.pattern(), node_size);
        let condensed = &mut self.condensed[which];
        if !condensed.reduce(A, b, node_size) {
            return Err(ProblemError::NotPositiveDefinite { subsystem: s.0 });
        }
        let id = self.builder.sparse_matrix(&condensed.complement, &condensed.momentum, None);
        let kept = (0..nodes).filter(|k| condensed.keep[*k]);
        for (new, old) in kept.enumerate() {
            self.ports[first + old] = Some(self.builder.port(id, Map::node(new as u32)));
        }
        Ok(SubsystemPart::Condensed { at, which })
    }

    /// Finds the analysis of a mesh for the nodes that take part, or makes it.
    fn keep_participants(
        &mut self,
        problem: &Problem,
        s: SubsystemId,
        pattern: &block::Pattern,
        node_size: usize,
    ) -> usize {
        let first = problem.mass().blocks(s).start;
        let takes_part = |k: usize| !problem.jacobian().column_entries(first + k).is_empty();
        self.keep.clear();
        self.keep.extend((0..pattern.n_blocks()).map(takes_part));
        let serves = |c: &Condensed| {
            c.used != self.clock && c.keep == self.keep && c.schur.pattern() == pattern
        };
        // Equal meshes with equal participating nodes still have one analysis each.
        let same = |c: &Condensed| serves(c) && c.subsystem == s.0;
        let found = self.condensed.iter().position(same);
        let which = found.or_else(|| self.condensed.iter().position(serves)).unwrap_or_else(|| {
            let keep = std::mem::take(&mut self.keep);
            let condensed = Condensed::analyse(self.mesh_of(pattern), &keep, node_size);
            self.keep = keep;
            self.make_room();
            let free = self.condensed.iter().position(|c| c.used == 0);
            match free {
                Some(slot) => {
                    self.condensed[slot] = condensed;
                    slot
                }
                None => {
                    self.condensed.push(condensed);
                    self.condensed.len() - 1
                }
            }
        });
        (self.condensed[which].used, self.condensed[which].subsystem) = (self.clock, s.0);
        which
    }

    /// Marks the least recently used analysis as free, if there are many.
    fn make_room(&mut self) {
        let clock = self.clock;
        let in_use = self.condensed.iter().filter(|c| c.used == clock).count();
        if self.condensed.len() > in_use + SPARE_ANALYSES {
            let oldest = self.condensed.iter_mut().filter(|c| c.used != clock);
            if let Some(oldest) = oldest.min_by_key(|c| c.used) {
                oldest.used = 0;
            }
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
                SubsystemPart::Free => {}
                SubsystemPart::Whole(_) => reduced.velocity.extend_from_slice(v),
                SubsystemPart::Condensed { which, .. } => {
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
                SubsystemPart::Free => {
                    v.copy_from_slice(&problem.momentum()[dofs]);
                    mass.solve_subsystem(SubsystemId(s), v);
                }
                SubsystemPart::Whole(at) => {
                    v.copy_from_slice(&reduced.velocity[*at..*at + v.len()])
                }
                SubsystemPart::Condensed { at, which } => {
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
            session.reduce(crate::solver::Reduce::Never);
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
