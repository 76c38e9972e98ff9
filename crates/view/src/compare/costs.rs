//! Time per step of each solver: its spread on a logarithmic scale, and the share of its parts.
//!
//! One row per solver, in both halves: left the median, the mean and the 99th percentile; right a
//! bar of the parts of a step. Parts differ in lightness and hatching, so that they differ
//! in grey too.

use std::fmt::Write;

use stiction_sim::PHASES;
use stiction_study::compare::Comparison;

use super::numbers::duration;
use stiction_plot::escape;

const ROW: f64 = 30.0;
const HEAD: f64 = 44.0;
const SPREAD: f64 = 350.0;
const SHARES: f64 = 380.0;
const BETWEEN: f64 = 74.0;
/// Between two lines of a hatched part [px].
const GAP: f64 = 5.0;

/// Fill of each part and whether it is hatched, in the order of [`PHASES`].
const FILLS: [(&str, bool); PHASES.len()] = [
    ("#e3e6ea", false),
    ("#8fb7dd", false),
    ("#f2cf8d", false),
    ("#8a8f98", true),
    ("#1d4e89", false),
    ("#ffffff", true),
];

/// The chart; empty if nothing ran.
pub fn costs(comparison: &Comparison) -> String {
    let runs: Vec<_> = comparison
        .compared_solvers
        .iter()
        .map(|compared| compared.run().map(|r| &r.summary))
        .collect();
    let times = || runs.iter().flatten().map(|summary| &summary.step_times);
    let finite = |x: &f64| x.is_finite() && *x > 0.0;
    let least = times().map(|t| t.p50.min(t.mean)).filter(finite).fold(f64::INFINITY, f64::min);
    let most = times().map(|t| t.p99.max(t.mean)).filter(finite).fold(0.0, f64::max);
    if most == 0.0 {
        return String::new();
    }
    // Approximate width of a bold letter, and the distance of a name from its row.
    let longest =
        comparison.compared_solvers.iter().map(|c| c.solver.chars().count()).max().unwrap_or(0);
    let names = 8.6 * longest as f64 + 24.0;
    let width = names + SPREAD + BETWEEN + SHARES + 20.0;
    let (low, high) = (decade_below(least), decade_above(most));
    let place = |us: f64| names + SPREAD * (us / low).log10() / (high / low).log10();
    let rows = runs.len() as f64;
    let bottom = HEAD + rows * ROW;
    let height = bottom + 78.0;
    let mut svg = String::new();
    let _ = write!(
        svg,
        "<svg width=\"{width}\" height=\"{height}\" viewBox=\"0 0 {width} {height}\" role=\"img\" \
         aria-label=\"Time per step\" font-family=\"Helvetica, Arial, 'Liberation Sans', \
         'DejaVu Sans', sans-serif\"><title>Time per step</title>\n\
         <rect class=\"sp-paper\" width=\"{width}\" height=\"{height}\" fill=\"#ffffff\"/>\n"
    );
    let right = names + SPREAD + BETWEEN;
    heading(&mut svg, names + SPREAD / 2.0, "time of a step, logarithmic scale");
    heading(&mut svg, right + SHARES / 2.0, "share of its parts (mean)");
    // Grid and ticks of the left half.
    let mut tick = low;
    while tick <= high * 1.001 {
        let x = place(tick);
        rule(&mut svg, (x, HEAD), (x, bottom), "sp-grid", "#dcdfe3");
        label(&mut svg, (x, bottom + 16.0), "middle", &round_time(tick));
        for part in [2.0, 5.0] {
            if part * tick < high {
                let x = place(part * tick);
                rule(&mut svg, (x, HEAD), (x, bottom), "sp-faint", "#eff1f3");
            }
        }
        tick *= 10.0;
    }
    for percent in [0, 25, 50, 75, 100] {
        let x = right + SHARES * f64::from(percent) / 100.0;
        label(&mut svg, (x, bottom + 16.0), "middle", &format!("{percent} %"));
        rule(&mut svg, (x, HEAD), (x, bottom + 4.0), "sp-grid", "#dcdfe3");
    }
    for (k, (compared, summary)) in comparison.compared_solvers.iter().zip(&runs).enumerate() {
        let y = HEAD + (k as f64 + 0.5) * ROW;
        let name = escape(&compared.solver);
        let _ = writeln!(
            svg,
            "<text class=\"sp-strong\" x=\"{}\" y=\"{}\" font-size=\"12.5\" fill=\"#1a1a1a\" \
             font-weight=\"bold\" text-anchor=\"end\">{name}</text>",
            names - 12.0,
            y + 4.5
        );
        let Some(t) = summary.map(|s| &s.step_times).filter(|t| t.mean.is_finite()) else {
            label(&mut svg, (names + 6.0, y + 4.0), "start", "did not run");
            continue;
        };
        let [p50, mean, p99] = [t.p50, t.mean, t.p99].map(place);
        let y_text = y.to_string();
        let _ = writeln!(
            svg,
            "<g class=\"sp-strong\" fill=\"#1a1a1a\"><title>{name}: median {}, mean {}, 99th \
             percentile {}</title>\
             <rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"2\"/>\
             <circle cx=\"{p50}\" cy=\"{y_text}\" r=\"4.2\"/>\
             <path d=\"M{p99} {}v10\" stroke=\"#777777\" class=\"sp-frame\" stroke-width=\"2.4\"/>\
             <path d=\"M{mean} {}l5 5l-5 5l-5 -5z\" fill=\"#d55e00\" stroke=\"#ffffff\" \
             stroke-width=\"1\"/></g>",
            duration(1e-6 * t.p50),
            duration(1e-6 * t.mean),
            duration(1e-6 * t.p99),
            p50.min(p99),
            y - 1.0,
            (p99 - p50).abs(),
            y - 5.0,
            y - 5.0,
        );
        label(&mut svg, (place(high) + 8.0, y + 4.0), "start", &duration(1e-6 * t.mean));
        shares(&mut svg, &t.phases, (right, y - 9.0));
    }
    legend(&mut svg, names, bottom + 46.0);
    svg.push_str("</svg>\n");
    svg
}

/// A bar of parts that fills the right half.
fn shares(svg: &mut String, phases: &[f64; PHASES.len()], (left, top): (f64, f64)) {
    let all: f64 = phases.iter().sum();
    let mut x = left;
    for ((name, part), (fill, hatched)) in PHASES.iter().zip(phases).zip(FILLS) {
        let width = if all > 0.0 { SHARES * part / all } else { 0.0 };
        let title = format!("{name}: {}, {:.0} %", duration(1e-6 * part), 100.0 * part / all);
        piece(svg, (x, top, width, 18.0), fill, hatched, &title);
        // Dark parts carry their share in white if there is room for it.
        if width > 34.0 {
            let dark = fill == "#1d4e89";
            let ink = if dark { "#ffffff" } else { "#1a1a1a" };
            if !hatched {
                let _ = writeln!(
                    svg,
                    "<text x=\"{:.2}\" y=\"{:.2}\" font-size=\"10.5\" fill=\"{ink}\" \
                     text-anchor=\"middle\">{:.0} %</text>",
                    x + width / 2.0,
                    top + 13.0,
                    100.0 * part / all
                );
            }
        }
        x += width;
    }
}

fn piece(
    svg: &mut String,
    (x, y, width, height): (f64, f64, f64, f64),
    fill: &str,
    hatched: bool,
    title: &str,
) {
    let place = format!("x=\"{x:.2}\" y=\"{y:.2}\" width=\"{width:.2}\" height=\"{height}\"");
    let _ = writeln!(
        svg,
        "<rect {place} fill=\"{fill}\" stroke=\"#555555\" stroke-width=\"0.6\"><title>{title}\
         </title></rect>"
    );
    if hatched && width > 0.0 {
        let d = hatching((x, y, width, height));
        let _ = writeln!(
            svg,
            "<path d=\"{d}\" stroke=\"#333333\" stroke-width=\"1\" pointer-events=\"none\"/>"
        );
    }
}

/// Lines under 45° within a rectangle.
fn hatching((x, y, width, height): (f64, f64, f64, f64)) -> String {
    let mut d = String::new();
    let mut offset = -height + GAP;
    while offset < width {
        // From the lower edge up to the right, cut at both sides.
        let (from, to) = (offset.max(0.0), (offset + height).min(width));
        let (low, high) = (y + height - (from - offset), y + height - (to - offset));
        let _ = write!(d, "M{:.2} {low:.2}L{:.2} {high:.2}", x + from, x + to);
        offset += GAP;
    }
    d
}

fn legend(svg: &mut String, names: f64, y: f64) {
    let mut x = names;
    let _ = writeln!(
        svg,
        "<g class=\"sp-strong\" fill=\"#1a1a1a\"><circle cx=\"{}\" cy=\"{y}\" r=\"4.2\"/>\
         <path d=\"M{} {}l5 5l-5 5l-5 -5z\" fill=\"#d55e00\"/>\
         <path d=\"M{} {}v10\" stroke=\"#777777\" class=\"sp-frame\" stroke-width=\"2.4\"/></g>",
        x + 6.0,
        x + 80.0,
        y - 5.0,
        x + 140.0,
        y - 5.0
    );
    label(svg, (x + 16.0, y + 4.0), "start", "median");
    label(svg, (x + 90.0, y + 4.0), "start", "mean");
    label(svg, (x + 148.0, y + 4.0), "start", "99 % of steps are faster");
    x = names + SPREAD + BETWEEN;
    for (k, (name, (fill, hatched))) in PHASES.iter().zip(FILLS).enumerate() {
        let (column, row) = ((k % 3) as f64, (k / 3) as f64);
        let at = (x + column * 130.0, y - 6.0 + row * 20.0);
        piece(svg, (at.0, at.1, 16.0, 12.0), fill, hatched, name);
        label(svg, (at.0 + 22.0, at.1 + 10.0), "start", name);
    }
}

fn heading(svg: &mut String, x: f64, text: &str) {
    let _ = writeln!(
        svg,
        "<text class=\"sp-strong\" x=\"{x}\" y=\"26\" font-size=\"12\" fill=\"#1a1a1a\" \
         font-weight=\"bold\" text-anchor=\"middle\">{text}</text>"
    );
}

fn label(svg: &mut String, (x, y): (f64, f64), anchor: &str, text: &str) {
    let _ = writeln!(
        svg,
        "<text class=\"sp-text\" x=\"{x:.2}\" y=\"{y:.2}\" font-size=\"11.5\" fill=\"#444444\" \
         text-anchor=\"{anchor}\">{text}</text>"
    );
}

fn rule(svg: &mut String, a: (f64, f64), b: (f64, f64), class: &str, colour: &str) {
    let _ = writeln!(
        svg,
        "<path class=\"{class}\" d=\"M{:.2} {:.2}L{:.2} {:.2}\" stroke=\"{colour}\" fill=\"none\"/>",
        a.0, a.1, b.0, b.1
    );
}

fn decade_below(x: f64) -> f64 {
    10f64.powf(x.log10().floor())
}

fn decade_above(x: f64) -> f64 {
    10f64.powf(x.log10().ceil())
}

/// A power of ten of microseconds.
fn round_time(us: f64) -> String {
    match us {
        us if us < 0.9e3 => format!("{us:.0} µs"),
        us if us < 0.9e6 => format!("{:.0} ms", us / 1e3),
        us => format!("{:.0} s", us / 1e6),
    }
}
