//! A world: a mechanism, the shapes on its bodies with their surfaces, and equalities.
//!
//! It never changes. Shapes are carried by links: what is welded together moves together and never
//! touches itself, nor the link that carries it.

use std::sync::Arc;

use nalgebra::Isometry3;
use stiction_geom::{Collider, ColliderId, Colliders, Contact, Groups, Shape};
use stiction_mech::{BodyId, JointId, Model, ModelBuilder, TendonId};

use crate::constraint::Equality;
use crate::error::WorldError;
use crate::surface::Surface;

/// A shape on a body.
#[derive(Clone, Debug)]
pub struct Geom {
    /// Name, empty or different from all others.
    pub name: String,
    /// The body that carries it.
    pub body: BodyId,
    /// Its geometry.
    pub shape: Shape,
    /// Pose in the frame of the body.
    pub pose: Isometry3<f64>,
    /// Its surface.
    pub surface: Surface,
    /// What it is and what it touches.
    pub groups: Groups,
    /// Distance [m] from which its contacts are wanted, whatever the motion.
    pub margin: f64,
    /// Red, green, blue and opacity, each from 0 to 1; for those who look.
    pub colour: [f32; 4],
}

impl Geom {
    /// A shape at the origin of a body, with the default surface.
    pub fn new(body: BodyId, shape: Shape) -> Self {
        Self {
            name: String::new(),
            body,
            shape,
            pose: Isometry3::identity(),
            surface: Surface::default(),
            groups: Groups::default(),
            margin: 0.0,
            colour: [0.6, 0.6, 0.6, 1.0],
        }
    }

    /// With a surface.
    pub fn surface(mut self, surface: Surface) -> Self {
        self.surface = surface;
        self
    }

    /// With a pose in the frame of the body.
    pub fn at(mut self, pose: Isometry3<f64>) -> Self {
        self.pose = pose;
        self
    }

    /// With a name.
    pub fn named(mut self, name: impl Into<String>) -> Self {
        self.name = name.into();
        self
    }

    /// With a colour.
    pub fn coloured(mut self, red: f32, green: f32, blue: f32) -> Self {
        self.colour = [red, green, blue, 1.0];
        self
    }
}

/// Collects the parts of a world; [`WorldBuilder::build`] checks them.
#[derive(Clone, Debug, Default)]
pub struct WorldBuilder {
    /// Bodies, joints, tendons, actuators.
    pub mechanism: ModelBuilder,
    pub(crate) geoms: Vec<Geom>,
    pub(crate) equalities: Vec<(String, Equality)>,
    pub(crate) excludes: Vec<(BodyId, BodyId)>,
    pub(crate) pairs: Vec<(usize, usize)>,
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
        self.equalities.push((name.into(), equality));
    }

    /// Lets two bodies pass through one another.
    pub fn exclude(&mut self, a: BodyId, b: BodyId) {
        self.excludes.push((a, b));
    }

    /// Lets two shapes touch whatever their groups and bodies.
    pub fn pair(&mut self, a: usize, b: usize) {
        self.pairs.push((a, b));
    }

    /// Checks everything.
    pub fn build(self) -> Result<World, WorldError> {
        let parts = Arc::new(self.clone());
        let Self { mechanism, mut geoms, mut equalities, excludes, pairs } = self;
        let model = mechanism.build()?;
        let renumber = Renumber { model: &model };
        for geom in &mut geoms {
            geom.body = renumber.body(geom.body, || format!("shape \"{}\"", geom.name))?;
            geom.surface.check(&geom.name)?;
        }
        for (name, equality) in &mut equalities {
            equality.renumber(&renumber, name)?;
            equality.check(&model, name)?;
        }
        let colliders = colliders(&model, &renumber, &geoms, &excludes, &pairs)?;
        let radius = radii(&model, &colliders);
        let link_index = link_indices(&model);
        let (names, equalities) = equalities.into_iter().unzip();
        let equality_names = names;
        Ok(World { parts, model, geoms, colliders, equalities, equality_names, radius, link_index })
    }
}

/// From the ids of a builder to those of its model.
pub(crate) struct Renumber<'a> {
    model: &'a Model,
}

impl Renumber<'_> {
    pub fn body(&self, id: BodyId, owner: impl Fn() -> String) -> Result<BodyId, WorldError> {
        let count = self.model.bodies().len();
        self.model.body_of_builder(id).ok_or_else(|| WorldError::Unknown {
            owner: owner(),
            what: "body",
            found: id.0,
            count,
        })
    }

    pub fn joint(&self, id: JointId, owner: impl Fn() -> String) -> Result<JointId, WorldError> {
        let count = self.model.joints().len();
        let unknown = || WorldError::Unknown { owner: owner(), what: "joint", found: id.0, count };
        self.model.joint_of_builder(id).ok_or_else(unknown)
    }

    pub fn tendon(&self, id: TendonId, owner: impl Fn() -> String) -> Result<TendonId, WorldError> {
        let count = self.model.tendons().len();
        let unknown = || WorldError::Unknown { owner: owner(), what: "tendon", found: id.0, count };
        (id.0 < count).then_some(id).ok_or_else(unknown)
    }
}

fn colliders(
    model: &Model,
    renumber: &Renumber,
    geoms: &[Geom],
    excludes: &[(BodyId, BodyId)],
    pairs: &[(usize, usize)],
) -> Result<Colliders, WorldError> {
    let mut set = Colliders::builder();
    let frame = |body: BodyId| model.link(body).unwrap_or(0) as u32;
    for geom in geoms {
        let body = &model.bodies()[geom.body.0];
        if body.link.is_some() && !geom.shape.bounding_radius().is_finite() {
            let (name, kind) = (geom.name.clone(), geom.shape.name());
            return Err(WorldError::Immovable { name, kind });
        }
        set.add(Collider {
            shape: geom.shape.clone(),
            frame: frame(geom.body),
            pose: body.pose_in_link * geom.pose,
            groups: geom.groups,
            margin: geom.margin,
        });
    }
    set.fixed(0);
    for link in model.links() {
        if let Some(parent) = link.parent {
            set.exclude(parent as u32, link.body as u32);
        }
    }
    for (a, b) in excludes {
        let owner = || "exclusion".to_owned();
        let (a, b) = (renumber.body(*a, owner)?, renumber.body(*b, owner)?);
        set.exclude(frame(a), frame(b));
    }
    for (a, b) in pairs {
        set.pair(ColliderId(*a as u32), ColliderId(*b as u32));
    }
    Ok(set.build()?)
}

/// Per body: distance of the farthest point of a link's shapes from its origin [m].
fn radii(model: &Model, colliders: &Colliders) -> Vec<f64> {
    let mut radius = vec![0.0_f64; model.bodies().len()];
    for collider in colliders.as_slice().iter().filter(|c| c.frame != 0) {
        let reach = collider.pose.translation.vector.norm() + collider.shape.bounding_radius();
        let entry = &mut radius[collider.frame as usize];
        *entry = entry.max(reach);
    }
    radius
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

/// A checked world.
#[derive(Clone, Debug)]
pub struct World {
    /// What it was built from, with the ids of the builder.
    pub(crate) parts: Arc<WorldBuilder>,
    pub(crate) model: Model,
    pub(crate) geoms: Vec<Geom>,
    pub(crate) colliders: Colliders,
    pub(crate) equalities: Vec<Equality>,
    equality_names: Vec<String>,
    pub(crate) radius: Vec<f64>,
    pub(crate) link_index: Vec<u32>,
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

    /// Whether neither surface in contact yields.
    pub(crate) fn is_rigid(&self, contact: &Contact) -> bool {
        [contact.a, contact.b]
            .iter()
            .all(|id| self.geoms[id.index()].surface.stiffness == f64::INFINITY)
    }

    /// The equalities.
    pub fn equalities(&self) -> &[Equality] {
        &self.equalities
    }

    /// Names of the equalities.
    pub fn equality_names(&self) -> &[String] {
        &self.equality_names
    }
}
