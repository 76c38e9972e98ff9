//! Constraint rows of one step, written in the form in which a [`Problem`] keeps them.
//!
//! A constraint is opened with its key, law, bias and compliance, given terms, and closed. A term is
//! the matrix C of one port: the velocities of a tree, the spatial velocity of a link, one degree of
//! freedom, or a point of a soft body. Besides the rows the builder stores the data
//! to compute forces after the solve: the key of each constraint, and of each contact its frame and
//! surfaces. Constraints come in the order of their keys, so that impulses are carried from step to
//! step by merging two sorted lists.

pub(crate) mod contact;
pub(crate) mod drive;
pub(crate) mod equality;
pub(crate) mod limit;
pub(crate) mod patch;
pub(crate) mod torsion;

mod context;
mod dependent;
mod effect;
mod key;
mod rank;
mod terms;

pub(crate) use context::{ConstraintContext, tree_of_dof};
pub(crate) use key::{ConstraintClass, ConstraintKey};

use nalgebra::{Matrix3, Vector3};
use stiction_mech::LawSteps;
use stiction_solve::law::{FrictionModel, Law};
use stiction_solve::problem::{ConstraintRows, PortId};
use stiction_solve::{Problem, ProblemError};

use crate::contact_model::ContactModel;
use crate::contact_point::ContactPoint;
use crate::settings::Settings;
use crate::soft_surface::TangentialLaw;
use crate::surface::{Combine, Pairing};
use dependent::DependentRows;
use effect::MotionEffect;

/// Speeds of approach below this many steps of free fall do not bounce.
const BOUNCE_STEPS: f64 = 2.0;

/// Difference of gaps up to which contacts of a patch touch together, in slops [-].
const TOUCH: f64 = 0.1;

/// Inputs of the rows of a step besides positions and velocities.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RowParameters {
    /// Time step h [s], or the length of the part of a step.
    pub time_step: f64,
    /// The length of the whole step [s].
    pub whole_step: f64,
    /// Weight α of the next velocity in the velocity on which contact laws act [-].
    pub alpha: f64,
    /// Speed of approach [m/s] below which nothing bounces.
    pub bounce_threshold: f64,
    /// Difference of gaps up to which contacts of a patch touch together [m].
    pub touch: f64,
    /// Largest speed at which overlaps of a start part [m/s].
    pub max_speed: f64,
    /// How coefficients of friction combine.
    pub combine: Combine,
    /// How soft contacts are softened along the tangents.
    pub tangential: TangentialLaw,
    /// How contacts of rigid bodies are modelled.
    pub contact: ContactModel,
    /// Whether sliding contacts separate at μ times their sliding speed, as in the convex model.
    pub convex_friction: bool,
}

impl RowParameters {
    /// `fraction` is the length of the time step of the settings relative to the whole step.
    pub fn new(
        settings: &Settings,
        fraction: f64,
        gravity: f64,
        friction_model: FrictionModel,
    ) -> Self {
        Self {
            time_step: settings.time_step,
            whole_step: settings.time_step / fraction,
            alpha: settings.scheme.alpha(),
            bounce_threshold: BOUNCE_STEPS * gravity * settings.time_step,
            touch: TOUCH * settings.stabilisation.slop,
            max_speed: settings.stabilisation.max_speed,
            combine: settings.combine,
            tangential: settings.tangential,
            contact: settings.contact,
            convex_friction: friction_model == FrictionModel::Convex,
        }
    }

    /// Lengths of time for soft laws.
    pub fn law_steps(&self) -> LawSteps {
        LawSteps { part: self.time_step, whole: self.whole_step }
    }
}

/// The velocities that a term reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RowPort {
    /// All velocities of a tree.
    Tree(u32),
    /// The spatial velocity of a link, by the body that is the link.
    Link { body: u32, tree: u32 },
    /// One degree of freedom of the model.
    Dof { dof: u32, tree: u32 },
    /// A point of a soft body: index into the points of the builder.
    SoftPoint(u32),
}

impl RowPort {
    /// The tree whose velocities are read; `None` for soft bodies.
    pub fn tree(self) -> Option<usize> {
        match self {
            Self::Tree(tree) | Self::Link { tree, .. } | Self::Dof { tree, .. } => {
                Some(tree as usize)
            }
            Self::SoftPoint(_) => None,
        }
    }
}

/// A point of a soft body: a weighted mean of some of its vertices.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct SoftPoint {
    pub soft: u32,
    /// Vertices by their index among those of the body that are not fixed.
    pub nodes: [u32; 4],
    /// Their weights [-].
    pub weights: [f64; 4],
}

/// Data of a constraint besides its rows.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ConstraintRecord {
    pub key: ConstraintKey,
    /// Gap of a contact or limit, error of an equality [m, rad]; zero for drives.
    pub position: f64,
    /// Whether a contact neither opens nor impacts, so that its velocity hardly changes in the step.
    pub lasting: bool,
}

/// Data of a contact constraint to compute its force after the solve.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ContactRow {
    /// Index of the constraint.
    pub constraint: u32,
    /// The contact in the public form. Its velocity holds the prescribed part; force and torque are zero.
    pub point: ContactPoint,
    /// Rotation from world axes to contact axes.
    pub R_CW: Matrix3<f64>,
    /// Combined surface parameters.
    pub pairing: Pairing,
    /// Part of the bias of the normal row that restitution adds [m/s].
    pub rebound: f64,
}

/// A row of friction against spinning or rolling.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TorsionRow {
    /// Index of the constraint.
    pub constraint: u32,
    /// Index of the contact row it belongs to.
    pub contact: u32,
    /// Its axis in the world.
    pub axis_W: Vector3<f64>,
}

/// Writes the constraint rows of a step.
#[derive(Debug, Default)]
pub(crate) struct RowBuilder {
    /// The rows, unless a problem has them.
    rows: ConstraintRows,
    /// One per constraint.
    records: Vec<ConstraintRecord>,
    /// Port that each term reads.
    ports: Vec<RowPort>,
    soft_points: Vec<SoftPoint>,
    /// One per contact, rigid ones first.
    contacts: Vec<ContactRow>,
    torsion: Vec<TorsionRow>,
    effect: MotionEffect,
    dependent: DependentRows,
    /// Scratch: which constraints stay.
    mask: Vec<bool>,
    /// A gradient over all degrees of freedom; zero between uses.
    gradient: Vec<f64>,
}

impl RowBuilder {
    pub fn clear(&mut self) {
        self.rows.clear();
        self.records.clear();
        self.ports.clear();
        self.soft_points.clear();
        self.contacts.clear();
        self.torsion.clear();
    }

    pub fn is_empty(&self) -> bool {
        self.records.is_empty()
    }

    /// One record per constraint, in the order of their rows.
    pub fn records(&self) -> &[ConstraintRecord] {
        &self.records
    }

    /// Data of the contacts.
    pub fn contacts(&self) -> &[ContactRow] {
        &self.contacts
    }

    /// Rows against spinning and rolling.
    pub fn torsion(&self) -> &[TorsionRow] {
        &self.torsion
    }

    /// The rows, before a problem takes them.
    pub fn rows(&self) -> &ConstraintRows {
        &self.rows
    }

    /// Port that each term reads, in the order of the terms.
    pub fn ports(&self) -> &[RowPort] {
        &self.ports
    }

    /// A point of a soft body that terms read.
    pub fn soft_point(&self, index: u32) -> &SoftPoint {
        &self.soft_points[index as usize]
    }

    /// Sets the problem's port of every term; `resolve` receives the term's port, with the point
    /// of a soft body if it is one. A term for which there is none is an error.
    pub fn resolve_ports(
        &mut self,
        mut resolve: impl FnMut(RowPort, Option<&SoftPoint>) -> Option<PortId>,
    ) -> Result<(), ProblemError> {
        let Self { rows, ports, soft_points, .. } = self;
        rows.set_ports(|term| {
            let point = match ports[term] {
                RowPort::SoftPoint(index) => soft_points.get(index as usize),
                _ => None,
            };
            resolve(ports[term], point)
        })
    }

    /// The rows, to be handed to a problem.
    pub fn rows_mut(&mut self) -> &mut ConstraintRows {
        &mut self.rows
    }

    /// Takes the rows back from the problem that they were handed to.
    pub fn take_back(&mut self, problem: &mut Problem) {
        problem.exchange_rows(&mut self.rows);
    }

    /// Opens a constraint; its terms follow.
    pub fn open(
        &mut self,
        key: ConstraintKey,
        law: Law,
        position: f64,
        bias: &[f64],
        compliance: &[f64],
    ) {
        self.rows.open(law, bias, compliance);
        self.records.push(ConstraintRecord { key, position, lasting: false });
    }

    /// Marks the open constraint as lasting.
    pub fn set_lasting(&mut self) {
        if let Some(open) = self.records.last_mut() {
            open.lasting = true;
        }
    }

    /// Says whether all terms of the open constraint read different trees.
    pub fn set_separate(&mut self, is_separate: bool) {
        self.effect.separate = is_separate;
    }

    /// Closes the constraint. Removes one that moves nothing, and returns whether it stays.
    pub fn close(&mut self) -> bool {
        let stays = self.effect.finish();
        if !stays {
            self.truncate_to(self.records.len().saturating_sub(1));
        }
        stays
    }

    /// Closes a contact and stores the data to compute its force after the solve.
    pub fn close_contact(&mut self, point: ContactPoint, R_CW: Matrix3<f64>, pairing: Pairing) {
        let constraint = (self.records.len() - 1) as u32;
        if self.close() {
            self.contacts.push(ContactRow { constraint, point, R_CW, pairing, rebound: 0.0 });
        }
    }

    /// Sets the part of the bias of the last contact that restitution adds, if the contact stayed [m/s].
    pub fn set_rebound(&mut self, rebound: f64) {
        let constraint = self.records.len().wrapping_sub(1) as u32;
        if let Some(row) = self.contacts.last_mut().filter(|row| row.constraint == constraint) {
            row.rebound = rebound;
        }
    }

    /// Closes a row against spinning or rolling of a contact.
    pub fn close_torsion(&mut self, contact: usize, axis_W: Vector3<f64>) {
        let (constraint, contact) = ((self.records.len() - 1) as u32, contact as u32);
        if self.close() {
            self.torsion.push(TorsionRow { constraint, contact, axis_W });
        }
    }

    /// Removes the constraints of a class and of all classes after it.
    pub fn truncate(&mut self, class: ConstraintClass) {
        self.truncate_to(self.records.partition_point(|record| record.key.class < class));
    }

    fn truncate_to(&mut self, count: usize) {
        self.rows.truncate(count);
        self.records.truncate(count);
        self.ports.truncate(self.rows.terms().len());
        let end = |port: &RowPort| match port {
            RowPort::SoftPoint(index) => *index as usize + 1,
            _ => 0,
        };
        if !self.soft_points.is_empty() {
            self.soft_points.truncate(self.ports.iter().map(end).max().unwrap_or(0));
        }
        let before = |constraint: u32| (constraint as usize) < count;
        self.contacts.truncate(self.contacts.partition_point(|row| before(row.constraint)));
        self.torsion.truncate(self.torsion.partition_point(|row| before(row.constraint)));
    }

    /// Removes those of the equality rows from `first` on that are exact and depend linearly on others of their island:
    /// rows normal to the plane of a planar loop, and loops that are closed twice. Those with an error of more than
    /// `agrees` stay [m, rad].
    pub fn remove_dependent(&mut self, first: usize, agrees: f64, context: &ConstraintContext) {
        let mut dependent = std::mem::take(&mut self.dependent);
        if dependent.find(first, self, context) {
            dependent.retain(|index| self.records[index].position.abs() <= agrees);
            self.retain(first, |index| !dependent.contains(index));
        }
        self.dependent = dependent;
    }

    /// Keeps the constraints from `first` on for whose index `keep` returns true. None of them may
    /// be a contact with a row of its own.
    pub fn retain(&mut self, first: usize, mut keep: impl FnMut(usize) -> bool) {
        let Some(start) = self.rows.constraints().get(first) else { return };
        let (mut to, mut term) = (first, start.terms().start);
        for index in first..self.records.len() {
            if keep(index) {
                let terms = self.rows.constraints()[index].terms();
                self.records[to] = self.records[index];
                self.ports.copy_within(terms.clone(), term);
                (to, term) = (to + 1, term + terms.len());
            }
        }
        self.rows.retain(first, keep);
        self.records.truncate(to);
        self.ports.truncate(term);
    }

    /// Keeps the constraints whose first tree satisfies `keep`.
    pub fn retain_where(&mut self, mut keep: impl FnMut(usize) -> bool) {
        let mut mask = std::mem::take(&mut self.mask);
        mask.clear();
        mask.extend((0..self.records.len()).map(|i| self.first_tree(i).is_some_and(&mut keep)));
        self.retain(0, |index| mask[index]);
        self.mask = mask;
    }

    /// The tree that the first term of a constraint reads.
    pub fn first_tree(&self, index: usize) -> Option<usize> {
        let first = self.rows.constraints()[index].terms().start;
        self.ports.get(first).and_then(|port| port.tree())
    }

    /// Sets the bias of a constraint of one row [m/s].
    pub fn set_bias_of(&mut self, index: usize, bias: f64) {
        let row = self.rows.constraints()[index].rows().start;
        self.rows.bias_mut()[row] = bias;
    }

    /// Changes the bias of the open constraint, which has one row [m/s].
    pub fn set_bias(&mut self, bias: f64) {
        if let Some(last) = self.rows.bias_mut().last_mut() {
            *last = bias;
        }
    }

    /// Rate of the open constraint, which has one row, at velocities `v` of the model.
    pub fn rate(&self, context: &ConstraintContext, v: &[f64]) -> f64 {
        let open = self.rows.constraints().last().map_or(0..0, |open| open.terms());
        open.map(|term| self.term_rate(context, term, v)).sum()
    }

    /// Rate of a term of one row at velocities `v` of the model; those of links are in the data.
    pub fn term_rate(&self, context: &ConstraintContext, term: usize, v: &[f64]) -> f64 {
        let c = self.rows.values(&self.rows.terms()[term]);
        match self.ports[term] {
            RowPort::Tree(tree) => {
                let dofs = context.model.trees()[tree as usize].dofs.clone();
                c.iter().zip(&v[dofs]).map(|(c, v)| c * v).sum()
            }
            RowPort::Dof { dof, .. } => c[0] * v[dof as usize],
            RowPort::Link { body, .. } => {
                let V = &context.data.velocity[body as usize];
                c.iter().zip(V.iter()).map(|(c, v)| c * v).sum()
            }
            // Vertices of soft bodies are not among the velocities of the model.
            RowPort::SoftPoint(_) => 0.0,
        }
    }

    fn push(&mut self, port: RowPort, len: usize) -> &mut [f64] {
        self.ports.push(port);
        // The problem's ports are known once all rows are.
        self.rows.push_term(PortId(0), len)
    }
}
