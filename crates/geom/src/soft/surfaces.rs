//! The set of soft surfaces and the rules for what they may touch.
//!
//! A surface is tested against a collider if their groups agree and the collider's frame is not excluded,
//! against another surface if their groups agree, against itself if `touches_itself` is set. Everything is
//! validated once, when the set is built; topology and rest configuration are analysed there too, see
//! `surface_topology`.

use super::surface_topology::SurfaceTopology;
use crate::{Colliders, Groups, SoftSurfaceError};
use nalgebra::Vector3;
use std::ops::Range;

/// Index of a soft surface in its set.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SoftSurfaceId(pub u32);

impl SoftSurfaceId {
    /// The index as a `usize`.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// The closed surface of a soft body.
#[derive(Clone, Debug)]
pub struct SoftSurface {
    /// The body's nodes in the array of all nodes.
    pub nodes: Range<usize>,
    /// Triangles between nodes of the array of all nodes, counter-clockwise seen from outside.
    pub triangles: Vec<[u32; 3]>,
    /// Rest positions of the body's nodes [m], one per node of `nodes`: they give the thickness of the body
    /// and the neighbours that make no contact.
    pub rest: Vec<Vector3<f64>>,
    /// Collision filter.
    pub groups: Groups,
    /// Distance [m] within which its contacts are reported, whatever the motion.
    pub margin: f64,
    /// Whether contacts of the surface with itself are searched.
    pub touches_itself: bool,
    /// Frames whose colliders it does not touch.
    pub excluded_frames: Vec<u32>,
}

/// An immutable set of soft surfaces over one array of nodes.
#[derive(Clone, Debug, Default)]
pub struct SoftSurfaces {
    surfaces: Vec<SoftSurface>,
    pub(super) topologies: Vec<SurfaceTopology>,
    /// Colliders that each surface may touch, ascending.
    pub(super) partners: Vec<Vec<u32>>,
    nodes: usize,
}

/// Collects soft surfaces; [`SoftSurfacesBuilder::build`] checks them.
#[derive(Clone, Debug, Default)]
pub struct SoftSurfacesBuilder {
    surfaces: Vec<SoftSurface>,
}

impl SoftSurfacesBuilder {
    /// Adds a surface and returns its id.
    pub fn add(&mut self, surface: SoftSurface) -> SoftSurfaceId {
        self.surfaces.push(surface);
        SoftSurfaceId(self.surfaces.len() as u32 - 1)
    }

    /// Validates and analyses everything once; a [`SoftSurfaces`] needs no further checks.
    pub fn build(self, colliders: &Colliders) -> Result<SoftSurfaces, SoftSurfaceError> {
        let mut set = SoftSurfaces { surfaces: self.surfaces, ..SoftSurfaces::default() };
        for (index, surface) in set.surfaces.iter().enumerate() {
            set.topologies.push(SurfaceTopology::build(index as u32, surface)?);
            set.nodes = set.nodes.max(surface.nodes.end);
            let touches = |collider: &crate::Collider| {
                collider.groups.agree(&surface.groups)
                    && !surface.excluded_frames.contains(&collider.frame)
            };
            let all = colliders.as_slice().iter().enumerate();
            let partners = all.filter(|(_, collider)| touches(collider)).map(|(k, _)| k as u32);
            set.partners.push(partners.collect());
        }
        Ok(set)
    }
}

impl SoftSurfaces {
    /// An empty set to add to.
    pub fn builder() -> SoftSurfacesBuilder {
        SoftSurfacesBuilder::default()
    }

    /// Number of surfaces.
    pub fn len(&self) -> usize {
        self.surfaces.len()
    }

    /// Whether there is no surface.
    pub fn is_empty(&self) -> bool {
        self.surfaces.is_empty()
    }

    /// Number of nodes that the surfaces refer to: the least length of the nodes given to a detector.
    pub fn nodes(&self) -> usize {
        self.nodes
    }

    /// All surfaces, by id.
    pub fn as_slice(&self) -> &[SoftSurface] {
        &self.surfaces
    }

    /// One surface.
    pub fn get(&self, id: SoftSurfaceId) -> &SoftSurface {
        &self.surfaces[id.index()]
    }

    /// Whether two different surfaces may touch.
    pub fn may_touch(&self, a: SoftSurfaceId, b: SoftSurfaceId) -> bool {
        self.get(a).groups.agree(&self.get(b).groups)
    }
}
