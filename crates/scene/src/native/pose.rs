//! Positions and orientations: `position`, `orientation`.

use nalgebra::{Isometry3, Quaternion, Translation3, Unit, UnitQuaternion, Vector3};

use super::table::Table;
use crate::error::SceneError;

/// The pose of a table; the identity if absent.
pub(super) fn read(table: &Table) -> Result<Isometry3<f64>, SceneError> {
    let position = table.vector("position")?.unwrap_or_default();
    Ok(Isometry3::from_parts(Translation3::from(position), orientation(table)?))
}

fn orientation(table: &Table) -> Result<UnitQuaternion<f64>, SceneError> {
    const EXPECTED: &str = "a quaternion [w, x, y, z], { degrees = [roll, pitch, yaw] }, \
                            { radians = [roll, pitch, yaw] }, or an axis with one angle";
    let wrong = || table.wrong("orientation", EXPECTED);
    if !table.has("orientation") {
        return Ok(UnitQuaternion::identity());
    }
    let Ok(Some(inner)) = table.table("orientation") else {
        let Ok(Some([w, x, y, z])) = table.array::<4>("orientation") else { return Err(wrong()) };
        let unit = UnitQuaternion::try_new(Quaternion::new(w, x, y, z), f64::MIN_POSITIVE);
        return unit.ok_or_else(wrong);
    };
    let (unit, key) = if inner.has("degrees") {
        (std::f64::consts::PI / 180.0, "degrees")
    } else {
        (1.0, "radians")
    };
    let turn = match inner.vector("axis")? {
        Some(axis) => {
            let axis = Unit::try_new(axis, f64::MIN_POSITIVE);
            let angle = inner.number(key)?.ok_or_else(|| inner.wrong(key, "an angle"))?;
            UnitQuaternion::from_axis_angle(&axis.ok_or_else(wrong)?, unit * angle)
        }
        None => {
            let angles: Vector3<f64> = inner.vector(key)?.ok_or_else(wrong)? * unit;
            // About the fixed axes x, y and z in turn, as in URDF.
            UnitQuaternion::from_euler_angles(angles.x, angles.y, angles.z)
        }
    };
    inner.finish()?;
    Ok(turn)
}
