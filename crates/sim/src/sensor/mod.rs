//! Sensors: readings of the state and of the last step of a mechanism.
//!
//! Readings of positions and velocities belong to the present state. Accelerations, forces and touch
//! belong to the last step: the generalized acceleration is `(v⁺ − v⁻)/h`, the forces are its
//! impulses over h, and all are evaluated in the configuration at the start of the step, where the
//! problem was assembled. Before the first step the mechanism counts as held: it has no acceleration
//! and no contacts, and the forces of actuators follow from the present input. Names and meanings are
//! MuJoCo's.
//!
//! One file per family. To add a sensor: a variant of [`SensorKind`] with its arms in `kind.rs`, its
//! reading in the file of its family, and one line in [`SENSORS`]. A world without sensors has
//! no cost, one with sensors costs a few copies per step; the rest is computed when they are read.

mod acceleration;
mod contact;
mod drive;
mod equality;
mod frame;
mod interaction;
mod kind;
mod last_step;
mod layout;
mod limit;
mod ray;
mod read;
mod separation;
mod spec;
mod string;
mod subtree;
mod touch;

pub use contact::{ContactFields, ContactQuery, ContactReduction, ContactSide};
pub use kind::SensorKind;
pub(crate) use kind::SensorTarget;
pub(crate) use last_step::{AcceptedStep, LastStep};
pub(crate) use layout::Layout;
pub use ray::{RayReadings, Scenery};
pub(crate) use read::SensorReader;
pub use separation::{SensedShapes, Separation, SeparationReading};
pub use spec::{SensorFrame, SensorSpec, TouchVolume};

/// One line of [`SENSORS`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SensorEntry {
    /// Name in files.
    pub name: &'static str,
    /// The quantity that it reads, in one line.
    pub about: &'static str,
    /// Numbers in a reading; of sensors that read what is asked for, those of the smallest reading.
    pub dim: usize,
}

const fn entry(name: &'static str, dim: usize, about: &'static str) -> SensorEntry {
    SensorEntry { name, about, dim }
}

/// Every sensor, in alphabetical order.
pub static SENSORS: &[SensorEntry] = &[
    entry("accelerometer", 3, "acceleration of a site less that of free fall, in its axes [m/s²]"),
    entry("actuatorfrc", 1, "force of an actuator before its gear [N or N·m]"),
    entry("actuatorpos", 1, "length of an actuator with its gear [m or rad]"),
    entry("actuatorvel", 1, "rate of an actuator with its gear [m/s or rad/s]"),
    entry("ballangvel", 3, "angular velocity of a ball joint, in the child's axes [rad/s]"),
    entry("ballquat", 4, "orientation of a ball joint as a quaternion (w, x, y, z)"),
    entry("clock", 1, "time [s]"),
    entry("contact", 1, "number, forces and places of the contacts that satisfy conditions"),
    entry("distance", 1, "smallest signed distance between two shapes or bodies [m]"),
    entry("e_kinetic", 1, "kinetic energy [J]"),
    entry("e_potential", 1, "potential energy of weight and springs [J]"),
    entry("force", 3, "force between a body and what carries it, in the axes of a site [N]"),
    entry("frameangacc", 3, "angular acceleration of a frame, in the world [rad/s²]"),
    entry(
        "frameangvel",
        3,
        "angular velocity of a frame, in the world or seen from a frame [rad/s]",
    ),
    entry("framelinacc", 3, "acceleration of a frame less that of free fall, in the world [m/s²]"),
    entry("framelinvel", 3, "velocity of a frame, in the world or seen from a frame [m/s]"),
    entry("framepos", 3, "position of a frame, in the world or seen from a frame [m]"),
    entry("framequat", 4, "orientation of a frame as a quaternion (w, x, y, z)"),
    entry("framexaxis", 3, "x-axis of a frame, in the world or seen from a frame"),
    entry("frameyaxis", 3, "y-axis of a frame, in the world or seen from a frame"),
    entry("framezaxis", 3, "z-axis of a frame, in the world or seen from a frame"),
    entry(
        "fromto",
        6,
        "ends of the shortest segment between two shapes or bodies, in the world [m]",
    ),
    entry("gyro", 3, "angular velocity of a site, in its axes [rad/s]"),
    entry("insidesite", 1, "1 if the origin of a frame is in a volume, else 0"),
    entry("jointactuatorfrc", 1, "force of all actuators on a joint's coordinate [N or N·m]"),
    entry("jointlimitfrc", 1, "force of the limit of a joint [N or N·m]"),
    entry(
        "jointlimitpos",
        1,
        "distance of a joint beyond the end of its range, below zero [m or rad]",
    ),
    entry("jointlimitvel", 1, "rate at which a joint leaves the end of its range [m/s or rad/s]"),
    entry("jointpos", 1, "coordinate of a joint [m or rad]"),
    entry("jointvel", 1, "velocity of a joint [m/s or rad/s]"),
    entry("magnetometer", 3, "a uniform magnetic field, in the axes of a site"),
    entry(
        "normal",
        3,
        "direction of the shortest segment between two shapes or bodies, in the world",
    ),
    entry("rangefinder", 1, "distance along a ray to the first shape [m], −1 if there is none"),
    entry("subtreeangmom", 3, "angular momentum of a subtree about its centre of mass [kg·m²/s]"),
    entry("subtreecom", 3, "centre of mass of a body with all that it carries, in the world [m]"),
    entry("subtreelinvel", 3, "velocity of the centre of mass of a subtree, in the world [m/s]"),
    entry("tendonactuatorfrc", 1, "force of all actuators on a tendon [N or N·m]"),
    entry("tendonlimitfrc", 1, "force of the limit of a tendon [N or N·m]"),
    entry(
        "tendonlimitpos",
        1,
        "distance of a tendon beyond the end of its range, below zero [m or rad]",
    ),
    entry("tendonlimitvel", 1, "rate at which a tendon leaves the end of its range [m/s or rad/s]"),
    entry("tendonpos", 1, "length of a tendon [m or rad]"),
    entry("tendonvel", 1, "rate of a tendon [m/s or rad/s]"),
    entry("torque", 3, "torque between a body and what carries it, in the axes of a site [N·m]"),
    entry("touch", 1, "normal contact force on a body within a volume [N]"),
    entry("user", 1, "numbers that users compute; zeros here"),
    entry("velocimeter", 3, "velocity of a site, in its axes [m/s]"),
];
