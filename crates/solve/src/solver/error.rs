//! Errors of choosing and setting a solver.

use crate::setting::SettingError;

/// Why a solver cannot be used as requested.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SolverError {
    /// No solver of that name.
    #[error("unknown solver '{found}'; expected one of {known}")]
    UnknownSolver {
        /// The name found.
        found: String,
        /// The names there are.
        known: String,
    },
    /// A setting that the solver does not have, or a value out of range.
    #[error(transparent)]
    Setting(#[from] SettingError),
    /// A friction model that the solver does not solve for.
    #[error("solver '{solver}' does not solve for {found} friction")]
    FrictionModel {
        /// The solver.
        solver: &'static str,
        /// The requested model.
        found: &'static str,
    },
}
