//! Copies: a grid of the same element, with random offsets on request.

use nalgebra::{Isometry3, Quaternion, Translation3, UnitQuaternion, Vector3};
use stiction_math::random::SplitMix64;

use super::table::Table;
use crate::error::SceneError;

/// Largest number of copies of one table.
const MOST: f64 = 1e6;

/// Poses of the copies: one without a number, or several with numbers.
pub(super) struct Copies {
    /// Suffix of the name, and the pose.
    pub each: Vec<(String, Isometry3<f64>)>,
}

/// Reads `copies = { count, spacing, shift, turn, seed }` of a thing at a pose.
pub(super) fn read(table: &Table, pose: Isometry3<f64>) -> Result<Copies, SceneError> {
    let Some(inner) = table.table("copies")? else {
        return Ok(Copies { each: vec![(String::new(), pose)] });
    };
    let count = inner.array::<3>("count")?;
    let whole = |n: &f64| *n >= 1.0 && n.fract() == 0.0;
    let count = count.filter(|count| count.iter().all(whole));
    let count = count.filter(|count| count.iter().product::<f64>() <= MOST);
    let expected = "whole numbers along x, y and z, not more than a million in all";
    let [nx, ny, nz] = count.ok_or_else(|| inner.wrong("count", expected))?.map(|n| n as usize);
    let spacing = inner.vector("spacing")?;
    let spacing =
        spacing.ok_or_else(|| inner.wrong("spacing", "distances along x, y and z [m]"))?;
    let shift = inner.not_negative("shift")?.unwrap_or(0.0);
    let turn = inner.flag("turn")?;
    let seed = inner.number_if("seed", "a whole number", |x| x >= 0.0 && x.fract() == 0.0)?;
    inner.finish()?;

    let mut random = SplitMix64::new(seed.unwrap_or(0.0) as u64);
    let mut each = Vec::with_capacity(nx * ny * nz);
    for k in 0..nz {
        for j in 0..ny {
            for i in 0..nx {
                let grid = Vector3::new(i as f64, j as f64, k as f64).component_mul(&spacing);
                let shaken = Vector3::from_fn(|_, _| random.uniform(-shift, shift));
                let mut pose = pose;
                pose.translation = Translation3::from(pose.translation.vector + grid + shaken);
                if turn {
                    // Four normal numbers point in every direction alike.
                    let [w, x, y, z] = std::array::from_fn(|_| random.normal());
                    let turned = UnitQuaternion::try_new(Quaternion::new(w, x, y, z), 1e-9);
                    pose.rotation = turned.unwrap_or_default() * pose.rotation;
                }
                each.push((format!("-{}", each.len()), pose));
            }
        }
    }
    Ok(Copies { each })
}
