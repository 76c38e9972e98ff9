//! Orientations in the five notations of MJCF: quaternion, axis and angle, Euler angles, two axes,
//! and the z axis alone.

use nalgebra::{
    Isometry3, Matrix3, Quaternion, Rotation3, Translation3, Unit, UnitQuaternion, Vector3,
};

use super::compiler::Compiler;
use crate::error::SceneError;
use crate::xml::Element;

/// Axes about which Euler angles turn, in order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct EulerSequence {
    axes: [usize; 3],
    /// Per rotation, whether it is about an axis of the fixed frame, not of the moving one.
    fixed: [bool; 3],
}

impl Default for EulerSequence {
    fn default() -> Self {
        Self { axes: [0, 1, 2], fixed: [false; 3] }
    }
}

impl EulerSequence {
    /// Small letters turn about axes that move along, capital ones about axes that stay.
    pub fn read(compiler: &Element) -> Result<Option<Self>, SceneError> {
        let Some(word) = compiler.get("eulerseq") else { return Ok(None) };
        let wrong = || compiler.wrong("eulerseq", "three letters of x, y, z, X, Y, Z");
        let letters: Vec<char> = word.chars().collect();
        let [a, b, c] = letters[..] else { return Err(wrong()) };
        let mut sequence = Self::default();
        for (k, letter) in [a, b, c].into_iter().enumerate() {
            sequence.axes[k] = "xyz".find(letter.to_ascii_lowercase()).ok_or_else(wrong)?;
            sequence.fixed[k] = letter.is_ascii_uppercase();
        }
        Ok(Some(sequence))
    }

    /// The rotation of three angles [rad].
    pub fn rotation(&self, angles: Vector3<f64>) -> UnitQuaternion<f64> {
        let mut rotation = UnitQuaternion::identity();
        for k in 0..3 {
            let mut axis = Vector3::zeros();
            axis[self.axes[k]] = 1.0;
            let turn = UnitQuaternion::from_axis_angle(&Unit::new_unchecked(axis), angles[k]);
            rotation = if self.fixed[k] { turn * rotation } else { rotation * turn };
        }
        rotation
    }
}

/// The orientation that an element gives, if it gives one.
pub(super) fn read(
    element: &Element,
    compiler: &Compiler,
) -> Result<Option<UnitQuaternion<f64>>, SceneError> {
    let several = ["quat", "axisangle", "xyaxes", "zaxis", "euler"];
    let given: Vec<_> = several.into_iter().filter(|name| element.peek(name).is_some()).collect();
    if let [first, second, ..] = given[..] {
        return Err(element
            .error(format_args!("both {first} and {second}; expected at most one orientation")));
    }
    Ok(match given.first() {
        Some(&"quat") => quaternion(element, "quat")?,
        Some(&"axisangle") => Some(axis_angle(element, compiler)?),
        Some(&"xyaxes") => Some(two_axes(element)?),
        Some(&"zaxis") => Some(z_axis(element)?),
        Some(_) => {
            let angles = element.vector("euler")?.unwrap_or_default() * compiler.angle;
            Some(compiler.euler.rotation(angles))
        }
        None => None,
    })
}

/// The pose that `pos` and an orientation give.
pub(super) fn pose(element: &Element, compiler: &Compiler) -> Result<Isometry3<f64>, SceneError> {
    let position = element.vector("pos")?.unwrap_or_default();
    let rotation = read(element, compiler)?.unwrap_or_default();
    Ok(Isometry3::from_parts(Translation3::from(position), rotation))
}

/// A quaternion of any length but zero.
pub(super) fn quaternion(
    element: &Element,
    name: &str,
) -> Result<Option<UnitQuaternion<f64>>, SceneError> {
    let Some([w, x, y, z]) = element.array::<4>(name)? else { return Ok(None) };
    // Scaled first, so that large and small numbers keep their direction.
    let largest = [w, x, y, z].into_iter().fold(0.0_f64, |m, c| m.max(c.abs()));
    if !(largest > 0.0) {
        return Err(element.wrong(name, "four numbers that are not all zero"));
    }
    let raw = Quaternion::new(w, x, y, z);
    let already_unit = (raw.norm() - 1.0).abs() <= 2.0 * f64::EPSILON;
    Ok(Some(if already_unit {
        UnitQuaternion::new_unchecked(raw)
    } else {
        UnitQuaternion::from_quaternion(raw / largest)
    }))
}

/// A direction of any length but zero.
pub(super) fn direction(
    element: &Element,
    name: &str,
    vector: Vector3<f64>,
) -> Result<Unit<Vector3<f64>>, SceneError> {
    let largest = vector.amax();
    if !(largest > 0.0) {
        return Err(element.wrong(name, "a vector that is not zero"));
    }
    Ok(Unit::new_normalize(vector / largest))
}

fn axis_angle(element: &Element, compiler: &Compiler) -> Result<UnitQuaternion<f64>, SceneError> {
    let [x, y, z, angle] = element.array::<4>("axisangle")?.unwrap_or_default();
    let axis = direction(element, "axisangle", Vector3::new(x, y, z))?;
    Ok(UnitQuaternion::from_axis_angle(&axis, angle * compiler.angle))
}

/// The first axis is x; the part of the second that is perpendicular to it is y.
fn two_axes(element: &Element) -> Result<UnitQuaternion<f64>, SceneError> {
    let [a, b, c, d, e, f] = element.array::<6>("xyaxes")?.unwrap_or_default();
    let x = direction(element, "xyaxes", Vector3::new(a, b, c))?;
    let y = direction(element, "xyaxes", Vector3::new(d, e, f))?;
    let y = y.into_inner() - x.into_inner() * x.dot(&y);
    // Of unit vectors, what is less than this across the other is round-off.
    if !(y.norm() > 1e-14) {
        return Err(element.wrong("xyaxes", "two axes that are not parallel"));
    }
    let y = direction(element, "xyaxes", y)?;
    let z = direction(element, "xyaxes", x.cross(&y))?;
    let matrix = Matrix3::from_columns(&[x.into_inner(), y.into_inner(), z.into_inner()]);
    Ok(UnitQuaternion::from_rotation_matrix(&Rotation3::from_matrix_unchecked(matrix)))
}

fn z_axis(element: &Element) -> Result<UnitQuaternion<f64>, SceneError> {
    let z = direction(element, "zaxis", element.vector("zaxis")?.unwrap_or_default())?;
    Ok(from_z(&z))
}

/// The shortest rotation that takes the z axis to a direction; half a turn about x takes it to −z.
pub(super) fn from_z(z: &Unit<Vector3<f64>>) -> UnitQuaternion<f64> {
    let axis = Vector3::z().cross(z);
    let sine = axis.norm();
    match Unit::try_new(axis, 1e-300) {
        Some(axis) => UnitQuaternion::from_axis_angle(&axis, sine.atan2(z.z)),
        None if z.z < 0.0 => UnitQuaternion::new_unchecked(Quaternion::new(0.0, 1.0, 0.0, 0.0)),
        None => UnitQuaternion::identity(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    fn rotation(attributes: &str, compiler: &str) -> Result<Matrix3<f64>, SceneError> {
        let parse = |text: &str| Element::parse(text, Path::new("a.xml")).unwrap();
        let root = parse(&format!("<mujoco><compiler {compiler}/></mujoco>"));
        let compiler = Compiler::read(&root)?;
        let found = read(&parse(&format!("<geom {attributes}/>")), &compiler)?;
        Ok(found.unwrap_or_default().to_rotation_matrix().into_inner())
    }

    fn about(axis: Vector3<f64>, angle: f64) -> Matrix3<f64> {
        Rotation3::from_axis_angle(&Unit::new_normalize(axis), angle).into_inner()
    }

    /// A dozen products of numbers up to one.
    const ROUND_OFF: f64 = 1e-14;

    #[test]
    fn small_letters_turn_about_moving_axes_and_capital_ones_about_fixed_axes() {
        let (x, y, z) = (Vector3::x(), Vector3::y(), Vector3::z());
        let (a, b, c) = (0.3, -0.8, 1.9);
        let angles = format!("euler='{a} {b} {c}'");
        for (sequence, expected) in [
            ("xyz", about(x, a) * about(y, b) * about(z, c)),
            ("zyx", about(z, a) * about(y, b) * about(x, c)),
            ("XYZ", about(z, c) * about(y, b) * about(x, a)),
            ("zxz", about(z, a) * about(x, b) * about(z, c)),
            // The second turn is about a fixed axis: it stands before what came so far.
            ("xYz", about(y, b) * about(x, a) * about(z, c)),
        ] {
            let compiler = format!("angle='radian' eulerseq='{sequence}'");
            let found = rotation(&angles, &compiler).unwrap();
            assert!((found - expected).amax() <= ROUND_OFF, "{sequence}");
        }
    }

    #[test]
    fn degrees_are_the_default() {
        let found = rotation("axisangle='0 0 5 90'", "").unwrap();
        assert!((found - about(Vector3::z(), std::f64::consts::FRAC_PI_2)).amax() <= ROUND_OFF);
    }

    #[test]
    fn a_quaternion_of_any_length_is_its_direction() {
        let unit = rotation("quat='0.5 0.5 0.5 0.5'", "").unwrap();
        for scale in
            ["3 3 3 3", "-2 -2 -2 -2", "1e-200 1e-200 1e-200 1e-200", "1e300 1e300 1e300 1e300"]
        {
            let found = rotation(&format!("quat='{scale}'"), "").unwrap();
            assert!((found - unit).amax() <= ROUND_OFF, "{scale}");
        }
        assert!(rotation("quat='0 0 0 0'", "").is_err());
    }

    #[test]
    fn two_axes_give_x_and_the_plane_of_y() {
        let found = rotation("xyaxes='0 2 0  -3 5 0'", "").unwrap();
        let expected = Matrix3::from_columns(&[Vector3::y(), -Vector3::x(), Vector3::z()]);
        assert!((found - expected).amax() <= ROUND_OFF);
        assert!(rotation("xyaxes='1 2 3 2 4 6'", "").is_err());
    }

    #[test]
    fn the_z_axis_turns_by_the_shortest_way() {
        let found = rotation("zaxis='0 3 3'", "").unwrap();
        assert!((found - about(Vector3::x(), -std::f64::consts::FRAC_PI_4)).amax() <= ROUND_OFF);
        let back = rotation("zaxis='0 0 -1'", "").unwrap();
        assert!((back - about(Vector3::x(), std::f64::consts::PI)).amax() <= ROUND_OFF);
        assert!(rotation("zaxis='0 0 0'", "").is_err());
    }

    #[test]
    fn two_notations_at_once_are_refused() {
        for both in ["quat='1 0 0 0' euler='0 0 1'", "zaxis='0 0 1' axisangle='1 0 0 1'"] {
            let message = rotation(both, "").unwrap_err().to_string();
            assert!(message.contains("at most one orientation"), "{message}");
        }
    }
}
