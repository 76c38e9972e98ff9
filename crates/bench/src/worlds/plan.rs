//! The plan of a random world: its parts as plain data, each with a name by which it can be left out.

use std::collections::BTreeSet;

use nalgebra::{Isometry3, Vector3};
use stiction_geom::Shape;
use stiction_mech::{ActuatorLaw, JointSpec};
use stiction_sim::Surface;

/// What may be expected of a world.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WorldClass {
    /// Moderate mass ratios, frequencies and speeds, no overlap, nothing contradictory.
    WellPosed,
    /// Anything that the input accepts.
    Harsh,
}

impl WorldClass {
    /// Name in tables and files.
    pub fn name(self) -> &'static str {
        match self {
            Self::WellPosed => "well-posed",
            Self::Harsh => "harsh",
        }
    }
}

/// What bodies may land on.
#[derive(Clone, Debug)]
pub enum Ground {
    /// Nothing.
    None,
    /// Fixed shapes at poses in the world.
    Shapes(&'static str, Vec<(Isometry3<f64>, Shape)>),
}

impl Ground {
    /// Name in descriptions.
    pub fn name(&self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Shapes(name, _) => name,
        }
    }
}

/// An actuator with a constant control, on the joint of a body.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ActuatorPlan {
    /// Its law.
    pub law: ActuatorLaw,
    /// Its control, in the unit of the law.
    pub control: f64,
    /// Bounds of its force [N, N·m].
    pub force_range: Option<(f64, f64)>,
}

/// A body with one joint and one shape.
#[derive(Clone, Debug)]
pub struct BodyPlan {
    /// Index of its parent among the bodies; `None` for the world.
    pub parent: Option<usize>,
    /// Pose in the frame of the parent.
    pub pose: Isometry3<f64>,
    /// Pose in the world at the reference configuration.
    pub pose_W: Isometry3<f64>,
    /// Its joint.
    pub joint: JointSpec,
    /// Mass [kg].
    pub mass: f64,
    /// Its shape; it has the inertia of a homogeneous body of this shape.
    pub shape: Shape,
    /// Whether the shape collides.
    pub collides: bool,
    /// Its surface.
    pub surface: Surface,
    /// Velocities of its joint at the start [m/s, rad/s].
    pub velocity: Vec<f64>,
    /// An actuator on its joint.
    pub actuator: Option<ActuatorPlan>,
}

/// A constraint between two bodies; `None` is the world. Points in the frames of the bodies [m].
#[derive(Clone, Copy, Debug)]
pub struct EqualityPlan {
    /// The bodies.
    pub bodies: [Option<usize>; 2],
    /// The relation.
    pub kind: EqualityKind,
}

/// Kinds of equalities.
#[derive(Clone, Copy, Debug)]
pub enum EqualityKind {
    /// Two points coincide.
    Connect(Vector3<f64>, Vector3<f64>),
    /// Two points keep a distance [m].
    Distance(Vector3<f64>, Vector3<f64>, f64),
    /// Pose of the second body in the frame of the first.
    Weld(Isometry3<f64>),
}

/// A soft cuboid.
#[derive(Clone, Copy, Debug)]
pub struct SoftPlan {
    /// Lengths of its edges [m].
    pub size: Vector3<f64>,
    /// Cells along its edges.
    pub cells: [usize; 3],
    /// Where it is.
    pub pose: Isometry3<f64>,
    /// Young's modulus [Pa].
    pub young: f64,
    /// Density [kg/m³].
    pub density: f64,
    /// Damping in proportion to the stiffness [s].
    pub damping: f64,
    /// Coefficient of friction [-].
    pub friction: f64,
    /// Velocity at the start [m/s].
    pub velocity: Vector3<f64>,
}

/// A straight cable.
#[derive(Clone, Copy, Debug)]
pub struct CablePlan {
    /// Its first end; it runs along z.
    pub pose: Isometry3<f64>,
    /// Length [m].
    pub length: f64,
    /// Number of segments.
    pub segments: usize,
    /// Radius [m].
    pub radius: f64,
    /// Young's modulus [Pa].
    pub young: f64,
    /// Coefficient of friction [-].
    pub friction: f64,
    /// Whether its first end is held by the world.
    pub held: bool,
}

/// A world as data.
#[derive(Clone, Debug)]
pub struct WorldPlan {
    /// Its class.
    pub class: WorldClass,
    /// Time step [s].
    pub time_step: f64,
    /// Gravity [m/s²].
    pub gravity: Vector3<f64>,
    /// The ground and its coefficient of friction.
    pub ground: Ground,
    /// Surface of the ground.
    pub ground_surface: Surface,
    /// The bodies; parents stand before children.
    pub bodies: Vec<BodyPlan>,
    /// The equalities.
    pub equalities: Vec<EqualityPlan>,
    /// A soft body.
    pub soft: Option<SoftPlan>,
    /// A cable.
    pub cable: Option<CablePlan>,
    /// Names of parts that are left out.
    pub removed: BTreeSet<String>,
}

impl WorldPlan {
    /// Whether a part is in the world.
    pub fn has(&self, part: &str) -> bool {
        !self.removed.contains(part)
    }

    /// Whether a body and all its ancestors are in the world.
    pub fn has_body(&self, k: usize) -> bool {
        self.has(&format!("body-{k}")) && self.bodies[k].parent.is_none_or(|p| self.has_body(p))
    }

    /// Whether an equality and its bodies are in the world.
    pub fn has_equality(&self, k: usize) -> bool {
        let present = |body: &Option<usize>| body.is_none_or(|body| self.has_body(body));
        self.has(&format!("equality-{k}")) && self.equalities[k].bodies.iter().all(present)
    }

    /// Whether a feature of a body is in the world: `shape`, `velocity`, `limit`, `spring`, `damping`,
    /// `friction`, `actuator`.
    pub fn has_of_body(&self, feature: &str, k: usize) -> bool {
        self.has_body(k) && self.has(&format!("{feature}-{k}"))
    }

    /// The parts that are in the world, the largest first.
    pub fn parts(&self) -> Vec<String> {
        let mut parts = Vec::new();
        let count = self.bodies.len();
        parts.extend((0..count).rev().filter(|k| self.has_body(*k)).map(|k| format!("body-{k}")));
        parts.extend(self.soft.map(|_| "soft".to_owned()));
        parts.extend(self.cable.map(|_| "cable".to_owned()));
        let equalities = (0..self.equalities.len()).filter(|k| self.has_equality(*k));
        parts.extend(equalities.map(|k| format!("equality-{k}")));
        if !matches!(self.ground, Ground::None) {
            parts.push("ground".to_owned());
        }
        if self.gravity != Vector3::zeros() {
            parts.push("gravity".to_owned());
        }
        for (k, body) in self.bodies.iter().enumerate().filter(|(k, _)| self.has_body(*k)) {
            let joint = &body.joint;
            for (feature, present) in [
                ("actuator", body.actuator.is_some()),
                ("shape", body.collides),
                ("limit", joint.limit.is_some()),
                ("spring", joint.stiffness > 0.0),
                ("damping", joint.damping > 0.0),
                ("friction", joint.friction_loss > 0.0),
                ("velocity", body.velocity.iter().any(|v| *v != 0.0)),
            ] {
                if present {
                    parts.push(format!("{feature}-{k}"));
                }
            }
        }
        parts.retain(|part| self.has(part));
        parts
    }

    /// The same world with these parts only.
    pub fn keep(mut self, kept: &[String]) -> Self {
        let kept: BTreeSet<&String> = kept.iter().collect();
        let all = self.parts();
        self.removed.extend(all.into_iter().filter(|part| !kept.contains(part)));
        self
    }

    /// The same world without a part.
    pub fn without(&self, part: &str) -> Self {
        let mut plan = self.clone();
        plan.removed.insert(part.to_owned());
        plan
    }

    /// Gravity of the world [m/s²].
    pub fn present_gravity(&self) -> Vector3<f64> {
        if self.has("gravity") { self.gravity } else { Vector3::zeros() }
    }

    /// Whether no force from outside acts: no ground, gravity, fixed base or equality with the world.
    pub fn is_isolated(&self) -> bool {
        let free = |body: &BodyPlan| {
            body.parent.is_some() || body.joint.kind == stiction_mech::JointKind::Free
        };
        let grounded = self.has("ground") && !matches!(self.ground, Ground::None);
        let held = self.cable.is_some_and(|cable| cable.held) && self.has("cable");
        let fixed = (0..self.equalities.len())
            .any(|k| self.has_equality(k) && self.equalities[k].bodies.contains(&None));
        let bodies = self.bodies.iter().enumerate();
        self.present_gravity() == Vector3::zeros()
            && !(grounded || held || fixed)
            && bodies.filter(|(k, _)| self.has_body(*k)).all(|(_, body)| free(body))
    }

    /// Lines of text that describe what is in the world.
    pub fn describe(&self) -> Vec<String> {
        let mut lines = vec![format!(
            "{}, step {:.3e} s, gravity {:.3}, ground {} (friction {:.3}, restitution {:.3})",
            self.class.name(),
            self.time_step,
            self.present_gravity().norm(),
            if self.has("ground") { self.ground.name() } else { "none" },
            self.ground_surface.friction,
            self.ground_surface.restitution,
        )];
        for (k, body) in self.bodies.iter().enumerate().filter(|(k, _)| self.has_body(*k)) {
            let feature = |name: &str, value: f64| {
                let shown = value != 0.0 && self.has_of_body(name, k);
                if shown { format!(", {name} {value:.3e}") } else { String::new() }
            };
            let mut line = format!(
                "body {k}: parent {:?}, {}, {:.3e} kg, {} of radius {:.3e} m{}",
                body.parent,
                body.joint.kind.entry().name,
                body.mass,
                body.shape.name(),
                body.shape.bounding_radius(),
                if body.collides && self.has_of_body("shape", k) { "" } else { " without contact" },
            );
            line += &format!(
                ", friction {:.3}, restitution {:.3}",
                body.surface.friction, body.surface.restitution
            );
            line += &feature("spring", body.joint.stiffness);
            line += &feature("damping", body.joint.damping);
            line += &feature("friction", body.joint.friction_loss);
            line += &feature("velocity", body.velocity.iter().fold(0.0, |m, v| v.abs().max(m)));
            if let Some(limit) = body.joint.limit.filter(|_| self.has_of_body("limit", k)) {
                line += &format!(", limit {:.3} to {:.3}", limit.lower, limit.upper);
            }
            if let Some(actuator) = body.actuator.filter(|_| self.has_of_body("actuator", k)) {
                line += &format!(", {:?} with control {:.3}", actuator.law, actuator.control);
            }
            lines.push(line);
        }
        for k in (0..self.equalities.len()).filter(|k| self.has_equality(*k)) {
            let EqualityPlan { bodies, kind } = &self.equalities[k];
            let name = match kind {
                EqualityKind::Connect(..) => "connect",
                EqualityKind::Distance(..) => "distance",
                EqualityKind::Weld(_) => "weld",
            };
            lines.push(format!("equality {k}: {name} of {bodies:?}"));
        }
        lines.extend(self.soft.filter(|_| self.has("soft")).map(|soft| format!("{soft:?}")));
        lines.extend(self.cable.filter(|_| self.has("cable")).map(|cable| format!("{cable:?}")));
        lines
    }
}
