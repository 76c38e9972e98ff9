//! Detection: from the poses of the frames to the sorted contacts of all colliders.

use crate::{Colliders, Contact};
use nalgebra::Isometry3;

/// Memory of detection: poses, bounds, broad phase, persistent manifolds. It holds no truth.
#[derive(Clone, Debug, Default)]
pub struct Detector {
    contacts: Vec<Contact>,
}

impl Detector {
    /// Memory for a set.
    pub fn new(_set: &Colliders) -> Self {
        Self::default()
    }

    /// Finds all contacts whose gap is at most the sum of both frames' `reach` [m] and both margins.
    ///
    /// `frames` are the poses X_WF; `resting` says which of them are as they were in the last call.
    /// The contacts are sorted by (a, b, feature).
    pub fn detect(
        &mut self,
        _set: &Colliders,
        _frames: &[Isometry3<f64>],
        _reach: &[f64],
        _resting: &[bool],
    ) -> &[Contact] {
        &self.contacts
    }

    /// The contacts of the last call.
    pub fn contacts(&self) -> &[Contact] {
        &self.contacts
    }
}
