//! ARCH: a semicircular masonry arch of rigid wedges, held up by friction and its own weight.
//!
//! ```text
//!         _ keystone _
//!       /  \________/  \        A joint lies at each angle φ from the crown; the springing
//!      /__/          \__\       joints (φ = 90°) are the ground.
//!     |__|            |__|
//! ```
//! Whether it can stand is a question of statics, answered apart from the simulation by a thrust
//! line: at the crown of a symmetric arch the resultant is horizontal, `(H, M = H z)`, and at every
//! joint it must pass between the edges and lie within the cone of friction (limit analysis of
//! masonry, Heyman). Without such a line the arch falls; with one, it stands.

use nalgebra::{Isometry3, Vector2, Vector3};
use std::f64::consts::PI;
use stiction_geom::Shape;
use stiction_mech::BodyId;
use stiction_scene::{Check, Scene, Verdict};
use stiction_sim::{Settings, Simulation, StepReport, Surface, WorldBuilder};

use super::Scenario;
use super::parts;
use crate::error::StudyError;
use crate::parameters::{Parameter, Parameters};

/// The scenario.
pub const SCENARIO: Scenario = Scenario {
    name: "arch",
    cite: "",
    about: "a masonry arch of rigid wedges stands if a thrust line exists, and falls otherwise",
    parameters: &[
        Parameter { name: "blocks", default: 7.0, least: 3.0, most: 101.0, about: "wedges" },
        Parameter { name: "friction", default: 1.0, least: 0.0, most: 10.0, about: "μ [-]" },
        Parameter {
            name: "inner",
            default: 0.9,
            least: 0.1,
            most: 10.0,
            about: "inner radius [m]",
        },
        Parameter {
            name: "outer",
            default: 1.1,
            least: 0.11,
            most: 20.0,
            about: "outer radius [m], larger than the inner",
        },
    ],
    build,
};

/// Depth of the arch along y [m], and density of stone [kg/m³].
const DEPTH: f64 = 0.2;
const DENSITY: f64 = 2300.0;

fn build(parameters: &Parameters) -> Result<Scene, StudyError> {
    let geometry = Geometry {
        blocks: parameters.count("blocks"),
        inner: parameters.get("inner"),
        outer: parameters.get("outer"),
        lifted: 0.0,
    };
    let friction = parameters.get("friction");
    if !(geometry.inner < geometry.outer) {
        return Err(StudyError::Parameter {
            scenario: SCENARIO.name,
            name: "outer",
            found: geometry.outer.to_string(),
            least: geometry.inner,
            most: 20.0,
        });
    }
    let mut builder = WorldBuilder::new();
    let surface = Surface::with_friction(friction);
    parts::ground(&mut builder, surface);
    let mut keystone = BodyId::WORLD;
    for block in 0..geometry.blocks {
        let section = geometry.section(block);
        let centre = section.iter().sum::<Vector2<f64>>() / section.len() as f64;
        let corners: Vec<_> = section
            .iter()
            .map(|p| p - centre)
            .flat_map(|p| [-0.5, 0.5].map(|side| Vector3::new(p.x, side * DEPTH, p.y)))
            .collect();
        let shape = Shape::convex(&corners)?;
        let mass = shape.mass_properties(DENSITY).0;
        let pose = Isometry3::translation(centre.x, 0.0, centre.y);
        let name = format!("wedge-{block}");
        let body = parts::free_body(&mut builder, name, shape, mass, pose, surface)?;
        if block == geometry.blocks / 2 {
            keystone = body;
        }
    }
    let world = builder.build()?;
    let gravity = world.model().gravity().norm();
    let check = ArchCheck {
        stands: geometry.has_thrust_line(friction),
        sag: 0.5 * (geometry.outer - geometry.inner),
        weight: gravity * DENSITY * DEPTH * geometry.blocks as f64 * area(&geometry.section(0)),
        keystone,
        start: Vector3::zeros(),
        moved: 0.0,
        support: f64::NAN,
    };
    let settings = Settings { time_step: 0.01, ..Settings::default() };
    Ok(Scene::new(world, settings, 10.0, check))
}

/// Wedges of a semicircle in the plane of x and z.
pub(super) struct Geometry {
    pub(super) blocks: usize,
    /// Radii on which the corners of the wedges lie [m].
    pub(super) inner: f64,
    pub(super) outer: f64,
    /// How far the inner edges of the lowest wedges are above the ground [m]: on it with their faces, or
    /// balanced on their outer edges.
    pub(super) lifted: f64,
}

impl Geometry {
    /// Direction of a joint from the centre; joint 0 stands on the ground at x > 0.
    fn joint(&self, index: usize) -> Vector2<f64> {
        let angle = PI * index as f64 / self.blocks as f64;
        // The springing joints lie on the ground exactly.
        let z = if index == 0 || index == self.blocks { 0.0 } else { angle.sin() };
        Vector2::new(angle.cos(), z)
    }

    /// Corners of a wedge, in order around it.
    pub(super) fn section(&self, block: usize) -> [Vector2<f64>; 4] {
        let (low, high) = (self.joint(block), self.joint(block + 1));
        let mut corners =
            [low * self.inner, low * self.outer, high * self.outer, high * self.inner];
        if block == 0 {
            corners[0].y += self.lifted;
        }
        if block + 1 == self.blocks {
            corners[3].y += self.lifted;
        }
        corners
    }

    /// Whether forces exist that balance the weight, within every joint and every cone of friction.
    ///
    /// A symmetric arch has a symmetric thrust line if it has any: the mean of one and its mirror
    /// image. All conditions are linear in the thrust H and its moment M about the centre, so that
    /// the room left for M is a concave function of H: its maximum is bracketed and cut by thirds.
    pub(super) fn has_thrust_line(&self, friction: f64) -> bool {
        let weight: f64 = self.blocks as f64 * area(&self.section(0)); // in units of ρ g depth
        let (mut low, mut high) = (0.0, 10.0 * weight);
        for _ in 0..200 {
            let (a, b) = (low + (high - low) / 3.0, high - (high - low) / 3.0);
            if self.room(a, friction) < self.room(b, friction) {
                low = a;
            } else {
                high = b;
            }
        }
        // On an edge there is no room to spare, but for round-off.
        self.room(0.5 * (low + high), friction) >= -1e-12 * weight
    }

    /// Least slack of all conditions at a thrust H; negative if one is violated.
    fn room(&self, thrust: f64, friction: f64) -> f64 {
        let (mut least, mut most, mut cone) = (f64::MIN, f64::MAX, f64::MAX);
        let (mut weight, mut moment) = (0.0, 0.0); // of the half arch between crown and joint
        for joint in (0..=self.blocks / 2).rev() {
            // Wedge above this joint; of a keystone, the half at x > 0.
            let section = self.section(joint);
            if 2 * joint + 1 == self.blocks {
                let (half_area, half_moment) = half(&section);
                weight += half_area;
                moment += half_moment;
            } else if 2 * joint < self.blocks {
                weight += area(&section);
                moment += area(&section) * centroid(&section).x;
            }
            // The stones above push on the joint with (H, −V): along the joint's normal and along it.
            let along = self.joint(joint);
            let normal = thrust * along.y + weight * along.x;
            let shear = thrust * along.x - weight * along.y;
            cone = cone.min(friction * normal - shear.abs());
            // Moment about the centre: that of the crown's thrust M, and of the weight. The
            // resultant crosses the joint at the distance s = (M + weight moment) / normal.
            let on_edge = joint == 0 && self.lifted > 0.0;
            let innermost = if on_edge { self.outer } else { self.inner };
            least = least.max(innermost * normal - moment);
            most = most.min(self.outer * normal - moment);
        }
        (most - least).min(cone)
    }
}

/// Area of a polygon [m²].
pub(super) fn area(corners: &[Vector2<f64>]) -> f64 {
    0.5 * edges(corners).map(|(a, b)| a.perp(&b)).sum::<f64>().abs()
}

/// Centre of area of a polygon [m].
fn centroid(corners: &[Vector2<f64>]) -> Vector2<f64> {
    let twice: f64 = edges(corners).map(|(a, b)| a.perp(&b)).sum();
    edges(corners).map(|(a, b)| (a + b) * a.perp(&b)).sum::<Vector2<f64>>() / (3.0 * twice)
}

fn edges(corners: &[Vector2<f64>]) -> impl Iterator<Item = (Vector2<f64>, Vector2<f64>)> + '_ {
    corners.iter().zip(corners.iter().cycle().skip(1)).map(|(a, b)| (*a, *b))
}

/// Area [m²] and first moment of area about z [m³] of the half of a keystone at x > 0.
fn half(section: &[Vector2<f64>; 4]) -> (f64, f64) {
    let [inner, outer, ..] = *section;
    let corners = [inner, outer, Vector2::new(0.0, outer.y), Vector2::new(0.0, inner.y)];
    (area(&corners), area(&corners) * centroid(&corners).x)
}

/// The keystone stays or falls as statics predicts; a standing arch rests on the ground with its weight.
struct ArchCheck {
    /// Whether statics lets the arch stand.
    stands: bool,
    /// How far the keystone of a falling arch moves at least [m].
    sag: f64,
    /// Weight of the arch [N].
    weight: f64,
    keystone: BodyId,
    start: Vector3<f64>,
    moved: f64,
    support: f64,
}

/// Largest displacement of the keystone of a standing arch [m]: what closes the slop of the joints.
const DISPLACEMENT: f64 = 1e-4;
/// Largest relative error of the force on the ground: ten times the tolerance of the step, for the
/// two springers add up the errors of all wedges.
const SUPPORT: f64 = 1e-5;

impl Check for ArchCheck {
    fn begin(&mut self, simulation: &mut Simulation) {
        self.start = parts::position(simulation.world(), simulation.state(), self.keystone);
    }

    fn observe(&mut self, simulation: &mut Simulation, _report: &StepReport) {
        let now = parts::position(simulation.world(), simulation.state(), self.keystone);
        self.moved = (now - self.start).norm();
        let on_ground = simulation.contacts().iter().filter(|c| c.geoms.contains(&0));
        let lift = |geoms: [usize; 2]| if geoms[0] == 0 { 1.0 } else { -1.0 };
        self.support = on_ground.map(|c| lift(c.geoms) * c.force.z).sum();
    }

    fn verdict(&self) -> Verdict {
        let off = (self.support / self.weight - 1.0).abs();
        let passed = if self.stands {
            self.moved <= DISPLACEMENT && off <= SUPPORT
        } else {
            self.moved >= self.sag
        };
        let expected = if self.stands {
            format!("it stands: at most {:e} mm, {SUPPORT:e}", 1e3 * DISPLACEMENT)
        } else {
            format!("it falls: at least {} mm", 1e3 * self.sag)
        };
        Verdict {
            passed,
            detail: format!(
                "the keystone moved {:.3e} mm; force on the ground off by {off:.1e} of the weight \
                 (by statics {expected})",
                1e3 * self.moved
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn semicircle(thickness_to_radius: f64) -> Geometry {
        let half = 0.5 * thickness_to_radius;
        Geometry { blocks: 301, inner: 1.0 - half, outer: 1.0 + half, lifted: 0.0 }
    }

    /// The least thickness of a semicircular arch with enough friction is 0.1075 of its mean
    /// radius (Milankovitch, 1907), that of the finely jointed one.
    #[test]
    fn a_thin_semicircular_arch_has_no_thrust_line_and_a_thicker_one_has() {
        // Wedges of finite size move the weights by O(1/blocks²), far below the margins taken.
        assert!(!semicircle(0.1065).has_thrust_line(1e3));
        assert!(semicircle(0.1085).has_thrust_line(1e3));
    }

    #[test]
    fn an_arch_on_the_outer_edges_of_its_base_stands_with_more_friction_than_one_on_its_faces() {
        let least = |lifted: f64| {
            let arch = Geometry { blocks: 7, inner: 0.9, outer: 1.1, lifted };
            (0..100).find(|i| arch.has_thrust_line(0.01 * f64::from(*i)))
        };
        // The thrust must leave at the edges, which takes more of it: of the thrust lines of an arch on its
        // faces only the flattest are left. Bounds by a search over thrusts.
        let (faces, edges) = (least(0.0).unwrap(), least(0.05).unwrap());
        assert!((20..=31).contains(&faces) && (31..50).contains(&edges), "{faces} {edges}");
    }

    #[test]
    fn more_friction_never_takes_a_thrust_line_away() {
        let arch = Geometry { blocks: 7, inner: 0.9, outer: 1.1, lifted: 0.0 };
        let stands: Vec<bool> =
            (0..100).map(|i| arch.has_thrust_line(0.01 * f64::from(i))).collect();
        assert!(stands.is_sorted() && !stands[20] && stands[99]);
    }
}
