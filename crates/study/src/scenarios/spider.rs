//! SPIDER: a walking robot of 37 parts with 12 motors and closed linkages [Tasora, Sec. 3.1].
//!
//! ```text
//!             B          each leg in its plane (a outward, b up):
//!      A o────────o      C hangs on the torso and is turned about b by a motor; the crank A on C
//!        │        │      is turned by another. The rod B carries its motion to the femur F, the
//!   C ───o────────o───────────o      rod R keeps the tibia K upright, which ends in the foot.
//!        θ        │     F     │
//!                 o───────────o K
//!                       R     │
//!                             ● foot
//! ```
//! The tree holds 36 revolutes; B–F and R–K close two planar loops per leg by connects, whose rows
//! across the plane are redundant with those of the revolutes.

use nalgebra::{Isometry3, Vector2, Vector3};
use std::f64::consts::{FRAC_PI_2, PI, TAU};
use stiction_geom::Shape;
use stiction_mech::{
    ActuatorSpec, BodyId, BodySpec, JointId, JointKind, JointSpec, MassProperties, Transmission,
};
use stiction_scene::{Check, Scene, Verdict};
use stiction_sim::constraint::{Connect, Equality};
use stiction_sim::{Geom, Settings, Simulation, StepReport, Surface, WorldBuilder};

use super::Scenario;
use super::parts;
use super::robots::bar::NO_COLLISION;
use crate::error::StudyError;
use crate::parameters::{Parameter, Parameters};

/// The scenario.
pub const SCENARIO: Scenario = Scenario {
    name: "spider",
    cite: "Tasora",
    about: "a six-legged robot with 12 motors and closed linkages walks on its feet",
    parameters: &[Parameter {
        name: "tree",
        default: 0.0,
        least: 0.0,
        most: 1.0,
        about: "1 leaves the linkages out: 13 parts, no loops",
    }],
    build,
};

const LEGS: usize = 6;
const HALF_TORSO: [f64; 3] = [0.25, 0.10, 0.03]; // [m]
const TORSO_MASS: f64 = 1.0; // [kg]
const HEIGHT: f64 = 0.136; // of the torso's centre at the start [m]
const FRICTION: f64 = 0.6;
const FOOT: (f64, f64) = (0.20, -0.12); // in the plane of the leg [m]
const FOOT_RADIUS: f64 = 0.015; // [m]
const KP: f64 = 100.0; // [N·m/rad]
const KD: f64 = 2.0; // [N·m·s/rad]
const SWING: f64 = 0.25; // amplitude of the legs about the vertical [rad]
const LIFT: f64 = 0.2; // amplitude of the cranks [rad]
const RAMP: f64 = 0.5; // time in which the motion grows [s]

/// A point in the plane of a leg: outward and up [m].
type Point = (f64, f64);

/// A part of a leg: mass [kg], radius of gyration as of a ball [m], centre of mass.
struct LegPart {
    name: &'static str,
    mass: f64,
    rho: f64,
    com: Point,
}

const COXA: LegPart = LegPart { name: "coxa", mass: 0.05, rho: 0.03, com: (0.03, 0.0) };
const CRANK: LegPart = LegPart { name: "crank", mass: 0.01, rho: 0.015, com: (0.02, 0.015) };
const CONROD: LegPart = LegPart { name: "conrod", mass: 0.01, rho: 0.015, com: (0.04, 0.03) };
const FEMUR: LegPart = LegPart { name: "femur", mass: 0.05, rho: 0.03, com: (0.11, 0.0) };
const ROD: LegPart = LegPart { name: "rod", mass: 0.02, rho: 0.03, com: (0.11, -0.03) };
const TIBIA: LegPart = LegPart { name: "tibia", mass: 0.05, rho: 0.03, com: (0.17, -0.04) };

/// A leg under construction. Frames of its parts stand at the pivots that carry them.
struct Leg<'a> {
    builder: &'a mut WorldBuilder,
    index: usize,
    /// +1 on the left, −1 on the right.
    side: f64,
}

impl Leg<'_> {
    /// From the plane of the leg to axes of the torso.
    fn vector(&self, (a, b): Point) -> Vector3<f64> {
        Vector3::new(0.0, self.side * a, b)
    }

    fn pitch(&self) -> Vector3<f64> {
        Vector3::new(self.side, 0.0, 0.0)
    }

    /// Hangs a part on another by a revolute. Pivots are in the plane of the leg.
    fn part(
        &mut self,
        part: &LegPart,
        (parent, parent_pivot): (BodyId, Vector3<f64>),
        pivot: Point,
        axis: Vector3<f64>,
    ) -> Result<(BodyId, JointId), StudyError> {
        let origin = self.vector(pivot);
        let inertia = 0.4 * part.mass * part.rho * part.rho;
        let com = self.vector(part.com) - origin;
        let mass: MassProperties = parts::isotropic(part.mass, com, inertia)?;
        let name = format!("{}-{}", part.name, self.index);
        let at = origin - parent_pivot;
        let body = self.builder.mechanism.body(BodySpec {
            name: name.clone(),
            parent,
            pose: Isometry3::translation(at.x, at.y, at.z),
            mass: Some(mass),
            ..BodySpec::default()
        });
        let hinge = JointSpec::new(JointKind::Hinge { axis });
        let joint = self.builder.mechanism.joint(body, JointSpec { name, ..hinge });
        let seen = Geom::new(body, Shape::sphere(0.3 * part.rho)?);
        let pose = Isometry3::translation(com.x, com.y, com.z);
        self.builder.geom(Geom { groups: NO_COLLISION, ..seen.at(pose) });
        Ok((body, joint))
    }

    fn motor(&mut self, name: &str, joint: JointId) {
        let name = format!("{name}-{}", self.index);
        let servo = ActuatorSpec::position(name, Transmission::Joint(joint), KP, KD);
        self.builder.mechanism.actuator(servo);
    }

    fn foot(&mut self, body: BodyId, pivot: Point) -> Result<(), StudyError> {
        let at = self.vector(FOOT) - self.vector(pivot);
        let pose = Isometry3::translation(at.x, at.y, at.z);
        let geom = Geom::new(body, Shape::sphere(FOOT_RADIUS)?)
            .at(pose)
            .surface(Surface::with_friction(FRICTION))
            .named(format!("foot-{}", self.index));
        self.builder.geom(geom);
        Ok(())
    }

    /// Closes a loop at a point of two parts whose frames stand at their pivots.
    fn close(&mut self, name: &str, a: (BodyId, Point), b: (BodyId, Point), at: Point) {
        let in_frame = |pivot: Point| self.vector(at) - self.vector(pivot);
        let connect =
            Connect { body_a: a.0, point_a: in_frame(a.1), body_b: b.0, point_b: in_frame(b.1) };
        let name = format!("{name}-{}", self.index);
        self.builder.equality(name, Equality::Connect(connect));
    }

    /// Builds the leg; its two motors are declared swing first.
    fn build(mut self, torso: BodyId, is_tree: bool) -> Result<(), StudyError> {
        let place = (self.index % 3) as f64 - 1.0;
        let hip = Vector3::new(place * 0.18, self.side * 0.10, 0.0);
        let e = self.pitch();
        let (coxa, swing) = self.part(&COXA, (torso, -hip), (0.0, 0.0), Vector3::z())?;
        self.motor("swing", swing);
        let on_coxa = (coxa, Vector3::zeros());
        if is_tree {
            let (femur, lift) = self.part(&FEMUR, on_coxa, (0.06, 0.0), e)?;
            self.motor("lift", lift);
            return self.foot(femur, (0.06, 0.0));
        }
        let (crank, lift) = self.part(&CRANK, on_coxa, (0.02, 0.0), e)?;
        self.motor("lift", lift);
        let (femur, _) = self.part(&FEMUR, on_coxa, (0.06, 0.0), e)?;
        let (rod, _) = self.part(&ROD, on_coxa, (0.06, -0.03), e)?;
        let on_femur = (femur, self.vector((0.06, 0.0)));
        let (tibia, _) = self.part(&TIBIA, on_femur, (0.16, 0.0), e)?;
        let on_crank = (crank, self.vector((0.02, 0.0)));
        let (conrod, _) = self.part(&CONROD, on_crank, (0.02, 0.03), e)?;
        self.close("upper", (conrod, (0.02, 0.03)), (femur, (0.06, 0.0)), (0.06, 0.03));
        self.close("lower", (rod, (0.06, -0.03)), (tibia, (0.16, 0.0)), (0.16, -0.03));
        self.foot(tibia, (0.16, 0.0))
    }
}

fn side(leg: usize) -> f64 {
    if leg < LEGS / 2 { 1.0 } else { -1.0 }
}

/// Wanted angles of a leg's motors at a time: swing and lift [rad].
fn targets(leg: usize, time: f64) -> [f64; 2] {
    let ramp = (time / RAMP).min(1.0);
    let phase = TAU * time + if leg.is_multiple_of(2) { 0.0 } else { PI };
    [side(leg) * SWING * ramp * phase.sin(), LIFT * ramp * (phase + FRAC_PI_2).sin()]
}

/// Sets the targets of the end of the coming step.
fn walk(simulation: &mut Simulation) {
    let time = simulation.state().time + simulation.settings().time_step;
    let control = &mut simulation.input_mut().control;
    for leg in 0..LEGS {
        control[2 * leg..2 * leg + 2].copy_from_slice(&targets(leg, time));
    }
}

fn build(parameters: &Parameters) -> Result<Scene, StudyError> {
    let is_tree = parameters.count("tree") == 1;
    let mut builder = WorldBuilder::new();
    parts::ground(&mut builder, Surface::with_friction(FRICTION));
    let shape = Shape::cuboid(Vector3::from(HALF_TORSO))?;
    let (unit, com, inertia) = shape.mass_properties(1.0);
    let torso = builder.mechanism.body(BodySpec {
        name: "torso".to_owned(),
        pose: Isometry3::translation(0.0, 0.0, HEIGHT),
        mass: Some(MassProperties::new(TORSO_MASS, com, inertia * (TORSO_MASS / unit))?),
        ..BodySpec::default()
    });
    builder.mechanism.joint(torso, JointSpec::new(JointKind::Free));
    builder.geom(Geom { groups: NO_COLLISION, ..Geom::new(torso, shape).coloured(0.2, 0.4, 0.3) });
    for index in 0..LEGS {
        Leg { builder: &mut builder, index, side: side(index) }.build(torso, is_tree)?;
    }
    let settings = Settings { time_step: 0.01, ..Settings::default() };
    let check = SpiderCheck { is_tree, ..SpiderCheck::default() };
    Ok(Scene::new(builder.build()?, settings, 10.0, check).controlled(walk))
}

/// Joints hold together, motors follow their targets, feet stay above the floor, and the robot walks
/// as far as its gait carries it.
#[derive(Default)]
struct SpiderCheck {
    is_tree: bool,
    opening: f64,
    depth: f64,
    lag_squared: f64,
    steps: usize,
    torso: Vector3<f64>,
    /// Horizontal positions of the torso [m] at the ends of whole cycles of the gait, from the first
    /// that begins with the full amplitude.
    cycles: Vec<Vector2<f64>>,
    /// End of the next whole cycle [s].
    next_cycle: f64,
}

/// Largest distance between the anchors of a closure, and largest penetration [m].
const OPENING: f64 = 1e-4;
const DEPTH: f64 = 1e-3;

/// Largest lag of the motors, root of the mean square [rad]. A servo whose damper acts on its own
/// rate lags by `kd/kp` times the rate of its target, and sags by the moment of its load over kp:
/// on three legs, the weight of a leg's share at the foot's distance from the crank. One and a half
/// times the sum leaves room for the landing of feet.
fn largest_lag() -> f64 {
    let rate = TAU * ((SWING * SWING + LIFT * LIFT) / 4.0).sqrt();
    let weight = 9.81 * (TORSO_MASS + LEGS as f64 * 0.19) / 3.0;
    1.5 * (KD / KP * rate + weight * (FOOT.0 - 0.06) / KP)
}

/// Horizontal distance of a foot from the axis of its swing [m] at an angle of the lift [rad].
fn foot_distance(is_tree: bool, lift: f64) -> f64 {
    let femur = (0.06, 0.0);
    if is_tree {
        let (a, b) = (FOOT.0 - femur.0, FOOT.1 - femur.1);
        return femur.0 + a * lift.cos() - b * lift.sin();
    }
    // The parallelogram keeps the tibia upright: the foot moves as the femur's end does.
    let length = 0.16 - femur.0;
    FOOT.0 + length * (lift.cos() - 1.0)
}

/// Displacement of the torso per cycle of the gait along x [m] if feet do not slip, and the error
/// that their slip may cause [m].
///
/// Legs of a tripod stand while their lift is below zero: there the swing goes from its amplitude A
/// to −A, and a foot at the distance r from the axis of its swing moves by 2 r sin A relative to the
/// torso. Two tripods alternate, hence 4 r sin A per cycle, against x. The servos, whose dampers act
/// on their own rates, reduce the amplitude by √(1 + (ω kd/kp)²).
///
/// Feet on both sides cannot keep their distance: from r cos A at the change of tripods it becomes that
/// at the lowest lift in the middle of a stance, and goes back. Feet slip sideways by that much, and
/// while they slip, friction may let them slip along the way by as much.
fn stride(is_tree: bool) -> (f64, f64) {
    let lag = TAU * KD / KP;
    let amplitude = SWING / (1.0 + lag * lag).sqrt();
    let r = foot_distance(is_tree, 0.0);
    let sideways = (foot_distance(is_tree, -LIFT) - r * amplitude.cos()).abs();
    (-4.0 * r * amplitude.sin(), 4.0 * sideways)
}

impl Check for SpiderCheck {
    fn begin(&mut self, simulation: &mut Simulation) {
        // The cycle takes one second, and the amplitude is full from the first whole one on.
        self.next_cycle = simulation.state().time.max(RAMP).ceil();
    }

    fn observe(&mut self, simulation: &mut Simulation, report: &StepReport) {
        self.opening = self.opening.max(report.equality_error);
        self.depth = self.depth.max(report.penetration);
        let world = simulation.world().clone();
        let (model, state) = (world.model(), simulation.state());
        for (actuator, target) in model.actuators().iter().zip(&simulation.input().control) {
            if let Transmission::Joint(joint) = actuator.spec.transmission {
                let lag = target - state.q[model.joints()[joint.0].q.start];
                self.lag_squared += lag * lag;
            }
        }
        self.steps += 1;
        self.torso = Vector3::from_column_slice(&state.q[..3]);
        if state.time >= self.next_cycle - 0.5 * simulation.settings().time_step {
            self.cycles.push(self.torso.xy());
            self.next_cycle += 1.0;
        }
    }

    fn verdict(&self) -> Verdict {
        let motors = (2 * LEGS * self.steps).max(1) as f64;
        let lag = (self.lag_squared / motors).sqrt();
        let limit = largest_lag();
        let (stride, slip) = stride(self.is_tree);
        let count = self.cycles.len().saturating_sub(1) as f64;
        let (walks, way) = match self.cycles[..] {
            [first, .., last] => {
                let error = (last - first - Vector2::new(count * stride, 0.0)).norm();
                let detail = format!(
                    "walks {:.3} m in {count} cycles, {error:.3} m off the gait's {:.3} m (at most \
                     {:.3})",
                    first.x - last.x,
                    -count * stride,
                    count * slip
                );
                (error <= count * slip, detail)
            }
            _ => (true, "too short to be judged by the way walked".to_owned()),
        };
        Verdict {
            passed: self.opening <= OPENING && self.depth <= DEPTH && lag <= limit && walks,
            detail: format!(
                "joints open by {:.1e} mm (at most {:.1}); feet {:.3} mm deep (at most {:.0}); \
                 motors off by {lag:.4} rad rms (at most {limit:.4}); {way}; torso at ({:.3}, \
                 {:.3}, {:.3}) m",
                1e3 * self.opening,
                1e3 * OPENING,
                1e3 * self.depth,
                1e3 * DEPTH,
                self.torso.x,
                self.torso.y,
                self.torso.z
            ),
        }
    }
}
