//! Length of a tendon and its gradient over the velocities.
//!
//! The length of a straight segment from a to b with unit vector u changes at the rate
//! u·(v_b − v_a). Only velocities that move one end and not the other can change it, so the loop over
//! ancestors stops at the first velocity that moves both. Where a string touches a surface, the
//! tangent points count as fixed on it ([`super::wrap`]). A segment of zero length has no direction
//! and adds nothing to the gradient.

use super::path::{TendonPath, TendonSite, Waypoint, WrapShape, WrapSurface};
use super::{Tendon, wrap};
use crate::body::BodyId;
use crate::data::Data;
use crate::force::relative_dofs::{for_each_relative_dof, point_rate};
use crate::model::Model;
use nalgebra::Vector3;

/// A point P of a body.
struct BodyPoint {
    body: BodyId,
    /// Position in the world frame [m].
    p_WP: Vector3<f64>,
}

impl BodyPoint {
    fn site(site: &TendonSite, data: &Data) -> Self {
        let X_WB = &data.body_pose[site.body.0];
        Self { body: site.body, p_WP: X_WB.translation.vector + X_WB.rotation * site.point }
    }
}

/// Sums the length of a string segment by segment and calls `visit(a, b, pull)` for every straight
/// segment, with its ends and the unit vector from a to b divided by the divisor of the branch.
struct StringMeasure<'a, V> {
    data: &'a Data,
    visit: V,
    length: f64,
    /// One over the divisor of the branch.
    weight: f64,
}

impl<V: FnMut(&BodyPoint, &BodyPoint, Vector3<f64>)> StringMeasure<'_, V> {
    fn add_straight(&mut self, a: &BodyPoint, b: &BodyPoint) {
        let p_AB_W = b.p_WP - a.p_WP;
        let length = p_AB_W.norm();
        self.length += self.weight * length;
        if length > 0.0 {
            (self.visit)(a, b, p_AB_W * (self.weight / length));
        }
    }

    fn add_wrapped(&mut self, a: &BodyPoint, surface: &WrapSurface, b: &BodyPoint) {
        let X_WS = self.data.body_pose[surface.body.0] * surface.pose;
        let to_surface_frame = |p_WP: Vector3<f64>| {
            X_WS.rotation.inverse_transform_vector(&(p_WP - X_WS.translation.vector))
        };
        let side_S =
            surface.side.map(|side| to_surface_frame(BodyPoint::site(&side, self.data).p_WP));
        let wrap = match surface.shape {
            WrapShape::Sphere => wrap::sphere,
            WrapShape::Cylinder => wrap::cylinder,
        };
        match wrap(to_surface_frame(a.p_WP), to_surface_frame(b.p_WP), surface.radius, side_S) {
            None => self.add_straight(a, b),
            Some(touch) => {
                let on_body = |p_SP: Vector3<f64>| BodyPoint {
                    body: surface.body,
                    p_WP: X_WS.translation.vector + X_WS.rotation * p_SP,
                };
                self.add_straight(a, &on_body(touch.first));
                self.length += self.weight * touch.on_surface;
                self.add_straight(&on_body(touch.last), b);
            }
        }
    }

    fn add_path(&mut self, path: &[Waypoint]) {
        let (mut before, mut surface): (Option<BodyPoint>, Option<&WrapSurface>) = (None, None);
        for waypoint in path {
            match waypoint {
                Waypoint::Pulley { divisor } => (before, self.weight) = (None, 1.0 / divisor),
                Waypoint::Wrap(found) => surface = Some(found),
                Waypoint::Site(site) => {
                    let here = BodyPoint::site(site, self.data);
                    if let Some(before) = &before {
                        match surface.take() {
                            None => self.add_straight(before, &here),
                            Some(surface) => self.add_wrapped(before, surface, &here),
                        }
                    }
                    before = Some(here);
                }
            }
        }
    }
}

impl Tendon {
    /// Length [m or rad] at coordinates `q` and the poses of `data`.
    pub fn length(&self, model: &Model, q: &[f64], data: &Data) -> f64 {
        self.evaluate(model, q, data, None)
    }

    /// Length [m or rad]; adds its gradient to `gradient` (one entry per velocity; only those of
    /// [`Tendon::dofs`] change).
    pub fn measure(&self, model: &Model, q: &[f64], data: &Data, gradient: &mut [f64]) -> f64 {
        self.evaluate(model, q, data, Some(gradient))
    }

    /// Adds the gradient of the length to `gradient`, as [`Tendon::measure`] does.
    pub(crate) fn add_gradient(&self, model: &Model, data: &Data, gradient: &mut [f64]) {
        match &self.spec.path {
            TendonPath::Fixed(_) => {
                self.terms.iter().for_each(|term| gradient[term.dof] += term.coefficient);
            }
            TendonPath::Spatial(path) => {
                string_gradient(model, path, data, gradient);
            }
        }
    }

    /// Calls `visit(body, point, force)` for every point at which the tendon acts on a body, with the
    /// point [m] and the force per unit of force along the tendon, which is positive where it pushes;
    /// both in the world frame. A fixed tendon (sum of joint coordinates) acts on no body.
    pub fn for_each_pull(
        &self,
        data: &Data,
        mut visit: impl FnMut(BodyId, Vector3<f64>, Vector3<f64>),
    ) {
        if let TendonPath::Spatial(path) = &self.spec.path {
            string_length(path, data, |a, b, pull| {
                visit(a.body, a.p_WP, -pull);
                visit(b.body, b.p_WP, pull);
            });
        }
    }

    fn evaluate(&self, model: &Model, q: &[f64], data: &Data, gradient: Option<&mut [f64]>) -> f64 {
        match &self.spec.path {
            TendonPath::Fixed(_) => {
                if let Some(gradient) = gradient {
                    self.add_gradient(model, data, gradient);
                }
                self.terms.iter().map(|term| term.coefficient * q[term.q]).sum()
            }
            TendonPath::Spatial(path) => match gradient {
                None => string_length(path, data, |_, _, _| {}),
                Some(gradient) => string_gradient(model, path, data, gradient),
            },
        }
    }
}

/// Length of a string [m]; adds its gradient.
fn string_gradient(model: &Model, path: &[Waypoint], data: &Data, gradient: &mut [f64]) -> f64 {
    string_length(path, data, |a, b, pull| {
        for_each_relative_dof(model, a.body, b.body, |dof, tree, moves_b| {
            // Two points of a rigid motion have the same velocity along the line that joins them, so
            // the velocity of a serves for both ends.
            let along = pull.dot(&point_rate(data, dof, tree, a.p_WP));
            gradient[dof] += if moves_b { along } else { -along };
        });
    })
}

/// Length of a string [m]; calls `visit` for its straight segments.
fn string_length(
    path: &[Waypoint],
    data: &Data,
    visit: impl FnMut(&BodyPoint, &BodyPoint, Vector3<f64>),
) -> f64 {
    let mut string = StringMeasure { data, visit, length: 0.0, weight: 1.0 };
    string.add_path(path);
    string.length
}
