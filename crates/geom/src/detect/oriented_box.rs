//! Boxes that turn with their colliders, and a quick proof that two of them cannot meet.
//!
//! Of the axes along which two boxes may be separated, the six normals of their faces are tried [Ericson05, Sec. 4.4.1].
//! The proof depends on poses and motions alone, not on what was found before.

use crate::Shape;
use nalgebra::{Isometry3, Matrix3, Vector3};

/// Part of the distances that counts as round-off [-].
const ROUND_OFF: f64 = 1e-12;

/// A box in the frame of a shape.
#[derive(Clone, Copy, Debug)]
pub struct LocalBox {
    centre: Vector3<f64>,
    half: Vector3<f64>,
}

impl LocalBox {
    /// The box around a shape; `None` if it is not bounded.
    pub fn of(shape: &Shape) -> Option<Self> {
        let bounds = shape.bounds(&Isometry3::identity());
        let (centre, half) = (bounds.centre(), 0.5 * bounds.size());
        bounds.is_finite().then_some(Self { centre, half })
    }

    /// The box at a pose of its shape.
    pub fn at(&self, X_WS: &Isometry3<f64>) -> OrientedBox {
        let axes = X_WS.rotation.to_rotation_matrix().into_inner();
        let centre = X_WS.translation.vector + axes * self.centre;
        OrientedBox { centre, half: self.half, axes }
    }
}

/// A box in the world.
#[derive(Clone, Copy, Debug)]
pub struct OrientedBox {
    centre: Vector3<f64>,
    half: Vector3<f64>,
    /// Unit normals of the faces, as columns.
    axes: Matrix3<f64>,
}

impl OrientedBox {
    /// Whether a normal of a face separates this box (A) from another (B) by more than `reach`, which gives the
    /// distance [m] within which contacts are reported along a unit vector from A into B.
    pub fn is_beyond(&self, other: &Self, reach: impl Fn(&Vector3<f64>) -> f64) -> bool {
        let between = other.centre - self.centre;
        let cosines = self.axes.tr_mul(&other.axes);
        let slack = ROUND_OFF * (between.amax() + self.half.amax() + other.half.amax());
        let is_beyond = |axis: Vector3<f64>, extents: f64| {
            let along = axis.dot(&between);
            let gap = along.abs() - extents - slack;
            gap > 0.0 && gap > reach(&(axis * along.signum()))
        };
        let extent = |k: usize| self.half[k] + cosines.row(k).abs().transpose().dot(&other.half);
        let extent_of_other = |k: usize| other.half[k] + cosines.column(k).abs().dot(&self.half);
        (0..3).any(|k| is_beyond(self.axes.column(k).into(), extent(k)))
            || (0..3).any(|k| is_beyond(other.axes.column(k).into(), extent_of_other(k)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use nalgebra::{Translation3, UnitQuaternion};
    use stiction_math::random::SplitMix64;

    #[test]
    fn boxes_beyond_a_reach_are_farther_apart_than_it() {
        let mut random = SplitMix64::new(3);
        let (mut beyond, mut within) = (0, 0);
        for _ in 0..2000 {
            let half = [0, 1].map(|_| random.vector3().abs().add_scalar(0.1));
            let place = [0, 1].map(|_| {
                let turn = UnitQuaternion::from_scaled_axis(3.0 * random.vector3());
                Isometry3::from_parts(Translation3::from(2.0 * random.vector3()), turn)
            });
            let shapes = half.map(Shape::Box);
            let boxes = [0, 1].map(|k| LocalBox::of(&shapes[k]).unwrap().at(&place[k]));
            let reach = 0.2 * random.signed_unit().abs();
            if !boxes[0].is_beyond(&boxes[1], |_| reach) {
                within += 1;
                continue;
            }
            beyond += 1;
            // No point of a lattice on one box is within the reach of the other.
            for k in 0..11_i32.pow(3) {
                let part = |d: i32| f64::from(k / 11_i32.pow(d as u32) % 11 - 5) / 5.0;
                let p = Vector3::new(part(0), part(1), part(2)).component_mul(&half[0]);
                let p_B = place[1].inv_mul(&place[0]) * nalgebra::Point3::from(p);
                let outside = (p_B.coords.abs() - half[1]).map(|x| x.max(0.0));
                assert!(outside.norm() > reach, "{} within {reach}", outside.norm());
            }
        }
        assert!(beyond > 200 && within > 200, "{beyond} beyond, {within} within");
    }
}
