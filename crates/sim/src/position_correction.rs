//! Removes position errors from a state whose velocities are final, by displacements that are
//! least in the kinetic metric.
//!
//! `min ½ δᵀ A δ` such that equalities close, and contacts and limits end no deeper than allowed.
//! Positions change, velocities do not: friction never has to balance a push, and penetrating bodies
//! are not accelerated apart. Only groups of bodies with an error take part.

use stiction_geom::Contact;
use stiction_math::sets::DisjointSets;
use stiction_mech::{Forces, Input};
use stiction_solve::law::{Law, Unilateral};
use stiction_solve::solver::SolverError;
use stiction_solve::{Goal, Problem, Session, Solution};

use crate::constraint::Configuration;
use crate::free_motion::FreeMotion;
use crate::problem_assembly::{ProblemAssembler, ProblemKind};
use crate::rows::{self, ConstraintContext, RowBuilder};
use crate::settings::Stabilisation;
use crate::world::World;

/// Rows above which a few sweeps replace an exact solution.
const MANY_ROWS: usize = 600;
const SWEEPS: usize = 20;
/// Accuracy of a correction relative to the largest error [-].
const TOLERANCE: f64 = 1e-4;
/// Fraction of the slop to which penetration is reduced, so that it does not exceed it at once [-].
const SLOP_FRACTION: f64 = 0.5;

/// Computes position corrections.
pub(crate) struct PositionCorrector {
    rows: RowBuilder,
    assembler: ProblemAssembler,
    problem: Problem,
    exact: Session,
    sweeps: Session,
    solution: Solution,
    /// Forces and an input of zeros, to list limits; `None` if the model has no limits.
    limits: Option<Box<(Forces, Input)>>,
    groups: DisjointSets,
    group_has_error: Vec<bool>,
    displacement: Vec<f64>,
}

/// A configuration to be corrected, with its contacts.
#[derive(Clone, Copy)]
pub(crate) struct CorrectionInput<'a> {
    pub world: &'a World,
    pub q: &'a [f64],
    pub v: &'a [f64],
    pub context: ConstraintContext<'a>,
    pub contacts: &'a [Contact],
    pub free: &'a FreeMotion,
    pub time_step: f64,
}

/// Position errors of a configuration.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct PositionErrors {
    /// Largest error of an equality [m, rad].
    pub equality: f64,
    /// Deepest penetration of a rigid contact [m].
    pub depth: f64,
    /// Largest distance of a coordinate or a tendon beyond its range [m, rad].
    pub limit: f64,
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
            limits: limited.then(|| Box::new((Forces::new(model), Input::new(model)))),
            groups: DisjointSets::new(0),
            group_has_error: Vec::new(),
            displacement: vec![0.0; model.nv()],
        })
    }

    /// Measures the errors of a configuration, and writes the rows of its equalities and limits.
    pub fn measure(&mut self, input: &CorrectionInput) -> PositionErrors {
        self.rows.clear();
        let mut errors = PositionErrors::default();
        let CorrectionInput { world, q, context, .. } = *input;
        let configuration = Configuration { model: &world.model, q, data: context.data };
        errors.equality =
            rows::equality::add_rows(world, &configuration, &context, None, &mut self.rows);
        self.add_limits(input, &mut errors);
        for gap in input.contacts.iter().filter_map(|contact| world.rigid_gap(contact)) {
            errors.depth = errors.depth.max(-gap);
        }
        errors
    }

    /// The displacement that corrects the measured configuration; `None` if none was found.
    pub fn correct(&mut self, input: &CorrectionInput, settings: &Stabilisation) -> Option<&[f64]> {
        self.add_contacts(input);
        self.select(input, settings);
        let CorrectionInput { world, context, free, .. } = *input;
        let Self { assembler, rows, problem, .. } = self;
        let kind = ProblemKind::Displacements;
        assembler.assemble(world, context.data, free, rows, kind, problem).ok()?;
        self.solution.reset(&self.problem);
        let many = self.problem.rows() > MANY_ROWS;
        let max_iterations = many.then_some(SWEEPS);
        let goal = Goal { tolerance: TOLERANCE, max_iterations, ..Goal::default() };
        let session = if many { &mut self.sweeps } else { &mut self.exact };
        // A correction that did not converge still corrects; the rest is measured afterwards.
        let _ = session.solve(&self.problem, &goal, &mut self.solution).ok()?;
        if !self.solution.velocity.iter().all(|x| x.is_finite()) {
            return None;
        }
        self.displacement.fill(0.0);
        for (tree, range) in self.assembler.trees() {
            let dofs = world.model.trees()[*tree].dofs.clone();
            self.displacement[dofs].copy_from_slice(&self.solution.velocity[range.clone()]);
        }
        Some(&self.displacement)
    }

    fn add_limits(&mut self, input: &CorrectionInput, errors: &mut PositionErrors) {
        let CorrectionInput { world, q, v, context, time_step, .. } = *input;
        let Some(limits) = &mut self.limits else { return };
        let (forces, zeros) = &mut **limits;
        if forces.evaluate(&world.model, (q, v), context.data, zeros, time_step).is_err() {
            return;
        }
        for limit in &forces.limits {
            errors.limit = errors.limit.max(-limit.gap);
        }
        rows::limit::add_rows(time_step, forces, &context, &mut self.rows);
    }

    fn add_contacts(&mut self, input: &CorrectionInput) {
        let CorrectionInput { world, context, contacts, .. } = *input;
        for contact in contacts {
            let Some(gap) = world.rigid_gap(contact) else { continue };
            let key = rows::contact::key(contact);
            self.rows.open(key, Law::Unilateral(Unilateral), gap, &[0.0], &[0.0]);
            let [a, b] = world.bodies_of(contact);
            self.rows.add_point_velocity(&context, b, &contact.point, &[contact.normal], 1.0);
            self.rows.add_point_velocity(&context, a, &contact.point, &[contact.normal], -1.0);
            self.rows.close();
        }
    }

    /// Keeps the constraints of groups that have an error. Their bias becomes the error of an
    /// equality, or the gap of a contact or limit, which is negative if it is too deep.
    fn select(&mut self, input: &CorrectionInput, settings: &Stabilisation) {
        let trees = input.world.model.trees().len();
        let Self { rows, groups, group_has_error, .. } = self;
        groups.reset(trees);
        group_has_error.clear();
        group_has_error.resize(trees, false);
        for constraint in rows.rows().constraints() {
            let mut trees = rows.ports()[constraint.terms()].iter().filter_map(|port| port.tree());
            if let Some(first) = trees.next() {
                for tree in trees {
                    groups.union(first, tree);
                }
            }
        }
        let least = -settings.max_speed * input.time_step;
        for index in 0..rows.records().len() {
            let position = rows.records()[index].position;
            let (wrong, target) = match rows.rows().constraints()[index].law {
                Law::Bilateral(_) => (position.abs() > settings.closure, position),
                _ => {
                    let gap = position + SLOP_FRACTION * settings.slop;
                    (position < -settings.slop, gap.max(least))
                }
            };
            rows.set_bias_of(index, target);
            if wrong && let Some(tree) = rows.first_tree(index) {
                group_has_error[groups.find(tree)] = true;
            }
        }
        rows.retain_where(|tree| group_has_error[groups.find(tree)]);
    }
}
