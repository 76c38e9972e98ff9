//! Solids given by signed distance fields: the dishes and bottles of [Lee25, App. B], and an M48 bolt with its nut.
//!
//! A dish is a line from the axis over one or two corners to its rim, of even thickness, revolved about z [Lee25, Eq. (46)].
//! The origin of each lies in the middle of its bottom, half the thickness above what it stands on.

use nalgebra::Isometry3;
use std::sync::Arc;
use stiction_geom::field::{Profile, Thread};
use stiction_geom::{FieldSolid, Shape};
use stiction_mech::BodyId;
use stiction_sim::{Surface, WorldBuilder};

use super::parts;
use crate::error::StudyError;

/// Mass of a bowl [kg] [Lee25, Sec. VII-B].
pub const BOWL_MASS: f64 = 0.1;
/// Mass of a plate [kg] [Lee25, Sec. VII-B].
pub const PLATE_MASS: f64 = 0.1;
/// Mass of a pot [kg] [Lee25, Sec. VII-B].
pub const POT_MASS: f64 = 5.0;
/// Mass of an empty bottle [kg].
pub const BOTTLE_MASS: f64 = 0.1;
/// Thickness of bowls, plates and bottles [m].
pub const THICKNESS: f64 = 0.005;
/// Thickness of pots [m].
pub const POT_THICKNESS: f64 = 0.008;
/// Radius of a bottle, of the middle of its wall [m].
pub const BOTTLE_RADIUS: f64 = 0.035;
/// Radius of the mouth of a bottle [m].
pub const BOTTLE_MOUTH: f64 = 0.026;
/// Height of the mouth of a bottle [m].
pub const BOTTLE_HEIGHT: f64 = 0.13;
/// Middle of the rim of a bowl (ρ, z) [m].
pub const BOWL_RIM: [f64; 2] = [0.07, 0.04];
/// Middle of the rim of a plate (ρ, z) [m].
pub const PLATE_RIM: [f64; 2] = [0.115, 0.018];
/// Middle of the rim of a pot (ρ, z) [m]; its wall is upright.
pub const POT_RIM: [f64; 2] = [0.075, 0.09];
/// Corners and rims (ρ, z) [m].
const BOWL: [[f64; 2]; 3] = [[0.0, 0.0], [0.035, 0.0], BOWL_RIM];
const PLATE: [[f64; 2]; 3] = [[0.0, 0.0], [0.085, 0.0], PLATE_RIM];
const POT: [[f64; 2]; 3] = [[0.0, 0.0], [POT_RIM[0], 0.0], POT_RIM];
const BOTTLE: [[f64; 2]; 4] =
    [[0.0, 0.0], [BOTTLE_RADIUS, 0.0], [BOTTLE_RADIUS, 0.1], [BOTTLE_MOUTH, BOTTLE_HEIGHT]];
/// Density of steel [kg/m³].
const STEEL: f64 = 7850.0;

/// A homogeneous solid with its mass.
#[derive(Clone, Debug)]
pub struct FieldPart {
    /// The solid, its axis along z.
    pub shape: Shape,
    /// Mass [kg].
    pub mass: f64,
}

impl FieldPart {
    /// Adds a free body of this solid.
    pub fn add(
        &self,
        builder: &mut WorldBuilder,
        name: impl Into<String>,
        pose: Isometry3<f64>,
        surface: Surface,
    ) -> Result<BodyId, StudyError> {
        parts::free_body(builder, name, self.shape.clone(), self.mass, pose, surface)
    }
}

/// A bowl: a flat bottom and a conical wall, so that bowls fit into one another.
pub fn bowl() -> Result<FieldPart, StudyError> {
    revolved(&BOWL, THICKNESS, BOWL_MASS)
}

/// A plate: a flat bottom wider than the rim of a bowl, and a low rim.
pub fn plate() -> Result<FieldPart, StudyError> {
    revolved(&PLATE, THICKNESS, PLATE_MASS)
}

/// A pot: a flat bottom that fits on a plate, and an upright wall.
pub fn pot() -> Result<FieldPart, StudyError> {
    revolved(&POT, POT_THICKNESS, POT_MASS)
}

/// An open bottle: an upright wall that draws in towards the mouth.
pub fn bottle() -> Result<FieldPart, StudyError> {
    revolved(&BOTTLE, THICKNESS, BOTTLE_MASS)
}

/// A solid of revolution about z: a line through points (ρ, z) [m] with a thickness [m].
pub fn revolved(line: &[[f64; 2]], thickness: f64, mass: f64) -> Result<FieldPart, StudyError> {
    let solid = FieldSolid::Revolve(Arc::new(Profile::line(line, thickness)?));
    Ok(FieldPart { shape: Shape::field(solid, None)?, mass })
}

/// An M48 bolt of steel of the half length [m], threaded all along, its middle at the origin.
pub fn m48_bolt(half_length: f64) -> Result<FieldPart, StudyError> {
    steel(Thread::m48_bolt(half_length))
}

/// A nut of steel for it, of the half length [m], with a clearance between the flanks [m].
pub fn m48_nut(half_length: f64, clearance: f64) -> Result<FieldPart, StudyError> {
    steel(Thread::m48_nut(half_length, clearance))
}

fn steel(thread: Thread) -> Result<FieldPart, StudyError> {
    let shape = Shape::field(FieldSolid::Thread(thread), None)?;
    let (mass, _, _) = shape.mass_properties(STEEL);
    Ok(FieldPart { shape, mass })
}

/// A dish of the pile with its height.
#[derive(Clone, Debug)]
pub struct PiledDish {
    /// Name, from below `bowl-0`, `bowl-1`, `plate`, `pot`.
    pub name: &'static str,
    /// The dish.
    pub part: FieldPart,
    /// Height of its origin in the pile [m].
    pub height: f64,
    /// Thickness [m].
    pub thickness: f64,
}

impl PiledDish {
    /// Height of its origin when it stands on the floor [m].
    pub fn floor_height(&self) -> f64 {
        0.5 * self.thickness
    }
}

/// Bowl, bowl, plate and pot on a floor at z = 0, each `gap` [m] above where it touches the one below.
pub fn pile(gap: f64) -> Result<[PiledDish; 4], StudyError> {
    let [_, corner, rim] = BOWL;
    let (run, rise) = (rim[0] - corner[0], rim[1] - corner[1]);
    // The walls of two bowls are parallel: their distance along the axis is the thickness over the cosine of the slope.
    let nested = THICKNESS * run.hypot(rise) / run;
    let first = 0.5 * THICKNESS + gap;
    let second = first + nested + gap;
    let plate_at = second + rim[1] + THICKNESS + gap;
    let pot_at = plate_at + 0.5 * (THICKNESS + POT_THICKNESS) + gap;
    Ok([
        PiledDish { name: "bowl-0", part: bowl()?, height: first, thickness: THICKNESS },
        PiledDish { name: "bowl-1", part: bowl()?, height: second, thickness: THICKNESS },
        PiledDish { name: "plate", part: plate()?, height: plate_at, thickness: THICKNESS },
        PiledDish { name: "pot", part: pot()?, height: pot_at, thickness: POT_THICKNESS },
    ])
}
