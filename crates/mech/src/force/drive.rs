//! Scalar force laws along rows of coefficients: implicit spring-dampers, friction, limits.
//!
//! A *row* is a sparse gradient over the velocities: its rate is Σ coefficient·v, and a force f
//! along it acts on the velocities as coefficient·f. All rows are stored in
//! [`Forces::entries`](super::Forces::entries) at positions that are constant for a model.

use crate::actuator::ActuatorId;
use crate::joint::JointId;
use crate::tendon::TendonId;

/// One coefficient of a row.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RowEntry {
    /// Index of the velocity.
    pub dof: usize,
    /// Rate of the row per unit of the velocity.
    pub coefficient: f64,
}

/// Range of a row among the entries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ForceRow {
    /// Its first entry.
    pub start: usize,
    /// One after its last entry.
    pub end: usize,
}

impl ForceRow {
    /// The row's entries among all.
    #[inline]
    pub fn of(self, entries: &[RowEntry]) -> &[RowEntry] {
        &entries[self.start..self.end]
    }
}

/// The source of a [`Drive`]; the same from step to step, so that it identifies impulses for warm
/// starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum DriveKind {
    /// Spring and damper of a tendon.
    TendonSpring(TendonId),
    /// The law of an actuator.
    Servo(ActuatorId),
    /// Dry friction of one velocity of a joint, by its index in v.
    JointFriction(usize),
    /// Dry friction of a tendon.
    TendonFriction(TendonId),
}

impl DriveKind {
    /// Whether the drive is dry friction: it opposes motion up to its bounds.
    pub fn is_dry_friction(self) -> bool {
        matches!(self, Self::JointFriction(_) | Self::TendonFriction(_))
    }
}

/// A bounded force along a row, linear in the row's length and rate: a spring-damper, a servo or dry
/// friction.
///
/// At the next rate u' after a step h the force is [`Drive::force_at`]; its impulse is h times the
/// force. Dry friction has zero force, stiffness and damping: the solver finds the force within its
/// bounds that opposes the motion.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Drive {
    /// Source of the force.
    pub kind: DriveKind,
    /// Row along which it acts.
    pub row: ForceRow,
    /// Force at the present state, before its bounds [N or N·m].
    pub force: f64,
    /// Rate of the row at the present state [m/s or rad/s].
    pub rate: f64,
    /// −∂force/∂length [N/m or N·m/rad], not negative.
    pub stiffness: f64,
    /// −∂force/∂rate [N·s/m or N·m·s/rad], not negative.
    pub damping: f64,
    /// Smallest force, −∞ if unbounded.
    pub lower: f64,
    /// Largest force, ∞ if unbounded.
    pub upper: f64,
}

impl Drive {
    /// Force at the end of a step of `time_step` [s] in which the row moves at `rate`: the spring
    /// uses the length at the end of the step, the damper the rate.
    #[inline]
    pub fn force_at(&self, rate: f64, time_step: f64) -> f64 {
        let free =
            self.force - self.damping * (rate - self.rate) - time_step * self.stiffness * rate;
        free.clamp(self.lower, self.upper)
    }

    /// The same law as a compliant row: compliance R [m/s per N·s] and bias e [m/s] such that
    /// u' + e + R λ = 0 for an impulse λ between h·lower and h·upper; otherwise λ is at the bound.
    ///
    /// The soft constraint of [Lee25, Eq. (4)] with the implicit spring-damper c = h (h K + D). For
    /// dry friction both are zero: the row is rigid up to its bounds.
    #[inline]
    pub fn compliance(&self, time_step: f64) -> (f64, f64) {
        let slope = time_step * self.stiffness + self.damping;
        if slope == 0.0 {
            return (0.0, 0.0);
        }
        (1.0 / (time_step * slope), -(self.force + self.damping * self.rate) / slope)
    }

    /// Force at the present state, within its bounds.
    #[inline]
    pub fn present_force(&self) -> f64 {
        self.force.clamp(self.lower, self.upper)
    }
}

/// The joint or tendon that a limit belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum LimitSource {
    /// One velocity of a joint, counted within the joint; zero for the angle of a ball.
    Joint(JointId, usize),
    /// A tendon.
    Tendon(TendonId),
}

/// A limit that may become active within a step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LimitRow {
    /// The joint or tendon that the limit belongs to.
    pub source: LimitSource,
    /// Row of the limited length.
    pub row: ForceRow,
    /// Distance to the end of the range, negative beyond it [m or rad].
    pub gap: f64,
    /// +1 at the lower end, −1 at the upper: the gap grows at `sign` times the rate of the row.
    pub sign: f64,
    /// Rate of the gap at the present state [m/s or rad/s].
    pub gap_rate: f64,
}
