//! Removes position errors from a state whose velocities are settled, by displacements that are
//! least in the kinetic metric.
//!
//! `min ½ δᵀ A δ` such that equalities close, and contacts and limits end no deeper than they may.
//! Positions change, velocities do not: friction never has to balance a push that it could
//! forbid, and what penetrates is not shot out. Only groups of bodies with an error take part.

use stiction_geom::Contact;
use stiction_math::sets::DisjointSets;
use stiction_mech::{Forces, Input};
use stiction_solve::law::{Law, Unilateral};
use stiction_solve::solver::SolverError;
use stiction_solve::{Goal, Problem, Session, Solution};

use crate::assemble;
use crate::constraint::Place;
use crate::free::FreeMotion;
use crate::pose::{Poser, Question};
use crate::rows::{Rows, Sight};
use crate::settings::Stabilisation;
use crate::world::World;

/// Rows from which on a few sweeps replace an exact answer.
const MANY_ROWS: usize = 600;
const SWEEPS: usize = 20;
/// Accuracy of a correction relative to the largest error.
const TOLERANCE: f64 = 1e-4;
/// Part of the slop to which penetration is reduced, so that it does not come back at once.
const REST: f64 = 0.5;

/// Memory for the removal of position errors.
pub(crate) struct Stabiliser {
    rows: Rows,
    poser: Poser,
    problem: Problem,
    exact: Session,
    sweeps: Session,
    solution: Solution,
    forces: Option<Box<(Forces, Input)>>,
    wanted: Vec<Option<f64>>,
    groups: DisjointSets,
    group_is_wrong: Vec<bool>,
    displacement: Vec<f64>,
}

/// A configuration to be corrected, with what was found there.
#[derive(Clone, Copy)]
pub(crate) struct Found<'a> {
    pub world: &'a World,
    pub q: &'a [f64],
    pub v: &'a [f64],
    pub sight: Sight<'a>,
    pub contacts: &'a [Contact],
    pub free: &'a FreeMotion,
    pub time_step: f64,
}

/// How wrong a configuration is.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Wrong {
    /// Largest error of an equality [m, rad].
    pub equality: f64,
    /// Deepest penetration of a rigid contact [m].
    pub depth: f64,
    /// How far a coordinate or a tendon is beyond its range at most [m, rad].
    pub limit: f64,
}

impl Stabiliser {
    pub fn new(world: &World) -> Result<Self, SolverError> {
        let model = &world.model;
        let limited = model.joints().iter().any(|joint| joint.spec.limit.is_some())
            || model.tendons().iter().any(|tendon| tendon.spec.limit.is_some());
        Ok(Self {
            rows: Rows::default(),
            poser: Poser::new(model),
            problem: Problem::default(),
            exact: Session::new("alm")?,
            sweeps: Session::new("psor")?,
            solution: Solution::default(),
            forces: limited.then(|| Box::new((Forces::new(model), Input::new(model)))),
            wanted: Vec::new(),
            groups: DisjointSets::new(0),
            group_is_wrong: Vec::new(),
            displacement: vec![0.0; model.nv()],
        })
    }

    /// Collects the rows of a configuration and says how wrong it is.
    pub fn inspect(&mut self, found: &Found) -> Wrong {
        self.rows.clear();
        let mut wrong = Wrong::default();
        let Found { world, q, sight, .. } = *found;
        let place = Place { model: &world.model, q, data: sight.data };
        wrong.equality = assemble::equalities(world, &place, &sight, None, &mut self.rows);
        self.add_limits(found, &mut wrong);
        for gap in found.contacts.iter().filter_map(|contact| found.world.rigid_gap(contact)) {
            wrong.depth = wrong.depth.max(-gap);
        }
        wrong
    }

    /// The displacement that corrects what was inspected; `None` if there is none to be found.
    pub fn correct(&mut self, found: &Found, settings: &Stabilisation) -> Option<&[f64]> {
        self.add_contacts(found);
        self.choose(found, settings);
        let question = Question::Displacements(&self.wanted);
        let Found { world, sight, free, .. } = *found;
        let Self { poser, rows, problem, .. } = self;
        poser.pose(world, sight.data, free, rows, question, problem).ok()?;
        self.solution.reset(&self.problem);
        let many = self.problem.rows() > MANY_ROWS;
        let max_iterations = many.then_some(SWEEPS);
        let goal = Goal { tolerance: TOLERANCE, max_iterations, ..Goal::default() };
        let session = if many { &mut self.sweeps } else { &mut self.exact };
        // A correction that did not converge is still one; what it left is measured afterwards.
        let _ = session.solve(&self.problem, &goal, &mut self.solution).ok()?;
        if !self.solution.velocity.iter().all(|x| x.is_finite()) {
            return None;
        }
        self.displacement.fill(0.0);
        for (tree, part) in self.poser.parts() {
            let dofs = world.model.trees()[*tree].dofs.clone();
            self.displacement[dofs].copy_from_slice(&self.solution.velocity[part.clone()]);
        }
        Some(&self.displacement)
    }

    fn add_limits(&mut self, found: &Found, wrong: &mut Wrong) {
        let Found { world, q, v, sight, time_step, .. } = *found;
        let Some(forces) = &mut self.forces else { return };
        let (forces, input) = &mut **forces;
        if forces.evaluate(&world.model, (q, v), sight.data, input, time_step).is_err() {
            return;
        }
        for limit in &forces.limits {
            wrong.limit = wrong.limit.max(-limit.gap);
        }
        assemble::limits(time_step, forces, &sight, &mut self.rows);
    }

    fn add_contacts(&mut self, found: &Found) {
        let Found { world, sight, contacts, .. } = *found;
        for contact in contacts {
            let Some(gap) = world.rigid_gap(contact) else { continue };
            let key = assemble::contact_key(contact);
            self.rows.open(key, Law::Unilateral(Unilateral), gap, &[0.0], &[0.0]);
            let [a, b] = world.bodies_of(contact);
            self.rows.point(&sight, b, &contact.point, &[contact.normal], 1.0);
            self.rows.point(&sight, a, &contact.point, &[contact.normal], -1.0);
            self.rows.close();
        }
    }

    /// What each constraint wants: the error of an equality, the room of a contact or limit, which
    /// is negative if it is too deep. Groups in which all is well want nothing.
    fn choose(&mut self, found: &Found, settings: &Stabilisation) {
        let trees = found.world.model.trees().len();
        self.groups.reset(trees);
        self.group_is_wrong.clear();
        self.group_is_wrong.resize(trees, false);
        self.wanted.clear();
        for constraint in self.rows.constraints() {
            let mut trees = self.rows.terms(constraint).iter().map(|term| term.tree as usize);
            if let Some(first) = trees.next() {
                for tree in trees {
                    self.groups.union(first, tree);
                }
            }
        }
        for constraint in self.rows.constraints() {
            let (wrong, wanted) = match constraint.law {
                Law::Bilateral(_) => {
                    (constraint.position.abs() > settings.closure, constraint.position)
                }
                _ => {
                    let room = constraint.position + REST * settings.slop;
                    let least = -settings.max_speed * found.time_step;
                    (constraint.position < -settings.slop, room.max(least))
                }
            };
            self.wanted.push(Some(wanted));
            if let (true, Some(term)) = (wrong, self.rows.terms(constraint).first()) {
                let group = self.groups.find(term.tree as usize);
                self.group_is_wrong[group] = true;
            }
        }
        for (constraint, wanted) in self.rows.constraints().iter().zip(&mut self.wanted) {
            let term = self.rows.terms(constraint).first();
            if !term.is_some_and(|t| self.group_is_wrong[self.groups.find(t.tree as usize)]) {
                *wanted = None;
            }
        }
    }
}
