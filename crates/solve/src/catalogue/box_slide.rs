//! A cube that slides on the ground on its four lower corners.
//!
//! All contacts slip with the same speed s, so the solution is known in closed form: exact friction
//! reduces the speed by μ g δt at zero normal velocity; the convex relaxation reduces it by
//! μ (μ s + g δt)/(1 + μ²) and has a normal velocity of μ times the remaining speed.

use nalgebra::Vector3;

use super::Variation;
use super::assembly::{Assembly, EntryDefaults, Solid};
use crate::error::ProblemError;
use crate::problem::Problem;

const EDGE: f64 = 0.2; // [m]
const MASS: f64 = 0.5; // [kg]
const VELOCITY: [f64; 3] = [1.0, 0.5, 0.0]; // [m/s]

pub(super) fn build(variation: &Variation) -> Result<Problem, ProblemError> {
    let defaults =
        EntryDefaults { time_step: 0.01, friction: 0.2, mass_ratio: 1.0, size: 1, largest_size: 1 };
    let mut assembly = Assembly::new("box-slide", variation, defaults)?;
    let half = 0.5 * EDGE;
    let solid = Solid::cuboid(MASS, Vector3::from_element(EDGE), Vector3::new(0.0, 0.0, half));
    let cube = assembly.rigid(&solid, Vector3::from(VELOCITY), Vector3::zeros());
    for (x, y) in [(-half, -half), (half, -half), (half, half), (-half, half)] {
        assembly.contact(None, &cube, Vector3::new(x, y, 0.0), Vector3::z(), 0.0);
    }
    assembly.build()
}
