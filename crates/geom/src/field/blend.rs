//! Union, intersection and difference of fields, sharp or smooth.
//!
//! The sharp union is the minimum: exact outside, a bound inside. The smooth one is the quadratic smooth minimum
//! min(a, b) − (w − |a − b|)²/(4 w) where the values differ by less than the width w: its gradient is a convex combination of both,
//! hence no longer than the longer one, and it fills corners by at most w/4.

use super::FieldSample;

/// Union of two fields, smooth over the width `smooth` [m].
#[inline]
pub fn union(a: FieldSample, b: FieldSample, smooth: f64) -> FieldSample {
    let (low, high) = if a.value <= b.value { (a, b) } else { (b, a) };
    let left = smooth - (high.value - low.value);
    if !(left > 0.0) {
        return low;
    }
    // d/dlow = 1 − left/(2w), d/dhigh = left/(2w).
    let share = 0.5 * left / smooth;
    FieldSample {
        value: low.value - 0.5 * share * left,
        gradient: (1.0 - share) * low.gradient + share * high.gradient,
    }
}

/// Intersection of two fields, smooth over the width `smooth` [m].
#[inline]
pub fn intersection(a: FieldSample, b: FieldSample, smooth: f64) -> FieldSample {
    complement(union(complement(a), complement(b), smooth))
}

/// The field of everything outside.
#[inline]
pub fn complement(a: FieldSample) -> FieldSample {
    FieldSample { value: -a.value, gradient: -a.gradient }
}
