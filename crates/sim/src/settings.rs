//! What a run can be asked for: time step, scheme, solver and its goal, stabilisation, sleeping.

use crate::error::SettingsError;
use crate::scheme::Scheme;
use crate::surface::Combine;
use stiction_solve::law::FrictionModel;

/// Settings of a simulation. Physical parameters of bodies and surfaces are in the world.
#[derive(Clone, Debug, PartialEq)]
pub struct Settings {
    /// Time step h [s].
    pub time_step: f64,
    /// How time is discretised.
    pub scheme: Scheme,
    /// Name of the contact solver.
    pub solver: String,
    /// Parameters of the solver, by name.
    pub solver_settings: Vec<(String, String)>,
    /// Violation of the contact laws to reach, relative to the reference velocity [-]. The default
    /// solver may err a thousand times as much, relative to the fastest motion at a constraint,
    /// where that spares it long work: the impacts of a pile.
    pub tolerance: f64,
    /// Iterations of the solver; `None` leaves them to it.
    pub max_iterations: Option<usize>,
    /// Friction model; `None` leaves it to the solver.
    pub friction_model: Option<FrictionModel>,
    /// How coefficients of friction combine.
    pub combine: Combine,
    /// How penetration and open joints are removed.
    pub stabilisation: Stabilisation,
    /// When to stop computing what does not move; `None` never.
    pub sleep: Option<Sleep>,
    /// How often soft bodies in contact whose material is more than linear within a step are
    /// linearised again where the step leads. With none, once, where they would move without contact
    /// [Han23, Sec. IV].
    pub relinearisations: usize,
}

/// Removal of position errors, apart from the velocities, so that it adds no energy and cannot
/// make the friction problem unsolvable.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Stabilisation {
    /// Penetration that is left alone [m].
    pub slop: f64,
    /// Largest speed of removal [m/s].
    pub max_speed: f64,
    /// Largest error of an equality that is left [m, rad].
    pub closure: f64,
}

impl Default for Stabilisation {
    fn default() -> Self {
        Self { slop: 1e-5, max_speed: 1.0, closure: 1e-9 }
    }
}

/// When an island falls asleep. Dry friction that truly sticks lets things come to rest exactly,
/// so that the threshold can be far below any motion of interest.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sleep {
    /// Largest speed of anything in an island that may fall asleep [m/s, rad/s].
    pub speed: f64,
    /// How long it must have been that slow [s].
    pub patience: f64,
}

impl Default for Sleep {
    fn default() -> Self {
        Self { speed: 1e-4, patience: 0.25 }
    }
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            time_step: 0.002,
            scheme: Scheme::default(),
            solver: "auto".to_owned(),
            solver_settings: Vec::new(),
            tolerance: 1e-6,
            max_iterations: None,
            friction_model: None,
            combine: Combine::default(),
            stabilisation: Stabilisation::default(),
            sleep: None,
            relinearisations: 4,
        }
    }
}

impl Settings {
    /// Whether every number can be what it says.
    pub fn check(&self) -> Result<(), SettingsError> {
        let Stabilisation { slop, max_speed, closure } = self.stabilisation;
        positive("time-step", self.time_step)?;
        positive("tolerance", self.tolerance)?;
        positive("stabilisation.closure", closure)?;
        not_negative("stabilisation.slop", slop)?;
        not_negative("stabilisation.max-speed", max_speed)?;
        if let Some(sleep) = self.sleep {
            not_negative("sleep.speed", sleep.speed)?;
            not_negative("sleep.patience", sleep.patience)?;
        }
        Ok(())
    }

    /// Sets one value by name; `solver.KEY` goes to the solver.
    pub fn set(&mut self, key: &str, value: &str) -> Result<(), SettingsError> {
        let wrong = |expected| SettingsError::Value {
            key: key.to_owned(),
            found: value.to_owned(),
            expected,
        };
        let number = || value.parse::<f64>().map_err(|_| wrong("a number"));
        match key {
            "time-step" => self.time_step = number()?,
            "scheme" => {
                let known = "euler, explicit, implicit, implicit-fast, mid-velocity, midpoint, \
                             refined or symplectic";
                self.scheme = Scheme::parse(value).ok_or_else(|| wrong(known))?;
            }
            "tolerance" => self.tolerance = number()?,
            "max-iterations" => {
                let count = value.parse().map_err(|_| wrong("a whole number"))?;
                self.max_iterations = Some(count);
            }
            "relinearisations" => {
                self.relinearisations = value.parse().map_err(|_| wrong("a whole number"))?;
            }
            "friction-model" => {
                self.friction_model = Some(match value {
                    "coulomb" => FrictionModel::Coulomb,
                    "convex" => FrictionModel::Convex,
                    _ => return Err(wrong("coulomb or convex")),
                });
            }
            "combine" => {
                self.combine = match value {
                    "geometric" => Combine::Geometric,
                    "harmonic" => Combine::Harmonic,
                    "maximum" => Combine::Maximum,
                    "minimum" => Combine::Minimum,
                    _ => return Err(wrong("geometric, harmonic, maximum or minimum")),
                };
            }
            "stabilisation.slop" => self.stabilisation.slop = number()?,
            "stabilisation.max-speed" => self.stabilisation.max_speed = number()?,
            "stabilisation.closure" => self.stabilisation.closure = number()?,
            "sleep" => {
                self.sleep = match value {
                    "true" => Some(Sleep::default()),
                    "false" => None,
                    _ => return Err(wrong("true or false")),
                };
            }
            "sleep.speed" => self.sleep.get_or_insert_default().speed = number()?,
            "sleep.patience" => self.sleep.get_or_insert_default().patience = number()?,
            _ => match key.strip_prefix("solver.") {
                Some(name) => self.solver_settings.push((name.to_owned(), value.to_owned())),
                None => {
                    return Err(SettingsError::Unknown { key: key.to_owned(), known: KEYS });
                }
            },
        }
        self.check()
    }
}

/// Every key of [`Settings::set`].
pub const KEYS: &str = "combine, friction-model, max-iterations, relinearisations, scheme, sleep, sleep.patience, \
     sleep.speed, solver.KEY, stabilisation.closure, \
     stabilisation.max-speed, stabilisation.slop, time-step, tolerance";

fn positive(key: &str, value: f64) -> Result<(), SettingsError> {
    let fine = value > 0.0 && value.is_finite();
    fine.then_some(()).ok_or_else(|| SettingsError::Value {
        key: key.to_owned(),
        found: value.to_string(),
        expected: "a positive number",
    })
}

fn not_negative(key: &str, value: f64) -> Result<(), SettingsError> {
    let fine = value >= 0.0 && value.is_finite();
    fine.then_some(()).ok_or_else(|| SettingsError::Value {
        key: key.to_owned(),
        found: value.to_string(),
        expected: "a number that is not negative",
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_listed_key_can_be_set_and_no_other() {
        let mut settings = Settings::default();
        for key in KEYS.split(", ") {
            let value = match key {
                "combine" => "maximum",
                "friction-model" => "convex",
                "scheme" => "midpoint",
                "sleep" => "true",
                "max-iterations" | "relinearisations" => "7",
                _ => "0.125",
            };
            settings.set(key, value).unwrap();
        }
        assert_eq!(settings.time_step, 0.125);
        assert_eq!(settings.solver_settings.len(), 1);
        assert!(settings.set("gravitas", "1").is_err());
    }

    #[test]
    fn absurd_values_are_refused() {
        for (key, value) in [
            ("time-step", "0"),
            ("time-step", "NaN"),
            ("time-step", "inf"),
            ("tolerance", "-1"),
            ("stabilisation.slop", "-1"),
            ("scheme", "leapfrog"),
            ("max-iterations", "many"),
        ] {
            assert!(Settings::default().set(key, value).is_err(), "{key} = {value}");
        }
    }
}
