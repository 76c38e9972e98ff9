//! When the iteration ends.

use crate::setting_choices;

/// A rule that ends the iteration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StopRule {
    /// The residual of the problem is below the tolerance; or θ is below its threshold, if one is set.
    Residual,
    /// θ = |x⁺ − x| is small [Lee23, Alg. 1], in the plain norm of all unknowns; nothing else.
    Paper,
}

/// θ_th of the paper's soft mat and cable [Lee23, Secs. V-C3, V-C5].
const PAPER_THRESHOLD: f64 = 1e-4;

impl StopRule {
    /// The θ at which to stop, given the setting; zero means that it is not set.
    pub(super) fn threshold(self, set: f64) -> f64 {
        match self {
            _ if set > 0.0 => set,
            Self::Residual => -1.0,
            Self::Paper => PAPER_THRESHOLD,
        }
    }
}

setting_choices!(StopRule {
    "residual" => StopRule::Residual,
    "paper" => StopRule::Paper;
    "honest" => StopRule::Residual
});
