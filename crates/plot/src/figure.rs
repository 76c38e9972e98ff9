//! Panels side by side under one title, above one legend.

use std::path::Path;
use std::{fs, io, process};

use crate::legend::Legend;
use crate::panel::{Panel, PanelLayout};
use crate::svg::{Anchor, Ink, Svg};
use crate::text;

const EDGE: f64 = 16.0;
const BETWEEN: f64 = 26.0;
const TITLE_SIZE: f64 = 15.0;
const SUBTITLE_SIZE: f64 = 11.5;

/// A figure: title, panels, legend.
#[derive(Clone, Debug, PartialEq)]
pub struct Figure {
    title: String,
    subtitle: String,
    panels: Vec<Panel>,
    panel_size: (f64, f64),
}

impl Figure {
    /// A figure without panels.
    pub fn new(title: impl Into<String>) -> Self {
        let panel_size = (400.0, 290.0); // two panels fill the text width of a page
        Self { title: title.into(), subtitle: String::new(), panels: Vec::new(), panel_size }
    }

    /// Puts a smaller line under the title.
    #[must_use]
    pub fn subtitle(mut self, subtitle: impl Into<String>) -> Self {
        self.subtitle = subtitle.into();
        self
    }

    /// Adds a panel to the right of the others.
    #[must_use]
    pub fn panel(mut self, panel: Panel) -> Self {
        self.panels.push(panel);
        self
    }

    /// Sets the plotting area of each panel [px]; sizes too small to read are enlarged.
    #[must_use]
    pub fn panel_size(mut self, width: f64, height: f64) -> Self {
        let readable = |v: f64| if v.is_finite() { v.clamp(120.0, 4000.0) } else { 400.0 };
        self.panel_size = (readable(width), readable(height));
        self
    }

    /// The document.
    pub fn to_svg(&self) -> String {
        let size = self.panel_size;
        let legend = Legend::new(self.panels.iter().flat_map(Panel::names));
        let layouts: Vec<PanelLayout<'_>> = self.panels.iter().map(|p| p.lay_out(size)).collect();

        // Widths from left to right, heights from top to bottom.
        let panels: f64 = layouts.iter().map(|l| l.margin_left() + size.0).sum();
        let gaps = layouts.len().saturating_sub(1) as f64 * BETWEEN;
        let title_width = text::width(&self.title, TITLE_SIZE) * 1.08; // bold is wider
        let inner =
            (panels + gaps).max(title_width).max(text::width(&self.subtitle, SUBTITLE_SIZE));
        let mut head = EDGE + 14.0;
        head += if self.title.is_empty() { 0.0 } else { TITLE_SIZE + 2.0 };
        head += if self.subtitle.is_empty() { 0.0 } else { SUBTITLE_SIZE + 5.0 };
        head += if self.panels.iter().any(Panel::has_title) { 18.0 } else { 0.0 };
        let below = layouts.iter().map(PanelLayout::margin_below).fold(0.0, f64::max);
        let body = if layouts.is_empty() { 0.0 } else { size.1 + below };
        let foot = head + body + 10.0;
        let height = foot + legend.height(inner) + EDGE - 4.0;

        let mut svg = Svg::new(inner + 2.0 * EDGE + 6.0, height, &self.title);
        self.draw_head(&mut svg);
        let mut x = EDGE;
        for layout in &layouts {
            x += layout.margin_left();
            svg.at(x, head, |svg| layout.draw(svg, &legend));
            x += size.0 + BETWEEN;
        }
        svg.at(EDGE, foot, |svg| legend.draw(svg, inner));
        svg.finish()
    }

    fn draw_head(&self, svg: &mut Svg) {
        let mut y = EDGE;
        if !self.title.is_empty() {
            y += TITLE_SIZE - 2.0;
            svg.text((EDGE, y), Anchor::Start, Ink::Strong, TITLE_SIZE, &self.title);
        }
        if !self.subtitle.is_empty() {
            y += SUBTITLE_SIZE + 6.0;
            svg.text((EDGE, y), Anchor::Start, Ink::Text, SUBTITLE_SIZE, &self.subtitle);
        }
    }

    /// Writes the document to a temporary file in the same folder and then renames it to `path`, so
    /// that a reader never sees an incomplete file.
    ///
    /// # Errors
    /// If the folder cannot be written; an existing file at `path` is then unchanged.
    pub fn write(&self, path: impl AsRef<Path>) -> io::Result<()> {
        let path = path.as_ref();
        let mut draft = path.as_os_str().to_owned();
        draft.push(format!(".{}.tmp", process::id()));
        let written = fs::write(&draft, self.to_svg()).and_then(|()| fs::rename(&draft, path));
        if written.is_err() {
            let _ = fs::remove_file(&draft); // the first error is the one to report
        }
        written
    }
}
