//! Models of contact of rigid surfaces: exact, or near-rigid as published with SAP.
//!
//! The near-rigid model is part of the problem, so that every solver solves it and every residual is measured on it:
//! with the stiffness k and the dissipation time τ_d of the surfaces, the rows of a contact have
//!
//! ```text
//! R_n = max(β²/(4π²) w, 1/(δt k (δt + τ_d))),   R_t = σ w,   v̂_n = −φ₀/(δt + τ_d)      [Castro22, Eqs. (20), (29), (30)]
//! ```
//!
//! with w = ‖W_ii‖_F/3. Nothing else removes penetration, and steps are not divided. Friction creeps: at most σ w |γ_t| while it holds.
//! Deviation: a contact that is still apart may close within the step, v̂_n = −φ₀/δt.

use stiction_solve::compliance::NearRigid;
use stiction_solve::solver::SolverError;
use stiction_solve::{Problem, Session, contact};

use crate::rows::RowBuilder;
use crate::settings::Settings;
use crate::surface::Pairing;

/// Stiffness of rigid surfaces in the near-rigid model [N/m] [Castro22, Sec. VI-C].
const STIFFNESS: f64 = 1e12;

/// How contacts of rigid bodies are modelled.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ContactModel {
    /// Rigid surfaces are rigid, and displacements remove penetration that is left.
    #[default]
    Rigid,
    /// Near-rigid: compliance and target velocity on the rows, and no displacements.
    Sap,
}

stiction_solve::setting_choices!(ContactModel {
    "rigid" => ContactModel::Rigid,
    "sap" => ContactModel::Sap,
});

impl ContactModel {
    /// Whether a step may be computed in parts: the stiffness of near-rigid contacts depends on its length.
    pub(crate) fn has_divisible_steps(self) -> bool {
        self == Self::Rigid
    }

    /// Whether displacements remove penetration of rigid surfaces.
    pub(crate) fn corrects_positions(self) -> bool {
        self == Self::Rigid
    }
}

/// Gives the semi-analytic primal solver the same limits, so that it softens no contact further.
pub(crate) fn prepare(settings: &Settings, session: &mut Session) -> Result<(), SolverError> {
    if settings.contact == ContactModel::Sap && session.name() == "sap" {
        session.set("beta", &settings.near_rigid.beta.to_string())?;
        session.set("sigma", &settings.near_rigid.sigma.to_string())?;
    }
    Ok(())
}

/// Stiffness [N/m] and dissipation time [s] of a contact in the near-rigid model. Rigid surfaces have the dissipation
/// time `h`.
pub(crate) fn stiffness_and_dissipation(pairing: &Pairing, h: f64) -> (f64, f64) {
    if pairing.stiffness.is_finite() {
        (pairing.stiffness, pairing.dissipation)
    } else {
        (STIFFNESS, h)
    }
}

/// Raises the compliance of contacts of rigid bodies to the near-rigid limit.
pub(crate) fn regularise(rows: &RowBuilder, near_rigid: NearRigid, problem: &mut Problem) {
    for row in rows.contacts().iter().filter(|row| !row.point.is_soft()) {
        let index = row.constraint as usize;
        let w = problem.delassus().frobenius_scale(index);
        let least = contact::rows(near_rigid.normal() * w, near_rigid.sigma * w);
        for (row, least) in problem.row_range(index).zip(least) {
            problem.raise_row_compliance(row, least);
        }
    }
}
