//! Which bounded servos and dry frictions need no row in a step, because their mode is known beforehand.
//!
//! A servo that stays within its bounds is a spring-damper on the diagonal of A, a saturated one a constant
//! force; dry friction on a joint that moves is a constant force, on one that rests a stiff damper. The mode is
//! predicted from the state at the start of the step, where drives move from an estimate of the velocities at its end
//! (`drive_estimate`), and verified with the velocities found: where one
//! leaves its mode, the step is computed again with a row for it, in which every mode is exact. So results do not
//! depend on the prediction, only the cost.

use stiction_mech::{
    ActuatorId, Data, Drive, DriveKind, DriveMode, LimitSource, Model, RowEntry, TreeRange,
};

use super::{FreeMotion, MAX_SERVO_STIFFNESS, StepStart};
use crate::rows::tree_of_dof;
use crate::scheme::Scheme;

/// Fraction of its bounds within which a servo counts as unsaturated in a step of second order [-].
const UNSATURATED: f64 = 0.8;
/// Distance from a bound, relative to the range, within which the mode of a servo is not predicted [-].
const NEAR_BOUND: f64 = 0.02;
/// Damping of dry friction that holds, in units of inertia per time step [-]. What creeps is this fraction
/// of the speed that the friction could stop in a step.
const STIFF: f64 = 1e10;
/// Speed of a joint, relative to that which its friction could stop in a step, below which it rests [-]: above the creep
/// of a held joint.
const RESTING: f64 = 2.0 / STIFF;
/// The same speed above which a joint that had a row in the last step goes on moving, and the part of the bound below which
/// its friction goes on holding it [-].
const MOVING: f64 = 0.1;
const CLEAR: f64 = 0.9;
/// Part of the bound above which the friction of a row slid [-].
const SLID: f64 = 1.0 - 1e-9;
/// Error of an estimated velocity, relative to its change in the step, and where equalities hold, whose impulses are in no
/// estimate [-].
const DOUBT: f64 = 0.2;
const EQUALITY_DOUBT: f64 = 0.5;
/// The same of velocities that move bodies in contact, whose impulses change [-].
const CONTACT_DOUBT: f64 = 1.0;
/// Estimated speed above which a joint turns back, in speeds that its friction could stop in a step [-].
const TURNING: f64 = 4.0;

/// Distance from the end of its range at which a joint is there [m, rad].
const AT_LIMIT: f64 = 1e-6;

/// What is known of a drive on a single velocity before a step.
#[derive(Clone, Copy, Debug)]
struct Known {
    /// Whether it has a row in the present step, because it left its mode.
    has_row: bool,
    /// Impulse of its row in the last step or attempt [N·s]; not a number if it had none.
    impulse: f64,
    /// Whether its velocity is at the end of its range: friction that holds it leaves the limit hardly any inverse inertia.
    is_at_limit: bool,
}

impl Known {
    const NOTHING: Self = Self { has_row: false, impulse: f64::NAN, is_at_limit: false };
}

/// Drives that had rows in the last step, or have them in the present one because they left their mode.
#[derive(Debug, Default)]
pub(super) struct DriveModes {
    /// Whether modes are predicted; else all drives have rows.
    is_predicting: bool,
    /// Per actuator.
    servos: Vec<Known>,
    /// Per velocity.
    frictions: Vec<Known>,
    /// Whether velocities have been estimated in this step, and their error relative to their change [-].
    is_estimated: bool,
    doubt: f64,
    /// Per velocity: an estimate of it at the end of the step; not a number where there is none.
    pub estimate: Vec<f64>,
    /// Per velocity: whether a contact acted in the last step on a body that it moves, or a limit on itself.
    pub bears_contact: Vec<bool>,
    /// Velocities on which limits acted in the last step, and their impulses [N·s].
    pub limit_impulses: Vec<(usize, f64)>,
}

impl DriveModes {
    pub fn new(model: &Model) -> Self {
        Self {
            is_predicting: false,
            servos: vec![Known::NOTHING; model.actuators().len()],
            frictions: vec![Known::NOTHING; model.nv()],
            is_estimated: false,
            doubt: DOUBT,
            estimate: vec![f64::NAN; model.nv()],
            bears_contact: vec![false; model.nv()],
            limit_impulses: Vec::with_capacity(model.nv()),
        }
    }

    fn of(&mut self, kind: DriveKind) -> Option<&mut Known> {
        match kind {
            DriveKind::Servo(ActuatorId(index)) => self.servos.get_mut(index),
            DriveKind::JointFriction(dof) => self.frictions.get_mut(dof),
            DriveKind::TendonSpring(_) | DriveKind::TendonFriction(_) => None,
        }
    }
}

impl FreeMotion {
    /// Begins a step in which modes of drives are predicted, or all drives have rows, and in which equalities hold, or not.
    /// `rows` are the drives that had rows in the last step, `limits` the velocities on which limits acted, both with their
    /// impulses [N·s].
    pub fn predict_modes(
        &mut self,
        [is_predicting, holds_equality]: [bool; 2],
        rows: impl Iterator<Item = (DriveKind, f64)>,
        limits: impl Iterator<Item = (usize, f64)>,
    ) {
        let modes = &mut self.drive_modes;
        (modes.is_predicting, modes.is_estimated) = (is_predicting, false);
        modes.doubt = if holds_equality { EQUALITY_DOUBT } else { DOUBT };
        modes.limit_impulses.clear();
        modes.limit_impulses.extend(limits);
        modes.servos.fill(Known::NOTHING);
        modes.frictions.fill(Known::NOTHING);
        for (kind, impulse) in rows {
            if let Some(known) = modes.of(kind) {
                known.impulse = impulse;
            }
        }
    }

    /// An estimate of the impulse of a drive [N·s] that had no row in the last step.
    pub fn guess_impulse(&self, kind: DriveKind) -> f64 {
        let modes = &self.drive_modes;
        let known = match kind {
            DriveKind::Servo(ActuatorId(index)) => modes.servos.get(index),
            DriveKind::JointFriction(dof) => modes.frictions.get(dof),
            DriveKind::TendonSpring(_) | DriveKind::TendonFriction(_) => None,
        };
        known.map_or(0.0, |known| if known.impulse.is_finite() { known.impulse } else { 0.0 })
    }

    /// Takes the drives whose mode is known out of the rows. Needs the mass matrices in `data`.
    pub(super) fn take_drive_modes(&mut self, start: &StepStart, data: &mut Data) {
        let StepStart { model, time_step: h, asleep, .. } = *start;
        let modes = &mut self.drive_modes;
        if modes.is_predicting && !modes.is_estimated {
            modes.is_estimated = true;
            self.estimate_velocities(start, data);
        }
        let Self { forces, drive_modes, linearised, held, moded, has_modes, .. } = self;
        if has_modes.iter().any(|has_modes| *has_modes) {
            held.fill(0.0);
            moded.fill(0.0);
            has_modes.fill(false);
        }
        if !drive_modes.is_predicting || forces.drives.is_empty() {
            return;
        }
        for limit in forces.limits.iter().filter(|limit| limit.gap <= AT_LIMIT) {
            if let LimitSource::Joint(joint, k) = limit.source {
                drive_modes.frictions[model.joints()[joint.0].dofs.start + k].is_at_limit = true;
            }
        }
        forces.take_modes(|drive, entry| {
            let index = tree_of_dof(model, entry.dof);
            let known = *drive_modes.of(drive.kind)?;
            if asleep[index] || known.has_row {
                return None;
            }
            let inertia = diagonal_inertia(&model.trees()[index], entry.dof, data);
            let estimate = drive_modes.estimate[entry.dof];
            let mode = match drive.kind {
                DriveKind::JointFriction(dof) if is_rigid(model, index, dof) => {
                    let bears_contact = drive_modes.bears_contact[dof];
                    let doubt = if bears_contact { CONTACT_DOUBT } else { drive_modes.doubt };
                    let estimate = (estimate, doubt);
                    let mode = predict_friction(drive, known.impulse, estimate, inertia, h);
                    mode.filter(|mode| {
                        !(known.is_at_limit && matches!(mode, DriveMode::Stuck { .. }))
                    })
                }
                DriveKind::Servo(_) => {
                    let rate = entry.coefficient * estimate;
                    predict_servo(drive, (rate, drive_modes.doubt), h)
                }
                _ => None,
            };
            // A servo far from its bounds is part of a step of second order; all others are linearised.
            linearised[index] |= mode.is_some() && !flies(drive, entry, inertia, h);
            match mode {
                Some(DriveMode::Stuck { damping }) => held[entry.dof] = h * damping,
                Some(DriveMode::Linear) => {
                    let slope = drive.damping + h * drive.stiffness;
                    moded[entry.dof] += h * entry.coefficient * entry.coefficient * slope;
                }
                _ => {}
            }
            has_modes[index] |= mode.is_some();
            mode
        });
    }

    /// Verifies the modes of a step with the velocities `u` on which contact laws acted, and gives rows to drives that
    /// left theirs. True if there are any: then the step must be computed again.
    pub fn leaves_modes(
        &mut self,
        (model, scheme, h): (&Model, Scheme, f64),
        in_flight: &[bool],
        u: &[f64],
    ) -> bool {
        let mut leaves = false;
        for k in 0..self.forces.moded.len() {
            let moded = self.forces.moded[k];
            let tree = tree_of_dof(model, moded.entry.dof);
            // Trees in flight evaluate their servos within the bounds.
            let has_flown = self.flies(model, scheme, tree) && in_flight[tree];
            if !has_flown && !moded.is_kept(u[moded.entry.dof], h) {
                let impulse = h * moded.nearest_force(u[moded.entry.dof], h);
                if let Some(known) = self.drive_modes.of(moded.drive.kind) {
                    (known.has_row, known.impulse) = (true, impulse);
                }
                leaves = true;
            }
        }
        leaves
    }

    /// Gives rows to all drives.
    pub fn give_up_modes(&mut self) {
        self.drive_modes.is_predicting = false;
    }
}

pub(super) fn diagonal_inertia(tree: &TreeRange, dof: usize, data: &Data) -> f64 {
    data.mass[tree.mass.start + (dof - tree.dofs.start) * (tree.dofs.len() + 1)]
}

/// Whether dry friction of a velocity is exact, not soft, and the tree is more than a single link, whose A has no tree.
fn is_rigid(model: &Model, tree: usize, dof: usize) -> bool {
    let joint = model.joints().partition_point(|joint| joint.dofs.end <= dof);
    let is_exact = model.joints()[joint].spec.friction_softness.is_none();
    is_exact && model.trees()[tree].links.len() > 1
}

/// Mode of a servo whose rate at the end of the step is estimated; without an estimate, that at its present rate. `None`
/// near a bound.
fn predict_servo(drive: &Drive, (rate, doubt): (f64, f64), h: f64) -> Option<DriveMode> {
    if rate.is_nan() {
        return servo_from_rate(drive, h);
    }
    let change = rate - drive.rate;
    let force = drive.force - drive.damping * change - h * drive.stiffness * rate;
    let doubt = doubt * (drive.damping + h * drive.stiffness) * change.abs();
    servo_mode(drive, force, doubt)
}

/// Mode of a servo that goes on at its present rate; `None` near a bound.
pub(super) fn servo_from_rate(drive: &Drive, h: f64) -> Option<DriveMode> {
    servo_mode(drive, drive.force - h * drive.stiffness * drive.rate, 0.0)
}

/// Mode of a servo whose force without bounds is known but for `doubt`; `None` near a bound.
fn servo_mode(drive: &Drive, force: f64, doubt: f64) -> Option<DriveMode> {
    let (lower, upper) = (drive.lower, drive.upper);
    let range = upper - lower;
    let near = if range.is_finite() { NEAR_BOUND * range } else { NEAR_BOUND * force.abs() };
    let near = near + doubt;
    if lower + near <= force && force <= upper - near {
        Some(DriveMode::Linear)
    } else if force > upper + near {
        Some(DriveMode::AtUpper)
    } else if force < lower - near {
        Some(DriveMode::AtLower)
    } else {
        None
    }
}

/// Speed relative to that which dry friction could stop in a step, on a velocity with this inertia [-].
fn relative_speed(drive: &Drive, inertia: f64, h: f64) -> f64 {
    inertia * drive.rate.abs() / (h * drive.upper)
}

/// Whether dry friction holds its velocity at the start of the step.
pub(super) fn is_at_rest(drive: &Drive, inertia: f64, h: f64) -> bool {
    relative_speed(drive, inertia, h) <= RESTING
}

/// Mode of dry friction on a velocity of this sign.
pub(super) fn friction_from_rate(rate: f64) -> DriveMode {
    if rate > 0.0 { DriveMode::AtLower } else { DriveMode::AtUpper }
}

/// Damping of dry friction that holds a velocity with this inertia.
pub(super) fn holding_damping(inertia: f64, h: f64) -> f64 {
    STIFF * inertia / h
}

/// Mode of dry friction of a velocity with this inertia: a joint that moves goes on or turns back as estimated, and one that
/// rests stays. `None` if neither is clear, by the estimate or because it had a row in the last step, of this impulse.
fn predict_friction(
    drive: &Drive,
    impulse: f64,
    (estimate, doubt): (f64, f64),
    inertia: f64,
    h: f64,
) -> Option<DriveMode> {
    let speed = relative_speed(drive, inertia, h);
    let had_row = !impulse.is_nan();
    if is_at_rest(drive, inertia, h) {
        let damping = holding_damping(inertia, h);
        // No estimate is clear.
        let holds = !(damping * estimate.abs() > CLEAR * drive.upper);
        let is_clear = holds && (!had_row || impulse.abs() <= CLEAR * h * drive.upper);
        return is_clear.then_some(DriveMode::Stuck { damping });
    }
    if estimate.is_nan() {
        // A row at its bound slid, and goes on as long as it creeps.
        let slid = impulse * drive.rate < 0.0 && impulse.abs() >= SLID * h * drive.upper;
        let is_clear = !had_row || slid || speed >= MOVING;
        return is_clear.then(|| friction_from_rate(drive.rate));
    }
    // Along the present motion; its friction is in the estimate.
    let (along, doubt) = (estimate * drive.rate.signum(), doubt * (estimate - drive.rate).abs());
    let turns_back = along < -(doubt + TURNING * h * drive.upper / inertia);
    (along > doubt || turns_back).then(|| friction_from_rate(estimate))
}

/// Whether a drive is part of a step of second order: a servo well within its bounds that the step resolves.
fn flies(drive: &Drive, entry: RowEntry, inertia: f64, h: f64) -> bool {
    let stiffness = entry.coefficient * entry.coefficient * drive.stiffness;
    let is_inside =
        UNSATURATED * drive.lower < drive.force && drive.force < UNSATURATED * drive.upper;
    let is_resolved = h * h * stiffness <= MAX_SERVO_STIFFNESS * inertia;
    matches!(drive.kind, DriveKind::Servo(_)) && is_inside && is_resolved
}
