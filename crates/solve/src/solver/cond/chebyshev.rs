//! Chebyshev acceleration with a slow start and under-relaxation [Lee23, Eqs. (38), (39), Alg. 3].
//!
//! `x⁺ = ν (u (x** − x) + x − x⁻) + x⁻`, with ν from an estimate ρ of the contraction,
//! `ρ = min(|x − x⁻| / |x⁻ − x⁻⁻|, 1)`.
//!
//! Deviation: the printed Eq. (38) has b and the splitting with the wrong sign and lacks the
//! under-relaxation u that the text describes; printed as it stands it converges elsewhere.
//! Deviation: the estimate can reach one, where nothing damps the iteration. If the step `x⁺ − x`
//! points against `x** − x`, the weights start again from x**.
//! Norms are those of the scaled unknowns.

/// Settings of the acceleration.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ChebyshevSettings {
    /// Plain iterations before the acceleration sets in.
    pub slow_start: usize,
    /// Under-relaxation u [-].
    pub under_relaxation: f64,
    /// Whether the weights start again when the iterates turn back.
    pub restart: bool,
}

impl Default for ChebyshevSettings {
    fn default() -> Self {
        Self { slow_start: 10, under_relaxation: 0.9, restart: true } // [Lee23, Alg. 3]
    }
}

/// The weights of the acceleration.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Chebyshev {
    settings: ChebyshevSettings,
    count: usize,
    weight: f64,
    last_change: f64,
}

impl Default for Chebyshev {
    fn default() -> Self {
        let settings = ChebyshevSettings::default();
        Self { settings, count: 0, weight: 1.0, last_change: f64::INFINITY }
    }
}

impl Chebyshev {
    /// Starts an iteration.
    pub fn start(&mut self, settings: ChebyshevSettings) {
        self.settings = settings;
        (self.count, self.weight, self.last_change) = (0, 1.0, f64::INFINITY);
    }

    /// Replaces `previous` by the next iterate x⁺ and returns `|x⁺ − x|` and `|x** − x|` in the scaled
    /// norm. Without an estimate ρ, x⁺ = x**.
    pub fn advance(
        &mut self,
        estimate: Option<f64>,
        x_solved: &[f64],
        x: &[f64],
        previous: &mut [f64],
        metric: &[f64],
    ) -> (f64, f64) {
        self.weight = match (estimate, self.count) {
            (None, _) => 1.0,
            (_, l) if l < self.settings.slow_start => 1.0,
            (Some(rho), l) if l == self.settings.slow_start => 2.0 / (2.0 - rho * rho),
            (Some(rho), _) => 4.0 / (4.0 - rho * rho * self.weight),
        };
        self.count += 1;
        let u = if self.weight > 1.0 { self.settings.under_relaxation } else { 1.0 };
        let [change, turn, left] = combine(self.weight, u, x_solved, x, previous, metric);
        if self.settings.restart && turn < 0.0 && self.weight > 1.0 {
            self.count = 0;
            previous.copy_from_slice(x_solved);
        }
        (change.sqrt(), left.sqrt())
    }

    /// The estimate ρ [-] after a change of this size.
    pub fn estimate(&mut self, change: f64) -> f64 {
        let rho = if self.last_change > 0.0 { change / self.last_change } else { 0.0 };
        self.last_change = change;
        if rho.is_finite() { rho.min(1.0) } else { 1.0 }
    }
}

/// `x⁻ ← ν (u (x** − x) + x − x⁻) + x⁻`; returns `|x⁺ − x|²`, `(x⁺ − x)·(x** − x)` and
/// `|x** − x|²`.
fn combine(
    nu: f64,
    u: f64,
    x_solved: &[f64],
    x: &[f64],
    previous: &mut [f64],
    metric: &[f64],
) -> [f64; 3] {
    const LANES: usize = 4;
    let mut sums = [[0.0; LANES]; 3];
    let add = |sums: &mut [[f64; LANES]; 3], k: usize, a: f64, x: f64, p: &mut f64, m: f64| {
        let next = nu * (u * (a - x) + x - *p) + *p;
        sums[0][k] += (next - x) * (next - x) * m;
        sums[1][k] += (next - x) * (a - x) * m;
        sums[2][k] += (a - x) * (a - x) * m;
        *p = next;
    };
    let (a4, a_rest) = x_solved.as_chunks::<LANES>();
    let (x4, x_rest) = x.as_chunks::<LANES>();
    let (p4, p_rest) = previous.as_chunks_mut::<LANES>();
    let (m4, m_rest) = metric.as_chunks::<LANES>();
    for (((a, x), p), m) in a4.iter().zip(x4).zip(p4).zip(m4) {
        for k in 0..LANES {
            add(&mut sums, k, a[k], x[k], &mut p[k], m[k]);
        }
    }
    for (((a, x), p), m) in a_rest.iter().zip(x_rest).zip(p_rest).zip(m_rest) {
        add(&mut sums, 0, *a, *x, p, *m);
    }
    sums.map(|s| (s[0] + s[1]) + (s[2] + s[3]))
}
