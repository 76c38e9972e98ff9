//! Soft bodies in a world: finite elements, their colliding surfaces and their attachments.
//!
//! Vertices of all soft bodies lie in one array, body after body, as in
//! [`State::x`](stiction_mech::State); an index into this array is a *node*. Fixed vertices have
//! no velocity and are not among the unknowns.

pub(crate) mod attachment;
pub(crate) mod contact;

use attachment::{Attachment, attachments};

use stiction_geom::{Colliders, Groups, SoftSurface, SoftSurfaces, TetMesh};
use stiction_mech::{BodyId, Model, ModelBuilder, SoftId, SoftSpec};

use crate::error::WorldError;
use crate::surface::Surface;
use crate::world::{Renumber, frame_of};

/// A soft body and its surface.
#[derive(Clone, Debug)]
pub struct SoftObject {
    /// Vertices, tetrahedra and material. Inverted tetrahedra are reoriented.
    pub spec: SoftSpec,
    /// Its surface parameters, without grain: no frame stays fixed in a body that deforms.
    pub surface: Surface,
    /// Collision groups.
    pub groups: Groups,
    /// Distance [m] within which its contacts are detected, at any velocity.
    pub margin: f64,
    /// Whether parts of its surface collide with one another.
    pub touches_itself: bool,
    /// Red, green, blue and opacity, each from 0 to 1; for display only.
    pub colour: [f32; 4],
}

impl SoftObject {
    /// A soft body with the default surface, without self-collision.
    pub fn new(spec: SoftSpec) -> Self {
        Self {
            spec,
            surface: Surface::default(),
            groups: Groups::default(),
            margin: 0.0,
            touches_itself: false,
            colour: [0.35, 0.6, 0.75, 1.0],
        }
    }

    /// Sets the surface parameters.
    pub fn surface(mut self, surface: Surface) -> Self {
        self.surface = surface;
        self
    }

    /// Sets the colour.
    pub fn coloured(mut self, red: f32, green: f32, blue: f32) -> Self {
        self.colour = [red, green, blue, 1.0];
        self
    }

    /// Enables self-collision.
    pub fn touching_itself(mut self) -> Self {
        self.touches_itself = true;
        self
    }
}

/// Vertices of a soft body that are to follow a rigid one.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct AttachmentSpec {
    pub soft: SoftId,
    pub vertices: Vec<u32>,
    pub body: BodyId,
}

/// Distance within which a vertex counts as touching at any velocity, relative to an element's size [-].
const NEAR: f64 = 1e-3;

/// Stands for the index of a fixed vertex among the free ones.
const FIXED: u32 = u32::MAX;

/// The surface mesh of a soft body, with its own numbering of vertices.
#[derive(Clone, Debug, Default)]
pub(crate) struct SoftSurfaceMesh {
    /// Vertices of the body that lie on its surface.
    pub vertices: Vec<u32>,
    /// Triangles, as indices into `vertices`, with outward normals.
    pub triangles: Vec<[u32; 3]>,
}

/// Declarations from which the soft bodies of a world are built.
pub(crate) struct SoftParts {
    pub objects: Vec<SoftObject>,
    pub surface_meshes: Vec<SoftSurfaceMesh>,
    pub attached: Vec<AttachmentSpec>,
    /// Pairs of a soft body and a body that do not collide.
    pub excluded: Vec<(SoftId, BodyId)>,
}

/// The soft bodies of a world, checked.
#[derive(Clone, Debug)]
pub(crate) struct WorldSoftBodies {
    pub objects: Vec<SoftObject>,
    pub surfaces: SoftSurfaces,
    pub attachments: Vec<Attachment>,
    pub surface_meshes: Vec<SoftSurfaceMesh>,
    /// Shortest edge of any surface mesh at rest [m].
    pub shortest: f64,
    /// Per body: distance [m] within which its vertices count as touching at any velocity.
    pub near: Vec<f64>,
    /// First node of each body, and their number at the end.
    starts: Vec<u32>,
    /// Per node: its index among the vertices of its body that are not fixed.
    free_index: Vec<u32>,
    /// Per node: the axes along which it is fixed.
    fixed_axes: Vec<[bool; 3]>,
}

impl WorldSoftBodies {
    /// Declares the soft bodies in a mechanism; inverted tetrahedra are reoriented.
    pub fn declare(
        objects: &mut [SoftObject],
        attached: &[AttachmentSpec],
        mechanism: &mut ModelBuilder,
    ) -> Result<Vec<SoftSurfaceMesh>, WorldError> {
        let mut surface_meshes = Vec::new();
        for (index, object) in objects.iter_mut().enumerate() {
            let name = &object.spec.name;
            object.surface.check(name)?;
            if object.surface.grain.is_some() {
                let (name, what) = (name.clone(), "a surface with a grain".to_owned());
                let expected = "none: no frame holds while the body deforms";
                return Err(WorldError::Soft { name, what, expected });
            }
            let (vertices, tetrahedra) = (&object.spec.vertices, &object.spec.tetrahedra);
            let mesh = TetMesh::new(vertices.clone(), tetrahedra.clone())
                .map_err(|source| WorldError::Mesh { name: name.clone(), source })?;
            object.spec.tetrahedra = mesh.tetrahedra().to_vec();
            surface_meshes.push(SoftSurfaceMesh::of(&mesh));
            let mut spec = object.spec.clone();
            // Vertices attached to the world are fixed.
            for attach in attached.iter().filter(|a| a.soft.0 == index && a.body == BodyId::WORLD) {
                spec.fixed.extend_from_slice(&attach.vertices);
            }
            spec.fixed.sort_unstable();
            spec.fixed.dedup();
            mechanism.soft(spec);
        }
        Ok(surface_meshes)
    }

    /// Completes the soft bodies of a model.
    pub fn new(
        parts: SoftParts,
        model: &Model,
        renumber: &Renumber,
        colliders: &Colliders,
    ) -> Result<Self, WorldError> {
        let SoftParts { objects, surface_meshes, attached, excluded } = parts;
        let attachments = attachments(&objects, &attached, model, renumber)?;
        if let Some((id, _)) = excluded.iter().find(|(id, _)| id.0 >= objects.len()) {
            let (owner, what) = ("exclusion".to_owned(), "soft body");
            return Err(WorldError::Unknown { owner, what, found: id.0, count: objects.len() });
        }
        let mut set = SoftSurfaces::builder();
        let (mut starts, mut free_index, mut near) = (vec![0], Vec::new(), Vec::new());
        let mut fixed_axes = Vec::with_capacity(model.nodes());
        for (index, (object, body)) in objects.iter().zip(model.softs()).enumerate() {
            let first = body.nodes.start as u32;
            let global = |k: u32| first + surface_meshes[index].vertices[k as usize];
            let mut excluded_frames = Vec::new();
            let links = attached.iter().map(|attach| (attach.soft, attach.body));
            let links = links.filter(|(_, body)| *body != BodyId::WORLD);
            for (_, other) in links.chain(excluded.iter().copied()).filter(|(id, _)| id.0 == index)
            {
                let owner = || format!("soft body \"{}\"", object.spec.name);
                excluded_frames.push(frame_of(model, renumber.body(other, owner)?));
            }
            excluded_frames.sort_unstable();
            excluded_frames.dedup();
            let closest = NEAR * (body.volume() / body.spec.tetrahedra.len() as f64).cbrt();
            near.push(closest);
            set.add(SoftSurface {
                nodes: body.nodes.clone(),
                triangles: surface_meshes[index].triangles.iter().map(|t| t.map(global)).collect(),
                rest: object.spec.vertices.clone(),
                groups: object.groups,
                margin: object.margin.max(closest),
                touches_itself: object.touches_itself,
                excluded_frames,
            });
            starts.push(body.nodes.end as u32);
            fixed_axes.extend_from_slice(body.fixed_axes());
            let mut next = 0;
            for vertex in 0..body.nodes.len() as u32 {
                let fixed = body.spec.fixed.binary_search(&vertex).is_ok();
                free_index.push(if fixed { FIXED } else { next });
                next += u32::from(!fixed);
            }
        }
        let surfaces = set.build(colliders)?;
        let edges = |(object, surface_mesh): (&SoftObject, &SoftSurfaceMesh)| {
            let at = |k: u32| object.spec.vertices[surface_mesh.vertices[k as usize] as usize];
            let edge = |t: &[u32; 3], k: usize| (at(t[k]) - at(t[(k + 1) % 3])).norm();
            let all = surface_mesh.triangles.iter().flat_map(|t| [0, 1, 2].map(|k| edge(t, k)));
            all.fold(f64::INFINITY, f64::min)
        };
        let shortest = objects.iter().zip(&surface_meshes).map(edges).fold(f64::INFINITY, f64::min);
        Ok(Self {
            objects,
            surfaces,
            attachments,
            surface_meshes,
            shortest,
            near,
            starts,
            free_index,
            fixed_axes,
        })
    }

    /// The soft body of a node.
    pub fn body_of(&self, node: u32) -> usize {
        self.starts.partition_point(|start| *start <= node) - 1
    }

    /// The axes along which a node is fixed.
    pub fn fixed_axes_of(&self, node: u32) -> [bool; 3] {
        self.fixed_axes[node as usize]
    }

    /// The index of a node among the free vertices of its body, if it is not fixed.
    pub fn free_index_of(&self, node: u32) -> Option<u32> {
        let index = self.free_index[node as usize];
        (index != FIXED).then_some(index)
    }
}

impl SoftSurfaceMesh {
    fn of(mesh: &TetMesh) -> Self {
        let mut local = vec![u32::MAX; mesh.vertices().len()];
        let mut vertices: Vec<u32> = mesh.surface().iter().flatten().copied().collect();
        vertices.sort_unstable();
        vertices.dedup();
        for (k, vertex) in vertices.iter().enumerate() {
            local[*vertex as usize] = k as u32;
        }
        let triangles = mesh.surface().iter().map(|t| t.map(|v| local[v as usize])).collect();
        Self { vertices, triangles }
    }
}
