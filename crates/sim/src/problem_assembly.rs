//! Assembles the contact problem: subsystems and ports of what constraint rows act on.
//!
//! Only trees and soft bodies that a constraint acts on take part. A small tree gives its matrix as
//! it is, a larger one link by link, so that solvers that split by link find the links. The rows are
//! handed over as they were written.

use std::ops::Range;

use stiction_mech::{Data, Model};
use stiction_solve::problem::{Builder, Map, PortId, SubsystemId, Tree};
use stiction_solve::{Problem, ProblemError};

use crate::free_motion::FreeMotion;
use crate::rows::{RowBuilder, RowPort, SoftPoint};
use crate::world::World;

/// Assembles problems in the memory of the last one.
pub(crate) struct ProblemAssembler {
    builder: Builder,
    /// Trees that take part, ascending, with their velocities in the problem.
    trees: Vec<(usize, Range<usize>)>,
    /// Soft bodies that take part, ascending, with their velocities in the problem, after the trees.
    softs: Vec<(usize, Range<usize>)>,
    ports: PortTable,
    /// Scratch: the links of one tree.
    tree: Tree,
    zeros: Vec<f64>,
}

/// Subsystems and ports of the problem, by tree, link, degree of freedom or soft body.
struct PortTable {
    /// Per tree.
    subsystem: Vec<Option<SubsystemId>>,
    whole: Vec<Option<PortId>>,
    /// Per body.
    link: Vec<Option<PortId>>,
    /// Per degree of freedom.
    dof: Vec<Option<PortId>>,
    /// Per soft body.
    soft: Vec<Option<SubsystemId>>,
    /// Per tree: the rod whose segment it is.
    rod: Vec<Option<u32>>,
}

/// Meaning of the velocities of a problem.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum ProblemKind {
    /// The next velocities: b is the momentum of free motion.
    Velocities,
    /// Displacements that correct positions: b is zero.
    Displacements,
}

impl ProblemAssembler {
    pub fn new(model: &Model) -> Self {
        let trees = model.trees().len();
        let rod = |tree| model.rod_of_tree(tree).map(|rod| rod.0 as u32);
        Self {
            builder: Problem::builder("step"),
            trees: Vec::new(),
            softs: Vec::new(),
            ports: PortTable {
                subsystem: vec![None; trees],
                whole: vec![None; trees],
                link: vec![None; model.bodies().len()],
                dof: vec![None; model.nv()],
                soft: vec![None; model.softs().len()],
                rod: (0..trees).map(rod).collect(),
            },
            tree: Tree::new(),
            zeros: vec![0.0; model.nv()],
        }
    }

    /// Trees that take part, and their velocities in the problem.
    pub fn trees(&self) -> &[(usize, Range<usize>)] {
        &self.trees
    }

    /// Soft bodies that take part, and the velocities of their free vertices in the problem. As
    /// subsystems they come last.
    pub fn softs(&self) -> &[(usize, Range<usize>)] {
        &self.softs
    }

    /// The subsystem of the problem that a soft body is; zero if it takes no part.
    pub fn subsystem_of_soft(&self, soft: usize) -> usize {
        self.ports.soft[soft].map_or(0, |id| id.0)
    }

    /// The subsystem of the problem that a tree belongs to; zero if it takes no part.
    pub fn subsystem_of(&self, tree: usize) -> usize {
        self.ports.subsystem[tree].map_or(0, |id| id.0)
    }

    /// Nothing takes part.
    pub fn clear(&mut self) {
        self.trees.clear();
        self.softs.clear();
    }

    /// Assembles a problem from rows, which it takes over.
    pub fn assemble(
        &mut self,
        world: &World,
        data: &Data,
        free: &FreeMotion,
        rows: &mut RowBuilder,
        kind: ProblemKind,
        problem: &mut Problem,
    ) -> Result<(), ProblemError> {
        self.builder.clear();
        self.find_participants(&world.model, free, rows);
        self.add_subsystems(world, data, free, kind);
        self.add_ports(world, rows)?;
        self.builder.exchange_rows(rows.rows_mut());
        self.builder.build_into(problem)
    }

    fn find_participants(&mut self, model: &Model, free: &FreeMotion, rows: &RowBuilder) {
        self.ports.clear();
        let PortTable { subsystem, soft, .. } = &mut self.ports;
        for port in rows.ports() {
            match port {
                RowPort::SoftPoint(index) => {
                    soft[rows.soft_point(*index).soft as usize] = Some(SubsystemId(0));
                }
                RowPort::Tree(tree) | RowPort::Link { tree, .. } | RowPort::Dof { tree, .. } => {
                    subsystem[*tree as usize] = Some(SubsystemId(0));
                }
            }
        }
        for rod in model.rods() {
            if subsystem[rod.trees.clone()].iter().any(|part| part.is_some()) {
                subsystem[rod.trees.clone()].fill(Some(SubsystemId(0)));
            }
        }
        self.clear();
        let mut first = 0;
        for (tree, range) in model.trees().iter().enumerate() {
            if self.ports.subsystem[tree].is_some() {
                self.trees.push((tree, first..first + range.dofs.len()));
                first += range.dofs.len();
            }
        }
        for soft in 0..self.ports.soft.len() {
            if self.ports.soft[soft].is_some() {
                let count = free.soft.momentum(soft).len();
                self.softs.push((soft, first..first + count));
                first += count;
            }
        }
    }

    fn add_subsystems(&mut self, world: &World, data: &Data, free: &FreeMotion, kind: ProblemKind) {
        for index in 0..self.trees.len() {
            let tree = self.trees[index].0;
            let range = &world.model.trees()[tree];
            let momentum_of = |dofs| match kind {
                ProblemKind::Velocities => free.momentum(dofs),
                ProblemKind::Displacements => &self.zeros[dofs],
            };
            // The segments of a rod are one subsystem, added with the first of them.
            if let Some(rod) = self.ports.rod[tree] {
                let (index, rod) = (rod as usize, &world.model.rods()[rod as usize]);
                if tree == rod.trees.start {
                    let momentum = momentum_of(rod.dofs.clone());
                    let id = self.builder.sparse_matrix(free.rod_matrix(index), momentum, None);
                    self.ports.subsystem[rod.trees.clone()].fill(Some(id));
                }
                continue;
            }
            let momentum = momentum_of(range.dofs.clone());
            let id = if free.by_tree()[tree] {
                self.builder.dense(free.matrix(range.mass.clone()), momentum)
            } else {
                self.tree.clear();
                for link in &world.model.links()[range.links.clone()] {
                    let parent = link.parent.map(|body| world.link_index[body] as usize);
                    let inertia = free.scaled_inertia(&data.link_inertia[link.body]);
                    let subspace = &data.subspace[link.dofs.clone()];
                    self.tree.link(parent, subspace, inertia, free.diagonal(link.dofs.clone()));
                }
                let matrix = free.matrix(range.mass.clone());
                let id = self.builder.tree_with_matrix(&self.tree, matrix, momentum);
                if kind == ProblemKind::Velocities
                    && let Some([held, diagonal]) = free.held(tree, range.dofs.clone())
                {
                    self.builder.hold(id, held, diagonal);
                }
                if kind == ProblemKind::Velocities
                    && let Some(factor) = free.known_factor(tree, range.mass.clone())
                {
                    self.builder.factor(id, factor);
                }
                id
            };
            self.ports.subsystem[tree] = Some(id);
        }
        for (soft, _) in &self.softs {
            let (matrix, momentum) = (free.soft.matrix(*soft), free.soft.momentum(*soft));
            let node_compliance = Some(free.soft.node_compliance(*soft));
            self.ports.soft[*soft] =
                Some(self.builder.sparse_matrix(matrix, momentum, node_compliance));
        }
    }

    /// Adds the ports that terms read, in the order of their first use, and sets them in the terms.
    fn add_ports(&mut self, world: &World, rows: &mut RowBuilder) -> Result<(), ProblemError> {
        let Self { builder, ports, .. } = self;
        rows.resolve_ports(|port, point| ports.find_or_add(builder, world, port, point))
    }
}

impl PortTable {
    fn clear(&mut self) {
        self.subsystem.fill(None);
        self.whole.fill(None);
        self.link.fill(None);
        self.dof.fill(None);
        self.soft.fill(None);
    }

    fn find_or_add(
        &mut self,
        builder: &mut Builder,
        world: &World,
        port: RowPort,
        point: Option<&SoftPoint>,
    ) -> Option<PortId> {
        if let Some(SoftPoint { soft, nodes, weights }) = point.copied() {
            let subsystem = self.soft[soft as usize]?;
            return Some(builder.port(subsystem, Map::Point { nodes, weights }));
        }
        let tree = port.tree()?;
        let (slot, map) = match port {
            RowPort::Tree(_) => {
                let map = self.rod[tree].map_or(Map::Whole, |rod| {
                    let first = world.model.rods()[rod as usize].trees.start;
                    Map::node((tree - first) as u32)
                });
                (&mut self.whole[tree], map)
            }
            RowPort::Link { body, .. } => {
                let index = world.link_index[body as usize] as usize;
                (&mut self.link[body as usize], Map::Link(index))
            }
            RowPort::Dof { dof, .. } => {
                let first = dof as usize - world.model.trees()[tree].dofs.start;
                (&mut self.dof[dof as usize], Map::Coordinates { first, count: 1 })
            }
            RowPort::SoftPoint(_) => return None,
        };
        if slot.is_none() {
            *slot = Some(builder.port(self.subsystem[tree]?, map));
        }
        *slot
    }
}
