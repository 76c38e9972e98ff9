//! Drag of a medium that surrounds all bodies: air, water, oil.
//!
//! Each body is dragged as the box that has its inertia: edges `b_i = √(6 (I_j + I_k − I_i)/m)`. With
//! the mean edge d, viscosity η resists with `3π d η v` and `π d³ η ω` as it does a sphere (Stokes);
//! density ρ with `½ρ b_j b_k |v_i| v_i` and `ρ b_i (b_j⁴ + b_k⁴)|ω_i| ω_i/64` along and about the
//! principal axes. Velocities are those of the centre of mass relative to the medium. This is the
//! inertia model of [Todorov12], as its program has it. There is no added mass, lift or buoyancy.

use std::f64::consts::PI;

use nalgebra::{Matrix3, Vector3};

use super::{Forces, RowEntry};
use crate::body::BodyId;
use crate::data::Data;
use crate::jacobian;
use crate::model::Model;
use crate::velocity::{angular_velocity, point_velocity};

/// What surrounds the bodies.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Medium {
    /// Density ρ [kg/m³].
    pub density: f64,
    /// Dynamic viscosity η [Pa·s].
    pub viscosity: f64,
    /// How it moves [m/s], world frame.
    pub wind: Vector3<f64>,
}

impl Medium {
    /// Whether it resists nothing.
    pub fn is_void(&self) -> bool {
        self.density == 0.0 && self.viscosity == 0.0
    }
}

/// A body as the medium feels it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Dragged {
    body: BodyId,
    com: Vector3<f64>,
    /// Principal axes as columns, body frame.
    axes: Matrix3<f64>,
    /// Edges of the box [m].
    edges: Vector3<f64>,
}

/// The bodies that a medium drags.
pub(super) fn dragged(model: &Model) -> Vec<Dragged> {
    let mut dragged = Vec::new();
    for (index, body) in model.bodies().iter().enumerate() {
        let Some(mass) = body.spec.mass.filter(|mass| body.link.is_some() && mass.mass() > 0.0)
        else {
            continue;
        };
        let axes = mass.inertia().symmetric_eigen();
        let moments = axes.eigenvalues;
        let edges = (moments.sum() * Vector3::repeat(1.0) - 2.0 * moments)
            .map(|sum| (6.0 * sum.max(0.0) / mass.mass()).sqrt());
        let (body, com) = (BodyId(index), mass.com());
        dragged.push(Dragged { body, com, axes: axes.eigenvectors, edges });
    }
    dragged
}

impl Dragged {
    /// Centre of mass [m], principal axes, and velocities relative to the medium along them: angular
    /// [rad/s], linear [m/s].
    fn motion(&self, medium: &Medium, model: &Model, data: &Data) -> Motion {
        let pose = &data.body_pose[self.body.0];
        let com = pose.translation.vector + pose.rotation * self.com;
        let axes = pose.rotation.to_rotation_matrix().into_inner() * self.axes;
        let linear = point_velocity(model, data, self.body, com) - medium.wind;
        let angular = angular_velocity(data, self.body);
        Motion { com, angular: axes.tr_mul(&angular), linear: axes.tr_mul(&linear), axes }
    }

    /// Resistances to turning about and to moving along each principal axis: of viscosity, and of
    /// density per unit of speed.
    fn resistance(&self, medium: &Medium) -> [Resistance; 3] {
        let (b, mean) = (self.edges, self.edges.mean());
        let (rho, eta) = (medium.density, medium.viscosity);
        std::array::from_fn(|i| {
            let (j, k) = ((i + 1) % 3, (i + 2) % 3);
            Resistance {
                turning: PI * mean.powi(3) * eta,
                turning_fast: rho * b[i] * (b[j].powi(4) + b[k].powi(4)) / 64.0,
                moving: 3.0 * PI * mean * eta,
                moving_fast: 0.5 * rho * b[j] * b[k],
            }
        })
    }
}

struct Motion {
    com: Vector3<f64>,
    axes: Matrix3<f64>,
    angular: Vector3<f64>,
    linear: Vector3<f64>,
}

struct Resistance {
    turning: f64,
    turning_fast: f64,
    moving: f64,
    moving_fast: f64,
}

impl Forces {
    /// Drag at the velocities of `data`.
    pub(super) fn drag(&mut self, model: &Model, data: &Data) {
        let medium = model.medium();
        for dragged in &self.layout.dragged {
            let motion = dragged.motion(&medium, model, data);
            let (mut torque, mut force) = (Vector3::zeros(), Vector3::zeros());
            for (i, by) in dragged.resistance(&medium).iter().enumerate() {
                let (w, v) = (motion.angular[i], motion.linear[i]);
                torque[i] = -(by.turning + by.turning_fast * w.abs()) * w;
                force[i] = -(by.moving + by.moving_fast * v.abs()) * v;
            }
            let (torque, force) = (motion.axes * torque, motion.axes * force);
            let out = &mut self.generalized;
            jacobian::apply_wrench(model, data, dragged.body, motion.com, torque, force, out);
        }
    }

    /// Whether anything is dragged.
    pub fn has_drag(&self) -> bool {
        !self.layout.dragged.is_empty()
    }

    /// Rows and what drag adds to −∂f/∂v along each of them [N·s/m, N·m·s]: six rows per body.
    pub fn drag_slopes(
        &mut self,
        model: &Model,
        data: &Data,
        mut visit: impl FnMut(&[RowEntry], f64),
    ) {
        let (medium, mut row) = (model.medium(), std::mem::take(&mut self.row));
        for dragged in &self.layout.dragged {
            let motion = dragged.motion(&medium, model, data);
            for (i, by) in dragged.resistance(&medium).iter().enumerate() {
                let axis = motion.axes.column(i).into_owned();
                let turning = by.turning + 2.0 * by.turning_fast * motion.angular[i].abs();
                let moving = by.moving + 2.0 * by.moving_fast * motion.linear[i].abs();
                for (is_turning, slope) in [(true, turning), (false, moving)] {
                    row.clear();
                    let body = dragged.body;
                    jacobian::for_each_column(model, data, body, motion.com, |dof, w, v| {
                        let coefficient = axis.dot(if is_turning { &w } else { &v });
                        row.push(RowEntry { dof, coefficient });
                    });
                    visit(&row, slope);
                }
            }
        }
        self.row = row;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        BodySpec, Input, JointKind, JointSpec, MassProperties, ModelBuilder, State, kinematics,
        velocities,
    };

    /// A free box of these edges [m] in a medium.
    fn floating_box(edges: Vector3<f64>, medium: Medium) -> Model {
        let mass = 2.0;
        let square = edges.component_mul(&edges);
        let moments = (square.sum() * Vector3::repeat(1.0) - square) * (mass / 12.0);
        let inertia = Matrix3::from_diagonal(&moments);
        let mut builder = ModelBuilder::new();
        let body = builder.body(BodySpec {
            mass: Some(MassProperties::new(mass, Vector3::zeros(), inertia).unwrap()),
            ..BodySpec::default()
        });
        builder.joint(body, JointSpec::new(JointKind::Free));
        builder.medium(medium);
        builder.build().unwrap()
    }

    fn drag_at(model: &Model, v: &[f64]) -> Forces {
        let (mut data, mut forces) = (Data::new(model), Forces::new(model));
        let state = State::new(model);
        kinematics(model, &state.q, &mut data);
        velocities(model, v, &mut data);
        forces.evaluate(model, (&state.q, v), &data, &Input::new(model), 1e-3).unwrap();
        forces
    }

    #[test]
    fn a_box_in_thin_air_is_dragged_by_its_own_faces() {
        // ½ρ times face times squared speed along each axis; the box of the inertia is the box.
        let (edges, rho) = (Vector3::new(0.1, 0.2, 0.4), 1.2);
        let model = floating_box(edges, Medium { density: rho, ..Medium::default() });
        for (axis, face) in [(0, 0.08), (1, 0.04), (2, 0.02)] {
            let mut v = [0.0; 6];
            v[axis] = -3.0;
            let forces = drag_at(&model, &v);
            assert!((forces.generalized[axis] - 0.5 * rho * face * 9.0).abs() < 1e-12);
        }
    }

    #[test]
    fn a_cube_in_oil_is_dragged_as_stokes_drags_a_sphere() {
        let (d, eta) = (0.3, 0.7);
        let medium = Medium { viscosity: eta, wind: Vector3::new(1.0, 0.0, 0.0), density: 0.0 };
        let model = floating_box(Vector3::repeat(d), medium);
        let forces = drag_at(&model, &[1.0, 2.0, 0.0, 0.0, 0.0, 5.0]);
        let expected = [0.0, -3.0 * PI * d * eta * 2.0, 0.0, 0.0, 0.0, -PI * d.powi(3) * eta * 5.0];
        for (found, expected) in forces.generalized.iter().zip(expected) {
            assert!((found - expected).abs() < 1e-12, "{found} {expected}");
        }
    }

    #[test]
    fn slopes_of_drag_are_differences_of_drag() {
        let medium = Medium { density: 900.0, viscosity: 0.3, wind: Vector3::new(0.2, -0.1, 0.4) };
        let model = floating_box(Vector3::new(0.1, 0.2, 0.4), medium);
        let v = [1.0, -0.5, 0.7, 2.0, -1.0, 0.4];
        let mut forces = drag_at(&model, &v);
        let (mut data, state) = (Data::new(&model), State::new(&model));
        kinematics(&model, &state.q, &mut data);
        velocities(&model, &v, &mut data);
        let mut slope = [[0.0; 6]; 6];
        forces.drag_slopes(&model, &data, |row, weight| {
            for a in row {
                for b in row {
                    slope[a.dof][b.dof] -= weight * a.coefficient * b.coefficient;
                }
            }
        });
        // Central differences of a piecewise quadratic are exact but for round-off over the step.
        let step = 1e-4;
        for column in 0..6 {
            let (mut ahead, mut behind) = (v, v);
            ahead[column] += step;
            behind[column] -= step;
            let (ahead, behind) = (drag_at(&model, &ahead), drag_at(&model, &behind));
            for row in 0..6 {
                let change = ahead.generalized[row] - behind.generalized[row];
                assert!((change / (2.0 * step) - slope[row][column]).abs() < 1e-8);
            }
        }
    }
}
