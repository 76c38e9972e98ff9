//! Figs. 11 to 13: contacts, speed-up over a general interior-point method, and errors, over the number of bodies of clutter.

use stiction_plot::{Axis, Figure, Panel, Series};

use super::clutter::{self, ClutterRun, SIGMA};
use super::iterations::METHODS_REMARK;
use super::methods::{GENERAL, METHODS, Methods, SolveFigures};
use crate::clock::cpu_seconds;
use crate::error::ReproduceError;
use crate::statistics::{mean, power_law_exponent};
use crate::{ExperimentOptions, ExperimentResult, RowSource, Sheet, SheetCell};

/// Bodies in four columns.
const BODIES: [usize; 7] = [8, 16, 24, 40, 80, 120, 160];
/// Bodies of a quick run.
const FEW_BODIES: [usize; 2] = [8, 40];
/// Steps from one comparison of the methods to the next.
const EVERY: usize = 10;

/// What the paper says of the speed over Gurobi: setup, bodies, SAP, Geodesic IPM.
const SPEED: [(&str, &str, &str, &str); 4] = [
    ("walls", "less than 40", "up to 25", "about half of SAP; a fifth with at most 8 bodies"),
    ("walls", "more than 80", "less than 1", "less than 1"),
    ("no walls", "less than 40", "up to 50", "about half of SAP; a fifth with at most 8 bodies"),
    ("no walls", "more than 80", "about 10", "about half of SAP"),
];

/// A run: setup, bodies, contacts at the end, figures by method.
struct SizeRun {
    walls: bool,
    bodies: usize,
    contacts: f64,
    velocities: f64,
    figures: [Vec<SolveFigures>; 4],
}

impl SizeRun {
    fn mean(&self, method: usize, of: fn(&SolveFigures) -> f64) -> f64 {
        mean(self.figures[method].iter().map(of))
    }

    fn setup(&self) -> &'static str {
        setup(self.walls)
    }
}

fn setup(walls: bool) -> &'static str {
    if walls { "walls" } else { "no walls" }
}

/// Runs the experiment.
pub fn run(options: &ExperimentOptions<'_>) -> Result<ExperimentResult, ReproduceError> {
    let sizes = if options.quick { &FEW_BODIES[..] } else { &BODIES[..] };
    let mut runs = Vec::new();
    let mut remarks = Vec::new();
    for (k, walls) in [true, false].into_iter().enumerate() {
        for (j, bodies) in sizes.iter().enumerate() {
            if (options.stop_requested)() {
                break;
            }
            let done = (k * sizes.len() + j) as f64 / (2 * sizes.len()) as f64;
            (options.report_progress)(done, &format!("{bodies} bodies, {}", setup(walls)));
            let (run, compared_until) = measure(options, *bodies, walls)?;
            if let Some(step) = compared_until {
                let setup = run.setup();
                remarks.push(format!("{bodies} bodies, {setup}: compared up to step {step} only."));
            }
            runs.push(run);
        }
    }
    let figures = vec![contacts_figure(&runs), speed_figure(&runs), error_figure(&runs)];
    let mut sheets = vec![speed_sheet(&runs), error_sheet(&runs), growth_sheet(&runs)];
    // A run of a few steps has no contact that acts.
    sheets.retain(|sheet| sheet.rows.iter().any(|row| row.source == RowSource::Ours));
    let outcome = ExperimentResult { sheets, figures, remarks };
    Ok(outcome
        .remark(METHODS_REMARK)
        .remark(
            "Times are sums over every tenth step of 10 s of the motion of SAP, with contacts; all methods solve the same problems. \
             Contacts are those at the end. The paper counts more of them without walls; here faces of objects that \
             lean on one another have several contacts too, as the paper has them for boxes that lie flat on the ground, so that the pile in the bin has \
             more.",
        )
        .remark(
            "Clarabel is not Gurobi: the speed of the interior-point method over it is that of the sparse algebra; that of SAP over the \
             interior-point method, two to five in the paper, is that of its warm start.",
        ))
}

/// Runs one size; also the step after which the methods were not compared any more because the time was over.
fn measure(
    options: &ExperimentOptions<'_>,
    bodies: usize,
    walls: bool,
) -> Result<(SizeRun, Option<usize>), ReproduceError> {
    let (mut run, mut methods) = (ClutterRun::new(bodies, walls, SIGMA)?, Methods::new(SIGMA)?);
    let mut figures: [Vec<SolveFigures>; 4] = Default::default();
    let (mut contacts, mut velocities, mut over) = (0, 0, None);
    let begin = cpu_seconds();
    for step in 0..clutter::steps(options) {
        if (options.stop_requested)() {
            break;
        }
        if over.is_none() && options.is_over(begin) {
            over = Some(step);
        }
        if step % EVERY != EVERY - 1 || over.is_some() {
            contacts = run.step()?.contacts;
            continue;
        }
        let (report, recorded) = run.recorded_step()?;
        contacts = report.contacts;
        let Some(recorded) = recorded else { continue };
        velocities = recorded.problem.dofs();
        let Some(found) = methods.compare(&recorded)? else { continue };
        for (found, figures) in found.into_iter().zip(&mut figures) {
            figures.push(found);
        }
    }
    let [contacts, velocities] = [contacts as f64, velocities as f64];
    Ok((SizeRun { walls, bodies, contacts, velocities, figures }, over))
}

/// A heading with one column per method after those of `first`, per group.
fn heading(first: &[&str], groups: &[&str], methods: usize) -> Vec<String> {
    let columns = groups
        .iter()
        .flat_map(|group| METHODS[..methods].iter().map(move |method| format!("{group} {method}")));
    first.iter().map(|name| (*name).to_owned()).chain(columns).collect()
}

fn sheet(title: &str, heading: &[String]) -> Sheet {
    Sheet::new(title, &heading.iter().map(String::as_str).collect::<Vec<_>>())
}

/// All methods but the general one.
const OTHERS: usize = GENERAL;

fn speed_sheet(runs: &[SizeRun]) -> Sheet {
    let mut heading = heading(&["setup", "bodies", "contacts"], &["speed"], OTHERS);
    heading.extend(METHODS.map(|method| format!("ms {method}")));
    heading.extend(METHODS.map(|method| format!("iterations {method}")));
    let mut sheet = sheet(
        "Figs. 11, 12: contacts at rest, speed over that of the general interior-point method, time and iterations per step",
        &heading,
    );
    for (setup, bodies, sap, interior) in SPEED {
        let cells: [SheetCell; 5] =
            [setup.into(), bodies.into(), f64::NAN.into(), sap.into(), interior.into()];
        sheet.row(RowSource::Paper, cells.into_iter().chain([f64::NAN; 9].map(SheetCell::from)));
    }
    for run in runs {
        let time = |method| 1e3 * run.mean(method, |f| f.seconds);
        let cells: [SheetCell; 3] =
            [run.setup().into(), run.bodies.to_string().into(), run.contacts.into()];
        let speeds = (0..OTHERS).map(|method| SheetCell::from(time(GENERAL) / time(method)));
        let times = (0..METHODS.len()).map(|method| SheetCell::from(time(method)));
        let counts = (0..METHODS.len()).map(|method| run.mean(method, |f| f.iterations).into());
        sheet.row(RowSource::Ours, cells.into_iter().chain(speeds).chain(times).chain(counts));
    }
    sheet
}

fn error_sheet(runs: &[SizeRun]) -> Sheet {
    let heading = heading(&["setup", "bodies"], &["e_m", "e_μ", "r"], METHODS.len());
    let mut sheet = sheet("Fig. 13: errors, means over the steps [-]", &heading);
    let none = || SheetCell::from(f64::NAN);
    let published: [SheetCell; 10] = [
        "both".into(),
        "8 to 160".into(),
        "< 1e-5".into(),
        "mostly below Gurobi's".into(),
        none(),
        "largest".into(),
        "round-off".into(),
        "< 1e-5".into(),
        none(),
        "small".into(),
    ];
    sheet.row(RowSource::Paper, published.into_iter().chain([f64::NAN; 4].map(SheetCell::from)));
    for run in runs {
        let cells: [SheetCell; 2] = [run.setup().into(), run.bodies.to_string().into()];
        let of = |of: fn(&SolveFigures) -> f64| {
            (0..METHODS.len()).map(move |method| SheetCell::from(run.mean(method, of)))
        };
        let errors = of(|f| f.momentum).chain(of(|f| f.complementarity)).chain(of(|f| f.violation));
        sheet.row(RowSource::Ours, cells.into_iter().chain(errors));
    }
    sheet
}

fn growth_sheet(runs: &[SizeRun]) -> Sheet {
    let heading = heading(&["setup", "from", "to [velocities]"], &["p"], METHODS.len());
    let mut sheet = sheet("Time of a step ∝ velocities^p", &heading);
    for walls in [true, false] {
        let of: Vec<&SizeRun> =
            runs.iter().filter(|r| r.walls == walls && r.velocities > 0.0).collect();
        let (Some(first), Some(last)) = (of.first(), of.last()) else { continue };
        let exponent = |method| {
            let point = |r: &&SizeRun| (r.velocities, r.mean(method, |f| f.seconds));
            power_law_exponent(&of.iter().map(point).collect::<Vec<_>>())
        };
        let cells: [SheetCell; 3] =
            [setup(walls).into(), first.velocities.into(), last.velocities.into()];
        let exponents = (0..METHODS.len()).map(|method| exponent(method).into());
        sheet.row(RowSource::Ours, cells.into_iter().chain(exponents));
    }
    sheet
}

/// One panel per setup, one curve per method.
fn panels(runs: &[SizeRun], y: &str, of: impl Fn(&SizeRun, usize) -> f64) -> [Panel; 2] {
    [true, false].map(|walls| {
        let axes = (Axis::linear("bodies [-]"), Axis::log(y));
        let mut panel = Panel::new(axes.0, axes.1).title(setup(walls));
        for (method, name) in METHODS.into_iter().enumerate() {
            let those = runs.iter().filter(|r| r.walls == walls);
            let points = those.map(|r| (r.bodies as f64, of(r, method))).collect();
            panel = panel.series(Series::line_and_markers(name, points));
        }
        panel
    })
}

fn contacts_figure(runs: &[SizeRun]) -> Figure {
    let mut panel = Panel::new(Axis::linear("bodies [-]"), Axis::linear("contacts at rest [-]"));
    for walls in [true, false] {
        let those = runs.iter().filter(|r| r.walls == walls);
        let points = those.map(|r| (r.bodies as f64, r.contacts)).collect();
        panel = panel.series(Series::line_and_markers(setup(walls), points));
    }
    Figure::new("Contacts at the end").panel(panel)
}

fn speed_figure(runs: &[SizeRun]) -> Figure {
    let speed =
        |run: &SizeRun, method| run.mean(GENERAL, |f| f.seconds) / run.mean(method, |f| f.seconds);
    let [walls, none] = panels(runs, "speed over ipm [-]", speed);
    Figure::new("Speed over the general interior-point method").panel(walls).panel(none)
}

fn error_figure(runs: &[SizeRun]) -> Figure {
    let least = |x: f64| x.max(f64::EPSILON);
    let e_m = panels(runs, "e_m [-]", |run, m| least(run.mean(m, |f| f.momentum)));
    let e_mu = panels(runs, "e_μ [-]", |run, m| least(run.mean(m, |f| f.complementarity)));
    let figure = Figure::new("Errors of momentum and of complementarity");
    e_m.into_iter().chain(e_mu).fold(figure, Figure::panel)
}
