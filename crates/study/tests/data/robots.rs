//! Robots of the MuJoCo Menagerie put into an empty world.

use std::path::{Path, PathBuf};

use nalgebra::Isometry3;
use stiction_scene::load;
use stiction_sim::{Base, Simulation, state_hash};
use stiction_testkit::data::NamedTest;
use stiction_testkit::trials;

use crate::common::{empty, mass};

/// Tests of this module.
pub const TRIALS: &[NamedTest] =
    trials![a_robot_from_a_file_put_into_nothing_is_the_same_to_the_last_bit];

fn a_robot_from_a_file_put_into_nothing_is_the_same_to_the_last_bit(folder: &Path) {
    let mut scenes = 0;
    let folders = std::fs::read_dir(folder).unwrap();
    for robot in folders.map(|entry| entry.unwrap().path()).filter(|path| path.is_dir()) {
        let files = std::fs::read_dir(&robot).unwrap().map(|entry| entry.unwrap().path());
        let is_scene =
            |path: &PathBuf| path.file_name().unwrap().to_string_lossy().starts_with("scene");
        let Some(file) = files.filter(is_scene).min() else { continue };
        // The data tests of the crate `scene` list the robots that are refused.
        let Ok(robot) = load(&file) else { continue };
        scenes += 1;
        let mut builder = empty(&robot.world);
        builder.add_world(&robot.world, "", Isometry3::identity(), Base::Declared).unwrap();
        let again = builder.build().unwrap();
        assert_eq!(mass(&robot.world), mass(&again), "{}", file.display());
        let simulation = |world| Simulation::new(world, robot.settings.clone()).unwrap();
        let mut both = [simulation(robot.world.clone()), simulation(again.into())];
        for _ in 0..5 {
            for simulation in &mut both {
                let _ = simulation.step().unwrap();
            }
            let [a, b] = both.each_mut().map(|simulation| {
                let readings = simulation.sensor_data().iter().map(|x| x.to_bits());
                (readings.collect::<Vec<_>>(), state_hash(simulation.state()))
            });
            assert_eq!(a, b, "{}", file.display());
        }
    }
    assert!(scenes > 0, "no scene*.xml in the folders of {}", folder.display());
}
