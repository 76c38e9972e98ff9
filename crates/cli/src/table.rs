//! Text in columns, as wide as their widest cell.

use crate::terminal::{TextStyle, paint};

/// Alignment of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Align {
    Left,
    Right,
}

/// Rows of cells, each with a style.
pub struct Table {
    columns: Vec<Align>,
    rows: Vec<Vec<(String, TextStyle)>>,
}

impl Table {
    /// A table without rows.
    pub fn new(columns: &[Align]) -> Self {
        Self { columns: columns.to_vec(), rows: Vec::new() }
    }

    /// Adds a row.
    pub fn row(&mut self, cells: impl IntoIterator<Item = (String, TextStyle)>) {
        self.rows.push(cells.into_iter().collect());
    }

    /// Adds a row in one style.
    pub fn toned(&mut self, tone: TextStyle, cells: &[&str]) {
        self.row(cells.iter().map(|cell| ((*cell).to_owned(), tone)));
    }

    /// The text, each line indented by `indent` and without trailing blanks.
    pub fn render(&self, indent: &str, colours: bool) -> String {
        let width = |column: usize| {
            let cells = self.rows.iter().filter_map(|row| row.get(column));
            cells.map(|(text, _)| text.chars().count()).max().unwrap_or(0)
        };
        let widths: Vec<usize> = (0..self.columns.len()).map(width).collect();
        let mut out = String::new();
        for row in &self.rows {
            let mut line = indent.to_owned();
            for (column, (text, tone)) in row.iter().enumerate() {
                let blanks = " ".repeat(widths[column] - text.chars().count());
                let between = if column == 0 || widths[column] == 0 { "" } else { "  " };
                let text = paint(text, *tone, colours);
                line += &match self.columns[column] {
                    Align::Left => format!("{between}{text}{blanks}"),
                    Align::Right => format!("{between}{blanks}{text}"),
                };
            }
            out += line.trim_end();
            out.push('\n');
        }
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_as_wide_as_their_widest_cell() {
        let mut table = Table::new(&[Align::Left, Align::Right, Align::Left]);
        table.toned(TextStyle::Plain, &["µ", "12", "x"]);
        table.toned(TextStyle::Plain, &["long", "3", ""]);
        assert_eq!(table.render(" ", false), " µ     12  x\n long   3\n");
    }
}
