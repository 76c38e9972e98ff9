//! From a description to bodies, joints, motors and equalities: who is a body, where every link
//! is in its body, and which coordinates there are.

use std::collections::HashMap;

use nalgebra::{Isometry3, Vector3};
use stiction_mech::{
    ActuatorSpec, BodyId, BodySpec, JointId, JointKind, JointSpec, Limit, MassProperties, Model,
    Transmission,
};
use stiction_sim::WorldBuilder;
use stiction_sim::constraint::{Equality, JointCoupling, Polynomial};

use super::diagnostics::Diagnostics;
use super::inertia;
use super::joint::{Joint, UrdfJointKind};
use super::robot::Robot;
use super::tree::Tree;
use crate::error::SceneError;
use crate::import::{Keyframe, Options, Site};

/// Coordinates of a robot, at most: the mass matrix grows with their square, its factor with the
/// cube.
const MOST_COORDINATES: usize = 1_000;

/// Name of the joint that frees the base.
const ROOT_JOINT: &str = "root_joint";

/// Mechanism of the robot. Ids are those of a builder to which everything is added in order.
pub(super) struct Plan {
    pub bodies: Vec<PlannedBody>,
    /// Per link of the description: where it is.
    pub links: Vec<Frame>,
    /// Frames of links that are not bodies.
    pub sites: Vec<Site>,
    /// Followers with their leaders.
    mimics: Vec<(String, JointCoupling)>,
}

/// A body that is to be declared.
pub(super) struct PlannedBody {
    pub spec: BodySpec,
    pub joints: Vec<JointSpec>,
    /// Whether a motor drives its joint, and its largest force.
    motor: Option<Option<f64>>,
    parts: Vec<(Isometry3<f64>, MassProperties)>,
}

/// Body and pose of a link.
#[derive(Clone, Copy)]
pub(super) struct Frame {
    pub body: BodyId,
    /// Pose in the body.
    pub pose: Isometry3<f64>,
    /// Pose in the world, if the link cannot move.
    in_world: Option<Isometry3<f64>>,
}

impl Plan {
    pub fn of(
        robot: &Robot,
        tree: &Tree,
        options: &Options,
        diagnostics: &mut Diagnostics,
    ) -> Result<Self, SceneError> {
        let world = Frame {
            body: BodyId::WORLD,
            pose: Isometry3::identity(),
            in_world: Some(Isometry3::identity()),
        };
        let mut plan = Self {
            bodies: Vec::new(),
            links: vec![world; robot.links.len()],
            sites: Vec::new(),
            mimics: Vec::new(),
        };
        let mut joint_ids = HashMap::new();
        let mut next_joint = 0;
        for &number in &tree.order {
            let link = &robot.links[number];
            let frame = match tree.above[number] {
                None if link.name == "world" && link.mass.is_none() => {
                    if options.floating_base {
                        let note = "the root is the world, which does not float; asked for";
                        diagnostics.note(note, "floating_base");
                    }
                    plan.site(link.name, world);
                    world
                }
                None => plan.root(robot, link.name, options.floating_base),
                Some((above, parent)) => {
                    let joint = &robot.joints[above];
                    let frame = plan.child(link.name, joint, plan.links[parent], options);
                    joint_ids.insert(above, JointId(next_joint));
                    frame
                }
            };
            next_joint = plan.bodies.iter().map(|body| body.joints.len()).sum();
            plan.links[number] = frame;
            if let (Some(mass), Some(body)) = (link.mass, plan.body_mut(frame.body)) {
                body.parts.push((frame.pose, mass));
            }
        }
        for body in &mut plan.bodies {
            body.spec.mass = inertia::sum(&body.parts)?;
        }
        let found: usize = plan.joints().map(|joint| joint.kind.nv()).sum();
        if found > MOST_COORDINATES {
            let what = format_args!("{found} velocities; expected at most {MOST_COORDINATES}");
            return Err(robot.links[tree.order[0]].element.error(what));
        }
        for (number, joint) in robot.joints.iter().enumerate() {
            if let Some(coupling) = coupling(robot, joint, number, &joint_ids, diagnostics)? {
                plan.mimics.push((joint.name.to_owned(), coupling));
            }
        }
        Ok(plan)
    }

    fn body_mut(&mut self, id: BodyId) -> Option<&mut PlannedBody> {
        self.bodies.get_mut(id.0.checked_sub(1)?)
    }

    fn add(&mut self, spec: BodySpec, joints: Vec<JointSpec>) -> BodyId {
        self.bodies.push(PlannedBody { spec, joints, motor: None, parts: Vec::new() });
        BodyId(self.bodies.len())
    }

    fn site(&mut self, name: &str, frame: Frame) {
        let name = name.to_owned();
        self.sites.push(Site { name, body: frame.body, pose: frame.pose, size: Vector3::zeros() });
    }

    fn root(&mut self, robot: &Robot, name: &str, floating: bool) -> Frame {
        let spec = BodySpec { name: name.to_owned(), ..BodySpec::default() };
        let mut joints = Vec::new();
        if floating {
            let mut joint = JointSpec::new(JointKind::Free);
            if !robot.joint_of.contains_key(ROOT_JOINT) {
                joint.name = ROOT_JOINT.to_owned();
            }
            joints.push(joint);
        }
        let pose = Isometry3::identity();
        Frame { body: self.add(spec, joints), pose, in_world: (!floating).then_some(pose) }
    }

    fn child(&mut self, name: &str, joint: &Joint, parent: Frame, options: &Options) -> Frame {
        let in_world = parent.in_world.map(|pose| pose * joint.origin);
        let pose = parent.pose * joint.origin;
        let merge = options.merge_fixed && parent.body != BodyId::WORLD;
        if joint.kind == UrdfJointKind::Fixed && merge {
            let frame = Frame { body: parent.body, pose, in_world };
            self.site(name, frame);
            return frame;
        }
        let mut spec =
            BodySpec { name: name.to_owned(), parent: parent.body, pose, ..BodySpec::default() };
        let mut joints = joints_of(joint);
        if let (UrdfJointKind::Floating, Some(pose)) = (joint.kind, in_world) {
            // A free body has its pose in the world, whatever fixed link is its parent.
            (spec.parent, spec.pose) = (BodyId::WORLD, pose);
            joints = vec![named(joint, "", JointKind::Free)];
        }
        let body = self.add(spec, joints);
        let driven = joint.kind.is_scalar() && joint.mimic.is_none();
        if let Some(planned) = self.body_mut(body).filter(|_| driven) {
            planned.motor = Some(joint.effort);
        }
        let in_world = in_world.filter(|_| joint.kind == UrdfJointKind::Fixed);
        Frame { body, pose: Isometry3::identity(), in_world }
    }

    /// Name of a body.
    pub fn name(&self, id: BodyId) -> &str {
        let body = id.0.checked_sub(1).and_then(|place| self.bodies.get(place));
        body.map_or("world", |body| &body.spec.name)
    }

    /// All joints, in order.
    pub fn joints(&self) -> impl Iterator<Item = &JointSpec> {
        self.bodies.iter().flat_map(|body| &body.joints)
    }

    /// A world without shapes.
    pub fn builder(&self) -> WorldBuilder {
        let mut builder = WorldBuilder::new();
        let mechanism = &mut builder.mechanism;
        for body in &self.bodies {
            let id = mechanism.body(body.spec.clone());
            for joint in &body.joints {
                let joint_id = mechanism.joint(id, joint.clone());
                if let Some(effort) = body.motor {
                    let mut motor =
                        ActuatorSpec::motor(joint.name.clone(), Transmission::Joint(joint_id));
                    motor.force_range = effort.map(|effort| (-effort, effort));
                    motor.control_range = motor.force_range;
                    mechanism.actuator(motor);
                }
            }
        }
        for (name, coupling) in &self.mimics {
            builder.equality(name.clone(), Equality::Joint(*coupling));
        }
        builder
    }

    /// Where the robot starts: at zero, or as near to it as ranges and leaders allow.
    pub fn neutral(&self, model: &Model) -> Vec<f64> {
        let mut q = model.q0().to_vec();
        for joint in model.joints() {
            if let Some(limit) = joint.spec.limit {
                q[joint.q.clone()].iter_mut().for_each(|q| *q = q.clamp(limit.lower, limit.upper));
            }
        }
        let place =
            |id: JointId| model.joint_of_builder(id).map_or(0, |id| model.joints()[id.0].q.start);
        // Leaders may follow others: no chain is longer than the number of followers.
        for _ in 0..self.mimics.len() {
            for (_, coupling) in &self.mimics {
                let leader = coupling.leader.map_or(0.0, |leader| q[place(leader)]);
                q[place(coupling.joint)] = coupling.polynomial.at(leader).0;
            }
        }
        q
    }

    /// The neutral configuration at rest.
    pub fn keyframe(&self, q: Vec<f64>, model: &Model) -> Keyframe {
        let controls = self.bodies.iter().filter(|body| body.motor.is_some()).count();
        Keyframe {
            name: "neutral".into(),
            time: 0.0,
            q,
            v: vec![0.0; model.nv()],
            activation: Vec::new(),
            control: vec![0.0; controls],
            driven: Vec::new(),
            x_dot: Vec::new(),
        }
    }
}

/// A joint specification with the friction of a URDF joint.
fn named(joint: &Joint, suffix: &str, kind: JointKind) -> JointSpec {
    JointSpec {
        name: format!("{}{suffix}", joint.name),
        damping: joint.damping,
        friction_loss: joint.friction,
        ..JointSpec::new(kind)
    }
}

fn joints_of(joint: &Joint) -> Vec<JointSpec> {
    let axis = joint.axis;
    let mut one = match joint.kind {
        UrdfJointKind::Fixed => return Vec::new(),
        UrdfJointKind::Floating => {
            let slide = |suffix, axis| named(joint, suffix, JointKind::Slide { axis });
            return vec![
                slide("_x", Vector3::x()),
                slide("_y", Vector3::y()),
                slide("_z", Vector3::z()),
                named(joint, "", JointKind::Ball),
            ];
        }
        UrdfJointKind::Spherical => return vec![named(joint, "", JointKind::Ball)],
        UrdfJointKind::Planar => return vec![named(joint, "", JointKind::planar(axis))],
        UrdfJointKind::Continuous | UrdfJointKind::Revolute => {
            named(joint, "", JointKind::Hinge { axis })
        }
        UrdfJointKind::Prismatic => named(joint, "", JointKind::Slide { axis }),
    };
    one.limit = joint.range.map(|(lower, upper)| Limit { lower, upper, margin: 0.0 });
    one.actuator_force_range = joint.effort.map(|effort| (-effort, effort));
    vec![one]
}

/// The equality of a mimicking joint.
fn coupling(
    robot: &Robot,
    joint: &Joint,
    number: usize,
    ids: &HashMap<usize, JointId>,
    diagnostics: &mut Diagnostics,
) -> Result<Option<JointCoupling>, SceneError> {
    let Some(mimic) = joint.mimic else { return Ok(None) };
    let Some(&leader) = robot.joint_of.get(mimic.leader) else {
        let what = format!(
            "joint \"{}\" mimics \"{}\", which is no joint, and moves by itself",
            joint.name, mimic.leader
        );
        diagnostics.report_unsupported(&mimic.element.place, what);
        return Ok(None);
    };
    // A joint must not follow itself through a chain of leaders.
    let further = |joint: usize| robot.joint_of.get(robot.joints[joint].mimic?.leader).copied();
    let chain = std::iter::successors(Some(leader), |joint| further(*joint));
    if chain.take(robot.joints.len()).any(|other| other == number) {
        let what = format_args!("joint \"{}\" mimics itself; expected another", joint.name);
        return Err(mimic.element.error(what));
    }
    if !joint.kind.is_scalar() {
        let what = format!("<mimic> on joint \"{}\", which has not one coordinate", joint.name);
        diagnostics.report_ignored(&mimic.element.place, what);
        return Ok(None);
    }
    let moves = robot.joints[leader].kind != UrdfJointKind::Fixed;
    if moves && !robot.joints[leader].kind.is_scalar() {
        return Err(mimic.element.wrong("joint", "a joint with one coordinate"));
    }
    let Some(&follower) = ids.get(&number) else { return Ok(None) };
    Ok(Some(JointCoupling {
        joint: follower,
        leader: if moves { ids.get(&leader).copied() } else { None },
        polynomial: Polynomial([mimic.offset, mimic.multiplier, 0.0, 0.0, 0.0]),
    }))
}
