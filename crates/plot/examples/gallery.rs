//! Writes sample figures into a folder: `cargo run -p stiction-plot --example gallery -- FOLDER`.

use std::io;
use std::path::PathBuf;

use stiction_plot::{Axis, Figure, Panel, Series};

/// A linearly converging sequence with a ripple: `rate^k`, from one down to a floor.
fn decay(rate: f64, ripple: f64, count: u32, floor: f64) -> Vec<(f64, f64)> {
    let value = |k: f64| (rate.powf(k) * (1.0 + ripple * (0.9 * k).sin())).max(floor);
    (0..count).map(|k| (f64::from(k), value(f64::from(k)))).collect()
}

/// Convergence over iterations and over time, with a curve that reaches zero.
fn convergence() -> Figure {
    let curves = [
        ("alm", decay(0.05, 0.0, 11, 2e-16), 3e-4),
        ("canal", decay(0.4, 0.2, 30, 1e-14), 2e-4),
        ("subadmm", decay(0.93, 0.4, 200, 0.0), 1.1e-5),
        ("pgs", decay(0.965, 0.05, 200, 0.0), 6e-6),
    ];
    let y = || Axis::log("residual / reference velocity [-]");
    let mut by_iteration = Panel::new(Axis::log("iteration [-]").range(1.0, 200.0), y());
    let mut by_time = Panel::new(Axis::linear("wall time [s]"), y());
    for (name, points, seconds) in curves {
        let timed = points.iter().map(|(k, r)| (k * seconds, *r)).collect();
        by_iteration = by_iteration.series(Series::line(name, points));
        by_time = by_time.series(Series::line(name, timed));
    }
    Figure::new("Sample: convergence & co.")
        .subtitle("synthetic sequences, not measurements")
        .panel(by_iteration.title("per iteration").guide_y(1e-6, "tolerance"))
        .panel(by_time.title("per second").guide_y(1e-6, "tolerance"))
}

/// Step curves on a logarithmic abscissa, as many as the palette must distinguish.
fn profile() -> Figure {
    let mut panel = Panel::new(
        Axis::log("time ratio to the fastest [-]").range(1.0, 100.0),
        Axis::linear("share of problems solved [-]").range(0.0, 1.0),
    );
    for i in 0..15_u32 {
        let start = 0.05 * f64::from(15 - i);
        let rise = |k: f64| (start + 0.02 * k * (1.0 - 0.04 * f64::from(i))).min(1.0);
        let points =
            (0..=40).map(|k| (10f64.powf(0.05 * f64::from(k)), rise(f64::from(k)))).collect();
        panel = panel.series(Series::step(format!("solver-{i}"), points));
    }
    Figure::new("Sample: profile").panel_size(560.0, 320.0).panel(panel)
}

/// Lines with markers, tiny values on a linear axis, markers alone.
fn scaling() -> Figure {
    let sizes = [8.0, 16.0, 32.0, 64.0, 128.0, 256.0];
    let power = |c: f64, p: f64| sizes.iter().map(|n: &f64| (*n, c * n.powf(p))).collect();
    let log = Panel::new(Axis::log("bodies [-]"), Axis::log("time per iteration [s]"))
        .series(Series::line_and_markers("dense", power(1e-8, 3.0)))
        .series(Series::line_and_markers("block sparse", power(3e-8, 1.4)))
        .series(Series::markers("bound", power(1e-8, 1.0)));
    let linear = Panel::new(Axis::linear("bodies [-]"), Axis::linear("time per iteration [s]"))
        .series(Series::line_and_markers("block sparse", power(3e-8, 1.4)))
        .series(Series::markers("bound", power(1e-8, 1.0)));
    Figure::new("Sample: scaling").panel(log).panel(linear)
}

fn main() -> io::Result<()> {
    let folder = std::env::args_os().nth(1).map_or_else(std::env::temp_dir, PathBuf::from);
    convergence().write(folder.join("convergence.svg"))?;
    profile().write(folder.join("profile.svg"))?;
    scaling().write(folder.join("scaling.svg"))
}
