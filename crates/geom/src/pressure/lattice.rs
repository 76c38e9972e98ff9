//! Tetrahedra of closed meshes and distance fields: cells of a grid, cut into six each.
//!
//! The pressure at a point of the grid is the distance inside of the surface over the largest such distance, negative
//! outside; polygons are clipped where it vanishes. The surface is therefore resolved to second order in the spacing where it
//! is smooth, and edges are rounded by about the spacing.
//! Cost: one distance per grid point.

use super::MOST_ELEMENTS;
use super::element::PressureElement;
use crate::{Aabb, PressureError, Shape};
use nalgebra::Vector3;

/// Depth of a point inside the surface [m], negative outside.
type DepthAt<'a> = dyn Fn(&Vector3<f64>) -> f64 + 'a;

/// The six orders of the axes along which Kuhn's tetrahedra of a cell go from its lowest to its highest corner.
const ORDERS: [[usize; 3]; 6] = [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]];

/// The elements of a closed mesh or a field, with pressures up to one, and the largest depth [m].
pub(super) fn elements(
    shape: &Shape,
    resolution: f64,
) -> Result<(Vec<PressureElement>, f64), PressureError> {
    let (bounds, depth_at): (Aabb, Box<DepthAt<'_>>) = match shape {
        Shape::Mesh(mesh) => {
            if !mesh.is_closed() {
                return Err(PressureError::Open { borders: mesh.border_edges() });
            }
            let depth = |x: &Vector3<f64>| {
                let distance = mesh.signed_distance(x, f64::INFINITY);
                distance.map_or(f64::NEG_INFINITY, |found| -found.distance)
            };
            (mesh.local_bounds(), Box::new(depth))
        }
        Shape::Field(field) => (field.local_bounds(), Box::new(|x| -field.value(x))),
        _ => return Err(PressureError::Shape { found: shape.name() }),
    };
    let size = bounds.size();
    let cells = size.map(|length| (length / resolution).ceil().max(2.0));
    // Cells have even numbers below the limit.
    if !(6.0 * cells.product() < MOST_ELEMENTS as f64) {
        return Err(PressureError::Resolution { shape: shape.name(), resolution });
    }
    let spacing = size.component_div(&cells);
    let cells = cells.map(|n| n as usize);
    let place =
        |i: [usize; 3]| bounds.min + Vector3::from_fn(|axis, _| spacing[axis] * i[axis] as f64);
    let points = cells.map(|n| n + 1);
    let number = |[i, j, k]: [usize; 3]| i + points.x * (j + points.y * k);
    let mut depths = Vec::with_capacity(points.product());
    for k in 0..points.z {
        for j in 0..points.y {
            depths.extend((0..points.x).map(|i| depth_at(&place([i, j, k]))));
        }
    }
    let deepest = depths.iter().copied().fold(0.0, f64::max);
    let mut elements = Vec::new();
    if !(deepest > 0.0) {
        return Ok((elements, deepest));
    }
    for k in 0..cells.z {
        for j in 0..cells.y {
            for i in 0..cells.x {
                for order in ORDERS {
                    let mut corner = [i, j, k];
                    let mut corners = [corner; 4];
                    for (step, axis) in order.into_iter().enumerate() {
                        corner[axis] += 1;
                        corners[step + 1] = corner;
                    }
                    let pressures = corners.map(|corner| depths[number(corner)] / deepest);
                    if pressures.iter().any(|p| *p > 0.0) {
                        let element = PressureElement::new(corners.map(place), pressures);
                        let cell = 2 * (i + cells.x * (j + cells.y * k)) as u32;
                        elements.extend(element.map(|e| PressureElement { cell, ..e }));
                    }
                }
            }
        }
    }
    Ok((elements, deepest))
}
