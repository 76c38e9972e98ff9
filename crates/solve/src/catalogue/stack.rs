//! A heavy box on light ones: ill-conditioned for solvers that sweep over single contacts.
//!
//! Each interface has a ring of contacts. Without a wrench nothing moves and the impulses of an
//! interface carry the weight above it.

use nalgebra::Vector3;

use super::Variation;
use super::assembly::{Assembly, EntryDefaults, Side, Solid, ring};
use crate::error::ProblemError;
use crate::problem::Problem;

const SIZE: [f64; 3] = [0.2, 0.2, 0.05]; // [m]
const RING: f64 = 0.09; // [m]
pub(super) const POINTS: usize = 8;
pub(super) const LIGHT: f64 = 0.1; // [kg]
pub(super) const TIME_STEP: f64 = 1.0 / 240.0; // [s]

pub(super) fn build(variation: &Variation) -> Result<Problem, ProblemError> {
    let defaults = EntryDefaults {
        time_step: TIME_STEP,
        friction: 0.5,
        mass_ratio: 50.0,
        size: 4,
        largest_size: 10_000,
    };
    let mut assembly = Assembly::new("stack", variation, defaults)?;
    let [_, _, height] = SIZE;
    let mut below: Option<Side> = None;
    for level in 0..assembly.size {
        let top = level + 1 == assembly.size;
        let mass = if top { LIGHT * assembly.mass_ratio } else { LIGHT };
        let base = Vector3::z() * (height * level as f64);
        let solid = Solid::cuboid(mass, SIZE.into(), base + Vector3::z() * (0.5 * height));
        let side = assembly.rigid(&solid, Vector3::zeros(), Vector3::zeros());
        for (point, _) in ring(base, RING, POINTS) {
            assembly.contact(below.as_ref(), &side, point, Vector3::z(), 0.0);
        }
        below = Some(side);
    }
    assembly.build()
}
