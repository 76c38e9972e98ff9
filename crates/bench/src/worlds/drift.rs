//! Energy of a world that grows over many steps by more than its causes.
//!
//! Every step may gain what its scheme explains, but not all steps in the same sense: growth less work, sampling,
//! corrections and round-off is summed up, and losses reduce the sum.

use super::look::Look;
use super::oracles::{EnergyCauses, Finding, Oracle};

/// Sum of gains that is allowed, relative to the largest energies exchanged [-], and the part of the energies
/// exchanged that each step may gain.
const GAIN: f64 = 0.3;
const STEP: f64 = 2e-3;

/// Gains of energy since the last step that was not ok.
#[derive(Clone, Copy, Debug, Default)]
pub struct EnergyGain {
    gained: f64,
    exchanged: f64,
}

impl EnergyGain {
    /// Looks at a step.
    pub fn watch(
        &mut self,
        before: &Look,
        after: &Look,
        causes: &EnergyCauses,
        ok: bool,
    ) -> Option<Finding> {
        if !ok {
            *self = Self::default();
            return None;
        }
        let exchanged =
            before.kinetic.max(after.kinetic) + (after.potential - before.potential).abs();
        let growth = after.kinetic + after.potential - before.kinetic - before.potential;
        let explained = causes.work + causes.sampling + causes.correction + causes.round_off;
        self.exchanged = self.exchanged.max(exchanged);
        self.gained = (self.gained + growth - explained - STEP * exchanged).max(0.0);
        if self.gained <= GAIN * self.exchanged {
            return None;
        }
        let what = format!(
            "energy grew by {:.3e} J over steps that are ok, {:.3e} J exchanged",
            self.gained, self.exchanged
        );
        *self = Self::default();
        Some((Oracle::Drift, what))
    }
}
