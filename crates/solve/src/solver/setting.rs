//! Parameters of solvers by name, for the command line and for comparisons.

/// Why a setting was refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SettingError {
    /// No solver of that name.
    #[error("unknown solver '{found}'; expected one of {known}")]
    UnknownSolver {
        /// The name found.
        found: String,
        /// The names there are.
        known: String,
    },
    /// No parameter of that name.
    #[error("solver '{solver}' has no setting '{found}'; expected one of {known}")]
    UnknownKey {
        /// The solver.
        solver: &'static str,
        /// The name found.
        found: String,
        /// The names there are.
        known: String,
    },
    /// A value that cannot be read.
    #[error("setting '{key}' of solver '{solver}': found '{found}', expected {expected}")]
    Value {
        /// The solver.
        solver: &'static str,
        /// The parameter.
        key: &'static str,
        /// The text found.
        found: String,
        /// What it should be.
        expected: String,
    },
    /// A friction model that the solver does not solve for.
    #[error("solver '{solver}' does not solve for {found} friction")]
    FrictionModel {
        /// The solver.
        solver: &'static str,
        /// The model asked for.
        found: &'static str,
    },
}

/// A parameter that can be read from and written as text.
pub trait Value {
    /// As text.
    fn get(&self) -> String;
    /// From text; the error says what was expected.
    fn set(&mut self, text: &str) -> Result<(), String>;
}

impl Value for f64 {
    fn get(&self) -> String {
        format!("{self:e}")
    }
    fn set(&mut self, text: &str) -> Result<(), String> {
        let value = text.parse::<f64>().ok().filter(|x| x.is_finite() && *x >= 0.0);
        *self = value.ok_or("a finite number, not negative")?;
        Ok(())
    }
}

impl Value for usize {
    fn get(&self) -> String {
        self.to_string()
    }
    fn set(&mut self, text: &str) -> Result<(), String> {
        *self = text.parse().map_err(|_| "a whole number, not negative")?;
        Ok(())
    }
}

impl Value for bool {
    fn get(&self) -> String {
        self.to_string()
    }
    fn set(&mut self, text: &str) -> Result<(), String> {
        *self = text.parse().map_err(|_| "true or false")?;
        Ok(())
    }
}

/// A parameter of a solver.
pub struct Setting<'a> {
    /// Name.
    pub name: &'static str,
    /// What it does, with its unit.
    pub about: &'static str,
    /// Its place.
    pub value: &'a mut dyn Value,
}

impl<'a> Setting<'a> {
    /// A parameter at a place.
    pub fn new(name: &'static str, about: &'static str, value: &'a mut dyn Value) -> Self {
        Self { name, about, value }
    }
}

pub(super) fn set(
    solver: &'static str,
    settings: Vec<Setting<'_>>,
    key: &str,
    text: &str,
) -> Result<(), SettingError> {
    let known = settings.iter().map(|s| s.name).collect::<Vec<_>>().join(", ");
    let Some(setting) = settings.into_iter().find(|s| s.name == key) else {
        return Err(SettingError::UnknownKey { solver, found: key.to_owned(), known });
    };
    setting.value.set(text).map_err(|expected| SettingError::Value {
        solver,
        key: setting.name,
        found: text.to_owned(),
        expected,
    })
}
