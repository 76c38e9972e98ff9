//! When the iteration ends.

use crate::solver::Value;

/// A rule that ends the iteration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stop {
    /// The residual measure finds the answer good enough; or θ does, if a threshold is set.
    Honest,
    /// θ = |x⁺ − x| is small [Lee23, Alg. 1], in the plain norm of all unknowns; nothing else.
    Paper,
}

/// θ_th of the paper's soft mat and cable [Lee23, Secs. V-C3, V-C5].
const PAPER_THRESHOLD: f64 = 1e-4;

impl Stop {
    /// The θ at which to stop, given what was set; zero is not set.
    pub(super) fn threshold(self, set: f64) -> f64 {
        match self {
            _ if set > 0.0 => set,
            Self::Honest => -1.0,
            Self::Paper => PAPER_THRESHOLD,
        }
    }
}

impl Value for Stop {
    fn get(&self) -> String {
        match self {
            Self::Honest => "honest",
            Self::Paper => "paper",
        }
        .to_owned()
    }

    fn set(&mut self, text: &str) -> Result<(), String> {
        *self = match text {
            "honest" => Self::Honest,
            "paper" => Self::Paper,
            _ => return Err("honest or paper".to_owned()),
        };
        Ok(())
    }
}
