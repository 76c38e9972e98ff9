//! Which random worlds are run.

use super::fields::add_fields;
use super::generator::generate;
use super::plan::WorldPlan;

/// The worlds of a seed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WorldDraw {
    /// The seed.
    pub seed: u64,
    /// Whether shapes are exchanged for signed distance fields.
    pub fields: bool,
}

impl WorldDraw {
    /// The worlds of a seed, without fields.
    pub fn of_seed(seed: u64) -> Self {
        Self { seed, fields: false }
    }

    /// The world of an index.
    pub fn world(self, index: u64) -> WorldPlan {
        let mut plan = generate(self.seed, index);
        if self.fields {
            add_fields(&mut plan, self.seed, index);
        }
        plan
    }
}
