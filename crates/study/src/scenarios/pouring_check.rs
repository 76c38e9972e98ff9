//! The check of pouring from a bottle into another.

use nalgebra::{Isometry3, Point3, Vector3};
use stiction_geom::Shape;
use stiction_mech::BodyId;
use stiction_scene::{Check, Verdict};
use stiction_sim::{Simulation, StepReport};

use super::field_parts::{BOTTLE_HEIGHT, BOTTLE_RADIUS};
use super::pouring::RADIUS;
use super::robots::bottle_arm::GRASPED;

/// Every sphere is in one of the bottles or beside them, none in a wall; most of them are in the lower one.
pub struct PouringCheck {
    bottles: [BodyId; 2],
    palms: [BodyId; 2],
    /// Poses of the bottles in the palms when the hands had closed.
    held: [Option<Isometry3<f64>>; 2],
    /// Largest way [m] and angle [rad] of a bottle in its hand since.
    slipped: [f64; 2],
    spheres: Vec<BodyId>,
    tilt: f64,
    bottle: Shape,
    /// Spheres in the upper bottle, in the lower one, and beside them.
    counts: [usize; 3],
    /// Most spheres in a wall or below the floor in any step.
    stuck: usize,
    deepest: f64,
}

/// Largest depth [m], and part of a sphere's radius by which one in a wall is nearer than its radius [-].
const DEPTH: f64 = 2e-4;
const IN_WALL: f64 = 0.1;
/// Largest way [m] and angle [rad] of a bottle in its hand.
const SLIP: [f64; 2] = [3e-3, 0.05];
/// Tilt from which on a bottle is emptied [rad], and least part that then reaches the lower bottle [-].
const EMPTIED: f64 = 2.1;
const POURED: f64 = 0.7;

impl PouringCheck {
    /// Of the upper and the lower bottle with the palms that hold them, the spheres, the angle [rad] of the upper bottle in the end,
    /// and the shape of the bottles.
    pub fn new(
        bottles: [BodyId; 2],
        palms: [BodyId; 2],
        spheres: Vec<BodyId>,
        tilt: f64,
        bottle: Shape,
    ) -> Self {
        Self {
            bottles,
            palms,
            held: [None; 2],
            slipped: [0.0; 2],
            spheres,
            tilt,
            bottle,
            counts: [0; 3],
            stuck: 0,
            deepest: 0.0,
        }
    }

    /// Follows the bottles in the hands that have closed.
    fn watch_hands(&mut self, simulation: &mut Simulation) {
        if simulation.state().time < GRASPED {
            return;
        }
        for k in 0..2 {
            let palm = simulation.body_pose(self.palms[k].0);
            let here = palm.inv_mul(&simulation.body_pose(self.bottles[k].0));
            let then = self.held[k].get_or_insert(here);
            let [way, angle] = &mut self.slipped;
            *way = way.max((here.translation.vector - then.translation.vector).norm());
            *angle = angle.max(here.rotation.angle_to(&then.rotation));
        }
    }
}

impl Check for PouringCheck {
    fn observe(&mut self, simulation: &mut Simulation, report: &StepReport) {
        self.deepest = self.deepest.max(report.penetration);
        self.watch_hands(simulation);
        let Shape::Field(field) = &self.bottle else { return };
        let poses = self.bottles.map(|bottle| simulation.body_pose(bottle.0));
        self.counts = [0; 3];
        let mut stuck = 0;
        for sphere in &self.spheres {
            let p = Point3::from(simulation.body_pose(sphere.0).translation.vector);
            let inside = poses.map(|pose| pose.inverse_transform_point(&p).coords);
            let nearest = inside.iter().map(|p| field.value(p)).fold(p.z, f64::min);
            stuck += usize::from(nearest < (1.0 - IN_WALL) * RADIUS);
            let is_in = |p: &Vector3<f64>| {
                p.xy().norm() < BOTTLE_RADIUS && (0.0..=BOTTLE_HEIGHT).contains(&p.z)
            };
            self.counts[inside.iter().position(is_in).unwrap_or(2)] += 1;
        }
        self.stuck = self.stuck.max(stuck);
    }

    fn verdict(&self) -> Verdict {
        let [upper, lower, beside] = self.counts;
        let n = self.spheres.len();
        let enough = self.tilt < EMPTIED || lower as f64 >= POURED * n as f64;
        let [way, angle] = self.slipped;
        let held = way <= SLIP[0] && angle <= SLIP[1] && self.held.iter().all(Option::is_some);
        let all = upper + lower + beside == n;
        Verdict {
            passed: all && enough && held && self.stuck == 0 && self.deepest <= DEPTH,
            detail: format!(
                "of {n} spheres {lower} are in the lower bottle (at least {:.0}), {upper} in the upper one and {beside} beside them; at most \
                 {} in a wall (0); penetration {:.1} µm (at most {:.0}); bottles moved {:.2} mm and turned {:.2}° in the hands (at most {:.0} mm \
                 and {:.1}°)",
                if self.tilt < EMPTIED { 0.0 } else { POURED * n as f64 },
                self.stuck,
                1e6 * self.deepest,
                1e6 * DEPTH,
                1e3 * way,
                angle.to_degrees(),
                1e3 * SLIP[0],
                SLIP[1].to_degrees(),
            ),
        }
    }

    fn needs_start(&self) -> bool {
        true
    }
}
