//! CARD-HOUSE: cards lean against one another in pairs, storey upon storey, with flat cards between.
//!
//! ```text
//!            /\             Ends are cut so that feet and tops are level and the tops of a pair
//!           /  \            meet in a vertical face.
//!        __________
//!          /\    /\
//!         /  \  /  \
//! ```
//! A card that leans at the angle α from the vertical carries its weight W and a load P on its top.
//! Moments about its foot give the thrust between the tops, which friction at the foot must hold:
//! `thrust / (W + P) = tan α (W/2 + P) / (W + P)`, between tan α / 2 without a load and tan α.

use nalgebra::{Isometry3, Vector2, Vector3};
use stiction_geom::Shape;
use stiction_scene::{Check, Scene, Verdict};
use stiction_sim::{Settings, Simulation, StepReport, Surface, WorldBuilder};

use super::Scenario;
use super::parts;
use crate::error::StudyError;
use crate::parameters::{Parameter, Parameters};

/// The scenario.
pub const SCENARIO: Scenario = Scenario {
    name: "card-house",
    cite: "",
    about: "a house of leaning and flat cards stands with enough friction and falls without",
    parameters: &[
        Parameter { name: "storeys", default: 3.0, least: 1.0, most: 20.0, about: "storeys" },
        Parameter { name: "friction", default: 0.6, least: 0.0, most: 10.0, about: "μ [-]" },
        Parameter {
            name: "lean",
            default: 0.35,
            least: 0.1,
            most: 0.8,
            about: "angle from the vertical [rad]",
        },
    ],
    build,
};

/// Length along the slope, width and thickness of a card [m], and its density [kg/m³].
const LENGTH: f64 = 0.088;
const WIDTH: f64 = 0.063;
const THICKNESS: f64 = 1e-3;
const DENSITY: f64 = 1000.0;
/// Distance between the feet of neighbours, and between flat cards of a storey [m].
const BETWEEN_FEET: f64 = 2e-3;
const BETWEEN_FLATS: f64 = 2e-4;
/// Part of the level top of a card that is cut off by the vertical face.
const BEVEL: f64 = 0.3;

/// The section of a card that leans to the right, its top at x ≤ 0.
struct Leaning {
    lean: f64,
}

impl Leaning {
    fn height(&self) -> f64 {
        LENGTH * self.lean.cos()
    }

    /// Width of the level foot [m].
    fn foot(&self) -> f64 {
        THICKNESS / self.lean.cos()
    }

    /// Distance from the vertical face to the outer end of the foot [m].
    fn reach(&self) -> f64 {
        (1.0 - BEVEL) * self.foot() + self.height() * self.lean.tan()
    }

    fn section(&self) -> [Vector2<f64>; 5] {
        let (cut, foot, height) = (BEVEL * self.foot(), self.foot(), self.height());
        let run = height * self.lean.tan();
        [
            Vector2::new(0.0, height),
            Vector2::new(cut - foot, height),
            Vector2::new(cut - foot - run, 0.0),
            Vector2::new(cut - run, 0.0),
            Vector2::new(0.0, height - cut / self.lean.tan()),
        ]
    }
}

fn build(parameters: &Parameters) -> Result<Scene, StudyError> {
    let card = Leaning { lean: parameters.get("lean") };
    let storeys = parameters.count("storeys");
    let friction = parameters.get("friction");
    let surface = Surface::with_friction(friction);
    let mut builder = WorldBuilder::new();
    parts::ground(&mut builder, surface);
    let pitch = 2.0 * card.reach() + BETWEEN_FEET;
    let storey_height = card.height() + THICKNESS;
    for storey in 0..storeys {
        let (pairs, floor) = (storeys - storey, storey as f64 * storey_height);
        let centre = |k: usize, count: usize| (k as f64 - 0.5 * (count as f64 - 1.0)) * pitch;
        for pair in 0..pairs {
            for side in [1.0, -1.0] {
                let name = format!("card-{storey}-{pair}{}", if side > 0.0 { "l" } else { "r" });
                let section = card.section().map(|p| Vector2::new(side * p.x, p.y));
                let at = Vector2::new(centre(pair, pairs), floor);
                plank(&mut builder, name, &section, at, surface)?;
            }
        }
        for flat in 0..pairs - 1 {
            let half = 0.5 * (pitch - BETWEEN_FLATS);
            let section = [(-half, 0.0), (half, 0.0), (half, THICKNESS), (-half, THICKNESS)]
                .map(|(x, z)| Vector2::new(x, z));
            let at = Vector2::new(centre(flat, pairs - 1), floor + card.height());
            plank(&mut builder, format!("flat-{storey}-{flat}"), &section, at, surface)?;
        }
    }
    // The foot may push at its inner end, the top at its upper one: friction below this cannot
    // hold even the cards of the highest storey. From tan α on, it holds all of them.
    let least = 0.5 * card.lean.tan() - 0.5 * card.foot() / card.height();
    let expected = if friction >= card.lean.tan() {
        Expected::Stands
    } else if friction < least {
        Expected::Falls
    } else {
        Expected::Either
    };
    let check = CardHouseCheck {
        expected,
        fall: 0.5 * card.height(),
        start: Vec::new(),
        energy: (0.0, 0.0),
        moved: 0.0,
    };
    Ok(Scene::new(builder.build()?, Settings::default(), 5.0, check))
}

/// A free body with a convex section in the plane of x and z.
fn plank(
    builder: &mut WorldBuilder,
    name: String,
    section: &[Vector2<f64>],
    at: Vector2<f64>,
    surface: Surface,
) -> Result<(), StudyError> {
    let centre = section.iter().sum::<Vector2<f64>>() / section.len() as f64;
    let sides = [-0.5 * WIDTH, 0.5 * WIDTH];
    let corners: Vec<_> = section
        .iter()
        .map(|p| p - centre)
        .flat_map(|p| sides.map(|y| Vector3::new(p.x, y, p.y)))
        .collect();
    let shape = Shape::convex(&corners)?;
    let mass = shape.mass_properties(DENSITY).0;
    let pose = Isometry3::translation(at.x + centre.x, 0.0, at.y + centre.y);
    parts::free_body(builder, name, shape, mass, pose, surface)?;
    Ok(())
}

/// Outcome that statics predicts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Expected {
    Stands,
    Falls,
    /// Depends on how loads distribute: only energy is judged.
    Either,
}

/// Stands or falls as statics expects, and never gains energy.
struct CardHouseCheck {
    expected: Expected,
    /// How far some card of a falling house gets at least [m].
    fall: f64,
    start: Vec<f64>,
    energy: (f64, f64),
    /// Farthest that a card is from its start [m].
    moved: f64,
}

/// Farthest that a card of a standing house may get [m].
const DRIFT: f64 = 1e-3;

impl Check for CardHouseCheck {
    fn begin(&mut self, simulation: &mut Simulation) {
        self.start = simulation.state().q.clone();
        self.energy = (simulation.energy(), simulation.energy());
    }

    fn observe(&mut self, simulation: &mut Simulation, _report: &StepReport) {
        self.energy.1 = simulation.energy();
        let cards = simulation.state().q.chunks_exact(7).zip(self.start.chunks_exact(7));
        let distance = |(now, then): (&[f64], &[f64])| {
            (Vector3::from_column_slice(&now[..3]) - Vector3::from_column_slice(&then[..3])).norm()
        };
        self.moved = cards.map(distance).fold(0.0, f64::max);
    }

    fn verdict(&self) -> Verdict {
        let (before, after) = self.energy;
        // Removal of penetration may lift the house within the slop of its joints.
        let gained = after > before * (1.0 + 1e-3);
        let (passed, expected) = match self.expected {
            Expected::Stands => (self.moved <= DRIFT, "it stands"),
            Expected::Falls => (self.moved >= self.fall, "it falls"),
            Expected::Either => (true, "either"),
        };
        Verdict {
            passed: passed && !gained,
            detail: format!(
                "farthest card {:.3e} mm from its start (by statics {expected}: at most {} mm if it \
                 stands, at least {:.1} mm if it falls); energy {before:.6} → {after:.6} J",
                1e3 * self.moved,
                1e3 * DRIFT,
                1e3 * self.fall
            ),
        }
    }
}
