//! Nested dishes: each rests in the one below along a flat and a steep ring of contacts.
//!
//! Far more rows than degrees of freedom, and a wedge all around that can jam. The lowest dish
//! rests in a fixed one. Dishes grow heavier upwards by the mass ratio.

use nalgebra::Vector3;

use super::Variation;
use super::assembly::{Assembly, EntryDefaults, Side, Solid, ring};
use crate::error::ProblemError;
use crate::problem::Problem;

const MASS: f64 = 0.3; // of the lowest dish [kg]
const PITCH: f64 = 0.02; // between dishes [m]
const FLAT_RING: f64 = 0.05; // [m]
const STEEP_RING: f64 = 0.10; // [m]
const RIM: f64 = 0.03; // height of the steep ring over the flat one [m]
const STEEP_ANGLE: f64 = 55.0; // of the steep normals from the vertical [deg]
const POINTS: usize = 12; // per ring
const SPEED: f64 = 0.05; // [m/s]
const SPIN: f64 = 0.5; // [rad/s]

pub(super) fn build(variation: &Variation) -> Result<Problem, ProblemError> {
    let defaults = EntryDefaults {
        time_step: 1.0 / 240.0,
        friction: 0.3,
        mass_ratio: 1.0,
        size: 4,
        largest_size: 2_000,
    };
    let mut assembly = Assembly::new("dishes", variation, defaults)?;
    let (sine, cosine) = STEEP_ANGLE.to_radians().sin_cos();
    let last = (assembly.size - 1).max(1) as f64;
    let mut below: Option<Side> = None;
    for level in 0..assembly.size {
        let base = Vector3::z() * (PITCH * level as f64);
        let mass = MASS * assembly.mass_ratio.powf(level as f64 / last);
        let solid = Solid::tube(mass, [0.0, STEEP_RING], RIM, base + Vector3::z() * (0.5 * RIM));
        let (linear, angular) = (assembly.normal3() * SPEED, assembly.normal3() * SPIN);
        let dish = assembly.rigid(&solid, linear, angular);
        for (point, _) in ring(base, FLAT_RING, POINTS) {
            assembly.contact(below.as_ref(), &dish, point, Vector3::z(), 0.0);
        }
        for (point, outward) in ring(base + Vector3::z() * RIM, STEEP_RING, POINTS) {
            let normal = cosine * Vector3::z() - sine * outward;
            assembly.contact(below.as_ref(), &dish, point, normal, 0.0);
        }
        below = Some(dish);
    }
    assembly.build()
}
