//! Styles that distinguish curves: colour, dashes and marker.
//!
//! The hues are those that Okabe and Ito proposed for readers with any kind of colour vision,
//! without the yellow that vanishes on white paper. The numbers of colours and of dashes have no
//! common divisor, so that their pairs repeat late, and neighbours differ in both: the figure
//! stays readable in grey.

/// Colours on a light and on a dark background.
pub(crate) const COLOURS: [(&str, &str); 7] = [
    ("#0072b2", "#4aa8e0"),
    ("#d55e00", "#ff8a3d"),
    ("#009e73", "#2fc79b"),
    ("#b0508a", "#e59cc8"),
    ("#333333", "#dddddd"),
    ("#e69f00", "#f5c04a"),
    ("#56b4e9", "#a5d8f7"),
];

/// Lengths of dash and gap [px]; empty for a solid line.
const DASHES: [&str; 6] = ["", "7 3", "2.2 2.4", "9 3 2 3", "4 2.5", "12 2.5 2 2.5 2 2.5"];

/// The style of the `index`-th named curve.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct CurveStyle {
    index: usize,
}

impl CurveStyle {
    pub fn new(index: usize) -> Self {
        Self { index }
    }

    /// Index into [`COLOURS`].
    pub fn colour(self) -> usize {
        self.index % COLOURS.len()
    }

    /// Value of the dash attribute; empty for a solid line.
    pub fn dashes(self) -> &'static str {
        DASHES[self.index % DASHES.len()]
    }

    /// Path of the marker around the origin [px]: circle, square, triangle, diamond, cross,
    /// triangle upside down.
    pub fn marker(self) -> &'static str {
        match self.index % DASHES.len() {
            0 => "m-3.2 0a3.2 3.2 0 1 0 6.4 0a3.2 3.2 0 1 0 -6.4 0z",
            1 => "m-2.8 -2.8h5.6v5.6h-5.6z",
            2 => "m0 -3.8l3.6 6.4h-7.2z",
            3 => "m0 -4l4 4l-4 4l-4 -4z",
            4 => "m-3.4 -1h2.4v-2.4h2v2.4h2.4v2h-2.4v2.4h-2v-2.4h-2.4z",
            _ => "m0 3.8l3.6 -6.4h-7.2z",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_styles_of_forty_two_curves_differ() {
        let styles: Vec<_> =
            (0..42).map(CurveStyle::new).map(|s| (s.colour(), s.dashes())).collect();
        for (i, a) in styles.iter().enumerate() {
            assert!(styles[..i].iter().all(|b| a != b), "{i}");
        }
    }

    #[test]
    fn neighbours_differ_in_grey() {
        assert!((0..42).all(|i| CurveStyle::new(i).dashes() != CurveStyle::new(i + 1).dashes()));
    }
}
