//! BOLT-NUT: an M48 nut on an upright bolt [Lee25, Sec. VII-A].
//!
//! Without friction it screws itself down, as its weight and its inertia about the axis say; with the friction of steel it stands
//! still, because the thread is steep as 1 in 28.

use nalgebra::Isometry3;
use std::f64::consts::{PI, TAU};
use stiction_mech::BodyId;
use stiction_scene::{Check, Scene, Verdict};
use stiction_sim::{Geom, Settings, Simulation, StepReport, Surface, WorldBuilder};

use super::{Scenario, field_parts, parts};
use crate::error::StudyError;
use crate::parameters::{Parameter, Parameters};

/// The scenario.
pub const SCENARIO: Scenario = Scenario {
    name: "bolt-nut",
    cite: "Lee25",
    about: "a nut without friction screws itself down an upright bolt; with friction it stands still",
    parameters: &[
        Parameter { name: "friction", default: 0.0, least: 0.0, most: 2.0, about: "μ [-]" },
        Parameter {
            name: "clearance",
            default: 1e-4,
            least: 5e-5,
            most: 3e-4,
            about: "between the flanks [m]",
        },
    ],
    build,
};

const GRAVITY: f64 = 9.81;
const PITCH: f64 = 5e-3;
/// Half the lengths of bolt and nut [m], and heights of their middles [m].
const BOLT_HALF: f64 = 0.06;
const NUT_HALF: f64 = 0.019;
const BOLT_HEIGHT: f64 = 0.1;
const NUT_HEIGHT: f64 = 0.13;
/// Gap between the flanks at the start with friction; without it the nut begins in the middle of its clearance [m].
const DROP: f64 = 2e-6;
const TIME_STEP: f64 = 1.0 / 240.0;
/// Time in which the clearance closes, and end of the run [s].
const CLOSED: f64 = 0.4;
const DURATION: f64 = 1.4;

fn build(parameters: &Parameters) -> Result<Scene, StudyError> {
    let friction = parameters.get("friction");
    let surface = Surface::with_friction(friction);
    let mut builder = WorldBuilder::new();
    let bolt = field_parts::m48_bolt(BOLT_HALF)?;
    let at = Isometry3::translation(0.0, 0.0, BOLT_HEIGHT);
    let steel = Geom::new(BodyId::WORLD, bolt.shape).at(at).surface(surface).named("bolt");
    builder.geom(steel.coloured(0.55, 0.57, 0.6));
    let nut = field_parts::m48_nut(NUT_HALF, parameters.get("clearance"))?;
    // Whole turns above the bolt's middle the threads match; their flanks, inclined by 30°, meet below.
    let clearance = parameters.get("clearance");
    let way = clearance / (PI / 6.0).cos() - DROP;
    let seated = if friction < HOLDS { 0.0 } else { way };
    let at = Isometry3::translation(0.0, 0.0, NUT_HEIGHT - seated);
    let body = nut.add(&mut builder, "nut", at, surface)?;
    let (unit, _, inertia) = nut.shape.mass_properties(1.0);
    // m a = m g − F and I α = F p with a = α p, p the lead per radian.
    let lead = PITCH / TAU;
    let about_axis = inertia[(2, 2)] / unit;
    let check = BoltNutCheck {
        nut: body,
        friction,
        exact: GRAVITY * lead / (about_axis + lead * lead),
        early: None,
        late: (0.0, 0.0, 0.0),
        fastest: 0.0,
        deepest: 0.0,
    };
    let settings = Settings { time_step: TIME_STEP, ..Settings::default() };
    Ok(Scene::new(builder.build()?, settings, DURATION, check))
}

/// The angular acceleration of the nut, or its rest.
struct BoltNutCheck {
    nut: BodyId,
    friction: f64,
    /// Angular acceleration without friction [rad/s²].
    exact: f64,
    /// Time [s], angular velocity [rad/s] and height [m] when the clearance was closed, and last.
    early: Option<(f64, f64, f64)>,
    late: (f64, f64, f64),
    /// Largest speed since [m/s, rad/s].
    fastest: f64,
    deepest: f64,
}

/// Relative error of the acceleration [-]; friction from which on the nut must stand still, several times the slope
/// of the thread [-]; speed at rest [m/s, rad/s]; largest depth [m].
const ACCELERATION: f64 = 0.02;
const HOLDS: f64 = 0.1;
const STILL: f64 = 1e-6;
const DEPTH: f64 = 5e-5;

impl Check for BoltNutCheck {
    fn observe(&mut self, simulation: &mut Simulation, report: &StepReport) {
        let state = simulation.state();
        let (v, w) = parts::velocity(simulation.world(), state, self.nut);
        let z = parts::position(simulation.world(), state, self.nut).z;
        self.late = (state.time, w.z, z);
        if state.time >= CLOSED {
            let _ = self.early.get_or_insert(self.late);
            self.fastest = self.fastest.max(v.norm()).max(w.norm());
            self.deepest = self.deepest.max(report.penetration);
        }
    }

    fn verdict(&self) -> Verdict {
        let Some(early) = self.early.filter(|early| early.0 < self.late.0) else {
            let detail = format!("not judged before {CLOSED} s");
            return Verdict { passed: false, detail };
        };
        let late = self.late;
        let found = (late.1 - early.1) / (late.0 - early.0);
        let deep = format!("penetration {:.1} µm (at most {:.0})", 1e6 * self.deepest, 1e6 * DEPTH);
        let (moves, motion) = if self.friction >= HOLDS {
            let way = (late.2 - early.2).abs();
            let rests = self.fastest < STILL && way <= STILL * (late.0 - early.0);
            let text = format!(
                "stands still: at most {:.1e} m/s or rad/s (below {STILL:.0e}), moved {:.1e} µm",
                self.fastest,
                1e6 * way
            );
            (rests, text)
        } else {
            // A right-handed nut that sinks turns backwards.
            let ratio = -found / self.exact;
            let fits = if self.friction == 0.0 {
                (ratio - 1.0).abs() <= ACCELERATION
            } else {
                ratio < 1.0
            };
            let turn = (late.2 - early.2) / PITCH;
            let text = format!(
                "angular acceleration {found:.4} rad/s², {ratio:.4} of that without friction ({}); sank {turn:.3} pitches",
                if self.friction == 0.0 { "1 ± 0.02" } else { "less than 1" }
            );
            (fits, text)
        };
        Verdict { passed: moves && self.deepest <= DEPTH, detail: format!("{motion}; {deep}") }
    }

    fn needs_start(&self) -> bool {
        true
    }
}
