//! Loads a robot from a file, says what is in it, and lets it move for a second.
//!
//! Run it with `cargo run --release --example load_robot -- panda.xml`; without a file it takes the
//! arm with a gripper among the example scenes.

use std::path::{Path, PathBuf};

use stiction::scene;
use stiction::sim::StepStatus;

/// Shows the file of the call.
pub fn main() -> Result<(), Box<dyn std::error::Error>> {
    let example =
        concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/scenes/arm-and-gripper.toml");
    let file = std::env::args_os().nth(1).map_or_else(|| PathBuf::from(example), PathBuf::from);
    show(&file)
}

/// Loads a file and prints what is in it and what it does.
pub fn show(file: &Path) -> Result<(), Box<dyn std::error::Error>> {
    // MJCF, URDF or a scene of TOML: the ending of the name decides.
    let robot = scene::load(file)?;
    let model = robot.world.model();
    println!("{}: nq {}, nv {}, nu {}", robot.name, model.nq(), model.nv(), model.nu());
    for joint in model.joints() {
        println!("  {} ({}): q{:?}", joint.spec.name, joint.spec.kind.entry().name, joint.q);
    }

    // Unsupported features of the file, never dropped in silence.
    for one in robot.unsupported.iter().filter(|one| one.physical) {
        println!("  unsupported: {}: {}", one.place, one.what);
    }

    // A scene has the start, the controllers and the checks of the file; `start` makes a simulation of it.
    let mut scene_run = robot.scene()?.start()?;
    let steps = (1.0 / scene_run.simulation.settings().time_step).round() as usize;
    for _ in 0..steps {
        let report = scene_run.step()?;
        if report.status() != StepStatus::Ok {
            println!("  a step ended with {report}");
        }
    }
    for joint in model.joints().iter().filter(|joint| joint.spec.kind.nv() == 1) {
        let q = scene_run.simulation.state().q[joint.q.start];
        println!("  {} went from {:.3} to {q:.3}", joint.spec.name, model.q0()[joint.q.start]);
    }
    for contact in scene_run.simulation.contacts() {
        let [a, b] = contact.bodies.map(|body| model.bodies()[body].spec.name.as_str());
        println!("  \"{a}\" touches \"{b}\" with {:.3} N", contact.force.norm());
    }
    Ok(())
}
