//! Inverse inertias at the reference configuration, MuJoCo's `body_invweight0`, `dof_invweight0` and
//! `tendon_invweight0`: the approximation Â of the diagonal of J M⁻¹ Jᵀ by which soft constraints are scaled
//! ([`SoftLaw`](crate::SoftLaw)).
//!
//! - body: mean over the three axes of J M⁻¹ Jᵀ, J of its centre of mass and of its rotation;
//! - velocity: diagonal of M⁻¹, averaged over the axes of free and ball joints;
//! - tendon: J M⁻¹ Jᵀ for the gradient J of its length.
//!
//! Deviation from these means, as in MuJoCo: a body on slides alone, along the axes of its inertial frame and
//! without other bodies on it, has the inverse of its mass for its centre of mass and its velocities. The centre of
//! mass of a body without mass is, in its own frame, where the body is in that of its parent.
//!
//! Cost: seven solves with the mass matrix of a tree per body of it, once per model.

use crate::body::BodyId;
use crate::data::Data;
use crate::jacobian::for_each_column;
use crate::joint::JointKind;
use crate::mass::{factor_mass, mass_matrix, tree_solve_mass};
use crate::model::{Model, TreeRange};
use nalgebra::{Matrix3, Vector3};

/// Below this an inverse inertia counts as zero.
const LEAST: f64 = 1e-15;

/// Inverse inertias at the reference configuration.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct InverseWeights {
    /// Of the centre of mass [1/kg] and of the rotation [1/(kg·m²)]; per body, zero for those that cannot move.
    pub body: Vec<[f64; 2]>,
    /// Per velocity [1/kg, 1/(kg·m²)].
    pub dof: Vec<f64>,
    /// Per tendon [1/kg].
    pub tendon: Vec<f64>,
}

impl InverseWeights {
    /// Computes them. A singular mass matrix gives zeros; a step reports it.
    pub fn new(model: &Model) -> Self {
        let mut weights = Self {
            body: vec![[0.0; 2]; model.bodies().len()],
            dof: vec![0.0; model.nv()],
            tendon: vec![0.0; model.tendons().len()],
        };
        let mut data = Data::new(model);
        mass_matrix(model, &mut data);
        if factor_mass(model, &mut data).is_err() {
            return weights;
        }
        let mut x = vec![0.0; model.nv()];
        weights.add_dofs(model, &data, &mut x);
        for body in 0..model.bodies().len() {
            weights.body[body] = of_body(model, &data, BodyId(body), &mut x);
        }
        weights.add_tendons(model, &data, &mut x);
        for tree in model.trees() {
            if let Some(mass) = mass_of_slider(model, tree) {
                weights.body[tree.bodies.start][0] = 1.0 / mass;
                weights.dof[tree.dofs.clone()].fill(1.0 / mass);
            }
        }
        weights
    }

    fn add_dofs(&mut self, model: &Model, data: &Data, x: &mut [f64]) {
        for (tree, range) in model.trees().iter().enumerate() {
            for dof in range.dofs.clone() {
                x[range.dofs.clone()].fill(0.0);
                x[dof] = 1.0;
                tree_solve_mass(model, tree, data, x);
                self.dof[dof] = x[dof];
            }
            x[range.dofs.clone()].fill(0.0);
        }
        for joint in model.joints() {
            if matches!(joint.spec.kind, JointKind::Free | JointKind::Ball) {
                for axes in self.dof[joint.dofs.clone()].chunks_exact_mut(3) {
                    axes.fill(axes.iter().sum::<f64>() / 3.0);
                }
            }
        }
    }

    fn add_tendons(&mut self, model: &Model, data: &Data, x: &mut [f64]) {
        let mut gradient = vec![0.0; model.nv()];
        for (index, tendon) in model.tendons().iter().enumerate() {
            tendon.measure(model, model.q0(), data, &mut gradient);
            tendon.dofs.iter().for_each(|dof| x[*dof] = gradient[*dof]);
            for tree in 0..model.trees().len() {
                let dofs = model.trees()[tree].dofs.clone();
                if tendon.dofs.iter().any(|dof| dofs.contains(dof)) {
                    tree_solve_mass(model, tree, data, x);
                    let product = dofs.clone().map(|dof| gradient[dof] * x[dof]).sum::<f64>();
                    self.tendon[index] += product;
                    x[dofs].fill(0.0);
                }
            }
            tendon.dofs.iter().for_each(|dof| gradient[*dof] = 0.0);
        }
    }
}

/// The mass of a tree of one body that slides along axes of its inertial frame, at its centre of mass [kg].
fn mass_of_slider(model: &Model, tree: &TreeRange) -> Option<f64> {
    let mass = model.bodies()[tree.bodies.start].spec.mass.filter(|_| tree.bodies.len() == 1)?;
    let mut used = [false; 3];
    let mut slides = |axis: &Vector3<f64>| {
        let along = (0..3).find(|k| axis[*k].abs() == 1.0 && !used[*k]);
        along.map(|k| used[k] = true).is_some()
    };
    let sliding = model.joints()[tree.joints.clone()].iter().all(|joint| match &joint.spec.kind {
        JointKind::Slide { axis } => slides(axis),
        _ => false,
    });
    let inertia = mass.inertia();
    let coupling = inertia - Matrix3::from_diagonal(&inertia.diagonal());
    let centred = mass.com() == Vector3::zeros() && coupling == Matrix3::zeros();
    (sliding && centred).then(|| mass.mass())
}

/// Inverse inertia of the centre of mass and of the rotation of a body.
fn of_body(model: &Model, data: &Data, body: BodyId, x: &mut [f64]) -> [f64; 2] {
    let Some(tree) = model.tree(body) else { return [0.0; 2] };
    let dofs = model.trees()[tree].dofs.clone();
    let X_WB = &data.body_pose[body.0];
    let spec = &model.bodies()[body.0].spec;
    let com = spec.mass.map_or(spec.pose.translation.vector, |mass| mass.com());
    let point = X_WB.translation.vector + X_WB.rotation * com;
    let mut traces = [0.0; 2];
    for (kind, trace) in traces.iter_mut().enumerate() {
        for axis in 0..3 {
            let write = |x: &mut [f64]| {
                x[dofs.clone()].fill(0.0);
                for_each_column(model, data, body, point, |dof, angular, linear| {
                    x[dof] = if kind == 0 { linear[axis] } else { angular[axis] };
                });
            };
            write(x);
            tree_solve_mass(model, tree, data, x);
            for_each_column(model, data, body, point, |dof, angular, linear| {
                *trace += x[dof] * if kind == 0 { linear[axis] } else { angular[axis] } / 3.0;
            });
        }
    }
    x[dofs].fill(0.0);
    traces.map(|trace| if trace > LEAST { trace } else { 0.0 })
}
