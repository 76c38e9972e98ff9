//! Exclusions: `[[exclude]]` lets bodies pass through one another.

use stiction_mech::BodyId;

use super::table::Table;
use super::{SceneBuilder, names};
use crate::error::SceneError;

/// Reads one `[[exclude]]`.
pub(super) fn read(scene: &mut SceneBuilder, table: Table) -> Result<(), SceneError> {
    let patterns = table.texts("bodies")?.unwrap_or_default();
    let [first, second] = patterns[..] else {
        return Err(table.wrong("bodies", "two names or patterns of bodies"));
    };
    let declared = scene.builder.mechanism.declared();
    let bodies = &scene.names.bodies;
    let of = |pattern| bodies.find((&table, "bodies"), pattern, declared.bodies);
    let (first, second) = (of(first)?, of(second)?);
    names::check_pairs(&table, "bodies", [first.len(), second.len()])?;
    for a in &first {
        for b in second.iter().filter(|b| *b != a) {
            scene.builder.exclude(BodyId(*a), BodyId(*b));
        }
    }
    table.finish()
}
