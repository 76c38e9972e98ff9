//! TENDON: the length of a tendon is constant, or follows another's by a polynomial.

use super::{Place, Polynomial, Relation};
use crate::error::WorldError;
use crate::rows::{Rows, Sight};
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
    fn elongation(place: &Place, tendon: TendonId) -> f64 {
        let tendon = &place.model.tendons()[tendon.0];
        tendon.length(place.model, place.q, place.data) - tendon.reference_length
    }
}

impl Relation for TendonCoupling {
    fn dim(&self) -> usize {
        1
    }

    fn error(&self, place: &Place, out: &mut [f64]) {
        let leader = self.leader.map_or(0.0, |leader| Self::elongation(place, leader));
        out[0] = Self::elongation(place, self.tendon) - self.polynomial.at(leader).0;
    }

    fn row(&self, _: usize, place: &Place, sight: &Sight, rows: &mut Rows) {
        let mut add = |tendon: TendonId, factor: f64| {
            let tendon = &place.model.tendons()[tendon.0];
            rows.gradient(sight, &tendon.dofs, factor, |gradient| {
                tendon.measure(place.model, place.q, place.data, gradient);
            });
        };
        add(self.tendon, 1.0);
        if let Some(leader) = self.leader {
            add(leader, -self.polynomial.at(Self::elongation(place, leader)).1);
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
