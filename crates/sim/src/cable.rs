//! Cables: their declaration, and the bodies, shapes and rod that represent them.
//!
//! A cable is a row of free bodies, `<name>/0`, `<name>/1`, …, each with a capsule and the mass of a
//! cylinder, joined by a [`mech::Rod`](stiction_mech::Rod). In state, contacts, recordings and
//! snapshots these are ordinary bodies. A cable collides with everything and with itself, except for
//! segments so near along the cable that no bend of a round section can separate them.
//!
//! An end may be attached to any body. To one that never moves it is bound by the rod's own
//! matrix; to a robot or a driven body by six soft rows with the stiffness and damping of half a
//! segment, which are as implicit as the rod: see [`clamp`]. A cable sleeps as a whole or not at all.

pub(crate) mod clamp;
mod path;

use nalgebra::{Isometry3, Matrix3, Translation3, UnitQuaternion, Vector3};
use stiction_geom::{Groups, Shape};
use stiction_mech::{
    BodyId, BodySpec, JointKind, JointSpec, MassProperties, RodEnd, RodId, RodRest, RodSpec,
};

use crate::error::WorldError;
use crate::surface::Surface;
use crate::world::{Geom, World, WorldBuilder};

/// Most segments of one cable.
const MOST_SEGMENTS: usize = 100_000;
/// Most pairs of segments of one cable that are too near to one another to collide.
const MOST_NEAR_PAIRS: usize = 4_000_000;

/// A cable of a world or a builder.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct CableId(pub usize);

/// Where a cable lies in the reference configuration.
#[derive(Clone, Debug, PartialEq)]
pub enum CableCourse {
    /// Straight, from the origin of a pose along its z axis.
    Straight {
        /// The first end.
        pose: Isometry3<f64>,
        /// The length [m].
        length: f64,
    },
    /// Along the lines between points in the world [m], from the first to the last, without twist.
    /// Segments are chords of equal length.
    Path(Vec<Vector3<f64>>),
}

/// Attachment of an end of a cable.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum CableEnd {
    /// Nothing.
    #[default]
    Free,
    /// A frame on a body: the end is held at its origin, and the cable runs along its z axis, which
    /// points into the cable at the first end and out of it at the second.
    Attached {
        /// The body.
        body: BodyId,
        /// Pose of the frame in that of the body.
        pose: Isometry3<f64>,
    },
    /// A body, in the pose that the end has relative to it in the reference configuration.
    Held(BodyId),
}

/// A cable as the user declares it: round, homogeneous, isotropic.
#[derive(Clone, Debug)]
pub struct CableSpec {
    /// Name, empty or different from all others.
    pub name: String,
    /// Where it lies.
    pub course: CableCourse,
    /// Number of segments.
    pub segments: usize,
    /// Radius [m].
    pub radius: f64,
    /// Density [kg/m³].
    pub density: f64,
    /// Young's modulus [Pa].
    pub young: f64,
    /// Poisson's ratio [-].
    pub poisson: f64,
    /// Time [s] of Kelvin-Voigt damping of its strains.
    pub damping: f64,
    /// Rate [1/s] of damping by a medium at rest.
    pub mass_damping: f64,
    /// The shape at rest.
    pub rest: RodRest,
    /// Its surface.
    pub surface: Surface,
    /// Collision groups.
    pub groups: Groups,
    /// Red, green, blue and opacity, each from 0 to 1.
    pub colour: [f32; 4],
    /// Attachments of its two ends.
    pub ends: [CableEnd; 2],
}

impl Default for CableSpec {
    /// One metre of soft rubber hose, hanging from the origin.
    fn default() -> Self {
        let down = UnitQuaternion::from_axis_angle(&Vector3::x_axis(), std::f64::consts::PI);
        Self {
            name: String::new(),
            course: CableCourse::Straight {
                pose: Isometry3::from_parts(Translation3::identity(), down),
                length: 1.0,
            },
            segments: 50,
            radius: 5e-3,
            density: 1100.0,
            young: 3e6,
            poisson: 0.49,
            damping: 1e-2,
            mass_damping: 0.0,
            rest: RodRest::Straight,
            surface: Surface::default(),
            groups: Groups::default(),
            colour: [0.15, 0.15, 0.18, 1.0],
            ends: [CableEnd::Free; 2],
        }
    }
}

/// A cable as a world keeps it.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Cable {
    /// Its declaration, with the ids of the builder.
    pub spec: CableSpec,
    /// Its segments, from the first end to the second.
    pub bodies: Vec<BodyId>,
    /// Its rod.
    pub rod: RodId,
    /// Length of a segment [m].
    pub segment_length: f64,
}

impl CableSpec {
    /// Poses of the segments in the reference configuration and their length [m], or an error.
    fn placed(&self) -> Result<(Vec<Isometry3<f64>>, f64), WorldError> {
        let wrong = |what: String, expected| {
            Err(WorldError::Cable { name: self.name.clone(), what, expected })
        };
        if self.segments == 0 || self.segments > MOST_SEGMENTS {
            return wrong(format!("segments = {}", self.segments), "1 to 100000");
        }
        for (what, found) in [
            ("radius [m]", self.radius),
            ("density [kg/m³]", self.density),
            ("Young's modulus [Pa]", self.young),
        ] {
            if !(found > 0.0 && found.is_finite()) {
                return wrong(format!("{what} = {found}"), "a finite number > 0");
            }
        }
        let (poses, length) = self.laid()?;
        if self.least_distance(length).saturating_mul(self.segments) > MOST_NEAR_PAIRS {
            let what = format!(
                "{} segments of {length} m at a radius of {} m",
                self.segments, self.radius
            );
            return wrong(what, "fewer or longer segments for this radius");
        }
        Ok((poses, length))
    }

    /// Poses and length of the segments along the course.
    fn laid(&self) -> Result<(Vec<Isometry3<f64>>, f64), WorldError> {
        let wrong = |what: String, expected| {
            Err(WorldError::Cable { name: self.name.clone(), what, expected })
        };
        match &self.course {
            CableCourse::Straight { pose, length } => {
                let mut numbers = pose.translation.vector.iter().chain(pose.rotation.coords.iter());
                if let Some(found) = numbers.find(|x| !x.is_finite()) {
                    return wrong(format!("pose of the first end with {found}"), "finite numbers");
                }
                if !(*length > 0.0 && length.is_finite()) {
                    return wrong(format!("length [m] = {length}"), "a finite number > 0");
                }
                let step = length / self.segments as f64;
                let along = |k: usize| Translation3::new(0.0, 0.0, (k as f64 + 0.5) * step);
                Ok(((0..self.segments).map(|k| pose * along(k)).collect(), step))
            }
            CableCourse::Path(points) => match path::chords(points, self.segments) {
                Ok(placed) => Ok(placed),
                Err(fault) => wrong(fault.what, fault.expected),
            },
        }
    }

    /// Mass properties of a segment of some length [m]: those of a cylinder.
    fn mass(&self, length: f64) -> Option<MassProperties> {
        let r2 = self.radius * self.radius;
        let mass = self.density * std::f64::consts::PI * r2 * length;
        let across = mass * (0.25 * r2 + length * length / 12.0);
        let inertia = Vector3::new(across, across, 0.5 * mass * r2);
        MassProperties::new(mass, Vector3::zeros(), Matrix3::from_diagonal(&inertia)).ok()
    }

    /// Number of segments by which two must be apart along the cable to collide. Cores that are
    /// `(k − 1) l` apart along the cable can come within a diameter of one another by
    /// bending alone if the cable can turn around between them, on a half circle of its own radius.
    fn least_distance(&self, segment_length: f64) -> usize {
        let between = (std::f64::consts::PI * self.radius / segment_length).ceil();
        1 + (between as usize).clamp(1, self.segments)
    }
}

impl WorldBuilder {
    /// Declares a cable: bodies, joints, shapes, exclusions and a rod. Errors in it are
    /// reported when the world is built.
    pub fn cable(&mut self, spec: CableSpec) -> CableId {
        let mut cable = Cable { bodies: Vec::new(), rod: RodId(0), segment_length: 0.0, spec };
        if let Ok((poses, length)) = cable.spec.placed() {
            cable.segment_length = length;
            self.add_segments(&mut cable, &poses);
        }
        self.cables.push(cable);
        CableId(self.cables.len() - 1)
    }

    fn add_segments(&mut self, cable: &mut Cable, poses: &[Isometry3<f64>]) {
        let (spec, length) = (&cable.spec, cable.segment_length);
        // The numbers were checked; if the mass overflows all the same, the model reports its absence.
        let (mass, shape) = (spec.mass(length), Shape::capsule(spec.radius, 0.5 * length));
        for (k, pose) in poses.iter().enumerate() {
            let name =
                if spec.name.is_empty() { String::new() } else { format!("{}/{k}", spec.name) };
            let body = self.mechanism.body(BodySpec {
                name: name.clone(),
                pose: *pose,
                mass,
                ..BodySpec::default()
            });
            self.mechanism.joint(body, JointSpec::new(JointKind::Free));
            if let Ok(shape) = &shape {
                let mut geom = Geom::new(body, shape.clone()).surface(spec.surface).named(name);
                (geom.groups, geom.colour) = (spec.groups, spec.colour);
                self.geom(geom);
            }
            cable.bodies.push(body);
        }
        for distance in 1..spec.least_distance(length) {
            for k in distance..cable.bodies.len() {
                self.exclude(cable.bodies[k - distance], cable.bodies[k]);
            }
        }
        let half = Translation3::new(0.0, 0.0, 0.5 * length);
        let tips = [poses[0] * half.inverse(), poses[poses.len() - 1] * half];
        let end = |end: usize| match spec.ends[end] {
            CableEnd::Free => RodEnd::Free,
            CableEnd::Attached { body, pose } => RodEnd::Clamped { body, pose },
            CableEnd::Held(body) => {
                RodEnd::Clamped { body, pose: self.reference_pose(body).inverse() * tips[end] }
            }
        };
        let ends = [end(0), end(1)];
        cable.rod = self.mechanism.rod(RodSpec {
            name: spec.name.clone(),
            segments: cable.bodies.clone(),
            segment_length: length,
            radius: spec.radius,
            young: spec.young,
            poisson: spec.poisson,
            damping: spec.damping,
            mass_damping: spec.mass_damping,
            rest: spec.rest,
            ends,
        });
        // An attached end lies inside the body that it is attached to.
        for (end, segment) in [(0, cable.bodies[0]), (1, cable.bodies[cable.bodies.len() - 1])] {
            if let RodEnd::Clamped { body, .. } = ends[end]
                && body != BodyId::WORLD
            {
                self.exclude(segment, body);
            }
        }
    }

    /// Pose in the world of a declared body in the reference configuration; the world's if the body
    /// does not exist.
    pub(crate) fn reference_pose(&self, body: BodyId) -> Isometry3<f64> {
        let bodies = self.mechanism.declared().bodies;
        let (mut pose, mut at) = (Isometry3::identity(), body);
        while at != BodyId::WORLD {
            let Some(spec) = bodies.get(at.0) else { break };
            pose = spec.pose * pose;
            // A parent declared after its child is an error, which the model reports.
            if spec.parent.0 >= at.0 {
                break;
            }
            at = spec.parent;
        }
        pose
    }
}

/// Checks the cables of a builder and gives them the model's ids.
pub(crate) fn checked(
    cables: Vec<Cable>,
    renumber: &crate::world::Renumber,
) -> Result<Vec<Cable>, WorldError> {
    let renumbered = |mut cable: Cable| {
        for body in &mut cable.bodies {
            *body = renumber.body(*body, || format!("cable \"{}\"", cable.spec.name))?;
        }
        Ok(cable)
    };
    cables.into_iter().map(renumbered).collect()
}

/// Checks the cables of a builder before its mechanism is built.
pub(crate) fn check(cables: &[Cable]) -> Result<(), WorldError> {
    cables.iter().try_for_each(|cable| cable.spec.placed().map(|_| ()))
}

impl World {
    /// The cables, in the order of their declaration.
    pub fn cables(&self) -> &[Cable] {
        &self.cables
    }

    /// The cable of this name.
    pub fn cable(&self, name: &str) -> Option<CableId> {
        let found = self.cables.iter().position(|cable| cable.spec.name == name);
        found.filter(|_| !name.is_empty()).map(CableId)
    }
}
