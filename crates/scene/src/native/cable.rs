//! Cables: `[[cable]]` along a path or straight on, with ends that may be held by bodies.

use nalgebra::{Isometry3, Point3, Translation3, UnitQuaternion, Vector3};
use stiction_geom::Groups;
use stiction_mech::RodRest;
use stiction_sim::{CableCourse, CableEnd, CableSpec};

use super::table::Table;
use super::{SceneBuilder, body, copies, pose};
use crate::error::SceneError;

/// Reads one `[[cable]]`; bodies that hold it are declared already.
pub(super) fn read(scene: &mut SceneBuilder, table: Table) -> Result<(), SceneError> {
    let name = table.text("name")?.unwrap_or_default().to_owned();
    let table = if name.is_empty() { table } else { table.named(&name) };
    let mut spec = CableSpec::default();
    let segments = table.number_if("segments", "a whole number above zero", |n| {
        n >= 1.0 && n.fract() == 0.0 && n < f64::from(u32::MAX)
    })?;
    spec.segments = segments.map_or(spec.segments, |n| n as usize);
    for (key, field) in
        [("radius", &mut spec.radius), ("density", &mut spec.density), ("young", &mut spec.young)]
    {
        *field = table.positive(key)?.unwrap_or(*field);
    }
    let poisson =
        table.number_if("poisson", "a number > −1 and ≤ 0.5", |x| x > -1.0 && x <= 0.5)?;
    spec.poisson = poisson.unwrap_or(spec.poisson);
    spec.damping = table.not_negative("damping")?.unwrap_or(spec.damping);
    spec.mass_damping = table.not_negative("mass-damping")?.unwrap_or(spec.mass_damping);
    let rests = [("straight", RodRest::Straight), ("as-laid", RodRest::AsBuilt)];
    spec.rest = table.word("rest", &rests)?.unwrap_or_default();
    spec.surface = scene.surfaces.of(&table, None)?;
    if table.has("colour") {
        spec.colour = body::colour(&table)?;
    }
    if !table.flag_or("touches", true)? {
        spec.groups = Groups { category: 0, mask: 0 };
    }
    spec.ends = [end(scene, &table, "first")?, end(scene, &table, "last")?];
    let course = course(&table)?;
    let before = scene.builder.mechanism.declared().bodies.len();
    let copies = copies::read(&table, course.pose)?.each;
    scene.admit_bodies(&table, spec.segments, copies.len())?;
    for (suffix, pose) in copies {
        let name = if name.is_empty() { String::new() } else { format!("{name}{suffix}") };
        let course = course.at(pose);
        scene.builder.cable(CableSpec { name, course, ..spec.clone() });
    }
    // An invalid course leaves no bodies; the error of the world would have no line.
    if scene.builder.mechanism.declared().bodies.len() == before {
        let mut alone = stiction_sim::WorldBuilder::new();
        let ends = [CableEnd::Free; 2];
        alone.cable(CableSpec { name, course: course.at(course.pose), ends, ..spec });
        if let Err(error) = alone.build() {
            return Err(table.because(course.key, error));
        }
    }
    table.finish()
}

/// CableLine of a cable, in the frame of its first end.
struct CableLine {
    pose: Isometry3<f64>,
    /// The key that gives it.
    key: &'static str,
    /// Length of a straight one [m].
    length: f64,
    /// Points of another one [m], from the first end.
    points: Vec<Vector3<f64>>,
}

impl CableLine {
    fn at(&self, pose: Isometry3<f64>) -> CableCourse {
        if self.points.is_empty() {
            return CableCourse::Straight { pose, length: self.length };
        }
        let there = |point: &Vector3<f64>| (pose * Point3::from(*point)).coords;
        CableCourse::Path(self.points.iter().map(there).collect())
    }
}

/// `path`, or `start`, `direction` and `length`.
fn course(table: &Table) -> Result<CableLine, SceneError> {
    let origin = |start: Vector3<f64>, turn| Isometry3::from_parts(Translation3::from(start), turn);
    if table.has("path") {
        let rows = table.rows("path")?.unwrap_or_default();
        let point = |row: &Vec<f64>| <[f64; 3]>::try_from(&row[..]).ok().map(Vector3::from);
        let points: Option<Vec<_>> = rows.iter().map(point).collect();
        let points = points.filter(|points| points.len() >= 2);
        let points = points.ok_or_else(|| table.wrong("path", "at least two points [m]"))?;
        let pose = origin(points[0], UnitQuaternion::identity());
        let points = points.iter().map(|point| point - points[0]).collect();
        return Ok(CableLine { pose, key: "path", length: 0.0, points });
    }
    let start = table.vector("start")?;
    let start = start.ok_or_else(|| table.wrong("start", "a point [m], or a path"))?;
    let length = table.positive("length")?;
    let length = length.ok_or_else(|| table.wrong("length", "a length [m]"))?;
    let along = table.vector("direction")?.unwrap_or_else(|| -Vector3::z());
    if !(along.norm() > 0.0) {
        return Err(table.wrong("direction", "a direction"));
    }
    // Opposite directions have no smallest rotation: any half turn will do.
    let turn = UnitQuaternion::rotation_between(&Vector3::z(), &along).unwrap_or_else(|| {
        UnitQuaternion::from_axis_angle(&Vector3::x_axis(), std::f64::consts::PI)
    });
    Ok(CableLine { pose: origin(start, turn), key: "length", length, points: Vec::new() })
}

/// The body that holds an end: its name, or a table of a body and a pose on it.
fn end(scene: &SceneBuilder, table: &Table, key: &'static str) -> Result<CableEnd, SceneError> {
    if !table.has(key) {
        return Ok(CableEnd::Free);
    }
    if let Ok(Some(name)) = table.text(key) {
        return Ok(CableEnd::Held(scene.holder(table, key, name)?));
    }
    let expected = "the name of a body, or a table with body, position and orientation";
    let inner = table.table(key).ok().flatten().ok_or_else(|| table.wrong(key, expected))?;
    let name = inner.require("body", "the name of a body")?;
    let body = scene.holder(&inner, "body", name)?;
    let pose = pose::read(&inner)?;
    inner.finish()?;
    Ok(CableEnd::Attached { body, pose })
}
