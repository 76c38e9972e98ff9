//! A half space against any convex shape: the shape's lowest points, each with its height.
//!
//! Boxes and small hulls give all their vertices within reach, larger hulls their support patch: the vertices
//! that are lowest when the plane is tilted, and those of a face that stands askew, at a cost that hardly grows with
//! their number. Smooth shapes
//! give one point, capsules both ends. A cylinder gives four points of the rim that faces the plane, beginning with the lowest, and the
//! lowest of the other rim: four contacts when upright, the two ends of a line when lying on its side.

use super::{Manifold, PosedShape};
use crate::Shape;
use crate::narrow::ConvexCore;
use crate::shape::{Convex, cuboid, cylinder};
use nalgebra::{Isometry3, Vector3};

/// Largest number of vertices of a hull that are all listed.
const FEW: usize = 8;
/// Cosines and sines of the directions towards which the plane is tilted. A corner of a polygon that turns the
/// boundary by more than the angle between two directions is found wherever it lies.
const TILTS: [[f64; 2]; 6] =
    [[1.0, 0.0], [0.5, SIN_60], [-0.5, SIN_60], [-1.0, 0.0], [-0.5, -SIN_60], [0.5, -SIN_60]];
const SIN_60: f64 = 0.866_025_403_784_438_6;
/// Slope of the tilted plane that finds the corners of a face on which the shape lies [-]: more than faces of
/// meshes deviate from a plane, less than the angle between faces of a rounded shape.
const PATCH_SLOPE: f64 = 1e-3;
/// Largest slope of the plane tilted by the motion within a step [-].
const LARGEST_SLOPE: f64 = 0.5;

/// Writes the contacts of the half space z ≤ 0 at `X_WP` (A) with the convex shape `b`.
pub fn contacts(X_WP: &Isometry3<f64>, b: PosedShape, reach: f64, manifold: &mut Manifold) {
    let normal = X_WP.rotation * Vector3::z();
    let radius = b.shape.radius();
    let down_S = -b.X_WS.rotation.inverse_transform_vector(&normal);
    let height_of_origin = normal.dot(&(b.X_WS.translation.vector - X_WP.translation.vector));
    let mut emit = |id: u32, p_S: Vector3<f64>| {
        let gap = height_of_origin - down_S.dot(&p_S) - radius;
        if gap <= reach {
            let p_W = b.X_WS.rotation * p_S + b.X_WS.translation.vector;
            manifold.push(id, p_W - (radius + 0.5 * gap) * normal, normal, gap);
        }
    };
    match b.shape {
        Shape::Convex(hull) if hull.vertices().len() > FEW => {
            // The support point shows whether any vertex is within reach.
            let lowest = hull.support_vertex(&down_S);
            let gap = height_of_origin - down_S.dot(&hull.vertices()[lowest]);
            if gap <= reach {
                let slope = |height: f64| height / hull.bounding_radius();
                let slopes = [slope(-gap), slope(reach - gap.max(0.0))];
                support_patch(hull, lowest, &down_S, slopes, emit);
            }
        }
        _ => lowest(b.shape, &down_S, &mut emit),
    }
}

/// Lists the vertices of a hull that touch first when the plane is tilted by little: the lowest vertex and the
/// corners of a face or edge on which the hull lies. Where a face at the lowest vertex is less steep than
/// `within_depth`, its corners are below the plane, or nearly: a sole that stands askew in soft ground rests on them.
/// `within_step` is the slope by which the plane may tilt within the step: the vertices next to come down are listed.
/// The directions of the tilts are fixed to the shape, so that the same vertices are found from step to step.
fn support_patch(
    hull: &Convex,
    lowest: usize,
    down: &Vector3<f64>,
    [within_depth, within_step]: [f64; 2],
    mut emit: impl FnMut(u32, Vector3<f64>),
) {
    let mut found = [lowest; 1 + 2 * TILTS.len()];
    let mut count = 1;
    let mut list_ring = |axis: &Vector3<f64>, slope: f64| {
        let (x, y) = tangents(axis);
        for [cos, sin] in TILTS {
            let vertex = hull.support_vertex(&(axis + slope * (cos * x + sin * y)));
            if !found[..count].contains(&vertex) {
                found[count] = vertex;
                count += 1;
            }
        }
    };
    let face = hull.nearest_normal(lowest, down);
    let stands_on_face = (face - down).norm() < within_depth;
    list_ring(if stands_on_face { &face } else { down }, PATCH_SLOPE);
    if within_step > PATCH_SLOPE {
        list_ring(down, within_step.min(LARGEST_SLOPE));
    }
    for &vertex in &found[..count] {
        emit(vertex as u32, hull.vertices()[vertex]);
    }
}

/// Two unit vectors normal to `down` and to each other, continuous in it but for one direction.
fn tangents(down: &Vector3<f64>) -> (Vector3<f64>, Vector3<f64>) {
    let sign = 1.0_f64.copysign(down.z);
    let a = -1.0 / (sign + down.z);
    let b = down.x * down.y * a;
    (
        Vector3::new(1.0 + sign * down.x * down.x * a, sign * b, -sign * down.x),
        Vector3::new(b, sign + down.y * down.y * a, -down.y),
    )
}

/// Ids and positions [m] of the points of the core that can be the lowest along `down`.
fn lowest(shape: &Shape, down: &Vector3<f64>, mut emit: impl FnMut(u32, Vector3<f64>)) {
    match shape {
        Shape::Box(half) => {
            for k in 0..8 {
                emit(k as u32, cuboid::vertex(half, k));
            }
        }
        Shape::Capsule { half_length, .. } => {
            emit(0, Vector3::new(0.0, 0.0, -half_length));
            emit(1, Vector3::new(0.0, 0.0, *half_length));
        }
        Shape::Convex(convex) => {
            for (k, &vertex) in convex.vertices().iter().enumerate() {
                emit(k as u32, vertex);
            }
        }
        Shape::Cylinder { radius, half_length } => {
            let (cos, sin) = cylinder::heading(down);
            let (x, y) = (radius * cos, radius * sin);
            let (upper, z) = (down.z >= 0.0, half_length.copysign(down.z));
            let [near, far] = if upper { [4, 0] } else { [0, 4] };
            emit(near, Vector3::new(x, y, z));
            emit(near + 1, Vector3::new(-y, x, z));
            emit(near + 2, Vector3::new(-x, -y, z));
            emit(near + 3, Vector3::new(y, -x, z));
            emit(far, Vector3::new(x, y, -z));
        }
        _ => emit(0, ConvexCore::support(shape, down)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use nalgebra::{Rotation3, Translation3};
    use std::f64::consts::PI;

    fn found(
        points: &[Vector3<f64>],
        X_WS: Isometry3<f64>,
        reach: f64,
    ) -> Vec<(u32, Vector3<f64>, f64)> {
        let shape = Shape::convex(points).unwrap();
        let mut manifold = Manifold::default();
        contacts(
            &Isometry3::identity(),
            PosedShape { shape: &shape, X_WS: &X_WS },
            reach,
            &mut manifold,
        );
        manifold.points().iter().map(|p| (p.feature, p.point, p.gap)).collect()
    }

    /// A regular prism with n sides, radius 1, height 1, on the plane.
    fn prism(n: usize) -> Vec<Vector3<f64>> {
        let corner = |k: usize, z: f64| {
            let (sin, cos) = (2.0 * PI * k as f64 / n as f64).sin_cos();
            Vector3::new(cos, sin, z)
        };
        (0..n).flat_map(|k| [corner(k, 0.0), corner(k, 1.0)]).collect()
    }

    /// Area of the convex polygon of points about the z axis.
    fn area(mut points: Vec<Vector3<f64>>) -> f64 {
        points.sort_by(|a, b| a.y.atan2(a.x).total_cmp(&b.y.atan2(b.x)));
        let next = points.iter().cycle().skip(1);
        points.iter().zip(next).map(|(a, b)| 0.5 * (a.x * b.y - a.y * b.x)).sum()
    }

    #[test]
    fn a_prism_keeps_its_support_polygon_with_six_contacts_in_every_heading() {
        for n in [3, 4, 5, 6, 12, 100, 1000] {
            for turn in 0..10 {
                let heading = Rotation3::from_axis_angle(&Vector3::z_axis(), 0.1 * f64::from(turn));
                let X_WS = Isometry3::from_parts(Translation3::identity(), heading.into());
                let points = found(&prism(n), X_WS, 1e-4);
                assert!(points.len() <= n.min(7), "{n}: {}", points.len());
                // Corners of up to five sides turn by more than 60° each, and all are found.
                if n < 6 {
                    assert_eq!(points.len(), n);
                }
                // Six points within half a side of the corners of a regular hexagon.
                let side = PI / n as f64;
                let hexagon = 6.0 * 0.5 * (PI / 3.0 - 2.0 * side).max(0.0).sin();
                let kept = area(points.iter().map(|(_, p, _)| *p).collect());
                assert!(kept >= hexagon, "{n}, {turn}: {kept} of {hexagon}");
            }
        }
    }

    /// Points of a sphere of radius 20 mm, evenly distributed.
    fn sphere(n: usize) -> Vec<Vector3<f64>> {
        let golden = PI * (3.0 - 5.0_f64.sqrt());
        (0..n)
            .map(|k| {
                let z = 1.0 - 2.0 * (k as f64 + 0.5) / n as f64;
                let (r, phi) = ((1.0 - z * z).sqrt(), golden * k as f64);
                0.02 * Vector3::new(r * phi.cos(), r * phi.sin(), z)
            })
            .collect()
    }

    #[test]
    fn a_sole_askew_in_soft_ground_keeps_its_support_polygon() {
        // All of the sole is below the plane: 50 mm deep at its middle, 10 mm higher or lower at its ends.
        for n in [5, 12, 100] {
            for turn in 0..10 {
                let heading = Rotation3::from_axis_angle(&Vector3::z_axis(), 0.1 * f64::from(turn));
                let tilt = Rotation3::from_axis_angle(&Vector3::x_axis(), 0.01) * heading;
                let X_WS = Isometry3::from_parts(Translation3::new(0.0, 0.0, -0.05), tilt.into());
                let points = found(&prism(n), X_WS, 1e-6);
                assert!(points.len() <= n.min(7), "{n}: {}", points.len());
                let side = PI / n as f64;
                let hexagon = 6.0 * 0.5 * (PI / 3.0 - 2.0 * side).max(0.0).sin();
                // Seen along the normal of the plane, the area is less by the cosine of the tilt.
                let kept = area(points.iter().map(|(_, p, _)| *p).collect());
                assert!(kept >= hexagon * 0.01_f64.cos(), "{n}, {turn}: {kept} of {hexagon}");
            }
        }
    }

    #[test]
    fn a_rounded_foot_sunk_into_soft_ground_stands_on_its_lowest_facet() {
        let sphere = sphere(4000);
        // Sides of triangles that cover the sphere evenly: 2 A/√3 per vertex.
        let side = 0.02 * (2.0 / 3.0_f64.sqrt() * 4.0 * PI / 4000.0).sqrt();
        for turn in 0..20 {
            let axis = nalgebra::Unit::new_normalize(Vector3::new(1.0, 0.3, -0.2));
            let rotation = Rotation3::from_axis_angle(&axis, 0.37 * f64::from(turn));
            let X_WS = Isometry3::from_parts(Translation3::new(0.0, 0.0, 0.016), rotation.into());
            let points = found(&sphere, X_WS, 1e-5);
            assert!((3..=6).contains(&points.len()), "{}", points.len());
            // The facets near the poles of the spiral are longer than the average.
            assert!(points.iter().all(|(_, p, _)| (p - points[0].1).norm() <= 3.0 * side));
        }
    }

    #[test]
    fn a_rounded_foot_gives_its_lowest_facet_first() {
        let sphere = sphere(4000);
        for turn in 0..20 {
            let axis = nalgebra::Unit::new_normalize(Vector3::new(1.0, 0.3, -0.2));
            let rotation = Rotation3::from_axis_angle(&axis, 0.37 * f64::from(turn));
            let height = |p: &Vector3<f64>| (rotation * p).z;
            let least = sphere.iter().map(height).fold(f64::INFINITY, f64::min);
            let X_WS = Isometry3::from_parts(Translation3::new(0.0, 0.0, -least), rotation.into());
            let points = found(&sphere, X_WS, 1e-3);
            assert!(points.len() <= 13);
            assert!(points[0].2.abs() <= 1e-15, "the deepest point is the first");
            // Every vertex that a tilt by the small slope brings below the lowest is hidden by a listed one.
            for [cos, sin] in TILTS {
                let (x, y) = tangents(&rotation.inverse_transform_vector(&-Vector3::z()));
                let tilt = rotation * (cos * x + sin * y);
                let merit = |p: Vector3<f64>| PATCH_SLOPE * tilt.dot(&p) - p.z;
                let all = sphere
                    .iter()
                    .map(|p| merit(X_WS * nalgebra::Point3::from(*p) - nalgebra::Point3::origin()));
                let best = all.fold(f64::NEG_INFINITY, f64::max);
                // Contacts lie midway between the surfaces.
                let listed = points.iter().map(|(_, p, gap)| merit(p + 0.5 * gap * Vector3::z()));
                let reached = listed.fold(f64::NEG_INFINITY, f64::max);
                assert!(reached >= best - 1e-15, "{reached} of {best}");
            }
        }
    }
}
