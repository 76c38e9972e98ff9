//! Removes position errors from a state whose velocities are final, by displacements that are
//! least in the kinetic metric.
//!
//! `min ½ δᵀ A δ` such that equalities close, and contacts and limits end no deeper than allowed.
//! Positions change, velocities do not: friction never has to balance a push, and penetrating bodies
//! are not accelerated apart. Only groups of trees with an error take part.
//!
//! Each row has a compliance of a small fraction ε of its Delassus scale, so that the displacement is
//! a damped least-squares solution (Levenberg): it exists for constraints that depend on one another or
//! contradict each other, and directions whose singular value is below ε are left alone. A displacement is
//! bounded by [`Extent::allowed`], and accepted if it reduces the errors of its group; otherwise it is
//! shortened, and then dropped.

mod errors;
pub(crate) mod extent;
mod groups;
mod history;
mod lasting;

pub(crate) use errors::PositionErrors;
pub(crate) use history::TreeCorrection;
pub(crate) use lasting::{LastingError, LastingErrors};

use stiction_geom::Contact;
use stiction_mech::{Data, Forces, LimitRow, State, tree_integrate};
use stiction_solve::law::{Law, Unilateral};
use stiction_solve::solver::SolverError;
use stiction_solve::{Goal, Problem, Session, Solution};

use crate::constraint::Configuration;
use crate::free_motion::FreeMotion;
use crate::problem_assembly::{ProblemAssembler, ProblemKind};
use crate::rows::{self, ConstraintContext, RowBuilder};
use crate::settings::{Settings, Stabilisation};
use crate::world::World;
use extent::Extent;
use groups::CorrectionGroups;

/// Rows above which a few sweeps replace an exact solution.
const MANY_ROWS: usize = 600;
const SWEEPS: usize = 20;
/// Newton iterations of an exact solution.
const MAX_ITERATIONS: usize = 30;
/// Accuracy of a correction relative to the largest error [-].
const TOLERANCE: f64 = 1e-4;
/// Fraction of the slop to which penetration is reduced, so that it does not exceed it at once [-].
const SLOP_FRACTION: f64 = 0.5;
/// Compliance of the rows relative to their Delassus scale: ε above [-].
const DAMPING: f64 = 1e-6;
/// Speed of displacements that corrections may always cause, also if penetration is not removed [m/s].
const MIN_SPEED: f64 = 1.0;

/// Computes position corrections.
pub(crate) struct PositionCorrector {
    rows: RowBuilder,
    assembler: ProblemAssembler,
    problem: Problem,
    exact: Session,
    sweeps: Session,
    solution: Solution,
    /// Forces, to list limits; `None` if the model has no limits.
    limits: Option<Box<Forces>>,
    groups: CorrectionGroups,
    /// Per tree: corrections so far, with those of this step.
    pub history: Vec<TreeCorrection>,
    /// Errors above their tolerances after this step.
    pub lasting: LastingErrors,
    /// Per tree: sum of the errors of equalities ahead of the corrections of this step [m, rad].
    open_before: Vec<f64>,
    /// Per tree: corrections that failed in sequence ahead of this step.
    failures_before: Vec<u8>,
    displacement: Vec<f64>,
    /// Scratch: turns of the bodies of one tree.
    turns: Vec<f64>,
    /// Coordinates before the displacement.
    base_q: Vec<f64>,
}

/// A configuration to be corrected, with its contacts.
#[derive(Clone, Copy)]
pub(crate) struct CorrectionInput<'a> {
    pub world: &'a World,
    /// Which equalities hold.
    pub equality_active: &'a [bool],
    pub settings: &'a Stabilisation,
    /// Whether penetration of rigid surfaces is an error to be corrected.
    pub corrects_contacts: bool,
    pub q: &'a [f64],
    pub v: &'a [f64],
    pub context: ConstraintContext<'a>,
    pub contacts: &'a [Contact],
    pub free: &'a FreeMotion,
    pub time_step: f64,
}

impl<'a> CorrectionInput<'a> {
    pub fn new(
        (world, equality_active): (&'a World, &'a [bool]),
        settings: &'a Settings,
        next: &'a State,
        context: ConstraintContext<'a>,
        contacts: &'a [Contact],
        free: &'a FreeMotion,
    ) -> Self {
        let State { q, v, .. } = next;
        let (time_step, corrects_contacts) =
            (settings.time_step, settings.contact.corrects_positions());
        let settings = &settings.stabilisation;
        Self {
            world,
            equality_active,
            settings,
            corrects_contacts,
            q,
            v,
            context,
            contacts,
            free,
            time_step,
        }
    }
}

impl PositionCorrector {
    pub fn new(world: &World) -> Result<Self, SolverError> {
        let model = &world.model;
        let limited = model.joints().iter().any(|joint| joint.spec.limit.is_some())
            || model.tendons().iter().any(|tendon| tendon.spec.limit.is_some());
        Ok(Self {
            rows: RowBuilder::default(),
            assembler: ProblemAssembler::new(model),
            problem: Problem::default(),
            exact: Session::new("alm")?,
            sweeps: Session::new("psor")?,
            solution: Solution::default(),
            limits: limited.then(|| Box::new(Forces::new(model))),
            groups: CorrectionGroups::new(model.trees().len()),
            history: vec![TreeCorrection::default(); model.trees().len()],
            lasting: LastingErrors::default(),
            open_before: vec![0.0; model.trees().len()],
            failures_before: vec![0; model.trees().len()],
            displacement: vec![0.0; model.nv()],
            turns: Vec::new(),
            base_q: vec![0.0; model.nq()],
        })
    }

    /// Takes over changed parameters of a model.
    pub fn update_parameters(&mut self, model: &stiction_mech::Model) {
        self.limits.iter_mut().for_each(|forces| forces.update_parameters(model));
    }

    /// Prepares for the corrections of a step, after those of the last steps.
    pub fn begin_step(&mut self, history: &[TreeCorrection], fraction: f64) {
        self.groups.begin_step(fraction);
        self.history.copy_from_slice(history);
        for (failures, tree) in self.failures_before.iter_mut().zip(history) {
            *failures = tree.failures();
        }
    }

    /// Keeps the errors that were measured ahead of the corrections of a step.
    pub fn keep_errors(&mut self) {
        for (open, errors) in self.open_before.iter_mut().zip(&self.groups.errors) {
            *open = errors.equality_sum;
        }
    }

    /// Trees that were displaced in this step.
    pub fn corrected_trees(&self) -> impl Iterator<Item = usize> + '_ {
        (0..self.history.len()).filter(|tree| self.groups.is_displaced(*tree))
    }

    /// Ends the corrections of a step at the configuration that was measured last, and returns whether one of
    /// them failed. `before` are the errors after the last step.
    pub fn end_step(&mut self, input: &CorrectionInput, before: &LastingErrors) -> bool {
        let CorrectionInput { world, q, context, settings, time_step: h, .. } = *input;
        let configuration = Configuration { model: &world.model, q, data: context.data };
        self.lasting.begin();
        let active = input.equality_active;
        self.lasting.add_equalities((world, active), &configuration, settings);
        if let Some(limits) = &self.limits {
            self.lasting.add_limits(world, &limits.limits, settings);
        }
        if input.corrects_contacts {
            self.lasting.add_contacts(world, &context, input.contacts, settings);
        }
        let mut failed = self.lasting.stays(before, context.yielding, settings, h)
            || context.yielding.stays_open(world, &configuration);
        for (index, tree) in self.history.iter_mut().enumerate() {
            let failures = self.groups.is_displaced(index).then(|| self.failures_before[index]);
            let before = (self.open_before[index], failures);
            failed |= tree.end_step(&self.groups.errors[index], before, settings, h);
        }
        failed
    }

    /// Measures the errors of a configuration, and writes the rows of its equalities and limits.
    pub fn measure(&mut self, input: &CorrectionInput) -> PositionErrors {
        self.rows.clear();
        self.groups.clear_errors();
        let mut errors = PositionErrors::default();
        let CorrectionInput { world, equality_active, q, context, settings, .. } = *input;
        let configuration = Configuration { model: &world.model, q, data: context.data };
        let active = equality_active;
        errors.equality =
            rows::equality::add_rows(world, active, &configuration, &context, None, &mut self.rows);
        self.add_limits(input, &mut errors);
        let Self { rows, groups, .. } = self;
        for (constraint, record) in rows.rows().constraints().iter().zip(rows.records()) {
            for tree in rows.ports()[constraint.terms()].iter().filter_map(|port| port.tree()) {
                match constraint.law {
                    Law::Bilateral(_) => {
                        groups.errors[tree].add_equality(record.position, settings.closure);
                    }
                    _ => groups.errors[tree].add_depth(-record.position, settings.slop),
                }
            }
        }
        for contact in input.contacts {
            let Some(gap) = world.rigid_gap(contact) else { continue };
            errors.depth = errors.depth.max(-gap);
            if !input.corrects_contacts || context.yielding.has_contact(contact) {
                continue;
            }
            for body in world.bodies_of(contact) {
                if let Some(tree) = context.moving_tree(body) {
                    groups.errors[tree].add_depth(-gap, settings.slop);
                }
            }
        }
        errors
    }

    /// Computes displacements of the groups of trees whose measured errors are to be corrected in this round.
    /// Returns whether there are any.
    pub fn solve(&mut self, input: &CorrectionInput, round: usize) -> bool {
        let CorrectionInput { world, context, free, settings, time_step, .. } = *input;
        if !self.groups.is_any_due(&self.history, settings, time_step, round) {
            return false;
        }
        self.add_contacts(input);
        self.groups.connect(world, &self.rows);
        self.groups.select(&self.history, settings, time_step, round);
        self.select_rows(settings, time_step);
        let Self { assembler, rows, problem, .. } = self;
        let kind = ProblemKind::Displacements;
        if assembler.assemble(world, context.data, free, rows, kind, problem).is_err()
            || !self.solve_damped()
        {
            self.groups.fail_all(&mut self.history, settings);
            return false;
        }
        self.displacement.fill(0.0);
        for (tree, range) in self.assembler.trees() {
            let dofs = world.model.trees()[*tree].dofs.clone();
            self.displacement[dofs].copy_from_slice(&self.solution.velocity[range.clone()]);
        }
        self.base_q.copy_from_slice(input.q);
        true
    }

    /// Reduces the displacements such that they stay within their bounds. `v` are the velocities of
    /// the step; the velocities in the data are overwritten.
    pub fn bound(
        &mut self,
        world: &World,
        v: &[f64],
        settings: &Stabilisation,
        h: f64,
        data: &mut Data,
    ) {
        let Self { groups, assembler, displacement, turns, .. } = self;
        for (tree, _) in assembler.trees() {
            let motion = Extent::of(world, *tree, v, data);
            let extent = Extent::beside(world, *tree, (displacement, v), h, (turns, data));
            groups.bound(*tree, (motion, extent), settings, h);
        }
    }

    /// Writes the displaced coordinates, and marks the trees that move in `moves`.
    pub fn displace(&mut self, world: &World, q: &mut [f64], moves: &mut [bool]) {
        moves.fill(false);
        for (tree, _) in self.assembler.trees() {
            if self.groups.is_judged(*tree) {
                moves[*tree] = true;
                let factor = self.groups.step_length(*tree);
                let (from, delta) = (&self.base_q, &self.displacement);
                if factor > 0.0 {
                    tree_integrate(&world.model, *tree, from, delta, factor, q);
                } else {
                    for joint in &world.model.joints()[world.model.trees()[*tree].joints.clone()] {
                        q[joint.q.clone()].copy_from_slice(&from[joint.q.clone()]);
                    }
                }
            }
        }
    }

    /// Compares the measured errors with those before the displacement. Accepts the groups whose errors fell,
    /// and shortens the displacements of the others. Returns whether all are accepted.
    pub fn judge(&mut self, settings: &Stabilisation) -> bool {
        self.groups.judge(&mut self.history, settings)
    }

    fn solve_damped(&mut self) -> bool {
        let Self { problem, solution, .. } = self;
        for index in 0..problem.constraints().len() {
            problem.raise_compliance(index, DAMPING * problem.delassus().scale(index));
        }
        solution.reset(problem);
        let many = problem.rows() > MANY_ROWS;
        let max_iterations = Some(if many { SWEEPS } else { MAX_ITERATIONS });
        let goal = Goal { tolerance: TOLERANCE, max_iterations, ..Goal::default() };
        let session = if many { &mut self.sweeps } else { &mut self.exact };
        // A displacement that did not converge counts if it reduces the errors, which are measured.
        session.solve(problem, &goal, solution).is_ok()
            && solution.velocity.iter().all(|x| x.is_finite())
    }

    fn add_limits(&mut self, input: &CorrectionInput, errors: &mut PositionErrors) {
        let CorrectionInput { world, q, v, context, time_step, .. } = *input;
        let Some(forces) = &mut self.limits else { return };
        forces.list_limits(&world.model, (q, v), context.data, time_step);
        let rigid = |limit: &&LimitRow| rows::limit::softness(world, limit.source).is_none();
        for limit in forces.limits.iter().filter(rigid) {
            errors.limit = errors.limit.max(-limit.gap);
        }
        rows::limit::add_rigid_rows(world, time_step, forces, &context, &mut self.rows);
    }

    fn add_contacts(&mut self, input: &CorrectionInput) {
        let CorrectionInput { world, context, contacts, .. } = *input;
        if !input.corrects_contacts {
            return;
        }
        for contact in contacts {
            let Some(gap) = world.rigid_gap(contact) else { continue };
            if context.yielding.has_contact(contact) {
                continue;
            }
            let key = rows::contact::key(contact);
            self.rows.open(key, Law::Unilateral(Unilateral), gap, &[0.0], &[0.0]);
            let [a, b] = world.bodies_of(contact);
            self.rows.add_point_velocity(&context, b, &contact.point, &[contact.normal], 1.0);
            self.rows.add_point_velocity(&context, a, &contact.point, &[contact.normal], -1.0);
            self.rows.close();
        }
    }

    /// Keeps the constraints of the selected groups. Their bias becomes the error of an equality, or the gap
    /// of a contact or limit, which is negative if it is too deep.
    fn select_rows(&mut self, settings: &Stabilisation, h: f64) {
        let Self { rows, groups, .. } = self;
        for index in 0..rows.records().len() {
            let Some(tree) = rows.first_tree(index) else { continue };
            let position = rows.records()[index].position;
            let target = match rows.rows().constraints()[index].law {
                Law::Bilateral(_) => position,
                _ => {
                    let least = -groups.removable_depth(tree, settings, h);
                    (position + SLOP_FRACTION * settings.slop).max(least)
                }
            };
            rows.set_bias_of(index, target);
        }
        rows.retain_where(|tree| groups.is_selected(tree));
    }
}
