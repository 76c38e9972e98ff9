//! Worlds put into worlds: every part of one is declared again in the builder of another, with its
//! ids shifted, its names prefixed, and what stood on its world standing at a pose.
//!
//! A world put at the origin of an empty builder, without a prefix, is the same world to the last
//! bit. Gravity and settings are not parts: those of the builder count.

use nalgebra::{Isometry3, Point3, Vector3};
use stiction_mech::{
    ActuatorId, BodyId, BodySpec, Declarations, JointId, JointKind, JointSpec, RodEnd, SoftId,
    TendonId, TendonPath, Transmission, Waypoint,
};

use crate::cable::CableEnd;
use crate::constraint::Equality;
use crate::error::WorldError;
use crate::sensor::SensorKind;
use crate::world::{World, WorldBuilder};

/// What becomes of the bodies that stand on the world that is put into another.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Base {
    /// They stand or fly as declared.
    #[default]
    Declared,
    /// They stand still: their free joints are left out.
    Fixed,
    /// There is one, and it flies: it gets a free joint if it has none.
    Floating,
    /// They are welded to a body of the builder, in whose frame the pose is; their free joints are
    /// left out.
    On(BodyId),
}

/// Where the parts of a world are in the builder that it was put into, by the ids of the builder
/// that it was made with.
#[derive(Clone, Debug, PartialEq)]
pub struct Placed {
    /// What stands for its world, and the pose of its world in that.
    pub root: (BodyId, Isometry3<f64>),
    /// Its bodies.
    pub bodies: Vec<BodyId>,
    /// Its joints; `None` for those left out.
    pub joints: Vec<Option<JointId>>,
    /// Its first tendon.
    pub first_tendon: usize,
    /// Its first actuator.
    pub first_actuator: usize,
    /// Its first shape.
    pub first_geom: usize,
    /// Its first soft body.
    pub first_soft: usize,
}

impl World {
    /// What the world was built from, with the ids of its builder.
    pub fn parts(&self) -> &WorldBuilder {
        &self.parts
    }
}

impl WorldBuilder {
    /// Puts a world into this one, at a pose, with a prefix before every name.
    pub fn add_world(
        &mut self,
        world: &World,
        prefix: &str,
        pose: Isometry3<f64>,
        base: Base,
    ) -> Result<Placed, WorldError> {
        let parts = &*world.parts;
        let declared = parts.mechanism.declared();
        if base == Base::Floating {
            check_floating(&declared, prefix)?;
        }
        let parent = if let Base::On(body) = base { body } else { BodyId::WORLD };
        if let Some(driven) = declared.bodies.iter().find(|spec| spec.driven)
            && parent != BodyId::WORLD
        {
            let what = format!("the driven body \"{}\", to be carried by another", driven.name);
            let expected = "driven bodies to stay on the world";
            return Err(WorldError::Compose { prefix: prefix.to_owned(), what, expected });
        }
        let mut shift = Shift {
            prefix,
            placed: Placed {
                root: (parent, pose),
                bodies: vec![parent],
                joints: Vec::new(),
                first_tendon: self.mechanism.declared().tendons.len(),
                first_actuator: self.mechanism.declared().actuators.len(),
                first_geom: self.geoms.len(),
                first_soft: self.softs.len(),
            },
        };
        shift.bodies(self, &declared);
        shift.joints(self, &declared, base);
        let first_rod = self.mechanism.declared().rods.len();
        for rod in declared.rods {
            let mut rod = rod.clone();
            rod.name = shift.name(&rod.name);
            rod.segments.iter_mut().for_each(|body| *body = shift.body(*body));
            for end in &mut rod.ends {
                if let RodEnd::Clamped { body, pose } = end {
                    shift.frame(body, pose);
                }
            }
            self.mechanism.rod(rod);
        }
        for cable in &parts.cables {
            let mut cable = cable.clone();
            cable.spec.name = shift.name(&cable.spec.name);
            cable.bodies.iter_mut().for_each(|body| *body = shift.body(*body));
            cable.rod.0 += first_rod;
            for end in &mut cable.spec.ends {
                match end {
                    CableEnd::Attached { body, pose } => shift.frame(body, pose),
                    CableEnd::Held(body) => *body = shift.body(*body),
                    CableEnd::Free => {}
                }
            }
            self.cables.push(cable);
        }
        for tendon in declared.tendons {
            let mut tendon = tendon.clone();
            tendon.name = shift.name(&tendon.name);
            shift.path(&mut tendon.path)?;
            self.mechanism.tendon(tendon);
        }
        for actuator in declared.actuators {
            let mut actuator = actuator.clone();
            actuator.name = shift.name(&actuator.name);
            shift.transmission(&mut actuator.transmission)?;
            self.mechanism.actuator(actuator);
        }
        for drag in declared.drags {
            let mut drag = *drag;
            shift.frame(&mut drag.body, &mut drag.frame);
            self.mechanism.drag(drag);
        }
        for geom in &parts.geoms {
            let mut geom = geom.clone();
            geom.name = shift.name(&geom.name);
            shift.frame(&mut geom.body, &mut geom.pose);
            self.geom(geom);
        }
        for (name, equality) in &parts.equalities {
            let mut equality = equality.clone();
            shift.equality(&mut equality)?;
            self.equality(shift.name(name), equality);
        }
        for (a, b) in &parts.excludes {
            self.exclude(shift.body(*a), shift.body(*b));
        }
        for (a, b, pairing) in &parts.pairs {
            let first = shift.placed.first_geom;
            self.pairs.push((first + a, first + b, *pairing));
        }
        let root = self.start_pose(parent) * pose;
        for object in &parts.softs {
            let mut object = object.clone();
            object.spec.name = shift.name(&object.spec.name);
            if root != Isometry3::identity() {
                for x in &mut object.spec.vertices {
                    *x = (root * Point3::from(*x)).coords;
                }
            }
            // What stood still on its world stays still in what that is welded to.
            let carried = if parent == BodyId::WORLD {
                vec![]
            } else {
                std::mem::take(&mut object.spec.fixed)
            };
            let soft = self.soft(object);
            if !carried.is_empty() {
                self.attach(soft, &carried, parent);
            }
        }
        for attach in &parts.attached {
            self.attach(shift.soft(attach.soft), &attach.vertices, shift.body(attach.body));
        }
        for (soft, body) in &parts.soft_excludes {
            self.exclude_soft(shift.soft(*soft), shift.body(*body));
        }
        for sensor in &parts.sensors {
            let mut sensor = sensor.clone();
            sensor.name = shift.name(&sensor.name);
            shift.sensor(&mut sensor.kind)?;
            self.sensor(sensor);
        }
        Ok(shift.placed)
    }
}

impl WorldBuilder {
    /// Pose of a body in the world at the start.
    fn start_pose(&self, body: BodyId) -> Isometry3<f64> {
        let bodies = self.mechanism.declared().bodies;
        let (mut pose, mut at) = (Isometry3::identity(), body);
        // Parents come before children; one that does not is told when the world is built.
        while let Some(spec) = bodies.get(at.0).filter(|_| at != BodyId::WORLD) {
            pose = spec.pose * pose;
            if spec.parent.0 >= at.0 {
                break;
            }
            at = spec.parent;
        }
        pose
    }
}

/// A world floats if all of it that moves hangs on one body.
fn check_floating(declared: &Declarations, prefix: &str) -> Result<(), WorldError> {
    let wrong = |what| {
        let expected = "one body on its world, without joints, to be given a free one";
        Err(WorldError::Compose { prefix: prefix.to_owned(), what, expected })
    };
    let top: Vec<usize> = on_world(declared).collect();
    let &[base] = &top[..] else { return wrong(format!("{} bodies on its world", top.len())) };
    let held = |(body, spec): &&(BodyId, JointSpec)| body.0 == base && spec.kind != JointKind::Free;
    match declared.joints.iter().find(held) {
        Some((_, spec)) => {
            let kind = spec.kind.entry().name;
            wrong(format!("a base with the {kind} joint \"{}\"", spec.name))
        }
        None => Ok(()),
    }
}

/// Bodies whose parent is the world, but for driven ones.
fn on_world<'a>(declared: &'a Declarations) -> impl Iterator<Item = usize> + 'a {
    let bodies = declared.bodies.iter().enumerate().skip(1);
    let own = |(id, spec): &(usize, &BodySpec)| {
        spec.parent == BodyId::WORLD && !spec.driven && !is_segment(declared, BodyId(*id))
    };
    bodies.filter(own).map(|(id, _)| id)
}

/// Whether a body is a segment of a rod: those stay on the world and keep their free joints.
fn is_segment(declared: &Declarations, body: BodyId) -> bool {
    declared.rods.iter().any(|rod| rod.segments.contains(&body))
}

/// From the ids and frames of a world to those of the builder it is put into.
struct Shift<'a> {
    prefix: &'a str,
    placed: Placed,
}

impl Shift<'_> {
    fn name(&self, name: &str) -> String {
        if name.is_empty() { String::new() } else { format!("{}{name}", self.prefix) }
    }

    fn bodies(&mut self, builder: &mut WorldBuilder, declared: &Declarations) {
        let root = builder.reference_pose(self.placed.root.0) * self.placed.root.1;
        for (id, spec) in declared.bodies.iter().enumerate().skip(1) {
            let mut spec = BodySpec { name: self.name(&spec.name), ..spec.clone() };
            if is_segment(declared, BodyId(id)) {
                if root != Isometry3::identity() {
                    spec.pose = root * spec.pose;
                }
                self.placed.bodies.push(builder.mechanism.body(spec));
                continue;
            }
            // A parent that does not exist cannot be: the world was built.
            self.frame(&mut spec.parent, &mut spec.pose);
            self.placed.bodies.push(builder.mechanism.body(spec));
        }
    }

    fn joints(&mut self, builder: &mut WorldBuilder, declared: &Declarations, base: Base) {
        let leaves_out_free = matches!(base, Base::Fixed | Base::On(_));
        for (body, spec) in declared.joints {
            let stays = spec.kind != JointKind::Free || is_segment(declared, *body);
            let joint = (stays || !leaves_out_free).then(|| {
                let spec = JointSpec { name: self.name(&spec.name), ..spec.clone() };
                builder.mechanism.joint(self.body(*body), spec)
            });
            self.placed.joints.push(joint);
        }
        let base_body = on_world(declared).next().filter(|_| base == Base::Floating);
        let grounded = |body: &usize| declared.joints.iter().all(|(id, _)| id.0 != *body);
        if let Some(body) = base_body.filter(grounded) {
            let name = self.name("floating-base");
            let spec = JointSpec { name, ..JointSpec::new(JointKind::Free) };
            builder.mechanism.joint(self.body(BodyId(body)), spec);
        }
    }

    fn body(&self, body: BodyId) -> BodyId {
        self.placed.bodies[body.0]
    }

    /// A frame on a body; what stood on the world stands at the pose.
    fn frame(&self, body: &mut BodyId, pose: &mut Isometry3<f64>) {
        if *body == BodyId::WORLD && self.placed.root.1 != Isometry3::identity() {
            *pose = self.placed.root.1 * *pose;
        }
        *body = self.body(*body);
    }

    fn point(&self, body: &mut BodyId, point: &mut Vector3<f64>) {
        if *body == BodyId::WORLD {
            *point = (self.placed.root.1 * Point3::from(*point)).coords;
        }
        *body = self.body(*body);
    }

    fn soft(&self, soft: SoftId) -> SoftId {
        SoftId(self.placed.first_soft + soft.0)
    }

    fn joint(&self, joint: &mut JointId) -> Result<(), WorldError> {
        *joint = self.placed.joints[joint.0].ok_or_else(|| WorldError::Compose {
            prefix: self.prefix.to_owned(),
            what: "a free joint that something acts on or measures".to_owned(),
            expected: "a free joint without purpose, where the base is not to move",
        })?;
        Ok(())
    }

    fn path(&self, path: &mut TendonPath) -> Result<(), WorldError> {
        match path {
            TendonPath::Fixed(terms) => {
                terms.iter_mut().try_for_each(|(joint, _)| self.joint(joint))?;
            }
            TendonPath::Spatial(waypoints) => {
                for waypoint in waypoints {
                    match waypoint {
                        Waypoint::Site(site) => self.point(&mut site.body, &mut site.point),
                        Waypoint::Wrap(wrap) => {
                            if let Some(side) = &mut wrap.side {
                                self.point(&mut wrap.body.clone(), side);
                            }
                            self.frame(&mut wrap.body, &mut wrap.pose);
                        }
                        Waypoint::Pulley { .. } => {}
                    }
                }
            }
        }
        Ok(())
    }

    fn transmission(&self, transmission: &mut Transmission) -> Result<(), WorldError> {
        match transmission {
            Transmission::Joint(joint) | Transmission::JointDof(joint, _) => self.joint(joint)?,
            Transmission::Tendon(tendon) => self.tendon(tendon),
            Transmission::Body { body, .. } => *body = self.body(*body),
        }
        Ok(())
    }

    fn tendon(&self, tendon: &mut TendonId) {
        tendon.0 += self.placed.first_tendon;
    }

    fn sensor(&self, kind: &mut SensorKind) -> Result<(), WorldError> {
        kind.each_frame(|frame| {
            self.frame(&mut frame.body, &mut frame.pose);
            Ok(())
        })?;
        match kind {
            SensorKind::JointPosition(joint)
            | SensorKind::JointVelocity(joint)
            | SensorKind::JointActuatorForce(joint)
            | SensorKind::BallOrientation(joint)
            | SensorKind::BallVelocity(joint) => self.joint(joint)?,
            SensorKind::ActuatorPosition(actuator)
            | SensorKind::ActuatorVelocity(actuator)
            | SensorKind::ActuatorForce(actuator) => *actuator = self.placed.actuator(*actuator),
            SensorKind::TendonPosition(tendon) | SensorKind::TendonVelocity(tendon) => {
                self.tendon(tendon);
            }
            SensorKind::SubtreeCom(body) => *body = self.body(*body),
            _ => {}
        }
        Ok(())
    }

    fn equality(&self, equality: &mut Equality) -> Result<(), WorldError> {
        match equality {
            Equality::Connect(connect) => {
                self.point(&mut connect.body_a, &mut connect.point_a);
                self.point(&mut connect.body_b, &mut connect.point_b);
            }
            Equality::Distance(distance) => {
                self.point(&mut distance.body_a, &mut distance.point_a);
                self.point(&mut distance.body_b, &mut distance.point_b);
            }
            Equality::Joint(coupling) => {
                self.joint(&mut coupling.joint)?;
                coupling.leader.iter_mut().try_for_each(|leader| self.joint(leader))?;
            }
            Equality::Tendon(coupling) => {
                self.tendon(&mut coupling.tendon);
                coupling.leader.iter_mut().for_each(|leader| self.tendon(leader));
            }
            Equality::Weld(weld) => {
                if weld.body_b == BodyId::WORLD {
                    // X_WR X_RO = X_WA X_AO, with the old world O at its pose in the root R.
                    weld.pose *= self.placed.root.1.inverse();
                }
                self.frame(&mut weld.body_a, &mut weld.pose);
                weld.body_b = self.body(weld.body_b);
            }
        }
        Ok(())
    }
}

impl Placed {
    /// What became of an actuator.
    pub fn actuator(&self, id: ActuatorId) -> ActuatorId {
        ActuatorId(self.first_actuator + id.0)
    }
}
