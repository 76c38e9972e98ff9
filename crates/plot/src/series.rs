//! One named curve.

/// Drawing style of a series.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Style {
    /// Straight segments from point to point.
    Line,
    /// Straight segments, and a marker at each point: for few points.
    LineAndMarkers,
    /// Each value holds until the next point: for counts and distribution functions.
    Step,
    /// Markers alone.
    Markers,
}

/// A named curve through points `(x, y)`.
///
/// A point with a coordinate that cannot be drawn (not finite, or negative on a logarithmic axis) is
/// omitted and interrupts the curve.
#[derive(Clone, Debug, PartialEq)]
pub struct Series {
    pub(crate) name: String,
    pub(crate) points: Vec<(f64, f64)>,
    pub(crate) style: Style,
}

impl Series {
    /// A curve in the given style.
    pub fn new(name: impl Into<String>, style: Style, points: Vec<(f64, f64)>) -> Self {
        Self { name: name.into(), points, style }
    }

    /// A curve of straight segments.
    pub fn line(name: impl Into<String>, points: Vec<(f64, f64)>) -> Self {
        Self::new(name, Style::Line, points)
    }

    /// A curve of straight segments with a marker at each point.
    pub fn line_and_markers(name: impl Into<String>, points: Vec<(f64, f64)>) -> Self {
        Self::new(name, Style::LineAndMarkers, points)
    }

    /// A staircase: each value holds until the next point.
    pub fn step(name: impl Into<String>, points: Vec<(f64, f64)>) -> Self {
        Self::new(name, Style::Step, points)
    }

    /// Markers without a line.
    pub fn markers(name: impl Into<String>, points: Vec<(f64, f64)>) -> Self {
        Self::new(name, Style::Markers, points)
    }
}
