//! Contacts of shapes that are not convex: meshes, height fields, compounds.

use crate::narrow::{Manifold, Placed};

/// Writes the contacts within `reach` [m] between two shapes of which at least one is not convex.
pub fn contacts(_a: Placed, _b: Placed, _reach: f64, _manifold: &mut Manifold) {}
