//! The constraint rows of one step, in flat memory, before any solver sees them.
//!
//! A constraint has a law, its bias and yield per row, a position (gap or error) and up to a few
//! terms. A term is the matrix C of one port: the whole of a small tree, a link of a larger one, a
//! single coordinate, or a point of a soft body. From the same rows the problem for velocities and the one that removes
//! position errors are posed. Keys are sorted, so that impulses are carried from step to step by
//! merging two lists.

use nalgebra::{Vector3, Vector6};
use stiction_math::branch;
use stiction_mech::{BodyId, Data, Model, angular_velocity, point_velocity};
use stiction_solve::law::Law;

use crate::driven::Driven;
use crate::world::World;

/// Identity of a constraint over time: its class, what it is between, and which of several.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Key {
    pub class: Class,
    pub a: u32,
    pub b: u32,
    pub feature: u32,
    /// Which of the rows that stand beside a contact; zero for all others.
    pub row: u8,
}

/// Classes of constraints, in the order of their rows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Class {
    #[default]
    Equality,
    /// Vertices of soft bodies that keep their place on others.
    Attachment,
    Limit,
    Drive,
    Contact,
    /// Spinning and rolling of contacts.
    Twist,
    /// Contacts of soft bodies.
    SoftContact,
    /// Ends of cables on bodies that move.
    Clamp,
}

impl Class {
    /// The class of a number, as `as u32` gives it.
    pub fn from_number(number: u32) -> Option<Self> {
        [
            Self::Equality,
            Self::Attachment,
            Self::Limit,
            Self::Drive,
            Self::Contact,
            Self::Twist,
            Self::SoftContact,
            Self::Clamp,
        ]
        .into_iter()
        .find(|class| *class as u32 == number)
    }
}

/// What a term reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Port {
    /// All velocities of a tree.
    Whole(u32),
    /// The spatial velocity of a link, by the body that is the link.
    Link(u32),
    /// One velocity of the model.
    Dof(u32),
    /// A point of a soft body: which of the faces.
    Face(u32),
}

/// A point of a soft body: the mean of some of its vertices.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Face {
    pub soft: u32,
    /// Places of vertices among those of the body that are not fixed.
    pub nodes: [u32; 4],
    pub weights: [f64; 4],
}

/// The tree of a term that reads none.
pub(crate) const NO_TREE: u32 = u32::MAX;

#[derive(Clone, Copy, Debug)]
pub(crate) struct Term {
    pub port: Port,
    /// The tree that it reads, or [`NO_TREE`].
    pub tree: u32,
    offset: u32,
    len: u32,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Constraint {
    pub key: Key,
    pub law: Law,
    /// Gap of a contact or limit, error of an equality [m, rad]; zero for drives.
    pub position: f64,
    /// Whether its velocity hardly changes in the step: a contact that lasts.
    pub lasting: bool,
    pub first_row: u32,
    dim: u32,
    first_term: u32,
    end_term: u32,
}

impl Constraint {
    pub fn rows(&self) -> std::ops::Range<usize> {
        self.first_row as usize..(self.first_row + self.dim) as usize
    }
}

/// The tree of a velocity.
pub(crate) fn tree_of_dof(model: &Model, dof: usize) -> usize {
    model.trees().partition_point(|tree| tree.dofs.end <= dof)
}

/// How trees are seen by constraints.
#[derive(Clone, Copy)]
pub(crate) struct Sight<'a> {
    pub model: &'a Model,
    pub data: &'a Data,
    /// Per tree: whether its constraints are written in its own velocities, not link by link.
    pub whole: &'a [bool],
    /// Per tree: whether it is asleep, and so does not move.
    pub asleep: &'a [bool],
    /// Bodies whose motion is given.
    pub driven: &'a Driven,
}

impl Sight<'_> {
    /// The tree of a body that moves; `None` if the body is fixed or asleep.
    pub fn moving_tree(&self, body: usize) -> Option<usize> {
        self.model.bodies()[body].tree.filter(|tree| !self.asleep[*tree])
    }

    /// Velocities on which a link depends, counted from the start of its tree.
    fn path(&self, tree: usize, link: usize) -> impl Iterator<Item = usize> + '_ {
        let dofs = self.model.trees()[tree].dofs.clone();
        let last = self.model.last_dof(BodyId(link)).map(|dof| (dof - dofs.start) as u32);
        branch::ancestors(&self.model.dof_parents()[dofs], last)
    }

    /// Velocity of a point of a body [m/s], zero for a fixed one.
    pub fn point_velocity(&self, body: usize, point: &Vector3<f64>) -> Vector3<f64> {
        match self.moving_tree(body) {
            Some(_) => point_velocity(self.model, self.data, BodyId(body), *point),
            None => self.driven.point_velocity(body, point),
        }
    }

    /// Angular velocity of a body [rad/s], zero for a fixed one.
    pub fn turning(&self, body: usize) -> Vector3<f64> {
        match self.moving_tree(body) {
            Some(_) => angular_velocity(self.data, BodyId(body)),
            None => self.driven.turning(body),
        }
    }
}

/// Gradients of a few rows over the velocities that any of them reads.
#[derive(Debug, Default)]
struct Gradients {
    /// Velocities that are read, in the order in which they were met.
    dofs: Vec<usize>,
    /// One gradient per row.
    rows: Vec<Vec<f64>>,
    used: usize,
    dependent: Vec<usize>,
}

/// What is left of a gradient after the others, relative to the largest, if it depends on them.
const DEPENDENT: f64 = 1e-8;

impl Gradients {
    fn clear(&mut self) {
        self.dofs.clear();
        self.used = 0;
    }

    fn add(&mut self, rows: &Rows, sight: &Sight, constraint: &Constraint) {
        if self.rows.len() == self.used {
            self.rows.push(Vec::new());
        }
        let (dofs, gradient) = (&mut self.dofs, &mut self.rows[self.used]);
        gradient.clear();
        gradient.resize(dofs.len(), 0.0);
        let mut add = |dof: usize, value: f64| {
            let place = dofs.iter().position(|d| *d == dof).unwrap_or_else(|| {
                dofs.push(dof);
                gradient.push(0.0);
                dofs.len() - 1
            });
            gradient[place] += value;
        };
        for term in rows.terms(constraint).iter().filter(|term| term.tree != NO_TREE) {
            let (tree, c) = (term.tree as usize, rows.values(term));
            let start = sight.model.trees()[tree].dofs.start;
            match term.port {
                Port::Whole(_) => c.iter().enumerate().for_each(|(k, c)| add(start + k, *c)),
                Port::Dof(dof) => add(dof as usize, c[0]),
                Port::Face(_) => {}
                Port::Link(body) => {
                    let c = Vector6::from_column_slice(c);
                    for k in sight.path(tree, body as usize) {
                        add(start + k, c.dot(&sight.data.subspace[start + k]));
                    }
                }
            }
        }
        self.used += 1;
    }

    /// Rows that depend on others, ascending. Rows are used up.
    fn dependent(&mut self) -> impl DoubleEndedIterator<Item = usize> + '_ {
        let rows = &mut self.rows[..self.used];
        rows.iter_mut().for_each(|row| row.resize(self.dofs.len(), 0.0));
        let squared = |row: &[f64]| row.iter().map(|x| x * x).sum::<f64>();
        self.dependent.clear();
        self.dependent.extend(0..rows.len());
        let mut largest = 0.0_f64;
        while let Some((at, norm)) =
            self.dependent.iter().map(|index| squared(&rows[*index])).enumerate().fold(
                None,
                |best: Option<(usize, f64)>, (at, norm)| match best {
                    Some((_, most)) if most >= norm => best,
                    _ => Some((at, norm)),
                },
            )
        {
            largest = largest.max(norm);
            if !(norm > DEPENDENT * DEPENDENT * largest) {
                break;
            }
            let pivot = self.dependent.remove(at);
            for &index in &self.dependent {
                let product: f64 = rows[pivot].iter().zip(&rows[index]).map(|(a, b)| a * b).sum();
                for k in 0..self.dofs.len() {
                    rows[index][k] -= product / norm * rows[pivot][k];
                }
            }
        }
        self.dependent.iter().copied()
    }
}

/// Rows of a step. Constraints are opened, given terms, and closed, in the order of their keys.
#[derive(Debug, Default)]
pub(crate) struct Rows {
    constraints: Vec<Constraint>,
    bias: Vec<f64>,
    compliance: Vec<f64>,
    terms: Vec<Term>,
    values: Vec<f64>,
    faces: Vec<Face>,
    /// A gradient over all velocities, zero between uses.
    scratch: Vec<f64>,
    effect: Effect,
    gradients: Gradients,
}

/// Effects below this part of what their factors could give are round-off.
const ROUND_OFF: f64 = 1e-12;

/// Whether the constraint that is open moves anything. Links of a tree share velocities, whose
/// effects can cancel: across the plane of a planar loop nothing moves, and what the sum leaves is
/// round-off, which no solver should be asked to invert.
#[derive(Debug, Default)]
struct Effect {
    /// Something that cannot cancel moves it.
    certain: bool,
    /// Gradient over all velocities, row by row, zero between uses.
    sum: Vec<f64>,
    /// Entries of `sum` in use.
    touched: Vec<usize>,
    /// What the largest effect could have been.
    scale: f64,
}

impl Effect {
    /// Adds the effect of velocity `dof` on row `row` through the motion `S`.
    fn add(&mut self, row: usize, dof: usize, nv: usize, c: &Vector6<f64>, S: &Vector6<f64>) {
        let (at, effect) = (row * nv + dof, c.dot(S));
        if self.sum.len() <= at {
            self.sum.resize((row + 1) * nv, 0.0);
        }
        self.sum[at] += effect;
        self.touched.push(at);
        self.scale = self.scale.max(c.norm() * S.norm());
    }

    /// The answer; forgets everything.
    fn close(&mut self) -> bool {
        let mut largest = 0.0_f64;
        for at in self.touched.drain(..) {
            largest = largest.max(self.sum[at].abs());
            self.sum[at] = 0.0;
        }
        let moves = self.certain || largest > ROUND_OFF * self.scale;
        (self.certain, self.scale) = (false, 0.0);
        moves
    }
}

impl Rows {
    pub fn clear(&mut self) {
        self.constraints.clear();
        self.bias.clear();
        self.compliance.clear();
        self.terms.clear();
        self.values.clear();
        self.faces.clear();
    }

    /// Takes back the constraints of a class and of those after it.
    pub fn truncate(&mut self, class: Class) {
        let kept = self.constraints.partition_point(|constraint| constraint.key.class < class);
        let Some(first) = self.constraints.get(kept).copied() else { return };
        let terms = first.first_term as usize;
        let values = self.terms.get(terms).map_or(self.values.len(), |term| term.offset as usize);
        let end = |term: &Term| match term.port {
            Port::Face(index) => index as usize + 1,
            _ => 0,
        };
        let faces = self.terms[..terms].iter().map(end).max().unwrap_or(0);
        self.constraints.truncate(kept);
        self.bias.truncate(first.first_row as usize);
        self.compliance.truncate(first.first_row as usize);
        self.terms.truncate(terms);
        self.values.truncate(values);
        self.faces.truncate(faces);
    }

    pub fn constraints(&self) -> &[Constraint] {
        &self.constraints
    }

    pub fn len(&self) -> usize {
        self.bias.len()
    }

    pub fn is_empty(&self) -> bool {
        self.constraints.is_empty()
    }

    pub fn bias(&self, constraint: &Constraint) -> &[f64] {
        &self.bias[constraint.rows()]
    }

    pub fn compliance(&self, constraint: &Constraint) -> &[f64] {
        &self.compliance[constraint.rows()]
    }

    pub fn terms(&self, constraint: &Constraint) -> &[Term] {
        &self.terms[constraint.first_term as usize..constraint.end_term as usize]
    }

    pub fn values(&self, term: &Term) -> &[f64] {
        &self.values[term.offset as usize..(term.offset + term.len) as usize]
    }

    /// Opens a constraint; its terms follow.
    pub fn open(&mut self, key: Key, law: Law, position: f64, bias: &[f64], compliance: &[f64]) {
        let (first_row, first_term) = (self.bias.len() as u32, self.terms.len() as u32);
        let dim = bias.len() as u32;
        self.bias.extend_from_slice(bias);
        self.compliance.extend_from_slice(compliance);
        let constraint = Constraint {
            key,
            law,
            position,
            lasting: false,
            first_row,
            dim,
            first_term,
            end_term: first_term,
        };
        self.constraints.push(constraint);
    }

    /// Says that the open constraint lasts.
    pub fn set_lasting(&mut self) {
        if let Some(open) = self.constraints.last_mut() {
            open.lasting = true;
        }
    }

    /// Closes the constraint. One that moves nothing is taken back.
    pub fn close(&mut self) {
        let Some(constraint) = self.constraints.last_mut() else { return };
        constraint.end_term = self.terms.len() as u32;
        let first = constraint.first_term as usize;
        let from = self.terms.get(first).map_or(self.values.len(), |term| term.offset as usize);
        if !self.effect.close() {
            self.bias.truncate(constraint.first_row as usize);
            self.compliance.truncate(constraint.first_row as usize);
            self.terms.truncate(first);
            self.values.truncate(from);
            self.constraints.pop();
        }
    }

    /// Takes back those of the constraints from `first` on, of one row each, that say what the
    /// others already do: rows of one equality whose gradients depend on one another, as across
    /// the plane of a planar loop. Which stay is decided by Gram-Schmidt with pivoting, so that a
    /// choice lasts while the mechanism turns. Cost: rows² times the velocities they read.
    pub fn prune(&mut self, first: usize, sight: &Sight) {
        let count = self.constraints.len() - first;
        if count < 2 {
            return;
        }
        let mut gradients = std::mem::take(&mut self.gradients);
        gradients.clear();
        for constraint in &self.constraints[first..] {
            gradients.add(self, sight, constraint);
        }
        for index in gradients.dependent().rev() {
            self.remove(first + index);
        }
        self.gradients = gradients;
    }

    /// Removes a constraint of one row, other than by taking back the last.
    fn remove(&mut self, index: usize) {
        let removed = self.constraints.remove(index);
        let (row, terms) = (removed.first_row as usize, removed.end_term - removed.first_term);
        self.bias.remove(row);
        self.compliance.remove(row);
        self.terms.drain(removed.first_term as usize..removed.end_term as usize);
        for later in &mut self.constraints[index..] {
            later.first_row -= 1;
            later.first_term -= terms;
            later.end_term -= terms;
        }
    }

    /// Replaces the yield of a constraint's rows where it is smaller.
    pub fn soften(&mut self, index: usize, least: f64) {
        for r in &mut self.compliance[self.constraints[index].rows()] {
            *r = r.max(least);
        }
    }

    /// Adds velocities of a point of a body along axes, one per row, times `sign`.
    pub fn point(
        &mut self,
        sight: &Sight,
        body: usize,
        point: &Vector3<f64>,
        axes: &[Vector3<f64>],
        sign: f64,
    ) {
        let Some(tree) = sight.moving_tree(body) else { return };
        let r = point - sight.data.reference[tree];
        self.spatial(sight, tree, body, axes.len(), |row| {
            let axis = sign * axes[row];
            let moment = r.cross(&axis);
            Vector6::new(moment.x, moment.y, moment.z, axis.x, axis.y, axis.z)
        });
    }

    /// Adds velocities of a point of a soft body, given by the weights of nodes, along axes, one per
    /// row, times `sign`. Fixed vertices do not move, and held ones not along the axes along which they are.
    pub fn face(
        &mut self,
        world: &World,
        nodes: [u32; 3],
        weights: [f64; 3],
        axes: &[Vector3<f64>],
        sign: f64,
    ) {
        let soft = world.softs.body_of(nodes[0]) as u32;
        // Vertices that are held along the same axes make one term; mostly all of them do.
        let mut done = [false; 3];
        for lead in 0..3 {
            let held = world.softs.held_of(nodes[lead]);
            let mut face = Face { soft, nodes: [0; 4], weights: [0.0; 4] };
            let mut used = 0;
            for k in lead..3 {
                if done[k] || world.softs.held_of(nodes[k]) != held {
                    continue;
                }
                done[k] = true;
                if weights[k] != 0.0
                    && let Some(place) = world.softs.place_of(nodes[k])
                {
                    (face.nodes[used], face.weights[used]) = (place, weights[k]);
                    used += 1;
                }
            }
            let free = |axis: &Vector3<f64>| {
                Vector3::from_fn(|i, _| if held[i] { 0.0 } else { sign * axis[i] })
            };
            if used == 0 || axes.iter().all(|axis| free(axis) == Vector3::zeros()) {
                continue;
            }
            // Weights of zero stand for a vertex that is there.
            let first = face.nodes[0];
            face.nodes[used..].fill(first);
            self.effect.certain = true;
            self.faces.push(face);
            let port = Port::Face((self.faces.len() - 1) as u32);
            let out = self.push(port, NO_TREE as usize, 3 * axes.len());
            for (row, axis) in out.chunks_exact_mut(3).zip(axes) {
                row.copy_from_slice(free(axis).as_slice());
            }
        }
    }

    /// The point of a soft body that a port reads.
    pub fn face_of(&self, port: Port) -> Option<&Face> {
        match port {
            Port::Face(index) => self.faces.get(index as usize),
            _ => None,
        }
    }

    /// Adds angular velocities of a body along axes, one per row, times `sign`.
    pub fn rotation(&mut self, sight: &Sight, body: usize, axes: &[Vector3<f64>], sign: f64) {
        let Some(tree) = sight.moving_tree(body) else { return };
        self.spatial(sight, tree, body, axes.len(), |row| {
            let axis = sign * axes[row];
            Vector6::new(axis.x, axis.y, axis.z, 0.0, 0.0, 0.0)
        });
    }

    /// Adds one coordinate of the model to a constraint of one row.
    pub fn dof(&mut self, sight: &Sight, dof: usize, coefficient: f64) {
        let tree = tree_of_dof(sight.model, dof);
        if sight.asleep[tree] {
            return;
        }
        self.effect.certain |= coefficient != 0.0;
        if sight.whole[tree] {
            let dofs = sight.model.trees()[tree].dofs.clone();
            let out = self.push(Port::Whole(tree as u32), tree, dofs.len());
            out[dof - dofs.start] = coefficient;
        } else {
            self.push(Port::Dof(dof as u32), tree, 1).fill(coefficient);
        }
    }

    /// Adds `factor` times a gradient over the listed velocities to a constraint of one row.
    pub fn gradient(
        &mut self,
        sight: &Sight,
        dofs: &[usize],
        factor: f64,
        write: impl FnOnce(&mut [f64]),
    ) {
        let mut gradient = std::mem::take(&mut self.scratch);
        gradient.resize(sight.model.nv(), 0.0);
        write(&mut gradient);
        for &dof in dofs {
            self.dof(sight, dof, factor * gradient[dof]);
            gradient[dof] = 0.0;
        }
        self.scratch = gradient;
    }

    fn spatial(
        &mut self,
        sight: &Sight,
        tree: usize,
        body: usize,
        dim: usize,
        row: impl Fn(usize) -> Vector6<f64>,
    ) {
        let Some(link) = sight.model.bodies()[body].link else { return };
        let range = &sight.model.trees()[tree];
        let (start, n, nv) = (range.dofs.start, range.dofs.len(), sight.model.nv());
        if sight.whole[tree] {
            let out = self.push(Port::Whole(tree as u32), tree, n * dim);
            for d in 0..dim {
                let c = row(d);
                for k in sight.path(tree, link) {
                    out[d * n + k] = c.dot(&sight.data.subspace[start + k]);
                }
            }
        } else {
            let out = self.push(Port::Link(link as u32), tree, 6 * dim);
            for d in 0..dim {
                out[6 * d..6 * d + 6].copy_from_slice(row(d).as_slice());
            }
        }
        // A body that moves in every way is moved by everything.
        if range.links.len() == 1 && n == 6 {
            self.effect.certain = true;
            return;
        }
        for d in 0..dim {
            let c = row(d);
            for k in sight.path(tree, link) {
                self.effect.add(d, start + k, nv, &c, &sight.data.subspace[start + k]);
            }
        }
    }

    /// Rate of the open constraint, which has one row, at velocities of the model.
    pub fn rate(&self, sight: &Sight, v: &[f64]) -> f64 {
        let first = self.constraints.last().map_or(0, |open| open.first_term as usize);
        self.terms[first..].iter().map(|term| self.term_rate(sight, term, v)).sum()
    }

    /// Changes the bias of the open constraint, which has one row.
    pub fn set_bias(&mut self, bias: f64) {
        if let Some(last) = self.bias.last_mut() {
            *last = bias;
        }
    }

    /// Rate of a term of one row at velocities of the model. Those of links are in `data`.
    pub fn term_rate(&self, sight: &Sight, term: &Term, v: &[f64]) -> f64 {
        let c = self.values(term);
        match term.port {
            Port::Whole(tree) => {
                let dofs = sight.model.trees()[tree as usize].dofs.clone();
                c.iter().zip(&v[dofs]).map(|(c, v)| c * v).sum()
            }
            Port::Dof(dof) => c[0] * v[dof as usize],
            Port::Link(body) => {
                c.iter().zip(sight.data.velocity[body as usize].iter()).map(|(c, v)| c * v).sum()
            }
            // Vertices are none of the model's velocities.
            Port::Face(_) => 0.0,
        }
    }

    fn push(&mut self, port: Port, tree: usize, len: usize) -> &mut [f64] {
        let offset = self.values.len();
        self.terms.push(Term { port, tree: tree as u32, offset: offset as u32, len: len as u32 });
        self.values.resize(offset + len, 0.0);
        &mut self.values[offset..]
    }
}
