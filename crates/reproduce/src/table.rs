//! Text tables: the first column is left-aligned, the others right-aligned.

/// Rows of cells under a heading.
pub struct Table {
    rows: Vec<Vec<String>>,
}

impl Table {
    /// A table with its heading.
    pub fn new(heading: &[&str]) -> Self {
        Self { rows: vec![heading.iter().map(|cell| (*cell).to_owned()).collect()] }
    }

    /// Adds a row.
    pub fn row(&mut self, cells: impl IntoIterator<Item = String>) {
        self.rows.push(cells.into_iter().collect());
    }

    /// The formatted table.
    pub fn render(&self) -> String {
        let columns = self.rows.iter().map(Vec::len).max().unwrap_or(0);
        let width = |column: usize| {
            let cells = self.rows.iter().filter_map(|row| row.get(column));
            cells.map(|cell| cell.chars().count()).max().unwrap_or(0)
        };
        let widths: Vec<usize> = (0..columns).map(width).collect();
        let mut out = String::new();
        for row in &self.rows {
            let mut line = String::from("  ");
            for (column, cell) in row.iter().enumerate() {
                let blanks = " ".repeat(widths[column] - cell.chars().count());
                line += &if column == 0 {
                    format!("{cell}{blanks}")
                } else {
                    format!("  {blanks}{cell}")
                };
            }
            out += line.trim_end();
            out.push('\n');
        }
        out
    }
}

/// A number for a cell: three digits, a dash if there is none.
pub fn number(x: f64) -> String {
    match x.abs() {
        _ if x.is_nan() => "–".to_owned(),
        a if a == f64::INFINITY => "∞".to_owned(),
        0.0 => "0".to_owned(),
        a if !(1e-3..1e5).contains(&a) => format!("{x:.1e}"),
        a if a >= 100.0 => format!("{x:.0}"),
        a if a >= 10.0 => format!("{x:.1}"),
        a if a >= 1.0 => format!("{x:.2}"),
        _ => format!("{x:.3}"),
    }
}
