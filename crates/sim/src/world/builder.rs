//! Collects the parts of a world, and checks them.

use std::sync::Arc;

use stiction_mech::{BodyId, InverseWeights, Model, ModelBuilder, SoftId};

use super::collision_set::{colliders, radii};
use super::pairings::pairings;
use super::{Geom, Renumber, World};
use crate::cable::{self, Cable};
use crate::compliance::pressure_bodies;
use crate::constraint::{Equality, EqualityOptions};
use crate::contacts::welded;
use crate::error::WorldError;
use crate::sensor::{self, Scenery, SensorSpec};
use crate::soft::{AttachmentSpec, SoftObject, SoftParts, WorldSoftBodies};
use crate::soft_surface::check_law;
use crate::surface::{Pairing, Resistance, check_standoff};

/// Collects the parts of a world; [`WorldBuilder::build`] checks them.
#[derive(Clone, Debug, Default)]
pub struct WorldBuilder {
    /// Bodies, joints, tendons, actuators.
    pub mechanism: ModelBuilder,
    pub(crate) geoms: Vec<Geom>,
    pub(crate) equalities: Vec<(String, Equality, EqualityOptions)>,
    pub(crate) excludes: Vec<(BodyId, BodyId)>,
    pub(crate) pairs: Vec<(usize, usize, Option<Pairing>)>,
    pub(crate) sensors: Vec<SensorSpec>,
    pub(crate) scenery: Vec<Scenery>,
    pub(crate) softs: Vec<SoftObject>,
    pub(crate) attached: Vec<AttachmentSpec>,
    pub(crate) soft_excludes: Vec<(SoftId, BodyId)>,
    pub(crate) cables: Vec<Cable>,
}

impl WorldBuilder {
    /// An empty world with standard gravity.
    pub fn new() -> Self {
        Self::default()
    }

    /// Puts a shape on a body and returns its index.
    pub fn geom(&mut self, geom: Geom) -> usize {
        self.geoms.push(geom);
        self.geoms.len() - 1
    }

    /// Adds an equality.
    pub fn equality(&mut self, name: impl Into<String>, equality: Equality) {
        self.equality_with(name, equality, EqualityOptions::default());
    }

    /// Adds an equality with a softness, or one that is switched off.
    pub fn equality_with(
        &mut self,
        name: impl Into<String>,
        equality: Equality,
        options: EqualityOptions,
    ) {
        self.equalities.push((name.into(), equality, options));
    }

    /// The equalities that were added, with their names.
    pub fn equalities(&self) -> &[(String, Equality, EqualityOptions)] {
        &self.equalities
    }

    /// Disables collisions of two bodies, but not of what is welded to them.
    pub fn exclude(&mut self, a: BodyId, b: BodyId) {
        self.excludes.push((a, b));
    }

    /// Lets two shapes touch whatever their groups and bodies.
    pub fn pair(&mut self, a: usize, b: usize) {
        self.pairs.push((a, b, None));
    }

    /// Lets two shapes touch whatever their groups and bodies, with a combined surface of their own.
    /// Of several for the same two shapes the last counts. A grain is that of the shape it names.
    pub fn pair_as(&mut self, a: usize, b: usize, pairing: Pairing) {
        self.pairs.push((a, b, Some(pairing)));
    }

    /// Adds a soft body.
    pub fn soft(&mut self, object: SoftObject) -> SoftId {
        self.softs.push(object);
        SoftId(self.softs.len() - 1)
    }

    /// Attaches vertices of a soft body to a body: they stay where they are in its frame at the start.
    /// The soft body does not touch what it is attached to.
    pub fn attach(&mut self, soft: SoftId, vertices: &[u32], body: BodyId) {
        self.attached.push(AttachmentSpec { soft, vertices: vertices.to_vec(), body });
    }

    /// Lets a soft body pass through a body and what moves with it.
    pub fn exclude_soft(&mut self, soft: SoftId, body: BodyId) {
        self.soft_excludes.push((soft, body));
    }

    /// Checks everything.
    pub fn build(self) -> Result<World, WorldError> {
        let parts = Arc::new(self.clone());
        let Self { mut mechanism, mut geoms, mut equalities, excludes, pairs, sensors, .. } = self;
        let (mut objects, attached, cables) = (self.softs, self.attached, self.cables);
        cable::check(&cables)?;
        let surface_meshes = WorldSoftBodies::declare(&mut objects, &attached, &mut mechanism)?;
        let model = mechanism.build()?;
        check_declared(&model, objects.len())?;
        let renumber = Renumber { model: &model };
        for geom in &mut geoms {
            geom.body = renumber.body(geom.body, || format!("shape \"{}\"", geom.name))?;
            geom.surface.check(&geom.name)?;
            check_standoff(geom.standoff, &geom.name)?;
        }
        let mut equality_options = Vec::with_capacity(equalities.len());
        for (name, equality, options) in &mut equalities {
            equality.renumber(&renumber, name)?;
            equality.check(&model, name)?;
            options.softness.iter().try_for_each(|law| check_law(law, name))?;
            equality_options.push(*options);
        }
        check_laws(&model)?;
        let sensors = sensor::Layout::new(sensors, geoms.len(), &renumber)?;
        let mut scenery = self.scenery;
        scenery.iter_mut().try_for_each(|other| other.renumber(&renumber))?;
        let cables = cable::checked(cables, &renumber)?;
        let colliders = colliders(&model, &renumber, &geoms, &excludes, &pairs)?;
        let pressure = Arc::new(pressure_bodies(&geoms, &colliders)?);
        let pairings = pairings(&geoms, &pairs)?;
        let own = SoftParts { objects, surface_meshes, attached, excluded: self.soft_excludes };
        let softs = WorldSoftBodies::new(own, &model, &renumber, &colliders)?;
        let has_torsion = geoms.iter().any(|geom| geom.surface.resistance >= Resistance::Spinning)
            || pairings.iter().any(|(_, pairing)| pairing.has_torsion());
        let radius = radii(&model, &colliders);
        let thickness = colliders.as_slice().iter().map(|c| c.shape.least_half_extent()).collect();
        let link_index = link_indices(&model);
        let equalities = equalities.into_iter().map(|(name, equality, _)| (name, equality));
        let (names, equalities): (Vec<_>, Vec<_>) = equalities.unzip();
        let exact_welds = welded::exact_welds(&model, &equalities, &equality_options);
        let inverse_weights = InverseWeights::new(&model).into();
        Ok(World {
            parts,
            model,
            geoms,
            colliders,
            pressure,
            pairings,
            has_torsion,
            equalities,
            equality_options,
            equality_names: names,
            exact_welds,
            sensors,
            scenery,
            cables,
            radius,
            thickness,
            link_index,
            softs: Arc::new(softs),
            inverse_weights,
        })
    }
}

/// Checks the softness of limits and dry friction.
fn check_laws(model: &Model) -> Result<(), WorldError> {
    let joints = model.joints().iter().map(|joint| &joint.spec);
    let joints = joints.map(|spec| (&spec.name, [spec.limit_softness, spec.friction_softness]));
    let tendons = model.tendons().iter().map(|tendon| &tendon.spec);
    let tendons = tendons.map(|spec| (&spec.name, [spec.limit_softness, spec.friction_softness]));
    for (name, laws) in joints.chain(tendons) {
        laws.iter().flatten().try_for_each(|law| check_law(law, name))?;
    }
    Ok(())
}

/// Soft bodies of a world have surfaces: they are added with [`WorldBuilder::soft`].
fn check_declared(model: &Model, objects: usize) -> Result<(), WorldError> {
    let bare = model.softs().len() - objects;
    if bare == 0 {
        return Ok(());
    }
    Err(WorldError::Soft {
        name: model.softs()[0].spec.name.clone(),
        what: "a soft body of the mechanism alone".to_owned(),
        expected: "soft bodies to be added to the world, which gives them a surface",
    })
}

/// Per body: index of a link within its tree.
fn link_indices(model: &Model) -> Vec<u32> {
    let mut index = vec![0; model.bodies().len()];
    for tree in model.trees() {
        for (k, link) in model.links()[tree.links.clone()].iter().enumerate() {
            index[link.body] = k as u32;
        }
    }
    index
}
