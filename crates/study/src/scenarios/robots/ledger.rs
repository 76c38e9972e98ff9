//! Keeps the books of energy of a mechanism on which nothing but its weight does work.
//!
//! A step of first order makes an error of order h² in the energy. For symplectic Euler on a
//! separable system the energy is off by h/2 times the power of the weight, the first term of
//! its modified Hamiltonian [Hairer06, Sec. IX.3]. In a mechanism the mass matrix depends on the
//! configuration: terms of the same size stand beside it, and errors of several steps add up. They
//! are taken to stay below twice h times the total variation of that power: all that flows between
//! potential and kinetic energy, four times over. The bound vanishes with h. Cost: a pass over
//! the kinematics per step.

use stiction_sim::Simulation;

/// Energy, its largest change, and the bound for it.
#[derive(Clone, Copy, Debug, Default)]
pub struct Ledger {
    start: f64,
    potential: f64,
    power: Option<f64>,
    /// Largest change of the energy so far [J].
    pub change: f64,
    /// What the change must stay below [J].
    pub bound: f64,
}

/// Potential energy [J].
fn potential(simulation: &mut Simulation) -> f64 {
    let world = simulation.world().clone();
    let q = simulation.state().q.clone();
    stiction_mech::potential_energy(world.model(), simulation.data(), &q)
}

impl Ledger {
    /// Opens the books.
    pub fn begin(&mut self, simulation: &mut Simulation) {
        let start = simulation.energy();
        *self = Self { start, potential: potential(simulation), ..Self::default() };
    }

    /// Books a step.
    pub fn observe(&mut self, simulation: &mut Simulation) {
        let h = simulation.settings().time_step;
        let potential = potential(simulation);
        let power = (self.potential - potential) / h;
        self.bound += 2.0 * h * (power - self.power.unwrap_or(0.0)).abs();
        (self.potential, self.power) = (potential, Some(power));
        let change = (simulation.energy() - self.start).abs();
        // NaN must stay.
        if !(change <= self.change) {
            self.change = change;
        }
    }

    /// Whether the change is within its bound.
    pub fn balances(&self) -> bool {
        self.change <= self.bound
    }
}
