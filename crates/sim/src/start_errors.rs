//! Constraints that a state which was set from outside violates, and those of them that yield.
//!
//! Files put robots beyond their limits, into the ground or off their loops. With [`StartLaw::Soft`] such a
//! constraint follows MuJoCo's default [`SoftLaw`](stiction_mech::SoftLaw), critically damped, until its error is
//! within [`VIOLATED`], and is exact from then on. It does not come within if other constraints contradict it, or if a
//! heavy load rests on it: then it yields for good, as in MuJoCo. Its error is in the report and is not corrected. It is
//! no fault, but open equalities must close: their errors must fall in sum, and the largest must not grow. With [`StartLaw::Displace`] all constraints are exact, and the position correction removes the errors at a
//! bounded speed. In both cases the first report says what was found.

use std::fmt;

use stiction_geom::Contact;
use stiction_mech::LimitRow;

use crate::constraint::{Configuration, MAX_ROWS};
use crate::contacts::pairs;
use crate::rows::{self, ConstraintClass, ConstraintKey};
use crate::world::World;

/// Error above which a start violates a constraint [m, rad]: the width of MuJoCo's default impedance.
const VIOLATED: f64 = 1e-3;

/// Least part of their errors by which equalities that yield must close in a step [-]: from rest it is (h/T)², with
/// T = 0.02 s.
const CLOSING: f64 = 1e-6;

/// Growth of the largest of these errors in a step that is none [m, rad].
const STEADY: f64 = 0.1 * VIOLATED;

/// How constraints that a start violates are resolved.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum StartLaw {
    /// By displacements at a bounded speed, which add no energy.
    #[default]
    Displace,
    /// By MuJoCo's default soft law.
    Soft,
}

stiction_solve::setting_choices!(StartLaw {
    "displace" => StartLaw::Displace,
    "soft" => StartLaw::Soft,
});

/// Constraints that are violated at a start.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct StartErrors {
    /// Pairs of rigid shapes in overlap.
    pub overlaps: usize,
    /// Their largest depth [m].
    pub depth: f64,
    /// Coordinates and tendons beyond their ranges.
    pub limits: usize,
    /// Largest distance beyond a range [m, rad].
    pub beyond: f64,
    /// Equalities that are open.
    pub equalities: usize,
    /// Their largest error [m, rad].
    pub open: f64,
}

impl StartErrors {
    /// Whether nothing is violated.
    pub fn is_empty(&self) -> bool {
        self.overlaps + self.limits + self.equalities == 0
    }

    fn add(&mut self, class: ConstraintClass, error: f64) {
        let (count, largest) = match class {
            ConstraintClass::Equality => (&mut self.equalities, &mut self.open),
            ConstraintClass::Limit => (&mut self.limits, &mut self.beyond),
            _ => (&mut self.overlaps, &mut self.depth),
        };
        *count += 1;
        *largest = largest.max(error);
    }
}

impl fmt::Display for StartErrors {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let Self { overlaps, depth, limits, beyond, equalities, open } = *self;
        let parts = [
            (overlaps, "pairs of shapes overlap by up to", depth, "m"),
            (limits, "limits are exceeded by up to", beyond, "m or rad"),
            (equalities, "equalities are open by up to", open, "m or rad"),
        ];
        let mut between = "";
        for (count, what, largest, unit) in parts.into_iter().filter(|part| part.0 > 0) {
            write!(f, "{between}{count} {what} {largest:.2e} {unit}")?;
            between = ", ";
        }
        Ok(())
    }
}

/// The constraints that yield since the start, in the order of their keys.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct YieldingConstraints {
    /// Whether the present state follows from a step, and was not set from outside.
    pub follows: bool,
    /// Of an equality its index, of a pair its shapes.
    pub keys: Vec<ConstraintKey>,
    /// Errors of the equalities that yield, at the start of the step.
    pub open: OpenEqualities,
}

/// Errors of all rows of the equalities that yield [m, rad].
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct OpenEqualities {
    pub sum: f64,
    pub largest: f64,
}

/// A configuration whose constraints are inspected, with its limits and contacts.
pub(crate) struct StartInput<'a> {
    pub world: &'a World,
    pub equality_active: &'a [bool],
    pub configuration: Configuration<'a>,
    pub limits: &'a [LimitRow],
    pub contacts: &'a [Contact],
}

impl YieldingConstraints {
    /// Nothing yields.
    pub const NONE: &'static Self =
        &Self { follows: false, keys: Vec::new(), open: OpenEqualities { sum: 0.0, largest: 0.0 } };

    /// Finds the violated constraints of a state that was set from outside, which yield under [`StartLaw::Soft`].
    pub fn begin(&mut self, input: &StartInput, law: StartLaw) -> StartErrors {
        self.keys.clear();
        let mut errors = StartErrors::default();
        for_each_violated(input, |key, error| {
            errors.add(key.class, error);
            if law == StartLaw::Soft {
                self.keys.push(key);
            }
        });
        self.open = self.equality_errors(input.world, &input.configuration);
        errors
    }

    /// Keeps the constraints that are still violated.
    pub fn update(&mut self, input: &StartInput) {
        let Self { keys, .. } = self;
        let (mut next, mut kept) = (0, 0);
        // Both lists are in the order of the keys.
        for_each_violated(input, |key, _| {
            while next < keys.len() && keys[next] < key {
                next += 1;
            }
            if next < keys.len() && keys[next] == key {
                keys[kept] = key;
                (next, kept) = (next + 1, kept + 1);
            }
        });
        keys.truncate(kept);
        self.open = self.equality_errors(input.world, &input.configuration);
    }

    /// Whether the equalities that yield do not close: in sum their errors are not less than at the start of the step, or the
    /// largest grows.
    pub fn stays_open(&self, world: &World, configuration: &Configuration) -> bool {
        let OpenEqualities { sum, largest } = self.open;
        sum > 0.0 && {
            let now = self.equality_errors(world, configuration);
            !(now.sum < (1.0 - CLOSING) * sum) || now.largest > largest + STEADY
        }
    }

    /// Errors of the equalities that yield.
    fn equality_errors(&self, world: &World, configuration: &Configuration) -> OpenEqualities {
        let mut rows = [0.0; MAX_ROWS];
        let mut open = OpenEqualities::default();
        let equalities = self.keys.iter().take_while(|key| key.class == ConstraintClass::Equality);
        for key in equalities {
            let equality = &world.equalities[key.a as usize];
            equality.error(configuration, &mut rows);
            for error in &rows[..equality.dim()] {
                open.sum += error.abs();
                open.largest = open.largest.max(error.abs());
            }
        }
        open
    }

    /// Whether an equality yields.
    pub fn has_equality(&self, index: usize) -> bool {
        self.has(&ConstraintKey { a: index as u32, ..ConstraintKey::default() })
    }

    /// Whether a limit yields.
    pub fn has_limit(&self, limit: &LimitRow) -> bool {
        self.has(&rows::limit::key(limit))
    }

    /// Whether the contacts of a pair of shapes yield.
    pub fn has_contact(&self, contact: &Contact) -> bool {
        self.has(&pair_key(contact))
    }

    /// Whether a constraint yields.
    pub fn has(&self, key: &ConstraintKey) -> bool {
        self.keys.binary_search(key).is_ok()
    }
}

fn pair_key(contact: &Contact) -> ConstraintKey {
    ConstraintKey { feature: 0, ..rows::contact::key(contact) }
}

/// Calls `visit` with the key and the error of every violated constraint that is exact otherwise, in the order of
/// the keys.
fn for_each_violated(input: &StartInput, mut visit: impl FnMut(ConstraintKey, f64)) {
    let StartInput { world, equality_active, configuration, limits, contacts } = input;
    let mut rows = [0.0; MAX_ROWS];
    for (index, equality) in world.equalities.iter().enumerate() {
        if !equality_active[index] || world.equality_options[index].softness.is_some() {
            continue;
        }
        equality.error(configuration, &mut rows);
        let error = rows[..equality.dim()].iter().fold(0.0_f64, |most, x| most.max(x.abs()));
        if error > VIOLATED {
            visit(ConstraintKey { a: index as u32, ..ConstraintKey::default() }, error);
        }
    }
    for limit in *limits {
        if -limit.gap > VIOLATED && rows::limit::softness(world, limit.source).is_none() {
            visit(rows::limit::key(limit), -limit.gap);
        }
    }
    for pair in pairs(contacts) {
        let error = -pair.iter().filter_map(|contact| world.rigid_gap(contact)).fold(0.0, f64::min);
        if error > VIOLATED {
            visit(pair_key(&pair[0]), error);
        }
    }
}
