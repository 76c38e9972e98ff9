//! `stiction reproduce` as a user calls it.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

#[allow(dead_code)] // each file of tests calls its own part
mod common;

use common::{json, run, scratch};

#[test]
fn an_experiment_shows_the_published_numbers_beside_ours() {
    let page = scratch("reproduce", "box.html");
    let page = page.to_str().unwrap();
    let call = ["reproduce", "cond-table-1", "--quick", "--json", "--report", page];
    let (status, document) = json(&call);
    assert_eq!(status, 0);
    let experiment = &document["experiments"][0];
    assert_eq!(experiment["name"], "cond-table-1");
    let rows = experiment["sheets"][0]["rows"].as_array().unwrap();
    let of = |source: &str| rows.iter().filter(|row| row["source"] == source).count();
    assert_eq!((of("paper"), of("ours")), (7, 7));
    assert!(!experiment["remarks"].as_array().unwrap().is_empty());
    let text = std::fs::read_to_string(page).unwrap();
    assert!(text.contains("<table>") && text.contains("k_v = 1e4"));
}

#[test]
fn curves_over_iterations_and_time_are_drawn_beside_the_digits_in_text() {
    let page = scratch("reproduce", "nut.html");
    let call = ["reproduce", "al-fig-7", "--quick", "--json", "--report", page.to_str().unwrap()];
    let (status, document) = json(&call);
    assert_eq!(status, 0);
    let sheets = document["experiments"][0]["sheets"].as_array().unwrap();
    assert_eq!(sheets.len(), 2);
    let rows = sheets[0]["rows"].as_array().unwrap();
    let canal = rows.iter().find(|r| r["source"] == "ours" && r["cells"]["solver"] == "canal");
    let digits = canal.unwrap()["cells"]["digits in the end"].as_f64().unwrap();
    assert!(digits >= 8.0, "{digits}"); // the paper's
    let text = std::fs::read_to_string(page).unwrap();
    assert!(text.contains("<svg") && text.contains("time [ms]"));
}

#[test]
fn a_report_that_ends_in_md_is_written_in_markdown() {
    let page = scratch("reproduce", "box.md");
    let call = ["reproduce", "cond-table-1", "--quick", "--report", page.to_str().unwrap()];
    let (status, stdout, stderr) = run(&call);
    assert_eq!((status, stderr.as_str()), (0, ""), "{stdout}");
    let text = std::fs::read_to_string(page).unwrap();
    assert!(
        text.contains("## cond-table-1 [Lee23]") && text.contains("\n| paper | COND"),
        "{text}"
    );
}

#[test]
fn experiments_are_listed_by_the_help_and_unknown_ones_refused() {
    let (status, help, _) = run(&["reproduce", "--help"]);
    assert_eq!(status, 0);
    assert!(
        help.contains("al-table-3") && help.contains("cond-table-9") && help.contains("Examples:"),
        "{help}"
    );
    let (status, _, stderr) = run(&["reproduce", "cond-table-10"]);
    assert_eq!(status, 2);
    assert!(stderr.contains("cond-table-10") && stderr.contains("cond-fig-11"), "{stderr}");
}
