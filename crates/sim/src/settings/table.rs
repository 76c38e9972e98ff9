//! The table of settings: name, type, unit, range and documentation of each, in alphabetical order.

use stiction_solve::law::FrictionModel;
use stiction_solve::setting::{
    SettingField, SettingKind, SettingRange, SettingTable, SettingType, SettingValue,
};
use stiction_solve::setting_field;
use stiction_solve::solver::SOLVERS;

use super::Settings;

impl SettingTable for Settings {
    const OWNER: &'static str = "the simulation";
    const FIELDS: &'static [SettingField<Self>] = &[
        setting_field!(
            "budget",
            budget,
            "s",
            SettingRange::POSITIVE,
            "time that a contact problem may take, after which its best solution so far is used and flagged: bits are not reproducible; none: no limit"
        ),
        setting_field!(
            "combine",
            combine,
            "",
            SettingRange::ANY,
            "rule that combines the coefficients of friction of two surfaces"
        ),
        setting_field!(
            "contact",
            contact,
            "",
            SettingRange::ANY,
            "model of contacts of rigid bodies: rigid, or near-rigid as published with SAP, without correction of positions"
        ),
        setting_field!(
            "divisions",
            divisions,
            "",
            SettingRange::at_least(0.0).at_most(10.0),
            "how often a step whose motion is not resolved is halved at most, under the default scheme"
        ),
        SettingField {
            name: "friction-model",
            kind: || {
                SettingKind::Choice(FRICTION_MODELS.iter().map(|model| model.name()).collect())
            },
            optional: true,
            unit: "",
            range: SettingRange::ANY,
            doc: "friction model: exact or convex relaxation; none: the solver's own",
            get: |s| s.friction_model.map_or(SettingValue::None, |m| text(m.name())),
            set: set_friction_model,
        },
        setting_field!(
            "max-iterations",
            max_iterations,
            "",
            SettingRange::NOT_NEGATIVE,
            "largest number of solver iterations per step; none: the solver's own"
        ),
        setting_field!(
            "near-rigid.beta",
            near_rigid.beta,
            "-",
            SettingRange::NOT_NEGATIVE,
            "period of a contact, in steps, below which contact = sap softens its normal"
        ),
        setting_field!(
            "near-rigid.sigma",
            near_rigid.sigma,
            "-",
            SettingRange::NOT_NEGATIVE,
            "tangential compliance under contact = sap, relative to the Delassus scale"
        ),
        setting_field!(
            "relinearisations",
            relinearisations,
            "",
            SettingRange::NOT_NEGATIVE,
            "largest number of times per step that forces of soft bodies in contact are linearised again"
        ),
        setting_field!("scheme", scheme, "", SettingRange::ANY, "time-stepping scheme"),
        SettingField {
            name: "sleep",
            kind: bool::kind,
            optional: false,
            unit: "",
            range: SettingRange::ANY,
            doc: "whether islands at rest fall asleep and are not simulated",
            get: |s| SettingValue::Flag(s.sleep.is_some()),
            set: |s, value| {
                s.sleep = bool::from_value(value)?.then(|| s.sleep.unwrap_or_default());
                Some(())
            },
        },
        SettingField {
            name: "sleep.patience",
            kind: f64::kind,
            optional: false,
            unit: "s",
            range: SettingRange::NOT_NEGATIVE,
            doc: "time of rest before an island falls asleep; setting it turns sleeping on",
            get: |s| SettingValue::Number(s.sleep.unwrap_or_default().patience),
            set: |s, value| {
                s.sleep.get_or_insert_default().patience = f64::from_value(value)?;
                Some(())
            },
        },
        SettingField {
            name: "sleep.speed",
            kind: f64::kind,
            optional: false,
            unit: "m/s, rad/s",
            range: SettingRange::NOT_NEGATIVE,
            doc: "speed below which a body is at rest; setting it turns sleeping on",
            get: |s| SettingValue::Number(s.sleep.unwrap_or_default().speed),
            set: |s, value| {
                s.sleep.get_or_insert_default().speed = f64::from_value(value)?;
                Some(())
            },
        },
        SettingField {
            name: "solver",
            kind: || SettingKind::Choice(SOLVERS.iter().map(|entry| entry.name).collect()),
            optional: false,
            unit: "",
            range: SettingRange::ANY,
            doc: "contact solver; its own settings are solver.KEY",
            get: |s| text(&s.solver),
            set: set_solver,
        },
        setting_field!(
            "stabilisation.closure",
            stabilisation.closure,
            "m, rad",
            SettingRange::POSITIVE,
            "position error of equalities below which no further correction is made"
        ),
        setting_field!(
            "stabilisation.max-speed",
            stabilisation.max_speed,
            "m/s",
            SettingRange::NOT_NEGATIVE,
            "largest speed at which penetration is removed"
        ),
        setting_field!(
            "stabilisation.slop",
            stabilisation.slop,
            "m",
            SettingRange::NOT_NEGATIVE,
            "penetration that is not corrected"
        ),
        setting_field!(
            "stabilisation.start",
            stabilisation.start,
            "",
            SettingRange::ANY,
            "how overlaps, exceeded limits and open equalities of a start are resolved: by displacements, or by MuJoCo's soft law"
        ),
        setting_field!(
            "tangential",
            tangential,
            "",
            SettingRange::ANY,
            "friction of contacts that are soft as in MuJoCo: exact, or softened along the tangents"
        ),
        setting_field!("time-step", time_step, "s", SettingRange::POSITIVE, "time step"),
        setting_field!(
            "tolerance",
            tolerance,
            "-",
            SettingRange::POSITIVE,
            "tolerance on the residual of the contact laws, relative to the reference velocity; also named accuracy"
        ),
    ];
}

const FRICTION_MODELS: [FrictionModel; 2] = [FrictionModel::Coulomb, FrictionModel::Convex];

fn text(text: &str) -> SettingValue {
    SettingValue::Text(text.to_owned())
}

fn set_friction_model(settings: &mut Settings, value: &SettingValue) -> Option<()> {
    let name: Option<String> = SettingType::from_value(value)?;
    settings.friction_model = match name {
        None => None,
        Some(name) => Some(*FRICTION_MODELS.iter().find(|model| model.name() == name)?),
    };
    Some(())
}

/// Sets the solver's name. Settings of another solver are dropped.
fn set_solver(settings: &mut Settings, value: &SettingValue) -> Option<()> {
    let name = String::from_value(value)?;
    SOLVERS.iter().find(|entry| entry.name == name)?;
    settings.select_solver(&name);
    Some(())
}
