//! The tables of experiments in Markdown: to be kept beside the code.

use std::fmt::Write;

use crate::{Experiment, Outcome, Sheet};

/// The report on experiments, made by a call that can be repeated. Figures are left out.
pub fn markdown(found: &[(&Experiment, Outcome)], command: &str) -> String {
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

/// Text in which nothing is a mark.
fn escaped(text: &str) -> String {
    let mark =
        |c: char| if matches!(c, '|' | '<' | '*' | '_') { format!("\\{c}") } else { c.into() };
    text.chars().map(mark).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{EXPERIMENTS, Source};

    #[test]
    fn every_row_has_as_many_cells_as_the_heading() {
        let mut sheet = Sheet::new("a | b", &["who", "x [m]"]);
        sheet.row(Source::Paper, ["k_v < 1".into(), 0.5.into()]);
        let outcome = Outcome { sheets: vec![sheet], ..Outcome::default() }.remark("because");
        let text = markdown(&[(&EXPERIMENTS[0], outcome)], "stiction reproduce");
        let rows: Vec<&str> = text.lines().filter(|line| line.starts_with('|')).collect();
        assert_eq!(rows.len(), 3);
        for row in rows {
            assert_eq!(row.matches('|').count(), 4, "{row}");
        }
        assert!(text.contains("k\\_v \\< 1") && text.contains("- because"), "{text}");
    }
}
