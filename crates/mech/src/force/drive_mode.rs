//! Bounded forces on single velocities whose mode in a step is known: they need no row.
//!
//! Within its bounds a servo is linear and belongs on the diagonal of A; at a bound it is a constant force. Dry
//! friction on a velocity that moves is a constant force, and on one that rests a stiff damper. The mode is an
//! assumption about the step, to be verified with its result ([`ModedDrive::is_kept`]).

use super::Forces;
use super::drive::{Drive, RowEntry};

/// Relative error of a force up to which a mode counts as kept [-].
const TOLERANCE: f64 = 1e-9;

/// What a bounded force does in a step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum DriveMode {
    /// It is linear in length and rate, within its bounds.
    Linear,
    /// It exerts its smallest force.
    AtLower,
    /// It exerts its largest force.
    AtUpper,
    /// Dry friction holds the velocity at zero, as a damper of this coefficient [N·s/m or N·m·s/rad], which is not among the
    /// slopes of the velocity.
    Stuck {
        /// The coefficient.
        damping: f64,
    },
}

/// A drive that has no row, with the mode that it is assumed to have.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ModedDrive {
    /// The drive, which acts on a single velocity.
    pub drive: Drive,
    /// That velocity.
    pub entry: RowEntry,
    /// Its mode.
    pub mode: DriveMode,
}

impl ModedDrive {
    /// Whether a step of `time_step` [s] in which the velocity becomes `v` confirms the mode.
    pub fn is_kept(&self, v: f64, time_step: f64) -> bool {
        let Self { drive, entry, mode } = self;
        let rate = entry.coefficient * v;
        let free =
            drive.force - drive.damping * (rate - drive.rate) - time_step * drive.stiffness * rate;
        let slack = TOLERANCE * drive.lower.abs().max(drive.upper.abs());
        let is_friction = drive.kind.is_dry_friction();
        match *mode {
            DriveMode::Linear => drive.lower - slack <= free && free <= drive.upper + slack,
            DriveMode::AtLower if is_friction => rate >= 0.0,
            DriveMode::AtUpper if is_friction => rate <= 0.0,
            DriveMode::AtLower => free <= drive.lower + slack,
            DriveMode::AtUpper => free >= drive.upper - slack,
            DriveMode::Stuck { damping } => damping * rate.abs() <= drive.upper + slack,
        }
    }
}

impl ModedDrive {
    /// The force within the bounds that is nearest to that of the mode in such a step [N or N·m].
    pub fn nearest_force(&self, v: f64, time_step: f64) -> f64 {
        let Self { drive, entry, mode } = self;
        let rate = entry.coefficient * v;
        match *mode {
            DriveMode::Stuck { damping } => (-damping * rate).clamp(drive.lower, drive.upper),
            DriveMode::AtLower if drive.kind.is_dry_friction() => drive.lower,
            DriveMode::AtUpper if drive.kind.is_dry_friction() => drive.upper,
            _ => drive.force_at(rate, time_step),
        }
    }
}

impl Forces {
    /// Moves the drives on single velocities for which `mode_of` returns a mode from [`Forces::drives`] to
    /// [`Forces::moded`], and adds their forces and slopes to those of the velocities.
    pub fn take_modes(&mut self, mut mode_of: impl FnMut(&Drive, RowEntry) -> Option<DriveMode>) {
        let Self { generalized, stiffness, damping, drives, moded, entries, .. } = self;
        let mut kept = 0;
        for index in 0..drives.len() {
            let drive = &drives[index];
            let of_one = if let &[entry] = drive.row.of(entries) { Some(entry) } else { None };
            let taken = of_one.and_then(|entry| Some((entry, mode_of(drive, entry)?)));
            let Some((entry, mode)) = taken else {
                drives[kept] = *drive;
                kept += 1;
                continue;
            };
            let RowEntry { dof, coefficient } = entry;
            let (force, slopes) = match mode {
                DriveMode::Linear => (drive.force, [drive.stiffness, drive.damping]),
                DriveMode::AtLower => (drive.lower, [0.0; 2]),
                DriveMode::AtUpper => (drive.upper, [0.0; 2]),
                DriveMode::Stuck { .. } => (0.0, [0.0; 2]),
            };
            generalized[dof] += coefficient * force;
            stiffness[dof] += coefficient * coefficient * slopes[0];
            damping[dof] += coefficient * coefficient * slopes[1];
            moded.push(ModedDrive { drive: *drive, entry, mode });
        }
        drives.truncate(kept);
    }
}
