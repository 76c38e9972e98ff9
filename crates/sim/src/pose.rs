//! Poses the contact problem: subsystems, ports and constraints from trees and rows.
//!
//! Only trees that a constraint touches take part. A small tree gives its matrix as it is, a larger
//! one link by link, so that solvers that split by link find the links.

use std::ops::Range;

use stiction_mech::{Data, Model};
use stiction_solve::law::{Bilateral, Law, Unilateral};
use stiction_solve::problem::{Builder, Map, PortId, SubsystemId, Tree};
use stiction_solve::{Problem, ProblemError, contact};

use crate::free::FreeMotion;
use crate::rows::{Constraint, Face, Port, Rows, tree_of_dof};
use crate::world::World;

/// Terms of a constraint that need no memory of their own.
const FEW: usize = 16;

/// Memory for posing problems.
pub(crate) struct Poser {
    builder: Builder,
    /// Scratch: the links of the tree in turn.
    tree: Tree,
    /// Trees that take part, ascending, and the velocities of the problem that are theirs.
    parts: Vec<(usize, Range<usize>)>,
    /// Per tree: its place among the parts.
    subsystem: Vec<Option<SubsystemId>>,
    whole: Vec<Option<PortId>>,
    link: Vec<Option<PortId>>,
    dof: Vec<Option<PortId>>,
    /// Soft bodies that take part, ascending, after the trees.
    soft_parts: Vec<(usize, Range<usize>)>,
    soft: Vec<Option<SubsystemId>>,
    zeros: Vec<f64>,
    /// Per tree: the rod whose segment it is.
    rod: Vec<Option<u32>>,
}

/// Which problem is posed.
#[derive(Clone, Copy)]
pub(crate) enum Question<'a> {
    /// The next velocities.
    Velocities,
    /// Displacements that take position errors back: equalities to zero, the normal parts of
    /// contacts and limits to no less than zero. Per constraint, the error or gap to be corrected,
    /// or nothing if the constraint takes no part.
    Displacements(&'a [Option<f64>]),
}

impl Poser {
    pub fn new(model: &Model) -> Self {
        Self {
            builder: Problem::builder("step"),
            tree: Tree::new(),
            parts: Vec::new(),
            subsystem: vec![None; model.trees().len()],
            whole: vec![None; model.trees().len()],
            link: vec![None; model.bodies().len()],
            dof: vec![None; model.nv()],
            soft_parts: Vec::new(),
            soft: vec![None; model.softs().len()],
            zeros: vec![0.0; model.nv()],
            rod: (0..model.trees().len())
                .map(|tree| model.rod_of_tree(tree).map(|rod| rod.0 as u32))
                .collect(),
        }
    }

    /// Trees that take part, and their velocities in the problem.
    pub fn parts(&self) -> &[(usize, Range<usize>)] {
        &self.parts
    }

    /// Soft bodies that take part, and the velocities of their vertices in the problem, without those
    /// that are fixed. As subsystems they come last.
    pub fn soft_parts(&self) -> &[(usize, Range<usize>)] {
        &self.soft_parts
    }

    /// The subsystem of the problem that a soft body is; zero if it takes no part.
    pub fn subsystem_of_soft(&self, soft: usize) -> usize {
        self.soft[soft].map_or(0, |id| id.0)
    }

    /// The subsystem of the problem that a tree belongs to; zero if it takes no part.
    pub fn subsystem_of(&self, tree: usize) -> usize {
        self.subsystem[tree].map_or(0, |id| id.0)
    }

    /// Nothing takes part.
    pub fn nothing(&mut self) {
        self.parts.clear();
        self.soft_parts.clear();
    }

    /// Poses a problem in the memory of the last one.
    pub fn pose(
        &mut self,
        world: &World,
        data: &Data,
        free: &FreeMotion,
        rows: &Rows,
        question: Question,
        problem: &mut Problem,
    ) -> Result<(), ProblemError> {
        self.builder.clear();
        self.find_parts(&world.model, free, rows, question);
        self.add_subsystems(world, data, free, question);
        for (index, constraint) in rows.constraints().iter().enumerate() {
            match question {
                Question::Velocities => self.add_velocity_row(world, rows, constraint),
                Question::Displacements(wanted) => {
                    if let Some(error) = wanted[index] {
                        self.add_displacement_row(world, rows, constraint, error);
                    }
                }
            }
        }
        self.builder.build_into(problem)
    }

    fn find_parts(&mut self, model: &Model, free: &FreeMotion, rows: &Rows, question: Question) {
        self.subsystem.fill(None);
        self.whole.fill(None);
        self.link.fill(None);
        self.dof.fill(None);
        self.soft.fill(None);
        for (index, constraint) in rows.constraints().iter().enumerate() {
            if let Question::Displacements(wanted) = question
                && wanted[index].is_none()
            {
                continue;
            }
            for term in rows.terms(constraint) {
                match rows.face_of(term.port) {
                    Some(face) => self.soft[face.soft as usize] = Some(SubsystemId(0)),
                    None => self.subsystem[term.tree as usize] = Some(SubsystemId(0)),
                }
            }
        }
        for rod in model.rods() {
            if self.subsystem[rod.trees.clone()].iter().any(|part| part.is_some()) {
                self.subsystem[rod.trees.clone()].fill(Some(SubsystemId(0)));
            }
        }
        self.parts.clear();
        let mut first = 0;
        for (tree, range) in model.trees().iter().enumerate() {
            if self.subsystem[tree].is_some() {
                self.parts.push((tree, first..first + range.dofs.len()));
                first += range.dofs.len();
            }
        }
        self.soft_parts.clear();
        for soft in 0..self.soft.len() {
            if self.soft[soft].is_some() {
                let count = free.soft.momentum(soft).len();
                self.soft_parts.push((soft, first..first + count));
                first += count;
            }
        }
    }

    fn add_subsystems(
        &mut self,
        world: &World,
        data: &Data,
        free: &FreeMotion,
        question: Question,
    ) {
        for place in 0..self.parts.len() {
            let tree = self.parts[place].0;
            let range = &world.model.trees()[tree];
            let momentum_of = |dofs| match question {
                Question::Velocities => free.momentum(dofs),
                Question::Displacements(_) => &self.zeros[dofs],
            };
            // The segments of a rod are one subsystem, added with the first of them.
            if let Some(rod) = self.rod[tree] {
                let (index, rod) = (rod as usize, &world.model.rods()[rod as usize]);
                if tree == rod.trees.start {
                    let momentum = momentum_of(rod.dofs.clone());
                    let id = self.builder.sparse_matrix(free.rod_matrix(index), momentum, None);
                    self.subsystem[rod.trees.clone()].fill(Some(id));
                }
                continue;
            }
            let momentum = momentum_of(range.dofs.clone());
            let id = if free.is_whole(tree) {
                self.builder.dense(free.matrix(range.mass.clone()), momentum)
            } else {
                self.tree.clear();
                for link in &world.model.links()[range.links.clone()] {
                    let parent = link.parent.map(|body| world.link_index[body] as usize);
                    let inertia = free.scaled_inertia(&data.link_inertia[link.body]);
                    let subspace = &data.subspace[link.dofs.clone()];
                    self.tree.link(parent, subspace, inertia, free.diagonal(link.dofs.clone()));
                }
                self.builder.tree(&self.tree, momentum)
            };
            self.subsystem[tree] = Some(id);
        }
        for (soft, _) in &self.soft_parts {
            let (matrix, momentum) = (free.soft.matrix(*soft), free.soft.momentum(*soft));
            let yields = Some(free.soft.yields(*soft));
            self.soft[*soft] = Some(self.builder.sparse_matrix(matrix, momentum, yields));
        }
    }

    fn port(&mut self, world: &World, rows: &Rows, port: Port) -> Option<PortId> {
        if let Some(Face { soft, nodes, weights }) = rows.face_of(port).copied() {
            let subsystem = self.soft[soft as usize]?;
            return Some(self.builder.port(subsystem, Map::Point { nodes, weights }));
        }
        let (slot, tree, map) = match port {
            Port::Whole(tree) => {
                let tree = tree as usize;
                let map = self.rod[tree].map_or(Map::Whole, |rod| {
                    let first = world.model.rods()[rod as usize].trees.start;
                    Map::node((tree - first) as u32)
                });
                (&mut self.whole[tree], tree, map)
            }
            Port::Link(body) => {
                let tree = world.model.bodies()[body as usize].tree?;
                let index = world.link_index[body as usize] as usize;
                (&mut self.link[body as usize], tree, Map::Link(index))
            }
            Port::Dof(dof) => {
                let dof = dof as usize;
                let tree = tree_of_dof(&world.model, dof);
                let first = dof - world.model.trees()[tree].dofs.start;
                (&mut self.dof[dof], tree, Map::Coordinates { first, count: 1 })
            }
            Port::Face(_) => return None,
        };
        if slot.is_none() {
            *slot = Some(self.builder.port(self.subsystem[tree]?, map));
        }
        *slot
    }

    fn add_velocity_row(&mut self, world: &World, rows: &Rows, constraint: &Constraint) {
        let (bias, compliance) = (rows.bias(constraint), rows.compliance(constraint));
        self.add(world, rows, constraint, constraint.law, bias, compliance, |values| values);
    }

    fn add_displacement_row(
        &mut self,
        world: &World,
        rows: &Rows,
        constraint: &Constraint,
        error: f64,
    ) {
        let law = match constraint.law {
            Law::Bilateral(_) => Law::Bilateral(Bilateral),
            _ => Law::Unilateral(Unilateral),
        };
        let dim = constraint.rows().len();
        self.add(world, rows, constraint, law, &[error], &[0.0], |values| {
            if dim == contact::DIM {
                contact::normal_row(values, values.len() / contact::DIM)
            } else {
                values
            }
        });
    }

    #[allow(clippy::too_many_arguments)]
    fn add(
        &mut self,
        world: &World,
        rows: &Rows,
        constraint: &Constraint,
        law: Law,
        bias: &[f64],
        compliance: &[f64],
        part: impl for<'v> Fn(&'v [f64]) -> &'v [f64],
    ) {
        let terms = rows.terms(constraint);
        let mut few: [(PortId, &[f64]); FEW] = [(PortId(0), &[]); FEW];
        let mut many = Vec::new();
        if terms.len() > FEW {
            many.resize(terms.len(), (PortId(0), [].as_slice()));
        }
        let list = if terms.len() > FEW { &mut many[..] } else { &mut few[..terms.len()] };
        for (slot, term) in list.iter_mut().zip(terms) {
            let Some(port) = self.port(world, rows, term.port) else { return };
            *slot = (port, part(rows.values(term)));
        }
        self.builder.constraint(law, bias, compliance, list);
    }
}
