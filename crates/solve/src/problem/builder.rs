//! Collects the data of a problem, then checks it and computes all derived quantities, once.
//!
//! Values are stored in flat arrays, which [`Builder::build_into`] swaps with those of the problem:
//! rebuilding a problem in every step of a simulation allocates nothing after the first steps.
//! Lengths and indices are checked in each call; the first error is returned when the problem is
//! built.

use stiction_math::block;
use stiction_math::spatial::Inertia10;

use super::check;
use super::{ConstraintRows, Map, Port, PortId, Problem, Structure, SubsystemId, Tree};
use crate::contact::{ContactVec, DIM};
use crate::error::ProblemError;
use crate::law::Law;

/// A block passed to [`Builder::sparse`]: node indices and the offset of its values.
#[derive(Clone, Copy, Debug, PartialEq)]
struct NodeBlock {
    row: usize,
    col: usize,
    offset: usize,
}

/// A subsystem as it was added.
#[derive(Clone, Copy, Debug)]
pub(super) struct SubsystemInput {
    pub structure: Structure,
    /// Index of the first velocity, and number of velocities.
    pub first: usize,
    pub n: usize,
    /// First value in `matrices`.
    pub offset: usize,
    /// Index of the pattern of a sparse subsystem; its values are stored in the order of the pattern.
    pub pattern: usize,
    /// Index of its first node in the builder's `node_compliance`, if compliances were given.
    pub node_compliance: Option<usize>,
    /// Whether A of a tree is computed from its links when the problem is built.
    pub computes_matrix: bool,
    /// First value of the factor of A in `factors`, if it was given.
    pub factor: Option<usize>,
}

/// Collects the data of a problem. [`Builder::build`] returns the first error in it.
#[derive(Clone, Debug, Default)]
pub struct Builder {
    name: String,
    pub(super) parts: Vec<SubsystemInput>,
    pub(super) matrices: Vec<f64>,
    /// Factors of A along the branches of trees that were given.
    pub(super) factors: Vec<f64>,
    /// Patterns of the sparse subsystems of this problem, then unused ones kept for their memory.
    pub(super) patterns: Vec<block::Pattern>,
    used_patterns: usize,
    /// Compliance of each node, `trace((A⁻¹)_ii)/node_size` [1/kg] or an estimate of it.
    pub(super) node_compliance: Vec<f64>,
    /// Scratch of [`Builder::sparse`]: blocks in the order of input, their values, and node sizes.
    node_blocks: Vec<NodeBlock>,
    node_values: Vec<f64>,
    sizes: Vec<usize>,
    /// Trees of this problem, then unused ones kept for their memory.
    pub(super) trees: Vec<Tree>,
    pub(super) used_trees: usize,
    /// Scratch: composite inertias of a tree.
    composites: Vec<Inertia10>,
    momentum: Vec<f64>,
    /// Diagonal of the A that scales are computed with, per velocity; zero or missing where that is A [kg or kg·m²].
    pub(super) free_diagonal: Vec<f64>,
    ports: Vec<Port>,
    /// Number of velocities that each port reads.
    port_sizes: Vec<u32>,
    rows: ConstraintRows,
    defect: Option<ProblemError>,
}

impl Builder {
    pub(super) fn new(name: String) -> Self {
        Self { name, ..Self::default() }
    }

    /// Removes everything but the name; keeps the allocated memory.
    pub fn clear(&mut self) {
        self.parts.clear();
        self.matrices.clear();
        self.factors.clear();
        self.used_patterns = 0;
        self.node_compliance.clear();
        self.used_trees = 0;
        self.momentum.clear();
        self.free_diagonal.clear();
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

    /// Adds a subsystem of nodes with `node_size` velocities each. `blocks` iterates over
    /// the nodes (i, j) and the row-major blocks A_ij of one triangle; the other triangle follows by
    /// symmetry, and blocks that occur twice are summed.
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

    /// Appends a pattern and the summed values of its blocks.
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

    /// Adds a subsystem of nodes with equally many velocities each, with A [kg] given as a
    /// block matrix, and its b [N·s].
    ///
    /// `node_compliance` is, for each node, its velocity change per unit of impulse
    /// `trace((A⁻¹)_ii)/node_size` [1/kg], or an estimate of it; without it, the inverses of the
    /// diagonal blocks of A are used. A large A is factored on first use: if it is not positive
    /// definite, that solve fails instead of the build. Values are copied; a pattern equal to the last
    /// one is not analysed again.
    pub fn sparse_matrix(
        &mut self,
        matrix: &block::Symmetric,
        momentum: &[f64],
        node_compliance: Option<&[f64]>,
    ) -> SubsystemId {
        self.sparse_view(matrix.into(), momentum, node_compliance)
    }

    /// [`Builder::sparse_matrix`] for a borrowed view of the matrix.
    pub(crate) fn sparse_view(
        &mut self,
        matrix: block::View<'_>,
        momentum: &[f64],
        node_compliance: Option<&[f64]>,
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
            let Some(bound) = node_compliance else { return Ok(()) };
            check::length("node compliance", "subsystem", index, bound.len(), nodes)?;
            check::finite("node compliance", "subsystem", index, bound)
        });
        match self.patterns.get_mut(self.used_patterns) {
            Some(kept) if kept == pattern => {}
            Some(kept) => kept.clone_from(pattern),
            None => self.patterns.push(pattern.clone()),
        }
        self.used_patterns += 1;
        self.matrices.extend_from_slice(matrix.values());
        let id = self.push(Structure::Sparse { node_size }, offset, momentum);
        if let Some(bound) = node_compliance {
            self.parts[index].node_compliance = Some(self.node_compliance.len());
            self.node_compliance.extend_from_slice(bound);
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

    /// Gives the factor of A of a tree along its branches ([`stiction_math::branch::factor`]), row-major, with what
    /// [`Builder::hold`] adds. It must be that of A: it is not checked.
    pub fn factor(&mut self, subsystem: SubsystemId, factor: &[f64]) {
        let Some(part) = self.parts.get_mut(subsystem.0) else { return };
        if matches!(part.structure, Structure::Tree { .. }) && factor.len() == part.n * part.n {
            part.factor = Some(self.factors.len());
            self.factors.extend_from_slice(factor);
        }
    }

    /// Holds velocities of a tree that was added by [`Builder::tree_with_matrix`]: adds `stiffness` to the diagonal of A, per
    /// velocity [kg or kg·m²]. The scales of the constraints become those of the A with the diagonal `free`: a contact on
    /// joints that are nearly immovable would have hardly any Delassus block.
    pub fn hold(&mut self, subsystem: SubsystemId, stiffness: &[f64], free: &[f64]) {
        let Some(part) = self.parts.get(subsystem.0).copied() else { return };
        let Structure::Tree { index } = part.structure else { return };
        let A = &mut self.matrices[part.offset..part.offset + part.n * part.n];
        self.free_diagonal.resize(self.momentum.len(), 0.0);
        self.free_diagonal[part.first..part.first + part.n].copy_from_slice(free);
        for (k, stiffness) in stiffness.iter().enumerate() {
            A[k * (part.n + 1)] += stiffness;
        }
        self.trees[index].add_diagonal(stiffness);
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
        self.parts.push(SubsystemInput {
            structure,
            first,
            n,
            offset,
            pattern,
            node_compliance: None,
            computes_matrix: false,
            factor: None,
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

    /// [`Builder::constraint`] with the terms given by an iterator.
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

    /// Replaces all constraints added so far by `rows`; the two are swapped, so that the caller can reuse
    /// the memory. The ports of the new constraints must have been added.
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

    /// Checks that each term has as many columns as its port has velocities.
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

    /// Records the first error of all checks.
    #[inline]
    fn note(&mut self, check: impl FnOnce() -> Result<(), ProblemError>) {
        if self.defect.is_none() {
            self.defect = check().err();
        }
    }

    /// Checks all data and computes the derived quantities.
    pub fn build(mut self) -> Result<Problem, ProblemError> {
        let mut problem = Problem::default();
        self.build_into(&mut problem)?;
        Ok(problem)
    }

    /// [`Builder::build`] in the memory of an existing problem. The builder is empty afterwards; after an
    /// error, the problem is empty too.
    pub fn build_into(&mut self, problem: &mut Problem) -> Result<(), ProblemError> {
        let built = self.try_build_into(problem, None);
        if built.is_err() {
            *problem = Problem::default();
        }
        self.clear();
        built
    }

    /// [`Builder::build_into`] for a problem with the constraints of `measured`, from which it copies the
    /// Delassus scales and the reference velocity.
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

    /// Checks that all values are finite, A is symmetric, and R ≥ 0 with equal entries for both tangents.
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

    /// Checks a port and returns the number of velocities that it reads.
    fn check_port(&self, port: &Port) -> Result<usize, ProblemError> {
        const OWNER: &str = "port";
        let index = self.ports.len();
        check::known(OWNER, index, "subsystem", port.subsystem.0, self.parts.len())?;
        let SubsystemInput { structure, n, .. } = self.parts[port.subsystem.0];
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

/// The condition that the compliance of a constraint violates, as text for an error; `None` if valid.
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

/// Moves the contents of `from` into `to`; `from` becomes empty with capacity for as many elements.
fn exchange<T>(from: &mut Vec<T>, to: &mut Vec<T>) {
    std::mem::swap(from, to);
    from.clear();
    from.reserve(to.len());
}
