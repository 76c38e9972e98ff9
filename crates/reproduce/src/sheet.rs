//! The result of an experiment: sheets with the paper's rows and ours, figures, and remarks on their
//! differences; as text and as a JSON document.

use serde_json::{Map, Value, json};
use stiction_plot::Figure;

use crate::table::Table;

/// Origin of a row's numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RowSource {
    /// Published.
    Paper,
    /// Measured here.
    Ours,
}

impl RowSource {
    /// Name in tables and JSON.
    pub fn name(self) -> &'static str {
        match self {
            Self::Paper => "paper",
            Self::Ours => "ours",
        }
    }
}

/// One cell.
#[derive(Clone, Debug, PartialEq)]
pub enum SheetCell {
    /// Words.
    Text(String),
    /// A number; NaN if there is none.
    Number(f64),
}

impl SheetCell {
    /// Formatted text.
    pub fn text(&self) -> String {
        match self {
            Self::Text(text) => text.clone(),
            Self::Number(x) => digits(*x),
        }
    }

    /// The number, if it is one.
    pub fn number(&self) -> Option<f64> {
        match self {
            Self::Number(x) => Some(*x),
            Self::Text(_) => None,
        }
    }

    fn json(&self) -> Value {
        match self {
            Self::Text(text) => json!(text),
            Self::Number(x) => json!(x), // null if it is not finite
        }
    }
}

/// A number in four digits, as papers print them; a dash if there is none.
fn digits(x: f64) -> String {
    let size = x.abs();
    if x.is_nan() {
        return "–".to_owned();
    }
    if x == 0.0 || size.is_infinite() {
        return x.to_string();
    }
    if !(1e-4..1e6).contains(&size) {
        return format!("{x:.1e}");
    }
    let behind = (3.0 - size.log10().floor()).max(0.0) as usize;
    let text = format!("{x:.behind$}");
    if text.contains('.') {
        text.trim_end_matches('0').trim_end_matches('.').to_owned()
    } else {
        text
    }
}

impl From<&str> for SheetCell {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl From<String> for SheetCell {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}

impl From<f64> for SheetCell {
    fn from(x: f64) -> Self {
        Self::Number(x)
    }
}

/// A row of a sheet.
#[derive(Clone, Debug, PartialEq)]
pub struct SheetRow {
    /// Origin of its numbers.
    pub source: RowSource,
    /// Its cells, in the order of the heading.
    pub cells: Vec<SheetCell>,
}

/// A table.
#[derive(Clone, Debug, PartialEq)]
pub struct Sheet {
    /// Title.
    pub title: String,
    /// Names of the columns, with units.
    pub heading: Vec<String>,
    /// The rows.
    pub rows: Vec<SheetRow>,
}

impl Sheet {
    /// A table without rows.
    pub fn new(title: impl Into<String>, heading: &[&str]) -> Self {
        let heading = heading.iter().map(|cell| (*cell).to_owned()).collect();
        Self { title: title.into(), heading, rows: Vec::new() }
    }

    /// Adds a row.
    pub fn row(&mut self, source: RowSource, cells: impl IntoIterator<Item = SheetCell>) {
        self.rows.push(SheetRow { source, cells: cells.into_iter().collect() });
    }

    fn text(&self) -> String {
        let mut heading = vec![""];
        heading.extend(self.heading.iter().map(String::as_str));
        let mut table = Table::new(&heading);
        for row in &self.rows {
            let source = row.source.name().to_owned();
            table.row(std::iter::once(source).chain(row.cells.iter().map(SheetCell::text)));
        }
        format!("{}\n{}", self.title, table.render())
    }

    fn json(&self) -> Value {
        let rows: Vec<Value> = self.rows.iter().map(|row| self.row_json(row)).collect();
        json!({"title": self.title, "rows": rows})
    }

    fn row_json(&self, row: &SheetRow) -> Value {
        let cells: Map<String, Value> = self
            .heading
            .iter()
            .zip(&row.cells)
            .map(|(name, cell)| (name.clone(), cell.json()))
            .collect();
        json!({"source": row.source.name(), "cells": cells})
    }
}

/// The result of an experiment.
#[derive(Clone, Debug, Default)]
pub struct ExperimentResult {
    /// Tables.
    pub sheets: Vec<Sheet>,
    /// Figures.
    pub figures: Vec<Figure>,
    /// Setting of the runs and reasons for differences from the paper.
    pub remarks: Vec<String>,
}

impl ExperimentResult {
    /// Adds a remark.
    #[must_use]
    pub fn remark(mut self, remark: impl Into<String>) -> Self {
        self.remarks.push(remark.into());
        self
    }

    /// The result as text.
    pub fn text(&self) -> String {
        let mut out: String = self.sheets.iter().map(|sheet| sheet.text() + "\n").collect();
        for remark in &self.remarks {
            out += &format!("  – {remark}\n");
        }
        out
    }

    /// The result as JSON.
    pub fn json(&self) -> Value {
        json!({
            "sheets": self.sheets.iter().map(Sheet::json).collect::<Vec<_>>(),
            "remarks": self.remarks,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn published_numbers_are_shown_as_they_were_published() {
        let shown = [0.0033, 1412.0, 39.72, 0.6131, 1.9933, 0.0, f64::NAN, 2.5e-7].map(digits);
        assert_eq!(shown, ["0.0033", "1412", "39.72", "0.6131", "1.993", "0", "–", "2.5e-7"]);
    }

    #[test]
    fn rows_keep_whose_they_are_and_numbers_stay_numbers() {
        let mut sheet = Sheet::new("t", &["who", "x [m]"]);
        sheet.row(RowSource::Paper, ["COND".into(), 0.5.into()]);
        sheet.row(RowSource::Ours, ["COND".into(), f64::NAN.into()]);
        let outcome = ExperimentResult { sheets: vec![sheet], ..ExperimentResult::default() }
            .remark("because");
        let document = outcome.json();
        assert_eq!(document["sheets"][0]["rows"][0]["cells"]["x [m]"], 0.5);
        assert!(document["sheets"][0]["rows"][1]["cells"]["x [m]"].is_null());
        assert!(outcome.text().contains("– because") && outcome.text().contains("paper"));
    }
}
