//! The problem that `stiction solve` solves: a file, or an entry of the catalogue.

use std::path::Path;

use stiction_solve::catalogue::{self, CATALOGUE, Variation};
use stiction_solve::file::{self, FileError, LoadOptions, RawProblem};
use stiction_solve::problem::FromFile;
use stiction_solve::{FrictionModel, Problem};

use crate::args::SolveArgs;
use crate::error::CommandError;

/// A checked problem with its source arrays.
pub struct LoadedProblem {
    /// The arrays, in the order of the file.
    pub raw: RawProblem,
    /// The problem and the map back to that order.
    pub built: FromFile,
}

impl LoadedProblem {
    /// Reference velocities of the file for a friction model.
    pub fn reference(&self, model: FrictionModel) -> Option<Vec<f64>> {
        let key = match model {
            FrictionModel::Coulomb => "v_ncp",
            FrictionModel::Convex => "v_ccp",
        };
        let velocities = self.raw.extra.get(key)?.to_f64();
        (velocities.len() == self.raw.n).then_some(velocities)
    }
}

/// Loads the problem named in the arguments. A name of the catalogue takes precedence over a file;
/// `./NAME` is always a file.
pub fn load_target(args: &SolveArgs) -> Result<LoadedProblem, CommandError> {
    let target = args.target.display().to_string();
    let failed = |source| CommandError::Problem { target: target.clone(), source };
    if let Some(entry) = args.target.to_str().and_then(catalogue::find) {
        let problem = (entry.build)(&variation(args)).map_err(failed)?;
        return Ok(from_catalogue(problem));
    }
    let raw = load_file(&args.target, args.symmetrise)?;
    refuse_catalogue_options(args, &target)?;
    let built = Problem::from_raw(&raw).map_err(failed)?;
    Ok(LoadedProblem { raw, built })
}

fn variation(args: &SolveArgs) -> Variation {
    Variation {
        seed: args.seed.unwrap_or_default(),
        friction: args.mu,
        mass_ratio: args.mass_ratio,
        wrench: args.wrench.unwrap_or_default(),
        size: args.size.unwrap_or_default(),
    }
}

fn from_catalogue(problem: Problem) -> LoadedProblem {
    let raw = problem.to_raw();
    let (velocity_order, row_order) = ((0..raw.n).collect(), (0..raw.m).collect());
    LoadedProblem { raw, built: FromFile { problem, velocity_order, row_order } }
}

fn load_file(path: &Path, symmetrise: bool) -> Result<RawProblem, CommandError> {
    let options = LoadOptions { symmetrise };
    file::load(path, options).map_err(|error| match error {
        FileError::Io { source, .. } if source.kind() == std::io::ErrorKind::NotFound => {
            let known: Vec<&str> = CATALOGUE.iter().map(|entry| entry.name).collect();
            let target = path.display().to_string();
            CommandError::NoSuchProblem { target, known: known.join(", ") }
        }
        other => other.into(),
    })
}

/// Refuses options of catalogue problems for files.
fn refuse_catalogue_options(args: &SolveArgs, target: &str) -> Result<(), CommandError> {
    let given = [
        ("--seed", args.seed.is_some()),
        ("--size", args.size.is_some()),
        ("--mu", args.mu.is_some()),
        ("--mass-ratio", args.mass_ratio.is_some()),
        ("--wrench", args.wrench.is_some()),
    ];
    match given.iter().find(|(_, given)| *given) {
        None => Ok(()),
        Some((option, _)) => Err(CommandError::Option {
            option: (*option).to_owned(),
            found: format!("the file {target}"),
            expected: "a problem of the catalogue".to_owned(),
        }),
    }
}
