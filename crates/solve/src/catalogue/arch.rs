//! A semicircular masonry arch of equal blocks between two abutments.
//!
//! Four contacts per joint. With enough friction and thickness it stands: nothing moves although
//! no glue holds the blocks. The keystone is heavier by the mass ratio.

use std::f64::consts::PI;

use nalgebra::{Matrix3, Vector3};

use super::Variation;
use super::assembly::{Assembly, EntryDefaults, Side, Solid};
use crate::error::ProblemError;
use crate::problem::Problem;

const INNER: f64 = 0.9; // [m]
const OUTER: f64 = 1.1; // [m]
const DEPTH: f64 = 0.2; // [m]
const DENSITY: f64 = 2300.0; // [kg/m³]

pub(super) fn build(variation: &Variation) -> Result<Problem, ProblemError> {
    let defaults = EntryDefaults {
        time_step: 0.01,
        friction: 1.0,
        mass_ratio: 1.0,
        size: 7,
        largest_size: 1_000,
    };
    let mut assembly = Assembly::new("arch", variation, defaults)?;
    let count = assembly.size;
    let sector = PI / count as f64;
    let mut below: Option<Side> = None;
    for k in 0..=count {
        // The arch runs from the abutment at +x over the crown to the one at −x.
        let angle = sector * k as f64;
        let outward = Vector3::new(angle.cos(), 0.0, angle.sin());
        let along = Vector3::new(-angle.sin(), 0.0, angle.cos());
        let above = (k < count).then(|| {
            let factor = if 2 * k + 1 == count { assembly.mass_ratio } else { 1.0 };
            let solid = voussoir(angle + 0.5 * sector, 0.5 * sector, DENSITY * factor);
            assembly.rigid(&solid, Vector3::zeros(), Vector3::zeros())
        });
        let corners = [(INNER, -0.5), (OUTER, -0.5), (OUTER, 0.5), (INNER, 0.5)];
        for (radius, y) in corners {
            let point = radius * outward + Vector3::y() * (y * DEPTH);
            match (&below, &above) {
                (below, Some(above)) => {
                    assembly.contact(below.as_ref(), above, point, along, 0.0);
                }
                (Some(last), None) => assembly.contact(None, last, point, -along, 0.0),
                (None, None) => {}
            }
        }
        below = above;
    }
    assembly.build()
}

/// A sector of the arch about the direction `middle`, with half opening angle `half` [rad].
fn voussoir(middle: f64, half: f64, density: f64) -> Solid {
    let (inner, outer) = (INNER * INNER, OUTER * OUTER);
    let mass = density * DEPTH * half * (outer - inner);
    let radius = 2.0 / 3.0 * half.sin() / half * (OUTER.powi(3) - INNER.powi(3)) / (outer - inner);
    // Second moments ∫ x² dm along the middle direction, the depth and the tangent.
    let polar = 0.5 * mass * (inner + outer);
    let share = (2.0 * half).sin() / (2.0 * half);
    let radial = 0.5 * polar * (1.0 + share) - mass * radius * radius;
    let tangential = 0.5 * polar * (1.0 - share);
    let depth = mass * DEPTH * DEPTH / 12.0;
    let local = Vector3::new(depth + tangential, radial + tangential, radial + depth);
    let (sine, cosine) = middle.sin_cos();
    let axes = Matrix3::new(cosine, 0.0, -sine, 0.0, 1.0, 0.0, sine, 0.0, cosine);
    let mut inertia = axes * Matrix3::from_diagonal(&local) * axes.transpose();
    inertia = 0.5 * (inertia + inertia.transpose());
    Solid { mass, inertia, centre: Vector3::new(radius * cosine, 0.0, radius * sine) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_voussoir_has_the_inertia_of_its_points() {
        // Midpoint quadrature over the sector; its relative error is of the order of 1/cells².
        let (middle, half, cells) = (0.7, 0.4, 200);
        let solid = voussoir(middle, half, DENSITY);
        let (mut mass, mut first, mut second) = (0.0, Vector3::zeros(), Matrix3::zeros());
        for i in 0..cells {
            for j in 0..cells {
                let at = |k: usize| (k as f64 + 0.5) / cells as f64;
                let radius = INNER + (OUTER - INNER) * at(i);
                let angle = middle + half * (2.0 * at(j) - 1.0);
                let area = (OUTER - INNER) * 2.0 * half * radius / (cells * cells) as f64;
                let (dm, p) = (
                    DENSITY * DEPTH * area,
                    Vector3::new(radius * angle.cos(), 0.0, radius * angle.sin()),
                );
                mass += dm;
                first += dm * p;
                second += dm * p * p.transpose();
            }
        }
        second[(1, 1)] = mass * DEPTH * DEPTH / 12.0;
        let centre = first / mass;
        second -= mass * centre * centre.transpose();
        let inertia = Matrix3::identity() * second.trace() - second;
        let bound = 10.0 / (cells * cells) as f64;
        assert!((solid.mass / mass - 1.0).abs() <= bound);
        assert!((solid.centre - centre).norm() <= bound);
        assert!((solid.inertia - inertia).norm() <= bound * mass);
    }
}
