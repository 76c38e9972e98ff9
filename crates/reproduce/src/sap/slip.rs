//! Figs. 14 and 15: mean slip at rest, iterations and condition number of the Hessian over σ.

use stiction_plot::{Axis, Figure, Panel, Series};

use super::clutter::{self, BODIES, ClutterRun, mean_slip, slip_bound};
use super::condition::condition_number;
use super::methods;
use crate::error::ReproduceError;
use crate::statistics::{mean, power_law_exponent};
use crate::{ExperimentOptions, ExperimentResult, RowSource, Sheet, SheetCell};

/// σ [-].
const SIGMAS: [f64; 7] = [1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 1e-1, 1.0];
/// Those of a quick run.
const FEW_SIGMAS: [f64; 3] = [1e-4, 1e-3, 1e-2];
/// Tolerance on momentum of the velocities at which the condition number is taken [-].
const EXACT: f64 = 1e-9;

/// Figures of a run at one σ.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SlipRun {
    pub walls: bool,
    pub sigma: f64,
    /// Mean over the contacts that carry load at the end [m/s].
    pub slip: f64,
    pub contacts: f64,
    /// Mean over all steps.
    pub iterations: f64,
    /// Of the last step.
    pub condition: f64,
}

/// Runs the experiment.
pub fn run(options: &ExperimentOptions<'_>) -> Result<ExperimentResult, ReproduceError> {
    let sigmas = if options.quick { &FEW_SIGMAS[..] } else { &SIGMAS[..] };
    let mut runs = Vec::new();
    for (k, walls) in [true, false].into_iter().enumerate() {
        for (j, sigma) in sigmas.iter().enumerate() {
            if (options.stop_requested)() {
                break;
            }
            let done = (k * sigmas.len() + j) as f64 / (2 * sigmas.len()) as f64;
            (options.report_progress)(done, &format!("σ = {sigma:e}, {}", setup(walls)));
            runs.push(measure(options, walls, *sigma)?);
        }
    }
    let outcome = ExperimentResult {
        sheets: vec![table(&runs), fits(&runs)],
        figures: vec![figure(&runs)],
        ..ExperimentResult::default()
    };
    Ok(outcome
        .remark(
            "Slip: mean tangential speed at the end of 10 s over the contacts that carry load; the bound is σ μ δt g. Each σ \
             leads to another configuration at rest, so that contacts, slips and iterations scatter. Friction of spheres that roll \
             on the ground slips less than that of a pile that it holds. At σ = 1e-6 the bound is below the velocities that the \
             tolerance of the solver leaves, about ε_r g δt = 1e-6 m/s.",
        )
        .remark(
            "Condition number: of H = A + Jᵀ G J, unscaled, in the last step, by its eigenvalues. Its smallest eigenvalue is of the order of the \
             smallest moment of inertia of an object, its largest grows with 1/R_t = 1/(σ w) once that exceeds 1/R_n = 4π²/w, that is for σ \
             below 1/(4π²) = 0.025.",
        ))
}

fn setup(walls: bool) -> &'static str {
    if walls { "walls" } else { "no walls" }
}

/// Runs clutter at one σ.
pub(crate) fn measure(
    options: &ExperimentOptions<'_>,
    walls: bool,
    sigma: f64,
) -> Result<SlipRun, ReproduceError> {
    let mut run = ClutterRun::new(BODIES, walls, sigma)?;
    let steps = clutter::steps(options);
    let mut iterations = Vec::new();
    let (mut condition, mut contacts) = (f64::NAN, 0);
    for step in 0..steps {
        if (options.stop_requested)() {
            break;
        }
        let (report, recorded) =
            if step + 1 == steps { run.recorded_step()? } else { (run.step()?, None) };
        iterations.push(report.iterations as f64);
        contacts = report.contacts;
        if let Some(recorded) = recorded {
            let (_, solution) = methods::trace(&recorded, sigma, EXACT)?;
            condition = condition_number(&recorded.problem, &solution.velocity);
        }
    }
    let slip = mean_slip(run.simulation.contacts());
    let (iterations, contacts) = (mean(iterations), contacts as f64);
    Ok(SlipRun { walls, sigma, slip, contacts, iterations, condition })
}

fn table(runs: &[SlipRun]) -> Sheet {
    let mut sheet = Sheet::new(
        "Figs. 14, 15: slip at rest, iterations and condition number over σ, 40 bodies",
        &[
            "setup",
            "σ [-]",
            "mean slip [m/s]",
            "σ μ δt g [m/s]",
            "slip over the bound [-]",
            "contacts",
            "iterations",
            "condition number of H",
        ],
    );
    for (setup, slip) in [("walls", "below the bound, in proportion"), ("no walls", "far below")] {
        let none = || SheetCell::from(f64::NAN);
        let cells = [setup.into(), "all".into(), slip.into(), none(), none(), none()];
        sheet.row(RowSource::Paper, cells.into_iter().chain(["∝ −ln σ".into(), "∝ 1/σ".into()]));
    }
    for run in runs {
        let bound = slip_bound(run.sigma);
        let row: [SheetCell; 8] = [
            setup(run.walls).into(),
            format!("{:e}", run.sigma).into(),
            run.slip.into(),
            bound.into(),
            (run.slip / bound).into(),
            run.contacts.into(),
            run.iterations.into(),
            run.condition.into(),
        ];
        sheet.row(RowSource::Ours, row);
    }
    sheet
}

/// Exponents of σ, and iterations per factor ten of σ.
fn fits(runs: &[SlipRun]) -> Sheet {
    let mut sheet = Sheet::new(
        "Fits from σ = 1e-5 to 1e-2",
        &["setup", "p: slip ∝ σ^p", "p: condition number ∝ σ^p", "iterations more per tenth of σ"],
    );
    let published: [SheetCell; 4] = ["walls".into(), "1".into(), (-1.0).into(), "constant".into()];
    sheet.row(RowSource::Paper, published);
    for walls in [true, false] {
        let of: Vec<&SlipRun> = runs
            .iter()
            .filter(|r| r.walls == walls && (0.9e-5..1.1e-2).contains(&r.sigma))
            .collect();
        let exponent = |y: fn(&SlipRun) -> f64| {
            power_law_exponent(&of.iter().map(|r| (r.sigma, y(r))).collect::<Vec<_>>())
        };
        // A power law of the exponential of the iterations is a line over ln σ.
        let more = -exponent(|r| r.iterations.exp()) * std::f64::consts::LN_10;
        let row: [SheetCell; 4] = [
            setup(walls).into(),
            exponent(|r| r.slip).into(),
            exponent(|r| r.condition).into(),
            more.into(),
        ];
        sheet.row(RowSource::Ours, row);
    }
    sheet
}

fn figure(runs: &[SlipRun]) -> Figure {
    let sigma = || Axis::log("σ [-]");
    let mut slips = Panel::new(sigma(), Axis::log("mean slip at rest [m/s]"));
    let mut iterations = Panel::new(sigma(), Axis::linear("iterations per step [-]"));
    let mut conditions = Panel::new(sigma(), Axis::log("condition number [-]"));
    for walls in [true, false] {
        let line = |y: fn(&SlipRun) -> f64| -> Series {
            let those = runs.iter().filter(|r| r.walls == walls);
            let points = those.map(|r| (r.sigma, y(r))).collect();
            Series::line_and_markers(setup(walls), points)
        };
        slips = slips.series(line(|r| r.slip));
        iterations = iterations.series(line(|r| r.iterations));
        conditions = conditions.series(line(|r| r.condition));
    }
    let bound = SIGMAS.iter().map(|sigma| (*sigma, slip_bound(*sigma))).collect();
    slips = slips.series(Series::line("σ μ δt g", bound));
    Figure::new("Clutter of 40 bodies over σ").panel(slips).panel(iterations).panel(conditions)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::least;

    #[test]
    fn slip_stays_below_the_published_bound_and_the_condition_number_grows_with_the_inverse_of_sigma()
     {
        let options = ExperimentOptions { steps: None, ..least() };
        let runs = FEW_SIGMAS.map(|sigma| measure(&options, true, sigma).unwrap());
        for run in &runs {
            assert!(run.slip <= slip_bound(run.sigma), "{run:?}");
        }
        // Largest eigenvalues are those of Jᵀ G J, in proportion to 1/σ but for the normal rows, whose 1/R_n = 4π²/w is 0.4 of
        // 1/R_t at σ = 1e-2 and a hundredth of that at 1e-4; contacts differ from run to run.
        for pair in runs.windows(2) {
            let ratio = pair[0].condition / pair[1].condition;
            assert!((5.0..20.0).contains(&ratio), "{ratio}: {pair:?}");
        }
        let (first, last) = (runs[0].iterations, runs[2].iterations);
        assert!(first > last, "iterations grow as σ shrinks: {first} {last}");
    }

    #[test]
    fn at_rest_a_step_of_clutter_takes_about_three_iterations_at_most() {
        let mut run = ClutterRun::new(BODIES, true, clutter::SIGMA).unwrap();
        let mut last = Vec::new();
        for step in 0..1000 {
            let report = run.step().unwrap();
            assert!(report.converged(), "step {step}");
            if step >= 500 {
                last.push(report.iterations as f64);
            }
        }
        assert!(mean(last.iter().copied()) <= 4.0, "{}", mean(last));
    }
}
