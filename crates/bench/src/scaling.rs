//! `cond-scaling`: command line of [`crate::cond_scaling`].

use std::path::Path;

use clap::ValueEnum;

use crate::cond_scaling::{self, Shape};
use crate::error::BenchError;

/// Arguments of `cond-scaling`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  stiction-bench cond-scaling
  stiction-bench cond-scaling cube --sizes 1000,8000 --repetitions 3")]
pub struct CondScalingArgs {
    /// Shape of the body
    #[arg(value_enum, default_value = "bar")]
    shape: ShapeName,
    /// Approximate numbers of velocities, separated by commas
    #[arg(
        long,
        value_name = "N",
        value_delimiter = ',',
        default_value = "1000,2000,4000,8000,16000,32000,50000",
        value_parser = clap::value_parser!(u32).range(24..)
    )]
    sizes: Vec<u32>,
    /// Repetitions of each measurement
    #[arg(long, value_name = "N", default_value = "7", value_parser = clap::value_parser!(u16).range(1..))]
    repetitions: u16,
}

/// Shapes by name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum ShapeName {
    /// Grows in length
    Bar,
    /// Grows in all directions
    Cube,
}

impl CondScalingArgs {
    /// Measures, prints and writes a figure into the folder.
    pub fn run(&self, json: bool, folder: &Path) -> Result<(), BenchError> {
        if json {
            return Err(BenchError::NoJson { command: "cond-scaling" });
        }
        let (shape, name) = match self.shape {
            ShapeName::Bar => (Shape::Bar, "bar"),
            ShapeName::Cube => (Shape::Cube, "cube"),
        };
        std::fs::create_dir_all(folder).map_err(|source| BenchError::Folder {
            path: folder.to_path_buf(),
            wanted: "written to",
            source,
        })?;
        let figure = folder.join(format!("cond-scaling-{name}.svg"));
        let sizes: Vec<usize> = self.sizes.iter().map(|n| *n as usize).collect();
        cond_scaling::run(shape, &sizes, usize::from(self.repetitions), &figure)
            .map_err(BenchError::Scaling)
    }
}
