//! Results of Siconos's solvers on the same files, read from the collection's manifest.

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::Value;

/// The best single solver of Siconos on a set of problems.
#[derive(Debug, PartialEq)]
pub struct SiconosBest {
    /// Form and name.
    pub solver: String,
    /// Problems solved.
    pub solved: usize,
    /// Requested problems that the manifest lists.
    pub of: usize,
}

/// Counts, for each solver, the named problems on which a run reached the tolerance in the metric
/// relative to |q|. A symmetrised file replaces its original, as when files are loaded.
pub fn best(manifest: &Value, names: &[&str], tolerance: f64) -> Option<SiconosBest> {
    let entries = manifest["problems"].as_array()?;
    let named = |name: &str| entries.iter().find(|e| e["name"].as_str() == Some(name));
    let known: Vec<&Value> = names
        .iter()
        .filter_map(|name| named(&format!("{name}__sym")).or_else(|| named(name)))
        .collect();
    let mut solved = BTreeMap::<String, usize>::new();
    for entry in &known {
        let mut reached: Vec<String> = entry["siconos_runs"]
            .as_array()
            .into_iter()
            .flatten()
            .filter(|run| run["nat_q"].as_f64().is_some_and(|x| x <= tolerance))
            .filter_map(|run| {
                Some(format!("{} ({} form)", run["solver"].as_str()?, run["form"].as_str()?))
            })
            .collect();
        reached.sort();
        reached.dedup();
        for solver in reached {
            *solved.entry(solver).or_default() += 1;
        }
    }
    let (solver, solved) = solved.into_iter().max_by_key(|(_, count)| *count)?;
    Some(SiconosBest { solver, solved, of: known.len() })
}

/// The manifest of a folder, if there is one.
pub fn manifest(folder: &Path) -> Option<Value> {
    let text = std::fs::read_to_string(folder.join("manifest.json")).ok()?;
    serde_json::from_str(&text).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_solver_counts_once_per_problem_and_the_symmetric_twin_decides() {
        let run =
            |solver: &str, nat_q: f64| json!({"form": "local", "solver": solver, "nat_q": nat_q});
        let manifest = json!({"problems": [
            {"name": "a", "siconos_runs": [run("X", 1e-9), run("X", 1e-10), run("Y", 1.0)]},
            {"name": "b", "siconos_runs": [run("X", 1e-9)]},
            {"name": "b__sym", "siconos_runs": [run("Y", 1e-9), run("X", 1.0)]},
            {"name": "c", "siconos_runs": [run("Y", 1e-8)]},
            {"name": "d", "siconos_runs": [run("X", 1e-9)]},
        ]});
        let found = best(&manifest, &["a", "b", "c", "unknown"], 1e-8).unwrap();
        assert_eq!(found, SiconosBest { solver: "Y (local form)".into(), solved: 2, of: 3 });
    }
}
