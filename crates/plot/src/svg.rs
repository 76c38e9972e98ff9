//! The few elements of SVG that a chart needs, appended to a string.
//!
//! Colours are written twice: as attributes for the light background, which every viewer supports, and
//! by class in the style sheet for the dark background, which a browser selects by user preference.

use std::fmt::Write;

use crate::clip::Point;
use crate::palette::{COLOURS, CurveStyle};
use crate::text::{escape, number};

/// Colour by its use; [`Ink::colours`] has the light and dark variants.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ink {
    /// Titles.
    Strong,
    /// Labels.
    Text,
    /// Frame and major ticks.
    Frame,
    /// Grid lines at labelled ticks.
    Grid,
    /// Grid lines at minor ticks.
    Faint,
    /// Paper.
    Paper,
}

impl Ink {
    const ALL: [Self; 6] =
        [Self::Strong, Self::Text, Self::Frame, Self::Grid, Self::Faint, Self::Paper];

    fn class(self) -> &'static str {
        match self {
            Self::Strong => "sp-strong",
            Self::Text => "sp-text",
            Self::Frame => "sp-frame",
            Self::Grid => "sp-grid",
            Self::Faint => "sp-faint",
            Self::Paper => "sp-paper",
        }
    }

    /// On a light and on a dark background.
    fn colours(self) -> (&'static str, &'static str) {
        match self {
            Self::Strong => ("#1a1a1a", "#f2f2f2"),
            Self::Text => ("#444444", "#c4c8cc"),
            Self::Frame => ("#777777", "#8a9097"),
            Self::Grid => ("#dcdfe3", "#363b42"),
            Self::Faint => ("#eff1f3", "#262a30"),
            Self::Paper => ("#ffffff", "#16191d"),
        }
    }
}

/// Horizontal alignment of a text relative to its point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Anchor {
    Start,
    Middle,
    End,
}

/// A document under construction.
pub(crate) struct Svg {
    out: String,
}

impl Svg {
    /// Opens a document of the given size [px] with a background.
    pub fn new(width: f64, height: f64, title: &str) -> Self {
        let (w, h, title) = (number(width), number(height), escape(title));
        let mut svg = Self { out: String::new() };
        svg.raw(&format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{w}\" height=\"{h}\" \
             viewBox=\"0 0 {w} {h}\" role=\"img\" aria-label=\"{title}\" \
             font-family=\"Helvetica, Arial, 'Liberation Sans', 'DejaVu Sans', sans-serif\">\n\
             <title>{title}</title>\n"
        ));
        svg.style();
        let (class, paper) = (Ink::Paper.class(), Ink::Paper.colours().0);
        svg.raw(&format!(
            "<rect class=\"{class}\" width=\"{w}\" height=\"{h}\" fill=\"{paper}\"/>\n"
        ));
        svg
    }

    fn style(&mut self) {
        self.raw("<style>@media (prefers-color-scheme: dark) {\n");
        for ink in Ink::ALL {
            let property = match ink {
                Ink::Frame | Ink::Grid | Ink::Faint => "stroke",
                Ink::Strong | Ink::Text | Ink::Paper => "fill",
            };
            self.raw(&format!(".{} {{ {property}: {}; }}\n", ink.class(), ink.colours().1));
        }
        for (i, (_, dark)) in COLOURS.iter().enumerate() {
            self.raw(&format!(".sp-l{i} {{ stroke: {dark}; }} .sp-m{i} {{ fill: {dark}; }}\n"));
        }
        self.raw("}</style>\n");
    }

    fn raw(&mut self, text: &str) {
        self.out.push_str(text);
    }

    /// Moves the origin for all that `draw` adds.
    pub fn at(&mut self, x: f64, y: f64, draw: impl FnOnce(&mut Self)) {
        self.raw(&format!("<g transform=\"translate({} {})\">\n", number(x), number(y)));
        draw(self);
        self.raw("</g>\n");
    }

    /// Straight lines between pairs of points, in one element.
    pub fn rules(&mut self, ink: Ink, width: f64, lines: &[(Point, Point)]) {
        if lines.is_empty() {
            return;
        }
        let mut d = String::new();
        for (a, b) in lines {
            let (ax, ay, bx, by) = (number(a.0), number(a.1), number(b.0), number(b.1));
            let _ = write!(d, "M{ax} {ay}L{bx} {by}"); // writing to a string cannot fail
        }
        let (class, colour, width) = (ink.class(), ink.colours().0, number(width));
        self.raw(&format!(
            "<path class=\"{class}\" d=\"{d}\" fill=\"none\" stroke=\"{colour}\" \
             stroke-width=\"{width}\"/>\n"
        ));
    }

    /// An empty rectangle at the origin.
    pub fn frame(&mut self, width: f64, height: f64) {
        let (class, colour) = (Ink::Frame.class(), Ink::Frame.colours().0);
        self.raw(&format!(
            "<rect class=\"{class}\" width=\"{}\" height=\"{}\" fill=\"none\" \
             stroke=\"{colour}\" stroke-width=\"1\"/>\n",
            number(width),
            number(height)
        ));
    }

    /// A line of text.
    pub fn text(&mut self, (x, y): Point, anchor: Anchor, ink: Ink, size: f64, text: &str) {
        self.text_with((x, y), anchor, ink, size, "", &escape(text));
    }

    /// A line of text that reads upwards, centred on its point.
    pub fn text_upwards(&mut self, (x, y): Point, ink: Ink, size: f64, text: &str) {
        let turn = format!(" transform=\"rotate(-90 {} {})\"", number(x), number(y));
        self.text_with((x, y), Anchor::Middle, ink, size, &turn, &escape(text));
    }

    /// `mantissa × 10^exponent` with a raised exponent; without a mantissa the power alone.
    pub fn power(
        &mut self,
        position: Point,
        anchor: Anchor,
        size: f64,
        mantissa: &str,
        exponent: i32,
    ) {
        let raised = exponent.to_string().replace('-', "\u{2212}");
        let (up, small) = (number(-0.42 * size), number(0.74 * size));
        let markup =
            format!("{mantissa}10<tspan dy=\"{up}\" font-size=\"{small}\">{raised}</tspan>");
        self.text_with(position, anchor, Ink::Text, size, "", &markup);
    }

    fn text_with(
        &mut self,
        (x, y): Point,
        anchor: Anchor,
        ink: Ink,
        size: f64,
        extra: &str,
        markup: &str,
    ) {
        let anchor = match anchor {
            Anchor::Start => "",
            Anchor::Middle => " text-anchor=\"middle\"",
            Anchor::End => " text-anchor=\"end\"",
        };
        let weight = if ink == Ink::Strong { " font-weight=\"bold\"" } else { "" };
        self.raw(&format!(
            "<text class=\"{}\" x=\"{}\" y=\"{}\" font-size=\"{}\" fill=\"{}\"{anchor}{weight}\
             {extra}>{markup}</text>\n",
            ink.class(),
            number(x),
            number(y),
            number(size),
            ink.colours().0
        ));
    }

    /// A curve given by the data `d` of a path.
    pub fn curve(&mut self, curve: CurveStyle, name: &str, d: &str) {
        let (i, dashes) = (curve.colour(), curve.dashes());
        let dashes = if dashes.is_empty() {
            String::new()
        } else {
            format!(" stroke-dasharray=\"{dashes}\"")
        };
        self.raw(&format!(
            "<path class=\"sp-l{i}\" d=\"{d}\" fill=\"none\" stroke=\"{}\" stroke-width=\"1.8\" \
             stroke-linejoin=\"round\"{dashes}><title>{}</title></path>\n",
            COLOURS[i].0,
            escape(name)
        ));
    }

    /// The marker of `curve` at each of `points`.
    pub fn markers(&mut self, curve: CurveStyle, name: &str, points: &[Point]) {
        if points.is_empty() {
            return;
        }
        let mut d = String::new();
        for (x, y) in points {
            let _ = write!(d, "M{} {}{}", number(*x), number(*y), curve.marker());
        }
        let i = curve.colour();
        self.raw(&format!(
            "<path class=\"sp-m{i}\" d=\"{d}\" fill=\"{}\"><title>{}</title></path>\n",
            COLOURS[i].0,
            escape(name)
        ));
    }

    /// Closes the document.
    pub fn finish(mut self) -> String {
        self.raw("</svg>\n");
        self.out
    }
}
