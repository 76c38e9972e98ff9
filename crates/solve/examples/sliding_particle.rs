//! A particle thrown onto the ground: the smallest contact problem, built by hand and answered by
//! two solvers.
//!
//! `cargo run --release -p stiction-solve --example sliding_particle`

use stiction_solve::law::{Coulomb, Law};
use stiction_solve::problem::Map;
use stiction_solve::{Goal, Problem, Session, Solution};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    // A particle of 2 kg moves at (1, 0, -0.5) m/s and falls for one step of 10 ms.
    let (mass, gravity, time_step) = (2.0, 9.81, 0.01);
    let velocity = [1.0, 0.0, -0.5 - gravity * time_step];
    let inertia = [mass, 0.0, 0.0, 0.0, mass, 0.0, 0.0, 0.0, mass];

    let mut builder = Problem::builder("sliding particle");
    let particle = builder.dense(&inertia, &velocity.map(|v| mass * v));
    let port = builder.port(particle, Map::Whole);
    let friction = Coulomb::new(0.5).ok_or("friction must be finite and not negative")?;
    // Rows of the contact: normal (z), then two tangents (x, y).
    let rows = [0.0, 0.0, 1.0, 1.0, 0.0, 0.0, 0.0, 1.0, 0.0];
    builder.constraint(Law::Coulomb(friction), &[0.0; 3], &[0.0; 3], &[(port, &rows)]);
    let problem = builder.build()?;

    for name in ["alm", "sap"] {
        let mut solution = Solution::cold(&problem);
        let report = Session::new(name)?.solve(&problem, &Goal::default(), &mut solution)?;
        println!(
            "{name:4} {:8} friction, {}: velocity {:.4?} m/s, impulse {:.4?} N·s",
            report.friction_model.name(),
            report.status.name(),
            solution.velocity,
            solution.impulse,
        );
    }
    Ok(())
}
