//! The legend that all panels share: every name once, in the order of first appearance.

use crate::palette::CurveStyle;
use crate::series::Style;
use crate::svg::{Anchor, Ink, Svg};
use crate::text;

const SIZE: f64 = 11.5;
const SAMPLE: f64 = 30.0;
const GAP: f64 = 7.0;
const COLUMN_GAP: f64 = 20.0;
const ROW: f64 = 18.0;

/// Names in a grid.
pub(crate) struct Legend<'a> {
    entries: Vec<(&'a str, Style)>,
}

impl<'a> Legend<'a> {
    /// Collects the names; the first style of a name is the one shown.
    pub fn new(series: impl Iterator<Item = (&'a str, Style)>) -> Self {
        let mut entries: Vec<(&str, Style)> = Vec::new();
        for (name, style) in series {
            if entries.iter().all(|(known, _)| *known != name) {
                entries.push((name, style));
            }
        }
        Self { entries }
    }

    /// The curve style of a name; a name that was not collected gets the first style.
    pub fn curve_style(&self, name: &str) -> CurveStyle {
        CurveStyle::new(self.entries.iter().position(|(known, _)| *known == name).unwrap_or(0))
    }

    /// Widths of the columns [px], each with the gap that follows it.
    fn columns(&self, count: usize) -> Vec<f64> {
        let mut widths = vec![0.0_f64; count];
        for (i, (name, _)) in self.entries.iter().enumerate() {
            let width = SAMPLE + GAP + text::width(name, SIZE) + COLUMN_GAP;
            widths[i % count] = widths[i % count].max(width);
        }
        widths
    }

    /// The grid in the given width [px]: as few rows as fit, evenly filled.
    fn grid(&self, width: f64) -> Vec<f64> {
        let fits = |n: &usize| self.columns(*n).iter().sum::<f64>() - COLUMN_GAP <= width;
        let most = (1..=self.entries.len()).rev().find(fits).unwrap_or(1);
        let rows = self.entries.len().div_ceil(most).max(1);
        self.columns(self.entries.len().div_ceil(rows).max(1))
    }

    /// Height in the given width [px].
    pub fn height(&self, width: f64) -> f64 {
        self.entries.len().div_ceil(self.grid(width).len()) as f64 * ROW
    }

    /// Draws the grid centred in the given width, its upper edge at the origin.
    pub fn draw(&self, svg: &mut Svg, width: f64) {
        let columns = self.grid(width);
        let used = columns.iter().sum::<f64>() - COLUMN_GAP;
        let left = ((width - used) / 2.0).max(0.0);
        for (i, (name, style)) in self.entries.iter().enumerate() {
            let curve = CurveStyle::new(i);
            let x = left + columns[..i % columns.len()].iter().sum::<f64>();
            let y = (i / columns.len()) as f64 * ROW + ROW / 2.0;
            if *style != Style::Markers {
                let (from, to, y) = (text::number(x), text::number(x + SAMPLE), text::number(y));
                svg.curve(curve, name, &format!("M{from} {y}L{to} {y}"));
            }
            if matches!(style, Style::Markers | Style::LineAndMarkers) {
                svg.markers(curve, name, &[(x + SAMPLE / 2.0, y)]);
            }
            let position = (x + SAMPLE + GAP, y + 0.36 * SIZE);
            svg.text(position, Anchor::Start, Ink::Text, SIZE, name);
        }
    }
}
