//! Collects the parts of a problem, then checks and derives everything, once.
//!
//! Numbers lie in flat arrays, which [`Builder::build_into`] exchanges with those of the problem:
//! a problem that is built again and again, in a simulator's step, takes no memory once warm.
//! What can be seen of one call alone, lengths and indices, is looked at when it comes; the first
//! defect is told when the problem is built.

use stiction_math::block;
use stiction_math::spatial::Inertia10;

use super::check;
use super::{ConstraintRows, Map, Port, PortId, Problem, Structure, SubsystemId, Tree};
use crate::contact::{ContactVec, DIM};
use crate::error::ProblemError;
use crate::law::Law;

/// A block of a sparse subsystem as it came: node indices and the place of its values.
#[derive(Clone, Copy, Debug, PartialEq)]
struct NodeBlock {
    row: usize,
    col: usize,
    offset: usize,
}

/// A subsystem as it was given.
#[derive(Clone, Copy, Debug)]
pub(super) struct Part {
    pub structure: Structure,
    /// First velocity and their number.
    pub first: usize,
    pub n: usize,
    /// First value in `matrices`.
    pub offset: usize,
    /// Which of the patterns a sparse subsystem has, whose values lie in its order.
    pub pattern: usize,
    /// First of the yields of its nodes, if they are known.
    pub yields: Option<usize>,
    /// Whether A of a tree is computed from its links when the problem is built.
    pub computes_matrix: bool,
}

/// Collects the parts of a problem. What is wrong with them is told by [`Builder::build`].
#[derive(Clone, Debug, Default)]
pub struct Builder {
    name: String,
    pub(super) parts: Vec<Part>,
    pub(super) matrices: Vec<f64>,
    /// Patterns of sparse subsystems of this problem, then memory of others.
    pub(super) patterns: Vec<block::Pattern>,
    used_patterns: usize,
    /// Yields of nodes [1/kg].
    pub(super) node_yields: Vec<f64>,
    /// Memory of [`Builder::sparse`]: blocks as they come, their values, and sizes of nodes.
    node_blocks: Vec<NodeBlock>,
    node_values: Vec<f64>,
    sizes: Vec<usize>,
    /// Trees of this problem, then memory of others.
    pub(super) trees: Vec<Tree>,
    pub(super) used_trees: usize,
    /// Scratch: composite inertias of a tree.
    composites: Vec<Inertia10>,
    momentum: Vec<f64>,
    ports: Vec<Port>,
    /// Velocities that each port hands out.
    port_sizes: Vec<u32>,
    rows: ConstraintRows,
    defect: Option<ProblemError>,
}

impl Builder {
    pub(super) fn new(name: String) -> Self {
        Self { name, ..Self::default() }
    }

    /// Forgets everything but the name; keeps the memory.
    pub fn clear(&mut self) {
        self.parts.clear();
        self.matrices.clear();
        self.used_patterns = 0;
        self.node_yields.clear();
        self.used_trees = 0;
        self.momentum.clear();
        self.ports.clear();
        self.port_sizes.clear();
        self.rows.clear();
        self.defect = None;
    }

    /// Adds a subsystem with a dense A [kg], row-major, and its b [N·s].
    pub fn dense(&mut self, matrix: &[f64], momentum: &[f64]) -> SubsystemId {
        let (n, index) = (momentum.len(), self.parts.len());
        self.note(|| check::length("A", "subsystem", index, matrix.len(), n * n));
        let offset = self.matrices.len();
        self.matrices.extend_from_slice(matrix);
        self.push(Structure::Dense, offset, momentum)
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
        let (index, offset) = (self.parts.len(), self.matrices.len());
        let (area, nodes) = (node_size * node_size, momentum.len() / node_size.max(1));
        self.node_blocks.clear();
        self.node_values.clear();
        for (row, col, block) in blocks {
            self.node_blocks.push(NodeBlock { row, col, offset: self.node_values.len() });
            self.node_values.extend_from_slice(block);
            self.note(|| check::known("subsystem", index, "node", row.max(col), nodes));
        }
        let (found, expected) = (self.node_values.len(), self.node_blocks.len() * area);
        self.note(|| check::length("b", "subsystem", index, momentum.len(), node_size * nodes));
        self.note(|| check::length("A", "subsystem", index, found, expected));
        if self.defect.is_none() {
            self.add_up_blocks(node_size, nodes);
        }
        self.push(Structure::Sparse { node_size }, offset, momentum)
    }

    /// Appends a pattern and the sums of the blocks that came.
    fn add_up_blocks(&mut self, node_size: usize, nodes: usize) {
        let (offset, area) = (self.matrices.len(), node_size * node_size);
        self.sizes.clear();
        self.sizes.resize(nodes, node_size);
        if self.used_patterns == self.patterns.len() {
            self.patterns.push(block::Pattern::default());
        }
        let pattern = &mut self.patterns[self.used_patterns];
        self.used_patterns += 1;
        pattern.rebuild(&self.sizes, self.node_blocks.iter().map(|b| (b.row, b.col)));
        self.matrices.resize(offset + pattern.n_values(), 0.0);
        for b in &self.node_blocks {
            let Some(id) = pattern.find(b.row.max(b.col), b.row.min(b.col)) else { continue };
            let (from, s) = (&self.node_values[b.offset..][..area], node_size);
            let out = &mut self.matrices[offset + id.0 * area..][..area];
            for p in 0..s {
                for q in 0..s {
                    out[p * s + q] +=
                        if b.row >= b.col { from[p * s + q] } else { from[q * s + p] };
                }
            }
        }
    }

    /// Adds a subsystem of nodes with equally many velocities each, whose A [kg] is at hand as a
    /// block matrix, and its b [N·s].
    ///
    /// `yield_bound` tells for each node how far it yields, `trace((A⁻¹)_ii)/node_size` [1/kg], or
    /// an estimate of it; without it, the diagonal blocks of A stand in. A large A is not
    /// factored before a solver asks for it, so that an A which is not positive definite may be
    /// found only then: that solve fails. Values are copied; while the pattern repeats, nothing
    /// else is done with it.
    pub fn sparse_matrix(
        &mut self,
        matrix: &block::Symmetric,
        momentum: &[f64],
        yield_bound: Option<&[f64]>,
    ) -> SubsystemId {
        self.sparse_view(matrix.into(), momentum, yield_bound)
    }

    /// The same for a matrix whose values lie elsewhere.
    pub(crate) fn sparse_view(
        &mut self,
        matrix: block::View<'_>,
        momentum: &[f64],
        yield_bound: Option<&[f64]>,
    ) -> SubsystemId {
        let (index, offset, pattern) = (self.parts.len(), self.matrices.len(), matrix.pattern());
        let nodes = pattern.n_blocks();
        let node_size = if nodes > 0 { pattern.size(0) } else { 0 };
        self.note(|| {
            let length = |found, expected| check::length("b", "subsystem", index, found, expected);
            length(momentum.len(), pattern.dim())?;
            if pattern.common_size().is_none() {
                let odd = (0..nodes).map(|k| pattern.size(k)).find(|s| *s != node_size);
                let found = odd.unwrap_or(0);
                check::length("a node", "subsystem", index, found, node_size.max(1))?;
            }
            let Some(bound) = yield_bound else { return Ok(()) };
            check::length("yield bound", "subsystem", index, bound.len(), nodes)?;
            check::finite("yield bound", "subsystem", index, bound)
        });
        match self.patterns.get_mut(self.used_patterns) {
            Some(kept) if kept == pattern => {}
            Some(kept) => kept.clone_from(pattern),
            None => self.patterns.push(pattern.clone()),
        }
        self.used_patterns += 1;
        self.matrices.extend_from_slice(matrix.values());
        let id = self.push(Structure::Sparse { node_size }, offset, momentum);
        if let Some(bound) = yield_bound {
            self.parts[index].yields = Some(self.node_yields.len());
            self.node_yields.extend_from_slice(bound);
        }
        id
    }

    /// Adds a tree of links; its A follows from the links. b [N·s or N·m·s] per velocity.
    pub fn tree(&mut self, tree: &Tree, momentum: &[f64]) -> SubsystemId {
        let id = self.push_tree(tree, momentum);
        self.parts[id.0].computes_matrix = true;
        let n = momentum.len();
        self.matrices.resize(self.matrices.len() + n * n, 0.0);
        id
    }

    /// [`Builder::tree`] whose A [kg], row-major, has been computed already.
    pub fn tree_with_matrix(
        &mut self,
        tree: &Tree,
        matrix: &[f64],
        momentum: &[f64],
    ) -> SubsystemId {
        let (index, n) = (self.parts.len(), momentum.len());
        self.note(|| check::length("A", "subsystem", index, matrix.len(), n * n));
        let id = self.push_tree(tree, momentum);
        self.matrices.extend_from_slice(matrix);
        id
    }

    fn push_tree(&mut self, tree: &Tree, momentum: &[f64]) -> SubsystemId {
        let (index, slot) = (self.parts.len(), self.used_trees);
        self.note(|| {
            check::length("b", "subsystem", index, momentum.len(), tree.velocities())?;
            tree.check(index)
        });
        match self.trees.get_mut(slot) {
            Some(kept) => kept.clone_from(tree),
            None => self.trees.push(tree.clone()),
        }
        self.used_trees += 1;
        self.push(Structure::Tree { index: slot }, self.matrices.len(), momentum)
    }

    fn push(&mut self, structure: Structure, offset: usize, momentum: &[f64]) -> SubsystemId {
        let (index, n) = (self.parts.len(), momentum.len());
        if n == 0 {
            self.note(|| check::length("b", "subsystem", index, 0, 1));
        }
        let (first, pattern) = (self.momentum.len(), self.used_patterns.saturating_sub(1));
        self.parts.push(Part {
            structure,
            first,
            n,
            offset,
            pattern,
            yields: None,
            computes_matrix: false,
        });
        self.momentum.extend_from_slice(momentum);
        SubsystemId(index)
    }

    /// Adds a port.
    pub fn port(&mut self, subsystem: SubsystemId, map: Map) -> PortId {
        let port = Port { subsystem, map };
        let checked = self.check_port(&port);
        let size = match &checked {
            Ok(size) => *size as u32,
            Err(_) => 0,
        };
        self.note(|| checked.map(|_| ()));
        self.ports.push(port);
        self.port_sizes.push(size);
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
        self.constraint_of(law, bias, compliance, terms.iter().copied());
    }

    /// The same for terms as they come.
    pub(crate) fn constraint_of<'a>(
        &mut self,
        law: Law,
        bias: &[f64],
        compliance: &[f64],
        terms: impl Iterator<Item = (PortId, &'a [f64])>,
    ) {
        let (index, dim) = (self.rows.len(), law.dim());
        if bias.len() != dim || compliance.len() != dim {
            self.note(|| {
                check::length("bias", "constraint", index, bias.len(), dim)?;
                check::length("compliance", "constraint", index, compliance.len(), dim)
            });
        }
        self.rows.open(law, bias, compliance);
        for (port, values) in terms {
            self.check_term(index, dim, port, values.len());
            self.rows.push_term(port, values.len()).copy_from_slice(values);
        }
    }

    /// Takes over constraints that were written in the form of the problem, in exchange for memory;
    /// those that were added before are gone. Their ports must have been added.
    pub fn exchange_rows(&mut self, rows: &mut ConstraintRows) {
        std::mem::swap(&mut self.rows, rows);
        rows.clear();
        let rows = std::mem::take(&mut self.rows);
        for (index, constraint) in rows.constraints().iter().enumerate() {
            for term in &rows.terms()[constraint.terms()] {
                self.check_term(index, constraint.law.dim(), term.port, rows.values(term).len());
            }
        }
        self.rows = rows;
    }

    /// A term has as many columns as its port has velocities.
    #[inline]
    fn check_term(&mut self, constraint: usize, dim: usize, port: PortId, len: usize) {
        let size = self.port_sizes.get(port.0).copied();
        if size.map(|size| size as usize * dim) != Some(len) {
            let (ports, size) = (self.ports.len(), size.unwrap_or(0) as usize);
            self.note(|| {
                check::known("constraint", constraint, "port", port.0, ports)?;
                check::length("term", "constraint", constraint, len, dim * size)
            });
        }
    }

    /// Keeps the first defect that a check finds.
    #[inline]
    fn note(&mut self, check: impl FnOnce() -> Result<(), ProblemError>) {
        if self.defect.is_none() {
            self.defect = check().err();
        }
    }

    /// Checks everything and derives what follows from it.
    pub fn build(mut self) -> Result<Problem, ProblemError> {
        let mut problem = Problem::default();
        self.build_into(&mut problem)?;
        Ok(problem)
    }

    /// Checks everything and derives what follows from it, in the memory of another problem. The
    /// builder is empty afterwards. After an error, so is the problem.
    pub fn build_into(&mut self, problem: &mut Problem) -> Result<(), ProblemError> {
        let built = self.try_build_into(problem, None);
        if built.is_err() {
            *problem = Problem::default();
        }
        self.clear();
        built
    }

    /// The same for a problem whose constraints are those of another, measured by the same scales
    /// and compared with the same velocity.
    pub(crate) fn build_like(
        &mut self,
        problem: &mut Problem,
        measured: &Problem,
    ) -> Result<(), ProblemError> {
        let built = self.try_build_into(problem, Some(measured));
        if built.is_err() {
            *problem = Problem::default();
        }
        self.clear();
        built
    }

    fn try_build_into(
        &mut self,
        problem: &mut Problem,
        measured: Option<&Problem>,
    ) -> Result<(), ProblemError> {
        if self.momentum.is_empty() {
            return Err(ProblemError::Empty);
        }
        if let Some(defect) = self.defect.take() {
            return Err(defect);
        }
        self.compute_tree_matrices();
        self.check_numbers()?;
        problem.name.clone_from(&self.name);
        problem.mass.assemble(self)?;
        exchange(&mut self.momentum, &mut problem.momentum);
        exchange(&mut self.ports, &mut problem.ports);
        std::mem::swap(&mut self.rows, &mut problem.rows);
        self.rows.clear();
        self.rows.reserve_like(&problem.rows);
        problem.collect_rows();
        problem.check_effects()?;
        match measured {
            None => problem.derive(),
            Some(other) => problem.measure_like(other),
        }
        problem.check_derived()
    }

    /// A of the trees that were added without it.
    fn compute_tree_matrices(&mut self) {
        let Self { parts, trees, matrices, composites, .. } = self;
        for part in parts.iter().filter(|part| part.computes_matrix) {
            if let Structure::Tree { index } = part.structure {
                let out = &mut matrices[part.offset..part.offset + part.n * part.n];
                trees[index].mass_matrix_with(composites, out);
            }
        }
    }

    /// Everything must be finite, A symmetric and compliance sensible.
    fn check_numbers(&self) -> Result<(), ProblemError> {
        const SUBSYSTEM: &str = "subsystem";
        let finite = check::all_finite;
        if !finite(&self.momentum) || !finite(&self.matrices) {
            for (i, part) in self.parts.iter().enumerate() {
                check::finite("b", SUBSYSTEM, i, &self.momentum[part.first..][..part.n])?;
                let end = self.parts.get(i + 1).map_or(self.matrices.len(), |next| next.offset);
                check::finite("A", SUBSYSTEM, i, &self.matrices[part.offset..end])?;
            }
        }
        for (i, part) in self.parts.iter().enumerate() {
            match part.structure {
                Structure::Dense => {
                    let values = &self.matrices[part.offset..][..part.n * part.n];
                    check::symmetric(i, values, part.n)?;
                }
                Structure::Sparse { node_size } => {
                    let (pattern, area) = (&self.patterns[part.pattern], node_size * node_size);
                    for k in 0..pattern.n_blocks() {
                        let at = part.offset + pattern.diagonal(k).0 * area;
                        check::symmetric(i, &self.matrices[at..at + area], node_size)?;
                    }
                }
                Structure::Tree { .. } => {}
            }
        }
        let rows_finite = finite(self.rows.bias()) && finite(self.rows.compliance());
        if !rows_finite || !finite(self.rows.all_values()) || !self.compliance_is_sensible() {
            self.find_wrong_constraint()?;
        }
        Ok(())
    }

    fn compliance_is_sensible(&self) -> bool {
        let compliance = self.rows.compliance();
        compliance.iter().all(|r| *r == 0.0)
            || self.rows.constraints().iter().all(|c| sensible(&compliance[c.rows()]).is_none())
    }

    #[cold]
    fn find_wrong_constraint(&self) -> Result<(), ProblemError> {
        const CONSTRAINT: &str = "constraint";
        for (i, c) in self.rows.constraints().iter().enumerate() {
            let compliance = &self.rows.compliance()[c.rows()];
            check::finite("bias", CONSTRAINT, i, &self.rows.bias()[c.rows()])?;
            check::finite("compliance", CONSTRAINT, i, compliance)?;
            if let Some(expected) = sensible(compliance) {
                let found = compliance.to_vec();
                return Err(ProblemError::Compliance { constraint: i, found, expected });
            }
            for term in &self.rows.terms()[c.terms()] {
                check::finite("term", CONSTRAINT, i, self.rows.values(term))?;
            }
        }
        Ok(())
    }

    /// The number of velocities that a port hands out.
    fn check_port(&self, port: &Port) -> Result<usize, ProblemError> {
        const OWNER: &str = "port";
        let index = self.ports.len();
        check::known(OWNER, index, "subsystem", port.subsystem.0, self.parts.len())?;
        let Part { structure, n, .. } = self.parts[port.subsystem.0];
        let wrong = || ProblemError::WrongPort {
            port: index,
            subsystem: port.subsystem.0,
            map: port.map.describe(),
            kind: structure.describe(),
        };
        match &port.map {
            Map::Whole => Ok(n),
            Map::Coordinates { first, count } => {
                let last = first.saturating_add(*count).saturating_sub(1);
                check::known(OWNER, index, "coordinate", last, n)?;
                Ok(*count)
            }
            Map::Link(link) => {
                let Structure::Tree { index: slot } = structure else { return Err(wrong()) };
                check::known(OWNER, index, "link", *link, self.trees[slot].links())?;
                Ok(6)
            }
            Map::Nodes(nodes) => {
                let Structure::Sparse { node_size } = structure else { return Err(wrong()) };
                for (node, weight) in nodes {
                    check::known(OWNER, index, "node", *node, n / node_size.max(1))?;
                    check::finite("weight", OWNER, index, std::slice::from_ref(weight))?;
                }
                Ok(node_size)
            }
            Map::Point { nodes, weights } => {
                let Structure::Sparse { node_size } = structure else { return Err(wrong()) };
                check::finite("weight", OWNER, index, weights)?;
                for (node, _) in nodes.iter().zip(weights).filter(|(_, w)| **w != 0.0) {
                    check::known(OWNER, index, "node", *node as usize, n / node_size.max(1))?;
                }
                Ok(node_size)
            }
            Map::Matrix { rows, values } => {
                check::length("matrix", OWNER, index, values.len(), rows.saturating_mul(n))?;
                check::finite("matrix", OWNER, index, values)?;
                Ok(*rows)
            }
        }
    }
}

/// What the compliance of a constraint should be and is not.
fn sensible(compliance: &[f64]) -> Option<&'static str> {
    if compliance.iter().any(|r| *r < 0.0) {
        return Some("no negative entry");
    }
    if compliance.len() == DIM {
        let t = ContactVec::load(compliance).t;
        if t.x != t.y {
            return Some("the same value for both tangents");
        }
    }
    None
}

/// Hands the numbers over, and leaves room for as many in their place.
fn exchange<T>(from: &mut Vec<T>, to: &mut Vec<T>) {
    std::mem::swap(from, to);
    from.clear();
    from.reserve(to.len());
}
