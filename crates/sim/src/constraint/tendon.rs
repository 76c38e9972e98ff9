//! TENDON: the length of a tendon is constant, or follows another's by a polynomial.

use super::{Configuration, Polynomial, Relation};
use crate::error::WorldError;
use crate::rows::{ConstraintContext, RowBuilder};
use crate::world::Renumber;
use stiction_mech::{Model, TendonId};

/// `l − l_ref = p(l' − l'_ref)` [m], or `= p(0)` if there is no leader; lengths at the reference
/// configuration are the reference.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TendonCoupling {
    /// The tendon that follows.
    pub tendon: TendonId,
    /// The tendon that leads; `None` keeps the follower's length.
    pub leader: Option<TendonId>,
    /// p [m].
    pub polynomial: Polynomial,
}

impl TendonCoupling {
    /// Length relative to that at the reference configuration [m].
    fn elongation(configuration: &Configuration, tendon: TendonId) -> f64 {
        let tendon = &configuration.model.tendons()[tendon.0];
        tendon.length(configuration.model, configuration.q, configuration.data)
            - tendon.reference_length
    }
}

impl Relation for TendonCoupling {
    fn dim(&self) -> usize {
        1
    }

    fn error(&self, configuration: &Configuration, out: &mut [f64]) {
        let leader = self.leader.map_or(0.0, |leader| Self::elongation(configuration, leader));
        out[0] = Self::elongation(configuration, self.tendon) - self.polynomial.at(leader).0;
    }

    fn add_row(
        &self,
        _: usize,
        configuration: &Configuration,
        context: &ConstraintContext,
        rows: &mut RowBuilder,
    ) {
        let mut add = |tendon: TendonId, factor: f64| {
            let tendon = &configuration.model.tendons()[tendon.0];
            rows.add_gradient(context, &tendon.dofs, factor, |gradient| {
                tendon.measure(configuration.model, configuration.q, configuration.data, gradient);
            });
        };
        add(self.tendon, 1.0);
        if let Some(leader) = self.leader {
            add(leader, -self.polynomial.at(Self::elongation(configuration, leader)).1);
        }
    }

    fn renumber(&mut self, to: &Renumber, name: &str) -> Result<(), WorldError> {
        let owner = || format!("equality \"{name}\"");
        self.tendon = to.tendon(self.tendon, owner)?;
        if let Some(leader) = &mut self.leader {
            *leader = to.tendon(*leader, owner)?;
        }
        Ok(())
    }

    fn check(&self, _: &Model, name: &str) -> Result<(), WorldError> {
        if self.leader == Some(self.tendon) {
            return Err(WorldError::Equality {
                name: name.to_owned(),
                what: format!("tendon {} leads itself", self.tendon.0),
                expected: "two different tendons",
            });
        }
        self.polynomial.check(name)
    }
}
