//! Parameters of scenarios: named numbers with defaults, set from the outside by text.

use crate::error::StudyError;

/// A parameter that a scenario declares.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Parameter {
    /// Name.
    pub name: &'static str,
    /// Value if nobody sets it.
    pub default: f64,
    /// Smallest value that makes sense.
    pub least: f64,
    /// Largest value that makes sense.
    pub most: f64,
    /// What it is, with its unit.
    pub about: &'static str,
}

/// Values of a scenario's parameters.
#[derive(Clone, Debug)]
pub struct Parameters {
    scenario: &'static str,
    declared: &'static [Parameter],
    values: Vec<f64>,
}

impl Parameters {
    /// The defaults.
    pub fn new(scenario: &'static str, declared: &'static [Parameter]) -> Self {
        Self { scenario, declared, values: declared.iter().map(|p| p.default).collect() }
    }

    /// Whether a parameter of this name is declared.
    pub fn knows(&self, name: &str) -> bool {
        self.declared.iter().any(|p| p.name == name)
    }

    /// Sets a parameter from text.
    pub fn set(&mut self, name: &str, text: &str) -> Result<(), StudyError> {
        let Some(index) = self.declared.iter().position(|p| p.name == name) else {
            let known = self.declared.iter().map(|p| p.name).collect::<Vec<_>>().join(", ");
            let (scenario, found) = (self.scenario, name.to_owned());
            return Err(StudyError::UnknownParameter { scenario, found, known });
        };
        let Parameter { least, most, .. } = self.declared[index];
        match text.parse::<f64>() {
            Ok(value) if (least..=most).contains(&value) => self.values[index] = value,
            _ => {
                return Err(StudyError::Parameter {
                    scenario: self.scenario,
                    name: self.declared[index].name,
                    found: text.to_owned(),
                    least,
                    most,
                });
            }
        }
        Ok(())
    }

    /// The value of a parameter; NaN if it is not declared, which no check passes.
    pub fn get(&self, name: &str) -> f64 {
        let index = self.declared.iter().position(|p| p.name == name);
        index.map_or(f64::NAN, |index| self.values[index])
    }

    /// The value of a parameter that counts things.
    pub fn count(&self, name: &str) -> usize {
        self.get(name).round() as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DECLARED: &[Parameter] =
        &[Parameter { name: "friction", default: 0.5, least: 0.0, most: 10.0, about: "μ [-]" }];

    #[test]
    fn values_outside_their_range_are_refused_and_leave_the_old_one() {
        let mut parameters = Parameters::new("slide", DECLARED);
        parameters.set("friction", "0.25").unwrap();
        for bad in ["-1", "11", "NaN", "inf", "much"] {
            assert!(parameters.set("friction", bad).is_err(), "{bad}");
        }
        assert_eq!(parameters.get("friction"), 0.25);
        assert!(parameters.set("frictoin", "0.1").unwrap_err().to_string().contains("friction"));
    }
}
