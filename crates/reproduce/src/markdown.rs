//! The tables of experiments in Markdown.

use std::fmt::Write;

use crate::{Experiment, ExperimentResult, Sheet};

/// The report on experiments and the command that made it, without figures.
pub fn markdown(found: &[(&Experiment, ExperimentResult)], command: &str) -> String {
    let mut out = format!("`{command}`\n");
    for (experiment, outcome) in found {
        let (name, cite, about) = (experiment.name, experiment.cite, experiment.about);
        let _ = writeln!(out, "\n## {name} [{cite}]\n\n{about}\n");
        outcome.sheets.iter().for_each(|sheet| table(&mut out, sheet));
        for remark in &outcome.remarks {
            let _ = writeln!(out, "- {}", escaped(remark));
        }
    }
    out
}

fn table(out: &mut String, sheet: &Sheet) {
    let _ = writeln!(out, "**{}**\n", escaped(&sheet.title));
    let heading: Vec<String> = sheet.heading.iter().map(|name| escaped(name)).collect();
    let _ = writeln!(out, "| | {} |\n|---|{}", heading.join(" | "), "---|".repeat(heading.len()));
    for row in &sheet.rows {
        let cells: Vec<String> = row.cells.iter().map(|cell| escaped(&cell.text())).collect();
        let _ = writeln!(out, "| {} | {} |", row.source.name(), cells.join(" | "));
    }
    out.push('\n');
}

/// Text with Markdown's special characters escaped.
fn escaped(text: &str) -> String {
    let mark =
        |c: char| if matches!(c, '|' | '<' | '*' | '_') { format!("\\{c}") } else { c.into() };
    text.chars().map(mark).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{EXPERIMENTS, RowSource};

    #[test]
    fn every_row_has_as_many_cells_as_the_heading() {
        let mut sheet = Sheet::new("a | b", &["who", "x [m]"]);
        sheet.row(RowSource::Paper, ["k_v < 1".into(), 0.5.into()]);
        let outcome = ExperimentResult { sheets: vec![sheet], ..ExperimentResult::default() }
            .remark("because");
        let text = markdown(&[(&EXPERIMENTS[0], outcome)], "stiction reproduce");
        let rows: Vec<&str> = text.lines().filter(|line| line.starts_with('|')).collect();
        assert_eq!(rows.len(), 3);
        for row in rows {
            assert_eq!(row.matches('|').count(), 4, "{row}");
        }
        assert!(text.contains("k\\_v \\< 1") && text.contains("- because"), "{text}");
    }
}
