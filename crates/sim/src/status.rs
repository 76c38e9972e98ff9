//! Status of a whole step: whether its result can be relied upon, and otherwise what is wrong with it.
//!
//! A step can have several faults. They form a small set, [`StepFlags`]; the status is the worst of them.
//! The order is by how little is known about the error of the next state: a problem that is not solved has
//! no bound on it; a correction that is not done leaves a position error that is measured; a motion that is
//! not resolved leaves the balance of energy; uncertain geometry and softened constraints concern single
//! contacts, whose constraints are solved otherwise.

use std::fmt;

/// Status of a step, from the best to the worst.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum StepStatus {
    /// Everything was computed to its tolerance.
    #[default]
    Ok,
    /// Constraints contradict one another or were too hard to solve, and were softened.
    Softened,
    /// The depth of a contact is not known to its tolerance.
    GeometryUncertain,
    /// The time step is too large for the motion, or energy appeared or vanished without a cause.
    MotionNotResolved,
    /// Position errors remain: an equality is open, or bodies penetrate deeply and no less than before.
    CorrectionNotDone,
    /// The contact problem was not solved to its tolerance.
    ProblemNotSolved,
}

/// Every status, from the best to the worst.
pub const STEP_STATUSES: [StepStatus; 6] = [
    StepStatus::Ok,
    StepStatus::Softened,
    StepStatus::GeometryUncertain,
    StepStatus::MotionNotResolved,
    StepStatus::CorrectionNotDone,
    StepStatus::ProblemNotSolved,
];

impl StepStatus {
    /// Name in files and in Python.
    pub fn name(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Softened => "softened",
            Self::GeometryUncertain => "geometry_uncertain",
            Self::MotionNotResolved => "motion_not_resolved",
            Self::CorrectionNotDone => "correction_not_done",
            Self::ProblemNotSolved => "problem_not_solved",
        }
    }

    /// Whether the state after the step cannot be relied upon: a run in which this happens often fails.
    pub fn is_failure(self) -> bool {
        self >= Self::MotionNotResolved
    }
}

impl fmt::Display for StepStatus {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The faults of a step, or of several.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct StepFlags(u8);

impl StepFlags {
    /// Adds a fault; [`StepStatus::Ok`] adds nothing.
    pub fn insert(&mut self, status: StepStatus) {
        self.0 |= Self::bit(status);
    }

    /// Adds a fault if a condition holds.
    #[must_use]
    pub fn with(mut self, status: StepStatus, condition: bool) -> Self {
        if condition {
            self.insert(status);
        }
        self
    }

    /// Whether a fault is in the set; for [`StepStatus::Ok`], whether the set is empty.
    pub fn contains(self, status: StepStatus) -> bool {
        match Self::bit(status) {
            0 => self.0 == 0,
            bit => self.0 & bit != 0,
        }
    }

    /// The faults of both.
    #[must_use]
    pub fn union(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// The worst fault; [`StepStatus::Ok`] if there is none.
    pub fn worst(self) -> StepStatus {
        let present = |status: &StepStatus| self.contains(*status);
        STEP_STATUSES.into_iter().rev().find(present).unwrap_or_default()
    }

    /// The faults, from the least to the worst.
    pub fn iter(self) -> impl Iterator<Item = StepStatus> {
        STEP_STATUSES.into_iter().skip(1).filter(move |status| self.contains(*status))
    }

    /// As a number: the fault at place k of [`STEP_STATUSES`] is bit k − 1.
    pub fn bits(self) -> u8 {
        self.0
    }

    /// From [`StepFlags::bits`]; unknown bits are dropped.
    pub fn from_bits(bits: u8) -> Self {
        Self(bits & ((1 << (STEP_STATUSES.len() - 1)) - 1))
    }

    fn bit(status: StepStatus) -> u8 {
        match status {
            StepStatus::Ok => 0,
            fault => 1 << (fault as u8 - 1),
        }
    }
}

impl FromIterator<StepStatus> for StepFlags {
    fn from_iter<I: IntoIterator<Item = StepStatus>>(faults: I) -> Self {
        faults.into_iter().fold(Self::default(), |flags, fault| flags.with(fault, true))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_worst_of_several_faults_is_the_status() {
        assert_eq!(StepFlags::default().worst(), StepStatus::Ok);
        for (k, fault) in STEP_STATUSES.into_iter().enumerate() {
            for lesser in &STEP_STATUSES[..=k] {
                let flags: StepFlags = [*lesser, fault].into_iter().collect();
                assert_eq!(flags.worst(), fault);
                assert_eq!(StepFlags::from_bits(flags.bits()), flags);
                assert!(
                    flags.contains(fault)
                        && flags.contains(*lesser) == (*lesser != StepStatus::Ok || k == 0)
                );
            }
        }
        assert!(STEP_STATUSES.is_sorted());
        assert_eq!(StepFlags::from_bits(0xff).iter().count(), STEP_STATUSES.len() - 1);
    }
}
