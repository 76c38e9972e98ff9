//! Builds a problem from its parts and checks it, once.

use stiction_math::block;

use super::{
    Constraint, Delassus, Islands, Jacobian, Map, Mass, Port, PortId, Problem, Structure,
    SubsystemId, Term, Tree,
};
use crate::contact::DIM;
use crate::error::ProblemError;
use crate::law::Law;

/// A block of a sparse subsystem: node indices and row-major values.
#[derive(Clone, Debug, PartialEq)]
struct NodeBlock {
    row: usize,
    col: usize,
    offset: usize,
}

#[derive(Clone, Debug)]
enum Part {
    Dense { n: usize, values: Vec<f64> },
    Sparse { node_size: usize, nodes: usize, blocks: Vec<NodeBlock>, values: Vec<f64> },
    Tree(Tree),
}

#[derive(Clone, Debug)]
struct Row {
    law: Law,
    bias: Vec<f64>,
    compliance: Vec<f64>,
    terms: Vec<(PortId, Vec<f64>)>,
}

/// Collects the parts of a problem. Nothing is checked before [`Builder::build`].
#[derive(Clone, Debug)]
pub struct Builder {
    name: String,
    parts: Vec<Part>,
    momenta: Vec<Vec<f64>>,
    ports: Vec<Port>,
    rows: Vec<Row>,
}

/// Relative asymmetry that is taken for round-off.
const ASYMMETRY: f64 = 1e-8;

impl Builder {
    pub(super) fn new(name: String) -> Self {
        Self { name, parts: Vec::new(), momenta: Vec::new(), ports: Vec::new(), rows: Vec::new() }
    }

    /// Adds a subsystem with a dense A [kg], row-major, and its b [N·s].
    pub fn dense(&mut self, matrix: &[f64], momentum: &[f64]) -> SubsystemId {
        self.push(Part::Dense { n: momentum.len(), values: matrix.to_vec() }, momentum)
    }

    /// Adds a subsystem of nodes with `node_size` velocities each. `blocks` yields the nodes
    /// (i, j) and the row-major block A_ij of one triangle; the other follows by symmetry and
    /// blocks that occur twice add up.
    pub fn sparse<'a>(
        &mut self,
        node_size: usize,
        blocks: impl IntoIterator<Item = (usize, usize, &'a [f64])>,
        momentum: &[f64],
    ) -> SubsystemId {
        let (mut list, mut values) = (Vec::new(), Vec::new());
        for (row, col, block) in blocks {
            list.push(NodeBlock { row, col, offset: values.len() });
            values.extend_from_slice(block);
        }
        let nodes = momentum.len() / node_size.max(1);
        self.push(Part::Sparse { node_size, nodes, blocks: list, values }, momentum)
    }

    /// Adds a tree of links; its A follows from the links. b [N·s or N·m·s] per velocity.
    pub fn tree(&mut self, tree: Tree, momentum: &[f64]) -> SubsystemId {
        self.push(Part::Tree(tree), momentum)
    }

    fn push(&mut self, part: Part, momentum: &[f64]) -> SubsystemId {
        self.parts.push(part);
        self.momenta.push(momentum.to_vec());
        SubsystemId(self.parts.len() - 1)
    }

    /// Adds a port.
    pub fn port(&mut self, subsystem: SubsystemId, map: Map) -> PortId {
        self.ports.push(Port { subsystem, map });
        PortId(self.ports.len() - 1)
    }

    /// Adds a constraint: a law, its bias e [m/s] and compliance R [1/kg] per row, and for each
    /// port that it touches the row-major matrix C. Its velocity is `Σ C P v + e`.
    pub fn constraint(
        &mut self,
        law: Law,
        bias: &[f64],
        compliance: &[f64],
        terms: &[(PortId, &[f64])],
    ) {
        self.rows.push(Row {
            law,
            bias: bias.to_vec(),
            compliance: compliance.to_vec(),
            terms: terms.iter().map(|(p, c)| (*p, c.to_vec())).collect(),
        });
    }

    /// Checks everything and derives what follows from it.
    pub fn build(self) -> Result<Problem, ProblemError> {
        if self.parts.is_empty() || self.momenta.iter().all(Vec::is_empty) {
            return Err(ProblemError::Empty);
        }
        for (i, part) in self.parts.iter().enumerate() {
            check_part(i, part, &self.momenta[i])?;
        }
        let mass = self.assemble_mass()?;
        for (i, port) in self.ports.iter().enumerate() {
            check_port(i, port, &mass)?;
        }
        for (i, row) in self.rows.iter().enumerate() {
            check_row(i, row, &self.ports, &mass)?;
        }
        let mut problem = Problem {
            name: self.name,
            mass,
            momentum: self.momenta.concat(),
            free_velocity: Vec::new(),
            ports: self.ports,
            terms: Vec::new(),
            term_values: Vec::new(),
            constraints: Vec::new(),
            bias: Vec::new(),
            compliance: Vec::new(),
            jacobian: Jacobian::default(),
            delassus: Delassus::default(),
            reference_velocity: 0.0,
            islands: Islands::default(),
        };
        problem.jacobian.clear();
        for row in &self.rows {
            problem.push_constraint(row);
        }
        let pattern = problem.mass.matrix().pattern();
        let starts: Vec<u32> = (0..pattern.n_blocks())
            .map(|k| pattern.start(k) as u32)
            .chain([pattern.dim() as u32])
            .collect();
        problem.jacobian.finish(&starts);
        for (constraint, row) in self.rows.iter().enumerate() {
            let yields = row.compliance.iter().any(|r| *r > 0.0) || matches!(row.law, Law::Soft(_));
            if problem.jacobian.is_zero(constraint) && !yields {
                return Err(ProblemError::NoEffect { constraint });
            }
        }
        problem.derive();
        check_derived(&problem)?;
        Ok(problem)
    }

    fn assemble_mass(&self) -> Result<Mass, ProblemError> {
        let (mut sizes, mut pairs) = (Vec::new(), Vec::new());
        let (mut structures, mut ranges) = (Vec::new(), Vec::new());
        for part in &self.parts {
            let first = sizes.len();
            match part {
                Part::Dense { n, .. } => {
                    sizes.push(*n);
                    structures.push(Structure::Dense);
                }
                Part::Sparse { node_size, nodes, blocks, .. } => {
                    sizes.extend(std::iter::repeat_n(*node_size, *nodes));
                    let pair = |b: &NodeBlock| (first + b.row.max(b.col), first + b.row.min(b.col));
                    pairs.extend(blocks.iter().map(pair));
                    structures.push(Structure::Sparse { node_size: *node_size });
                }
                Part::Tree(tree) => {
                    sizes.push(tree.velocities());
                    structures.push(Structure::Tree(std::sync::Arc::new(tree.clone())));
                }
            }
            ranges.push(first..sizes.len());
        }
        let pattern = block::Pattern::new(&sizes, pairs);
        let mut matrix = block::Symmetric::zeros(&pattern);
        for (part, range) in self.parts.iter().zip(&ranges) {
            match part {
                Part::Dense { n, values } => {
                    let out = matrix.block_mut(pattern.diagonal(range.start));
                    symmetrise(values, *n, out);
                }
                Part::Tree(tree) => {
                    tree.mass_matrix(matrix.block_mut(pattern.diagonal(range.start)));
                }
                Part::Sparse { node_size, blocks, values, .. } => {
                    let s = *node_size;
                    for b in blocks {
                        let (i, j) =
                            (range.start + b.row.max(b.col), range.start + b.row.min(b.col));
                        let Some(id) = pattern.find(i, j) else { continue };
                        let (from, out) = (&values[b.offset..], matrix.block_mut(id));
                        for p in 0..s {
                            for q in 0..s {
                                out[p * s + q] +=
                                    if b.row >= b.col { from[p * s + q] } else { from[q * s + p] };
                            }
                        }
                    }
                }
            }
        }
        Mass::new(matrix, structures, ranges)
    }
}

/// `out = ½ (A + Aᵀ)`.
fn symmetrise(a: &[f64], n: usize, out: &mut [f64]) {
    for i in 0..n {
        for j in 0..n {
            out[i * n + j] = 0.5 * (a[i * n + j] + a[j * n + i]);
        }
    }
}

fn length(
    what: &'static str,
    owner: &'static str,
    index: usize,
    found: usize,
    expected: usize,
) -> Result<(), ProblemError> {
    if found == expected {
        return Ok(());
    }
    Err(ProblemError::Length { what, owner, index, found, expected })
}

fn finite(
    what: &'static str,
    owner: &'static str,
    index: usize,
    values: &[f64],
) -> Result<(), ProblemError> {
    match values.iter().position(|x| !x.is_finite()) {
        None => Ok(()),
        Some(entry) => {
            let value = values[entry];
            Err(ProblemError::NotFinite { what, owner, index, entry, value })
        }
    }
}

fn known(
    owner: &'static str,
    index: usize,
    what: &'static str,
    found: usize,
    count: usize,
) -> Result<(), ProblemError> {
    if found < count {
        return Ok(());
    }
    Err(ProblemError::Unknown { owner, index, what, found, count })
}

fn symmetric(subsystem: usize, a: &[f64], n: usize) -> Result<(), ProblemError> {
    for row in 0..n {
        for column in 0..row {
            let (found, mirror) = (a[row * n + column], a[column * n + row]);
            let scale = (a[row * n + row] * a[column * n + column]).abs().sqrt();
            if (found - mirror).abs() > ASYMMETRY * scale.max(found.abs()) {
                return Err(ProblemError::NotSymmetric { subsystem, row, column, found, mirror });
            }
        }
    }
    Ok(())
}

fn check_part(index: usize, part: &Part, momentum: &[f64]) -> Result<(), ProblemError> {
    const OWNER: &str = "subsystem";
    if momentum.is_empty() {
        return Err(ProblemError::Length { what: "b", owner: OWNER, index, found: 0, expected: 1 });
    }
    finite("b", OWNER, index, momentum)?;
    match part {
        Part::Dense { n, values } => {
            length("A", OWNER, index, values.len(), n * n)?;
            finite("A", OWNER, index, values)?;
            symmetric(index, values, *n)
        }
        Part::Sparse { node_size, nodes, blocks, values } => {
            length("b", OWNER, index, momentum.len(), node_size * nodes)?;
            length("A", OWNER, index, values.len(), blocks.len() * node_size * node_size)?;
            finite("A", OWNER, index, values)?;
            for b in blocks {
                known(OWNER, index, "node", b.row.max(b.col), *nodes)?;
                if b.row == b.col {
                    let size = node_size * node_size;
                    symmetric(index, &values[b.offset..b.offset + size], *node_size)?;
                }
            }
            Ok(())
        }
        Part::Tree(tree) => {
            length("b", OWNER, index, momentum.len(), tree.velocities())?;
            tree.check(index)
        }
    }
}

fn check_port(index: usize, port: &Port, mass: &Mass) -> Result<(), ProblemError> {
    const OWNER: &str = "port";
    known(OWNER, index, "subsystem", port.subsystem.0, mass.subsystems())?;
    let (n, structure) = (mass.dofs(port.subsystem).len(), mass.structure(port.subsystem));
    let wrong = || ProblemError::WrongPort {
        port: index,
        subsystem: port.subsystem.0,
        map: port.map.describe(),
        kind: structure.describe(),
    };
    match &port.map {
        Map::Whole => Ok(()),
        Map::Coordinates { first, count } => {
            known(OWNER, index, "coordinate", first.saturating_add(*count).saturating_sub(1), n)
        }
        Map::Link(link) => {
            let tree = mass.tree(port.subsystem).ok_or_else(wrong)?;
            known(OWNER, index, "link", *link, tree.links())
        }
        Map::Nodes(nodes) => {
            let Structure::Sparse { node_size } = structure else {
                return Err(wrong());
            };
            for (node, weight) in nodes {
                known(OWNER, index, "node", *node, n / node_size)?;
                finite("weight", OWNER, index, std::slice::from_ref(weight))?;
            }
            Ok(())
        }
        Map::Matrix { rows, values } => {
            length("matrix", OWNER, index, values.len(), rows.saturating_mul(n))?;
            finite("matrix", OWNER, index, values)
        }
    }
}

/// Number of velocities that a port hands out.
fn port_size(port: &Port, mass: &Mass) -> usize {
    match &port.map {
        Map::Whole => mass.dofs(port.subsystem).len(),
        Map::Coordinates { count, .. } => *count,
        Map::Link(_) => 6,
        Map::Nodes(_) => match mass.structure(port.subsystem) {
            Structure::Sparse { node_size } => *node_size,
            Structure::Dense | Structure::Tree(_) => 0,
        },
        Map::Matrix { rows, .. } => *rows,
    }
}

fn check_row(index: usize, row: &Row, ports: &[Port], mass: &Mass) -> Result<(), ProblemError> {
    const OWNER: &str = "constraint";
    let dim = row.law.dim();
    length("bias", OWNER, index, row.bias.len(), dim)?;
    length("compliance", OWNER, index, row.compliance.len(), dim)?;
    finite("bias", OWNER, index, &row.bias)?;
    finite("compliance", OWNER, index, &row.compliance)?;
    let compliance = |expected| ProblemError::Compliance {
        constraint: index,
        found: row.compliance.clone(),
        expected,
    };
    if row.compliance.iter().any(|r| *r < 0.0) {
        return Err(compliance("no negative entry"));
    }
    if dim == DIM {
        let t = crate::contact::ContactVec::load(&row.compliance).t;
        if t.x != t.y {
            return Err(compliance("the same value for both tangents"));
        }
    }
    for (port, values) in &row.terms {
        known(OWNER, index, "port", port.0, ports.len())?;
        length("term", OWNER, index, values.len(), dim * port_size(&ports[port.0], mass))?;
        finite("term", OWNER, index, values)?;
    }
    Ok(())
}

/// Numbers that are finite can still overflow when they meet.
fn check_derived(problem: &Problem) -> Result<(), ProblemError> {
    finite("A⁻¹ b", "problem", 0, &problem.free_velocity)?;
    finite("J v*", "problem", 0, &[problem.reference_velocity])?;
    for i in 0..problem.constraints.len() {
        finite("J A⁻¹ Jᵀ", "constraint", i, problem.delassus.block(i))?;
    }
    Ok(())
}

impl Problem {
    fn push_constraint(&mut self, row: &Row) {
        let dim = row.law.dim();
        let first_term = self.terms.len() as u32;
        self.jacobian.push_constraint(dim);
        for (port, values) in &row.terms {
            let offset = self.term_values.len() as u32;
            self.term_values.extend_from_slice(values);
            self.terms.push(Term { port: *port, offset, len: values.len() as u32 });
            self.push_term(&self.ports[port.0].clone(), values, dim);
        }
        let end_term = self.terms.len() as u32;
        self.constraints.push(Constraint { law: row.law, first_term, end_term });
        self.bias.extend_from_slice(&row.bias);
        self.compliance.extend_from_slice(&row.compliance);
    }

    /// Adds `C·P` to the blocks of the last constraint.
    fn push_term(&mut self, port: &Port, values: &[f64], dim: usize) {
        let first = self.mass.blocks(port.subsystem).start;
        let n = self.mass.dofs(port.subsystem).len();
        match &port.map {
            Map::Nodes(nodes) => {
                let size = port_size(port, &self.mass);
                for (node, weight) in nodes {
                    let out = block_of(&mut self.jacobian, first + node, size);
                    for (out, c) in out.iter_mut().zip(values) {
                        *out += weight * c;
                    }
                }
            }
            map => {
                let size = port_size(port, &self.mass);
                let mut dense = vec![0.0; dim * n];
                for d in 0..dim {
                    let (c, out) =
                        (&values[d * size..(d + 1) * size], &mut dense[d * n..(d + 1) * n]);
                    match map {
                        Map::Whole => out.copy_from_slice(c),
                        Map::Coordinates { first, count } => {
                            out[*first..first + count].copy_from_slice(c);
                        }
                        Map::Matrix { values: P, .. } => {
                            for (c, row) in c.iter().zip(P.chunks_exact(n)) {
                                for (out, p) in out.iter_mut().zip(row) {
                                    *out += c * p;
                                }
                            }
                        }
                        Map::Link(link) => {
                            let Some(tree) = self.mass.tree(port.subsystem) else { continue };
                            for k in tree.path(*link) {
                                out[k] = super::dot(c, tree.subspaces()[k].as_slice());
                            }
                        }
                        Map::Nodes(_) => {}
                    }
                }
                self.scatter(port.subsystem, &dense, dim);
            }
        }
    }

    /// Adds a dense `dim × n` matrix over a subsystem to the blocks of the last constraint,
    /// leaving out blocks that are zero.
    fn scatter(&mut self, subsystem: SubsystemId, dense: &[f64], dim: usize) {
        let (base, n) = (self.mass.dofs(subsystem).start, self.mass.dofs(subsystem).len());
        for k in self.mass.blocks(subsystem) {
            let range = self.mass.matrix().pattern().range(k);
            let columns = range.start - base..range.end - base;
            let part = |d: usize| &dense[d * n..][columns.clone()];
            if (0..dim).all(|d| part(d).iter().all(|x| *x == 0.0)) {
                continue;
            }
            let out = block_of(&mut self.jacobian, k, columns.len());
            for (d, out) in out.chunks_exact_mut(columns.len()).enumerate() {
                for (out, x) in out.iter_mut().zip(part(d)) {
                    *out += x;
                }
            }
        }
    }
}

/// The block of the last constraint at a block of coordinates, made if it is not there.
fn block_of(jacobian: &mut Jacobian, block: usize, width: usize) -> &mut [f64] {
    if jacobian.last_block_mut(block).is_none() {
        return jacobian.push_block(block, width);
    }
    // Looked up again because the borrow of the test above cannot be returned.
    jacobian.last_block_mut(block).unwrap_or_default()
}
