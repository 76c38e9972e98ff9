//! Random variations of a problem: other loads, other friction, other masses, the same geometry.
//!
//! Robustness of a solver is the share of variations that it solves. A variation has no reference
//! solution; those of the original problem are left out.

use crate::error::ProblemError;
use crate::file::RawProblem;
use crate::problem::subsystems;
use stiction_math::random::SplitMix64;

/// Ranges of random variations.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct VariationRanges {
    /// Least and largest acceleration that the added wrench gives a subsystem alone [m/s²].
    pub acceleration: (f64, f64),
    /// Time over which it acts [s], if the problem has no time step.
    pub time_step: f64,
    /// Least and largest friction [-], drawn for every contact.
    pub friction: (f64, f64),
    /// Largest factor by which a subsystem gets heavier or lighter than another [-].
    pub mass_ratio: f64,
    /// Share of the subsystems whose mass changes [-].
    pub share: f64,
}

impl Default for VariationRanges {
    fn default() -> Self {
        Self {
            acceleration: (2.0, 20.0),
            time_step: 0.01,
            friction: (0.0, 2.0),
            mass_ratio: 1000.0,
            share: 0.5,
        }
    }
}

/// Keys of a problem file that stay true when loads, friction and masses change.
const KEPT: [&str; 3] = ["dt", "lambda_min", "lambda_max"];

/// A variation of a problem, determined by `seed`: a random wrench on every subsystem, friction drawn
/// for every contact (the same along both tangents), and masses of random subsystems scaled, A and
/// b alike.
pub fn random_variation(
    raw: &RawProblem,
    seed: u64,
    spread: &VariationRanges,
) -> Result<RawProblem, ProblemError> {
    let mut random = SplitMix64::new(seed);
    let mut varied = raw.clone();
    varied.name = format!("{}-{seed}", raw.name);
    varied.extra.retain(|key, _| KEPT.contains(&key.as_str()));
    let given = raw.extra.get("dt").and_then(|dt| dt.to_f64().first().copied());
    let dt = given.filter(|dt| *dt > 0.0 && dt.is_finite()).unwrap_or(spread.time_step);
    let (starts, members) = subsystems(raw)?;
    for pair in starts.windows(2) {
        let rows = &members[pair[0]..pair[1]];
        let (low, high) = spread.acceleration;
        let push = dt * random.uniform(low, high);
        let exponent = random.uniform(-0.5, 0.5);
        let scaled = random.unit() < spread.share;
        let factor = if scaled { spread.mass_ratio.powf(exponent) } else { 1.0 };
        for &row in rows {
            let range = raw.a.indptr[row]..raw.a.indptr[row + 1];
            let diagonal: f64 = raw.a.row(row).filter(|(c, _)| *c == row).map(|(_, x)| x).sum();
            varied.a.data[range].iter_mut().for_each(|x| *x *= factor);
            varied.b[row] = factor * (raw.b[row] + push * diagonal * random.normal());
        }
    }
    let (low, high) = spread.friction;
    for (mu, kind) in varied.mu.iter_mut().zip(&raw.kinds) {
        let drawn = random.uniform(low, high);
        if *kind == 2 {
            *mu = drawn;
        }
    }
    Ok(varied)
}
