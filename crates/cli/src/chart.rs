//! Chart of a run: penetration, residual, number of contacts and time per step over simulated time.

use stiction_plot::{Axis, Figure, Panel, Series};
use stiction_sim::StepReport;

/// Values of each step, collected during the run.
#[derive(Debug, Default)]
pub struct Chart {
    contacts: Vec<(f64, f64)>,
    microseconds: Vec<(f64, f64)>,
    violation: Vec<(f64, f64)>,
    penetration: Vec<(f64, f64)>,
}

impl Chart {
    /// Adds a step that ended at `time` [s].
    pub fn add(&mut self, time: f64, report: &StepReport) {
        self.contacts.push((time, report.contacts as f64));
        self.microseconds.push((time, 1e6 * report.phases.total().as_secs_f64()));
        self.violation.push((time, report.residuals.of(report.friction_model)));
        self.penetration.push((time, report.penetration));
    }

    /// The figure.
    pub fn figure(self, target: &str, solver: &str) -> Figure {
        // A logarithmic axis cannot show zero.
        let positive = |points: Vec<(f64, f64)>| -> Vec<(f64, f64)> {
            points.into_iter().filter(|(_, y)| *y > 0.0).collect()
        };
        let time = || Axis::linear("simulated time [s]");
        let errors = Panel::new(time(), Axis::log("error [m/s, m]"))
            .series(Series::line("residual", positive(self.violation)))
            .series(Series::line("penetration", positive(self.penetration)));
        let count = Panel::new(time(), Axis::linear("contacts [-]"))
            .series(Series::line("contacts", self.contacts));
        let cost = Panel::new(time(), Axis::log("time per step [µs]"))
            .series(Series::line("time per step", positive(self.microseconds)));
        Figure::new(format!("Run of {target}"))
            .subtitle(format!("solver {solver}; residuals are measured on the problem"))
            .panel(errors)
            .panel(count)
            .panel(cost)
    }
}
