//! Sums over worlds and their tables.

use std::time::Duration;

use serde_json::{Value, json};
use stiction_reproduce::table::Table;
use stiction_sim::STEP_STATUSES;

use super::minimise::Recipe;
use super::oracles::ORACLES;
use super::plan::WorldClass;
use super::run::RunOutcome;

/// Share of ok steps that well-posed worlds should reach.
const TARGET: f64 = 0.999;
/// Well-posed worlds with steps that are not ok that are listed.
const SHOWN: usize = 20;

/// Sums over the worlds of a class.
#[derive(Clone, Debug, Default)]
struct ClassSums {
    worlds: usize,
    steps: usize,
    statuses: [usize; STEP_STATUSES.len()],
    /// Worlds with silent and with flagged violations, by oracle.
    silent: [usize; ORACLES.len()],
    flagged: [usize; ORACLES.len()],
    well_posed: [usize; 2],
    errors: usize,
    refused: usize,
    left: usize,
}

/// What was found in all worlds.
#[derive(Clone, Debug, Default)]
pub struct WorldsReport {
    classes: [ClassSums; 2],
    slowest: (Duration, u64),
    /// Errors and refusals, with the index of the world.
    remarks: Vec<(u64, String)>,
    /// Well-posed worlds with steps that are not ok: index, steps by status.
    doubtful: Vec<(u64, [usize; STEP_STATUSES.len()])>,
    /// Minimised silent violations.
    pub recipes: Vec<Recipe>,
}

impl WorldsReport {
    /// Adds a world.
    pub fn add(&mut self, index: u64, class: WorldClass, outcome: &RunOutcome) {
        let sums = &mut self.classes[usize::from(class == WorldClass::Harsh)];
        sums.worlds += 1;
        sums.steps += outcome.steps;
        for (sum, count) in sums.statuses.iter_mut().zip(outcome.statuses) {
            *sum += count;
        }
        for (k, oracle) in ORACLES.iter().enumerate() {
            let has = |silent| {
                outcome.violations.iter().any(|v| v.oracle == *oracle && v.silent == silent)
            };
            sums.silent[k] += usize::from(has(true));
            sums.flagged[k] += usize::from(has(false));
        }
        let [steps, ok] = outcome.well_posed;
        if ok < steps {
            self.doubtful.push((index, outcome.statuses));
        }
        for (sum, count) in sums.well_posed.iter_mut().zip(outcome.well_posed) {
            *sum += count;
        }
        sums.errors += usize::from(outcome.error.is_some());
        sums.refused += usize::from(outcome.refused.is_some());
        sums.left += usize::from(outcome.left);
        if outcome.slowest > self.slowest.0 {
            self.slowest = (outcome.slowest, index);
        }
        let remarks = outcome.error.iter().chain(&outcome.refused);
        self.remarks.extend(remarks.map(|text| (index, text.clone())));
    }

    /// Worlds with a silent violation, counted once per oracle.
    pub fn silent(&self) -> usize {
        self.classes.iter().flat_map(|sums| &sums.silent).sum()
    }

    /// Worlds with a panic.
    pub fn panics(&self) -> usize {
        self.classes.iter().map(|sums| sums.silent[ORACLES.len() - 1]).sum()
    }

    /// Share of ok steps among the well-posed steps of well-posed worlds [-].
    pub fn share_ok(&self) -> f64 {
        let [steps, ok] = self.classes[0].well_posed;
        if steps == 0 { 1.0 } else { ok as f64 / steps as f64 }
    }

    /// The tables.
    pub fn text(&self) -> String {
        let mut table = Table::new(&["", WorldClass::WellPosed.name(), WorldClass::Harsh.name()]);
        let mut row = |name: String, value: &dyn Fn(&ClassSums) -> String| {
            let [a, b] = [0, 1].map(|k| value(&self.classes[k]));
            table.row([name, a, b]);
        };
        row("worlds".to_owned(), &|s| s.worlds.to_string());
        row("steps".to_owned(), &|s| s.steps.to_string());
        for (k, status) in STEP_STATUSES.iter().enumerate() {
            row(format!("steps {}", status.name()), &|s| s.statuses[k].to_string());
        }
        for (k, oracle) in ORACLES.iter().enumerate() {
            let name = format!("{}: silent / flagged", oracle.name());
            row(name, &|s| format!("{} / {}", s.silent[k], s.flagged[k]));
        }
        row("ended by an error".to_owned(), &|s| s.errors.to_string());
        row("refused".to_owned(), &|s| s.refused.to_string());
        row("left at the time limit".to_owned(), &|s| s.left.to_string());
        let mut text = table.render();
        let [steps, ok] = self.classes[0].well_posed;
        text += &format!(
            "ok in well-posed steps: {ok} of {steps}, {:.3} % (target {:.1} %)\n",
            100.0 * self.share_ok(),
            100.0 * TARGET
        );
        let (slowest, world) = self.slowest;
        text += &format!("slowest step: {:.3} ms in world {world}\n", 1e3 * slowest.as_secs_f64());
        let mut doubtful = self.doubtful.clone();
        doubtful.sort_by_key(|(index, statuses)| (statuses[0], *index));
        for (index, statuses) in doubtful.iter().take(SHOWN) {
            let faults = STEP_STATUSES.iter().zip(statuses).skip(1).filter(|(_, n)| **n > 0);
            let faults: Vec<_> = faults.map(|(s, n)| format!("{n} {}", s.name())).collect();
            text += &format!("well-posed world {index}: {}\n", faults.join(", "));
        }
        for (index, remark) in &self.remarks {
            text += &format!("world {index}: {remark}\n");
        }
        for recipe in &self.recipes {
            let (index, oracle) = (recipe.index, recipe.oracle.name());
            text += &format!("\nworld {index}, {oracle}, step {}:\n", recipe.steps - 1);
            text += &format!("  {}\n", recipe.detail);
            for line in recipe.plan().describe() {
                text += &format!("  {line}\n");
            }
        }
        text
    }

    /// The same as JSON.
    pub fn json(&self) -> Value {
        let by_oracle = |counts: &[usize]| -> Value {
            let pairs = ORACLES.iter().zip(counts);
            pairs
                .map(|(o, n)| (o.name().to_owned(), json!(n)))
                .collect::<serde_json::Map<_, _>>()
                .into()
        };
        let class = |sums: &ClassSums| {
            let statuses = STEP_STATUSES.iter().zip(sums.statuses);
            let statuses: serde_json::Map<String, Value> =
                statuses.map(|(s, n)| (s.name().to_owned(), json!(n))).collect();
            json!({
                "worlds": sums.worlds,
                "steps": sums.steps,
                "statuses": statuses,
                "silent": by_oracle(&sums.silent),
                "flagged": by_oracle(&sums.flagged),
                "errors": sums.errors,
                "refused": sums.refused,
                "left": sums.left,
            })
        };
        json!({
            "well_posed": class(&self.classes[0]),
            "harsh": class(&self.classes[1]),
            "share_ok": self.share_ok(),
            "slowest_step_s": self.slowest.0.as_secs_f64(),
            "slowest_world": self.slowest.1,
            "remarks": self.remarks.iter().map(|(k, text)| json!([k, text])).collect::<Vec<_>>(),
            "violations": self.recipes.iter().map(Recipe::json).collect::<Vec<_>>(),
        })
    }
}
