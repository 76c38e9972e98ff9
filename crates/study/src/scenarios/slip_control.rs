//! SLIP CONTROL: a gripper with two bubbles holds a spatula by its handle; the grip alternates between firm and loose, and the
//! spatula pitches a little while it is loose [Castro22, Sec. VI-D].
//!
//! ```text
//!            )   (        the bubbles close along y on the handle, which lies along x
//!   ░░░░░░░░░)▒▒▒(░░░░·────────   blade; the centre of mass is on its side of the grip
//!            )   (
//! ```
//!
//! Bubbles and handle have pressure fields. Shapes, moduli and masses are those of Drake's example of the same name. Its moment
//! of inertia is kept as the default, so that the motion is that of the paper; it is a thousand times that of a spatula of this
//! mass, 2.1e-4 kg·m².

use nalgebra::{Isometry3, Translation3, UnitQuaternion, Vector3};
use std::f64::consts::FRAC_PI_2;
use stiction_geom::Shape;
use stiction_mech::{
    ActuatorSpec, BodyId, BodySpec, JointKind, JointSpec, MassProperties, Transmission,
};
use stiction_scene::signal::{Interpolation, Signal, SignalController, SignalShape};
use stiction_scene::{Check, Scene, Verdict};
use stiction_sim::{
    Compliance, ContactModel, ContactPoint, Geom, Settings, Simulation, StepReport, Surface,
    WorldBuilder,
};

use super::{Scenario, parts};
use crate::error::StudyError;
use crate::parameters::{Parameter, Parameters};

/// The scenario.
pub const SCENARIO: Scenario = Scenario {
    name: "slip-control",
    cite: "Castro22",
    about: "a gripper with bubble pads holds a spatula, firmly and loosely by turns; it pitches only while loose",
    parameters: &[
        Parameter { name: "firm", default: 16.0, least: 0.0, most: 100.0, about: "grip [N]" },
        Parameter { name: "loose", default: 1.0, least: 0.0, most: 100.0, about: "grip [N]" },
        Parameter { name: "cycles", default: 3.0, least: 1.0, most: 100.0, about: "of 6 s" },
        Parameter { name: "friction", default: 1.0, least: 0.0, most: 10.0, about: "μ [-]" },
        Parameter {
            name: "inertia",
            default: 0.21,
            least: 1e-5,
            most: 10.0,
            about: "moment of inertia of the spatula about its centre of mass [kg·m²]",
        },
        Parameter {
            name: "resolution",
            default: 0.04,
            least: 0.002,
            most: 0.1,
            about: "length of the edges of the bubbles [m]",
        },
        Parameter {
            name: "handle-resolution",
            default: 0.01,
            least: 0.001,
            most: 0.05,
            about: "length of the edges of the handle [m]",
        },
    ],
    build,
};

/// Time of a cycle [s] and the firm part of it [-] [Castro22, Sec. VI-D].
const PERIOD: f64 = 6.0;
const DUTY: f64 = 0.75;
/// [s] [Castro22, Sec. VI-D].
const TIME_STEP: f64 = 5e-3;
/// Half axes of a bubble [m], its modulus [Pa], and the mass of a finger [kg].
const BUBBLE: [f64; 3] = [0.0625, 0.041_65, 0.041_65];
const BUBBLE_MODULUS: f64 = 1e5;
const FINGER_MASS: f64 = 0.1;
/// Radius and half length of the handle [m], and its modulus [Pa].
const HANDLE: (f64, f64) = (0.015, 0.055);
const HANDLE_MODULUS: f64 = 1e8;
/// The spatula.
const SPATULA: BodyId = BodyId(1);
/// Mass of the spatula [kg]; along the handle from its centre: the centre of mass, the blade and the grip [m].
const SPATULA_MASS: f64 = 0.068;
const CENTRE_OF_MASS: f64 = 0.0208;
const BLADE: f64 = 0.105;
const GRIP: f64 = -0.0234;
/// Depth of the bubbles in the handle at first [m].
const DEPTH: f64 = 0.005;
/// Dissipation time of each surface [s]; not published.
const DISSIPATION: f64 = 0.05;
/// Height of the handle [m].
const HEIGHT: f64 = 0.25;
/// After a change of the grip, the bubbles settle with the dissipation time of the contact; after ten of these they are at rest to
/// 5e-5 of the change.
const SETTLED: f64 = 20.0 * DISSIPATION;

fn build(parameters: &Parameters) -> Result<Scene, StudyError> {
    let friction = parameters.get("friction");
    let mut builder = WorldBuilder::new();
    let handle = yielding(HANDLE_MODULUS, parameters.get("handle-resolution"), friction);
    add_spatula(&mut builder, parameters.get("inertia"), handle)?;
    let pad = yielding(BUBBLE_MODULUS, parameters.get("resolution"), friction);
    let signals = [1.0, -1.0].map(|side| {
        let actuator = add_finger(&mut builder, side, pad)?;
        let course = grip(parameters.get("firm"), parameters.get("loose"));
        Ok::<_, StudyError>(Signal { actuator, course })
    });
    let signals = signals.into_iter().collect::<Result<Vec<_>, _>>()?;
    let settings = Settings {
        time_step: TIME_STEP,
        contact: ContactModel::Sap,
        solver: "sap".to_owned(),
        tolerance: 1e-3, // [Castro22, Sec. VI-D]
        ..Settings::default()
    };
    let gravity = builder.mechanism.declared().gravity.norm();
    let check = SlipControlCheck {
        slip_bound: friction * settings.near_rigid.sigma * gravity * TIME_STEP,
        mean_slip: 0.0,
        largest_slip: 0.0,
        phases: Vec::new(),
        moved: 0.0,
        contacts: [Mean::default(); 2],
        unconverged: 0,
    };
    let world = builder.build()?;
    let duration = PERIOD * parameters.get("cycles").round();
    Ok(Scene::new(world, settings, duration, check).controlled(SignalController::new(signals)))
}

/// Whether the grip is firm from a time on [s].
pub fn grip_is_firm(time: f64) -> bool {
    since_firm(time) < DUTY * PERIOD
}

/// Time since the beginning of the cycle [s]; times are sums of steps.
fn since_firm(time: f64) -> f64 {
    (time + 0.5 * TIME_STEP).rem_euclid(PERIOD)
}

/// Pitch of the spatula, the first body of the scenario, blade down [rad].
pub fn pitch_of(simulation: &mut Simulation) -> f64 {
    let along = simulation.body_pose(SPATULA.0).rotation * Vector3::x();
    (-along.z).atan2(along.x)
}

/// A square wave that begins with the firm grip [N].
fn grip(firm: f64, loose: f64) -> SignalShape {
    SignalShape::Waypoints {
        times: vec![0.0, DUTY * PERIOD, PERIOD],
        values: vec![firm, loose, firm],
        path: Interpolation::Stepped,
        repeat: true,
    }
}

fn yielding(modulus: f64, resolution: f64, friction: f64) -> Surface {
    let compliance = Compliance {
        dissipation: DISSIPATION,
        resolution: Some(resolution),
        ..Compliance::with_modulus(modulus)
    };
    Surface { compliance: Some(compliance), ..Surface::with_friction(friction) }
}

/// A spatula along x with its frame at the centre of the handle.
fn add_spatula(
    builder: &mut WorldBuilder,
    inertia: f64,
    surface: Surface,
) -> Result<(), StudyError> {
    let centre = Vector3::new(CENTRE_OF_MASS, 0.0, 0.0);
    let mass: MassProperties = parts::isotropic(SPATULA_MASS, centre, inertia)?;
    let body = builder.mechanism.body(BodySpec {
        name: "spatula".to_owned(),
        pose: Isometry3::translation(-GRIP, 0.0, HEIGHT),
        mass: Some(mass),
        ..BodySpec::default()
    });
    builder.mechanism.joint(body, JointSpec::new(JointKind::Free));
    let along_x = UnitQuaternion::from_axis_angle(&Vector3::y_axis(), FRAC_PI_2);
    let (radius, half_length) = HANDLE;
    let handle = Geom::new(body, Shape::cylinder(radius, half_length)?)
        .at(Isometry3::from_parts(Translation3::identity(), along_x))
        .surface(surface)
        .named("handle");
    builder.geom(handle.coloured(0.25, 0.25, 0.28));
    let blade = Geom::new(body, Shape::cuboid(Vector3::new(0.05, 0.04, 0.0005))?)
        .at(Isometry3::translation(BLADE, 0.0, 0.0))
        .coloured(0.7, 0.7, 0.72);
    builder.geom(blade);
    Ok(())
}

/// A finger that a force closes along y, with a bubble; `side` is that of the handle on which it is. Returns the index of its actuator.
fn add_finger(
    builder: &mut WorldBuilder,
    side: f64,
    surface: Surface,
) -> Result<usize, StudyError> {
    let name = if side > 0.0 { "left" } else { "right" };
    let away = side * (HANDLE.0 + BUBBLE[1] - DEPTH);
    let finger = builder.mechanism.body(BodySpec {
        name: name.to_owned(),
        pose: Isometry3::translation(0.0, away, HEIGHT),
        mass: Some(parts::isotropic(FINGER_MASS, Vector3::zeros(), 1e-4)?),
        ..BodySpec::default()
    });
    let slide = JointSpec::new(JointKind::Slide { axis: -side * Vector3::y() });
    let joint = builder.mechanism.joint(finger, JointSpec { name: name.to_owned(), ..slide });
    let bubble = Geom::new(finger, Shape::ellipsoid(Vector3::from(BUBBLE))?).surface(surface);
    builder.geom(bubble.named(format!("{name} bubble")).coloured(0.85, 0.55, 0.45));
    let plate = Geom::new(finger, Shape::cuboid(Vector3::new(0.06, 0.004, 0.03))?)
        .at(Isometry3::translation(0.0, side * BUBBLE[1], 0.0))
        .coloured(0.4, 0.4, 0.45);
    builder.geom(plate);
    let motor = ActuatorSpec::motor(name, Transmission::Joint(joint));
    Ok(builder.mechanism.actuator(motor).0)
}

/// A sum and how many numbers are in it.
#[derive(Clone, Copy, Default)]
struct Mean {
    sum: f64,
    count: f64,
}

impl Mean {
    fn add(&mut self, x: f64) {
        (self.sum, self.count) = (self.sum + x, self.count + 1.0);
    }

    fn value(&self) -> f64 {
        self.sum / self.count.max(1.0)
    }
}

/// How far the spatula pitches in each phase: little while the grip is firm and has settled, much while it is loose.
struct SlipControlCheck {
    /// Estimate of the slip of contacts that stick [m/s] [Castro22, Eq. (31)]. As in their Fig. 14 it is compared with the mean
    /// over contacts.
    slip_bound: f64,
    /// Largest mean over the contacts of a step while firm, and largest of all contacts [m/s].
    mean_slip: f64,
    largest_slip: f64,
    /// Whether each phase is firm, and the pitch at its beginning and end [rad].
    phases: Vec<(bool, [f64; 2])>,
    /// Largest distance of the handle from its first place at the grip [m].
    moved: f64,
    /// Contacts while firm and while loose.
    contacts: [Mean; 2],
    unconverged: usize,
}

/// Largest distance that the handle may move at the grip [m]: less than its radius.
const MOVED: f64 = 0.015;
/// Least angle of a loose phase over that of the firm ones [-], and the largest of all together [rad].
const MORE: f64 = 10.0;
const TURNED: f64 = FRAC_PI_2;

impl SlipControlCheck {
    /// Largest angle of a firm phase, least of a loose one, and their sum [rad].
    fn angles(&self) -> [f64; 3] {
        let angle = |(_, [from, to]): &(bool, [f64; 2])| to - from;
        let of = |firm: bool| self.phases.iter().filter(move |phase| phase.0 == firm).map(angle);
        [
            of(true).map(f64::abs).fold(0.0, f64::max),
            of(false).fold(f64::INFINITY, f64::min),
            of(true).chain(of(false)).sum(),
        ]
    }
}

/// Mean tangential speed over the contacts that carry load [m/s].
fn mean_slip(contacts: &[ContactPoint]) -> f64 {
    let mut mean = Mean::default();
    for contact in contacts.iter().filter(|c| c.force.dot(&c.normal) > 0.0) {
        let normal = contact.normal * contact.normal.dot(&contact.velocity);
        mean.add((contact.velocity - normal).norm());
    }
    mean.value()
}

impl Check for SlipControlCheck {
    fn observe(&mut self, simulation: &mut Simulation, report: &StepReport) {
        self.unconverged += usize::from(!report.converged());
        let pose = simulation.body_pose(SPATULA.0);
        let along = pose.rotation * Vector3::x();
        let pitch = pitch_of(simulation);
        let gripped = pose.translation.vector + along * GRIP - Vector3::new(0.0, 0.0, HEIGHT);
        self.moved = self.moved.max(gripped.norm());
        // The step that ends at this time had the grip of its beginning.
        let time = simulation.state().time - TIME_STEP;
        let is_firm = grip_is_firm(time);
        let loaded = simulation.contacts().iter().filter(|c| c.force.dot(&c.normal) > 0.0).count();
        if is_firm && since_firm(time) < SETTLED {
            return;
        }
        self.contacts[usize::from(!is_firm)].add(loaded as f64);
        if is_firm {
            self.mean_slip = self.mean_slip.max(mean_slip(simulation.contacts()));
            self.largest_slip = self.largest_slip.max(parts::largest_slip(simulation.contacts()));
        }
        match self.phases.last_mut() {
            Some((firm, angles)) if *firm == is_firm => angles[1] = pitch,
            _ => self.phases.push((is_firm, [pitch; 2])),
        }
    }

    fn verdict(&self) -> Verdict {
        let [firm, loose, all] = self.angles();
        Verdict {
            passed: self.mean_slip <= self.slip_bound
                && loose >= MORE * firm
                && loose > 0.0
                && loose.is_finite()
                && all <= TURNED
                && self.moved <= MOVED,
            detail: format!(
                "slip while firm {:.2e} m/s on average (bound {:.2e}), {:.2e} at most; the spatula pitched by at most {:.1e}° in a firm \
                 phase and at least {:.2}° in a loose one, {:.2}° in all; the handle moved by {:.2} mm at the \
                 grip (at most {:.0}); {:.0} contacts firm, {:.0} loose; {} steps missed the tolerance",
                self.mean_slip,
                self.slip_bound,
                self.largest_slip,
                firm.to_degrees(),
                loose.to_degrees(),
                all.to_degrees(),
                1e3 * self.moved,
                1e3 * MOVED,
                self.contacts[0].value(),
                self.contacts[1].value(),
                self.unconverged
            ),
        }
    }
}
