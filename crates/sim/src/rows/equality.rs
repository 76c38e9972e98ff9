//! Rows of equalities: no relative motion, except along the curves of the equalities.

use stiction_solve::law::{Bilateral, Law};

use super::{ConstraintClass, ConstraintContext, ConstraintKey, RowBuilder};
use crate::constraint::{Configuration, EqualityPrediction, MAX_ROWS};
use crate::world::World;

/// Adds the rows of the equalities. With a prediction, their bias follows the chord to the predicted
/// errors. Returns the largest error [m, rad].
pub(crate) fn add_rows(
    world: &World,
    configuration: &Configuration,
    context: &ConstraintContext,
    prediction: Option<&EqualityPrediction>,
    rows: &mut RowBuilder,
) -> f64 {
    let mut error = [0.0; MAX_ROWS];
    let mut largest = 0.0_f64;
    for (index, equality) in world.equalities.iter().enumerate() {
        let (dim, first) = (equality.dim(), rows.records().len());
        equality.error(configuration, &mut error);
        for row in 0..dim {
            largest = largest.max(error[row].abs());
            let class = ConstraintClass::Equality;
            let key = ConstraintKey { class, a: index as u32, b: row as u32, feature: 0, row: 0 };
            rows.open(key, Law::Bilateral(Bilateral), error[row], &[0.0], &[0.0]);
            equality.add_row(row, configuration, context, rows);
            if let Some(prediction) = prediction
                && let Some(next) = prediction.error(index, row)
            {
                rows.set_bias(prediction.bias(next, error[row], context, rows));
            }
            rows.close();
        }
        rows.remove_dependent(first, context);
    }
    largest
}
