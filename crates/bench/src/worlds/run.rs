//! Runs a planned world and lets all oracles look at every step.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::{Duration, Instant};

use stiction_sim::{STEP_STATUSES, StepStatus};

use super::build::{BuiltWorld, build};
use super::causes::{ObservedStep, energy_causes, momentum_scale};
use super::drift::EnergyGain;
use super::look::{Look, radii};
use super::oracles::{self, EnergyCauses, Finding, Lasting, Oracle};
use super::plan::{WorldClass, WorldPlan};

/// Turn per step [rad] and speed [m/s] up to which a step of a well-posed world counts as well-posed.
const WELL_POSED_TURN: f64 = 0.1;
const WELL_POSED_SPEED: f64 = 10.0;

/// How long to run.
#[derive(Clone, Copy, Debug)]
pub struct RunLength {
    /// Steps.
    pub steps: usize,
    /// Wall time after which a world is left.
    pub time_limit: Duration,
    /// Stop at the first silent violation of this oracle.
    pub until: Option<Oracle>,
    /// Print every step.
    pub trace: bool,
}

/// A violation of an oracle in a step.
#[derive(Clone, Debug, PartialEq)]
pub struct Violation {
    /// The oracle.
    pub oracle: Oracle,
    /// The step, from zero.
    pub step: usize,
    /// Whether the status of the step was ok.
    pub silent: bool,
    /// What was found.
    pub detail: String,
}

/// What a run found.
#[derive(Clone, Debug, Default)]
pub struct RunOutcome {
    /// Steps that were done.
    pub steps: usize,
    /// Steps by status, in the order of [`STEP_STATUSES`].
    pub statuses: [usize; STEP_STATUSES.len()],
    /// Steps that are well-posed by their motion, and those of them that are ok.
    pub well_posed: [usize; 2],
    /// The first violation of each oracle in steps that are ok, and in others.
    pub violations: Vec<Violation>,
    /// The error that ended the run.
    pub error: Option<String>,
    /// The reason why the world could not be built.
    pub refused: Option<String>,
    /// Whether the time limit ended the run.
    pub left: bool,
    /// The slowest step.
    pub slowest: Duration,
}

impl RunOutcome {
    fn add(&mut self, step: usize, silent: bool, (oracle, detail): Finding) {
        if !self.violations.iter().any(|v| v.oracle == oracle && v.silent == silent) {
            self.violations.push(Violation { oracle, step, silent, detail });
        }
    }

    /// The first silent violation of an oracle.
    pub fn silent(&self, oracle: Oracle) -> Option<&Violation> {
        self.violations.iter().find(|v| v.silent && v.oracle == oracle)
    }

    /// All silent violations, one per oracle.
    pub fn all_silent(&self) -> impl Iterator<Item = &Violation> {
        self.violations.iter().filter(|v| v.silent)
    }
}

/// Runs a world. A panic is a silent violation.
pub fn run(plan: &WorldPlan, solver: &str, length: &RunLength) -> RunOutcome {
    let mut outcome = RunOutcome::default();
    if let Err(panic) =
        catch_unwind(AssertUnwindSafe(|| advance(plan, solver, length, &mut outcome)))
    {
        let text = panic.downcast_ref::<String>().cloned();
        let text = text.or_else(|| panic.downcast_ref::<&str>().map(|text| (*text).to_owned()));
        let step = outcome.steps;
        outcome.add(step, true, (Oracle::Panic, text.unwrap_or_default()));
    }
    outcome
}

fn advance(plan: &WorldPlan, solver: &str, length: &RunLength, outcome: &mut RunOutcome) {
    let mut built = match build(plan, solver) {
        Ok(built) => built,
        Err(reason) => {
            outcome.refused = Some(reason);
            return;
        }
    };
    let start = Instant::now();
    let world = built.simulation.world().clone();
    let radius = radii(&world);
    let mut before = Look::of(&world, built.simulation.state(), &radius);
    let (mut lasting, mut gain) = (Lasting::default(), EnergyGain::default());
    for step in 0..length.steps {
        if start.elapsed() > length.time_limit {
            outcome.left = true;
            return;
        }
        let clock = Instant::now();
        let report = built.simulation.step();
        outcome.slowest = outcome.slowest.max(clock.elapsed());
        let report = match report {
            Ok(report) => report,
            Err(error) => {
                let changed = oracles::unchanged(&before.state, built.simulation.state());
                changed.into_iter().for_each(|finding| outcome.add(step, true, finding));
                outcome.error = Some(error.to_string());
                return;
            }
        };
        let status = report.status();
        if length.trace {
            let (balance, equality) = (report.energy, [report.equality_error, report.limit_error]);
            println!(
                "step {step}: {report}, {} parts, equality and limits {equality:?}, {balance:?}",
                report.parts
            );
        }
        let silent = status == StepStatus::Ok;
        outcome.steps += 1;
        let place = STEP_STATUSES.iter().position(|other| *other == status);
        outcome.statuses[place.unwrap_or(0)] += 1;
        if let Some(finding) = oracles::finite(world.model(), built.simulation.state()) {
            outcome.add(step, silent, finding);
            return;
        }
        let after = Look::of(&world, built.simulation.state(), &radius);
        let (contacts, penetration) = (built.simulation.contacts(), report.penetration);
        let h = built.simulation.settings().time_step;
        let observed = ObservedStep { before: &before, after: &after, contacts, penetration, h };
        let causes = energy_causes((plan, &built), &observed, &radius);
        let grown = gain.watch(&before, &after, &causes, silent);
        grown.into_iter().for_each(|finding| outcome.add(step, silent, finding));
        judge(plan, &built, (&observed, &causes), &radius, |finding| {
            outcome.add(step, silent, finding);
        });
        let seen = (&after, built.simulation.contacts());
        for finding in lasting.watch(&world, seen, built.simulation.settings(), silent) {
            outcome.add(step, silent, finding);
        }
        count_well_posed(plan, (&before, &after), silent, outcome);
        if length.until.is_some_and(|oracle| outcome.silent(oracle).is_some()) {
            return;
        }
        before = after;
    }
}

/// The oracles that compare the two states of a step.
fn judge(
    plan: &WorldPlan,
    built: &BuiltWorld,
    (step, causes): (&ObservedStep, &EnergyCauses),
    radius: &[f64],
    mut add: impl FnMut(Finding),
) {
    let (simulation, ObservedStep { before, after, .. }) = (&built.simulation, *step);
    let (world, contacts) = (simulation.world(), simulation.contacts());
    oracles::energy(before, after, causes).into_iter().for_each(&mut add);
    if plan.is_isolated() {
        let (scale, mass) = (momentum_scale(simulation, step, radius), world.model().mass());
        oracles::momentum((before, after), mass, scale).into_iter().for_each(&mut add);
    }
    oracles::jump(world, before, after, simulation.settings()).into_iter().for_each(&mut add);
    oracles::geometry(world, before, contacts).into_iter().for_each(&mut add);
}

fn count_well_posed(
    plan: &WorldPlan,
    (before, after): (&Look, &Look),
    ok: bool,
    outcome: &mut RunOutcome,
) {
    let turn = Look::largest(&before.turn, &after.turn) * plan.time_step;
    let speed = Look::largest(&before.speed, &after.speed);
    if plan.class == WorldClass::WellPosed && turn <= WELL_POSED_TURN && speed <= WELL_POSED_SPEED {
        outcome.well_posed[0] += 1;
        outcome.well_posed[1] += usize::from(ok);
    }
}
