//! Stage 4: constraint rows, and the contact problem.

use super::{Scratch, StepContext, failure};
use crate::cable;
use crate::constraint::Configuration;
use crate::contact_model::{self, ContactModel};
use crate::contacts::apart::ApartTest;
use crate::contacts::look_ahead::LookAheadInput;
use crate::error::StepError;
use crate::problem_assembly::ProblemKind;
use crate::report::Phase;
use crate::rows::{self, ConstraintContext};
use crate::soft;
use crate::world::World;

/// Selects the rigid contacts that get rows: those that touch, and those that meet within the step.
pub(super) fn select_contacts(step: &mut StepContext) {
    let parameters = step.row_parameters();
    let StepContext { world, settings, state, history, scratch, .. } = step;
    let (model, scheme, h) = (&world.model, settings.scheme, settings.time_step);
    let slop = settings.stabilisation.slop;
    let Scratch { data, free, driven, contacts, predicted, look_ahead, .. } = &mut **scratch;
    predicted.clear();
    let warm_start = &history.warm_start;
    let context = &ConstraintContext::new(model, data, free, history, driven);
    let convex_friction = parameters.convex_friction;
    let apart = ApartTest { world, context, warm_start, slop, time_step: h, convex_friction };
    if apart.want_motions(contacts, predicted) {
        predicted.mark_pushed(model, &history.contacts);
        predicted.compute(model, scheme, h, state, free, data);
    }
    let context = ConstraintContext::new(model, data, free, history, driven);
    let reach = &history.reach;
    let input = LookAheadInput { world, parameters, context, predicted, warm_start, slop, reach };
    look_ahead.select(&input, contacts);
    let polygons = scratch.patch_detector.found().polygons.len();
    let soft = scratch.soft_detector.contacts().len();
    step.report.contacts = scratch.contacts.len() + polygons + soft;
}

/// Writes the rows of all constraints and assembles the problem.
pub(super) fn assemble(step: &mut StepContext) -> Result<(), StepError> {
    let parameters = step.row_parameters();
    let StepContext { world, settings, state, history, scratch, .. } = step;
    let (model, scheme, h) = (&world.model, settings.scheme, settings.time_step);
    let Scratch {
        data,
        free,
        driven,
        soft_detector,
        patch_detector,
        look_ahead,
        prediction,
        rows,
        ..
    } = &mut **scratch;
    let context = ConstraintContext::new(model, data, free, history, driven);
    let configuration = Configuration { model, q: &state.q, data };
    rows.clear();
    prediction.predict(world, scheme, state, &context, parameters.law_steps());
    let active = &history.equality_active;
    rows::equality::add_rows(world, active, &configuration, &context, Some(prediction), rows);
    soft::attachment::add_rows(world, &state.x, &parameters, &context, rows);
    rows::limit::add_rows(world, &parameters, (&free.forces, &state.v), &context, rows);
    rows::drive::add_rows(world, &parameters, &free.forces, &context, rows);
    rows::contact::add_rows(world, &parameters, &look_ahead.selected, &context, rows);
    rows::patch::add_rows(world, &parameters, patch_detector, &context, rows);
    if world.has_torsion {
        rows::torsion::add_rows(&history.warm_start, &context, rows);
    }
    let soft_contacts = soft::contact::SoftContactInput {
        detected: soft_detector.contacts(),
        x_dot: &state.x_dot,
        at_start: None,
        max_speed: settings.stabilisation.max_speed,
    };
    soft::contact::add_rows(world, &parameters, &soft_contacts, &context, rows);
    cable::clamp::add_rows(scheme, h, &context, &state.v, rows);
    let model = &world.model;
    scratch.free.complete_momenta(model, h, state, &scratch.rows, &mut scratch.data);
    build(world, scratch, state.time)?;
    if settings.contact == ContactModel::Sap && !scratch.rows.is_empty() {
        let Scratch { rows, problem, .. } = &mut **scratch;
        contact_model::regularise(rows, settings.near_rigid, problem);
    }
    // Reading the clock takes longer than to find that there are no rows.
    if !step.scratch.rows.is_empty() {
        step.clock.lap(Phase::Assembly);
    }
    Ok(())
}

/// Builds the problem from the rows, which it takes over.
pub(super) fn build(world: &World, scratch: &mut Scratch, time: f64) -> Result<(), StepError> {
    let Scratch { data, free, rows, assembler, problem, .. } = scratch;
    if rows.is_empty() {
        assembler.clear();
        return Ok(());
    }
    assembler
        .assemble(world, data, free, rows, ProblemKind::Velocities, problem)
        .map_err(|source| failure::not_assembled(world, assembler, time, source))
}
