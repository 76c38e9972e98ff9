//! `stiction list`: the entries of the registries.

use std::ops::Bound;

use clap::ValueEnum;
use serde_json::{Map, Value, json};
use stiction_geom::SHAPES;
use stiction_mech::{JOINTS, MATERIALS};
use stiction_scene::FORMATS;
use stiction_scene::mesh_file::{MESH_FORMATS, TET_FORMATS};
use stiction_scene::mjcf::{MjcfWord, vocabulary};
use stiction_sim::constraint::CONSTRAINTS;
use stiction_sim::{SCHEMES, SENSORS, SOLVER_PREFIX, Settings};
use stiction_solve::Solver;
use stiction_solve::catalogue::CATALOGUE;
use stiction_solve::law::LAWS;
use stiction_solve::setting::{SettingKind, SettingRange, SettingSpec, SettingValue};
use stiction_solve::solver::{SOLVERS, SolverEntry};
use stiction_study::{SCENARIOS, Scenario};
use stiction_view::EXPORTERS;

use crate::args::{Category, ListArgs};
use crate::error::CommandError;
use crate::table::{Align, Table};
use crate::terminal::{self, TextStyle, paint};

/// File formats of problems: name, endings, content.
const PROBLEM_FORMATS: [(&str, &str, &str); 2] = [
    (
        "fclib",
        ".h5, .hdf5",
        "contact problems of the FCLIB collection, local and global form; read",
    ),
    ("npz", ".npz", "contact problems as NumPy arrays; read and written"),
];

/// A file format: what it holds, name, endings, content.
struct FileFormat {
    holds: &'static str,
    name: &'static str,
    endings: String,
    about: &'static str,
}

/// File formats of models, of meshes, of tetrahedra, of problems, of recordings.
fn formats() -> Vec<FileFormat> {
    let dotted = |endings: &[&str]| {
        endings.iter().map(|ending| format!(".{ending}")).collect::<Vec<_>>().join(", ")
    };
    let models = FORMATS.iter().map(|format| FileFormat {
        holds: "model",
        name: format.name,
        endings: dotted(format.extensions),
        about: format.about,
    });
    let meshes = MESH_FORMATS.iter().map(|format| FileFormat {
        holds: "mesh",
        name: format.name,
        endings: dotted(format.extensions),
        about: format.about,
    });
    let tetrahedra = TET_FORMATS.iter().map(|format| FileFormat {
        holds: "tetrahedra",
        name: format.name,
        endings: dotted(format.extensions),
        about: format.about,
    });
    let problems = PROBLEM_FORMATS.iter().map(|(name, endings, about)| FileFormat {
        holds: "problem",
        name,
        endings: (*endings).to_owned(),
        about,
    });
    let recordings = EXPORTERS.iter().map(|sink| FileFormat {
        holds: "recording",
        name: sink.name,
        endings: dotted(sink.endings),
        about: sink.about,
    });
    models.chain(meshes).chain(tetrahedra).chain(problems).chain(recordings).collect()
}

/// Prints one category, or all.
pub fn run(args: &ListArgs) -> Result<bool, CommandError> {
    let categories = match args.category {
        Some(one) => vec![one],
        None => Category::value_variants().to_vec(),
    };
    let text = if args.json {
        let entries: Map<String, Value> =
            categories.iter().map(|c| (name(*c), Value::Array(json_entries(*c)))).collect();
        format!("{:#}\n", Value::Object(entries))
    } else {
        let colours = terminal::colours();
        let show = |c: &Category| section(*c, args.category.is_some(), colours);
        categories.iter().map(show).collect::<Vec<_>>().join("\n")
    };
    terminal::print(&text)?;
    Ok(true)
}

fn name(category: Category) -> String {
    category.to_possible_value().map(|value| value.get_name().to_owned()).unwrap_or_default()
}

fn json_entries(category: Category) -> Vec<Value> {
    match category {
        Category::Solvers => SOLVERS
            .iter()
            .map(|entry| {
                let solver = (entry.build)();
                let models: Vec<&str> = solver.models().iter().map(|m| m.name()).collect();
                let settings: Vec<Value> =
                    solver_specs(&*solver).iter().map(json_setting).collect();
                json!({
                    "name": entry.name,
                    "about": entry.about,
                    "cite": entry.cite,
                    "friction_models": models,
                    "settings": settings,
                })
            })
            .collect(),
        Category::Laws => {
            LAWS.iter().map(|e| json!({"name": e.name, "about": e.about, "cite": e.cite})).collect()
        }
        Category::Problems => CATALOGUE
            .iter()
            .map(|e| json!({"name": e.name, "about": e.about, "size": e.size}))
            .collect(),
        Category::Formats => formats()
            .iter()
            .map(|f| json!({"name": f.name, "endings": f.endings, "about": f.about, "holds": f.holds}))
            .collect(),
        Category::Scenarios => SCENARIOS.iter().map(json_scenario).collect(),
        Category::Schemes => {
            SCHEMES.iter().map(|e| json!({"name": e.name, "about": e.about})).collect()
        }
        Category::Settings => {
            let own = Settings::specs().iter().map(json_setting).collect::<Vec<_>>();
            own.into_iter().chain(SOLVERS.iter().flat_map(json_solver_settings)).collect()
        }
        Category::Shapes => {
            SHAPES.iter().map(|e| json!({"name": e.name, "about": e.about})).collect()
        }
        Category::Joints => JOINTS
            .iter()
            .map(|e| json!({"name": e.name, "about": e.about, "nq": e.nq, "nv": e.nv}))
            .collect(),
        Category::Constraints => {
            CONSTRAINTS.iter().map(|e| json!({"name": e.name, "about": e.about})).collect()
        }
        Category::Sensors => {
            SENSORS.iter().map(|e| json!({"name": e.name, "about": e.about, "dim": e.dim})).collect()
        }
        Category::Materials => MATERIALS
            .iter()
            .map(|e| {
                json!({
                    "name": e.name,
                    "about": e.about,
                    "cite": e.cite,
                    "parameters": e.parameters,
                    "rotation_invariant": e.rotation_invariant,
                    "linear": e.linear,
                })
            })
            .collect(),
        Category::Mjcf => vocabulary()
            .iter()
            .map(|w| json!({"element": w.element, "attribute": w.attribute, "treatment": w.treatment}))
            .collect(),
    }
}

fn json_scenario(entry: &Scenario) -> Value {
    let parameters: Vec<Value> = entry
        .parameters
        .iter()
        .map(|p| {
            json!({
                "name": p.name,
                "about": p.about,
                "default": p.default,
                "least": p.least,
                "most": p.most,
            })
        })
        .collect();
    json!({
        "name": entry.name,
        "about": entry.about,
        "cite": entry.cite,
        "parameters": parameters,
    })
}

/// A setting of the simulation or of a solver.
fn json_setting(spec: &SettingSpec) -> Value {
    let bound = |bound: Bound<f64>| match bound {
        Bound::Included(x) | Bound::Excluded(x) => json!(x),
        Bound::Unbounded => Value::Null,
    };
    let SettingRange { low, high } = spec.range;
    json!({
        "name": spec.name,
        "keyword": spec.keyword(),
        "solver": Value::Null,
        "type": spec.kind.name(),
        "choices": match &spec.kind {
            SettingKind::Choice(names) => json!(names),
            _ => Value::Null,
        },
        "optional": spec.optional,
        "unit": spec.unit,
        "range": spec.range.to_string(),
        "low": bound(low),
        "high": bound(high),
        "default": json_value(&spec.default),
        "about": spec.doc,
    })
}

/// Values of all settings by name, those of the solver with the prefix `solver.`.
pub fn json_settings(settings: &Settings) -> Value {
    let own = settings.values().map(|(name, value)| (name.to_owned(), json_value(&value)));
    // A run has begun, so that its solver accepts its settings.
    let solver = settings.solver_values().unwrap_or_default().into_iter();
    let solver = solver.map(|(name, value)| (format!("{SOLVER_PREFIX}{name}"), json_value(&value)));
    Value::Object(own.chain(solver).collect())
}

fn json_value(value: &SettingValue) -> Value {
    match value {
        SettingValue::None => Value::Null,
        SettingValue::Flag(flag) => json!(flag),
        SettingValue::Count(count) => json!(count),
        SettingValue::Number(x) => json!(x),
        SettingValue::Text(text) => json!(text),
    }
}

/// The settings of one solver, named `solver.KEY`.
fn json_solver_settings(entry: &SolverEntry) -> Vec<Value> {
    let settings = solver_specs(&*(entry.build)()).into_iter().map(|spec| {
        let mut json = json_setting(&spec);
        json["name"] = json!(format!("{SOLVER_PREFIX}{}", spec.name));
        json["solver"] = json!(entry.name);
        json
    });
    settings.collect()
}

/// The settings of a solver.
fn solver_specs(solver: &dyn Solver) -> Vec<SettingSpec> {
    solver.settings().map(|settings| settings.specs()).unwrap_or_default()
}

/// Documentation of a setting with the values that it accepts.
fn about_setting(spec: &SettingSpec) -> String {
    format!("{}; {}", spec.doc, spec.expected())
}

/// The settings of the simulation, then those of each solver.
fn settings_with_solvers(colours: bool) -> String {
    let mut table = Table::new(&[Align::Left, Align::Right, Align::Left]);
    for spec in Settings::specs() {
        table.row([
            (spec.name.to_owned(), TextStyle::Plain),
            (spec.default.to_string(), TextStyle::Plain),
            (about_setting(&spec), TextStyle::Faint),
        ]);
    }
    let mut sections = vec![format!(
        "{}: name, default, meaning\n{}",
        paint("simulation", TextStyle::Heading, colours),
        table.render("  --set ", colours)
    )];
    for entry in SOLVERS {
        let table = solver_settings(&*(entry.build)());
        let heading = paint(&format!("solver {}", entry.name), TextStyle::Heading, colours);
        let prefix = format!("  --set {SOLVER_PREFIX}");
        sections.push(format!("{heading}\n{}", table.render(&prefix, colours)));
    }
    sections.join("\n")
}

/// A table of the settings of a solver: name, default, description.
fn solver_settings(solver: &dyn Solver) -> Table {
    let mut table = Table::new(&[Align::Left, Align::Right, Align::Left]);
    for spec in solver_specs(solver) {
        table.row([
            (spec.name.to_owned(), TextStyle::Plain),
            (spec.default.to_string(), TextStyle::Plain),
            (about_setting(&spec), TextStyle::Faint),
        ]);
    }
    table
}

/// A heading and one line per entry; with details, also settings and sizes.
fn section(category: Category, details: bool, colours: bool) -> String {
    let mut table = Table::new(&[Align::Left, Align::Left, Align::Left]);
    let cells = |name: &str, middle: &str, about: &str| {
        [
            (name.to_owned(), TextStyle::Plain),
            (middle.to_owned(), TextStyle::Faint),
            (about.to_owned(), TextStyle::Plain),
        ]
    };
    match category {
        Category::Solvers if details => return solvers_with_settings(colours),
        Category::Solvers => {
            for entry in SOLVERS {
                let about = format!("{} [{}]", entry.about, entry.cite);
                table.row(cells(entry.name, &models(&*(entry.build)()), &about));
            }
        }
        Category::Laws => {
            for e in LAWS {
                table.row(cells(e.name, "", &format!("{} [{}]", e.about, e.cite)));
            }
        }
        Category::Problems => {
            for e in CATALOGUE {
                let size = if details { format!("--size: {}", e.size) } else { String::new() };
                table.row(cells(e.name, &size, e.about));
            }
        }
        Category::Formats => {
            for f in formats() {
                let about = format!("{}: {}", f.holds, f.about);
                table.row(cells(f.name, &f.endings, &about));
            }
        }
        Category::Scenarios if details => return scenarios_with_parameters(colours),
        Category::Scenarios => {
            for e in SCENARIOS {
                table.row(cells(e.name, "", &cited(e.about, e.cite)));
            }
        }
        Category::Schemes => {
            for e in SCHEMES {
                table.row(cells(e.name, "", e.about));
            }
        }
        Category::Settings if details => return settings_with_solvers(colours),
        Category::Settings => {
            for spec in Settings::specs() {
                table.row(cells(spec.name, &spec.default.to_string(), &about_setting(&spec)));
            }
        }
        Category::Shapes => {
            for e in SHAPES {
                table.row(cells(e.name, "", e.about));
            }
        }
        Category::Joints => {
            for e in JOINTS {
                let size = format!("{} q, {} v", e.nq, e.nv);
                table.row(cells(e.name, &size, e.about));
            }
        }
        Category::Constraints => {
            for e in CONSTRAINTS {
                table.row(cells(e.name, "", e.about));
            }
        }
        Category::Sensors => {
            for e in SENSORS {
                let numbers =
                    if e.dim == 1 { "1 number".to_owned() } else { format!("{} numbers", e.dim) };
                table.row(cells(e.name, &numbers, e.about));
            }
        }
        Category::Materials => {
            for e in MATERIALS {
                table.row(cells(e.name, &e.parameters.join(", "), &cited(e.about, e.cite)));
            }
        }
        Category::Mjcf if details => {
            for (element, treatment, attributes) in mjcf_elements() {
                table.row(cells(&element, treatment, &attributes));
            }
        }
        Category::Mjcf => {
            for (treatment, about) in MJCF_TREATMENTS {
                let count = |is: fn(&MjcfWord) -> bool| {
                    vocabulary().iter().filter(|w| w.treatment == treatment && is(w)).count()
                };
                let elements = count(|word| word.attribute.is_none());
                let attributes = count(|word| word.attribute.is_some());
                let sizes = format!("{elements} elements, {attributes} attributes");
                table.row(cells(treatment, &sizes, about));
            }
        }
    }
    let heading = paint(&name(category), TextStyle::Heading, colours);
    format!("{heading}\n{}", table.render("  ", colours))
}

/// Treatments of words of MJCF.
const MJCF_TREATMENTS: [(&str, &str); 3] = [
    ("read", "what the model needs of MJCF"),
    ("ignored", "no motion depends on it; listed where it occurs"),
    ("unsupported", "motion depends on it; listed where it occurs"),
];

/// Per element of MJCF: path, treatment, attributes; unsupported ones of an element that is read are marked.
fn mjcf_elements() -> Vec<(String, &'static str, String)> {
    let mut elements: Vec<(String, &'static str, String)> = Vec::new();
    for MjcfWord { element, attribute, treatment } in vocabulary() {
        match (attribute, elements.last_mut()) {
            (Some(name), Some((_, of_element, attributes))) => {
                let mark = if treatment == *of_element { "" } else { " (unsupported)" };
                let comma = if attributes.is_empty() { "" } else { ", " };
                attributes.push_str(&format!("{comma}{name}{mark}"));
            }
            _ => elements.push((element, treatment, String::new())),
        }
    }
    elements
}

fn models(solver: &dyn Solver) -> String {
    let names: Vec<&str> = solver.models().iter().map(|m| m.name()).collect();
    names.join(", ")
}

/// A paragraph per solver: description, friction models, settings.
fn solvers_with_settings(colours: bool) -> String {
    let paragraph = |entry: &SolverEntry| {
        let solver = (entry.build)();
        let table = solver_settings(&*solver);
        format!(
            "{}: {} [{}]\n  friction models: {}\n{}",
            paint(entry.name, TextStyle::Heading, colours),
            entry.about,
            entry.cite,
            models(&*solver),
            table.render("  --set ", colours)
        )
    };
    SOLVERS.iter().map(paragraph).collect::<Vec<_>>().join("\n")
}

/// A description with its source if there is one.
fn cited(about: &str, cite: &str) -> String {
    if cite.is_empty() { about.to_owned() } else { format!("{about} [{cite}]") }
}

/// A paragraph per scenario: description and parameters.
fn scenarios_with_parameters(colours: bool) -> String {
    let paragraph = |entry: &Scenario| {
        let mut table = Table::new(&[Align::Left, Align::Right, Align::Left]);
        for p in entry.parameters {
            table.row([
                (p.name.to_owned(), TextStyle::Plain),
                (p.default.to_string(), TextStyle::Plain),
                (format!("{}; from {} to {}", p.about, p.least, p.most), TextStyle::Faint),
            ]);
        }
        format!(
            "{}: {}\n{}",
            paint(entry.name, TextStyle::Heading, colours),
            cited(entry.about, entry.cite),
            table.render("  --set ", colours)
        )
    };
    let scenarios: Vec<String> = SCENARIOS.iter().map(paragraph).collect();
    let settings = "every scenario: --set KEY=VALUE of `stiction list settings`";
    format!("{}\n{settings}\n", scenarios.join("\n"))
}
