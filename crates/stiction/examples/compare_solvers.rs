//! One contact problem, several solvers, one residual measure: poses the problem of a step of a pile and
//! solves it with each.
//!
//! Run it with `cargo run --release --example compare_solvers`.

use stiction::solve::{Goal, Session, Solution};
use stiction::study;

/// Poses one problem and solves it five times.
pub fn main() -> Result<(), Box<dyn std::error::Error>> {
    // A pile of two dozen things, a second into its fall.
    let set = [("bodies".to_owned(), "24".to_owned())];
    let mut scene_run = study::scenario("clutter", &set)?.start()?;
    for _ in 0..100 {
        let _ = scene_run.step()?;
    }

    // A, b, J and the laws of the coming step: the whole input of a solver.
    let problem = scene_run.simulation.problem()?.ok_or("nothing touches")?.clone();
    println!(
        "{} contacts, {} rows, {} degrees of freedom",
        problem.contacts(),
        problem.rows(),
        problem.dofs()
    );

    // Each solver has its own friction model; the residual is measured on the problem itself.
    let goal = Goal { tolerance: 1e-6, ..Goal::default() };
    for name in ["alm", "canal", "subadmm", "pgs", "sap"] {
        let mut session = Session::new(name)?;
        let mut solution = Solution::default();
        solution.reset(&problem);
        let report = session.solve(&problem, &goal, &mut solution)?;
        println!(
            "{name:8} {:?} after {} iterations in {:.2} ms: {:.1e} m/s ({})",
            report.status,
            report.iterations,
            1e3 * report.seconds,
            report.residuals.of(report.friction_model),
            report.friction_model.name(),
        );
    }
    Ok(())
}
