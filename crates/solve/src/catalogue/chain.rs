//! A chain on the ground: ball joints, hinge limits, springs and contacts, four laws at once.
//!
//! Links lie along x in maximal coordinates. Joints carry a small velocity error, as a drift that
//! the step corrects; relative rotation about y meets a stop, about z a spring-damper. The last
//! link is heavier by the mass ratio.

use nalgebra::{Matrix3x6, Vector3, Vector6};

use super::Variation;
use super::assembly::{Assembly, EntryDefaults, Side, Solid};
use crate::error::ProblemError;
use crate::law::{Bilateral, Law, Soft, Unilateral};
use crate::problem::Problem;

const LENGTH: f64 = 0.2; // [m]
const THICKNESS: f64 = 0.04; // [m]
const MASS: f64 = 0.3; // [kg]
const JOINT_ERROR: f64 = 1e-3; // [m/s]
const LIMIT_GAP: f64 = 0.02; // [rad]
const STIFFNESS: f64 = 2.0; // [N·m/rad]
const DAMPING: f64 = 0.05; // [N·m·s/rad]
const BEND: f64 = 0.1; // [rad]
const SPEED: f64 = 0.3; // [m/s]
const SPIN: f64 = 2.0; // [rad/s]

pub(super) fn build(variation: &Variation) -> Result<Problem, ProblemError> {
    let defaults = EntryDefaults {
        time_step: 0.01,
        friction: 0.7,
        mass_ratio: 1.0,
        size: 6,
        largest_size: 10_000,
    };
    let mut assembly = Assembly::new("chain", variation, defaults)?;
    let mut links: Vec<Side> = Vec::with_capacity(assembly.size);
    for k in 0..assembly.size {
        let factor = if k + 1 == assembly.size { assembly.mass_ratio } else { 1.0 };
        let centre = Vector3::new(LENGTH * k as f64, 0.0, 0.5 * THICKNESS);
        let size = Vector3::new(LENGTH, THICKNESS, THICKNESS);
        let solid = Solid::cuboid(MASS * factor, size, centre);
        let (linear, angular) = (assembly.normal3() * SPEED, assembly.normal3() * SPIN);
        links.push(assembly.rigid(&solid, linear, angular));
    }
    for (k, pair) in links.windows(2).enumerate() {
        let at = Vector3::new(LENGTH * (k as f64 + 0.5), 0.0, 0.5 * THICKNESS);
        let (on_a, on_b): (Matrix3x6<f64>, Matrix3x6<f64>) = (pair[0].at(at), pair[1].at(at));
        for axis in 0..3 {
            let error = JOINT_ERROR * assembly.random.normal();
            let rows = (on_a.row(axis).transpose(), on_b.row(axis).transpose());
            relate(&mut assembly, Law::Bilateral(Bilateral), error, pair, rows);
        }
        let about = |axis| (pair[0].spin(axis), pair[1].spin(axis));
        let gap = LIMIT_GAP * assembly.random.unit();
        let bias = gap / assembly.time_step;
        relate(&mut assembly, Law::Unilateral(Unilateral), bias, pair, about(Vector3::y()));
        let bend = BEND * assembly.random.normal();
        if let Some((law, bias)) = Soft::spring_damper(STIFFNESS, DAMPING, bend, assembly.time_step)
        {
            relate(&mut assembly, Law::Soft(law), bias, pair, about(Vector3::z()));
        }
    }
    for (k, link) in links.iter().enumerate() {
        for end in [-0.5, 0.5] {
            let point = Vector3::new(LENGTH * (k as f64 + end), 0.0, 0.0);
            assembly.contact(None, link, point, Vector3::z(), 0.0);
        }
    }
    assembly.build()
}

/// One row between two links: `row_B v_B − row_A v_A + bias`.
fn relate(
    assembly: &mut Assembly,
    law: Law,
    bias: f64,
    pair: &[Side],
    (on_a, on_b): (Vector6<f64>, Vector6<f64>),
) {
    let on_a = -on_a;
    let terms = [(pair[0].port, on_a.as_slice()), (pair[1].port, on_b.as_slice())];
    assembly.builder.constraint(law, &[bias], &[0.0], &terms);
}
