//! Energies of one tree or rod in a step, and the energy without cause that its scheme explains.

use crate::energy_drift::{EnergyDrift, STEP_ALLOWANCE};

/// Energy without cause above which a motion is not resolved, relative to the energies exchanged: a gain in a motion
/// that does not turn [-].
const STRAIGHT: f64 = 9e-3;
/// Factor of the square of the turn that is added to it [-].
const TURNING: f64 = 1.0;
/// The same for a loss, and the most for a gain [-].
pub(crate) const RELATIVE: f64 = 0.1;
/// The same relative to the energies exchanged in the largest of the last steps [-].
const RECENT: f64 = 1e-3;
/// The same relative to the sum of the work of single rows, for the residual of the solver [-].
const SOLVER_ERROR: f64 = 1e-3;
/// The same relative to potential energies, for round-off [-].
const ROUND_OFF: f64 = 1e-13;

/// Energies of a tree or a rod in a step [J].
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Account {
    /// Kinetic energy before and after the motion.
    pub kinetic: [f64; 2],
    pub potential: f64,
    pub forces: f64,
    pub constraints: f64,
    /// Sum of the work of single constraints, without sign; zero where the balance holds without it.
    pub gross: f64,
    /// Work that equalities did without a source of energy.
    pub passive: f64,
    /// Square of the largest turn of a link in the step [rad²].
    pub squared_turn: f64,
    /// Work that potential forces do on half of the change of velocity.
    pub sampling: f64,
    /// Size of the potential energies, for round-off.
    pub potential_size: f64,
    /// Kinetic energy at the speed to which constraints are solved.
    pub floor: f64,
    /// Kinetic energy of one step of free fall.
    pub fall: f64,
    /// Momentum without cause, relative to what the scheme explains [-].
    pub momentum: f64,
}

impl Account {
    pub fn add(&mut self, other: &Self) {
        for k in 0..2 {
            self.kinetic[k] += other.kinetic[k];
        }
        self.potential += other.potential;
        self.forces += other.forces;
        self.constraints += other.constraints;
        self.gross += other.gross;
        self.passive += other.passive;
        self.squared_turn = self.squared_turn.max(other.squared_turn);
        self.sampling += other.sampling;
        self.potential_size += other.potential_size;
        self.fall += other.fall;
        self.floor += other.floor;
        self.momentum = self.momentum.max(other.momentum);
    }

    /// Energy without cause.
    pub fn residual(&self) -> f64 {
        let change = self.kinetic[1] - self.kinetic[0] + self.potential;
        change - self.forces - self.constraints + self.passive
    }

    /// Energies that were exchanged.
    pub fn exchanged(&self) -> f64 {
        self.kinetic[0].max(self.kinetic[1])
            + self.potential.abs()
            + self.forces.abs()
            + self.constraints.abs()
            + self.fall
    }

    /// Energy without cause that sampling, the solver and round-off explain.
    pub fn explained(&self) -> f64 {
        self.sampling + SOLVER_ERROR * self.gross + ROUND_OFF * self.potential_size + self.floor
    }

    /// Whether neither this step nor the sum over the last steps comes near its bound.
    pub fn is_clear(&self, drift: &EnergyDrift, is_rod: bool) -> bool {
        let gains = self.residual() > self.explained() + STEP_ALLOWANCE * self.exchanged();
        !gains && drift.gained == 0.0 && self.imbalance(drift.exchanged, is_rod).abs() <= 1.0
    }

    /// Energy without cause relative to what the scheme explains. Less is explained of a gain than of a loss:
    /// schemes dissipate. `recent` are the energies exchanged in the largest of the last steps, of which little
    /// is left where a motion turns back [J]. The strains of a rod are stiff, and explain as much of a gain.
    pub fn imbalance(&self, recent: f64, is_rod: bool) -> f64 {
        let gains = self.residual() > 0.0 && !is_rod;
        let relative =
            if gains { (STRAIGHT + TURNING * self.squared_turn).min(RELATIVE) } else { RELATIVE };
        let allowed = relative * self.exchanged() + RECENT * recent + self.explained();
        if allowed > 0.0 { self.residual() / allowed } else { 0.0 }
    }
}
