//! Settings of a simulation: time step, scheme, solver and its tolerance, stabilisation, sleeping.
//!
//! [`Settings`] is a plain struct. Its [`SettingTable`], in `settings/table.rs`, gives every setting a name, unit, range and
//! documentation; command line, scene files, Python, listings and error messages are made from it.

mod table;

use stiction_solve::Session;
use stiction_solve::compliance::NearRigid;
use stiction_solve::law::FrictionModel;
use stiction_solve::setting::{
    NamedSettings, SettingError, SettingSpec, SettingTable, SettingValue,
};

use crate::contact_model::ContactModel;
use crate::error::SettingsError;
use crate::scheme::Scheme;
use crate::soft_surface::TangentialLaw;
use crate::start_errors::StartLaw;
use crate::surface::Combine;

/// Settings of a simulation. Physical parameters of bodies and surfaces are in the world.
#[derive(Clone, Debug, PartialEq)]
pub struct Settings {
    /// Time step h [s].
    pub time_step: f64,
    /// Time-stepping scheme.
    pub scheme: Scheme,
    /// Scheme of the model file, which `scheme = file` stands for.
    pub file_scheme: Option<Scheme>,
    /// Name of the contact solver.
    pub solver: String,
    /// Settings of the solver as text, by name.
    pub solver_settings: Vec<(String, String)>,
    /// Tolerance on the residual of the contact laws, relative to the reference velocity [-]. The
    /// default solver accepts a thousand times as much, relative to the fastest motion at a
    /// constraint, where that saves long work: the impacts of a pile.
    pub tolerance: f64,
    /// Time that a contact problem may take [s], after which the best solution so far is used and the step is flagged;
    /// `None`: as long as it takes. With a budget the bits of a run depend on the machine; `max_iterations` is the
    /// reproducible limit.
    pub budget: Option<f64>,
    /// Largest number of solver iterations; `None`: the solver's own.
    pub max_iterations: Option<usize>,
    /// Friction model; `None`: the solver's own.
    pub friction_model: Option<FrictionModel>,
    /// Rule that combines coefficients of friction.
    pub combine: Combine,
    /// How contacts of rigid bodies are modelled.
    pub contact: ContactModel,
    /// Limits of the compliance of contacts under [`ContactModel::Sap`].
    pub near_rigid: NearRigid,
    /// How contacts that are soft as in MuJoCo are softened along the tangents.
    pub tangential: TangentialLaw,
    /// Removal of penetration and of position errors of joints.
    pub stabilisation: Stabilisation,
    /// Conditions under which islands fall asleep; `None`: never.
    pub sleep: Option<Sleep>,
    /// Largest number of times per step that the forces of soft bodies in contact are linearised
    /// again, for materials that are nonlinear within a step. With zero they are linearised once, at
    /// the motion without contact [Han23, Sec. IV].
    pub relinearisations: usize,
    /// How often a step whose motion is not resolved is halved at most, under the default scheme. The parts are shorter
    /// steps; the report is that of the whole step. With zero it is flagged at once.
    pub divisions: usize,
}

/// Removal of position errors, apart from the velocities, so that it adds no energy and cannot
/// make the friction problem unsolvable.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Stabilisation {
    /// Penetration that is not corrected [m].
    pub slop: f64,
    /// Largest speed of the correction [m/s].
    pub max_speed: f64,
    /// Position error of equalities below which no further correction is made [m, rad].
    pub closure: f64,
    /// How constraints that a state from outside violates are resolved.
    pub start: StartLaw,
}

impl Default for Stabilisation {
    fn default() -> Self {
        Self { slop: 1e-5, max_speed: 1.0, closure: 1e-9, start: StartLaw::default() }
    }
}

/// Conditions under which an island falls asleep. With exact sticking friction bodies come to
/// rest exactly, so that the threshold can be far below any motion of interest.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sleep {
    /// Largest speed of anything in an island that may fall asleep [m/s, rad/s].
    pub speed: f64,
    /// Time that it must have been that slow [s].
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
            file_scheme: None,
            solver: "auto".to_owned(),
            solver_settings: Vec::new(),
            tolerance: 1e-6,
            budget: None,
            max_iterations: None,
            friction_model: None,
            combine: Combine::default(),
            contact: ContactModel::default(),
            near_rigid: NearRigid::default(),
            tangential: TangentialLaw::default(),
            stabilisation: Stabilisation::default(),
            sleep: None,
            relinearisations: 4,
            divisions: 3,
        }
    }
}

/// Other names of settings: the name, and that of the setting.
pub const SETTING_ALIASES: [(&str, &str); 1] = [("accuracy", "tolerance")];

/// The setting that a name stands for.
fn setting_name(key: &str) -> &str {
    SETTING_ALIASES.iter().find(|(alias, _)| *alias == key).map_or(key, |(_, name)| name)
}

/// Prefix of the solver's own settings: `solver.KEY`.
pub const SOLVER_PREFIX: &str = "solver.";

impl Settings {
    /// Names, types, units, ranges, defaults and documentation of all settings, without those of the
    /// solver.
    pub fn specs() -> Vec<SettingSpec> {
        <Self as SettingTable>::specs()
    }

    /// Checks the ranges of all settings.
    pub fn check(&self) -> Result<(), SettingsError> {
        Ok(NamedSettings::check(self)?)
    }

    /// Sets one setting from text; `solver.KEY` is a setting of the solver.
    pub fn set(&mut self, key: &str, text: &str) -> Result<(), SettingsError> {
        self.set_value(key, &SettingValue::Text(text.to_owned()))
    }

    /// Sets one setting; `solver.KEY` is a setting of the solver, which checks it when the simulation
    /// is made. On an error nothing is changed.
    pub fn set_value(&mut self, key: &str, value: &SettingValue) -> Result<(), SettingsError> {
        if let Some(own) = key.strip_prefix(SOLVER_PREFIX) {
            self.set_solver_setting(own, value.to_string());
            return Ok(());
        }
        NamedSettings::set(self, setting_name(key), value).map_err(|error| match error {
            SettingError::UnknownKey { owner, found, known } => {
                let known = format!("{known}, {SOLVER_PREFIX}KEY");
                SettingError::UnknownKey { owner, found, known }.into()
            }
            error => error.into(),
        })
    }

    /// Rank of a setting where several are set at once: the solver comes before its own settings,
    /// which a change of solver drops, and `sleep` after `sleep.speed`, which turns sleeping on.
    pub fn order(key: &str) -> usize {
        match key {
            "solver" => 0,
            _ if key.contains('.') => 1,
            _ => 2,
        }
    }

    /// Sets several settings, in any order. One setting under two names is an error. On an error nothing is changed.
    pub fn set_all<'a>(
        &mut self,
        values: impl IntoIterator<Item = (&'a str, &'a SettingValue)>,
    ) -> Result<(), SettingsError> {
        let mut values: Vec<_> = values.into_iter().collect();
        for (alias, name) in SETTING_ALIASES {
            let is_given = |key: &str| values.iter().any(|(given, _)| *given == key);
            if is_given(alias) && is_given(name) {
                return Err(SettingsError::TwoNames { alias, name });
            }
        }
        values.sort_by_key(|(key, _)| Self::order(key));
        let mut changed = self.clone();
        for (key, value) in values {
            changed.set_value(key, value)?;
        }
        *self = changed;
        Ok(())
    }

    /// Sets several settings, in any order, after selecting a solver if one is named. Settings of
    /// the solver that were there before apply only if the solver stays the same. On an error
    /// nothing is changed.
    pub fn set_with_solver<'a>(
        &mut self,
        solver: Option<&str>,
        values: impl IntoIterator<Item = (&'a str, &'a SettingValue)>,
    ) -> Result<(), SettingsError> {
        let mut changed = self.clone();
        if let Some(solver) = solver {
            changed.select_solver(solver);
        }
        changed.set_all(values)?;
        *self = changed;
        Ok(())
    }

    /// Sets a setting of the solver, in place of an earlier value.
    pub fn set_solver_setting(&mut self, key: &str, text: String) {
        match self.solver_settings.iter_mut().find(|(name, _)| name == key) {
            Some((_, value)) => *value = text,
            None => self.solver_settings.push((key.to_owned(), text)),
        }
    }

    /// Selects a solver by name. Settings of another solver are dropped.
    pub fn select_solver(&mut self, name: &str) {
        if name != self.solver {
            self.solver_settings.clear();
            name.clone_into(&mut self.solver);
        }
    }

    /// Names and values of all settings, without those of the solver.
    pub fn values(&self) -> impl Iterator<Item = (&'static str, SettingValue)> + '_ {
        Self::FIELDS.iter().map(|field| (field.name, (field.get)(self)))
    }

    /// Names and values of all settings of the solver. Fails if the solver is unknown or refuses one
    /// of its settings.
    pub fn solver_values(&self) -> Result<Vec<(&'static str, SettingValue)>, SettingsError> {
        let mut session = Session::new(&self.solver)?;
        for (key, value) in &self.solver_settings {
            session.set(key, value)?;
        }
        let Some(settings) = session.settings() else { return Ok(Vec::new()) };
        let read = |spec: SettingSpec| Ok((spec.name, settings.get(spec.name)?));
        settings.specs().into_iter().map(read).collect()
    }

    /// Names of all settings, for messages.
    pub fn known_keys() -> String {
        let names: Vec<&str> = Self::FIELDS.iter().map(|field| field.name).collect();
        format!("{}, {SOLVER_PREFIX}KEY", names.join(", "))
    }
}

#[cfg(test)]
mod tests {
    use stiction_solve::setting::SettingKind;

    use super::*;

    fn text(text: &str) -> SettingValue {
        SettingValue::Text(text.to_owned())
    }

    /// A value in range that is not the default.
    fn other_value(spec: &SettingSpec) -> SettingValue {
        match &spec.kind {
            SettingKind::Flag => SettingValue::Flag(spec.default != SettingValue::Flag(true)),
            SettingKind::Count => SettingValue::Count(7),
            SettingKind::Number => SettingValue::Number(0.125),
            SettingKind::Choice(names) => {
                let other = names.iter().map(|name| text(name)).find(|name| *name != spec.default);
                other.unwrap()
            }
            SettingKind::Text => text("other"),
        }
    }

    #[test]
    fn every_setting_is_read_back_as_it_was_set_by_text_and_by_value() {
        for spec in Settings::specs() {
            let value = other_value(&spec);
            let mut settings = Settings::default();
            settings.set(spec.name, &value.to_string()).unwrap();
            assert_ne!(settings, Settings::default(), "{}", spec.name);
            let read = |settings: &Settings| settings.values().find(|(name, _)| *name == spec.name);
            assert_eq!(read(&settings), Some((spec.name, value.clone())));
            let mut by_value = Settings::default();
            by_value.set_value(&spec.keyword(), &value).unwrap();
            assert_eq!(by_value, settings, "{}", spec.name);
        }
    }

    #[test]
    fn settings_are_named_once_in_alphabetical_order_and_documented() {
        let specs = Settings::specs();
        assert!(specs.is_sorted_by(|a, b| a.name < b.name));
        assert!(specs.iter().all(|spec| !spec.doc.is_empty() && !spec.doc.ends_with('.')));
        let numbers = specs.iter().filter(|spec| spec.kind == SettingKind::Number);
        assert!(numbers.clone().all(|spec| !spec.unit.is_empty() && !spec.range.contains(-1.0)));
    }

    #[test]
    fn values_out_of_range_are_refused_with_the_range_and_change_nothing() {
        for (key, value, expected) in [
            ("time-step", "0", "> 0 [s]"),
            ("time-step", "NaN", "a finite number"),
            ("time-step", "inf", "a finite number"),
            ("tolerance", "-1", "> 0"),
            ("budget", "0", "> 0 [s]"),
            ("stabilisation.slop", "-1", "≥ 0 [m]"),
            ("stabilisation.closure", "0", "> 0 [m, rad]"),
            ("sleep.speed", "-1", "≥ 0"),
            ("scheme", "leapfrog", "midpoint"),
            ("solver", "magic", "subadmm"),
            ("max-iterations", "many", "a whole number"),
            ("gravitas", "1", "time-step"),
            ("gravitas", "1", "solver.KEY"),
        ] {
            let mut settings = Settings::default();
            let error = settings.set(key, value).unwrap_err().to_string();
            assert!(error.contains(key) && error.contains(expected), "{error}");
            assert_eq!(settings, Settings::default());
        }
        let direct = Settings { time_step: -1.0, ..Settings::default() };
        assert!(direct.check().unwrap_err().to_string().contains("time-step"));
    }

    #[test]
    fn accuracy_is_another_name_of_the_tolerance_and_both_at_once_are_refused() {
        let mut settings = Settings::default();
        settings.set("accuracy", "1e-3").unwrap();
        assert_eq!(settings, Settings { tolerance: 1e-3, ..Settings::default() });
        let error = settings.set("accuracy", "0").unwrap_err().to_string();
        assert!(error.contains("tolerance") && error.contains("> 0"), "{error}");
        let (fine, coarse) = (text("1e-8"), text("1e-4"));
        let both = settings.set_all([("accuracy", &fine), ("tolerance", &coarse)]);
        let error = both.unwrap_err().to_string();
        assert!(error.contains("accuracy") && error.contains("tolerance"), "{error}");
        assert_eq!(settings.tolerance, 1e-3);
        settings.set_all([("accuracy", &fine)]).unwrap();
        assert_eq!(settings.tolerance, 1e-8);
    }

    #[test]
    fn all_settings_of_one_simulation_make_those_of_another_in_any_order() {
        let mut settings = Settings::default();
        settings.set("solver", "alm").unwrap();
        settings.set("solver.growth", "3").unwrap();
        settings.set("solver.growth", "5").unwrap();
        let growth = SettingValue::Number(5.0);
        for sleeps in [false, true] {
            settings.set("sleep", &sleeps.to_string()).unwrap();
            let values: Vec<_> = settings.values().collect();
            let forward = || values.iter().map(|(key, value)| (*key, value));
            let own = || std::iter::once(("solver.growth", &growth));
            let mut copies = [Settings::default(), Settings::default()];
            copies[0].set_all(own().chain(forward())).unwrap();
            copies[1]
                .set_all(forward().collect::<Vec<_>>().into_iter().rev().chain(own()))
                .unwrap();
            assert!(copies.iter().all(|copy| *copy == settings));
        }
        settings.set("solver", "canal").unwrap();
        assert!(settings.solver_settings.is_empty());
    }

    #[test]
    fn settings_of_a_solver_stay_only_if_the_same_solver_is_named_again() {
        let mut scene = Settings::default();
        scene.set_all([("solver", &text("alm")), ("solver.growth", &text("3"))]).unwrap();
        let own = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        for (solver, expected) in [
            (None, vec![own("growth", "3"), own("paper", "true")]),
            (Some("alm"), vec![own("growth", "3"), own("paper", "true")]),
            (Some("canal"), vec![own("paper", "true")]),
        ] {
            let mut settings = scene.clone();
            settings.set_with_solver(solver, [("solver.paper", &text("true"))]).unwrap();
            assert_eq!(settings.solver, solver.unwrap_or("alm"));
            assert_eq!(settings.solver_settings, expected, "{solver:?}");
        }
        let mut settings = scene.clone();
        let refused = settings.set_with_solver(Some("canal"), [("time-step", &text("0"))]);
        assert!(refused.is_err() && settings == scene);
    }
}
