//! Balance of energy of a step as reports have it.

use crate::energy_account::Account;

/// Balance of energy of a step: sums over all trees, and the tree with the largest error. Soft bodies are not
/// included.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct EnergyBalance {
    /// Change of the kinetic energy in the motion [J].
    pub kinetic: f64,
    /// Change of the potential energy of weight, joint springs and rods in the motion [J].
    pub potential: f64,
    /// Work of all other forces: actuators, dampers, drag, applied forces [J].
    pub forces: f64,
    /// Work of the constraints: contacts, limits, equalities, bounded actuators, dry friction [J].
    pub constraints: f64,
    /// Change of energy by the position correction, after the motion [J].
    pub correction: f64,
    /// Largest energy without cause of a tree or rod, relative to what its scheme explains [-]. Above one the
    /// motion is not resolved.
    pub imbalance: f64,
    /// The same of gains alone [-].
    pub gain: f64,
    /// Largest gain of energy without cause that accumulated over steps, relative to its bound [-]. Above one the
    /// motion is not resolved.
    pub drift: f64,
    /// Largest momentum without cause of a tree with a free root, relative to what its scheme explains [-]. Above
    /// one the motion is not resolved.
    pub momentum: f64,
    /// A body of the tree or rod with the largest of these three; zero if there is none.
    pub body: usize,
}

impl EnergyBalance {
    /// Energy without cause of all trees, positive for a gain [J].
    pub fn residual(&self) -> f64 {
        self.kinetic + self.potential - self.forces - self.constraints
    }

    /// The largest of imbalance, drift and momentum without cause [-]. Above one the motion is not resolved.
    pub fn largest_error(&self) -> f64 {
        self.imbalance.max(self.drift).max(self.momentum)
    }

    /// Whether every tree and rod keeps its balance.
    pub fn is_kept(&self) -> bool {
        self.largest_error() <= 1.0
    }

    /// The balance of a step of two parts, of which this is the first.
    pub(crate) fn followed_by(mut self, last: &Self) -> Self {
        self.kinetic += last.kinetic;
        self.potential += last.potential;
        self.forces += last.forces;
        self.constraints += last.constraints;
        self.correction += last.correction;
        self.gain = self.gain.max(last.gain);
        self.raise([last.imbalance, last.drift, last.momentum], last.body);
        self
    }

    /// Takes over the errors of a tree that are larger; `body` is one of its bodies. An error that is not a
    /// number is infinite.
    pub(crate) fn raise(&mut self, [imbalance, drift, momentum]: [f64; 3], body: usize) {
        let largest = self.largest_error();
        let mut is_largest = false;
        let all = [&mut self.imbalance, &mut self.drift, &mut self.momentum];
        for (old, new) in all.into_iter().zip([imbalance, drift, momentum]) {
            let new = if new.is_nan() { f64::INFINITY } else { new };
            is_largest |= new > largest;
            *old = old.max(new);
        }
        if is_largest {
            self.body = body;
        }
    }

    /// Adds the energies of a tree.
    pub(crate) fn add(&mut self, account: &Account) {
        self.kinetic += account.kinetic[1] - account.kinetic[0];
        self.potential += account.potential;
        self.forces += account.forces;
        self.constraints += account.constraints;
    }
}
