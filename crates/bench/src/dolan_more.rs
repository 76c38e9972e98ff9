//! Performance profiles \[Dolan02\]: the share of problems that a solver solves within a factor
//! τ of the time of the best solver for each problem, `ρ_s(τ) = |{p : t_ps / min_s t_ps ≤ τ}| / n`.
//!
//! Problems that no solver solves count in n.

/// Ratios of one solver's times to the best, for the problems that it solved, sorted.
#[derive(Clone, Debug, PartialEq)]
pub struct ProfileCurve {
    /// Time over the best time [-], at least one, ascending.
    pub ratios: Vec<f64>,
    /// Number of problems, solved or not.
    pub problems: usize,
}

/// The curve of each solver, from `times[solver][problem]` \[s\], `None` where it failed.
pub fn curves(times: &[Vec<Option<f64>>]) -> Vec<ProfileCurve> {
    let problems = times.first().map_or(0, Vec::len);
    let best = |p: usize| times.iter().filter_map(|t| t[p]).fold(f64::INFINITY, f64::min);
    let best: Vec<f64> = (0..problems).map(best).collect();
    let curve = |of_solver: &Vec<Option<f64>>| {
        let solved = of_solver.iter().zip(&best).filter_map(|(t, best)| t.map(|t| (t, *best)));
        let mut ratios: Vec<f64> =
            solved.map(|(t, best)| if best > 0.0 { t / best } else { 1.0 }).collect();
        ratios.sort_by(f64::total_cmp);
        ProfileCurve { ratios, problems }
    };
    times.iter().map(curve).collect()
}

impl ProfileCurve {
    /// ρ(τ).
    pub fn share(&self, tau: f64) -> f64 {
        let within = self.ratios.partition_point(|ratio| *ratio <= tau);
        if self.problems == 0 { 0.0 } else { within as f64 / self.problems as f64 }
    }

    /// Corners of the staircase from τ = 1 to `end`.
    pub fn steps(&self, end: f64) -> Vec<(f64, f64)> {
        let inside = self.ratios.iter().filter(|ratio| **ratio < end);
        let mut corners: Vec<f64> = std::iter::once(1.0).chain(inside.copied()).collect();
        corners.push(end);
        corners.dedup();
        corners.into_iter().map(|tau| (tau, self.share(tau))).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_profile_of_a_small_table_of_times_follows_by_hand() {
        // Best times: 1, 2, 4, none. All ratios are powers of two, hence exact.
        let times = [
            vec![Some(1.0), Some(8.0), None, None],
            vec![Some(2.0), Some(2.0), Some(4.0), None],
            vec![None, None, None, None],
        ];
        let found = curves(&times);
        assert_eq!(found[0], ProfileCurve { ratios: vec![1.0, 4.0], problems: 4 });
        assert_eq!(found[1], ProfileCurve { ratios: vec![1.0, 1.0, 2.0], problems: 4 });
        let at = |s: usize, tau: f64| found[s].share(tau);
        assert_eq!([at(0, 1.0), at(0, 3.9), at(0, 4.0)], [0.25, 0.25, 0.5]);
        assert_eq!([at(1, 1.0), at(1, 2.0), at(1, 100.0)], [0.5, 0.75, 0.75]);
        assert_eq!(found[2].share(100.0), 0.0);
        assert_eq!(found[0].steps(10.0), [(1.0, 0.25), (4.0, 0.5), (10.0, 0.5)]);
    }

    #[test]
    fn a_solver_alone_is_the_best_wherever_it_succeeds() {
        let found = curves(&[vec![Some(3.0), None, Some(0.5)]]);
        assert_eq!(found[0].steps(2.0), [(1.0, 2.0 / 3.0), (2.0, 2.0 / 3.0)]);
    }
}
