//! Rows of joint and tendon limits that can be reached within the step.

use stiction_mech::{Forces, LimitRow, LimitSource};
use stiction_solve::law::{Law, Unilateral};

use super::{ConstraintClass, ConstraintContext, ConstraintKey, RowBuilder};

/// Adds the rows of the limits.
pub(crate) fn add_rows(
    time_step: f64,
    forces: &Forces,
    context: &ConstraintContext,
    rows: &mut RowBuilder,
) {
    for limit in &forces.limits {
        let LimitRow { row, gap, sign, .. } = *limit;
        let (a, b) = key_of(limit.source);
        let class = ConstraintClass::Limit;
        let key = ConstraintKey { class, a, b, feature: u32::from(sign < 0.0), row: 0 };
        let bias = gap.max(0.0) / time_step;
        rows.open(key, Law::Unilateral(Unilateral), gap, &[bias], &[0.0]);
        for entry in row.of(&forces.entries) {
            rows.add_dof(context, entry.dof, sign * entry.coefficient);
        }
        rows.close();
    }
}

/// Ascending in the order in which limits are listed.
fn key_of(source: LimitSource) -> (u32, u32) {
    match source {
        LimitSource::Tendon(tendon) => (0, tendon.0 as u32),
        LimitSource::Joint(joint, k) => (1 + joint.0 as u32, k as u32),
    }
}
