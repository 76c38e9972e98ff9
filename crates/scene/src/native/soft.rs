//! Soft bodies: `[[soft]]` with a mesh of tetrahedra, a material, and what holds it.

use nalgebra::Vector3;
use stiction_geom::Groups;
use stiction_mech::{BodyId, Lumping, MATERIALS, Material, SoftSpec};
use stiction_sim::SoftObject;

use super::start::InitialValue;
use super::table::Table;
use super::{SceneBuilder, body, copies, pose, region, solid};
use crate::error::SceneError;

/// The material of what names none.
const MATERIAL: &str = "corotational";

/// Reads one `[[soft]]`; bodies that it is attached to are declared already.
pub(super) fn read(scene: &mut SceneBuilder, table: Table) -> Result<(), SceneError> {
    let name = table.text("name")?.unwrap_or_default().to_owned();
    let table = if name.is_empty() { table } else { table.named(&name) };
    let mesh = solid::read(&table, scene.files, &scene.folder)?;
    let mut spec = SoftSpec::new(
        mesh.vertices().to_vec(),
        mesh.tetrahedra().to_vec(),
        material(&table)?,
        table.positive("density")?.unwrap_or(body::DENSITY),
    );
    spec.mass_damping = table.not_negative("mass-damping")?.unwrap_or(0.0);
    spec.stiffness_damping = table.not_negative("stiffness-damping")?.unwrap_or(0.0);
    let lumpings = [("consistent", Lumping::Consistent), ("lumped", Lumping::Lumped)];
    spec.lumping = table.word("lumping", &lumpings)?.unwrap_or_default();
    spec.fixed = region::read(&table, "fixed", &mesh)?.unwrap_or_default();
    spec.check().map_err(|fault| table.error(fault))?;
    let mut object = SoftObject::new(spec);
    object.surface = scene.surfaces.of(&table, None)?;
    if object.surface.grain.is_some() {
        let why = "a grain; expected none, since no frame holds while the body deforms";
        return Err(table.because("surface", why));
    }
    if table.has("colour") {
        object.colour = body::colour(&table)?;
    }
    object.touches_itself = table.flag("touches-itself")?;
    if !table.flag_or("touches", true)? {
        object.groups = Groups { category: 0, mask: 0 };
    }
    let velocity = table.vector("velocity")?.unwrap_or_default();
    let mut attached: Vec<(Vec<u32>, BodyId)> = Vec::new();
    for inner in table.tables("attach")? {
        let found = inner.require("body", "the name of a body")?;
        let body = scene.holder(&inner, "body", found)?;
        let vertices = region::read(&inner, "where", &mesh)?;
        let vertices = vertices.ok_or_else(|| inner.wrong("where", region::EXPECTED))?;
        attached.push((vertices, body));
        inner.finish()?;
    }
    let copies = copies::read(&table, pose::read(&table)?)?.each;
    scene.admit_tetrahedra(&table, mesh.tetrahedra().len(), copies.len())?;
    for (suffix, pose) in copies {
        let mut copy = object.clone();
        copy.spec = copy.spec.moved(&pose);
        if !name.is_empty() {
            copy.spec.name = format!("{name}{suffix}");
        }
        let soft = scene.builder.soft(copy);
        for (vertices, body) in &attached {
            scene.builder.attach(soft, vertices, *body);
        }
        if velocity != Vector3::zeros() {
            scene.beginnings.push(InitialValue::SoftVelocity { soft, velocity });
        }
    }
    table.finish()
}

/// `material`, a name, and its parameters.
fn material(table: &Table) -> Result<Material, SceneError> {
    let words: Vec<_> = MATERIALS.iter().map(|entry| (entry.name, entry)).collect();
    let entry = match table.word("material", &words)? {
        Some(entry) => Some(entry),
        None => MATERIALS.iter().find(|entry| entry.name == MATERIAL),
    };
    let entry = entry.ok_or_else(|| table.wrong("material", "the name of a material"))?;
    let mut values = Vec::new();
    for key in entry.parameters {
        let expected =
            format!("a number; the {} material has: {}", entry.name, entry.parameters.join(", "));
        values.push(table.number(key)?.ok_or_else(|| table.wrong(key, &expected))?);
    }
    let material = Material::from_name(entry.name, &values);
    let material = material.ok_or_else(|| table.wrong("material", "the name of a material"))?;
    match material.check() {
        Ok(()) => Ok(material),
        Err(error) => Err(table.because(error.parameter, &error)),
    }
}
