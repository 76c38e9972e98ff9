//! `stiction list`: the entries of the registries.

use clap::ValueEnum;
use serde_json::{Map, Value, json};
use stiction_geom::SHAPES;
use stiction_mech::{JOINTS, MATERIALS};
use stiction_scene::FORMATS;
use stiction_scene::mesh_file::{MESH_FORMATS, TET_FORMATS};
use stiction_sim::SENSORS;
use stiction_sim::constraint::CONSTRAINTS;
use stiction_solve::Solver;
use stiction_solve::catalogue::CATALOGUE;
use stiction_solve::law::LAWS;
use stiction_solve::solver::{Entry, SOLVERS};
use stiction_study::{SCENARIOS, Scenario};
use stiction_view::EXPORTERS;

use crate::args::{Category, ListArgs};
use crate::error::CommandError;
use crate::table::{Align, Table};
use crate::terminal::{self, Tone, paint};

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
                let mut solver = (entry.build)();
                let models: Vec<&str> = solver.models().iter().map(|m| m.name()).collect();
                let settings: Vec<Value> = solver
                    .settings()
                    .iter()
                    .map(|s| json!({"name": s.name, "about": s.about, "default": s.value.get()}))
                    .collect();
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

/// A heading and one line per entry; with details, also settings and sizes.
fn section(category: Category, details: bool, colours: bool) -> String {
    let mut table = Table::new(&[Align::Left, Align::Left, Align::Left]);
    let cells = |name: &str, middle: &str, about: &str| {
        [
            (name.to_owned(), Tone::Plain),
            (middle.to_owned(), Tone::Faint),
            (about.to_owned(), Tone::Plain),
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
    }
    let heading = paint(&name(category), Tone::Heading, colours);
    format!("{heading}\n{}", table.render("  ", colours))
}

fn models(solver: &dyn Solver) -> String {
    let names: Vec<&str> = solver.models().iter().map(|m| m.name()).collect();
    names.join(", ")
}

/// A paragraph per solver: description, friction models, settings.
fn solvers_with_settings(colours: bool) -> String {
    let paragraph = |entry: &Entry| {
        let mut solver = (entry.build)();
        let mut table = Table::new(&[Align::Left, Align::Right, Align::Left]);
        for s in solver.settings() {
            let cell = |text: &str, tone| (text.to_owned(), tone);
            table.row([
                cell(s.name, Tone::Plain),
                cell(&s.value.get(), Tone::Plain),
                cell(s.about, Tone::Faint),
            ]);
        }
        format!(
            "{}: {} [{}]\n  friction models: {}\n{}",
            paint(entry.name, Tone::Heading, colours),
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
                (p.name.to_owned(), Tone::Plain),
                (p.default.to_string(), Tone::Plain),
                (format!("{}; from {} to {}", p.about, p.least, p.most), Tone::Faint),
            ]);
        }
        format!(
            "{}: {}\n{}",
            paint(entry.name, Tone::Heading, colours),
            cited(entry.about, entry.cite),
            table.render("  --set ", colours)
        )
    };
    let scenarios: Vec<String> = SCENARIOS.iter().map(paragraph).collect();
    format!("{}\nevery scenario, --set: {}\n", scenarios.join("\n"), stiction_sim::KEYS)
}
