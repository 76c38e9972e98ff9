//! Scenarios with their own physical checks. Each is a demonstration, a benchmark and a
//! test. To add one: write `scenarios/<name>.rs` with a `SCENARIO`, and add one line to [`SCENARIOS`].

pub mod anisotropic_slide;
pub mod arch;
pub mod arm;
pub mod arm_piling;
pub mod bolt_nut;
pub mod bouncing_ball;
pub mod box_slide;
pub mod bubble_gripper;
pub mod cable_coiling;
pub mod cable_winding;
pub mod cantilever;
pub mod card_house;
pub mod clutter;
pub mod cond;
pub mod cradle;
pub mod crossed_disc;
pub mod dish_piling;
pub mod dish_sliding;
pub mod elastic_arch;
pub mod field_parts;
pub mod four_bar;
pub mod granular;
pub mod hanging_cable;
pub mod incline;
mod masonry;
pub mod nut_assembly;
pub mod parts;
pub mod piling_check;
pub mod piling_plan;
pub mod pouring;
pub mod pouring_check;
pub mod pouring_plan;
pub mod pressed_block;
pub mod pressed_cylinder;
pub mod quadruped_heap;
pub mod robots;
pub mod rolling_sphere;
pub mod slider_crank;
pub mod slip_control;
pub mod soft_ball;
pub mod soft_gripper;
pub mod soft_mat;
pub mod soft_parts;
pub mod spider;
pub mod spring_cylinder;
pub mod squeezed_ball;
pub mod stack;
pub mod twisted_rod;

use crate::error::StudyError;
use crate::parameters::{Parameter, Parameters};
use stiction_scene::Scene;
use stiction_sim::Settings;

/// One line of [`SCENARIOS`].
pub struct Scenario {
    /// Name on the command line.
    pub name: &'static str,
    /// Source: a key of the references, or empty for a classic.
    pub cite: &'static str,
    /// Description in one line.
    pub about: &'static str,
    /// Parameters.
    pub parameters: &'static [Parameter],
    /// Builds it.
    pub build: fn(&Parameters) -> Result<Scene, StudyError>,
}

/// Every scenario, in alphabetical order.
pub static SCENARIOS: &[Scenario] = &[
    anisotropic_slide::SCENARIO,
    arch::SCENARIO,
    arm::SCENARIO,
    arm_piling::SCENARIO,
    bolt_nut::SCENARIO,
    bouncing_ball::SCENARIO,
    box_slide::SCENARIO,
    bubble_gripper::SCENARIO,
    cable_coiling::SCENARIO,
    cable_winding::SCENARIO,
    cantilever::SCENARIO,
    card_house::SCENARIO,
    clutter::SCENARIO,
    cradle::SCENARIO,
    dish_piling::SCENARIO,
    dish_sliding::SCENARIO,
    elastic_arch::SCENARIO,
    four_bar::SCENARIO,
    granular::SCENARIO,
    hanging_cable::SCENARIO,
    incline::SCENARIO,
    nut_assembly::SCENARIO,
    pouring::SCENARIO,
    pressed_block::SCENARIO,
    pressed_cylinder::SCENARIO,
    quadruped_heap::SCENARIO,
    rolling_sphere::SCENARIO,
    slider_crank::SCENARIO,
    slip_control::SCENARIO,
    soft_ball::SCENARIO,
    soft_gripper::SCENARIO,
    soft_mat::SCENARIO,
    spider::SCENARIO,
    spring_cylinder::SCENARIO,
    squeezed_ball::SCENARIO,
    stack::SCENARIO,
    twisted_rod::SCENARIO,
];

/// Sizes of small variants.
const SMALL: [(&str, f64); 7] = [
    ("bodies", 8.0),
    ("cells", 2.0),
    ("cells-x", 8.0),
    ("cells-y", 2.0),
    ("links", 40.0),
    ("robots", 1.0),
    ("spheres", 8.0),
];

impl Scenario {
    /// Parameters of a small variant, if it has a size, for quick
    /// demonstrations.
    pub fn small(&self) -> Vec<(String, String)> {
        let size = |p: &Parameter| SMALL.iter().find(|(name, _)| *name == p.name).map(|(_, n)| *n);
        let setting = |p: &Parameter| Some((p.name.to_owned(), size(p)?.max(p.least).to_string()));
        self.parameters.iter().filter_map(setting).collect()
    }
}

/// Builds a scenario. Values by name are parameters if the scenario has the name, else settings of the step.
pub fn scenario(name: &str, set: &[(String, String)]) -> Result<Scene, StudyError> {
    let scenario = SCENARIOS.iter().find(|s| s.name == name).ok_or_else(|| {
        let known = SCENARIOS.iter().map(|s| s.name).collect::<Vec<_>>().join(", ");
        StudyError::UnknownScenario { found: name.to_owned(), known }
    })?;
    let mut parameters = Parameters::new(scenario.name, scenario.parameters);
    let (own, rest): (Vec<_>, Vec<_>) = set.iter().partition(|(key, _)| parameters.knows(key));
    for (key, value) in own {
        parameters.set(key, value)?;
    }
    // Unknown names are refused before anything is built.
    for (key, value) in &rest {
        Settings::default().set(key, value)?;
    }
    let mut scene = (scenario.build)(&parameters)?;
    for (key, value) in &rest {
        scene.settings.set(key, value)?;
    }
    Ok(scene)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_scenario_is_named_once_in_order_and_described() {
        assert!(SCENARIOS.is_sorted_by(|a, b| a.name < b.name));
        for scenario in SCENARIOS {
            assert!(!scenario.about.is_empty(), "{}", scenario.name);
            for p in scenario.parameters {
                assert!((p.least..=p.most).contains(&p.default), "{} {}", scenario.name, p.name);
                assert!(!p.about.is_empty(), "{} {}", scenario.name, p.name);
            }
        }
    }

    #[test]
    fn unknown_names_are_refused_with_the_known_ones() {
        assert!(scenario("no-such-scene", &[]).is_err());
    }
}
