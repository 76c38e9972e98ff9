//! Rows of equalities: no relative motion, except along the curves of the equalities. Soft ones, and those that
//! yield since the start, follow MuJoCo's law ([`SoftLaw`]).

use stiction_mech::SoftLaw;
use stiction_solve::law::{Bilateral, Law};

use super::{ConstraintClass, ConstraintContext, ConstraintKey, RowBuilder};
use crate::constraint::{Configuration, EqualityPrediction, MAX_ROWS, SoftEquality};
use crate::world::World;

/// Error up to which the equalities of a loop that is closed twice agree [m, rad].
const AGREES: f64 = 1e-6;

/// Adds the rows of the active equalities that are exact. With a prediction, their bias follows the chord to the
/// predicted errors, and those that are soft get rows, too. Returns the largest error of those that are not soft by their own
/// [m, rad].
pub(crate) fn add_rows(
    world: &World,
    active: &[bool],
    configuration: &Configuration,
    context: &ConstraintContext,
    prediction: Option<&EqualityPrediction>,
    rows: &mut RowBuilder,
) -> f64 {
    let mut error = [0.0; MAX_ROWS];
    let (mut largest, start) = (0.0_f64, rows.records().len());
    for (index, equality) in world.equalities.iter().enumerate() {
        if !active[index] {
            continue;
        }
        let own = world.equality_options[index].softness;
        let yields = context.yielding.has_equality(index);
        if let Some(law) = own.or(yields.then(SoftLaw::default)) {
            if own.is_none() {
                equality.error(configuration, &mut error);
                largest = error[..equality.dim()].iter().fold(largest, |most, x| most.max(x.abs()));
            }
            if let Some(prediction) = prediction {
                let configuration = prediction.soft_configuration(equality, configuration);
                let parts = (equality, &world.equality_options[index]);
                let soft = SoftEquality::new(parts, law, &configuration, context);
                add_soft(world, index, &soft, &configuration, (context, prediction), rows);
            }
            continue;
        }
        let dim = equality.dim();
        equality.error(configuration, &mut error);
        for row in 0..dim {
            largest = largest.max(error[row].abs());
            rows.open(key(index, row), Law::Bilateral(Bilateral), error[row], &[0.0], &[0.0]);
            equality.add_row(row, configuration, context, rows);
            if let Some(prediction) = prediction
                && let Some(next) = prediction.error(index, row)
            {
                rows.set_bias(prediction.bias(next, error[row], context, rows));
            }
            rows.close();
        }
    }
    // A correction distributes the errors of equalities that contradict one another.
    let agrees = if prediction.is_some() { f64::INFINITY } else { AGREES };
    rows.remove_dependent(start, agrees, context);
    largest
}

fn key(equality: usize, row: usize) -> ConstraintKey {
    let class = ConstraintClass::Equality;
    ConstraintKey { class, a: equality as u32, b: row as u32, feature: 0, row: 0 }
}

/// Adds the rows of a soft equality. Driven bodies are where they will be at the end of the step, and count as at
/// rest there, as in MuJoCo.
fn add_soft(
    world: &World,
    index: usize,
    soft: &SoftEquality,
    configuration: &Configuration,
    (context, prediction): (&ConstraintContext, &EqualityPrediction),
    rows: &mut RowBuilder,
) {
    let parts = (&world.model, world.inverse_weights());
    for row in 0..soft.dim() {
        rows.open(key(index, row), Law::Bilateral(Bilateral), 0.0, &[0.0], &[0.0]);
        soft.add_row(row, configuration, context, rows);
        let velocity = rows.rate(context, &prediction.v);
        let row = soft.row(row, velocity, parts, prediction.steps);
        rows.set_soft(row, velocity, prediction.alpha);
        rows.close();
    }
}
