//! Description of an axis: label, scale and, optionally, the range.
//!
//! Without a given range, [`crate::projection`] takes it from the data.

/// Scale of an axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scale {
    /// Equal differences are equally long.
    Linear,
    /// Equal ratios are equally long. Zero is drawn at the lower end of the axis, negative values are
    /// not drawn.
    Log,
}

/// One axis of a panel.
#[derive(Clone, Debug, PartialEq)]
pub struct Axis {
    pub(crate) label: String,
    pub(crate) scale: Scale,
    pub(crate) range: Option<(f64, f64)>,
}

impl Axis {
    /// A linear axis; the label states the unit in brackets, as in `"wall time [s]"`.
    pub fn linear(label: impl Into<String>) -> Self {
        Self { label: label.into(), scale: Scale::Linear, range: None }
    }

    /// A logarithmic axis; the label states the unit in brackets.
    pub fn log(label: impl Into<String>) -> Self {
        Self { label: label.into(), scale: Scale::Log, range: None }
    }

    /// Fixes the ends of the axis; curves are clipped to the range.
    ///
    /// A range that the scale cannot show (not finite, empty, or not positive on a logarithmic
    /// axis) is ignored, and the range is taken from the data.
    #[must_use]
    pub fn range(mut self, low: f64, high: f64) -> Self {
        let shows = match self.scale {
            Scale::Linear => low < high,
            // Two numbers may differ by so little that their logarithms do not.
            Scale::Log => low > 0.0 && low.log10() < high.log10(),
        };
        self.range = (shows && low.is_finite() && high.is_finite()).then_some((low, high));
        self
    }
}
