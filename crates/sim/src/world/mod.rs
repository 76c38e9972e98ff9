//! A world: a mechanism, the shapes on its bodies with their surfaces, soft bodies, and equalities.
//!
//! It never changes. Shapes are carried by links: bodies that are welded together move together and
//! do not collide, nor does a link collide with the link that carries it.

mod builder;
mod collision_set;
mod geom;
mod pairings;
mod renumber;

pub use builder::WorldBuilder;
pub(crate) use collision_set::frame_of;
pub use geom::Geom;
pub(crate) use renumber::Renumber;

use std::sync::{Arc, OnceLock};

use stiction_geom::{Colliders, Contact, PressureBodies};
use stiction_mech::{InverseWeights, Model, SoftId, SoftLaw};

use crate::cable::Cable;
use crate::constraint::{Equality, EqualityOptions};
use crate::contacts::welded::ExactWeld;
use crate::sensor::{self, Scenery};
use crate::soft::{SoftObject, WorldSoftBodies};
use crate::soft_surface::SoftPairing;
use crate::surface::{Combine, Pairing};
use pairings::PairingOf;

/// A checked world.
#[derive(Clone, Debug)]
pub struct World {
    /// Its declarations, with the ids of the builder.
    pub(crate) parts: Arc<WorldBuilder>,
    pub(crate) model: Model,
    pub(crate) geoms: Vec<Geom>,
    pub(crate) colliders: Colliders,
    /// Pressure fields and rigid surfaces of the shapes that touch in patches.
    pub(crate) pressure: Arc<PressureBodies>,
    /// Explicit pairings by the shapes they are between, sorted.
    pairings: Vec<PairingOf>,
    /// Whether any contact may resist spinning or rolling.
    pub(crate) has_torsion: bool,
    pub(crate) equalities: Vec<Equality>,
    pub(crate) equality_options: Vec<EqualityOptions>,
    equality_names: Vec<String>,
    pub(crate) exact_welds: Vec<ExactWeld>,
    pub(crate) sensors: sensor::Layout,
    pub(crate) scenery: Vec<Scenery>,
    pub(crate) cables: Vec<Cable>,
    pub(crate) radius: Vec<f64>,
    /// Per collider: the least half extent of its shape [m].
    pub(crate) thickness: Vec<f64>,
    pub(crate) link_index: Vec<u32>,
    pub(crate) softs: Arc<WorldSoftBodies>,
    /// Inverse inertias at the reference configuration, by which soft constraints are scaled.
    inverse_weights: OnceLock<InverseWeights>,
}

impl World {
    /// The mechanism.
    pub fn model(&self) -> &Model {
        &self.model
    }

    /// The shapes; a contact names them by index.
    pub fn geoms(&self) -> &[Geom] {
        &self.geoms
    }

    /// The shape of this name.
    pub fn geom(&self, name: &str) -> Option<usize> {
        self.geoms.iter().position(|geom| geom.name == name).filter(|_| !name.is_empty())
    }

    /// Bodies of the shapes in contact, A and B.
    pub(crate) fn bodies_of(&self, contact: &Contact) -> [usize; 2] {
        [contact.a, contact.b].map(|id| self.geoms[id.index()].body.0)
    }

    /// The combined surface parameters of a contact.
    pub(crate) fn pairing(&self, contact: &Contact, combine: Combine) -> Pairing {
        if let Some(explicit) = self.explicit_pairing(contact) {
            return *explicit;
        }
        let [a, b] = [contact.a, contact.b].map(|id| &self.geoms[id.index()]);
        let standoff = a.standoff + b.standoff;
        Pairing { standoff, ..Pairing::of(&a.surface, &b.surface, combine) }
    }

    fn explicit_pairing(&self, contact: &Contact) -> Option<&Pairing> {
        if self.pairings.is_empty() {
            return None;
        }
        let key = (contact.a.0, contact.b.0);
        let place = self.pairings.binary_search_by_key(&key, |(key, _)| *key).ok()?;
        Some(&self.pairings[place].1)
    }

    /// Distance that the surfaces of a contact keep from each other [m].
    pub(crate) fn standoff(&self, contact: &Contact) -> f64 {
        match self.explicit_pairing(contact) {
            Some(explicit) => explicit.standoff,
            None => [contact.a, contact.b].iter().map(|id| self.geoms[id.index()].standoff).sum(),
        }
    }

    /// Distance beyond the standoff of a rigid contact [m]; `None` if it is compliant.
    pub(crate) fn rigid_gap(&self, contact: &Contact) -> Option<f64> {
        let (rigid, standoff) = match self.explicit_pairing(contact) {
            Some(explicit) => (explicit.is_rigid(), explicit.standoff),
            None => {
                let [a, b] = [contact.a, contact.b].map(|id| &self.geoms[id.index()]);
                (a.surface.is_rigid_with(&b.surface), a.standoff + b.standoff)
            }
        };
        rigid.then_some(contact.gap - standoff)
    }

    /// Softness of a rigid contact that yields since the start: MuJoCo's default law, with the cone of the shapes.
    pub(crate) fn yielding_pairing(&self, contact: &Contact) -> SoftPairing {
        let mut surfaces =
            [contact.a, contact.b].map(|id| &self.geoms[id.index()].surface).into_iter();
        let soft = surfaces.find_map(|surface| surface.soft).unwrap_or_default();
        SoftPairing { law: SoftLaw::default(), cone: soft.cone }
    }

    /// The soft bodies, as they were added; their mechanics are in [`Model::softs`].
    pub fn softs(&self) -> &[SoftObject] {
        &self.softs.objects
    }

    /// The soft body of this name.
    pub fn soft(&self, name: &str) -> Option<SoftId> {
        let place = self.softs().iter().position(|object| object.spec.name == name);
        place.filter(|_| !name.is_empty()).map(SoftId)
    }

    /// The vertices of a soft body that lie on its surface, and the triangles over these, outward.
    pub fn surface_mesh(&self, soft: SoftId) -> (&[u32], &[[u32; 3]]) {
        let surface_mesh = &self.softs.surface_meshes[soft.0];
        (&surface_mesh.vertices, &surface_mesh.triangles)
    }

    /// Inverse inertias at the reference configuration, by which soft constraints are scaled.
    pub fn inverse_weights(&self) -> &InverseWeights {
        self.inverse_weights.get_or_init(|| InverseWeights::new(&self.model))
    }

    /// Computes them again at their next use, after a mass was changed.
    pub(crate) fn forget_inverse_weights(&mut self) {
        self.inverse_weights.take();
    }

    /// The equalities.
    pub fn equalities(&self) -> &[Equality] {
        &self.equalities
    }

    /// Softness of the equalities, and whether they hold at the start.
    pub fn equality_options(&self) -> &[EqualityOptions] {
        &self.equality_options
    }

    /// Names of the equalities.
    pub fn equality_names(&self) -> &[String] {
        &self.equality_names
    }
}
