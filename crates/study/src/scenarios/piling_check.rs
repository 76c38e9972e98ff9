//! The check of a robot that piles dishes.

use nalgebra::{Isometry3, Vector3};
use stiction_mech::BodyId;
use stiction_scene::{Check, Verdict};
use stiction_sim::{Simulation, StepReport};

use super::parts;
use super::piling_plan::{AFTER, PilingPlan};

/// A dish of the pile.
struct Dish {
    body: BodyId,
    name: &'static str,
    /// Its height in the pile [m].
    height: f64,
    /// Its pose.
    pose: Isometry3<f64>,
    /// Pose in the palm since the hand has closed around it, and the largest way in the hand [m].
    held: Option<Isometry3<f64>>,
    slipped: f64,
    /// Its pose when the pile must be at rest, and the largest way [m] and angle [rad] since.
    stood: Option<Isometry3<f64>>,
    moved: f64,
    turned: f64,
}

/// All dishes stand on one another in their order, upright and at rest, and nothing was ever deep in anything.
pub struct PilingCheck {
    plan: PilingPlan,
    palm: BodyId,
    dishes: Vec<Dish>,
    /// Whether iterations are limited.
    limited: bool,
    deepest: f64,
    time: f64,
    /// Largest speed of a dish in the end [m/s].
    speed: f64,
}

/// Largest error of a height [m], distance of a dish from the axis of the one below [m], and tilt [rad].
const HEIGHT: f64 = 1e-3;
const ASIDE: f64 = 0.01;
const TILT: f64 = 0.02;
/// Time for which the pile must be at rest [s], by how much a dish may then turn [rad] and move [m], and the latter with what a
/// limited number of iterations leaves open: a thousandth of a metre per second.
const RESTS: f64 = 0.5;
const TURNS: f64 = 5e-3;
const MOVES: f64 = 2e-5;
const CREEPS: f64 = 5e-4;
/// Largest depth [m], and largest way of a dish in the closed hand [m].
const DEPTH: f64 = 3e-4;
const SLIP: f64 = 5e-3;

impl PilingCheck {
    /// Of a plan, the palm, and the dishes from below with their names and heights in the pile [m]; iterations may be limited.
    pub fn new(
        plan: PilingPlan,
        palm: BodyId,
        dishes: Vec<(BodyId, &'static str, f64)>,
        limited: bool,
    ) -> Self {
        let pose = Isometry3::identity();
        let dish = |(body, name, height)| Dish {
            body,
            name,
            height,
            pose,
            held: None,
            slipped: 0.0,
            stood: None,
            moved: 0.0,
            turned: 0.0,
        };
        let dishes = dishes.into_iter().map(dish).collect();
        Self { plan, palm, dishes, limited, deepest: 0.0, time: 0.0, speed: 0.0 }
    }
}

impl Check for PilingCheck {
    fn observe(&mut self, simulation: &mut Simulation, report: &StepReport) {
        self.time = simulation.state().time;
        self.deepest = self.deepest.max(report.penetration);
        let palm = simulation.body_pose(self.palm.0);
        self.speed = 0.0;
        for (k, dish) in self.dishes.iter_mut().enumerate() {
            dish.pose = simulation.body_pose(dish.body.0);
            let (v, _) = parts::velocity(simulation.world(), simulation.state(), dish.body);
            self.speed = self.speed.max(v.norm());
            if self.time > self.plan.duration() + AFTER - RESTS {
                let stood = dish.stood.get_or_insert(dish.pose);
                let way = dish.pose.translation.vector - stood.translation.vector;
                dish.moved = dish.moved.max(way.norm());
                dish.turned = dish.turned.max(dish.pose.rotation.angle_to(&stood.rotation));
            }
            if k > 0 && self.plan.holds(k - 1, self.time) {
                let here = palm.inv_mul(&dish.pose);
                let then = dish.held.get_or_insert(here);
                let way = (here.translation.vector - then.translation.vector).norm();
                dish.slipped = dish.slipped.max(way);
            }
        }
    }

    fn verdict(&self) -> Verdict {
        let up = |dish: &Dish| (dish.pose.rotation * Vector3::z()).z.clamp(-1.0, 1.0).acos();
        let at = |dish: &Dish| dish.pose.translation.vector;
        let most = |f: &dyn Fn(&Dish) -> f64| self.dishes.iter().map(f).fold(0.0, f64::max);
        let height = most(&|dish| (at(dish).z - dish.height).abs());
        let (tilt, slip) = (most(&up), most(&|dish| dish.slipped));
        let aside = self.dishes.windows(2).map(|w| (at(&w[1]) - at(&w[0])).xy().norm());
        let aside = aside.fold(0.0, f64::max);
        let [moved, turned] = [most(&|dish| dish.moved), most(&|dish| dish.turned)];
        let over = self.time > self.plan.duration() + AFTER - 0.5 * RESTS;
        let stands = height <= HEIGHT && aside <= ASIDE && tilt <= TILT;
        let still = if self.limited { CREEPS } else { MOVES };
        let rests = moved <= still && turned <= TURNS;
        let names: Vec<_> = self.dishes.iter().map(|dish| dish.name).collect();
        Verdict {
            passed: over && stands && rests && slip <= SLIP && self.deepest <= DEPTH,
            detail: format!(
                "{}: heights within {:.2} mm of those of the pile (at most {:.0}), at most {:.1} mm beside the dish below (at most \
                 {:.0}), tilted by {:.2}° (at most {:.2}); in the end {:.1e} m/s, in the last {RESTS} s moved by \
                 {:.3} mm and turned by {:.2}° (at most {:.2} mm and {:.2}°); a dish moved {:.2} mm in the hand (at most {:.0}); penetration {:.0} µm (at most {:.0})",
                names.join(", "),
                1e3 * height,
                1e3 * HEIGHT,
                1e3 * aside,
                1e3 * ASIDE,
                tilt.to_degrees(),
                TILT.to_degrees(),
                self.speed,
                1e3 * moved,
                turned.to_degrees(),
                1e3 * still,
                TURNS.to_degrees(),
                1e3 * slip,
                1e3 * SLIP,
                1e6 * self.deepest,
                1e6 * DEPTH,
            ),
        }
    }

    // Whether the piling succeeds with unfinished solutions is what a limit measures.
    fn measures_the_solver(&self) -> bool {
        self.limited
    }

    fn needs_start(&self) -> bool {
        true
    }
}
