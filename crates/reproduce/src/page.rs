//! The report as one self-contained page: tables, vector plots, remarks.

use std::fmt::Write;

use crate::{Experiment, ExperimentResult, RowSource, Sheet};

const STYLE: &str = "
body { font: 15px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 62rem; padding: 0 1rem; color: #1a1a1a }
h1 { font-size: 1.6rem } h2 { font-size: 1.2rem; margin-top: 2.5rem; border-top: 1px solid #ddd; padding-top: 1rem }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; margin: .5rem 0 1rem }
caption { text-align: left; font-weight: 600; padding: .3rem 0 }
th, td { padding: .15rem .7rem; text-align: right; white-space: nowrap } th:first-child, td:first-child { text-align: left }
thead th { border-bottom: 1px solid #888; font-weight: 600 } tr.paper td { color: #555; background: #f4f4f1 }
.wide { overflow-x: auto } li { margin: .3rem 0 } code { background: #f2f2f2; padding: 0 .2rem } svg { max-width: 100%; height: auto }
@media (prefers-color-scheme: dark) { body { background: #16181c; color: #e4e4e4 } tr.paper td { background: #22252b; color: #aaa }
  code { background: #2a2d33 } h2 { border-color: #444 } svg { background: #fff } }
";

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

/// The report on experiments and the command that made it.
pub fn page(found: &[(&Experiment, ExperimentResult)], command: &str) -> String {
    let mut out = format!(
        "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\
         <meta name=\"viewport\" content=\"width=device-width\">\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src \
         'unsafe-inline'\"><title>Reproduced experiments</title><style>{STYLE}</style></head><body>\n\
         <h1>Reproduced experiments of the papers</h1>\n\
         <p>Grey rows are published; the others were measured by <code>{}</code>. Times are CPU times. \
         <em>θ</em> is the paper's rule, a change of the unknowns below a threshold; <em>r</em> is the \
         violation of the laws and of momentum, measured on the problem in the same way for every solver.</p>\n",
        escaped(command)
    );
    for (experiment, outcome) in found {
        let _ = writeln!(
            out,
            "<h2 id=\"{0}\">{0} <small>[{1}]</small></h2>\n<p>{2}</p>",
            escaped(experiment.name),
            escaped(experiment.cite),
            escaped(experiment.about)
        );
        outcome.sheets.iter().for_each(|sheet| table(&mut out, sheet));
        for figure in &outcome.figures {
            // Inline SVG needs no XML namespace.
            out += &figure.to_svg().replacen(" xmlns=\"http://www.w3.org/2000/svg\"", "", 1);
            out.push('\n');
        }
        if !outcome.remarks.is_empty() {
            let items = outcome.remarks.iter().map(|r| format!("<li>{}</li>", escaped(r)));
            let _ = writeln!(out, "<ul>{}</ul>", items.collect::<String>());
        }
    }
    out += "</body></html>\n";
    out
}

fn table(out: &mut String, sheet: &Sheet) {
    let _ = write!(
        out,
        "<div class=\"wide\"><table><caption>{}</caption><thead><tr><th scope=\"col\"></th>",
        escaped(&sheet.title)
    );
    for name in &sheet.heading {
        let _ = write!(out, "<th scope=\"col\">{}</th>", escaped(name));
    }
    *out += "</tr></thead><tbody>\n";
    for row in &sheet.rows {
        let class = if row.source == RowSource::Paper { " class=\"paper\"" } else { "" };
        let _ = write!(out, "<tr{class}><td>{}</td>", row.source.name());
        for cell in &row.cells {
            let _ = write!(out, "<td>{}</td>", escaped(&cell.text()));
        }
        *out += "</tr>\n";
    }
    *out += "</tbody></table></div>\n";
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::EXPERIMENTS;

    #[test]
    fn the_page_is_self_contained() {
        let mut sheet = Sheet::new("a < b", &["who"]);
        sheet.row(RowSource::Paper, ["<script>".into()]);
        let figure = stiction_plot::Figure::new("f");
        let outcome = ExperimentResult {
            sheets: vec![sheet],
            figures: vec![figure],
            remarks: vec!["&".into()],
        };
        let page = page(&[(&EXPERIMENTS[0], outcome)], "stiction reproduce <x>");
        assert!(page.contains("&lt;script&gt;") && page.contains("reproduce &lt;x&gt;"));
        for mark in ["http:", "https:", "<script", "src=", "url(", "@import"] {
            assert!(!page.contains(mark), "{mark}");
        }
    }
}
