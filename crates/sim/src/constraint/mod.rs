//! Equalities: position errors that must stay zero, and their rows.
//!
//! One file per kind. Each computes its error at a configuration and writes the rows whose velocity is
//! the rate of that error. To add one: write `constraint/<name>.rs`, a variant of [`Equality`] with
//! its arms, and one line in [`CONSTRAINTS`]; `tests.rs` compares its rows with finite differences of
//! its errors.

mod connect;
mod distance;
mod joint;
mod options;
mod polynomial;
mod prediction;
mod soft;
mod tendon;
mod weld;

pub use connect::Connect;
pub use distance::Distance;
pub use joint::JointCoupling;
pub use options::EqualityOptions;
pub use polynomial::Polynomial;
pub(crate) use prediction::EqualityPrediction;
pub(crate) use soft::{SoftEquality, SoftWeld};
pub use tendon::TendonCoupling;
pub use weld::Weld;

use nalgebra::{Isometry3, Vector3};
use stiction_mech::{BodyId, Data, Model};

use crate::error::WorldError;
use crate::rows::{ConstraintContext, RowBuilder};
use crate::world::Renumber;

/// Rows of the largest equality.
pub(crate) const MAX_ROWS: usize = 6;

/// A configuration of the mechanism, with its kinematics.
#[derive(Clone, Copy)]
pub(crate) struct Configuration<'a> {
    pub model: &'a Model,
    pub q: &'a [f64],
    pub data: &'a Data,
}

impl Configuration<'_> {
    pub fn pose(&self, body: BodyId) -> &Isometry3<f64> {
        &self.data.body_pose[body.0]
    }

    pub fn point(&self, body: BodyId, point: &Vector3<f64>) -> Vector3<f64> {
        (self.pose(body) * nalgebra::Point3::from(*point)).coords
    }
}

/// The interface of an equality. Errors and rows come in the same order.
pub(crate) trait Relation {
    /// Number of rows.
    fn dim(&self) -> usize;

    /// Position errors [m, rad].
    fn error(&self, configuration: &Configuration, out: &mut [f64]);

    /// Adds the terms of one row, whose velocity is the rate of its error.
    fn add_row(
        &self,
        row: usize,
        configuration: &Configuration,
        context: &ConstraintContext,
        rows: &mut RowBuilder,
    );

    /// Converts the ids of the builder to those of the model.
    fn renumber(&mut self, renumber: &Renumber, name: &str) -> Result<(), WorldError>;

    /// Checks it against the model.
    fn check(&self, model: &Model, name: &str) -> Result<(), WorldError>;
}

/// An equality.
#[derive(Clone, Debug, PartialEq)]
pub enum Equality {
    /// Two points coincide.
    Connect(Connect),
    /// Two points keep their distance.
    Distance(Distance),
    /// A coordinate is a polynomial of another, or constant.
    Joint(JointCoupling),
    /// The length of a tendon is a polynomial of another's, or constant.
    Tendon(TendonCoupling),
    /// Two bodies move as one.
    Weld(Weld),
}

impl Equality {
    fn relation(&self) -> &dyn Relation {
        match self {
            Self::Connect(relation) => relation,
            Self::Distance(relation) => relation,
            Self::Joint(relation) => relation,
            Self::Tendon(relation) => relation,
            Self::Weld(relation) => relation,
        }
    }

    /// Number of rows.
    pub fn dim(&self) -> usize {
        self.relation().dim()
    }

    /// Position errors [m, rad], into the first entries of `out`.
    pub(crate) fn error(&self, configuration: &Configuration, out: &mut [f64]) {
        let relation = self.relation();
        relation.error(configuration, &mut out[..relation.dim()]);
    }

    pub(crate) fn add_row(
        &self,
        row: usize,
        configuration: &Configuration,
        context: &ConstraintContext,
        rows: &mut RowBuilder,
    ) {
        self.relation().add_row(row, configuration, context, rows);
    }

    pub(crate) fn renumber(&mut self, to: &Renumber, name: &str) -> Result<(), WorldError> {
        match self {
            Self::Connect(relation) => relation.renumber(to, name),
            Self::Distance(relation) => relation.renumber(to, name),
            Self::Joint(relation) => relation.renumber(to, name),
            Self::Tendon(relation) => relation.renumber(to, name),
            Self::Weld(relation) => relation.renumber(to, name),
        }
    }

    pub(crate) fn check(&self, model: &Model, name: &str) -> Result<(), WorldError> {
        self.relation().check(model, name)
    }
}

/// One line of [`CONSTRAINTS`].
pub struct ConstraintEntry {
    /// Name in files.
    pub name: &'static str,
    /// Description in one line.
    pub about: &'static str,
}

/// Every equality, in alphabetical order.
pub static CONSTRAINTS: &[ConstraintEntry] = &[
    ConstraintEntry { name: "connect", about: "two points of two bodies coincide" },
    ConstraintEntry { name: "distance", about: "two points of two bodies keep their distance" },
    ConstraintEntry {
        name: "joint",
        about: "a coordinate is a polynomial of another, or constant",
    },
    ConstraintEntry {
        name: "tendon",
        about: "a tendon's length is a polynomial of another's, or constant",
    },
    ConstraintEntry { name: "weld", about: "two bodies keep their relative pose" },
];

fn not_finite(name: &str, what: &str, found: f64) -> WorldError {
    WorldError::Equality {
        name: name.to_owned(),
        what: format!("{what} = {found}"),
        expected: "a finite number",
    }
}

/// Finite points of two different bodies, at least one of which can move.
fn check_points(
    model: &Model,
    name: &str,
    ends: [(BodyId, &Vector3<f64>); 2],
) -> Result<(), WorldError> {
    for (_, point) in ends {
        if let Some(found) = point.iter().find(|x| !x.is_finite()) {
            return Err(not_finite(name, "point", *found));
        }
    }
    let [(a, _), (b, _)] = ends;
    if model.link(a) == model.link(b) {
        return Err(WorldError::Equality {
            name: name.to_owned(),
            what: format!("bodies {} and {} are one rigid piece", a.0, b.0),
            expected: "bodies that can move relative to one another",
        });
    }
    Ok(())
}

#[cfg(test)]
mod tests;
