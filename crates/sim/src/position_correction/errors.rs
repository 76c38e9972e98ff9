//! Position errors of a configuration, in all and per tree.

use crate::settings::Stabilisation;

/// Largest position errors of a configuration.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct PositionErrors {
    /// Largest error of an equality [m, rad].
    pub equality: f64,
    /// Deepest penetration of a rigid contact [m].
    pub depth: f64,
    /// Largest distance of a coordinate or a tendon beyond its range [m, rad].
    pub limit: f64,
}

/// Position errors of the constraints of one tree, or of a group of trees.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct TreeErrors {
    /// Largest error of an equality [m, rad].
    pub equality: f64,
    /// Sum of the errors of all rows of equalities [m, rad]. Where equalities contradict one another, a
    /// displacement reduces one error by as much as it adds to another.
    pub equality_sum: f64,
    /// Largest penetration, or distance beyond a range [m, rad].
    pub depth: f64,
    /// Sum of the squares of all errors above their tolerances [m², rad²].
    pub squares: f64,
}

impl TreeErrors {
    /// No errors.
    pub const NONE: Self = Self { equality: 0.0, equality_sum: 0.0, depth: 0.0, squares: 0.0 };

    /// Adds the error of an equality.
    pub fn add_equality(&mut self, error: f64, closure: f64) {
        let error = error.abs();
        self.equality = self.equality.max(error);
        self.equality_sum += error;
        if error > closure {
            self.squares += error * error;
        }
    }

    /// Adds the depth of a contact or limit, negative if it is open.
    pub fn add_depth(&mut self, depth: f64, slop: f64) {
        self.depth = self.depth.max(depth);
        if depth > slop {
            self.squares += depth * depth;
        }
    }

    /// The errors of both.
    pub fn merge(&mut self, other: &Self) {
        self.equality = self.equality.max(other.equality);
        self.equality_sum += other.equality_sum;
        self.depth = self.depth.max(other.depth);
        self.squares += other.squares;
    }

    /// The largest error that exceeds its tolerance; zero if none does.
    pub fn largest(&self, settings: &Stabilisation) -> f64 {
        let equality = if self.equality > settings.closure { self.equality } else { 0.0 };
        let depth = if self.depth > settings.slop { self.depth } else { 0.0 };
        equality.max(depth)
    }

    /// Whether these errors are less than `before`: the largest fell by at least `decrease`, or it did not
    /// rise and the sum of squares fell.
    pub fn is_less_than(&self, before: &Self, decrease: f64, settings: &Stabilisation) -> bool {
        let (now, then) = (self.largest(settings), before.largest(settings));
        now <= then - decrease || (now <= then && self.squares < before.squares)
    }
}
