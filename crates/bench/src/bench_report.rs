//! The result of a benchmark and its output: text or JSON on standard output, figures as SVG.

use std::io::{ErrorKind, Write, stdout};
use std::path::Path;

use serde_json::{Value, json};
use stiction_plot::Figure;

use crate::error::BenchError;

/// The result of a subcommand.
pub struct BenchReport {
    /// The result as text.
    pub text: String,
    /// The result as a JSON object.
    pub json: Value,
    /// Figures with their names, which become file names.
    pub figures: Vec<(String, Figure)>,
}

impl BenchReport {
    /// Writes the figures and prints the rest.
    pub fn show(mut self, as_json: bool, folder: &Path) -> Result<(), BenchError> {
        let failed = |source| BenchError::Folder {
            path: folder.to_path_buf(),
            wanted: "written to",
            source,
        };
        let mut paths = Vec::new();
        if !self.figures.is_empty() {
            std::fs::create_dir_all(folder).map_err(failed)?;
        }
        for (name, figure) in &self.figures {
            let path = folder.join(format!("{name}.svg"));
            figure.write(&path).map_err(failed)?;
            paths.push(path.display().to_string());
        }
        let text = if as_json {
            self.json["figures"] = json!(paths);
            format!("{:#}\n", self.json)
        } else {
            paths.iter().fold(self.text, |text, path| format!("{text}wrote {path}\n"))
        };
        let mut out = stdout().lock();
        match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
            Err(error) if error.kind() != ErrorKind::BrokenPipe => Err(BenchError::Output(error)),
            _ => Ok(()),
        }
    }
}
