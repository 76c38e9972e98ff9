//! Sensors: readings of the state and of the last step of a mechanism.
//!
//! Readings of positions and velocities belong to the present state. Accelerations, forces and touch
//! belong to the last step: the generalized acceleration is `(v⁺ − v⁻)/h`, the forces are its
//! impulses over h, and all are evaluated in the configuration at the start of the step, where the
//! problem was assembled. Before the first step the mechanism counts as held: it has no acceleration
//! and no contacts, and the forces of actuators follow from the present input. Names and meanings are
//! MuJoCo's.
//!
//! One file per family. To add a sensor: a variant of [`SensorKind`] with its arms in `spec.rs`, its
//! reading in the file of its family, and one line in [`SENSORS`]. A world without sensors has
//! no cost, one with sensors costs a few copies per step; the rest is computed when they are read.

mod acceleration;
mod drive;
mod equality;
mod frame;
mod interaction;
mod last_step;
mod layout;
mod read;
mod spec;
mod string;
mod touch;

pub(crate) use last_step::{AcceptedStep, LastStep};
pub(crate) use layout::Layout;
pub(crate) use read::SensorReader;
pub use spec::{SensorFrame, SensorKind, SensorSpec, TouchVolume};

/// One line of [`SENSORS`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SensorEntry {
    /// Name in files.
    pub name: &'static str,
    /// The quantity that it reads, in one line.
    pub about: &'static str,
    /// Numbers in a reading.
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
    entry("gyro", 3, "angular velocity of a site, in its axes [rad/s]"),
    entry("jointactuatorfrc", 1, "force of all actuators on a joint's coordinate [N or N·m]"),
    entry("jointpos", 1, "coordinate of a joint [m or rad]"),
    entry("jointvel", 1, "velocity of a joint [m/s or rad/s]"),
    entry("magnetometer", 3, "a uniform magnetic field, in the axes of a site"),
    entry("subtreecom", 3, "centre of mass of a body with all that it carries, in the world [m]"),
    entry("tendonpos", 1, "length of a tendon [m or rad]"),
    entry("tendonvel", 1, "rate of a tendon [m/s or rad/s]"),
    entry("torque", 3, "torque between a body and what carries it, in the axes of a site [N·m]"),
    entry("touch", 1, "normal contact force on a body within a volume [N]"),
    entry("velocimeter", 3, "velocity of a site, in its axes [m/s]"),
];
