//! Energy of the whole world over a step, as it is seen from the states at both ends.
//!
//! Trees, rods and soft bodies have balances of their own, each with the work of its constraints. That a constraint without a
//! source of energy did work is not seen there: a contact that lifts, a correction that carries weight upwards. Therefore the
//! energies of all bodies are compared before and after the step, corrections included, with sources alone:
//!
//! ```text
//! ΔT + ΔV − W ≤ ε (max(T₀, T₁) + |ΔV| + |W|) + s
//! ```
//!
//! with W the work of forces and of constraints that have a source (actuators, compliant and driven ones), ε what the scheme
//! explains of a motion that turns, and s what sampling, one step of free fall and round-off do. A step
//! in parts is judged as one step.

use crate::energy_account::Account;

/// Most of the energies exchanged that sampling explains in a step in parts, which is to resolve the motion [-].
const MAX_SAMPLING: f64 = 0.01;

/// Energies of all trees, rods and soft bodies in one step, or in a part of it [J].
#[derive(Clone, Copy, Debug, Default)]
struct Change {
    /// Change of potential energy.
    potential: f64,
    /// Change of all energy in the motion.
    growth: f64,
    /// Change of all energy by position corrections, and what of a gain has a reason.
    correction: f64,
    lift: f64,
    /// Work of forces and of constraints with a source of energy.
    supplied: f64,
    /// What free fall and round-off explain in the whole step.
    explained: f64,
    /// The same of sampling, without sign and with it: over parts it adds up with its sign.
    gross_sampling: f64,
    sampling: f64,
    /// Length of the longest part relative to the step [-].
    longest: f64,
}

impl Change {
    fn add(&mut self, other: &Self) {
        self.potential += other.potential;
        self.growth += other.growth;
        self.correction += other.correction;
        self.lift = self.lift.max(other.lift);
        self.supplied += other.supplied;
        self.explained = self.explained.max(other.explained);
        self.gross_sampling += other.gross_sampling;
        self.sampling += other.sampling;
        self.longest = self.longest.max(other.longest);
    }
}

/// Energy of the whole world over a step.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct WorldEnergy {
    /// Kinetic energy at the start of the step, at that of this part, and at its end [J].
    start: f64,
    kinetic: [f64; 2],
    /// Square of the largest turn of a link in the whole step, with the velocities at its start and at the end of this part: what
    /// turns faster in between is not seen from outside [rad²].
    squared_turns: [f64; 2],
    /// In the parts before this one, and in this one.
    earlier: Change,
    present: Change,
    /// Length of this part relative to the step [-].
    fraction: f64,
    /// Whether the work of constraints with a source of energy is in this part.
    is_supplied: bool,
}

impl WorldEnergy {
    /// Begins a step, or with a smaller `fraction` a part of one that was given up.
    pub fn begin(&mut self, fraction: f64) {
        self.fraction = fraction;
        self.is_supplied = false;
        if fraction == 1.0 {
            self.earlier = Change::default();
            self.start = 0.0;
            self.squared_turns[0] = 0.0;
        }
        self.kinetic = [0.0; 2];
        self.squared_turns[1] = 0.0;
        self.present = Change { longest: fraction, ..Change::default() };
    }

    /// Adds a tree or a rod.
    pub fn add(&mut self, account: &Account) {
        let explained = [account.tolerance(), account.sampling, account.signed_sampling];
        self.add_motion(account.kinetic, account.potential, explained);
        self.present.supplied += account.forces;
        let first = if self.fraction == 1.0 { 0 } else { 1 };
        for (largest, turn) in self.squared_turns.iter_mut().zip(account.squared_turns).skip(first)
        {
            *largest = largest.max(turn);
        }
    }

    /// Adds soft bodies, with their kinetic energy before and after, and what free fall and round-off, and sampling without and
    /// with its sign explain in this part.
    pub fn add_motion(
        &mut self,
        kinetic: [f64; 2],
        potential: f64,
        [explained, gross_sampling, sampling]: [f64; 3],
    ) {
        for (sum, kinetic) in self.kinetic.iter_mut().zip(kinetic) {
            *sum += kinetic;
        }
        if self.fraction == 1.0 {
            self.start += kinetic[0];
        }
        self.present.potential += potential;
        self.present.growth += kinetic[1] - kinetic[0] + potential;
        // That of the whole step, for free fall is of second order in its length.
        self.present.explained += explained / (self.fraction * self.fraction);
        self.present.gross_sampling += gross_sampling;
        self.present.sampling += sampling;
    }

    /// Adds a change of energy by a position correction. Up to `lift` a gain has a reason.
    pub fn add_correction(&mut self, change: f64, lift: f64) {
        self.present.correction += change;
        self.present.lift += lift;
    }

    /// Adds the work of constraints with a source of energy.
    pub fn supply(&mut self, work: f64) {
        self.present.supplied += work;
        self.is_supplied = true;
    }

    /// Whether the work of such constraints has been added.
    pub fn is_supplied(&self) -> bool {
        self.is_supplied
    }

    /// Keeps a part of a step for those that follow.
    pub fn accept(&mut self) {
        self.earlier.add(&self.present);
    }

    /// Growth without cause, and what of it is explained [J].
    fn balance(&self) -> (f64, f64) {
        let mut all = self.earlier;
        all.add(&self.present);
        let kinetic = self.start.max(self.kinetic[1]);
        let exchanged = kinetic + all.potential.abs() + all.supplied.abs();
        let sampling = if self.fraction < 1.0 {
            all.sampling.abs().min(MAX_SAMPLING * exchanged)
        } else {
            all.gross_sampling
        };
        let explained = all.explained + sampling;
        // Errors of second order: those of n equal parts are together the n-th part of that of the whole.
        let squared_turn = all.longest * self.squared_turns[0].max(self.squared_turns[1]);
        let explained = Account::relative_gain(squared_turn) * exchanged + explained;
        let correction = all.correction - all.correction.clamp(0.0, all.lift);
        (all.growth + correction - all.supplied, explained)
    }

    /// Growth without cause relative to what is explained of it [-]; not positive for a loss.
    pub fn gain(&self) -> f64 {
        let (growth, explained) = self.balance();
        if explained > 0.0 { growth / explained } else { 0.0 }
    }

    /// What is left of the growth that is explained [J].
    pub fn room(&self) -> f64 {
        let (growth, explained) = self.balance();
        (explained - growth.max(0.0)).max(0.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A motion from and to a kinetic energy [J] that a potential does not explain.
    fn motion(world: &mut WorldEnergy, fraction: f64, kinetic: [f64; 2]) -> f64 {
        world.begin(fraction);
        world.add_motion(kinetic, 0.0, [0.0; 3]);
        world.gain()
    }

    #[test]
    fn a_gain_of_one_per_cent_without_a_source_is_one_and_with_its_source_none() {
        let mut world = WorldEnergy::default();
        assert!(motion(&mut world, 1.0, [1.0, 1.01]) > 1.0);
        world.supply(0.01);
        assert!(world.gain().abs() < 1e-12);
        assert!(motion(&mut world, 1.0, [1.01, 1.0]) < 0.0);
    }

    #[test]
    fn what_a_correction_lifts_beyond_its_allowance_counts() {
        let mut world = WorldEnergy::default();
        motion(&mut world, 1.0, [1.0, 1.0]);
        world.add_correction(0.5, 0.5);
        assert!(world.gain() == 0.0);
        world.add_correction(0.5, 0.4);
        assert!((world.gain() - 0.1 / Account::relative_gain(0.0)).abs() < 1e-9);
    }

    #[test]
    fn the_parts_of_a_step_are_judged_as_one_step() {
        // Each part gains 0.6 %, less than one step may; two gain more.
        let mut world = WorldEnergy::default();
        motion(&mut world, 1.0, [1.0, 2.0]);
        assert!(motion(&mut world, 0.5, [1.0, 1.006]) < 1.0);
        world.accept();
        assert!(motion(&mut world, 0.5, [1.006, 1.012]) > 1.0);
    }
}
