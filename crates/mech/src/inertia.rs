//! Mass, centre of mass and rotational inertia of a body, checked to be physical.
//!
//! Each principal moment is the sum of two of the second moments of mass along the principal axes,
//! ∫x², ∫y², ∫z², none of which is negative: hence no principal moment exceeds the sum of the other
//! two (triangle inequality). Units: kg, m, kg·m².

use crate::error::InertiaError;
use nalgebra::{Isometry3, Matrix3, Vector3};
use stiction_math::spatial::Inertia10;

/// Relative tolerance of the symmetry and of the triangle inequality, for files with few digits.
const TOLERANCE: f64 = 1e-6;

/// The mass properties of a rigid body, in its own frame.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MassProperties {
    mass: f64,
    com: Vector3<f64>,
    inertia: Matrix3<f64>,
}

impl MassProperties {
    /// A body with this mass [kg], centre of mass [m] and rotational inertia about the centre of
    /// mass [kg·m²], the last two in the body's frame and axes.
    pub fn new(mass: f64, com: Vector3<f64>, inertia: Matrix3<f64>) -> Result<Self, InertiaError> {
        let found = Self::new_lenient(mass, com, inertia)?;
        found.fault().map_or(Ok(found), Err)
    }

    /// [`MassProperties::new`] with fewer checks, for values from files, in which point masses,
    /// unphysical inertias and massless frames are common: all numbers must be finite, the inertia
    /// symmetric and the mass not negative. [`MassProperties::fault`] returns the violations that
    /// are not checked here.
    pub fn new_lenient(
        mass: f64,
        com: Vector3<f64>,
        inertia: Matrix3<f64>,
    ) -> Result<Self, InertiaError> {
        if !(mass >= 0.0 && mass.is_finite()) {
            return Err(InertiaError::Mass { found: mass });
        }
        if !com.iter().all(|x| x.is_finite()) {
            return Err(InertiaError::CentreOfMass { found: com.into() });
        }
        let scale = inertia.amax();
        for row in 0..3 {
            for column in 0..3 {
                let (found, mirror) = (inertia[(row, column)], inertia[(column, row)]);
                if !found.is_finite() {
                    return Err(InertiaError::NotFinite { row, column, found });
                }
                if column > row && (found - mirror).abs() > TOLERANCE * scale {
                    return Err(InertiaError::NotSymmetric { row, column, found, mirror });
                }
            }
        }
        let inertia = 0.5 * (inertia + inertia.transpose());
        Ok(Self { mass, com, inertia })
    }

    /// The error that [`MassProperties::new`] returns for these values, if any.
    pub fn fault(&self) -> Option<InertiaError> {
        if !(self.mass > 0.0) {
            return Some(InertiaError::Mass { found: self.mass });
        }
        let mut moments: [f64; 3] = self.inertia.symmetric_eigenvalues().into();
        moments.sort_by(f64::total_cmp);
        if !(moments[0] > f64::EPSILON * moments[2]) {
            return Some(InertiaError::NotPositiveDefinite { moments });
        }
        if moments[2] > (moments[0] + moments[1]) * (1.0 + TOLERANCE) {
            return Some(InertiaError::Triangle { moments });
        }
        None
    }

    /// Mass [kg].
    pub fn mass(&self) -> f64 {
        self.mass
    }

    /// Centre of mass [m], body frame.
    pub fn com(&self) -> Vector3<f64> {
        self.com
    }

    /// Rotational inertia about the centre of mass [kg·m²], body axes.
    pub fn inertia(&self) -> Matrix3<f64> {
        self.inertia
    }

    /// Spatial inertia in a frame F, about its origin, for the pose `X_FB` of the body in F.
    pub(crate) fn inertia_in_frame(&self, X_FB: &Isometry3<f64>) -> Inertia10 {
        let R_FB = X_FB.rotation.to_rotation_matrix().into_inner();
        let p_FBcm = X_FB.translation.vector + R_FB * self.com;
        Inertia10::from_central(self.mass, p_FBcm, &(R_FB * self.inertia * R_FB.transpose()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn diagonal(a: f64, b: f64, c: f64) -> Matrix3<f64> {
        Matrix3::from_diagonal(&Vector3::new(a, b, c))
    }

    #[test]
    fn a_mass_that_is_not_a_positive_number_is_rejected() {
        for found in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            let error = MassProperties::new(found, Vector3::zeros(), diagonal(1.0, 1.0, 1.0));
            assert!(matches!(error, Err(InertiaError::Mass { .. })), "{error:?}");
        }
    }

    #[test]
    fn an_unphysical_inertia_is_rejected() {
        let new = |inertia| MassProperties::new(1.0, Vector3::zeros(), inertia);
        assert_eq!(
            new(diagonal(1.0, 4.0, 2.0)),
            Err(InertiaError::Triangle { moments: [1.0, 2.0, 4.0] })
        );
        assert!(matches!(
            new(diagonal(1.0, -1.0, 1.0)),
            Err(InertiaError::NotPositiveDefinite { .. })
        ));
        assert!(matches!(new(Matrix3::zeros()), Err(InertiaError::NotPositiveDefinite { .. })));
        let mut skewed = diagonal(1.0, 1.0, 1.0);
        skewed[(0, 1)] = 0.1;
        assert!(matches!(new(skewed), Err(InertiaError::NotSymmetric { row: 0, column: 1, .. })));
        skewed[(0, 1)] = f64::NAN;
        assert!(matches!(new(skewed), Err(InertiaError::NotFinite { row: 0, column: 1, .. })));
        let nowhere = Vector3::new(0.0, f64::NAN, 0.0);
        let error = MassProperties::new(1.0, nowhere, diagonal(1.0, 1.0, 1.0));
        assert!(matches!(error, Err(InertiaError::CentreOfMass { .. })));
    }

    #[test]
    fn lenient_values_are_kept_and_their_fault_is_reported() {
        let lenient = |mass, inertia| MassProperties::new_lenient(mass, Vector3::x(), inertia);
        for (mass, inertia) in [
            (1.0, Matrix3::zeros()),
            (0.0, Matrix3::zeros()),
            (1.0, diagonal(1.0, 4.0, 2.0)),
            (0.0, diagonal(1.0, 1.0, 1.0)),
        ] {
            let kept = lenient(mass, inertia).unwrap();
            assert_eq!((kept.mass(), kept.com(), kept.inertia()), (mass, Vector3::x(), inertia));
            let refused = MassProperties::new(mass, Vector3::x(), inertia).unwrap_err();
            assert_eq!(kept.fault(), Some(refused));
        }
        assert_eq!(lenient(1.0, diagonal(1.0, 1.0, 1.0)).unwrap().fault(), None);
        assert!(lenient(-1.0, Matrix3::zeros()).is_err());
        assert!(lenient(f64::NAN, Matrix3::zeros()).is_err());
        assert!(lenient(1.0, Matrix3::repeat(f64::INFINITY)).is_err());
    }

    #[test]
    fn a_flat_disc_satisfies_the_triangle_inequality_with_equality() {
        // A disc without thickness: the moment about its axis is the sum of the others.
        assert!(MassProperties::new(1.0, Vector3::zeros(), diagonal(0.1, 0.1, 0.2)).is_ok());
    }
}
