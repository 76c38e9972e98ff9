//! The values of a parameter that was changed, as snapshots keep them.

use super::registry::ParameterEntry;

/// All values of a parameter. Equal if the bits are.
#[derive(Clone, Debug)]
pub(crate) struct ChangedParameter {
    pub entry: &'static ParameterEntry,
    pub values: Vec<f64>,
}

impl PartialEq for ChangedParameter {
    fn eq(&self, other: &Self) -> bool {
        let bits = |of: &Self| of.values.iter().map(|x| x.to_bits()).collect::<Vec<_>>();
        self.entry.name == other.entry.name && bits(self) == bits(other)
    }
}
