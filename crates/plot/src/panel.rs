//! One chart: two axes, a grid, curves.

use std::fmt::Write;

use crate::axis::Axis;
use crate::clip::{self, Point};
use crate::legend::Legend;
use crate::projection::Projection;
use crate::series::{Series, Style};
use crate::svg::{Anchor, Ink, Svg};
use crate::text::{self, number};
use crate::ticks::{Label, Ticks, ticks};

const TICK_SIZE: f64 = 11.0;
const LABEL_SIZE: f64 = 12.0;
/// Space that one label takes along a horizontal and a vertical axis [px].
const LABEL_ROOM: (f64, f64) = (52.0, 30.0);

/// A line across the panel at one value of y.
#[derive(Clone, Debug, PartialEq)]
struct Guide {
    y: f64,
    label: String,
}

/// One chart of a figure.
#[derive(Clone, Debug, PartialEq)]
pub struct Panel {
    title: String,
    x: Axis,
    y: Axis,
    series: Vec<Series>,
    guides: Vec<Guide>,
}

impl Panel {
    /// An empty chart with these axes.
    pub fn new(x: Axis, y: Axis) -> Self {
        Self { title: String::new(), x, y, series: Vec::new(), guides: Vec::new() }
    }

    /// Puts a title above the chart.
    #[must_use]
    pub fn title(mut self, title: impl Into<String>) -> Self {
        self.title = title.into();
        self
    }

    /// Adds a curve. Curves of the same name have the same colour in every panel of the figure.
    #[must_use]
    pub fn series(mut self, series: Series) -> Self {
        self.series.push(series);
        self
    }

    /// Adds a thin labelled line across the chart at `y`, such as a tolerance.
    #[must_use]
    pub fn guide_y(mut self, y: f64, label: impl Into<String>) -> Self {
        self.guides.push(Guide { y, label: label.into() });
        self
    }

    /// Names and styles of the curves, for the legend.
    pub(crate) fn names(&self) -> impl Iterator<Item = (&str, Style)> {
        self.series.iter().map(|s| (s.name.as_str(), s.style))
    }

    pub(crate) fn has_title(&self) -> bool {
        !self.title.is_empty()
    }

    /// Fits the axes to the data for a plotting area of the given size [px].
    pub(crate) fn lay_out(&self, size: Point) -> PanelLayout<'_> {
        let points = || self.series.iter().flat_map(|s| s.points.iter());
        // Only points that can be drawn determine the range.
        let drawn = || points().filter(|(x, y)| x.is_finite() && y.is_finite());
        let guides = self.guides.iter().map(|g| g.y);
        let x = Projection::fit(&self.x, drawn().map(|p| p.0));
        let y = Projection::fit(&self.y, drawn().map(|p| p.1).chain(guides));
        PanelLayout {
            panel: self,
            size,
            x,
            y,
            x_ticks: ticks(&x, (size.0 / LABEL_ROOM.0) as usize),
            y_ticks: ticks(&y, (size.1 / LABEL_ROOM.1) as usize),
        }
    }
}

/// A panel with its axes fitted.
pub(crate) struct PanelLayout<'a> {
    panel: &'a Panel,
    size: Point,
    x: Projection,
    y: Projection,
    x_ticks: Ticks,
    y_ticks: Ticks,
}

impl PanelLayout<'_> {
    /// Width of the vertical axis' labels, left of the plotting area [px].
    pub fn margin_left(&self) -> f64 {
        let widths = self.y_ticks.ticks.iter().filter_map(|t| t.label.as_ref()).map(label_width);
        36.0 + widths.fold(0.0, f64::max)
    }

    /// Height of the horizontal axis' labels, below the plotting area [px].
    pub fn margin_below(&self) -> f64 {
        44.0
    }

    /// Draws with the origin at the upper left corner of the plotting area.
    pub fn draw(&self, svg: &mut Svg, legend: &Legend<'_>) {
        self.draw_grid(svg);
        self.draw_labels(svg);
        self.draw_guides(svg);
        for series in &self.panel.series {
            self.draw_series(svg, legend, series);
        }
        svg.frame(self.size.0, self.size.1);
    }

    fn draw_grid(&self, svg: &mut Svg) {
        let (w, h) = self.size;
        for (ink, labelled) in [(Ink::Faint, false), (Ink::Grid, true)] {
            let chosen = |t: &Ticks| -> Vec<f64> {
                let of_kind = t.ticks.iter().filter(|t| t.label.is_some() == labelled);
                of_kind.map(|t| t.position).collect()
            };
            let columns = chosen(&self.x_ticks).into_iter().map(|p| ((p * w, 0.0), (p * w, h)));
            let rows = chosen(&self.y_ticks).into_iter().map(|p| (1.0 - p) * h);
            let lines: Vec<_> = columns.chain(rows.map(|y| ((0.0, y), (w, y)))).collect();
            svg.rules(ink, 1.0, &lines);
        }
        let mut marks = Vec::new();
        for t in &self.x_ticks.ticks {
            let length = if t.label.is_some() { 5.0 } else { 3.0 };
            marks.push(((t.position * w, h), (t.position * w, h + length)));
        }
        for t in &self.y_ticks.ticks {
            let length = if t.label.is_some() { 5.0 } else { 3.0 };
            let y = (1.0 - t.position) * h;
            marks.push(((-length, y), (0.0, y)));
        }
        svg.rules(Ink::Frame, 1.0, &marks);
    }

    fn draw_labels(&self, svg: &mut Svg) {
        let (w, h) = self.size;
        for t in &self.x_ticks.ticks {
            if let Some(label) = &t.label {
                draw_label(svg, (t.position * w, h + 18.0), Anchor::Middle, label);
            }
        }
        for t in &self.y_ticks.ticks {
            if let Some(label) = &t.label {
                let position = (-9.0, (1.0 - t.position) * h + 0.36 * TICK_SIZE);
                draw_label(svg, position, Anchor::End, label);
            }
        }
        if self.x_ticks.factor != 0 {
            svg.power((w, h + 37.0), Anchor::End, TICK_SIZE, "×", self.x_ticks.factor);
        }
        if self.y_ticks.factor != 0 {
            svg.power((0.0, -7.0), Anchor::Start, TICK_SIZE, "×", self.y_ticks.factor);
        }
        let panel = self.panel;
        svg.text((w / 2.0, h + 37.0), Anchor::Middle, Ink::Text, LABEL_SIZE, &panel.x.label);
        let left = 12.0 - self.margin_left();
        svg.text_upwards((left, h / 2.0), Ink::Text, LABEL_SIZE, &panel.y.label);
        svg.text((w / 2.0, -10.0), Anchor::Middle, Ink::Strong, LABEL_SIZE, &panel.title);
    }

    fn draw_guides(&self, svg: &mut Svg) {
        let (w, h) = self.size;
        for guide in &self.panel.guides {
            let Some(position) = self.y.position(guide.y) else { continue };
            let y = (1.0 - position) * h;
            if !clip::contains((0.0, y), self.size) {
                continue;
            }
            svg.rules(Ink::Frame, 1.2, &[((0.0, y), (w, y))]);
            let above = if y > 16.0 { y - 4.0 } else { y + 13.0 };
            svg.text((6.0, above), Anchor::Start, Ink::Text, 10.5, &guide.label);
        }
    }

    fn draw_series(&self, svg: &mut Svg, legend: &Legend<'_>, series: &Series) {
        let curve = legend.curve_style(&series.name);
        let runs = self.runs(&series.points);
        if series.style != Style::Markers {
            let mut d = String::new();
            for run in &runs {
                self.trace(run, series.style == Style::Step, &mut d);
            }
            if !d.is_empty() {
                svg.curve(curve, &series.name, &d);
            }
        }
        // A single point between gaps has no segment and is drawn as a marker.
        let marked = matches!(series.style, Style::Markers | Style::LineAndMarkers);
        let markers: Vec<Point> = runs
            .iter()
            .filter(|run| marked || run.len() == 1)
            .flatten()
            .copied()
            .filter(|p| clip::contains(*p, self.size))
            .collect();
        svg.markers(curve, &series.name, &markers);
    }

    /// Points of the drawing [px], split where a point cannot be drawn.
    fn runs(&self, points: &[(f64, f64)]) -> Vec<Vec<Point>> {
        let mut runs = vec![Vec::new()];
        for &(x, y) in points {
            match (self.x.position(x), self.y.position(y)) {
                (Some(px), Some(py)) => {
                    if let Some(run) = runs.last_mut() {
                        run.push((px * self.size.0, (1.0 - py) * self.size.1));
                    }
                }
                _ => runs.push(Vec::new()),
            }
        }
        runs.retain(|run| !run.is_empty());
        runs
    }

    /// Appends the visible part of one run to the data of a path.
    fn trace(&self, run: &[Point], steps: bool, d: &mut String) {
        let mut pen: Option<(String, String)> = None;
        let mut draw = |a: Point, b: Point| {
            let Some((a, b)) = clip::segment(a, b, self.size) else { return };
            let (a, b) = ((number(a.0), number(a.1)), (number(b.0), number(b.1)));
            if pen.as_ref() != Some(&a) {
                let _ = write!(d, "M{} {}", a.0, a.1); // writing to a string cannot fail
            }
            if a != b {
                let _ = write!(d, "L{} {}", b.0, b.1);
            }
            pen = Some(b);
        };
        for pair in run.windows(2) {
            let (a, b) = (pair[0], pair[1]);
            if steps {
                draw(a, (b.0, a.1));
                draw((b.0, a.1), b);
            } else {
                draw(a, b);
            }
        }
    }
}

fn label_width(label: &Label) -> f64 {
    match label {
        Label::Plain(plain) => text::width(plain, TICK_SIZE),
        Label::Power { mantissa, exponent } => {
            let factor = if *mantissa == 1 { 0.0 } else { text::width("2×", TICK_SIZE) };
            let raised = text::width(&exponent.to_string(), 0.74 * TICK_SIZE);
            factor + text::width("10", TICK_SIZE) + raised
        }
    }
}

fn draw_label(svg: &mut Svg, position: Point, anchor: Anchor, label: &Label) {
    match label {
        Label::Plain(plain) => svg.text(position, anchor, Ink::Text, TICK_SIZE, plain),
        Label::Power { mantissa: 1, exponent } => {
            svg.power(position, anchor, TICK_SIZE, "", *exponent)
        }
        Label::Power { mantissa, exponent } => {
            svg.power(position, anchor, TICK_SIZE, &format!("{mantissa}×"), *exponent);
        }
    }
}
