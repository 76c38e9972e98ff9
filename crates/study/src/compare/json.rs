//! A comparison as one JSON object: runs as `run` reports them, captured steps with their traces.

use serde_json::{Value, json};
use stiction_solve::{Report, Residuals};

use super::{CapturedStep, ComparedSolver, Comparison};

impl Comparison {
    /// The figures as a JSON object; numbers that are not finite become null.
    pub fn json(&self) -> Value {
        let reference = self.reference.map(|k| self.compared_solvers[k].solver.as_str());
        json!({
            "target": self.target,
            "steps": self.steps,
            "time_step": self.settings.time_step,
            "tolerance": self.settings.tolerance,
            "reference": reference,
            "stopped": self.stopped,
            "solvers": self.compared_solvers.iter().map(|c| c.json(self.steps)).collect::<Vec<_>>(),
            "captured": self.captured.iter().map(|c| c.json(&self.compared_solvers)).collect::<Vec<_>>(),
        })
    }
}

impl ComparedSolver {
    fn json(&self, steps: usize) -> Value {
        let mut document = match &self.run {
            Ok(run) => {
                let mut document = run.summary.json();
                document["notes"] = json!(run.notes);
                document["apart"] = json!(run.apart);
                document
            }
            Err(why) => json!({"error": why}),
        };
        document["solver"] = json!(self.solver);
        document["friction_model"] = json!(self.friction_model.name());
        document["finished"] = json!(self.finished(steps));
        if let Some(own) = self.own_residual() {
            document["residual"]["own"] = json!({"mean": own.mean(), "max": own.max()});
        }
        document
    }
}

impl CapturedStep {
    fn json(&self, compared_solvers: &[ComparedSolver]) -> Value {
        let answers: Vec<Value> = compared_solvers
            .iter()
            .zip(&self.answers)
            .map(|(compared, answer)| match answer {
                Ok(report) => of_report(report),
                Err(why) => json!({"solver": compared.solver, "error": why}),
            })
            .collect();
        json!({
            "step": self.step,
            "reason": self.reason.name(),
            "contacts": self.contacts,
            "rows": self.rows,
            "dofs": self.dofs,
            "reference_velocity": self.reference_velocity,
            "answers": answers,
        })
    }
}

/// A solve, as `solve` reports it, and its trace in columns.
fn of_report(report: &Report) -> Value {
    let column = |of: fn(&stiction_solve::monitor::TracePoint) -> f64| -> Vec<f64> {
        report.trace.iter().map(of).collect()
    };
    let iteration: Vec<usize> = report.trace.iter().map(|point| point.iteration).collect();
    json!({
        "solver": report.solver,
        "friction_model": report.friction_model.name(),
        "status": report.status.name(),
        "iterations": report.iterations,
        "residual": residuals_json(&report.residuals),
        "wall_seconds": report.seconds,
        "trace": {
            "iteration": iteration,
            "seconds": column(|point| point.seconds),
            "residual": column(|point| point.residual),
            "momentum": column(|point| point.momentum),
            "slack": column(|point| point.slack),
            "cost": column(|point| point.cost),
            "complementarity": column(|point| point.complementarity),
        },
    })
}

/// Residuals by the names of the contract.
pub fn residuals_json(residuals: &Residuals) -> Value {
    json!({
        "momentum": residuals.momentum,
        "coulomb": residuals.coulomb,
        "convex": residuals.convex,
        "natural_map": residuals.natural_map,
        "reference_velocity": residuals.reference_velocity,
    })
}
