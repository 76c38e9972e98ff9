//! Accelerations of the bodies, less that of free fall, from accelerations of the coordinates.
//!
//! a_i = a_parent + S_i v̇_i + Ṡ_i v_i from the roots, with −g at the world [Featherstone08, Sec. 5.3].
//! A point p of a body moves with `a + α × (p − r) + ω × v_p`, where r is the tree's reference at
//! which the spatial a is taken.

use nalgebra::{Vector3, Vector6};
use stiction_mech::{BodyId, angular_velocity, point_velocity};

use super::frame::View;

/// Spatial accelerations of the bodies at the references of their trees, world axes.
#[derive(Debug)]
pub(super) struct Accelerations {
    of_body: Vec<Vector6<f64>>,
}

impl Accelerations {
    pub fn new(bodies: usize) -> Self {
        Self { of_body: vec![Vector6::zeros(); bodies] }
    }

    /// Computes them for accelerations `a` of the coordinates.
    pub fn compute(&mut self, view: &View, a: &[f64]) {
        let View { model, data } = *view;
        let g = model.gravity();
        let fixed = Vector6::new(0.0, 0.0, 0.0, -g.x, -g.y, -g.z);
        for link in model.links() {
            let mut sum = link.parent.map_or(fixed, |parent| self.of_body[parent]);
            sum += data.joint_bias[link.body];
            for dof in link.dofs.clone() {
                sum += data.subspace[dof] * a[dof];
            }
            self.of_body[link.body] = sum;
        }
        for (index, body) in model.bodies().iter().enumerate() {
            if body.link != Some(index) {
                self.of_body[index] = body.link.map_or(fixed, |link| self.of_body[link]);
            }
        }
    }

    /// Angular acceleration [rad/s²], world axes.
    pub fn angular(&self, body: BodyId) -> Vector3<f64> {
        self.of_body[body.0].fixed_rows::<3>(0).into()
    }

    /// Acceleration [m/s²], less that of free fall, of the point of a body that is at `p_W` [m].
    pub fn of_point(&self, view: &View, body: BodyId, p_W: &Vector3<f64>) -> Vector3<f64> {
        let View { model, data } = *view;
        let linear: Vector3<f64> = self.of_body[body.0].fixed_rows::<3>(3).into();
        let Some(tree) = model.tree(body) else { return linear };
        linear
            + self.angular(body).cross(&(p_W - data.reference[tree]))
            + angular_velocity(data, body).cross(&point_velocity(model, data, body, *p_W))
    }
}
