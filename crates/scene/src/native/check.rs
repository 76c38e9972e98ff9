//! `[[check]]`: claims about the motion.

use stiction_mech::{BodyId, SoftId};
use stiction_sim::World;

use super::names::NameIndex;
use super::table::Table;
use crate::claim::{Claim, ClaimSubject};
use crate::error::SceneError;

/// Names of the things of a model that claims are about.
#[derive(Default)]
pub(super) struct ModelNames {
    bodies: NameIndex,
    softs: NameIndex,
    joints: NameIndex,
}

/// Reads one `[[check]]`.
pub(super) fn read(
    world: &World,
    names: &ModelNames,
    table: Table,
    claims: &mut Vec<Claim>,
) -> Result<(), SceneError> {
    let before = claims.len();
    if let Some(depth) = table.not_negative("penetration-below")? {
        claims.push(Claim::Penetration(depth));
    }
    let model = world.model();
    if let Some(pattern) = table.text("body")? {
        let all = model.bodies();
        for body in names.bodies.find((&table, "body"), pattern, all)? {
            of_thing(&table, ClaimSubject::Body(BodyId(body)), claims)?;
        }
    }
    if let Some(pattern) = table.text("soft")? {
        let all = model.softs();
        for soft in names.softs.find((&table, "soft"), pattern, all)? {
            of_thing(&table, ClaimSubject::Soft(SoftId(soft)), claims)?;
        }
    }
    if let Some(pattern) = table.text("joint")? {
        let all = model.joints();
        for joint in names.joints.find((&table, "joint"), pattern, all)? {
            let joint = &model.joints()[joint];
            if joint.spec.kind.nv() != 1 {
                return Err(table.wrong("joint", "a joint of one coordinate"));
            }
            let value = table.number("value")?;
            claims.push(Claim::Coordinate {
                joint: joint.spec.name.clone(),
                q: joint.q.start,
                value: value.ok_or_else(|| table.wrong("value", "a coordinate [m or rad]"))?,
                within: within(&table)?,
            });
        }
    }
    if claims.len() == before {
        return Err(table.error(
            "nothing is claimed; expected penetration-below, a body or a soft body with \
             speed-below, position, lowest or highest, or a joint with a value",
        ));
    }
    table.finish()
}

fn of_thing(table: &Table, of: ClaimSubject, claims: &mut Vec<Claim>) -> Result<(), SceneError> {
    if let Some(speed) = table.not_negative("speed-below")? {
        claims.push(Claim::AtRest { of, speed });
    }
    if let Some(position) = table.vector("position")? {
        claims.push(Claim::Near { of, position, within: within(table)? });
    }
    let (lowest, highest) = (table.number("lowest")?, table.number("highest")?);
    if lowest.is_some() || highest.is_some() {
        claims.push(Claim::Height {
            of,
            lowest: lowest.unwrap_or(f64::NEG_INFINITY),
            highest: highest.unwrap_or(f64::INFINITY),
        });
    }
    Ok(())
}

fn within(table: &Table) -> Result<f64, SceneError> {
    let within = table.not_negative("within")?;
    within.ok_or_else(|| table.wrong("within", "the largest distance that still counts"))
}
