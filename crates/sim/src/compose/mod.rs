//! Composition of worlds: every part of a world is declared again in the builder of another, with
//! its ids shifted, its names prefixed, and its root placed at a pose.
//!
//! A world placed at the origin of an empty builder, without a prefix, is the same world to the last
//! bit. Gravity and settings are those of the builder.

mod shift;

use nalgebra::{Isometry3, Point3};
use stiction_mech::{
    ActuatorId, BodyId, BodySpec, Declarations, JointId, JointKind, JointSpec, RodEnd,
};

use crate::cable::CableEnd;
use crate::error::WorldError;
use crate::world::{World, WorldBuilder};
use shift::WorldInsertion;

/// Treatment of the bodies whose parent is the world, if that world is inserted into another.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Base {
    /// They are fixed or floating as declared.
    #[default]
    Declared,
    /// They are fixed: their free joints are left out.
    Fixed,
    /// There is one, and it floats: it gets a free joint if it has none.
    Floating,
    /// They are welded to a body of the builder, in whose frame the pose is; their free joints are
    /// left out.
    On(BodyId),
}

/// Ids of the parts of a world in the builder into which it was inserted, by their ids in the builder
/// of that world.
#[derive(Clone, Debug, PartialEq)]
pub struct InsertedWorld {
    /// The body that replaces its world, and the pose of its world in the frame of that body.
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
    /// The declarations of the world, with the ids of its builder.
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
    ) -> Result<InsertedWorld, WorldError> {
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
        let mut shift = WorldInsertion {
            prefix,
            placed: InsertedWorld {
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
        self.add_rods(&shift, &declared);
        self.add_cables(&shift, parts, first_rod);
        self.add_actuation(&shift, &declared)?;
        self.add_shapes(&shift, parts)?;
        self.add_soft_bodies(&shift, parts);
        for sensor in &parts.sensors {
            let mut sensor = sensor.clone();
            sensor.name = shift.name(&sensor.name);
            shift.sensor(&mut sensor.kind)?;
            self.sensor(sensor);
        }
        Ok(shift.placed)
    }

    fn add_rods(&mut self, shift: &WorldInsertion, declared: &Declarations) {
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
    }

    fn add_cables(&mut self, shift: &WorldInsertion, parts: &WorldBuilder, first_rod: usize) {
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
    }

    /// Tendons, actuators and drag.
    fn add_actuation(
        &mut self,
        shift: &WorldInsertion,
        declared: &Declarations,
    ) -> Result<(), WorldError> {
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
        Ok(())
    }

    /// Shapes, equalities and exceptions from collisions.
    fn add_shapes(
        &mut self,
        shift: &WorldInsertion,
        parts: &WorldBuilder,
    ) -> Result<(), WorldError> {
        for geom in &parts.geoms {
            let mut geom = geom.clone();
            geom.name = shift.name(&geom.name);
            shift.frame(&mut geom.body, &mut geom.pose);
            self.geom(geom);
        }
        for other in &parts.scenery {
            let mut other = other.clone();
            shift.frame(&mut other.body, &mut other.pose);
            self.scenery(other);
        }
        for (name, equality, options) in &parts.equalities {
            let mut equality = equality.clone();
            shift.equality(&mut equality)?;
            self.equality_with(shift.name(name), equality, *options);
        }
        for (a, b) in &parts.excludes {
            self.exclude(shift.body(*a), shift.body(*b));
        }
        for (a, b, pairing) in &parts.pairs {
            let first = shift.placed.first_geom;
            self.pairs.push((first + a, first + b, *pairing));
        }
        Ok(())
    }

    fn add_soft_bodies(&mut self, shift: &WorldInsertion, parts: &WorldBuilder) {
        let (parent, pose) = shift.placed.root;
        let root = self.start_pose(parent) * pose;
        for object in &parts.softs {
            let mut object = object.clone();
            object.spec.name = shift.name(&object.spec.name);
            if root != Isometry3::identity() {
                for x in &mut object.spec.vertices {
                    *x = (root * Point3::from(*x)).coords;
                }
            }
            // Vertices fixed in its world are attached to the body that carries it.
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
    }
}

impl WorldBuilder {
    /// Pose of a body in the world at the start.
    fn start_pose(&self, body: BodyId) -> Isometry3<f64> {
        let bodies = self.mechanism.declared().bodies;
        let (mut pose, mut at) = (Isometry3::identity(), body);
        // Parents come before children; otherwise building the world reports an error.
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

impl InsertedWorld {
    /// The id of an actuator in the builder.
    pub fn actuator(&self, id: ActuatorId) -> ActuatorId {
        ActuatorId(self.first_actuator + id.0)
    }
}
