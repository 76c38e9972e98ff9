//! Limits of joints and tendons that have been reached: how far the end of the range has been passed, and how fast the
//! gap grows. As in MuJoCo, both are zero for what is not within the margin of an end.

use stiction_mech::{Forces, JointId, Limit, LimitSource, Model, TendonId};

use super::SensorKind;

/// Reads a sensor of a limit; false if the sensor is of another kind.
pub(super) fn read(
    model: &Model,
    measures: Option<&Forces>,
    kind: &SensorKind,
    out: &mut [f64],
) -> bool {
    let of_joint = |id: &JointId| {
        let limit = model.joints()[id.0].spec.limit;
        reached(measures, limit, |source| matches!(source, LimitSource::Joint(own, _) if own == id))
    };
    let of_tendon = |id: &TendonId| {
        let limit = model.tendons()[id.0].spec.limit;
        reached(measures, limit, |source| matches!(source, LimitSource::Tendon(own) if own == id))
    };
    out[0] = match kind {
        SensorKind::JointLimitPosition(id) => of_joint(id).0,
        SensorKind::JointLimitVelocity(id) => of_joint(id).1,
        SensorKind::TendonLimitPosition(id) => of_tendon(id).0,
        SensorKind::TendonLimitVelocity(id) => of_tendon(id).1,
        _ => return false,
    };
    true
}

/// Gap less margin and rate of the gap at the first limit that has been reached.
fn reached(
    measures: Option<&Forces>,
    limit: Option<Limit>,
    is_own: impl Fn(&LimitSource) -> bool,
) -> (f64, f64) {
    let margin = limit.map_or(0.0, |limit| limit.margin);
    let limits = measures.map_or(&[][..], |forces| &forces.limits[..]);
    let found = limits.iter().find(|row| is_own(&row.source) && row.gap < margin);
    found.map_or((0.0, 0.0), |row| (row.gap - margin, row.gap_rate))
}
