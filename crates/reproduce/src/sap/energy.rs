//! Figs. 5 and 6: energy of the cylinder on a spring over ten minutes, without friction and rolling.
//!
//! Rolling does no work, but regularised friction creeps: a step with the tangential force F takes `R_t F² δt²` from the energy, with
//! R_t = σ w. F is a third of the spring's force (I = m R²/2), its mean square `k_s E/9`, so that energy decays at the rate
//! `R_t k_s δt/9`; n points of contact that share F creep n times less.

use stiction_mech::State;
use stiction_plot::{Axis, Figure, Panel, Series};
use stiction_scene::SceneError;
use stiction_sim::{Scheme, Simulation};
use stiction_study::scenarios::spring_cylinder::{
    self as cylinder, Ground, INERTIA, MASS, RADIUS, SPRING, energy, frequency,
};

use crate::error::ReproduceError;
use crate::statistics::mean;
use crate::{ExperimentOptions, ExperimentResult, RowSource, Sheet, SheetCell};

/// Time step [s], start [m], stiffness [N/m] and dissipation [s] of the ground [Castro22, Sec. VI-B].
const TIME_STEP: f64 = 0.02;
const START: f64 = 0.1;
const STIFFNESS: f64 = 1e4;
const DISSIPATION: f64 = 0.02;
/// Steps of ten minutes, and of a quick run.
const STEPS: usize = 30_000;
const FEW_STEPS: usize = 3_000;
/// Duration of the plots of the first periods, and of the figures on the band [s].
const FIRST: f64 = 2.5;
/// σ of the paper [-].
const SIGMA: f64 = 1e-3;

/// Schemes of the paper, with its words on each: frictionless and rolling.
const SCHEMES: [(Scheme, &str, [&str; 2], [&str; 2]); 3] = [
    (Scheme::Symplectic, "symplectic Euler", ["28", "similar"], ["0", "10"]),
    (Scheme::Midpoint, "midpoint", ["0", "0.16"], ["0", "10"]),
    (Scheme::Implicit, "implicit Euler", ["decays in a few periods", "similar"], ["100", "100"]),
];

/// Fig. 5: without friction.
pub fn frictionless(options: &ExperimentOptions<'_>) -> Result<ExperimentResult, ReproduceError> {
    let outcome = run(options, "Fig. 5: without friction", 0.0, &[true])?;
    let wh = frequency(false) * TIME_STEP;
    let outcome = outcome.remark(
        "Lost: mean energy of the last two periods against that of the first two. Periods are no whole number of steps, hence the small \
         difference of symplectic Euler.",
    );
    Ok(outcome.remark(format!(
        "ω = √(k_s/m), {:.0} steps per period. The band of symplectic Euler follows from the quantity it keeps, v² + ω² x² − δt ω² x v: its width is \
         ω δt/(1 − ω² δt²/4) = {:.1} %. Implicit Euler divides the energy by 1 + ω² δt² in each step.",
        std::f64::consts::TAU / wh,
        100.0 * wh / (1.0 - 0.25 * wh * wh)
    )))
}

/// Fig. 6: with friction.
pub fn rolling(options: &ExperimentOptions<'_>) -> Result<ExperimentResult, ReproduceError> {
    let outcome = run(options, "Fig. 6: rolling, μ = 1", 1.0, &[true, false])?;
    let wh = frequency(true) * TIME_STEP;
    let lost = [1.0, 2.0].map(|points| 100.0 * (1.0 - (-600.0 * creep_rate(points)).exp()));
    Ok(outcome
        .remark(format!(
            "ω = √(k_s/(m + I/R²)), {:.0} steps per period. Creep of regularised friction takes energy at the rate R_t k_s δt/9, R_t = σ w, \
             w = ‖diag(1/m + R²/I, 1/m)‖/3: {:.1} % in ten minutes with one point of contact, {:.1} % with two, which share the force.",
            std::f64::consts::TAU / wh,
            lost[0],
            lost[1]
        ))
        .remark(
            "The paper does not say at how many points its cylinder touches the ground. Its 10 % lie between two points (a cylinder on \
             its rims) and three; with one the loss is more than twice as large. The variation of the midpoint rule in the first periods is \
             this loss too: with one point it reaches 0.16 % after 3.4 s, six periods.",
        ))
}

/// Rate at which creep takes energy from a rolling cylinder that touches at a number of points [1/s].
fn creep_rate(points: f64) -> f64 {
    let along = 1.0 / MASS + RADIUS * RADIUS / INERTIA;
    let w = along.hypot(1.0 / MASS) / 3.0;
    SIGMA * w * SPRING * TIME_STEP / 9.0 / points
}

fn run(
    options: &ExperimentOptions<'_>,
    title: &str,
    friction: f64,
    thin: &[bool],
) -> Result<ExperimentResult, ReproduceError> {
    let rolls = friction > 0.0;
    let steps = options.steps.unwrap_or(if options.quick { FEW_STEPS } else { STEPS });
    let minutes = steps as f64 * TIME_STEP / 60.0;
    let long = format!("lost in {} min [%]", (1e3 * minutes).round() / 1e3);
    let mut sheet = Sheet::new(
        format!("{title}: energy of a cylinder on a spring, δt = 20 ms"),
        &["scheme", "points of contact", "peak to peak in the first periods [%]", &long],
    );
    for (_, name, band, lost) in SCHEMES {
        let column = usize::from(rolls);
        let lost = format!("{} in 10 min", lost[column]);
        let cells: [SheetCell; 4] =
            [name.into(), f64::NAN.into(), band[column].into(), lost.into()];
        sheet.row(RowSource::Paper, cells);
    }
    let (mut first, mut whole) = (energy_panel("time [s]"), energy_panel("time [min]"));
    for (k, (scheme, name, ..)) in SCHEMES.into_iter().enumerate() {
        for one_point in thin {
            (options.report_progress)(k as f64 / SCHEMES.len() as f64, name);
            let energies = energies(options, friction, scheme, *one_point, steps)?;
            let points = if *one_point { 1.0 } else { 2.0 };
            let row: [SheetCell; 4] = [
                name.into(),
                points.into(),
                (100.0 * band(&energies)).into(),
                (100.0 * lost(&energies, rolls)).into(),
            ];
            sheet.row(RowSource::Ours, row);
            let label = if thin.len() > 1 { format!("{name}, {points}") } else { name.to_owned() };
            let time = |k: usize| TIME_STEP * k as f64;
            let early = energies.iter().enumerate().take((FIRST / TIME_STEP) as usize);
            first =
                first.series(Series::line(&*label, early.map(|(k, e)| (time(k), *e)).collect()));
            // Every eleventh: enough for the envelope, and no divisor of the period.
            let late = energies.iter().enumerate().step_by(11);
            let late = late.map(|(k, e)| (time(k) / 60.0, *e)).collect();
            whole = whole.series(Series::line(&*label, late));
        }
    }
    let figure = Figure::new(title).panel(first).panel(whole);
    Ok(ExperimentResult {
        sheets: vec![sheet],
        figures: vec![figure],
        ..ExperimentResult::default()
    })
}

fn energy_panel(time: &str) -> Panel {
    Panel::new(Axis::linear(time), Axis::linear("E/E₀ [-]"))
}

/// A simulation of the cylinder at the start.
pub(super) fn start(
    friction: f64,
    scheme: Scheme,
    time_step: f64,
    one_point: bool,
) -> Result<Simulation, ReproduceError> {
    let ground = Ground { friction, stiffness: STIFFNESS, dissipation: DISSIPATION, one_point };
    let world = cylinder::world(ground)?;
    let mut state = State::new(world.model());
    state.q[0] = START;
    let settings = cylinder::settings(scheme, time_step)?;
    let mut simulation = Simulation::new(world, settings).map_err(SceneError::from)?;
    simulation.set_state(&state).map_err(SceneError::from)?;
    Ok(simulation)
}

/// E/E₀ at the start and after each step.
fn energies(
    options: &ExperimentOptions<'_>,
    friction: f64,
    scheme: Scheme,
    one_point: bool,
    steps: usize,
) -> Result<Vec<f64>, ReproduceError> {
    let mut simulation = start(friction, scheme, TIME_STEP, one_point)?;
    let initial = energy(&simulation);
    let mut found = vec![1.0];
    for _ in 0..steps {
        if (options.stop_requested)() {
            break;
        }
        let _ = simulation.step().map_err(SceneError::from)?;
        found.push(energy(&simulation) / initial);
    }
    Ok(found)
}

/// Width of the band in the first periods [-].
fn band(energies: &[f64]) -> f64 {
    let first = &energies[..energies.len().min((FIRST / TIME_STEP) as usize)];
    let (low, high) = first
        .iter()
        .fold((f64::INFINITY, 0.0), |(low, high), e| (f64::min(low, *e), f64::max(high, *e)));
    high - low
}

/// Part of the energy that is lost between the first and the last two periods, of which the means are compared [-].
fn lost(energies: &[f64], rolls: bool) -> f64 {
    let periods = 2.0 * std::f64::consts::TAU / (frequency(rolls) * TIME_STEP);
    let n = (periods.round() as usize).min(energies.len());
    let mean = |part: &[f64]| mean(part.iter().copied());
    1.0 - mean(&energies[energies.len() - n..]) / mean(&energies[..n])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::least;

    #[test]
    fn creep_takes_energy_at_the_rate_of_its_points_of_contact() {
        let options = least();
        for one_point in [true, false] {
            let steps = 6000;
            let found = energies(&options, 1.0, Scheme::Midpoint, one_point, steps).unwrap();
            let points = if one_point { 1.0 } else { 2.0 };
            // From the middle of the first two periods to that of the last two.
            let periods = 2.0 * std::f64::consts::TAU / frequency(true);
            let time = steps as f64 * TIME_STEP - periods;
            let expected = 1.0 - (-time * creep_rate(points)).exp();
            // F follows the spring up to the damping of the creep itself and (ω δt)² = 5 % of the scheme.
            let off = lost(&found, true) / expected - 1.0;
            assert!(off.abs() <= 0.06, "{points} points: off by {off}");
        }
    }
}
