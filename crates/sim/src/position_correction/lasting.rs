//! Position errors one by one: every open equality, every coordinate beyond its range and every deep pair of
//! shapes must fall from step to step.
//!
//! The largest error of a tree can fall while another one stays. Therefore each error above its tolerance is
//! kept with its identity, and compared with its own value after the last step. Translations [m] and turns [rad] of
//! a weld are two errors.

use stiction_geom::Contact;
use stiction_mech::LimitRow;

use crate::constraint::{Configuration, Equality, MAX_ROWS};
use crate::contacts::pairs;
use crate::rows::{self, ConstraintClass, ConstraintContext, ConstraintKey, limit};
use crate::settings::Stabilisation;
use crate::start_errors::YieldingConstraints;
use crate::world::World;

use super::MIN_SPEED;

/// Error of an equality above which it must fall, in multiples of the closure [-].
pub(super) const OPEN: f64 = 1e3;
/// Depth above which it must fall, in multiples of the slop [-].
const DEEP: f64 = 10.0;
/// Fraction of the removal that `max-speed` allows by which an error must fall in a step [-].
pub(super) const REQUIRED_REMOVAL: f64 = 0.1;
/// The same for turns, relative to a speed on an arm of one metre: bodies turn about longer arms as well [-].
const REQUIRED_TURN: f64 = 0.01;
/// Size of an error, relative to the largest, below which it must fall in proportion only: a displacement that
/// is shortened reduces all errors by the same fraction [-].
const SMALL: f64 = 0.1;

/// An error with its identity.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct LastingError {
    /// The constraint: of an equality its index and 0 for metres or 1 for radians, of a pair its shapes.
    pub key: ConstraintKey,
    /// Its error [m, rad].
    pub error: f64,
}

/// The errors above their tolerances after a step, in the order of their keys.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct LastingErrors {
    /// Whether the errors belong to a step; otherwise the state was set from outside.
    pub known: bool,
    pub errors: Vec<LastingError>,
}

impl LastingErrors {
    /// Forgets all errors, for a state that is set from outside.
    pub fn forget(&mut self) {
        self.known = false;
        self.errors.clear();
    }

    /// The largest error [m, rad].
    pub fn largest(&self) -> f64 {
        self.errors.iter().map(|error| error.error).fold(0.0, f64::max)
    }

    /// Starts a list of errors of a step.
    pub fn begin(&mut self) {
        self.known = true;
        self.errors.clear();
    }

    /// Adds the errors of the active equalities that are exact.
    pub fn add_equalities(
        &mut self,
        (world, active): (&World, &[bool]),
        configuration: &Configuration,
        settings: &Stabilisation,
    ) {
        let mut rows = [0.0; MAX_ROWS];
        for (index, equality) in world.equalities.iter().enumerate() {
            if !active[index] || world.equality_options[index].softness.is_some() {
                continue;
            }
            equality.error(configuration, &mut rows);
            let rows = &rows[..equality.dim()];
            // The last three rows of a weld are a turn.
            let turns = if matches!(equality, Equality::Weld(_)) { 3 } else { rows.len() };
            let (shift, turn) = rows.split_at(turns);
            for (part, rows) in [shift, turn].into_iter().enumerate() {
                let error = rows.iter().map(|x| x * x).sum::<f64>().sqrt();
                // An error that is not a number is one.
                if !(error <= OPEN * settings.closure) {
                    let (a, b) = (index as u32, part as u32);
                    let key = ConstraintKey { a, b, ..ConstraintKey::default() };
                    self.errors.push(LastingError { key, error });
                }
            }
        }
    }

    /// Adds the coordinates and tendons beyond their ranges, where these are rigid.
    pub fn add_limits(&mut self, world: &World, limits: &[LimitRow], settings: &Stabilisation) {
        let rigid = |limit: &&LimitRow| limit::softness(world, limit.source).is_none();
        for limit in limits.iter().filter(rigid) {
            if !(-limit.gap > DEEP * settings.slop) {
                continue;
            }
            self.errors.push(LastingError { key: limit::key(limit), error: -limit.gap });
        }
    }

    /// Adds the pairs of rigid shapes that are deep in one another and of which one is awake.
    pub fn add_contacts(
        &mut self,
        world: &World,
        context: &ConstraintContext,
        contacts: &[Contact],
        settings: &Stabilisation,
    ) {
        for pair in pairs(contacts) {
            let gaps = pair.iter().filter_map(|contact| world.rigid_gap(contact));
            let error = -gaps.fold(0.0, f64::min);
            let moves =
                || world.bodies_of(&pair[0]).iter().any(|b| context.moving_tree(*b).is_some());
            if error > DEEP * settings.slop && moves() {
                let key = ConstraintKey { feature: 0, ..rows::contact::key(&pair[0]) };
                self.errors.push(LastingError { key, error });
            }
        }
    }

    /// Whether an error did not fall since the last step as it should. Those of constraints that yield need not.
    pub fn stays(
        &self,
        before: &Self,
        yielding: &YieldingConstraints,
        settings: &Stabilisation,
        h: f64,
    ) -> bool {
        if !before.known {
            return false;
        }
        let yields = |key: &ConstraintKey| match key.class {
            ConstraintClass::Equality => yielding.has_equality(key.a as usize),
            _ => yielding.has(key),
        };
        let mut errors = self.errors.iter().filter(|error| !yields(&error.key));
        let largest = errors.clone().map(|error| error.error).fold(0.0, f64::max);
        let mut old = before.errors.iter().peekable();
        errors.any(|LastingError { key, error }| {
            while old.next_if(|old| old.key < *key).is_some() {}
            let last = old.next_if(|old| old.key == *key).map_or(0.0, |old| old.error);
            let is_turn = key.class == ConstraintClass::Equality && key.b == 1;
            let speed = match key.class {
                ConstraintClass::Equality => settings.max_speed.max(MIN_SPEED),
                _ => settings.max_speed,
            };
            let required = if is_turn { REQUIRED_TURN } else { REQUIRED_REMOVAL };
            let share = (error / (SMALL * largest)).min(1.0);
            !(*error <= last - required * share * (speed * h).min(*error))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn errors(parts: &[(u32, f64)]) -> LastingErrors {
        let error = |(a, error): &(u32, f64)| LastingError {
            key: ConstraintKey { a: *a, ..ConstraintKey::default() },
            error: *error,
        };
        LastingErrors { known: true, errors: parts.iter().map(error).collect() }
    }

    #[test]
    fn an_error_that_stays_is_found_beside_a_larger_one_that_falls() {
        let (settings, h) = (Stabilisation::default(), 1e-3);
        let before = errors(&[(0, 0.1), (2, 0.3)]);
        let stays = |parts: &[(u32, f64)]| {
            errors(parts).stays(&before, YieldingConstraints::NONE, &settings, h)
        };
        assert!(!stays(&[(0, 0.099), (2, 0.299)]));
        assert!(stays(&[(0, 0.1), (2, 0.299)]));
        assert!(stays(&[(0, 0.099), (2, 0.3)]));
        // One that was within its tolerance rose.
        assert!(stays(&[(1, 0.001), (2, 0.299)]));
        assert!(!stays(&[]));
        assert!(stays(&[(0, f64::NAN)]));
    }

    #[test]
    fn a_state_that_was_set_from_outside_has_nothing_to_compare_with() {
        let mut before = errors(&[(0, 0.1)]);
        before.forget();
        let none = YieldingConstraints::NONE;
        assert!(!errors(&[(0, 0.1)]).stays(&before, none, &Stabilisation::default(), 1e-3));
    }
}
