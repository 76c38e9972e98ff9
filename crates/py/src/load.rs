//! Models from files, text and scenarios; lists of scenarios and solvers.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use pyo3::prelude::*;
use pyo3::types::PyDict;
use stiction_scene::Files;
use stiction_scene::import::{FORMATS, Format, Options};
use stiction_solve::solver::SOLVERS;
use stiction_study::SCENARIOS;

use crate::model::Model;
use crate::model_source::ModelContent;
use crate::{error, settings};

/// Reads a model from a file: MJCF (.xml), URDF (.urdf) or a native scene (.toml).
///
/// floating_base lets the base of a URDF robot move freely; merge_fixed merges links joined by fixed
/// joints; package_paths are folders that package:// names refer to;
/// soft_contact lets solref and solimp of MJCF soften contacts; soft_defaults makes constraints of MJCF soft also where
/// they have MuJoCo's defaults.
#[pyfunction]
#[pyo3(signature = (path, *, floating_base=false, merge_fixed=false, package_paths=Vec::new(), soft_contact=true, soft_defaults=false))]
pub fn load(
    py: Python<'_>,
    path: PathBuf,
    floating_base: bool,
    merge_fixed: bool,
    package_paths: Vec<PathBuf>,
    soft_contact: bool,
    soft_defaults: bool,
) -> PyResult<Model> {
    if !path.exists() {
        return Err(error::not_found(format!("{}: no such file", path.display())));
    }
    let options =
        Options { floating_base, merge_fixed, package_paths, soft_contact, soft_defaults };
    let made = py.detach(|| ModelContent::of_files(Files::on_disk(), &path, options));
    Ok(Model { content: Arc::new(made.map_err(error::study)?) })
}

/// The format of a text: that of its first element, or a native scene if it is no XML.
fn format_of(text: &str) -> PyResult<&'static str> {
    let mut rest = text.trim_start_matches(|c: char| c.is_whitespace() || c == '\u{feff}');
    if rest.is_empty() {
        return Err(error::model("text: found nothing; expected a model in MJCF, URDF or TOML"));
    }
    if !rest.starts_with('<') {
        return Ok("native");
    }
    // Declarations and comments.
    while let Some(end) =
        [("<?", "?>"), ("<!--", "-->"), ("<!", ">")].iter().find_map(|(open, close)| {
            rest.starts_with(open).then(|| rest.find(close).map(|at| at + close.len()))
        })
    {
        rest = rest[end.unwrap_or(rest.len())..].trim_start();
    }
    let name = rest.strip_prefix('<').unwrap_or(rest);
    let name = name.split(|c: char| c.is_whitespace() || c == '>' || c == '/').next();
    match name.unwrap_or_default() {
        "mujoco" | "mujocoinclude" => Ok("mjcf"),
        "robot" => Ok("urdf"),
        found => Err(error::model(format!(
            "text: the first element is <{found}>; expected <mujoco> (MJCF), <robot> (URDF), or a scene in TOML"
        ))),
    }
}

/// Reads a model from text. The format is found from the text unless it is given: mjcf, urdf or native (toml). Further files are looked for in assets, by path as the text names them
/// (folders such as meshdir included), then on disk, from folder on.
#[pyfunction]
#[pyo3(signature = (text, *, format=None, assets=BTreeMap::new(), folder=PathBuf::new(), floating_base=false, merge_fixed=false, package_paths=Vec::new(), soft_contact=true, soft_defaults=false))]
#[allow(clippy::too_many_arguments)] // keyword arguments of Python
pub fn loads(
    py: Python<'_>,
    text: &str,
    format: Option<&str>,
    assets: BTreeMap<String, Vec<u8>>,
    folder: PathBuf,
    floating_base: bool,
    merge_fixed: bool,
    package_paths: Vec<PathBuf>,
    soft_contact: bool,
    soft_defaults: bool,
) -> PyResult<Model> {
    let format = format.map_or_else(|| format_of(text), Ok)?;
    let is_meant =
        |entry: &&Format| entry.name == format || format == "toml" && entry.name == "native";
    let Some(entry) = FORMATS.iter().find(is_meant) else {
        let known = FORMATS.iter().map(|entry| entry.name).collect::<Vec<_>>().join(", ");
        return Err(error::model(format!("format \"{format}\"; expected one of: {known}")));
    };
    // A name that no file has.
    let path = folder.join(format!("<text>.{}", entry.extensions[0]));
    let mut files = Files::on_disk();
    for (name, bytes) in assets {
        files.insert(folder.join(name), bytes);
    }
    files.insert(&path, text.as_bytes());
    let options =
        Options { floating_base, merge_fixed, package_paths, soft_contact, soft_defaults };
    let made = py.detach(|| ModelContent::of_files(files, &path, options));
    Ok(Model { content: Arc::new(made.map_err(error::study)?) })
}

/// A scenario, with its parameters and settings of the simulation by keyword; underscores stand for
/// dashes.
#[pyfunction]
#[pyo3(signature = (name, **parameters))]
pub fn scenario(
    py: Python<'_>,
    name: &str,
    parameters: Option<&Bound<'_, PyDict>>,
) -> PyResult<Model> {
    let own = SCENARIOS.iter().find(|entry| entry.name == name).map_or(&[][..], |s| s.parameters);
    let set = settings::pairs(parameters)?.into_iter().map(|(given, value)| {
        let is_own = |name: &&str| name.replace('-', "_") == given;
        let known = own.iter().map(|parameter| parameter.name).find(is_own);
        (known.map_or_else(|| settings::key(&given), str::to_owned), value)
    });
    crate::model::_make_scenario(py, name, set.collect())
}

/// Names of the scenarios, each with its description.
#[pyfunction]
pub fn scenarios() -> BTreeMap<&'static str, &'static str> {
    SCENARIOS.iter().map(|entry| (entry.name, entry.about)).collect()
}

/// Names of the solvers, each with its description.
#[pyfunction]
pub fn solvers() -> BTreeMap<&'static str, &'static str> {
    SOLVERS.iter().map(|entry| (entry.name, entry.about)).collect()
}
