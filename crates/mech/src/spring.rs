//! Linear springs with a dead band, and spring-dampers between two points.
//!
//! Tendon forces and energies share the scalar law: no force inside the band, stiffness times the
//! distance to the nearer end outside. A spring-damper between points is a tendon with two sites.
//! For a spring along a fixed direction, use the spring of a slide joint.

use crate::body::BodyId;
use crate::tendon::{TendonPath, TendonRest, TendonSite, TendonSpec};
use nalgebra::Vector3;

/// Interval of lengths in which a spring is slack [m or rad]; of zero width for a plain spring.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DeadBand {
    /// Below it the spring pushes.
    pub lower: f64,
    /// Above it the spring pulls.
    pub upper: f64,
}

impl DeadBand {
    /// The band of zero width at `length`.
    pub fn at(length: f64) -> Self {
        Self { lower: length, upper: length }
    }

    /// Signed distance of a length from the band, zero inside.
    #[inline]
    pub fn stretch(&self, length: f64) -> f64 {
        if length > self.upper {
            length - self.upper
        } else if length < self.lower {
            length - self.lower
        } else {
            0.0
        }
    }

    /// Potential energy [J] of a spring of this stiffness [N/m or N·m/rad].
    #[inline]
    pub fn energy(&self, stiffness: f64, length: f64) -> f64 {
        0.5 * stiffness * self.stretch(length).powi(2)
    }
}

/// A spring-damper between two points of bodies, one of which may be the world.
///
/// It acts along the line between the points. A step treats the stiffness and damping along this
/// line implicitly; the transverse stiffness, tension over length, remains explicit.
#[derive(Clone, Debug, PartialEq)]
pub struct SpringSpec {
    /// Name, for messages and look-up.
    pub name: String,
    /// The first body.
    pub body_a: BodyId,
    /// Point of the first body, in its frame [m].
    pub point_a: Vector3<f64>,
    /// The second body.
    pub body_b: BodyId,
    /// Point of the second body, in its frame [m].
    pub point_b: Vector3<f64>,
    /// Stiffness [N/m].
    pub stiffness: f64,
    /// Damping [N·s/m].
    pub damping: f64,
    /// Length without force [m].
    pub rest_length: f64,
}

impl From<SpringSpec> for TendonSpec {
    fn from(spring: SpringSpec) -> Self {
        let sites = [
            TendonSite { body: spring.body_a, point: spring.point_a },
            TendonSite { body: spring.body_b, point: spring.point_b },
        ];
        TendonSpec {
            stiffness: spring.stiffness,
            damping: spring.damping,
            rest: TendonRest::Length(spring.rest_length),
            ..TendonSpec::new(spring.name, TendonPath::through(sites))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_spring_is_slack_inside_its_dead_band_and_linear_outside() {
        let band = DeadBand { lower: -0.5, upper: 2.0 };
        for (length, stretch) in [(-1.0, -0.5), (-0.5, 0.0), (1.0, 0.0), (2.0, 0.0), (3.5, 1.5)] {
            assert_eq!(band.stretch(length), stretch);
            assert_eq!(band.energy(4.0, length), 2.0 * stretch * stretch);
        }
        assert_eq!(DeadBand::at(1.0).stretch(0.25), -0.75);
    }
}
