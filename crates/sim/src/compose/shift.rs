//! From the ids and frames of a world to those of the builder that it is placed in.

use nalgebra::{Isometry3, Point3, Vector3};
use stiction_mech::{
    BodyId, BodySpec, Declarations, JointId, JointKind, JointSpec, SoftId, TendonId, TendonPath,
    Transmission, Waypoint,
};

use super::{Base, InsertedWorld, is_segment, on_world};
use crate::constraint::Equality;
use crate::error::WorldError;
use crate::sensor::{SensorKind, SensorTarget};
use crate::world::WorldBuilder;

/// From the ids and frames of a world to those of the builder it is put into.
pub(super) struct WorldInsertion<'a> {
    pub prefix: &'a str,
    pub placed: InsertedWorld,
}

impl WorldInsertion<'_> {
    pub fn name(&self, name: &str) -> String {
        if name.is_empty() { String::new() } else { format!("{}{name}", self.prefix) }
    }

    pub fn bodies(&mut self, builder: &mut WorldBuilder, declared: &Declarations) {
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
            // The parent exists: the world was built.
            self.frame(&mut spec.parent, &mut spec.pose);
            self.placed.bodies.push(builder.mechanism.body(spec));
        }
    }

    pub fn joints(&mut self, builder: &mut WorldBuilder, declared: &Declarations, base: Base) {
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

    pub fn body(&self, body: BodyId) -> BodyId {
        self.placed.bodies[body.0]
    }

    /// Shifts a frame on a body; one on the world moves with the pose of the inserted world.
    pub fn frame(&self, body: &mut BodyId, pose: &mut Isometry3<f64>) {
        if *body == BodyId::WORLD && self.placed.root.1 != Isometry3::identity() {
            *pose = self.placed.root.1 * *pose;
        }
        *body = self.body(*body);
    }

    pub fn point(&self, body: &mut BodyId, point: &mut Vector3<f64>) {
        if *body == BodyId::WORLD {
            *point = (self.placed.root.1 * Point3::from(*point)).coords;
        }
        *body = self.body(*body);
    }

    pub fn soft(&self, soft: SoftId) -> SoftId {
        SoftId(self.placed.first_soft + soft.0)
    }

    pub fn joint(&self, joint: &mut JointId) -> Result<(), WorldError> {
        *joint = self.placed.joints[joint.0].ok_or_else(|| WorldError::Compose {
            prefix: self.prefix.to_owned(),
            what: "a free joint that something acts on or measures".to_owned(),
            expected: "a free joint that nothing refers to, where the base is fixed",
        })?;
        Ok(())
    }

    pub fn path(&self, path: &mut TendonPath) -> Result<(), WorldError> {
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
                                self.point(&mut side.body, &mut side.point);
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

    pub fn transmission(&self, transmission: &mut Transmission) -> Result<(), WorldError> {
        match transmission {
            Transmission::Joint(joint) | Transmission::JointDof(joint, _) => self.joint(joint)?,
            Transmission::JointWrench(wrench) => self.joint(&mut wrench.joint)?,
            Transmission::Tendon(tendon) => self.tendon(tendon),
            Transmission::Body { body, .. } | Transmission::Contacts(body) => {
                *body = self.body(*body);
            }
            Transmission::Sites(pair) => {
                self.frame(&mut pair.site.body, &mut pair.site.pose);
                self.frame(&mut pair.reference.body, &mut pair.reference.pose);
            }
            Transmission::SliderCrank(pair) => {
                self.frame(&mut pair.crank.body, &mut pair.crank.pose);
                self.frame(&mut pair.slider.body, &mut pair.slider.pose);
            }
        }
        Ok(())
    }

    pub fn tendon(&self, tendon: &mut TendonId) {
        tendon.0 += self.placed.first_tendon;
    }

    pub fn sensor(&self, kind: &mut SensorKind) -> Result<(), WorldError> {
        kind.each_target(|target| {
            match target {
                SensorTarget::Actuator(actuator) => *actuator = self.placed.actuator(*actuator),
                SensorTarget::Body(body) => *body = self.body(*body),
                SensorTarget::Frame(frame) => self.frame(&mut frame.body, &mut frame.pose),
                SensorTarget::Geom(geom) => *geom += self.placed.first_geom,
                SensorTarget::Joint(joint) => self.joint(joint)?,
                SensorTarget::Tendon(tendon) => self.tendon(tendon),
            }
            Ok(())
        })
    }

    pub fn equality(&self, equality: &mut Equality) -> Result<(), WorldError> {
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
