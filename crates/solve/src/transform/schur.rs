//! Reduction to participating velocities by the Schur complement [Han23, Eqs. (14)-(18)].
//!
//! Few nodes of a mesh touch anything, but all of them feel it. With the nodes ordered into
//! those that no constraint reads (n) and those that take part (p), the contact problem in v_p has
//! the matrix `Â = A_pp − A_pn A_nn⁻¹ A_np` and the momentum `b̂ = b_p − A_pn A_nn⁻¹ b_n`; the rest
//! follows from v_p. One factorization of A serves all Newton iterations, which then cost what the
//! contact costs, not what the mesh costs. Subsystems that nothing touches are left out: they
//! move freely.

use stiction_math::schur::Schur;

use crate::error::ProblemError;
use crate::problem::{Map, Problem, Structure, SubsystemId};
use crate::solution::Solution;

/// A problem reduced to the velocities that take part, and the way back.
#[derive(Debug)]
pub struct Reduction {
    reduced: Problem,
    parts: Vec<Part>,
}

/// How the velocities of one subsystem are found again.
#[derive(Debug)]
enum Part {
    /// Nothing touches it.
    Free,
    /// Taken over as it is, at this place among the reduced velocities.
    Whole(usize),
    /// Reduced, at this place among the reduced velocities.
    Condensed { at: usize, schur: Box<Schur>, full: Vec<f64> },
}

/// Velocities in sparse subsystems from which on a reduction may pay.
const WORTH_FROM: usize = 1000;
/// The largest part of them that takes part for which it pays.
const WORTH_PART: f64 = 1.0 / 3.0;

impl Reduction {
    /// Whether a reduction is likely to pay: a large mesh, little of it touched.
    pub fn pays(problem: &Problem) -> bool {
        let (mut all, mut touched) = (0, 0);
        for s in 0..problem.mass().subsystems() {
            if let Structure::Sparse { node_size } = problem.mass().structure(SubsystemId(s)) {
                all += problem.mass().dofs(SubsystemId(s)).len();
                touched += node_size * participants(problem, SubsystemId(s)).count();
            }
        }
        all >= WORTH_FROM && (touched as f64) <= WORTH_PART * all as f64
    }

    /// Reduces a problem.
    pub fn new(problem: &Problem) -> Result<Self, ProblemError> {
        let (mass, jacobian) = (problem.mass(), problem.jacobian());
        let mut builder = Problem::builder(problem.name());
        let mut ports = vec![None; mass.matrix().pattern().n_blocks()];
        let mut parts = Vec::with_capacity(mass.subsystems());
        let mut at = 0;
        for s in (0..mass.subsystems()).map(SubsystemId) {
            let count = participants(problem, s).count();
            if count == 0 {
                parts.push(Part::Free);
                continue;
            }
            let b = &problem.momentum()[mass.dofs(s)];
            let first = mass.blocks(s).start;
            let (node_size, part) = match (mass.structure(s), mass.part(s)) {
                (Structure::Sparse { node_size }, Some(part)) => (*node_size, part),
                _ => {
                    let diagonal = mass.matrix().pattern().diagonal(first);
                    let id = builder.dense(mass.matrix().block(diagonal), b);
                    ports[first] = Some(builder.port(id, Map::Whole));
                    parts.push(Part::Whole(at));
                    at += b.len();
                    continue;
                }
            };
            let keep: Vec<bool> =
                mass.blocks(s).map(|k| !jacobian.column_entries(k).is_empty()).collect();
            let kept: Vec<usize> = (0..keep.len()).filter(|k| keep[*k]).collect();
            let (id, entry) = if count == keep.len() {
                let entries = part.pattern().entries();
                let blocks = entries.map(|e| (e.row, e.col, part.block(e.id)));
                (builder.sparse(node_size, blocks, b), Part::Whole(at))
            } else {
                let mut schur = Box::new(Schur::analyse(part.pattern(), &keep));
                schur
                    .factor_view(part)
                    .map_err(|_| ProblemError::NotPositiveDefinite { subsystem: s.0 })?;
                let mut reduced = vec![0.0; schur.dim()];
                schur.reduce_rhs(b, &mut reduced);
                let blocks = node_blocks(schur.complement(), node_size, count);
                let list = blocks.iter().map(|(i, j, x)| (*i, *j, x.as_slice()));
                let id = builder.sparse(node_size, list, &reduced);
                (id, Part::Condensed { at, schur, full: vec![0.0; b.len()] })
            };
            parts.push(entry);
            for (new, old) in kept.iter().enumerate() {
                let map = Map::Nodes(vec![(new, 1.0)]);
                ports[first + old] = Some(builder.port(id, map));
            }
            at += node_size * count;
        }
        for i in 0..problem.constraints().len() {
            let rows = problem.row_range(i);
            let entries = jacobian.constraint_entries(i).iter();
            let terms: Vec<_> = entries
                .filter_map(|e| Some((ports[e.block as usize]?, jacobian.block(e))))
                .collect();
            let (e, R) = (&problem.bias()[rows.clone()], &problem.compliance()[rows]);
            builder.constraint(*problem.law(i), e, R, &terms);
        }
        Ok(Self { reduced: builder.build()?, parts })
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
                Part::Condensed { schur, .. } => {
                    reduced.velocity.extend(schur.kept().iter().map(|k| v[*k]));
                }
            }
        }
        reduced.impulse.clone_from(&whole.impulse);
    }

    /// Extends a solution of the reduced problem to the whole.
    pub fn expand(&mut self, problem: &Problem, reduced: &Solution, whole: &mut Solution) {
        whole.impulse.clone_from(&reduced.impulse);
        for (s, part) in self.parts.iter_mut().enumerate() {
            let dofs = problem.mass().dofs(SubsystemId(s));
            let v = &mut whole.velocity[dofs.clone()];
            match part {
                Part::Free => v.copy_from_slice(&problem.free_velocity()[dofs]),
                Part::Whole(at) => v.copy_from_slice(&reduced.velocity[*at..*at + v.len()]),
                Part::Condensed { at, schur, full } => {
                    schur.expand(&reduced.velocity[*at..*at + schur.dim()], full);
                    v.copy_from_slice(full);
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

/// The lower node blocks of a dense row-major matrix.
fn node_blocks(dense: &[f64], size: usize, nodes: usize) -> Vec<(usize, usize, Vec<f64>)> {
    let n = size * nodes;
    let mut blocks = Vec::with_capacity(nodes * (nodes + 1) / 2);
    for i in 0..nodes {
        for j in 0..=i {
            let rows = (0..size).map(|p| &dense[(i * size + p) * n + j * size..][..size]);
            blocks.push((i, j, rows.flatten().copied().collect()));
        }
    }
    blocks
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalogue::{self, Variation};
    use crate::{Goal, Session};

    #[test]
    fn the_reduced_problem_has_the_motion_of_the_whole() {
        let entry = catalogue::CATALOGUE.iter().find(|e| e.name == "fem-block").unwrap();
        let problem = (entry.build)(&Variation::default()).unwrap();
        let goal = Goal { tolerance: 1e-12, ..Goal::default() };
        let mut direct = Solution::cold(&problem);
        let report = Session::new("alm").unwrap().solve(&problem, &goal, &mut direct).unwrap();
        assert_eq!(report.status, crate::Status::Converged);

        let mut reduction = Reduction::new(&problem).unwrap();
        assert!(reduction.problem().dofs() < problem.dofs());
        let mut small = Solution::cold(reduction.problem());
        let mut session = Session::new("alm").unwrap();
        let report = session.solve(reduction.problem(), &goal, &mut small).unwrap();
        assert_eq!(report.status, crate::Status::Converged);
        let mut whole = Solution::cold(&problem);
        reduction.expand(&problem, &small, &mut whole);
        for (a, b) in whole.velocity.iter().zip(&direct.velocity) {
            // Both are within the tolerance of the same velocity.
            assert!((a - b).abs() <= 1e-10, "{a} against {b}");
        }
        let mut back = Solution::default();
        reduction.restrict(&problem, &whole, &mut back);
        assert_eq!(back.velocity.len(), small.velocity.len());
        for (a, b) in back.velocity.iter().zip(&small.velocity) {
            assert!((a - b).abs() <= 1e-14 * (1.0 + b.abs()));
        }
    }
}
