//! Numbers in rows, separated by commas; `#` starts a comment, a first row of words names columns.

use std::path::Path;

use crate::error::SceneError;
use crate::files::Files;

/// Rows of finite numbers, all equally long and at least one.
pub(super) fn read(files: &mut Files, path: &Path) -> Result<Vec<Vec<f64>>, SceneError> {
    let text = files.text(path)?;
    let mut rows: Vec<Vec<f64>> = Vec::new();
    let mut first = true;
    for (number, line) in text.lines().enumerate() {
        let line = line.split('#').next().unwrap_or_default().trim();
        if line.is_empty() {
            continue;
        }
        let wrong = |what: String| SceneError::File {
            path: format!("{}:{}", path.display(), number + 1),
            what,
        };
        let row: Option<Vec<f64>> = line
            .split(',')
            .map(|cell| cell.trim().parse().ok().filter(|x: &f64| x.is_finite()))
            .collect();
        match row {
            Some(row) => {
                if let Some(expected) = rows.first().map(Vec::len).filter(|n| *n != row.len()) {
                    let found = row.len();
                    return Err(wrong(format!("{found} numbers; expected {expected}")));
                }
                rows.push(row);
            }
            None if first => {} // Names of columns.
            None => return Err(wrong(format!("\"{line}\"; expected numbers and commas"))),
        }
        first = false;
    }
    if rows.is_empty() {
        let what = "no rows; expected numbers, separated by commas".to_owned();
        return Err(SceneError::File { path: path.display().to_string(), what });
    }
    Ok(rows)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(text: &str) -> Result<Vec<Vec<f64>>, String> {
        let mut files = Files::in_memory();
        files.insert("t.csv", text.as_bytes());
        read(&mut files, Path::new("t.csv")).map_err(|error| error.to_string())
    }

    #[test]
    fn remarks_and_names_of_columns_are_no_numbers() {
        let text = "time, elbow\n# a remark\n0, 1.5\n\n1e-1,-2 # end\n";
        assert_eq!(rows(text), Ok(vec![vec![0.0, 1.5], vec![0.1, -2.0]]));
    }

    #[test]
    fn uneven_wordy_and_empty_files_are_refused_with_their_line() {
        for (text, expected) in [
            ("1,2\n3\n", "t.csv:2"),
            ("1,2\n3,x", "t.csv:2"),
            ("", "no rows"),
            ("1,inf\n\n1,nan", "t.csv:3"),
        ] {
            let message = rows(text).unwrap_err();
            assert!(message.contains(expected), "{message}");
        }
    }
}
