//! Centre of mass, its velocity and the angular momentum of a body with all that it carries.
//!
//! L = Σ I_i ω_i + m_i (c_i − c) × (ċ_i − ċ) about their centre of mass c. Cost: the bodies of the subtree.

use nalgebra::{Matrix3, Point3, Vector3};
use std::ops::Range;
use stiction_mech::{BodyId, angular_velocity, point_velocity};

use super::frame::View;

/// Mass, centre and velocity of some bodies; world axes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct SubtreeMotion {
    /// Centre of mass [m]; the origin of the first body if they have no mass.
    pub centre: Vector3<f64>,
    /// Its velocity [m/s].
    pub velocity: Vector3<f64>,
}

/// Mass, centre of mass [m] and its velocity [m/s] of the bodies that have mass.
fn masses(
    view: View,
    bodies: Range<usize>,
) -> impl Iterator<Item = (usize, f64, Vector3<f64>, Vector3<f64>)> {
    bodies.filter_map(move |body| {
        let own = view.model.bodies()[body].spec.mass.as_ref()?;
        let centre = (view.data.body_pose[body] * Point3::from(own.com())).coords;
        let velocity = point_velocity(view.model, view.data, BodyId(body), centre);
        Some((body, own.mass(), centre, velocity))
    })
}

impl SubtreeMotion {
    /// That of a range of bodies.
    pub fn of(view: View, bodies: Range<usize>) -> Self {
        let root = view.data.body_pose[bodies.start].translation.vector;
        let (mut mass, mut moment, mut momentum) = (0.0, Vector3::zeros(), Vector3::zeros());
        for (_, m, centre, velocity) in masses(view, bodies) {
            mass += m;
            moment += m * centre;
            momentum += m * velocity;
        }
        if mass > 0.0 {
            Self { centre: moment / mass, velocity: momentum / mass }
        } else {
            Self { centre: root, velocity: Vector3::zeros() }
        }
    }
}

/// Angular momentum of bodies about their centre of mass [kg·m²/s], world axes.
pub(super) fn angular_momentum(view: View, bodies: Range<usize>) -> Vector3<f64> {
    let whole = SubtreeMotion::of(view, bodies.clone());
    let mut sum = Vector3::zeros();
    for (body, m, centre, velocity) in masses(view, bodies) {
        let R = view.data.body_pose[body].rotation.to_rotation_matrix().into_inner();
        let own = view.model.bodies()[body].spec.mass.as_ref();
        let I = own.map_or_else(Matrix3::zeros, |mass| R * mass.inertia() * R.transpose());
        sum += I * angular_velocity(view.data, BodyId(body))
            + m * (centre - whole.centre).cross(&(velocity - whole.velocity));
    }
    sum
}
