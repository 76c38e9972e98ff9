//! Errors in actuators, tendons, drag and inputs, reported where user input is checked.

use thiserror::Error;

/// Why an actuator, a tendon, a drag or an input does not fit a model.
#[derive(Clone, Debug, Error, PartialEq)]
#[non_exhaustive]
pub enum ForceError {
    /// A number is out of its range.
    #[error("{who}: {what} = {found}; expected {expected}")]
    Number {
        /// The actuator or the tendon.
        who: String,
        /// The quantity.
        what: &'static str,
        /// The number.
        found: f64,
        /// The permitted values.
        expected: &'static str,
    },
    /// The ends of a range are in the wrong order or NaN.
    #[error("{who}: {what} = {lower} … {upper}; expected lower ≤ upper")]
    Range {
        /// The actuator or the tendon.
        who: String,
        /// The range.
        what: &'static str,
        /// Its lower end.
        lower: f64,
        /// Its upper end.
        upper: f64,
    },
    /// A body, a joint or a tendon that was not declared.
    #[error("{who}: {what} {found}; expected one of the {count} that were declared")]
    Unknown {
        /// The actuator or the tendon.
        who: String,
        /// "body", "joint" or "tendon".
        what: &'static str,
        /// The requested index.
        found: usize,
        /// Number declared.
        count: usize,
    },
    /// A joint of several coordinates where one is needed.
    #[error(
        "{who}: joint '{joint}' is {kind} with {dofs} velocities; expected a joint with one \
         (hinge, slide, screw), or one of its velocities by number"
    )]
    NotScalar {
        /// The actuator or the tendon.
        who: String,
        /// The joint.
        joint: String,
        /// Its kind.
        kind: &'static str,
        /// Number of its velocities.
        dofs: usize,
    },
    /// A joint without a rotation where one is needed.
    #[error("{who}: joint '{joint}' is {kind}; expected a ball joint or a free joint")]
    NotRotation {
        /// The actuator.
        who: String,
        /// The joint.
        joint: String,
        /// Its kind.
        kind: &'static str,
    },
    /// A velocity that the joint does not have.
    #[error("{who}: velocity {found} of joint '{joint}'; expected a number below {dofs}")]
    NoSuchDof {
        /// The actuator.
        who: String,
        /// The joint.
        joint: String,
        /// The requested velocity.
        found: usize,
        /// Number of its velocities.
        dofs: usize,
    },
    /// A force law that depends on a length which the transmission does not have.
    #[error(
        "{who}: its force depends on the length of a wrench on a body, which has none; expected a law \
         without stiffness"
    )]
    NoLength {
        /// The actuator.
        who: String,
    },
    /// A waypoint of a tendon's path has invalid neighbours.
    #[error("{who}: waypoint {index} is {found}; expected {expected}")]
    Path {
        /// The tendon.
        who: String,
        /// Index in the path.
        index: usize,
        /// The waypoint.
        found: &'static str,
        /// The required neighbours.
        expected: &'static str,
    },
    /// Two actuators or two tendons share a name.
    #[error("{what} {first} and {second} are both named '{name}'; expected different names")]
    DuplicateName {
        /// "actuator" or "tendon".
        what: &'static str,
        /// The name.
        name: String,
        /// The first of them.
        first: usize,
        /// The second of them.
        second: usize,
    },
    /// An array has the wrong length.
    #[error("{what} has {found} entries; expected {expected}")]
    Length {
        /// "control", "wrench", "q", "v" or "activation".
        what: &'static str,
        /// Its length.
        found: usize,
        /// The required length.
        expected: usize,
    },
    /// An input is infinite or not a number.
    #[error("{what}[{index}] = {found}; expected a finite number")]
    NotFinite {
        /// "control" or "wrench".
        what: &'static str,
        /// Index in the array.
        index: usize,
        /// The number.
        found: f64,
    },
}

/// Checks the numbers of one actuator, tendon or drag.
pub(crate) struct SpecCheck<'a> {
    /// "actuator", "tendon" or "drag".
    pub(crate) what: &'static str,
    pub(crate) name: &'a str,
}

impl SpecCheck<'_> {
    pub(crate) fn who(&self) -> String {
        format!("{} '{}'", self.what, self.name)
    }

    pub(crate) fn finite(&self, what: &'static str, found: f64) -> Result<(), ForceError> {
        self.require(found.is_finite(), what, found, "a finite number")
    }

    pub(crate) fn not_negative(&self, what: &'static str, found: f64) -> Result<(), ForceError> {
        self.require(found >= 0.0 && found.is_finite(), what, found, "a finite number ≥ 0")
    }

    pub(crate) fn positive(&self, what: &'static str, found: f64) -> Result<(), ForceError> {
        self.require(found > 0.0 && found.is_finite(), what, found, "a finite number > 0")
    }

    pub(crate) fn require(
        &self,
        holds: bool,
        what: &'static str,
        found: f64,
        expected: &'static str,
    ) -> Result<(), ForceError> {
        if holds {
            return Ok(());
        }
        Err(ForceError::Number { who: self.who(), what, found, expected })
    }

    /// An infinite end makes a range one-sided; NaN is rejected.
    pub(crate) fn range(
        &self,
        what: &'static str,
        (lower, upper): (f64, f64),
    ) -> Result<(), ForceError> {
        let ordered = lower <= upper && lower < f64::INFINITY && upper > f64::NEG_INFINITY;
        if ordered {
            return Ok(());
        }
        Err(ForceError::Range { who: self.who(), what, lower, upper })
    }

    pub(crate) fn known(
        &self,
        what: &'static str,
        found: usize,
        count: usize,
    ) -> Result<(), ForceError> {
        if found < count {
            return Ok(());
        }
        Err(ForceError::Unknown { who: self.who(), what, found, count })
    }
}
