//! The mechanism: bodies, joints and trees, checked and numbered depth first. A model is constant.
//!
//! Bodies and velocities of one tree are contiguous, parents come before children. A [`Link`] holds
//! the data of a moving body, and of the bodies welded to it, that the recursions read.

use crate::body::{Body, BodyId};
use crate::inertia::MassProperties;
use crate::joint::{Joint, JointId, JointKind};
use crate::soft::{SoftBody, SoftId};
use nalgebra::{Isometry3, Matrix3, Vector3};
use std::ops::Range;
use stiction_math::spatial::Inertia10;

/// A tree: a moving body whose parent is fixed to the world, with all its descendants.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct TreeRange {
    /// Its bodies.
    pub bodies: Range<usize>,
    /// Its links, in [`Model::links`].
    pub links: Range<usize>,
    /// Its joints.
    pub joints: Range<usize>,
    /// Its velocities in v.
    pub dofs: Range<usize>,
    /// Its coordinates in q.
    pub q: Range<usize>,
    /// Its bodies without joints, in the model's list of them.
    pub(crate) welded: Range<usize>,
    /// Its entries in [`Data::mass`](crate::Data::mass) and [`Data::factor`](crate::Data::factor).
    pub mass: Range<usize>,
    /// Whether the tree is one link on a free joint.
    pub single: bool,
    /// Whether its mass matrix is the same in every configuration: the tree is one link on a free
    /// joint whose centre of mass is its origin.
    pub constant_mass: bool,
}

/// A moving body together with all bodies welded to it.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Link {
    /// The moving body.
    pub body: usize,
    /// The moving body of its parent link, `None` at the root of a tree.
    pub parent: Option<usize>,
    /// Pose `X_PB` at the reference configuration, in the frame of `parent` or of the world.
    pub pose: Isometry3<f64>,
    /// Its joints.
    pub joints: Range<usize>,
    /// Its velocities.
    pub dofs: Range<usize>,
    /// Mass of the link [kg].
    pub mass: f64,
    /// Centre of mass [m], body frame; the origin if there is no mass.
    pub com: Vector3<f64>,
    /// Rotational inertia about the centre of mass [kg·m²], body axes.
    pub inertia: Matrix3<f64>,
    /// Mass whose weight is cancelled [kg]: sum of compensation × mass over the welded bodies.
    pub compensated_mass: f64,
    /// The same sum with the positions of their centres of mass [kg·m], body frame.
    pub compensated_moment: Vector3<f64>,
    /// Its joint, if it has one and that is a hinge.
    pub(crate) hinge: Option<HingeLink>,
}

impl Link {
    /// Adds a body whose weight is cancelled in part, with its inertia in the frame of the link.
    pub(crate) fn add_compensation(&mut self, compensation: f64, inertia: &Inertia10) {
        self.compensated_mass += compensation * inertia.mass;
        self.compensated_moment += compensation * inertia.moment;
    }

    /// Sets mass, centre of mass and inertia from their sum over the bodies of the link, in its frame. `own` are those
    /// of the moving body if it alone has mass: its centre and inertia are copied.
    pub(crate) fn set_inertia(&mut self, sum: &Inertia10, own: Option<&MassProperties>) {
        self.mass = sum.mass;
        self.com = Vector3::zeros();
        self.inertia = sum.rotational_matrix();
        if sum.mass > 0.0 {
            self.com = sum.moment / sum.mass;
            self.inertia -= Inertia10::point_mass(sum.mass, self.com).rotational_matrix();
        }
        if let Some(own) = own {
            (self.com, self.inertia) = (own.com(), own.inertia());
        }
    }
}

/// Kinematics of a link on one hinge.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct HingeLink {
    /// Unit axis, body frame.
    pub(crate) axis: Vector3<f64>,
    /// Centre of rotation [m], body frame.
    pub(crate) anchor: Vector3<f64>,
    /// The same in the frame of the parent, or of the world.
    pub(crate) anchor_in_parent: Vector3<f64>,
    /// Angle at the reference configuration [rad].
    pub(crate) reference: f64,
    /// Index of the angle in q.
    pub(crate) q: usize,
}

impl HingeLink {
    /// The hinge of a link with this pose in its parent, if that is its only joint.
    pub(crate) fn new(pose: &Isometry3<f64>, joints: &[Joint]) -> Option<Self> {
        let [joint] = joints else { return None };
        let JointKind::Hinge { axis } = joint.spec.kind else { return None };
        let anchor = joint.spec.anchor;
        let anchor_in_parent = pose.translation.vector + pose.rotation * anchor;
        let (reference, q) = (joint.spec.reference, joint.q.start);
        Some(Self { axis, anchor, anchor_in_parent, reference, q })
    }
}

/// A mechanism. Built by [`ModelBuilder`](crate::ModelBuilder).
#[derive(Clone, Debug)]
pub struct Model {
    pub(crate) gravity: Vector3<f64>,
    pub(crate) bodies: Vec<Body>,
    pub(crate) joints: Vec<Joint>,
    pub(crate) links: Vec<Link>,
    pub(crate) trees: Vec<TreeRange>,
    /// Bodies without joints that are welded to a link.
    pub(crate) welded: Vec<usize>,
    pub(crate) driven: Vec<BodyId>,
    /// Bodies welded to a driven body.
    pub(crate) carried_by_driven: Vec<usize>,
    /// Parent velocity index towards the root, counted from the start of the tree; per dof.
    pub(crate) dof_parents: Vec<Option<u32>>,
    /// Inertia added to the diagonal; per dof.
    pub(crate) armature: Vec<f64>,
    pub(crate) q0: Vec<f64>,
    pub(crate) q_spring: Vec<f64>,
    /// Maps the builder's ids to the model's.
    pub(crate) body_of_builder: Vec<BodyId>,
    pub(crate) joint_of_builder: Vec<JointId>,
    pub(crate) compiled: crate::force::CompiledForces,
    pub(crate) inertial_tendons: Vec<crate::tendon::inertia::InertialTendon>,
    pub(crate) rods: Vec<crate::rod::Rod>,
    /// Per tree: the rod of which the tree is a segment.
    pub(crate) rod_of_tree: Vec<Option<crate::rod::RodId>>,
    pub(crate) softs: Vec<SoftBody>,
}

impl Model {
    /// Number of coordinates.
    pub fn nq(&self) -> usize {
        self.q0.len()
    }

    /// Number of velocities.
    pub fn nv(&self) -> usize {
        self.dof_parents.len()
    }

    /// Acceleration of gravity [m/s²], world frame.
    pub fn gravity(&self) -> Vector3<f64> {
        self.gravity
    }

    /// Bodies in depth-first order; the first is the world.
    pub fn bodies(&self) -> &[Body] {
        &self.bodies
    }

    /// Joints in the order of their bodies.
    pub fn joints(&self) -> &[Joint] {
        &self.joints
    }

    /// Moving bodies in the order of the bodies.
    pub fn links(&self) -> &[Link] {
        &self.links
    }

    /// Trees in the order of the bodies.
    pub fn trees(&self) -> &[TreeRange] {
        &self.trees
    }

    /// The body of this name.
    pub fn body(&self, name: &str) -> Option<BodyId> {
        let found = self.bodies.iter().position(|body| body.spec.name == name);
        found.filter(|_| !name.is_empty()).map(BodyId)
    }

    /// The joint of this name.
    pub fn joint(&self, name: &str) -> Option<JointId> {
        let found = self.joints.iter().position(|joint| joint.spec.name == name);
        found.filter(|_| !name.is_empty()).map(JointId)
    }

    /// The model's id of the body that the builder declared under `id`.
    pub fn body_of_builder(&self, id: BodyId) -> Option<BodyId> {
        self.body_of_builder.get(id.0).copied()
    }

    /// The model's id of the joint that the builder declared under `id`.
    pub fn joint_of_builder(&self, id: JointId) -> Option<JointId> {
        self.joint_of_builder.get(id.0).copied()
    }

    /// The moving body to which a body is welded: itself if it has joints, `None` if it is fixed to
    /// the world.
    pub fn link(&self, body: BodyId) -> Option<usize> {
        self.bodies[body.0].link
    }

    /// The tree of a body, `None` if it is fixed to the world.
    pub fn tree(&self, body: BodyId) -> Option<usize> {
        self.bodies[body.0].tree
    }

    /// The parent velocity index towards the root, counted from the start of the tree; per dof. The
    /// slice of one tree has the form that `stiction_math::branch` expects.
    pub fn dof_parents(&self) -> &[Option<u32>] {
        &self.dof_parents
    }

    /// Armature [kg, kg·m²]; per dof.
    pub fn armature(&self) -> &[f64] {
        &self.armature
    }

    /// The last velocity on which the motion of a body depends; the others are its ancestors in
    /// [`Model::dof_parents`]. `None` if it is fixed to the world.
    pub fn last_dof(&self, body: BodyId) -> Option<usize> {
        let link = self.bodies[body.0].link?;
        let joint = self.bodies[link].joints.clone().next_back()?;
        self.joints[joint].dofs.clone().next_back()
    }

    /// Coordinates of the reference configuration.
    pub fn q0(&self) -> &[f64] {
        &self.q0
    }

    /// Coordinates at which the joints' springs are at rest.
    pub fn q_spring(&self) -> &[f64] {
        &self.q_spring
    }

    /// Soft bodies in the order of their declaration.
    pub fn softs(&self) -> &[SoftBody] {
        &self.softs
    }

    /// Number of vertices of all soft bodies.
    pub fn nodes(&self) -> usize {
        self.softs.last().map_or(0, |soft| soft.nodes.end)
    }

    /// The soft body of this name.
    pub fn soft(&self, name: &str) -> Option<SoftId> {
        let found = self.softs.iter().position(|soft| soft.spec.name == name);
        found.filter(|_| !name.is_empty()).map(SoftId)
    }

    /// Mass of all links [kg], without soft bodies (see [`SoftBody::total_mass`]).
    pub fn mass(&self) -> f64 {
        self.links.iter().map(|link| link.mass).sum()
    }

    /// Length of [`Data::mass`](crate::Data::mass).
    pub fn mass_len(&self) -> usize {
        self.trees.last().map_or(0, |tree| tree.mass.end)
    }

    /// The range of [`Data::mass`](crate::Data::mass) that belongs to a tree.
    pub fn mass_range(&self, tree: usize) -> Range<usize> {
        self.trees[tree].mass.clone()
    }

    /// Whether a link has a single joint and that joint is free.
    pub(crate) fn is_free(&self, link: &Link) -> bool {
        link.joints.len() == 1 && self.joints[link.joints.start].spec.kind == JointKind::Free
    }
}
