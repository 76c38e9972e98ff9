//! Energies of one tree or rod in a step, and the energy without cause that its scheme explains.

use crate::energy_drift::{EnergyDrift, STEP_ALLOWANCE};

/// Energy without cause above which a motion is not resolved, relative to the energies exchanged: a gain in a motion
/// that does not turn [-].
pub(crate) const STRAIGHT: f64 = 9e-3;
/// Factor of the square of the turn that is added to it [-].
const TURNING: f64 = 1.0;
/// The same for a loss, and the most for a gain [-].
pub(crate) const RELATIVE: f64 = 0.1;
/// The same relative to the energies exchanged in the largest of the last steps [-].
const RECENT: f64 = 5e-4;
/// The same relative to the sum of the work of single rows, for the residual of the solver, and the most of it relative to
/// the energies exchanged: impulses of rows that nearly depend on one another are arbitrarily large [-].
const SOLVER_ERROR: f64 = 1e-3;
const MAX_SOLVER_ERROR: f64 = 0.02;
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
    /// Square of the largest turn of a link in the whole step, with the velocities before and after the motion [rad²].
    pub squared_turns: [f64; 2],
    /// Unexplained energy of earlier parts of the step, and the energies exchanged in the largest of them.
    pub earlier: [f64; 2],
    /// Work that potential forces do on half of the change of velocity, without sign and with it.
    pub sampling: f64,
    pub signed_sampling: f64,
    /// The same of the elastic forces of a rod, with its sign, which are not in the others.
    pub elastic_sampling: f64,
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
            self.squared_turns[k] = self.squared_turns[k].max(other.squared_turns[k]);
        }
        self.potential += other.potential;
        self.forces += other.forces;
        self.constraints += other.constraints;
        self.gross += other.gross;
        self.passive = self.passive.max(other.passive);
        self.earlier[0] += other.earlier[0];
        self.earlier[1] = self.earlier[1].max(other.earlier[1]);
        self.sampling += other.sampling;
        self.signed_sampling += other.signed_sampling;
        self.elastic_sampling += other.elastic_sampling;
        self.potential_size += other.potential_size;
        self.fall += other.fall;
        self.floor += other.floor;
        self.momentum = self.momentum.max(other.momentum);
    }

    /// Square of the largest turn of a link in the whole step [rad²].
    pub fn squared_turn(&self) -> f64 {
        self.squared_turns[0].max(self.squared_turns[1])
    }

    /// Lets the elastic forces of a rod explain what they do on half of the change of velocity, up to `most` [J].
    pub fn sample_elastic_forces(&mut self, most: f64) {
        self.sampling += self.elastic_sampling.abs().min(most);
        self.signed_sampling += self.elastic_sampling.clamp(-most, most);
    }

    /// Energy without cause.
    pub fn residual(&self) -> f64 {
        let change = self.kinetic[1] - self.kinetic[0] + self.potential;
        change - self.forces - self.constraints + self.passive
    }

    /// Energy without cause beyond what sampling, the solver and round-off explain.
    pub fn unexplained(&self) -> f64 {
        let (residual, explained) = (self.residual(), self.explained());
        if residual.abs() <= explained { 0.0 } else { residual - explained.copysign(residual) }
    }

    /// Factor of the velocities after the motion that takes the unexplained gain out of their kinetic energy [-].
    pub fn reduction(&self) -> f64 {
        let (gain, kinetic) = (self.unexplained(), self.kinetic[1]);
        if gain > 0.0 && kinetic > 0.0 { (1.0 - gain / kinetic).max(0.0).sqrt() } else { 1.0 }
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
        let solver = (SOLVER_ERROR * self.gross).min(MAX_SOLVER_ERROR * self.exchanged());
        self.sampling + solver + ROUND_OFF * self.potential_size + self.floor
    }

    /// Energy without cause that free fall and round-off explain, whatever the solver does.
    pub fn tolerance(&self) -> f64 {
        self.fall + ROUND_OFF * self.potential_size + self.floor
    }

    /// Gain of energy without cause that a scheme explains in a motion of a squared turn [rad²], relative to its energies [-].
    pub fn relative_gain(squared_turn: f64) -> f64 {
        (STRAIGHT + TURNING * squared_turn).min(RELATIVE)
    }

    /// Whether neither this step nor the sum over the last steps comes near its bound. `fraction` is the length of the part
    /// of the step [-].
    pub fn is_clear(&self, drift: &EnergyDrift, is_rod: bool, fraction: f64) -> bool {
        let allowance = fraction * STEP_ALLOWANCE * self.exchanged();
        let gains = self.residual() > self.explained() + allowance;
        !gains && drift.gained == 0.0 && self.imbalance(drift.exchanged, is_rod).abs() <= 1.0
    }

    /// Energy without cause relative to what the scheme explains. Less is explained of a gain than of a loss:
    /// schemes dissipate. `recent` are the energies exchanged in the largest of the last steps, of which little
    /// is left where a motion turns back [J]. The strains of a rod are stiff, and explain as much of a gain.
    pub fn imbalance(&self, recent: f64, is_rod: bool) -> f64 {
        let residual = self.earlier[0] + self.residual();
        let allowed = self.allowed(recent, residual > 0.0 && !is_rod);
        if allowed > 0.0 { residual / allowed } else { 0.0 }
    }

    /// Energy without cause that the scheme explains, of a gain or of a loss.
    fn allowed(&self, recent: f64, gains: bool) -> f64 {
        let relative = if gains { Self::relative_gain(self.squared_turn()) } else { RELATIVE };
        let exchanged = self.exchanged().max(self.earlier[1]);
        relative * exchanged + RECENT * recent + self.explained()
    }

    /// What is left of the gain that the scheme explains.
    pub fn room(&self, recent: f64) -> f64 {
        let gained = (self.earlier[0] + self.residual()).max(0.0);
        (self.allowed(recent, true) - gained).max(0.0)
    }
}
