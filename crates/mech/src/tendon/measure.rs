//! Length of a tendon and its gradient over the velocities.
//!
//! A straight part from a to b with unit vector u changes by u·(v_b − v_a). Only velocities that
//! carry one end and not the other can change it, so the walk stops at the last velocity that
//! carries both. Where a string touches a surface, the touching points count as fixed on it
//! ([`super::wrap`]). A part of no length has no direction and adds nothing to the gradient.

use super::path::{TendonPath, TendonSite, Waypoint, WrapShape, WrapSurface};
use super::{Tendon, wrap};
use crate::body::BodyId;
use crate::data::Data;
use crate::force::walk;
use crate::model::Model;
use nalgebra::Vector3;

/// A point of a body, in the world [m].
struct Placed {
    body: BodyId,
    p_W: Vector3<f64>,
}

impl Placed {
    fn site(site: &TendonSite, data: &Data) -> Self {
        let X_WB = &data.body_pose[site.body.0];
        Self { body: site.body, p_W: X_WB.translation.vector + X_WB.rotation * site.point }
    }
}

/// Sums up a string part by part, calling `visit(a, b, pull)` for every straight one: its ends and
/// the unit vector from a to b, over the divisor of the branch.
struct Strands<'a, V> {
    data: &'a Data,
    visit: V,
    length: f64,
    /// One over the divisor of the branch.
    share: f64,
}

impl<V: FnMut(&Placed, &Placed, Vector3<f64>)> Strands<'_, V> {
    fn straight(&mut self, a: &Placed, b: &Placed) {
        let between = b.p_W - a.p_W;
        let length = between.norm();
        self.length += self.share * length;
        if length > 0.0 {
            (self.visit)(a, b, between * (self.share / length));
        }
    }

    fn wrapped(&mut self, a: &Placed, surface: &WrapSurface, b: &Placed) {
        let X_WS = self.data.body_pose[surface.body.0] * surface.pose;
        let in_surface = |p_W: Vector3<f64>| {
            X_WS.rotation.inverse_transform_vector(&(p_W - X_WS.translation.vector))
        };
        let side = surface.side.map(|p_B| {
            let from = p_B - surface.pose.translation.vector;
            surface.pose.rotation.inverse_transform_vector(&from)
        });
        let around = match surface.shape {
            WrapShape::Sphere => wrap::sphere,
            WrapShape::Cylinder => wrap::cylinder,
        };
        match around(in_surface(a.p_W), in_surface(b.p_W), surface.radius, side) {
            None => self.straight(a, b),
            Some(touch) => {
                let placed = |p_S: Vector3<f64>| Placed {
                    body: surface.body,
                    p_W: X_WS.translation.vector + X_WS.rotation * p_S,
                };
                self.straight(a, &placed(touch.first));
                self.length += self.share * touch.on_surface;
                self.straight(&placed(touch.last), b);
            }
        }
    }

    fn follow(&mut self, path: &[Waypoint]) {
        let (mut before, mut surface): (Option<Placed>, Option<&WrapSurface>) = (None, None);
        for waypoint in path {
            match waypoint {
                Waypoint::Pulley { divisor } => (before, self.share) = (None, 1.0 / divisor),
                Waypoint::Wrap(found) => surface = Some(found),
                Waypoint::Site(site) => {
                    let here = Placed::site(site, self.data);
                    if let Some(before) = &before {
                        match surface.take() {
                            None => self.straight(before, &here),
                            Some(surface) => self.wrapped(before, surface, &here),
                        }
                    }
                    before = Some(here);
                }
            }
        }
    }
}

impl Tendon {
    /// Length at coordinates `q` and the poses of `data`.
    pub fn length(&self, model: &Model, q: &[f64], data: &Data) -> f64 {
        self.evaluate(model, q, data, None)
    }

    /// Length, with its gradient added to `gradient` (one entry per velocity; only those of
    /// [`Tendon::dofs`] are touched).
    pub fn measure(&self, model: &Model, q: &[f64], data: &Data, gradient: &mut [f64]) -> f64 {
        self.evaluate(model, q, data, Some(gradient))
    }

    /// Calls `visit(body, point, force)` for every point at which the tendon pulls on a body: the
    /// force in the world per unit of force along the tendon, which is positive where it pushes.
    /// A sum of joints acts on no body.
    pub fn for_each_pull(
        &self,
        data: &Data,
        mut visit: impl FnMut(BodyId, Vector3<f64>, Vector3<f64>),
    ) {
        if let TendonPath::Spatial(path) = &self.spec.path {
            string_length(path, data, |a, b, pull| {
                visit(a.body, a.p_W, -pull);
                visit(b.body, b.p_W, pull);
            });
        }
    }

    fn evaluate(&self, model: &Model, q: &[f64], data: &Data, gradient: Option<&mut [f64]>) -> f64 {
        match &self.spec.path {
            TendonPath::Fixed(_) => {
                if let Some(gradient) = gradient {
                    for term in &self.terms {
                        gradient[term.dof] += term.coefficient;
                    }
                }
                self.terms.iter().map(|term| term.coefficient * q[term.q]).sum()
            }
            TendonPath::Spatial(path) => match gradient {
                None => string_length(path, data, |_, _, _| {}),
                Some(gradient) => string_length(path, data, |a, b, pull| {
                    walk::apart(model, a.body, b.body, |dof, tree, carries_b| {
                        // Points of a rigid body have one velocity along the line that joins them,
                        // so that either end will do for both.
                        let along = pull.dot(&walk::point_rate(data, dof, tree, a.p_W));
                        gradient[dof] += if carries_b { along } else { -along };
                    });
                }),
            },
        }
    }
}

/// Length of a string [m], calling `visit` for its straight parts.
fn string_length(
    path: &[Waypoint],
    data: &Data,
    visit: impl FnMut(&Placed, &Placed, Vector3<f64>),
) -> f64 {
    let mut strands = Strands { data, visit, length: 0.0, share: 1.0 };
    strands.follow(path);
    strands.length
}
