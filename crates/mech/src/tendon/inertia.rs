//! Inertia along tendons: armature a gives a tendon of gradient J the kinetic energy ½ a (J v)².
//!
//! It adds a Jᵀ J to the mass matrix and a Jᵀ (J̇ v) to the bias forces. Deviation: entries of a Jᵀ J that couple two
//! branches of a tree, or two trees, are left out of the mass matrix as in MuJoCo, which keeps its factors sparse.
//! The gradients belong to the position stage of [`Data`]. Cost: the square of the number of velocities of each such tendon.

use super::path::{TendonPath, Waypoint};
use super::{Tendon, TendonId};
use crate::body::BodyId;
use crate::data::Data;
use crate::model::Model;
use crate::spatial::{angular, linear};
use crate::velocity::point_velocity;
use nalgebra::{Vector3, Vector6};
use stiction_math::branch;

/// A tendon with armature, and the trees that it moves.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct InertialTendon {
    pub(crate) id: TendonId,
    /// Ascending.
    pub(crate) trees: Vec<usize>,
}

/// Lists the tendons with armature; trees on which they act lose their closed forms.
pub(crate) fn compile(model: &mut Model) {
    let tree_of = |dof: usize| model.trees.iter().position(|tree| tree.dofs.contains(&dof));
    let inertial: Vec<InertialTendon> = (0..)
        .zip(model.tendons())
        .filter(|(_, tendon)| tendon.spec.armature > 0.0)
        .map(|(id, tendon)| {
            let mut trees: Vec<usize> =
                tendon.dofs.iter().filter_map(|dof| tree_of(*dof)).collect();
            trees.dedup();
            InertialTendon { id: TendonId(id), trees }
        })
        .collect();
    for tree in inertial.iter().flat_map(|tendon| &tendon.trees) {
        let tree = &mut model.trees[*tree];
        (tree.single, tree.constant_mass) = (false, false);
    }
    model.inertial_tendons = inertial;
}

impl Model {
    /// Whether armature of a tendon couples velocities of a tree: its mass matrix is then not that of its
    /// links and joints alone.
    pub fn has_tendon_inertia(&self, tree: usize) -> bool {
        self.inertial_tendons.iter().any(|tendon| tendon.trees.contains(&tree))
    }
}

/// Writes the gradients of the inertial tendons that act on a tree.
#[inline]
pub(crate) fn update_gradients(model: &Model, tree: usize, data: &mut Data) {
    if model.inertial_tendons.is_empty() {
        return;
    }
    // Moved out for the call, so that tendons can read `data` beside it.
    let mut gradients = std::mem::take(&mut data.tendon_gradient);
    let rows = gradients.chunks_exact_mut(model.nv().max(1));
    for (tendon, gradient) in model.inertial_tendons.iter().zip(rows) {
        if tendon.trees.contains(&tree) {
            let tendon = &model.tendons()[tendon.id.0];
            tendon.dofs.iter().for_each(|dof| gradient[*dof] = 0.0);
            tendon.add_gradient(model, data, gradient);
        }
    }
    data.tendon_gradient = gradients;
}

/// Calls `visit(i, j, a J_i J_j)` for the entries of the mass matrix of a tree that tendons add to, i with each of its
/// ancestors j and with itself. Indices count from the start of the tree.
fn for_each_entry(
    model: &Model,
    tree: usize,
    data: &Data,
    mut visit: impl FnMut(usize, usize, f64),
) {
    let range = &model.trees[tree];
    let (start, parents) = (range.dofs.start, &model.dof_parents[range.dofs.clone()]);
    let rows = data.tendon_gradient.chunks_exact(model.nv().max(1));
    for (inertial, J) in model.inertial_tendons.iter().zip(rows) {
        if !inertial.trees.contains(&tree) {
            continue;
        }
        let tendon: &Tendon = &model.tendons()[inertial.id.0];
        for dof in tendon.dofs.iter().copied().filter(|dof| range.dofs.contains(dof)) {
            for j in branch::ancestors(parents, Some((dof - start) as u32)) {
                visit(dof - start, j, tendon.spec.armature * J[dof] * J[start + j]);
            }
        }
    }
}

/// Adds the inertia of tendons to the mass matrix of a tree.
#[inline]
pub(crate) fn add_mass(model: &Model, tree: usize, data: &mut Data) {
    if model.inertial_tendons.is_empty() {
        return;
    }
    let range = &model.trees[tree];
    let n = range.dofs.len();
    let mut mass = std::mem::take(&mut data.mass);
    let M = &mut mass[range.mass.clone()];
    for_each_entry(model, tree, data, |i, j, entry| {
        M[i * n + j] += entry;
        if i != j {
            M[j * n + i] += entry;
        }
    });
    data.mass = mass;
}

/// Kinetic energy [J] that tendons have in one tree.
#[inline]
pub(crate) fn kinetic_energy(model: &Model, tree: usize, v: &[f64], data: &Data) -> f64 {
    if model.inertial_tendons.is_empty() {
        return 0.0;
    }
    let (mut doubled, v) = (0.0, &v[model.trees[tree].dofs.clone()]);
    for_each_entry(model, tree, data, |i, j, entry| {
        doubled += if i == j { 1.0 } else { 2.0 } * entry * v[i] * v[j];
    });
    0.5 * doubled
}

/// Adds the force that accelerates the inertia of tendons at `a` in one tree, without bias.
pub(crate) fn add_inertial_force(
    model: &Model,
    tree: usize,
    a: &[f64],
    data: &Data,
    out: &mut [f64],
) {
    let start = model.trees[tree].dofs.start;
    for_each_entry(model, tree, data, |i, j, entry| {
        out[start + i] += entry * a[start + j];
        if i != j {
            out[start + j] += entry * a[start + i];
        }
    });
}

/// Adds a Jᵀ (J̇ v) of the inertial tendons to the forces of one tree. Needs the velocity stage of `data`.
#[inline]
pub(crate) fn add_bias(model: &Model, tree: usize, data: &Data, out: &mut [f64]) {
    if model.inertial_tendons.is_empty() {
        return;
    }
    let dofs = &model.trees[tree].dofs;
    let rows = data.tendon_gradient.chunks_exact(model.nv().max(1));
    for (inertial, J) in model.inertial_tendons.iter().zip(rows) {
        if !inertial.trees.contains(&tree) {
            continue;
        }
        let tendon = &model.tendons()[inertial.id.0];
        let TendonPath::Spatial(path) = &tendon.spec.path else { continue };
        let force = tendon.spec.armature * length_acceleration(model, path, data);
        for dof in tendon.dofs.iter().copied().filter(|dof| dofs.contains(dof)) {
            out[dof] += force * J[dof];
        }
    }
}

/// J̇ v [m/s²] of a string through sites: its acceleration while all velocities stay.
fn length_acceleration(model: &Model, path: &[Waypoint], data: &Data) -> f64 {
    let (mut sum, mut weight, mut before) = (0.0, 1.0, None);
    for waypoint in path {
        match waypoint {
            Waypoint::Pulley { divisor } => (before, weight) = (None, 1.0 / divisor),
            // The builder refuses armature of tendons that wrap.
            Waypoint::Wrap(_) => {}
            Waypoint::Site(site) => {
                let here = PointMotion::new(model, data, site.body, site.point);
                if let Some(before) = before {
                    sum += weight * here.distance_acceleration(&before);
                }
                before = Some(here);
            }
        }
    }
    sum
}

/// Motion of a point of a body while all velocities of the mechanism stay.
#[derive(Clone, Copy)]
struct PointMotion {
    position: Vector3<f64>,
    velocity: Vector3<f64>,
    acceleration: Vector3<f64>,
}

impl PointMotion {
    fn new(model: &Model, data: &Data, body: BodyId, point: Vector3<f64>) -> Self {
        let X_WB = &data.body_pose[body.0];
        let position = X_WB.translation.vector + X_WB.rotation * point;
        let (velocity, mut acceleration) =
            (point_velocity(model, data, body, position), Vector3::zeros());
        if let Some(tree) = model.tree(body) {
            let (mut bias, mut link) = (Vector6::zeros(), model.link(body));
            while let Some(body) = link {
                bias += data.joint_bias[body];
                link = model.link(model.bodies()[body].spec.parent);
            }
            let arm = position - data.reference[tree];
            let turning = angular(&data.velocity[body.0]);
            acceleration = linear(&bias) + angular(&bias).cross(&arm) + turning.cross(&velocity);
        }
        Self { position, velocity, acceleration }
    }

    /// Second derivative [m/s²] of the distance to another point; zero where they coincide.
    fn distance_acceleration(&self, other: &Self) -> f64 {
        let apart = self.position - other.position;
        let length = apart.norm();
        if !(length > 0.0) {
            return 0.0;
        }
        let direction = apart / length;
        let velocity = self.velocity - other.velocity;
        let across = velocity - direction * direction.dot(&velocity);
        direction.dot(&(self.acceleration - other.acceleration)) + across.norm_squared() / length
    }
}
