//! The rows of a problem: J from the terms `C·P` of its constraints.

use super::{Jacobian, Map, Mass, Port, Problem, SubsystemId};
use crate::error::ProblemError;
use crate::law::Law;

impl Problem {
    /// Assembles J from the terms.
    pub(super) fn collect_rows(&mut self) {
        let Self { mass, ports, rows, jacobian, work, .. } = self;
        jacobian.clear();
        for c in rows.constraints() {
            let dim = c.law.dim();
            jacobian.push_constraint(dim);
            for term in &rows.terms()[c.terms()] {
                push_term(jacobian, mass, &ports[term.port.0], rows.values(term), dim, work);
            }
        }
        jacobian.finish(mass.matrix().pattern());
    }

    /// Checks that every constraint has a nonzero Jacobian row, a positive compliance or a spring-damper law.
    pub(super) fn check_effects(&self) -> Result<(), ProblemError> {
        for (constraint, c) in self.constraints().iter().enumerate() {
            if !self.jacobian.is_zero(constraint) {
                continue;
            }
            let compliance = &self.compliance()[self.row_range(constraint)];
            if !compliance.iter().any(|r| *r > 0.0) && !matches!(c.law, Law::Soft(_)) {
                return Err(ProblemError::NoEffect { constraint });
            }
        }
        Ok(())
    }
}

/// Adds `C·P` to the blocks of the last constraint.
fn push_term(
    jacobian: &mut Jacobian,
    mass: &Mass,
    port: &Port,
    values: &[f64],
    dim: usize,
    work: &mut Vec<f64>,
) {
    let blocks = mass.blocks(port.subsystem);
    match &port.map {
        Map::Whole if blocks.len() == 1 => jacobian.add_block(blocks.start, values),
        Map::Nodes(nodes) => {
            let width = values.len() / dim.max(1);
            for (node, weight) in nodes {
                let out = jacobian.block_of_last(blocks.start + node, width);
                add_scaled(out, *weight, values);
            }
        }
        Map::Point { nodes, weights } => {
            let width = values.len() / dim.max(1);
            for (node, weight) in nodes.iter().zip(weights).filter(|(_, w)| **w != 0.0) {
                let out = jacobian.block_of_last(blocks.start + *node as usize, width);
                add_scaled(out, *weight, values);
            }
        }
        _ if blocks.len() == 1 => {
            let n = mass.dofs(port.subsystem).len();
            jacobian.add_to_last(blocks.start, n, |out| add_dense(mass, port, values, dim, out));
        }
        _ => {
            work.clear();
            work.resize(dim * mass.dofs(port.subsystem).len(), 0.0);
            add_dense(mass, port, values, dim, work);
            scatter(jacobian, mass, port.subsystem, work, dim);
        }
    }
}

/// Adds `C·P` over all velocities of a subsystem to a dense matrix of `dim` rows.
fn add_dense(mass: &Mass, port: &Port, values: &[f64], dim: usize, out: &mut [f64]) {
    let (n, size) = (mass.dofs(port.subsystem).len(), values.len() / dim.max(1));
    if let (Map::Link(link), Some(tree)) = (&port.map, mass.tree(port.subsystem)) {
        let (wrenches, _) = values.as_chunks::<6>();
        for k in tree.path(*link) {
            let S: &[f64; 6] = tree.subspaces()[k].as_ref();
            for (row, c) in wrenches.iter().enumerate() {
                let product: f64 = c.iter().zip(S).map(|(c, s)| c * s).sum();
                out[row * n + k] += product;
            }
        }
        return;
    }
    let rows = out.chunks_exact_mut(n.max(1)).zip(values.chunks_exact(size.max(1)));
    for (out, c) in rows {
        match &port.map {
            Map::Whole => out.iter_mut().zip(c).for_each(|(out, c)| *out += c),
            Map::Coordinates { first, count } => {
                out[*first..first + count].iter_mut().zip(c).for_each(|(out, c)| *out += c);
            }
            Map::Matrix { values: P, .. } => {
                for (c, row) in c.iter().zip(P.chunks_exact(n)) {
                    for (out, p) in out.iter_mut().zip(row) {
                        *out += c * p;
                    }
                }
            }
            Map::Link(_) | Map::Nodes(_) | Map::Point { .. } => {}
        }
    }
}

fn add_scaled(out: &mut [f64], weight: f64, values: &[f64]) {
    for (out, c) in out.iter_mut().zip(values) {
        *out += weight * c;
    }
}

/// Adds a dense `dim × n` matrix over a subsystem of several blocks to those of the last constraint, leaving
/// out blocks that are zero.
fn scatter(
    jacobian: &mut Jacobian,
    mass: &Mass,
    subsystem: SubsystemId,
    dense: &[f64],
    dim: usize,
) {
    let (base, n) = (mass.dofs(subsystem).start, mass.dofs(subsystem).len());
    for k in mass.blocks(subsystem) {
        let range = mass.matrix().pattern().range(k);
        let columns = range.start - base..range.end - base;
        let part = |d: usize| &dense[d * n..][columns.clone()];
        if (0..dim).all(|d| part(d).iter().all(|x| *x == 0.0)) {
            continue;
        }
        let out = jacobian.block_of_last(k, columns.len());
        for (d, out) in out.chunks_exact_mut(columns.len()).enumerate() {
            for (out, x) in out.iter_mut().zip(part(d)) {
                *out += x;
            }
        }
    }
}
