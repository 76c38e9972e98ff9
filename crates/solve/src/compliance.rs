//! Compliance: regularisation and stabilisation of any law by a compliance R and a bias e.
//!
//! A compliant contact with stiffness and dissipation, integrated implicitly, is the rigid law
//! with a compliant row: `c = J v + e + R∘λ` [Castro22, Eqs. (2), (20), (29), (30)].

/// Physical parameters of a compliant contact.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Compliance {
    /// Stiffness k [N/m].
    pub stiffness: f64,
    /// Dissipation time τ_d [s].
    pub dissipation_time: f64,
    /// Signed gap φ₀ [m], negative in penetration.
    pub gap: f64,
    /// Time step [s].
    pub time_step: f64,
}

/// Where a stiff contact is treated as nearly rigid, and how far friction creeps.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct NearRigid {
    /// β [-]: period of the contact in time steps below which it is softened.
    pub beta: f64,
    /// σ [-]: tangential compliance as a fraction of the Delassus scale.
    pub sigma: f64,
}

impl Default for NearRigid {
    fn default() -> Self {
        Self { beta: 1.0, sigma: 1e-3 } // [Castro22, Sec. V-B]
    }
}

impl NearRigid {
    /// Normal compliance of a contact of infinite stiffness, per unit of the Delassus scale [-].
    pub fn normal(&self) -> f64 {
        self.beta * self.beta / (4.0 * std::f64::consts::PI.powi(2))
    }
}

impl Compliance {
    /// Normal compliance [1/kg], tangential compliance [1/kg] and normal bias [m/s] of a contact whose
    /// Delassus scale is `w` [1/kg]. Returns `None` if a parameter is not finite, the time step
    /// not positive, or stiffness or dissipation negative.
    pub fn rows(&self, near_rigid: NearRigid, w: f64) -> Option<(f64, f64, f64)> {
        let Self { stiffness: k, dissipation_time: tau, gap, time_step: dt } = *self;
        let given = k > 0.0 && tau >= 0.0 && dt > 0.0 && gap.is_finite() && dt.is_finite();
        if !given || !tau.is_finite() || !(w >= 0.0) {
            return None;
        }
        let physical = 1.0 / (dt * k * (dt + tau));
        let normal = (near_rigid.normal() * w).max(physical); // [Castro22, Eq. (29)]
        let tangential = near_rigid.sigma * w; // [Castro22, Eq. (30)]
        Some((normal, tangential, gap / (dt + tau)))
    }
}
