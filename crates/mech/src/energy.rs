//! Kinetic and potential energy [J], of the whole model and of single trees.

use crate::data::Data;
use crate::force::tendon_energy;
use crate::fused;
use crate::model::{Link, Model};
use crate::spatial::{apply, linear};
use crate::tendon::inertia;
use nalgebra::Vector3;
use stiction_math::simd::{self, Job};

/// Largest number of velocities of one joint.
const MAX_NV: usize = 6;

/// Kinetic energy [J] of the links and of the armatures. Needs the velocity stage of `data` for the
/// same `v`.
pub fn kinetic_energy(model: &Model, data: &Data, v: &[f64]) -> f64 {
    let links = model.links.iter().map(|link| {
        let V = &data.velocity[link.body];
        V.dot(&apply(&data.link_inertia[link.body], V))
    });
    let armature = model.armature.iter().zip(v).map(|(armature, v)| armature * v * v);
    let tendons = (0..model.trees.len()).map(|tree| inertia::kinetic_energy(model, tree, v, data));
    0.5 * (links.sum::<f64>() + armature.sum::<f64>()) + tendons.sum::<f64>()
}

/// Sums over the links of one tree that its balance of energy and momentum needs.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct TreeMotion {
    /// Kinetic energy of links and armatures [J].
    pub kinetic: f64,
    /// Linear momentum of the links [N·s], world frame.
    pub momentum: Vector3<f64>,
    /// Sum of the sizes of their momenta [N·s].
    pub gross_momentum: f64,
    /// Sum of mass times place of the centre of mass [kg·m], world frame.
    pub moment: Vector3<f64>,
    /// Mass of the links [kg].
    pub mass: f64,
    /// Largest square of the angular speed of a link [rad²/s²].
    pub squared_spin: f64,
}

/// Kinetic energy, momentum and first moment of one tree. Needs the velocity stage of `data` for the same `v`.
pub fn tree_motion(model: &Model, tree: usize, v: &[f64], data: &Data) -> TreeMotion {
    let mut sum = simd::dispatch(SumMotion { model, tree, v, data });
    sum.kinetic += inertia::kinetic_energy(model, tree, v, data);
    sum
}

/// The sums over the links and armatures of a tree.
struct SumMotion<'a> {
    model: &'a Model,
    tree: usize,
    v: &'a [f64],
    data: &'a Data,
}

impl Job for SumMotion<'_> {
    type Output = TreeMotion;

    #[inline(always)]
    fn run(self) -> TreeMotion {
        let Self { model, tree, v, data } = self;
        let range = &model.trees[tree];
        let mut sum = TreeMotion::default();
        for link in &model.links[range.links.clone()] {
            let (I, V) = (&data.link_inertia[link.body], &data.velocity[link.body]);
            let momentum = fused::apply(I, V);
            sum.kinetic += fused::dot(V, &momentum);
            let momentum = linear(&momentum);
            sum.momentum += momentum;
            sum.gross_momentum += momentum.norm();
            sum.moment += I.moment;
            sum.mass += I.mass;
            let spin = V[0].mul_add(V[0], V[1].mul_add(V[1], V[2] * V[2]));
            sum.squared_spin = sum.squared_spin.max(spin);
        }
        sum.moment += sum.mass * data.reference[tree];
        let armature = &model.armature[range.dofs.clone()];
        for (armature, v) in armature.iter().zip(&v[range.dofs.clone()]) {
            sum.kinetic += armature * v * v;
        }
        sum.kinetic *= 0.5;
        sum
    }
}

/// Potential energy [J] of gravity without the compensated part (zero at the world's origin) and of
/// the springs of joints, tendons and rods. Needs the position stage of `data` for the same `q`.
pub fn potential_energy(model: &Model, data: &Data, q: &[f64]) -> f64 {
    gravity_energy(model, data)
        + spring_energy(model, q)
        + tendon_energy(model, data, q)
        + model.rods.iter().map(|rod| rod.energy(data)).sum::<f64>()
}

/// Kinetic energy [J] of one tree and of its armatures; `v` is that of the whole model. Needs the
/// velocity stage of `data` for the same `v`.
pub fn tree_kinetic_energy(model: &Model, tree: usize, data: &Data, v: &[f64]) -> f64 {
    let range = &model.trees[tree];
    let links = model.links[range.links.clone()].iter().map(|link| {
        let V = &data.velocity[link.body];
        V.dot(&apply(&data.link_inertia[link.body], V))
    });
    let armature = model.armature[range.dofs.clone()].iter().zip(&v[range.dofs.clone()]);
    let armature = armature.map(|(armature, v)| armature * v * v).sum::<f64>();
    0.5 * (links.sum::<f64>() + armature) + inertia::kinetic_energy(model, tree, v, data)
}

/// Energy [J] of one tree in the field of gravity, zero at the world's origin; gravity compensation
/// counts as an applied force. Needs the position stage of `data`.
pub fn tree_weight_energy(model: &Model, tree: usize, data: &Data) -> f64 {
    let links = model.links[model.trees[tree].links.clone()].iter();
    let moment = links.map(|link| {
        let X_WB = &data.body_pose[link.body];
        link.mass * (X_WB.translation.vector + X_WB.rotation * link.com)
    });
    -model.gravity.dot(&moment.sum::<Vector3<f64>>())
}

fn gravity_energy(model: &Model, data: &Data) -> f64 {
    let of_link = |link: &Link| {
        let X_WB = &data.body_pose[link.body];
        let moment_B = link.mass * link.com - link.compensated_moment;
        let mass = link.mass - link.compensated_mass;
        -model.gravity.dot(&(mass * X_WB.translation.vector + X_WB.rotation * moment_B))
    };
    model.links.iter().map(of_link).sum()
}

/// ½ k ‖q ⊖ q_rest‖² of each joint.
fn spring_energy(model: &Model, q: &[f64]) -> f64 {
    let mut energy = 0.0;
    for joint in model.joints.iter().filter(|joint| joint.spec.stiffness > 0.0) {
        let (mut stretch, n) = ([0.0; MAX_NV], joint.dofs.len());
        let range = joint.q.clone();
        joint.difference(&model.q_spring[range.clone()], &q[range], &mut stretch[..n]);
        let squared: f64 = stretch[..n].iter().map(|x| x * x).sum();
        energy += 0.5 * joint.spec.stiffness * squared;
    }
    energy
}
