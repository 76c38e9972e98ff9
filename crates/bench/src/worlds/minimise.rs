//! Small worlds with the same violation, and the files that describe them.

use serde_json::{Value, json};

use super::draw::WorldDraw;
use super::oracles::Oracle;
use super::plan::WorldPlan;
use super::run::{RunLength, Violation, run};

/// Runs that the reduction of one world may take.
const MAX_RUNS: usize = 150;

/// A world that violates an oracle silently, as it can be built again.
#[derive(Clone, Debug, PartialEq)]
pub struct Recipe {
    /// The worlds.
    pub draw: WorldDraw,
    /// Index of the world.
    pub index: u64,
    /// Name of the solver.
    pub solver: String,
    /// Steps up to the violation.
    pub steps: usize,
    /// The oracle.
    pub oracle: Oracle,
    /// Parts of the world that are kept.
    pub kept: Vec<String>,
    /// What was found.
    pub detail: String,
}

impl Recipe {
    /// The world.
    pub fn plan(&self) -> WorldPlan {
        self.draw.world(self.index).keep(&self.kept)
    }

    /// The violation, if it occurs.
    pub fn replay(&self, length: &RunLength) -> Option<Violation> {
        let length = RunLength { steps: self.steps, until: Some(self.oracle), ..*length };
        run(&self.plan(), &self.solver, &length).silent(self.oracle).cloned()
    }

    /// Name of its file.
    pub fn file_name(&self) -> String {
        let WorldDraw { seed, fields } = self.draw;
        let kind = if fields { "-fields" } else { "" };
        format!("world-{seed}{kind}-{}-{}.json", self.index, self.oracle.name())
    }

    /// The recipe as JSON, with a description for readers.
    pub fn json(&self) -> Value {
        json!({
            // Seeds are 64-bit numbers, which JSON readers may round.
            "seed": self.draw.seed.to_string(),
            "fields": self.draw.fields,
            "index": self.index,
            "solver": self.solver,
            "steps": self.steps,
            "oracle": self.oracle.name(),
            "kept": self.kept,
            "detail": self.detail,
            "description": self.plan().describe(),
        })
    }

    /// Reads a recipe; the reason if it is none.
    pub fn from_json(value: &Value) -> Result<Self, String> {
        let field = |name: &str| value.get(name).ok_or_else(|| format!("\"{name}\" is missing"));
        let number = |name: &str| {
            field(name)?.as_u64().ok_or_else(|| format!("\"{name}\" is not a whole number"))
        };
        let text =
            |name: &str| field(name)?.as_str().ok_or_else(|| format!("\"{name}\" is not a text"));
        let kept = field("kept")?.as_array().ok_or("\"kept\" is not a list")?;
        let kept = kept.iter().map(|part| part.as_str().map(str::to_owned));
        let seed = text("seed")?.parse().map_err(|_| "\"seed\" is not a whole number")?;
        // Recipes without the word are of worlds without fields.
        let fields = value.get("fields").and_then(Value::as_bool).unwrap_or(false);
        Ok(Self {
            draw: WorldDraw { seed, fields },
            index: number("index")?,
            solver: text("solver")?.to_owned(),
            steps: usize::try_from(number("steps")?).map_err(|error| error.to_string())?,
            oracle: Oracle::from_name(text("oracle")?).ok_or("\"oracle\" is not known")?,
            kept: kept.collect::<Option<_>>().ok_or("\"kept\" has a part that is not a text")?,
            detail: text("detail")?.to_owned(),
        })
    }
}

/// Removes parts of a world one after the other as long as the violation persists.
pub fn minimise(
    (draw, index): (WorldDraw, u64),
    solver: &str,
    violation: &Violation,
    length: &RunLength,
) -> Recipe {
    let mut plan = draw.world(index);
    let mut found = violation.clone();
    let mut runs = 0;
    loop {
        let mut reduced = false;
        for part in plan.parts() {
            if !plan.parts().contains(&part) || runs >= MAX_RUNS {
                continue;
            }
            runs += 1;
            let smaller = plan.without(&part);
            let steps = found.step + 1;
            let length = RunLength { steps, until: Some(found.oracle), trace: false, ..*length };
            if let Some(again) = run(&smaller, solver, &length).silent(found.oracle) {
                (plan, found, reduced) = (smaller, again.clone(), true);
            }
        }
        if !reduced || runs >= MAX_RUNS {
            break;
        }
    }
    Recipe {
        draw,
        index,
        solver: solver.to_owned(),
        steps: found.step + 1,
        oracle: found.oracle,
        kept: plan.parts(),
        detail: found.detail,
    }
}
