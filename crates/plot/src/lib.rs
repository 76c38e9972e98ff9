//! Line charts as standalone SVG files: convergence curves, scaling studies, performance profiles.
//!
//! A [`Figure`] holds panels side by side and one legend for all of them; a [`Panel`] holds two
//! [`Axis`] and any number of [`Series`]. A series keeps its colour, dashes and marker in every
//! panel in which its name occurs. The same input gives the same bytes. The file follows the
//! reader's light or dark background and needs neither scripts nor fonts of its own.
//!
//! It draws lines, steps and markers and nothing else: no bars, no maps, no text layout.
//!
//! ```
//! use stiction_plot::{Axis, Figure, Panel, Series};
//!
//! let residual: Vec<(f64, f64)> = (0..9).map(|k| (k as f64, 0.1_f64.powi(k))).collect();
//! let svg = Figure::new("Convergence")
//!     .panel(
//!         Panel::new(Axis::linear("iteration [-]"), Axis::log("residual [m/s]"))
//!             .series(Series::line("alm", residual))
//!             .guide_y(1e-6, "tolerance"),
//!     )
//!     .to_svg();
//! assert!(svg.starts_with("<svg"));
//! ```
#![forbid(unsafe_code)]
#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used, clippy::panic))]

mod axis;
mod clip;
mod figure;
mod legend;
mod palette;
mod panel;
mod projection;
mod series;
mod svg;
mod text;
mod ticks;

pub use axis::{Axis, Scale};
pub use figure::Figure;
pub use panel::Panel;
pub use series::{Series, Style};
pub use text::escape;
