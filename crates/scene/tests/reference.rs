//! Models of the examples against other programs: a motion by MuJoCo in `data/motions`, and dynamics
//! by Pinocchio in `data/models`. The headers of the files have versions and tolerances.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::path::Path;

use stiction_mech::{Data, bias_forces, kinematics, mass_matrix, velocities};
use stiction_scene::load;
use stiction_sim::{Scheme, Simulation};

const MOTION: &str = include_str!("../../../data/motions/arm_mujoco.txt");
const DYNAMICS: &str = include_str!("../../../data/models/arm_pinocchio.txt");

/// Lines of a file of reference values: a word and numbers.
fn lines(text: &str) -> Vec<(&str, Vec<f64>)> {
    text.lines()
        .filter(|line| !line.starts_with('#'))
        .map(|line| {
            let (word, numbers) = line.split_once(' ').unwrap();
            (word, numbers.split(' ').map(|x| x.parse().unwrap()).collect())
        })
        .collect()
}

fn example(path: &str) -> stiction_scene::Imported {
    load(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples").join(path)).unwrap()
}

fn assert_close(found: &[f64], expected: &[f64], tolerance: f64, what: &str) {
    assert_eq!(found.len(), expected.len(), "{what}");
    for (index, (a, b)) in found.iter().zip(expected).enumerate() {
        assert!((a - b).abs() <= tolerance, "{what}[{index}]: {a}, expected {b}");
    }
}

#[test]
fn the_arm_of_the_examples_moves_as_in_mujoco_under_its_euler_integrator() {
    // The tolerance of the file's header.
    let tolerance = 1e-9;
    let lines = lines(MOTION);
    let header = |word: &str| &lines.iter().find(|(found, _)| *found == word).unwrap().1;
    let arm = example("models/arm.xml");
    let mut settings = arm.settings.clone();
    assert_eq!(settings.time_step, header("time_step")[0]);
    settings.scheme = Scheme::Euler;
    let mut simulation = Simulation::new(arm.world.clone(), settings).unwrap();
    simulation.state_mut().q.copy_from_slice(header("q0"));
    simulation.state_mut().v.copy_from_slice(header("v0"));
    simulation.input_mut().control.copy_from_slice(header("control"));
    let mut compared = 0;
    for (word, expected) in &lines {
        let state = match *word {
            "q" => {
                for _ in 0..50 {
                    let _ = simulation.step().unwrap();
                    assert!(simulation.contacts().is_empty());
                }
                &simulation.state().q
            }
            "v" => &simulation.state().v,
            _ => continue,
        };
        compared += 1;
        let what = format!("{word} at {:.2} s", simulation.state().time);
        assert_close(state, expected, tolerance, &what);
    }
    assert_eq!(compared, 20);
}

#[test]
fn the_urdf_arm_of_the_examples_has_the_dynamics_that_pinocchio_computes() {
    // The tolerance of the file's header.
    let tolerance = 1e-12;
    let arm = example("scenes/models/arm.urdf");
    let model = arm.world.model();
    assert_eq!(model.nv(), 2);
    let flange = model.body("flange").unwrap();
    let mut data = Data::new(model);
    let (mut q, mut compared) = (Vec::new(), 0);
    for (word, expected) in lines(DYNAMICS) {
        match word {
            "q" => q = expected,
            "v" => {
                kinematics(model, &q, &mut data);
                velocities(model, &expected, &mut data);
                bias_forces(model, &expected, &mut data);
                mass_matrix(model, &mut data);
            }
            "mass" => assert_close(&data.mass, &expected, tolerance, &format!("mass at {q:?}")),
            "bias" => assert_close(&data.bias, &expected, tolerance, &format!("bias at {q:?}")),
            "flange" => {
                let at = data.body_pose[flange.0].translation.vector;
                assert_close(at.as_slice(), &expected, tolerance, &format!("flange at {q:?}"));
                compared += 1;
            }
            other => panic!("{other}: no word of this file"),
        }
    }
    assert_eq!(compared, 4);
}
