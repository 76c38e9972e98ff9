//! Mass properties of several rigid parts as one body: masses add, inertias add about the common
//! centre of mass (Huygens and Steiner).

use nalgebra::{Isometry3, Matrix3, Vector3};
use stiction_mech::{InertiaError, MassProperties};

/// The parts, each at its pose in the frame of the body.
pub(super) fn sum(
    parts: &[(Isometry3<f64>, MassProperties)],
) -> Result<Option<MassProperties>, InertiaError> {
    match parts {
        [] => return Ok(None),
        // One part in the frame of the body keeps its digits.
        [(pose, mass)] if *pose == Isometry3::identity() => return Ok(Some(*mass)),
        _ => {}
    }
    let at = |(pose, part): &(Isometry3<f64>, MassProperties)| {
        pose.translation.vector + pose.rotation * part.com()
    };
    let mass: f64 = parts.iter().map(|(_, part)| part.mass()).sum();
    let moment: Vector3<f64> = parts.iter().map(|both| both.1.mass() * at(both)).sum();
    let com = if mass > 0.0 { moment / mass } else { Vector3::zeros() };
    let mut I = Matrix3::zeros();
    for both in parts {
        let R = both.0.rotation.to_rotation_matrix().into_inner();
        let d = at(both) - com;
        I += R * both.1.inertia() * R.transpose();
        I += both.1.mass() * (Matrix3::from_diagonal_element(d.dot(&d)) - d * d.transpose());
    }
    MassProperties::new_lenient(mass, com, I).map(Some)
}

#[cfg(test)]
mod tests {
    use super::*;
    use nalgebra::{Translation3, UnitQuaternion};

    #[test]
    fn two_halves_of_a_rod_are_the_rod() {
        // A thin rod of length L has m L²/12; each half m/2 (L/2)²/12 at a distance L/4.
        let (m, L) = (3.0, 0.8);
        let across = |m: f64, L: f64| m * L * L / 12.0;
        let half = |turn: f64, x: f64| {
            let turn = UnitQuaternion::from_axis_angle(&Vector3::z_axis(), turn);
            let pose = Isometry3::from_parts(Translation3::new(x, 0.0, 0.0), turn);
            let moment = across(m / 2.0, L / 2.0);
            let I = Matrix3::from_diagonal(&Vector3::new(0.0, moment, moment));
            (
                pose,
                MassProperties::new_lenient(m / 2.0, Vector3::new(L / 4.0, 0.0, 0.0), I).unwrap(),
            )
        };
        // The second is turned round, so that its centre stands on the other side.
        let rod = sum(&[half(0.0, 1.0), half(std::f64::consts::PI, 1.0)]).unwrap().unwrap();
        let expected = Vector3::new(0.0, across(m, L), across(m, L));
        // A dozen operations on numbers of order one.
        assert!((rod.inertia() - Matrix3::from_diagonal(&expected)).amax() < 1e-14);
        assert!((rod.com() - Vector3::x()).amax() < 1e-15 && rod.mass() == m);
    }
}
