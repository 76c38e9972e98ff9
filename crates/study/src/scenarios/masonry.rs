//! Statics of masonry arches: wedges of a semicircle, and whether a thrust line exists.
//!
//! At the crown of a symmetric arch the resultant is horizontal, `(H, M = H z)`, and at every joint it must pass between the
//! edges and lie within the cone of friction (limit analysis of masonry, Heyman).

use nalgebra::Vector2;
use std::f64::consts::PI;

/// Wedges of a semicircle in the plane of x and z.
pub(super) struct Geometry {
    pub(super) blocks: usize,
    /// Radii on which the corners of the wedges lie [m].
    pub(super) inner: f64,
    pub(super) outer: f64,
    /// How far the inner edges of the lowest wedges are above the ground [m]: on it with their faces, or
    /// balanced on their outer edges.
    pub(super) lifted: f64,
}

impl Geometry {
    /// Direction of a joint from the centre; joint 0 stands on the ground at x > 0.
    fn joint(&self, index: usize) -> Vector2<f64> {
        let angle = PI * index as f64 / self.blocks as f64;
        // The springing joints lie on the ground exactly.
        let z = if index == 0 || index == self.blocks { 0.0 } else { angle.sin() };
        Vector2::new(angle.cos(), z)
    }

    /// Corners of a wedge, in order around it.
    pub(super) fn section(&self, block: usize) -> [Vector2<f64>; 4] {
        let (low, high) = (self.joint(block), self.joint(block + 1));
        let mut corners =
            [low * self.inner, low * self.outer, high * self.outer, high * self.inner];
        if block == 0 {
            corners[0].y += self.lifted;
        }
        if block + 1 == self.blocks {
            corners[3].y += self.lifted;
        }
        corners
    }

    /// Whether forces exist that balance the weight, within every joint and every cone of friction.
    ///
    /// A symmetric arch has a symmetric thrust line if it has any: the mean of one and its mirror
    /// image. All conditions are linear in the thrust H and its moment M about the centre, so that
    /// the room left for M is a concave function of H: its maximum is bracketed and cut by thirds.
    pub(super) fn has_thrust_line(&self, friction: f64) -> bool {
        let weight: f64 = self.blocks as f64 * area(&self.section(0)); // in units of ρ g depth
        let (mut low, mut high) = (0.0, 10.0 * weight);
        for _ in 0..200 {
            let (a, b) = (low + (high - low) / 3.0, high - (high - low) / 3.0);
            if self.room(a, friction) < self.room(b, friction) {
                low = a;
            } else {
                high = b;
            }
        }
        // On an edge there is no room to spare, but for round-off.
        self.room(0.5 * (low + high), friction) >= -1e-12 * weight
    }

    /// Least slack of all conditions at a thrust H; negative if one is violated.
    fn room(&self, thrust: f64, friction: f64) -> f64 {
        let (mut least, mut most, mut cone) = (f64::MIN, f64::MAX, f64::MAX);
        let (mut weight, mut moment) = (0.0, 0.0); // of the half arch between crown and joint
        for joint in (0..=self.blocks / 2).rev() {
            // Wedge above this joint; of a keystone, the half at x > 0.
            let section = self.section(joint);
            if 2 * joint + 1 == self.blocks {
                let (half_area, half_moment) = half(&section);
                weight += half_area;
                moment += half_moment;
            } else if 2 * joint < self.blocks {
                weight += area(&section);
                moment += area(&section) * centroid(&section).x;
            }
            // The stones above push on the joint with (H, −V): along the joint's normal and along it.
            let along = self.joint(joint);
            let normal = thrust * along.y + weight * along.x;
            let shear = thrust * along.x - weight * along.y;
            cone = cone.min(friction * normal - shear.abs());
            // Moment about the centre: that of the crown's thrust M, and of the weight. The
            // resultant crosses the joint at the distance s = (M + weight moment) / normal.
            let on_edge = joint == 0 && self.lifted > 0.0;
            let innermost = if on_edge { self.outer } else { self.inner };
            least = least.max(innermost * normal - moment);
            most = most.min(self.outer * normal - moment);
        }
        (most - least).min(cone)
    }
}

/// Area of a polygon [m²].
pub(super) fn area(corners: &[Vector2<f64>]) -> f64 {
    0.5 * edges(corners).map(|(a, b)| a.perp(&b)).sum::<f64>().abs()
}

/// Centre of area of a polygon [m].
fn centroid(corners: &[Vector2<f64>]) -> Vector2<f64> {
    let twice: f64 = edges(corners).map(|(a, b)| a.perp(&b)).sum();
    edges(corners).map(|(a, b)| (a + b) * a.perp(&b)).sum::<Vector2<f64>>() / (3.0 * twice)
}

fn edges(corners: &[Vector2<f64>]) -> impl Iterator<Item = (Vector2<f64>, Vector2<f64>)> + '_ {
    corners.iter().zip(corners.iter().cycle().skip(1)).map(|(a, b)| (*a, *b))
}

/// Area [m²] and first moment of area about z [m³] of the half of a keystone at x > 0.
fn half(section: &[Vector2<f64>; 4]) -> (f64, f64) {
    let [inner, outer, ..] = *section;
    let corners = [inner, outer, Vector2::new(0.0, outer.y), Vector2::new(0.0, inner.y)];
    (area(&corners), area(&corners) * centroid(&corners).x)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn semicircle(thickness_to_radius: f64) -> Geometry {
        let half = 0.5 * thickness_to_radius;
        Geometry { blocks: 301, inner: 1.0 - half, outer: 1.0 + half, lifted: 0.0 }
    }

    /// The least thickness of a semicircular arch with enough friction is 0.1075 of its mean
    /// radius (Milankovitch, 1907), that of the finely jointed one.
    #[test]
    fn a_thin_semicircular_arch_has_no_thrust_line_and_a_thicker_one_has() {
        // Wedges of finite size move the weights by O(1/blocks²), far below the margins taken.
        assert!(!semicircle(0.1065).has_thrust_line(1e3));
        assert!(semicircle(0.1085).has_thrust_line(1e3));
    }

    #[test]
    fn an_arch_on_the_outer_edges_of_its_base_stands_with_more_friction_than_one_on_its_faces() {
        let least = |lifted: f64| {
            let arch = Geometry { blocks: 7, inner: 0.9, outer: 1.1, lifted };
            (0..100).find(|i| arch.has_thrust_line(0.01 * f64::from(*i)))
        };
        // The thrust must leave at the edges, which takes more of it: of the thrust lines of an arch on its
        // faces only the flattest are left. Bounds by a search over thrusts.
        let (faces, edges) = (least(0.0).unwrap(), least(0.05).unwrap());
        assert!((20..=31).contains(&faces) && (31..50).contains(&edges), "{faces} {edges}");
    }

    #[test]
    fn more_friction_never_takes_a_thrust_line_away() {
        let arch = Geometry { blocks: 7, inner: 0.9, outer: 1.1, lifted: 0.0 };
        let stands: Vec<bool> =
            (0..100).map(|i| arch.has_thrust_line(0.01 * f64::from(i))).collect();
        assert!(stands.is_sorted() && !stands[20] && stands[99]);
    }
}
