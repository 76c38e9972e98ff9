//! The contact points of a patch summed up: force, moment, area and centre of pressure per pair of shapes.

use nalgebra::Vector3;

use crate::contact_point::ContactPoint;

/// A patch between two shapes in the last step, with the forces that the solver found.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ContactPatch {
    /// Indices of the two shapes, A and B.
    pub geoms: [usize; 2],
    /// Indices of their bodies.
    pub bodies: [usize; 2],
    /// Area of its polygons [m²].
    pub area: f64,
    /// Centre of pressure, weighted by normal force; the mean weighted by area where there is none [m].
    pub centre: Vector3<f64>,
    /// Force on B, and its opposite on A, mean over the step, world axes [N].
    pub force: Vector3<f64>,
    /// Moment of the forces on B about the centre of pressure, world axes [N·m].
    pub moment: Vector3<f64>,
    /// Largest mean pressure of a polygon: normal force over area [Pa].
    pub pressure: f64,
    /// Number of its polygons.
    pub polygons: usize,
}

impl ContactPatch {
    /// Sums up the contacts that are polygons of patches; one patch per pair of shapes, sorted by them.
    pub fn all_of(contacts: &[ContactPoint]) -> Vec<Self> {
        let mut points: Vec<&ContactPoint> = contacts.iter().filter(|c| c.area > 0.0).collect();
        points.sort_by_key(|contact| contact.geoms);
        points.chunk_by(|one, other| one.geoms == other.geoms).map(Self::of).collect()
    }

    fn of(points: &[&ContactPoint]) -> Self {
        let mut patch = Self {
            geoms: points[0].geoms,
            bodies: points[0].bodies,
            area: 0.0,
            centre: Vector3::zeros(),
            force: Vector3::zeros(),
            moment: Vector3::zeros(),
            pressure: 0.0,
            polygons: points.len(),
        };
        let (mut load, mut middle) = (0.0, Vector3::zeros());
        for point in points {
            let normal = point.force.dot(&point.normal).max(0.0);
            patch.area += point.area;
            patch.force += point.force;
            patch.pressure = patch.pressure.max(normal / point.area);
            patch.centre += normal * point.point;
            middle += point.area * point.point;
            load += normal;
        }
        patch.centre = if load > 0.0 { patch.centre / load } else { middle / patch.area };
        patch.moment =
            points.iter().map(|point| (point.point - patch.centre).cross(&point.force)).sum();
        patch
    }
}
