//! All forces on a mechanism at one state, sorted by their treatment in a step.
//!
//! | field | contents | in the step |
//! |---|---|---|
//! | [`Forces::generalized`] | sum of all forces at the present state except drives and limits | explicit |
//! | [`Forces::stiffness`], [`Forces::damping`] | slopes of forces that act on single velocities | h (h K + D) on the diagonal of the mass matrix |
//! | [`Forces::drives`] | forces that couple velocities or have bounds, dry friction | one bounded implicit row each |
//! | [`Forces::limits`] | limits that may become active within the step | one unilateral row each |
//!
//! With f, K and D of the table and the mass matrix M, the implicit step over h solves
//! (M + h (h K + D)) v' = M v + h (f − bias) + h D v plus the impulses of the rows: springs use the
//! coordinates at the end of the step, dampers the velocities ([`Drive::force_at`] for a drive).
//! Coriolis forces and gravity are in [`bias_forces`](crate::bias_forces); gravity compensation is
//! included here. One evaluation costs O(nv) plus the lengths of the rows; it allocates nothing.

mod actuation;
mod declaration;
mod drag;
mod drive;
mod drive_mode;
mod ellipsoid_drag;
pub(crate) mod error;
mod input;
mod joint;
mod layout;
pub(crate) mod relative_dofs;
mod scalar_actuator;
mod tendon;

pub(crate) use declaration::{CompiledForces, ForceDeclarations};
pub use drag::DragSpec;
pub use drive::{Drive, DriveKind, ForceRow, LimitRow, LimitSource, RowEntry};
pub use drive_mode::{DriveMode, ModedDrive};
pub use ellipsoid_drag::EllipsoidDrag;
pub use error::ForceError;
pub use input::{Input, MechanismState};
pub use tendon::tendon_energy;

use crate::actuator::ActuatorId;
use crate::body::BodyId;
use crate::data::Data;
use crate::model::Model;
use crate::spatial::{angular, linear};
use crate::tendon::TendonId;
use layout::ForceLayout;
use nalgebra::Vector6;

/// The forces of one evaluation, and its workspace.
#[derive(Clone, Debug)]
pub struct Forces {
    /// Sum of the present forces that are not drives or limits [N, N·m]; per dof.
    pub generalized: Vec<f64>,
    /// −∂generalized/∂q of springs and servos on the diagonal [N/m, N·m/rad], not negative; per dof.
    pub stiffness: Vec<f64>,
    /// −∂generalized/∂v of dampers and servos on the diagonal [N·s/m, N·m·s/rad], not negative;
    /// per dof.
    pub damping: Vec<f64>,
    /// Bounded or coupled forces, in the order tendons, actuators, joints.
    pub drives: Vec<Drive>,
    /// Drives that were taken into the diagonals and the sum of forces by [`Forces::take_modes`].
    pub moded: Vec<ModedDrive>,
    /// Limits that may become active within the step, in the order tendons, joints.
    pub limits: Vec<LimitRow>,
    /// Coefficients of all rows.
    pub entries: Vec<RowEntry>,
    /// Length [m or rad]; per tendon.
    pub tendon_length: Vec<f64>,
    /// Rate of the length [m/s or rad/s]; per tendon.
    pub tendon_rate: Vec<f64>,
    /// Length that enters the force law, multiplied by the gear; per actuator.
    pub actuator_length: Vec<f64>,
    /// Rate that enters the force law, multiplied by the gear; per actuator.
    pub actuator_rate: Vec<f64>,
    /// Present force within its bounds, before the gear [N or N·m]; per actuator.
    pub actuator_force: Vec<f64>,
    /// Signal of the force law ([`ActuatorSpec::signal`](crate::ActuatorSpec::signal)); per actuator.
    pub actuator_signal: Vec<f64>,
    /// Slopes of the law's force over length and rate, before the gear; per actuator.
    pub actuator_slopes: Vec<[f64; 2]>,
    /// Present forces of all actuators, within the ranges of the joints [N, N·m]; per dof.
    pub actuation: Vec<f64>,
    /// Share of the forces of its actuators that its range allows; per tendon.
    tendon_share: Vec<f64>,
    /// ∂force/∂rate of drag along each of its rows.
    drag_slopes: Vec<f64>,
    /// Rows along which muscles damp several velocities, with ∂force/∂rate.
    muscle_slopes: Vec<(ForceRow, f64)>,
    layout: ForceLayout,
    /// Dense gradient over all velocities, zero between uses.
    dense: Vec<f64>,
}

impl Forces {
    /// Allocates the arrays for a model.
    pub fn new(model: &Model) -> Self {
        let (layout, entries) = ForceLayout::new(model);
        let (nv, nt, nu) = (model.nv(), model.tendons().len(), model.actuators().len());
        Self {
            generalized: vec![0.0; nv],
            stiffness: vec![0.0; nv],
            damping: vec![0.0; nv],
            drives: Vec::with_capacity(layout.frictions.len() + 2 * nt + nu),
            moded: Vec::with_capacity(layout.frictions.len() + nu),
            limits: Vec::with_capacity(2 * (layout.ranges.len() + nt)),
            entries,
            tendon_length: vec![0.0; nt],
            tendon_rate: vec![0.0; nt],
            actuator_length: vec![0.0; nu],
            actuator_rate: vec![0.0; nu],
            actuator_force: vec![0.0; nu],
            actuator_signal: vec![0.0; nu],
            actuator_slopes: vec![[0.0; 2]; nu],
            actuation: vec![0.0; nv],
            tendon_share: vec![1.0; nt],
            drag_slopes: vec![0.0; 6 * model.drags().len()],
            muscle_slopes: Vec::with_capacity(nu),
            layout,
            dense: vec![0.0; nv],
        }
    }

    /// Takes over the parameters of a model that were changed ([`Model::set_joint`](crate::Model::set_joint) and its
    /// like). Allocates nothing, unless there is more dry friction than ever before.
    pub fn update_parameters(&mut self, model: &Model) {
        self.layout.update_parameters(model);
        let (tendons, actuators) = (model.tendons().len(), model.actuators().len());
        let drives = self.layout.frictions.len() + 2 * tendons + actuators;
        self.drives.reserve(drives.saturating_sub(self.drives.len()));
        self.moded.reserve(drives.saturating_sub(self.moded.len()));
    }

    /// Evaluates all forces at a state and the poses of `data` for the same coordinates. A limit is listed if
    /// its gap is within its margin or closes at the present rate in `time_step` [s].
    ///
    /// # Errors
    /// If an array has the wrong length or the input is not finite; the contents are then unspecified.
    pub fn evaluate<'a>(
        &mut self,
        model: &Model,
        state: impl Into<MechanismState<'a>>,
        data: &Data,
        input: &Input,
        time_step: f64,
    ) -> Result<(), ForceError> {
        let state = state.into();
        self.evaluate_smooth(model, state, data, input, time_step)?;
        let MechanismState { q, v, .. } = state;
        self.add_joint_friction(v);
        self.add_joint_limits((q, v), |dof| v[dof].abs() * time_step);
        Ok(())
    }

    /// [`Forces::evaluate`] without dry friction and limits of joints.
    ///
    /// # Errors
    /// As those of [`Forces::evaluate`].
    pub fn evaluate_smooth(
        &mut self,
        model: &Model,
        state: MechanismState<'_>,
        data: &Data,
        input: &Input,
        time_step: f64,
    ) -> Result<(), ForceError> {
        let MechanismState { q, v, activation } = state;
        for (what, found, expected) in [
            ("q", q.len(), model.nq()),
            ("v", v.len(), model.nv()),
            ("activation", activation.len(), if activation.is_empty() { 0 } else { model.na() }),
        ] {
            if found != expected {
                return Err(ForceError::Length { what, found, expected });
            }
        }
        input.check_all_but_wrenches(model)?;
        self.generalized.fill(0.0);
        self.drives.clear();
        self.moded.clear();
        self.limits.clear();
        self.muscle_slopes.clear();
        self.add_joint_springs_and_dampers(model, q, v);
        if self.layout.has_compensation {
            crate::bias::gravity_compensation(model, data, &mut self.generalized);
        }
        self.add_wrenches(model, data, input)?;
        for (sum, force) in self.generalized.iter_mut().zip(&input.force) {
            // The sign of a zero is kept.
            if *force != 0.0 {
                *sum += force;
            }
        }
        self.add_drags(model, v, data);
        self.add_tendons(model, (q, v), data, time_step);
        self.set_signals(model, activation, input);
        self.add_actuators(model, (q, v), data);
        Ok(())
    }

    /// The row of a tendon's length.
    pub fn tendon_row(&self, tendon: TendonId) -> ForceRow {
        self.layout.tendons[tendon.0]
    }

    /// The row of an actuator's transmission, before its gear.
    pub fn actuator_row(&self, actuator: ActuatorId) -> ForceRow {
        self.layout.actuators[actuator.0]
    }

    /// Entries of a row.
    #[inline]
    pub fn row(&self, row: ForceRow) -> &[RowEntry] {
        row.of(&self.entries)
    }

    /// Rate of a row at velocities `v`.
    #[inline]
    pub fn rate(&self, row: ForceRow, v: &[f64]) -> f64 {
        row.of(&self.entries).iter().map(|entry| entry.coefficient * v[entry.dof]).sum()
    }

    /// Adds all present forces to `out` [N, N·m], those of drives within their bounds. Dry friction
    /// and limits, which only a solver determines, are not included.
    pub fn add_total(&self, out: &mut [f64]) {
        for (out, force) in out.iter_mut().zip(&self.generalized) {
            *out += force;
        }
        for drive in &self.drives {
            let force = drive.present_force();
            for entry in self.row(drive.row) {
                out[entry.dof] += entry.coefficient * force;
            }
        }
    }

    /// Power [W] of all present forces at velocities `v`.
    pub fn power(&self, v: &[f64]) -> f64 {
        let explicit: f64 = self.generalized.iter().zip(v).map(|(f, v)| f * v).sum();
        let drives = self.drives.iter();
        explicit + drives.map(|drive| drive.present_force() * self.rate(drive.row, v)).sum::<f64>()
    }

    /// Adds an explicit force along a row.
    #[inline]
    fn add_explicit(&mut self, row: ForceRow, force: f64) {
        for entry in row.of(&self.entries) {
            self.generalized[entry.dof] += entry.coefficient * force;
        }
    }

    /// Adds a linear force along a row: to the diagonals if it acts on one velocity without bounds,
    /// otherwise as a drive.
    #[inline]
    fn add_drive(&mut self, drive: Drive) {
        if is_zero(drive.row.of(&self.entries)) {
            return;
        }
        let is_free = drive.lower == f64::NEG_INFINITY && drive.upper == f64::INFINITY;
        match row_of_one(drive.row, &self.entries).filter(|_| is_free) {
            Some(RowEntry { dof, coefficient }) => {
                let squared = coefficient * coefficient;
                self.generalized[dof] += coefficient * drive.force;
                self.stiffness[dof] += squared * drive.stiffness;
                self.damping[dof] += squared * drive.damping;
            }
            None => self.drives.push(drive),
        }
    }

    /// Adds the wrenches on bodies, at their centres of mass.
    fn add_wrenches(
        &mut self,
        model: &Model,
        data: &Data,
        input: &Input,
    ) -> Result<(), ForceError> {
        for (index, wrench) in input.wrench.iter().enumerate() {
            if *wrench == Vector6::zeros() {
                continue;
            }
            input::check_wrench(index, wrench)?;
            let X_WB = &data.body_pose[index];
            let mass = model.bodies()[index].spec.mass;
            let p_WBcm = mass.map_or(X_WB.translation.vector, |mass| {
                X_WB.translation.vector + X_WB.rotation * mass.com()
            });
            let (torque, force) = (angular(wrench), linear(wrench));
            let out = &mut self.generalized;
            crate::jacobian::apply_wrench(model, data, BodyId(index), p_WBcm, torque, force, out);
        }
        Ok(())
    }
}

/// Whether all coefficients of a row are zero, as for a tendon between points of one body.
#[inline]
fn is_zero(row: &[RowEntry]) -> bool {
    row.iter().all(|entry| entry.coefficient == 0.0)
}

/// The only entry of a row, if there is one.
#[inline]
fn row_of_one(row: ForceRow, entries: &[RowEntry]) -> Option<RowEntry> {
    (row.end == row.start + 1).then(|| entries[row.start])
}
