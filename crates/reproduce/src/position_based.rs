//! Table VIII: COND and position-based dynamics with substeps on the cable [Lee23, Sec. V-E2].
//!
//! The reference is the scene solved to the end. Position-based dynamics gets the same rod and is led
//! by the hand of the reference.

use nalgebra::{Isometry3, Vector3};
use stiction_mech::Rod as Elastic;
use stiction_plot::{Axis, Figure, Panel, Series};
use stiction_scene::{Scene, SceneError};
use stiction_sim::Simulation;
use stiction_study::scenarios::cable_winding::hand_force;

use crate::baselines::Preparation;
use crate::baselines::rod::{Rod, Spec};
use crate::clock::cpu_seconds;
use crate::contender::{Contender, Rule};
use crate::error::ReproduceError;
use crate::scene::CABLE;
use crate::statistics::mean;
use crate::{Cell, Effort, Outcome, Sheet, Source};

/// [Lee23, Table VIII]: iterations or substeps, MP [mm], FE [N], TT [ms].
const PUBLISHED: [(&str, usize, [f64; 3]); 4] = [
    ("COND", 100, [0.0031, 0.553, 3.949]),
    ("COND", 200, [0.0032, 0.553, 7.125]),
    ("PBD", 100, [0.0036, 2.654, 94.45]),
    ("PBD", 200, [0.0026, 1.575, 187.6]),
];

/// Links, as the paper gives position-based dynamics fewer.
const LINKS: &str = "120";
/// Density of the cable [kg/m³], axis [m] and radius [m] of the cylinder, friction [-]: those of the scene.
const DENSITY: f64 = 1259.0;
const AXIS: [f64; 2] = [0.4920, -0.2025];
const CYLINDER: f64 = 0.02;
const FRICTION: f64 = 1.3;
/// Our rule for all but the reference.
const RESIDUAL: Rule = Rule::Residual(CABLE.theta);
/// Tolerance of the reference.
const TOLERANCE: f64 = 1e-8;

/// One run.
struct Run {
    label: String,
    penetration: Vec<f64>,
    force: Vec<Vector3<f64>>,
    /// CPU time per step [s].
    seconds: f64,
}

/// Frames between which the rod is held.
fn frames(rod: &Elastic, simulation: &mut Simulation) -> [Isometry3<f64>; 2] {
    let data = simulation.data();
    rod.clamps
        .map(|clamp| clamp.map_or(Isometry3::identity(), |c| data.body_pose[c.body.0] * c.pose))
}

fn scene(effort: &Effort<'_>) -> Result<Scene, ReproduceError> {
    CABLE.build(effort, 0, &[("links", LINKS.to_owned())])
}

/// The scene under one solver; shows each step to `watch` before it is made.
fn simulate(
    effort: &Effort<'_>,
    contender: &Contender,
    tolerance: f64,
    steps: usize,
    mut watch: impl FnMut(&mut Simulation),
) -> Result<Run, ReproduceError> {
    let mut scene = scene(effort)?;
    scene.settings.tolerance = tolerance;
    let mut scene_run = contender.start(scene, &Preparation::default())?;
    let (mut penetration, mut force, mut seconds) = (Vec::new(), Vec::new(), 0.0);
    let begin = cpu_seconds();
    for _ in 0..steps {
        if effort.is_over(begin) {
            break;
        }
        if let Some(controller) = &mut scene_run.controller {
            controller.control(&mut scene_run.simulation);
        }
        let before = cpu_seconds();
        let report = scene_run.simulation.step().map_err(SceneError::from)?;
        seconds += cpu_seconds() - before;
        penetration.push(report.penetration);
        force.push(hand_force(&mut scene_run.simulation));
        watch(&mut scene_run.simulation);
    }
    let seconds = seconds / penetration.len().max(1) as f64;
    Ok(Run { label: contender.label(), penetration, force, seconds })
}

/// Runs the experiment.
pub fn run(effort: &Effort<'_>) -> Result<Outcome, ReproduceError> {
    let mut sheet = Sheet::new(
        "Table VIII: cable of 120 links, COND and position-based dynamics",
        &["method", "MP [mm]", "FE [N]", "TT [ms]", "mean force [N]", "steps"],
    );
    for (who, count, numbers) in PUBLISHED {
        let cells = std::iter::once(Cell::from(format!("{who} ({count})")));
        sheet.row(
            Source::Paper,
            cells.chain(numbers.map(Cell::from)).chain(["–".into(), "".into()]),
        );
    }
    let first = scene(effort)?;
    let h = first.settings.time_step;
    let mut start = first.start()?;
    let steps = CABLE.steps(effort, start.steps());
    let world = start.simulation.world().clone();
    let Some(elastic) = world.model().rods().first() else {
        return Ok(Outcome::default().remark("The scene has no cable."));
    };
    let [foot, hand] = frames(elastic, &mut start.simulation);
    let poses: Vec<Isometry3<f64>> = {
        let data = start.simulation.data();
        elastic.spec.segments.iter().map(|body| data.body_pose[body.0]).collect()
    };
    (effort.tell)(0.0, "cable, reference");
    let mut way = Vec::new();
    let reference = Contender::new("alm", Rule::Residual(TOLERANCE));
    let reference = simulate(effort, &reference, TOLERANCE, steps, |simulation| {
        way.push(frames(elastic, simulation)[1]);
    })?;
    let mut runs = Vec::new();
    let by_cond =
        [Rule::Iterations(100), Rule::Iterations(200), Rule::Paper(CABLE.theta), RESIDUAL];
    let contenders = by_cond.map(|rule| Contender::new("cond", rule));
    let contenders = contenders.into_iter().chain([Contender::new("alm", RESIDUAL)]);
    for (k, contender) in contenders.enumerate() {
        (effort.tell)(0.2 + 0.08 * k as f64, &format!("cable, {}", contender.label()));
        runs.push(simulate(effort, &contender, CABLE.theta, way.len(), |_| ())?);
    }
    for (k, substeps) in [100, 200].into_iter().enumerate() {
        (effort.tell)(0.6 + 0.2 * k as f64, &format!("cable, {substeps} substeps"));
        let spec = Spec {
            stiffness: elastic.spec.stiffness_over(elastic.spec.segment_length),
            segment_length: elastic.spec.segment_length,
            radius: elastic.spec.radius,
            density: DENSITY,
            friction: FRICTION,
            axis: AXIS,
            cylinder: CYLINDER,
            gravity: world.model().gravity(),
        };
        let mut rod = Rod::new(spec, foot, &poses, hand);
        let mut found = Run {
            label: format!("PBD, {substeps} substeps"),
            penetration: Vec::new(),
            force: Vec::new(),
            seconds: 0.0,
        };
        let before = cpu_seconds();
        for target in &way {
            if effort.is_over(before) {
                break;
            }
            rod.step(target, h, substeps);
            found.penetration.push(rod.penetration());
            found.force.push(rod.end_force());
        }
        found.seconds = (cpu_seconds() - before) / found.force.len().max(1) as f64;
        runs.push(found);
    }
    let mut panel =
        Panel::new(Axis::linear("simulated time [s]"), Axis::linear("force at the hand [N]"));
    for run in std::iter::once(&reference).chain(&runs) {
        let errors = run.force.iter().zip(&reference.force).map(|(a, b)| (a - b).norm());
        let row: [Cell; 6] = [
            run.label.as_str().into(),
            (1e3 * mean(run.penetration.iter().copied())).into(),
            mean(errors).into(),
            (1e3 * run.seconds).into(),
            mean(run.force.iter().map(|f| f.norm())).into(),
            run.force.len().to_string().into(),
        ];
        sheet.row(Source::Ours, row);
        let curve = run.force.iter().enumerate();
        let curve = curve.map(|(k, f)| ((k + 1) as f64 * h, f.norm())).collect();
        panel = panel.series(Series::line(&run.label, curve));
    }
    let figure = Figure::new("Force at the hand while the cable is wound").panel(panel);
    let outcome = Outcome { sheets: vec![sheet], figures: vec![figure], ..Outcome::default() };
    Ok(outcome
        .remark(
            "Runs go their own way over all steps, so that differences add up: the row of alm at the \
             tolerance of the scene shows what they come to with a converged solver.",
        )
        .remark(
            "FE is the mean distance of the force from that of the first of our rows, the scene solved to \
             the end; the paper's is the distance from a real experiment, which is never zero.",
        )
        .remark(
            "Position-based dynamics corrects each constraint once per substep and has no equations of a \
             step to converge to: a correction sees what its neighbours have just done and passes less of \
             the pull on, by k h²/m of a segment, which falls with the substep. TT is the whole step.",
        ))
}
