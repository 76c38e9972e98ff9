//! Checks of the input of a builder.

use crate::error::ProblemError;

/// Relative asymmetry up to which a matrix counts as symmetric [-].
const ASYMMETRY: f64 = 1e-8;

/// Checks that an array has the expected length.
pub(super) fn length(
    what: &'static str,
    owner: &'static str,
    index: usize,
    found: usize,
    expected: usize,
) -> Result<(), ProblemError> {
    if found == expected {
        return Ok(());
    }
    Err(ProblemError::Length { what, owner, index, found, expected })
}

/// Whether all numbers are finite; without a branch per number.
pub(super) fn all_finite(values: &[f64]) -> bool {
    !values.iter().fold(false, |bad, x| bad | !x.is_finite())
}

/// Checks that all numbers of an array are finite.
pub(super) fn finite(
    what: &'static str,
    owner: &'static str,
    index: usize,
    values: &[f64],
) -> Result<(), ProblemError> {
    match values.iter().position(|x| !x.is_finite()) {
        None => Ok(()),
        Some(entry) => {
            let value = values[entry];
            Err(ProblemError::NotFinite { what, owner, index, entry, value })
        }
    }
}

/// Checks that an index is less than `count`.
pub(super) fn known(
    owner: &'static str,
    index: usize,
    what: &'static str,
    found: usize,
    count: usize,
) -> Result<(), ProblemError> {
    if found < count {
        return Ok(());
    }
    Err(ProblemError::Unknown { owner, index, what, found, count })
}

/// Checks that a row-major matrix is symmetric up to round-off.
pub(super) fn symmetric(subsystem: usize, a: &[f64], n: usize) -> Result<(), ProblemError> {
    for row in 0..n {
        for column in 0..row {
            let (found, mirror) = (a[row * n + column], a[column * n + row]);
            if found == mirror {
                continue;
            }
            let scale = (a[row * n + row] * a[column * n + column]).abs().sqrt();
            if (found - mirror).abs() > ASYMMETRY * scale.max(found.abs()) {
                return Err(ProblemError::NotSymmetric { subsystem, row, column, found, mirror });
            }
        }
    }
    Ok(())
}
