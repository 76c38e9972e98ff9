//! CONNECT: a point of one body coincides with a point of another; a ball joint that closes a loop.

use super::{Configuration, Relation, check_points};
use crate::error::WorldError;
use crate::rows::{ConstraintContext, RowBuilder};
use crate::world::Renumber;
use nalgebra::Vector3;
use stiction_mech::{BodyId, Model};

/// Two points that coincide; points in the frames of their bodies [m].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Connect {
    /// The first body.
    pub body_a: BodyId,
    /// The point of the first body.
    pub point_a: Vector3<f64>,
    /// The second body.
    pub body_b: BodyId,
    /// The point of the second body.
    pub point_b: Vector3<f64>,
}

const AXES: [Vector3<f64>; 3] =
    [Vector3::new(1.0, 0.0, 0.0), Vector3::new(0.0, 1.0, 0.0), Vector3::new(0.0, 0.0, 1.0)];

impl Relation for Connect {
    fn dim(&self) -> usize {
        3
    }

    /// `p_B − p_A` in world axes.
    fn error(&self, configuration: &Configuration, out: &mut [f64]) {
        let error = configuration.point(self.body_b, &self.point_b)
            - configuration.point(self.body_a, &self.point_a);
        out.copy_from_slice(error.as_slice());
    }

    fn add_row(
        &self,
        row: usize,
        configuration: &Configuration,
        context: &ConstraintContext,
        rows: &mut RowBuilder,
    ) {
        let axis = &AXES[row..row + 1];
        let (p_A, p_B) = (
            configuration.point(self.body_a, &self.point_a),
            configuration.point(self.body_b, &self.point_b),
        );
        rows.add_point_velocity(context, self.body_b.0, &p_B, axis, 1.0);
        rows.add_point_velocity(context, self.body_a.0, &p_A, axis, -1.0);
    }

    fn renumber(&mut self, to: &Renumber, name: &str) -> Result<(), WorldError> {
        let owner = || format!("equality \"{name}\"");
        self.body_a = to.body(self.body_a, owner)?;
        self.body_b = to.body(self.body_b, owner)?;
        Ok(())
    }

    fn check(&self, model: &Model, name: &str) -> Result<(), WorldError> {
        check_points(model, name, [(self.body_a, &self.point_a), (self.body_b, &self.point_b)])
    }
}
