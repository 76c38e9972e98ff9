//! Polygons between two bodies as contacts in the world: area, centre of pressure, pressure and its gradient.

use super::element::LinearField;
use super::intersect::PosedBody;
use super::load::Load;
use super::{PatchPolygon, PatchPolygons, Polygon, PolygonPiece};
use crate::Aabb;
use nalgebra::{Rotation3, Vector3};

/// Least cosine between a pressure gradient and the normal that counts in the stiffness [-].
const LEAST_COSINE: f64 = 0.1;

/// Writes polygons that are computed in the frame of one of the two bodies, the first.
pub(super) struct Writer<'a> {
    /// Pose of the second body in the frame of the first.
    pub rotation: Rotation3<f64>,
    pub translation: Vector3<f64>,
    /// Pose of the first body in the world.
    to_world: Rotation3<f64>,
    origin: Vector3<f64>,
    /// Whether the first body is B.
    is_flipped: bool,
    pub found: &'a mut PatchPolygons,
}

/// What a polygon separates: cells of the first and the second body, the unit normal from the first into the second, and
/// the pressures of those that yield.
pub(super) struct Interface {
    pub cells: [u32; 2],
    pub normal: Vector3<f64>,
    pub fields: [Option<LinearField>; 2],
}

impl<'a> Writer<'a> {
    pub fn new(
        first: &PosedBody,
        second: &PosedBody,
        is_flipped: bool,
        found: &'a mut PatchPolygons,
    ) -> Self {
        let relative = first.pose.inv_mul(second.pose);
        Self {
            rotation: relative.rotation.to_rotation_matrix(),
            translation: relative.translation.vector,
            to_world: first.pose.rotation.to_rotation_matrix(),
            origin: first.pose.translation.vector,
            is_flipped,
            found,
        }
    }

    /// Box around a box of the frame of the second body in that of the first.
    pub fn bounds(&self, of: &Aabb) -> Aabb {
        let half = self.rotation.matrix().abs() * (0.5 * of.size());
        Aabb::around(self.rotation * of.centre() + self.translation, half)
    }

    /// Normal and offset of the plane z = 0 of the second body in the frame of the first.
    pub fn plane(&self) -> (Vector3<f64>, f64) {
        let normal = self.rotation * Vector3::z();
        (normal, normal.dot(&self.translation))
    }

    pub fn write(&mut self, polygon: &Polygon, interface: &Interface) {
        let Interface { cells, normal, fields } = interface;
        let Some(field) = fields[0].or(fields[1]) else { return };
        let Some(load) = Load::of(polygon, normal, &field) else { return };
        // The pressure of the first body grows against the normal, that of the second along it.
        let compliances = [-1.0, 1.0].iter().zip(fields).filter_map(|(sign, field)| {
            let gradient = field.as_ref()?.gradient;
            Some(1.0 / (sign * gradient.dot(normal)).max(LEAST_COSINE * gradient.norm()))
        });
        let gradient = 1.0 / compliances.sum::<f64>();
        let (mut cells, mut normal) = (*cells, self.to_world * normal);
        if self.is_flipped {
            cells.swap(0, 1);
            normal = -normal;
        }
        let (to_world, origin) = (&self.to_world, &self.origin);
        if self.found.keeps_pieces {
            self.found.pieces.push(PolygonPiece {
                pressure: load.pressure,
                first_corner: self.found.corners.len() as u32,
                corners: polygon.corners().len() as u32,
            });
            self.found.corners.extend(polygon.corners().iter().map(|x| to_world * x + origin));
        }
        self.found.polygons.push(PatchPolygon {
            cells,
            area: load.area,
            point: to_world * load.centre + origin,
            normal,
            pressure: load.pressure,
            gradient,
        });
    }
}
