//! Springs, dampers, dry friction and limits of tendons.

use super::drive::{Drive, DriveKind, LimitRow, LimitSource};
use super::{Forces, is_zero};
use crate::data::Data;
use crate::model::Model;
use crate::tendon::TendonId;

impl Forces {
    /// Measures every tendon and adds its spring-damper, friction and limits.
    pub(super) fn add_tendons(
        &mut self,
        model: &Model,
        (q, v): (&[f64], &[f64]),
        data: &Data,
        time_step: f64,
    ) {
        for (index, tendon) in model.tendons().iter().enumerate() {
            let (id, row, spec) = (TendonId(index), self.layout.tendons[index], &tendon.spec);
            let (length, rate) = self.measure_tendon(model, index, (q, v), data);
            if is_zero(row.of(&self.entries)) {
                continue;
            }

            let stretch = tendon.slack.stretch(length);
            // Inside a dead band of positive width the spring has no stiffness; at a band of zero
            // width it has.
            let is_slack = stretch == 0.0 && tendon.slack.lower < tendon.slack.upper;
            let stiffness = if is_slack { 0.0 } else { spec.stiffness };
            if stiffness > 0.0 || spec.damping > 0.0 {
                self.add_drive(Drive {
                    kind: DriveKind::TendonSpring(id),
                    row,
                    force: -stiffness * stretch - spec.damping * rate,
                    rate,
                    stiffness,
                    damping: spec.damping,
                    lower: f64::NEG_INFINITY,
                    upper: f64::INFINITY,
                });
            }
            if spec.friction_loss > 0.0 {
                self.drives.push(Drive {
                    kind: DriveKind::TendonFriction(id),
                    row,
                    force: 0.0,
                    rate,
                    stiffness: 0.0,
                    damping: 0.0,
                    lower: -spec.friction_loss,
                    upper: spec.friction_loss,
                });
            }
            self.add_tendon_limit(model, index, time_step);
        }
    }

    /// Measures length and rate of a tendon, and writes the coefficients of its row.
    fn measure_tendon(
        &mut self,
        model: &Model,
        index: usize,
        (q, v): (&[f64], &[f64]),
        data: &Data,
    ) -> (f64, f64) {
        let row = self.layout.tendons[index];
        let length = model.tendons()[index].measure(model, q, data, &mut self.dense);
        let mut rate = 0.0;
        for entry in &mut self.entries[row.start..row.end] {
            entry.coefficient = std::mem::take(&mut self.dense[entry.dof]);
            rate += entry.coefficient * v[entry.dof];
        }
        (self.tendon_length[index], self.tendon_rate[index]) = (length, rate);
        (length, rate)
    }

    /// Lists the limits of a tendon that are within its margin or close at the present rate in `time_step` [s].
    fn add_tendon_limit(&mut self, model: &Model, index: usize, time_step: f64) {
        let Some(limit) = model.tendons()[index].spec.limit else { return };
        let (length, rate) = (self.tendon_length[index], self.tendon_rate[index]);
        let (source, row) = (LimitSource::Tendon(TendonId(index)), self.layout.tendons[index]);
        let within = limit.margin + rate.abs() * time_step;
        for (gap, sign) in [(length - limit.lower, 1.0), (limit.upper - length, -1.0)] {
            if gap <= within {
                let gap_rate = sign * rate;
                self.limits.push(LimitRow { source, row, gap, sign, gap_rate });
            }
        }
    }

    /// Lists the limits of tendons and joints as [`Forces::evaluate`] does, and nothing else.
    pub fn list_limits(
        &mut self,
        model: &Model,
        (q, v): (&[f64], &[f64]),
        data: &Data,
        time_step: f64,
    ) {
        self.limits.clear();
        for index in 0..model.tendons().len() {
            if model.tendons()[index].spec.limit.is_some() {
                self.measure_tendon(model, index, (q, v), data);
                if !is_zero(self.layout.tendons[index].of(&self.entries)) {
                    self.add_tendon_limit(model, index, time_step);
                }
            }
        }
        self.add_joint_limits((q, v), |dof| v[dof].abs() * time_step);
    }
}

/// Potential energy [J] of the tendons' springs, included in
/// [`potential_energy`](crate::potential_energy). Needs the position stage of `data` for the same `q`.
pub fn tendon_energy(model: &Model, data: &Data, q: &[f64]) -> f64 {
    let stiff = model.tendons().iter().filter(|tendon| tendon.spec.stiffness > 0.0);
    let energy = |tendon: &crate::Tendon| {
        tendon.slack.energy(tendon.spec.stiffness, tendon.length(model, q, data))
    };
    stiff.map(energy).sum()
}
