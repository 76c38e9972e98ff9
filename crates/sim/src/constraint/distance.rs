//! DISTANCE: a point of one body keeps its distance from a point of another; a massless rod.

use super::{Configuration, Relation, check_points};
use crate::error::WorldError;
use crate::rows::{ConstraintContext, RowBuilder};
use crate::world::Renumber;
use nalgebra::Vector3;
use stiction_mech::{BodyId, Model};

/// Two points that keep their distance; points in the frames of their bodies [m].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Distance {
    /// The first body.
    pub body_a: BodyId,
    /// The point of the first body.
    pub point_a: Vector3<f64>,
    /// The second body.
    pub body_b: BodyId,
    /// The point of the second body.
    pub point_b: Vector3<f64>,
    /// The distance [m].
    pub distance: f64,
}

impl Relation for Distance {
    fn dim(&self) -> usize {
        1
    }

    /// `|p_B − p_A| − d`.
    fn error(&self, configuration: &Configuration, out: &mut [f64]) {
        let between = configuration.point(self.body_b, &self.point_b)
            - configuration.point(self.body_a, &self.point_a);
        out[0] = between.norm() - self.distance;
    }

    fn add_row(
        &self,
        _: usize,
        configuration: &Configuration,
        context: &ConstraintContext,
        rows: &mut RowBuilder,
    ) {
        let (p_A, p_B) = (
            configuration.point(self.body_a, &self.point_a),
            configuration.point(self.body_b, &self.point_b),
        );
        // Points that coincide have no direction between them: any direction separates them.
        let axis = (p_B - p_A).try_normalize(f64::MIN_POSITIVE).unwrap_or_else(Vector3::z);
        rows.add_point_velocity(context, self.body_b.0, &p_B, &[axis], 1.0);
        rows.add_point_velocity(context, self.body_a.0, &p_A, &[axis], -1.0);
    }

    fn renumber(&mut self, to: &Renumber, name: &str) -> Result<(), WorldError> {
        let owner = || format!("equality \"{name}\"");
        self.body_a = to.body(self.body_a, owner)?;
        self.body_b = to.body(self.body_b, owner)?;
        Ok(())
    }

    fn check(&self, model: &Model, name: &str) -> Result<(), WorldError> {
        if !(self.distance > 0.0 && self.distance.is_finite()) {
            return Err(WorldError::Equality {
                name: name.to_owned(),
                what: format!("distance = {} m", self.distance),
                expected: "a positive number; points that coincide are a connect",
            });
        }
        check_points(model, name, [(self.body_a, &self.point_a), (self.body_b, &self.point_b)])
    }
}
