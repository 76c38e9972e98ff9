//! The report on a comparison: one self-contained page that explains what was compared and shows the
//! runs side by side.
//!
//! `report_text` writes the text, `table` the figures, `figures` and `costs` the plots, as vector
//! graphics in the page. The recordings are those of the page of one run, see [`crate::html`], drawn
//! by the same modules.

mod costs;
mod figures;
mod numbers;
mod report_text;
mod table;

use std::path::Path;

use stiction_study::compare::Comparison;

use crate::html::{PageError, data, fill, script};
use crate::{ViewError, exporter, pack};
use stiction_plot::escape;

const PAGE: &str = include_str!("../../page/report.html");
const STYLE: &str = include_str!("../../page/report.css");

/// How a comparison was made; printed at the end of the report.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ReportProvenance {
    /// The command line, ready to be run again; empty if there was none.
    pub command: String,
    /// Number of threads.
    pub threads: usize,
}

/// Checks before a long run that the report can be written to a file.
pub fn check(path: &Path) -> Result<(), ViewError> {
    let exporter = exporter::exporter_for(path)?;
    if exporter.name == "html" {
        return Ok(());
    }
    Err(ViewError::Ending {
        path: path.display().to_string(),
        found: exporter.name.to_owned(),
        known: ".html".to_owned(),
    })
}

/// Writes the report to a file.
pub fn write(
    comparison: &Comparison,
    making: &ReportProvenance,
    path: &Path,
) -> Result<(), ViewError> {
    let page = page(comparison, making).map_err(|error| match error {
        PageError::Recording(source) => ViewError::Recording(source),
        PageError::Deflate(source) => ViewError::Write { path: path.display().to_string(), source },
    })?;
    exporter::put(path, page.as_bytes())
}

/// The report.
pub fn page(comparison: &Comparison, making: &ReportProvenance) -> Result<String, PageError> {
    let mut recordings = String::new();
    for run in comparison.compared_solvers.iter().filter_map(|compared| compared.run()) {
        run.recording.check()?;
        let text = pack::base64(&data::encode(&run.recording)?);
        let length = text.len();
        recordings += &format!(
            "<script type=\"text/plain\" class=\"recording\" data-length=\"{length}\">{text}\
             </script>\n"
        );
    }
    Ok(fill(
        PAGE,
        &[
            ("{{title}}", escape(&report_text::title(comparison))),
            ("{{style}}", STYLE.to_owned()),
            ("{{body}}", report_text::body(comparison, making)),
            ("{{script}}", script::joined_side_by_side()),
            ("{{data}}", recordings),
        ],
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::ops::ControlFlow;
    use stiction_study::StudyError;
    use stiction_study::compare::{ComparisonPlan, compare, settings_per_solver};

    fn comparison(solvers: &[&str], sets: &[(&str, &str)], steps: usize) -> Comparison {
        let sets: Vec<_> = sets.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect();
        let scene = || stiction_study::scenario("clutter", &sets);
        let runs = settings_per_solver(&scene().unwrap().settings, solvers);
        let plan = ComparisonPlan::new("clutter", runs, steps).unwrap();
        compare::<StudyError>(&plan, scene, |_| ControlFlow::Continue(())).unwrap()
    }

    #[test]
    fn the_report_names_every_solver_and_nothing_outside_itself() {
        let solvers = ["sap", "canal", "pgs"];
        let found = comparison(&solvers, &[("bodies", "4")], 40);
        let making = ReportProvenance { command: "stiction compare <clutter>".into(), threads: 1 };
        let page = page(&found, &making).unwrap();
        assert!(solvers.iter().all(|solver| page.contains(&format!("<th scope=\"col\">{solver}"))));
        assert_eq!(page.matches("class=\"recording\"").count(), solvers.len());
        assert_eq!(page.matches("class=\"motion\"").count(), solvers.len());
        for mark in ["http:", "https:", "//cdn", "@import", "src=\"", "url("] {
            assert!(!page.contains(mark), "{mark}");
        }
        assert!(!report_text::body(&found, &making).contains("NaN"));
        assert!(page.contains("default-src 'none'"));
        assert!(page.contains("stiction compare &lt;clutter&gt;"));
    }

    #[test]
    fn a_report_on_runs_that_never_began_or_met_nothing_still_stands() {
        let sets = [("bodies", "2"), ("friction-model", "coulomb")];
        let found = comparison(&["sap", "apgd"], &sets, 40);
        assert_eq!(found.reference, None);
        let body = report_text::body(&found, &ReportProvenance::default());
        assert!(body.contains("did not run") && !body.contains("NaN"));
        assert!(!page(&found, &ReportProvenance::default()).unwrap().contains("class=\"motion\""));
        // Two steps of free fall: nothing touches, nothing can be captured.
        let found = comparison(&["canal"], &[("bodies", "1")], 2);
        assert!(found.captured.is_empty());
        assert!(!report_text::body(&found, &ReportProvenance::default()).contains("NaN"));
    }
}
