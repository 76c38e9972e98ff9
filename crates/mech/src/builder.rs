//! Builds a model from declarations and checks all user input.
//!
//! Bodies may be declared in any order in which parents come before children; the model numbers
//! them depth first, children in the order of their declaration. Bodies that are declared depth
//! first keep their ids.

use crate::actuator::ActuatorSpec;
use crate::body::{Body, BodyId, BodySpec};
use crate::data::Data;
use crate::error::{ModelError, body_error, joint_error};
use crate::force::DragSpec;
use crate::joint::{AxisFault, Joint, JointId, JointKind, JointSpec};
use crate::mass::mass_matrix;
use crate::model::{HingeLink, Link, Model, TreeRange};
use crate::rod::{self, RodId, RodSpec};
use crate::soft::{SoftBody, SoftError, SoftId, SoftSpec};
use crate::tendon::{self, TendonSpec};
use nalgebra::{Isometry3, Matrix3, Vector3};
use std::collections::HashMap;
use stiction_math::spatial::Inertia10;

/// Standard gravity, downwards along z [m/s²].
const GRAVITY: Vector3<f64> = Vector3::new(0.0, 0.0, -9.81);

/// Most entries of the mass matrices of all trees together: a larger request would fill the memory.
const MOST_MASS_ENTRIES: usize = 1 << 27;

/// Collects bodies and joints; [`ModelBuilder::build`] checks them.
#[derive(Clone, Debug)]
pub struct ModelBuilder {
    gravity: Vector3<f64>,
    /// The world is the first.
    bodies: Vec<BodySpec>,
    joints: Vec<(BodyId, JointSpec)>,
    /// Tendons and actuators.
    pub(crate) declared: crate::force::ForceDeclarations,
    rods: Vec<RodSpec>,
    softs: Vec<SoftSpec>,
}

/// The declarations in a builder, with the builder's ids.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Declarations<'a> {
    /// Acceleration of gravity [m/s²], world frame.
    pub gravity: Vector3<f64>,
    /// Bodies; the world is the first.
    pub bodies: &'a [BodySpec],
    /// Joints with the bodies that they move.
    pub joints: &'a [(BodyId, JointSpec)],
    /// Tendons.
    pub tendons: &'a [TendonSpec],
    /// Actuators.
    pub actuators: &'a [ActuatorSpec],
    /// Drag of a medium on bodies.
    pub drags: &'a [DragSpec],
    /// Rods.
    pub rods: &'a [RodSpec],
    /// Soft bodies.
    pub softs: &'a [SoftSpec],
}

impl Default for ModelBuilder {
    fn default() -> Self {
        Self::new()
    }
}

impl ModelBuilder {
    /// A world without bodies.
    pub fn new() -> Self {
        Self {
            gravity: GRAVITY,
            bodies: vec![BodySpec::default()],
            joints: Vec::new(),
            declared: Default::default(),
            rods: Vec::new(),
            softs: Vec::new(),
        }
    }

    /// Sets the acceleration of gravity [m/s²], world frame.
    pub fn gravity(&mut self, gravity: Vector3<f64>) -> &mut Self {
        self.gravity = gravity;
        self
    }

    /// Declares a body.
    pub fn body(&mut self, spec: BodySpec) -> BodyId {
        self.bodies.push(spec);
        BodyId(self.bodies.len() - 1)
    }

    /// Declares a joint of a body. Joints of one body act in the order of their declaration.
    pub fn joint(&mut self, body: BodyId, spec: JointSpec) -> JointId {
        self.joints.push((body, spec));
        JointId(self.joints.len() - 1)
    }

    /// A joint that was declared, to change it.
    pub fn joint_mut(&mut self, joint: JointId) -> Option<&mut JointSpec> {
        self.joints.get_mut(joint.0).map(|(_, spec)| spec)
    }

    /// Declares a rod, whose segments are bodies declared one after the other.
    pub fn rod(&mut self, spec: RodSpec) -> RodId {
        self.rods.push(spec);
        RodId(self.rods.len() - 1)
    }

    /// Declares a soft body.
    pub fn soft(&mut self, spec: SoftSpec) -> SoftId {
        self.softs.push(spec);
        SoftId(self.softs.len() - 1)
    }

    /// The declarations, for example to copy them into another builder.
    pub fn declared(&self) -> Declarations<'_> {
        Declarations {
            gravity: self.gravity,
            bodies: &self.bodies,
            joints: &self.joints,
            tendons: &self.declared.tendons,
            actuators: &self.declared.actuators,
            drags: &self.declared.drags,
            rods: &self.rods,
            softs: &self.softs,
        }
    }

    /// Checks everything and numbers it depth first.
    pub fn build(self) -> Result<Model, ModelError> {
        self.check_bodies()?;
        self.check_driven()?;
        let joints = self.checked_joints()?;
        let order = self.depth_first();
        let mut body_of_builder = vec![BodyId(0); order.len()];
        for (index, &id) in order.iter().enumerate() {
            body_of_builder[id] = BodyId(index);
        }
        let mut joints_of_body = vec![Vec::new(); order.len()];
        for (id, (body, _)) in joints.iter().enumerate() {
            joints_of_body[body.0].push(id);
        }

        let mut model = Model {
            gravity: self.gravity,
            bodies: Vec::with_capacity(order.len()),
            joints: Vec::with_capacity(joints.len()),
            links: Vec::new(),
            trees: Vec::new(),
            welded: Vec::new(),
            driven: Vec::new(),
            carried_by_driven: Vec::new(),
            dof_parents: Vec::new(),
            armature: Vec::new(),
            q0: Vec::new(),
            q_spring: Vec::new(),
            body_of_builder,
            joint_of_builder: vec![JointId(0); joints.len()],
            compiled: Default::default(),
            inertial_tendons: Vec::new(),
            rods: Vec::new(),
            rod_of_tree: Vec::new(),
            softs: Vec::new(),
        };
        let mut inertias = vec![Inertia10::default(); order.len()];
        for &id in &order {
            let mut spec = self.bodies[id].clone();
            spec.parent = model.body_of_builder[spec.parent.0];
            let first = model.joints.len();
            for &joint in &joints_of_body[id] {
                model.joint_of_builder[joint] = JointId(model.joints.len());
                add_joint(&mut model, joints[joint].1.clone(), spec.pose);
            }
            add_body(&mut model, spec, first, &mut inertias);
        }
        finish_links(&mut model, &inertias);
        finish_trees(&mut model)?;
        check_names("rod", self.rods.iter().map(|spec| spec.name.as_str()))?;
        check_masses(&model, &order)?;
        check_inertias(&model)?;
        model.compiled = self.declared.compile(&model)?;
        tendon::inertia::compile(&mut model);
        model.rods = rod::compile(&self.rods, &model)?;
        model.rod_of_tree = vec![None; model.trees.len()];
        for (index, rod) in model.rods.iter().enumerate() {
            model.rod_of_tree[rod.trees.clone()].fill(Some(RodId(index)));
        }
        model.softs = checked_softs(self.softs)?;
        Ok(model)
    }

    /// Builder ids in depth-first order.
    fn depth_first(&self) -> Vec<usize> {
        let mut children = vec![Vec::new(); self.bodies.len()];
        for (id, spec) in self.bodies.iter().enumerate().skip(1) {
            children[spec.parent.0].push(id);
        }
        let (mut order, mut stack) = (Vec::with_capacity(self.bodies.len()), vec![0]);
        while let Some(id) = stack.pop() {
            order.push(id);
            stack.extend(children[id].iter().rev());
        }
        order
    }

    fn check_bodies(&self) -> Result<(), ModelError> {
        if let Some(&found) = self.gravity.iter().find(|x| !x.is_finite()) {
            let (name, field) = (String::new(), "gravity");
            return Err(ModelError::NotFinite { what: "model", index: 0, name, field, found });
        }
        let names = self.bodies.iter().map(|spec| spec.name.as_str());
        check_names("body", names)?;
        for (id, spec) in self.bodies.iter().enumerate().skip(1) {
            let name = &spec.name;
            if spec.parent.0 >= id {
                let (name, found) = (name.clone(), spec.parent.0);
                return Err(ModelError::UnknownParent { body: id, name, found });
            }
            let pose = spec.pose.translation.vector.iter().chain(spec.pose.rotation.coords.iter());
            if let Some(&found) = pose.clone().find(|x| !x.is_finite()) {
                return Err(body_error(BodyId(id), name, "pose", found));
            }
            let found = spec.gravity_compensation;
            if !found.is_finite() {
                return Err(body_error(BodyId(id), name, "gravity compensation", found));
            }
        }
        Ok(())
    }

    /// Checks that driven bodies are children of the world and that neither they nor their
    /// descendants have joints.
    fn check_driven(&self) -> Result<(), ModelError> {
        let mut is_carried = vec![false; self.bodies.len()];
        let mut has_joints = vec![false; self.bodies.len()];
        for (body, _) in &self.joints {
            if let Some(has) = has_joints.get_mut(body.0) {
                *has = true;
            }
        }
        for (id, spec) in self.bodies.iter().enumerate().skip(1) {
            is_carried[id] = spec.driven || is_carried[spec.parent.0];
            let what = if spec.driven && spec.parent != BodyId::WORLD {
                "its parent is not the world"
            } else if is_carried[id] && has_joints[id] {
                "it has joints"
            } else {
                continue;
            };
            return Err(ModelError::Driven { body: id, name: spec.name.clone(), what });
        }
        Ok(())
    }

    /// The joints with unit axes.
    fn checked_joints(&self) -> Result<Vec<(BodyId, JointSpec)>, ModelError> {
        check_names("joint", self.joints.iter().map(|(_, spec)| spec.name.as_str()))?;
        let mut count = vec![0; self.bodies.len()];
        for (id, (body, spec)) in self.joints.iter().enumerate() {
            let last = self.bodies.len() - 1;
            if body.0 == 0 || body.0 > last {
                let (name, found) = (spec.name.clone(), body.0);
                return Err(ModelError::UnknownBody { joint: id, name, found, last });
            }
            count[body.0] += 1;
        }
        let mut joints = self.joints.clone();
        for (id, (body, spec)) in joints.iter_mut().enumerate() {
            let alone = count[body.0] == 1 && self.bodies[body.0].parent == BodyId::WORLD;
            if spec.kind == JointKind::Free && !alone {
                let (name, body) = (spec.name.clone(), body.0);
                return Err(ModelError::Free { joint: id, name, body });
            }
            check_joint(JointId(id), spec)?;
        }
        Ok(joints)
    }
}

/// The soft bodies, their vertices numbered one body after the other.
fn checked_softs(specs: Vec<SoftSpec>) -> Result<Vec<SoftBody>, ModelError> {
    check_names("soft body", specs.iter().map(|spec| spec.name.as_str()))?;
    let (mut softs, mut first) = (Vec::with_capacity(specs.len()), 0);
    for (soft, spec) in specs.into_iter().enumerate() {
        let name = spec.name.clone();
        let body =
            SoftBody::starting_at(spec, first).map_err(|fault| SoftError { soft, name, fault })?;
        first = body.nodes.end;
        softs.push(body);
    }
    Ok(softs)
}

fn check_names<'a>(
    what: &'static str,
    names: impl Iterator<Item = &'a str>,
) -> Result<(), ModelError> {
    let mut seen = HashMap::new();
    for (second, name) in names.enumerate().filter(|(_, name)| !name.is_empty()) {
        if let Some(first) = seen.insert(name, second) {
            return Err(ModelError::DuplicateName { what, name: name.into(), first, second });
        }
    }
    Ok(())
}

/// Checks a joint's numbers and normalizes its axes.
fn check_joint(id: JointId, spec: &mut JointSpec) -> Result<(), ModelError> {
    let name = spec.name.clone();
    let finite = [
        ("anchor", spec.anchor.x),
        ("anchor", spec.anchor.y),
        ("anchor", spec.anchor.z),
        ("spring reference", spec.spring_reference),
        ("reference", spec.reference),
    ];
    let positive = [
        ("stiffness", spec.stiffness),
        ("damping", spec.damping),
        ("armature", spec.armature),
        ("friction loss", spec.friction_loss),
        ("limit's margin", spec.limit.map_or(0.0, |limit| limit.margin)),
    ];
    for (field, found) in finite.into_iter().chain(positive) {
        if !found.is_finite() {
            return Err(joint_error(id, &name, field, found));
        }
    }
    for (field, found) in positive {
        if found < 0.0 {
            return Err(ModelError::Negative { joint: id.0, name, field, found });
        }
    }
    if let Some(limit) = spec.limit {
        if !spec.kind.may_be_limited() {
            let kind = spec.kind.entry().name;
            return Err(ModelError::LimitOfKind { joint: id.0, name, kind });
        }
        // One end may be infinite; comparisons with NaN are false.
        if !(limit.lower <= limit.upper) {
            let (lower, upper) = (limit.lower, limit.upper);
            return Err(ModelError::Limit { joint: id.0, name, lower, upper });
        }
    }
    if let Some((lower, upper)) = spec.actuator_force_range {
        if spec.kind.nv() != 1 {
            let kind = spec.kind.entry().name;
            return Err(ModelError::ForceRangeOfKind { joint: id.0, name, kind });
        }
        if !(lower <= upper) {
            return Err(ModelError::ForceRange { joint: id.0, name, lower, upper });
        }
    }
    spec.kind = spec.kind.normalized().map_err(|fault| match fault {
        AxisFault::NoDirection(found) => ModelError::Axis { joint: id.0, name, found },
        AxisFault::Parallel(found) => ModelError::ParallelAxes { joint: id.0, name, found },
        AxisFault::Pitch(found) => joint_error(id, &name, "pitch", found),
    })?;
    Ok(())
}

/// Adds a joint of the body that `add_body` adds next.
fn add_joint(model: &mut Model, spec: JointSpec, pose: Isometry3<f64>) {
    let (q, dof) = (model.q0.len(), model.armature.len());
    let (q, dofs) = (q..q + spec.kind.nq(), dof..dof + spec.kind.nv());
    let joint = Joint { body: model.bodies.len(), q: q.clone(), dofs: dofs.clone(), spec };
    model.q0.resize(q.end, 0.0);
    joint.reference_coordinates(&pose, &mut model.q0[q.clone()]);
    model.q_spring.extend_from_slice(&model.q0[q.clone()]);
    if joint.spec.kind.quaternion().is_none() {
        model.q_spring[q].fill(joint.spec.spring_reference);
    }
    model.armature.resize(dofs.end, joint.spec.armature);
    model.joints.push(joint);
}

/// Adds a body whose joints are those of the model from `first` on, and adds its mass to its link.
fn add_body(model: &mut Model, spec: BodySpec, first: usize, inertias: &mut [Inertia10]) {
    let (id, joints) = (model.bodies.len(), first..model.joints.len());
    let parent = model.bodies.get(spec.parent.0);
    let parent_pose = parent.map_or(spec.pose, |parent| parent.pose_in_link);
    let (parent_link, parent_tree) = parent.map_or((None, None), |p| (p.link, p.tree));
    let mut driver = parent.and_then(|parent| parent.driver);
    // Pose in the frame of the parent link or driver.
    let mut pose = if id == 0 { Isometry3::identity() } else { parent_pose * spec.pose };
    if spec.driven {
        (driver, pose) = (Some(id), Isometry3::identity());
        model.driven.push(BodyId(id));
    } else if driver.is_some() {
        model.carried_by_driven.push(id);
    }
    let (link, tree) = (parent_link, parent_tree);
    let mut body = Body { spec, joints, link, tree, driver, pose_in_link: pose };
    if !body.joints.is_empty() {
        body.link = Some(id);
        body.pose_in_link = Isometry3::identity();
        if parent_link.is_none() {
            body.tree = Some(model.trees.len());
            model.trees.push(TreeRange {
                bodies: id..id,
                links: model.links.len()..model.links.len(),
                joints: 0..0,
                dofs: 0..0,
                q: 0..0,
                welded: model.welded.len()..model.welded.len(),
                mass: 0..0,
                single: false,
                constant_mass: false,
            });
        }
        let of = |joint: usize| &model.joints[joint];
        let dofs = of(first).dofs.start..of(body.joints.end - 1).dofs.end;
        let hinge = HingeLink::new(&pose, &model.joints[body.joints.clone()]);
        model.links.push(Link {
            body: id,
            parent: parent_link,
            pose,
            joints: body.joints.clone(),
            dofs,
            mass: 0.0,
            com: Vector3::zeros(),
            inertia: Matrix3::zeros(),
            compensated_mass: 0.0,
            compensated_moment: Vector3::zeros(),
            hinge,
        });
    } else if body.link.is_some() {
        model.welded.push(id);
    }
    if let (Some(mass), Some(link)) = (body.spec.mass, body.link) {
        let inertia = mass.inertia_in_frame(&body.pose_in_link);
        inertias[link] += inertia;
        // A link is added before the bodies welded to it, but other links may lie between them.
        if let Some(link) = model.links.iter_mut().rev().find(|entry| entry.body == link) {
            link.add_compensation(body.spec.gravity_compensation, &inertia);
        }
    }
    model.bodies.push(body);
}

/// Mass properties of the links, summed over their welded bodies.
fn finish_links(model: &mut Model, inertias: &[Inertia10]) {
    // If the moving body itself is the only one with mass, its declared values are copied, which
    // avoids round-off.
    let mut massive = vec![0; model.bodies.len()];
    for body in model.bodies.iter().filter(|body| body.spec.mass.is_some()) {
        if let Some(link) = body.link {
            massive[link] += 1;
        }
    }
    for link in &mut model.links {
        let own = model.bodies[link.body].spec.mass.filter(|_| massive[link.body] == 1);
        link.set_inertia(&inertias[link.body], own.as_ref());
    }
}

/// Ranges of the trees and the ancestors of the velocities.
fn finish_trees(model: &mut Model) -> Result<(), ModelError> {
    model.dof_parents = vec![None; model.armature.len()];
    let mut last_dof = vec![None; model.bodies.len()];
    for (index, link) in model.links.iter().enumerate() {
        let Some(tree) = model.bodies[link.body].tree else { continue };
        let tree = &mut model.trees[tree];
        if link.parent.is_none() {
            tree.links = index..index;
            tree.joints = link.joints.clone();
            tree.dofs = link.dofs.clone();
            tree.q = model.joints[link.joints.start].q.clone();
        }
        tree.links.end = index + 1;
        tree.joints.end = link.joints.end;
        tree.dofs.end = link.dofs.end;
        tree.q.end = model.joints[link.joints.end - 1].q.end;
        let mut previous = link.parent.and_then(|parent| last_dof[parent]);
        for dof in link.dofs.clone() {
            model.dof_parents[dof] = previous;
            previous = Some((dof - tree.dofs.start) as u32);
        }
        last_dof[link.body] = previous;
    }
    for (id, body) in model.bodies.iter().enumerate() {
        if let Some(tree) = body.tree {
            model.trees[tree].bodies.end = id + 1;
            model.trees[tree].welded.end += usize::from(body.link != Some(id));
        }
    }
    let mut end = 0_usize;
    for tree in 0..model.trees.len() {
        let dofs = model.trees[tree].dofs.len();
        let size = dofs.checked_mul(dofs).and_then(|size| size.checked_add(end));
        let Some(size) = size.filter(|size| *size <= MOST_MASS_ENTRIES) else {
            let joint = model.joints[model.trees[tree].joints.start].spec.name.clone();
            return Err(ModelError::TooLarge { joint, dofs, most: MOST_MASS_ENTRIES });
        };
        let links = model.trees[tree].links.clone();
        let root = &model.links[links.start];
        let single = links.len() == 1 && model.is_free(root);
        let constant_mass = single && root.com == Vector3::zeros();
        let entry = &mut model.trees[tree];
        entry.mass = end..size;
        (entry.single, entry.constant_mass) = (single, constant_mass);
        end = size;
    }
    Ok(())
}

/// Checks that every link or one of its descendants has mass or inertia, or that all its joints have
/// armature.
fn check_masses(model: &Model, builder_of_body: &[usize]) -> Result<(), ModelError> {
    let mut has_mass = vec![false; model.bodies.len()];
    for link in model.links.iter().rev() {
        has_mass[link.body] |= link.mass > 0.0 || link.inertia != Matrix3::zeros();
        if let Some(parent) = link.parent {
            has_mass[parent] |= has_mass[link.body];
        }
        let has_armature = model.armature[link.dofs.clone()].iter().all(|&a| a > 0.0);
        if !has_mass[link.body] && !has_armature {
            let name = model.bodies[link.body].spec.name.clone();
            return Err(ModelError::Massless { body: builder_of_body[link.body], name });
        }
    }
    Ok(())
}

/// Checks that every coordinate of a leaf link has inertia, which for such links does not depend on
/// the configuration. For other links the mass matrix can be singular in some configurations only;
/// the factorization detects that.
fn check_inertias(model: &Model) -> Result<(), ModelError> {
    let mut is_parent = vec![false; model.bodies.len()];
    model.links.iter().filter_map(|link| link.parent).for_each(|body| is_parent[body] = true);
    let mut data = None;
    for link in model.links.iter().filter(|link| !is_parent[link.body]) {
        // A link with mass and with inertia about every axis has inertia along every coordinate.
        if link.mass > 0.0 && link.inertia.cholesky().is_some() {
            continue;
        }
        let data = data.get_or_insert_with(|| {
            let mut data = Data::new(model);
            mass_matrix(model, &mut data);
            data
        });
        let Some(tree) = model.bodies[link.body].tree.map(|tree| &model.trees[tree]) else {
            continue;
        };
        for joint in link.joints.clone() {
            for (coordinate, dof) in model.joints[joint].dofs.clone().enumerate() {
                let diagonal = (dof - tree.dofs.start) * (tree.dofs.len() + 1);
                if !(data.mass[tree.mass.start + diagonal] > 0.0) {
                    let at = model.joint_of_builder.iter().position(|id| id.0 == joint);
                    let (joint, name) =
                        (at.unwrap_or(joint), model.joints[joint].spec.name.clone());
                    return Err(ModelError::NoInertia { joint, name, coordinate });
                }
            }
        }
    }
    Ok(())
}
