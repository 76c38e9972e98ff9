//! Joints: `[[joint]]` lets a body move relative to its parent.

use std::collections::HashMap;

use nalgebra::Vector3;
use stiction_mech::{JointKind, JointSpec, Limit};

use super::table::Table;
use crate::error::SceneError;

/// A joint before its body is there.
pub(super) struct JointDeclaration<'a> {
    pub table: Table<'a>,
    pub spec: JointSpec,
    /// Initial coordinate.
    pub start: Option<f64>,
}

/// Joints by the name of their body, in the order of the file.
pub(super) type Joints<'a> = HashMap<String, Vec<JointDeclaration<'a>>>;

/// Reads every `[[joint]]`.
pub(super) fn read<'a>(root: &Table<'a>) -> Result<Joints<'a>, SceneError> {
    let mut joints = Joints::default();
    for table in root.tables("joint")? {
        let body = table.require("body", "the name of the [[body]] that it moves")?;
        let name = table.text("name")?.unwrap_or(body);
        let table = table.named(name);
        let mut spec = JointSpec::new(kind(&table)?);
        spec.name = name.to_owned();
        let scalars: [(&'static str, &mut f64); 4] = [
            ("stiffness", &mut spec.stiffness),
            ("damping", &mut spec.damping),
            ("armature", &mut spec.armature),
            ("friction", &mut spec.friction_loss),
        ];
        for (key, field) in scalars {
            if let Some(value) = table.not_negative(key)? {
                *field = value;
            }
        }
        if let Some(anchor) = table.vector("anchor")? {
            spec.anchor = anchor;
        }
        if let Some(rest) = table.number("spring-rest")? {
            spec.spring_reference = rest;
        }
        if let Some((lower, upper)) = table.range("range")? {
            spec.limit = Some(Limit { lower, upper, margin: 0.0 });
        }
        let start = if spec.kind.nv() == 1 { table.number("start")? } else { None };
        let body = body.to_owned();
        // Further keys are refused when the body is there.
        joints.entry(body).or_default().push(JointDeclaration { table, spec, start });
    }
    Ok(joints)
}

fn kind(table: &Table) -> Result<JointKind, SceneError> {
    let axis = || -> Result<Vector3<f64>, SceneError> {
        let axis = table.vector("axis")?;
        axis.ok_or_else(|| table.wrong("axis", "a direction in the frame of the body"))
    };
    let words = ["ball", "hinge", "planar", "screw", "slide"].map(|word| (word, word));
    Ok(match table.word("kind", &words)? {
        None => return Err(table.wrong("kind", "the kind of the joint")),
        Some("ball") => JointKind::Ball,
        Some("hinge") => JointKind::Hinge { axis: axis()? },
        Some("planar") => JointKind::planar(axis()?),
        Some("screw") => {
            let pitch = table.number("pitch")?;
            let pitch = pitch.ok_or_else(|| table.wrong("pitch", "metres per radian"))?;
            JointKind::Screw { axis: axis()?, pitch }
        }
        Some(_) => JointKind::Slide { axis: axis()? },
    })
}
