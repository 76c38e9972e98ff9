//! A shaken wall of cubic bricks in running bond, with contacts on all joints.
//!
//! Every second course is shifted by half a brick. Patches of four corners lie between courses and
//! between neighbours; many of them end up with slip speeds near zero, which is what makes the
//! problem slow for augmented Lagrangians.

use nalgebra::Vector3;

use super::Variation;
use super::assembly::{Assembly, EntryDefaults, Side, Solid};
use crate::error::ProblemError;
use crate::problem::Problem;

const EDGE: f64 = 0.1; // [m]
const LIGHTEST: f64 = 0.5; // [kg]
const SPEED: f64 = 0.1; // [m/s]
const SPIN: f64 = 0.5; // [rad/s]

pub(super) fn build(variation: &Variation) -> Result<Problem, ProblemError> {
    let defaults = EntryDefaults {
        time_step: 0.01,
        friction: 0.5,
        mass_ratio: 4.0,
        size: 3,
        largest_size: 100,
    };
    let mut assembly = Assembly::new("box-wall", variation, defaults)?;
    let count = assembly.size;
    let half = 0.5 * EDGE;
    let mut below: Vec<(f64, Side)> = Vec::new();
    for course in 0..count {
        let base = EDGE * course as f64;
        let shift = if course % 2 == 1 { half } else { 0.0 };
        let mut bricks: Vec<(f64, Side)> = Vec::with_capacity(count);
        for k in 0..count {
            let x = EDGE * k as f64 + shift;
            let mass = LIGHTEST * assembly.mass_ratio.powf(assembly.random.unit());
            let centre = Vector3::new(x, 0.0, base + half);
            let solid = Solid::cuboid(mass, Vector3::from_element(EDGE), centre);
            let (linear, angular) = (assembly.normal3() * SPEED, assembly.normal3() * SPIN);
            let brick = assembly.rigid(&solid, linear, angular);
            let mut bed = |under: Option<&Side>, from: f64, to: f64| {
                for (px, py) in [(from, -half), (to, -half), (to, half), (from, half)] {
                    assembly.contact(under, &brick, Vector3::new(px, py, base), Vector3::z(), 0.0);
                }
            };
            if course == 0 {
                bed(None, x - half, x + half);
            }
            for (other, under) in &below {
                // Neighbours in a course share an edge only, up to round-off in their positions.
                if (other - x).abs() < 0.75 * EDGE {
                    bed(Some(under), x.max(*other) - half, x.min(*other) + half);
                }
            }
            if let Some((_, left)) = bricks.last() {
                for (y, z) in [(-half, 0.0), (half, 0.0), (half, EDGE), (-half, EDGE)] {
                    let point = Vector3::new(x - half, y, base + z);
                    assembly.contact(Some(left), &brick, point, Vector3::x(), 0.0);
                }
            }
            bricks.push((x, brick));
        }
        below = bricks;
    }
    assembly.build()
}
