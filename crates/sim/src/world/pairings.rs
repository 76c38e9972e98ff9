//! Explicit pairings of shapes.

use super::Geom;
use crate::error::WorldError;
use crate::surface::{GrainOf, Pairing};

/// A pairing and the shapes it is between, smaller index first.
pub(super) type PairingOf = ((u32, u32), Pairing);

/// The explicit pairings, checked and sorted by their shapes.
pub(super) fn pairings(
    geoms: &[Geom],
    pairs: &[(usize, usize, Option<Pairing>)],
) -> Result<Vec<PairingOf>, WorldError> {
    let mut list = Vec::new();
    for (a, b, pairing) in pairs {
        let Some(mut pairing) = *pairing else { continue };
        let name = |index: usize| &geoms[index].name;
        pairing.check(&format!("{}\" and \"{}", name(*a), name(*b)))?;
        if a > b {
            pairing.grain = match pairing.grain {
                GrainOf::Neither => GrainOf::Neither,
                GrainOf::A => GrainOf::B,
                GrainOf::B => GrainOf::A,
            };
        }
        let key = (*a.min(b) as u32, *a.max(b) as u32);
        list.push((key, pairing.without_zero_resistance()));
    }
    // The sort is stable: of several the last declared comes last.
    list.sort_by_key(|(key, _)| *key);
    list.reverse();
    list.dedup_by_key(|(key, _)| *key);
    list.reverse();
    Ok(list)
}
