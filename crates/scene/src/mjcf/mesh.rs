//! `<mesh>`: triangles from a file or from the text, placed as MuJoCo places them.
//!
//! Vertices are rounded to single precision where they enter, as in MuJoCo, then moved by `refpos`
//! and `refquat`, then scaled, all in double precision. A geom with such a mesh stands in the frame
//! of its inertia: centre of mass and principal axes.

use std::cell::OnceCell;
use std::path::PathBuf;
use std::rc::Rc;

use nalgebra::{Isometry3, Translation3, Vector3};
use stiction_geom::{Field, FieldSolid, Shape, ShapeError};

use super::asset;
use super::build::Build;
use super::orientation;
use super::principal;
use super::sdf_plugin::{self, PluginSolid};
use crate::error::SceneError;
use crate::mesh_file::{self, Triangles, mass};
use crate::xml::Element;

/// Where triangles come from.
#[derive(Clone, Debug)]
enum MeshSource {
    File(PathBuf),
    Text(Triangles),
    /// The surface of a field, with the width of its triangles [m].
    Field(FieldSolid, Option<f64>),
    /// A surface that MuJoCo or a plugin generates.
    Generated(String),
}

/// How mass is found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum MassRule {
    Absolute,
    Exact,
    Convex,
    Shell,
}

/// A mesh as the file describes it.
#[derive(Clone, Debug)]
pub(super) struct MeshAsset {
    element: Element,
    source: MeshSource,
    pub scale: Vector3<f64>,
    reference: Isometry3<f64>,
    rule: MassRule,
}

/// A mesh that was read, in the frame of its inertia.
#[derive(Debug)]
pub(super) struct MeshSolid {
    /// Centre of mass and principal axes in the frame of the asset.
    pub pose: Isometry3<f64>,
    /// Volume [m³], or area [m²] of a shell; none if it has no mass properties.
    pub integrals: Option<(f64, Vector3<f64>)>,
    /// Half sizes of the box of the same inertia [m].
    pub half_box: Vector3<f64>,
    /// Corners of the box around it [m].
    pub bounds: [Vector3<f64>; 2],
    vertices: Vec<Vector3<f64>>,
    triangles: Vec<[u32; 3]>,
    hull: OnceCell<Shape>,
    surface: OnceCell<Option<Shape>>,
}

impl MeshAsset {
    /// Reads `<mesh>` with its defaults merged.
    pub fn read(build: &mut Build, element: &Element) -> Result<(String, Self), SceneError> {
        for seen in ["content_type", "material", "normal", "texcoord", "smoothnormal"] {
            element.get(seen);
        }
        let name = asset::name_of(element);
        let file = asset::file_of(build, element)?;
        let builtin = element.get("builtin").filter(|word| *word != "none");
        let source = match (sdf_plugin::read(build, element)?, file, builtin) {
            (Some(PluginSolid::Field(solid, width)), ..) => MeshSource::Field(solid, width),
            (_, Some(path), _) => MeshSource::File(path),
            (_, None, Some(word)) => {
                element.get("params");
                MeshSource::Generated(format!("builtin {word}"))
            }
            (Some(PluginSolid::Unknown(kind)), ..) => {
                MeshSource::Generated(format!("the surface of the plugin {kind}"))
            }
            _ => MeshSource::Text(inline(element)?),
        };
        if element.integer("maxhullvert")?.is_some_and(|count| count >= 0) {
            build.note("convex hulls are exact: maxhullvert is not used");
        }
        let scale = element.vector("scale")?.unwrap_or(Vector3::repeat(1.0));
        let position = element.vector("refpos")?.unwrap_or_default();
        let rotation = orientation::quaternion(element, "refquat")?.unwrap_or_default();
        let rules = [
            ("legacy", MassRule::Absolute),
            ("exact", MassRule::Exact),
            ("convex", MassRule::Convex),
            ("shell", MassRule::Shell),
        ];
        let rule = element.choice("inertia", &rules)?.unwrap_or(MassRule::Absolute);
        let reference = Isometry3::from_parts(Translation3::from(position), rotation);
        Ok((name, Self { element: element.clone(), source, scale, reference, rule }))
    }

    /// The file, its location and the scale, for visual shapes; `None` if it has none.
    pub fn visual(&self) -> Option<(PathBuf, Isometry3<f64>, Vector3<f64>)> {
        let MeshSource::File(path) = &self.source else { return None };
        let mut back = self.reference.inverse();
        back.translation.vector.component_mul_assign(&self.scale);
        Some((path.clone(), back, self.scale))
    }

    /// The field whose surface it is, with the width of its triangles [m].
    pub fn field(&self) -> Option<(&FieldSolid, Option<f64>)> {
        match &self.source {
            MeshSource::Field(solid, width) => Some((solid, *width)),
            _ => None,
        }
    }

    /// Shape that MuJoCo generates by itself, if any.
    pub fn generated(&self) -> Option<&str> {
        match &self.source {
            MeshSource::Generated(word) => Some(word),
            _ => None,
        }
    }

    /// Reads the triangles and finds their frame.
    pub fn solid(&self, build: &mut Build) -> Result<MeshSolid, SceneError> {
        let mesh = self.triangles(build)?;
        if mesh.vertices.len() < 4 {
            let count = mesh.vertices.len();
            return Err(self.element.error(format_args!("{count} vertices; expected at least 4")));
        }
        Ok(self.place(mesh))
    }

    /// The triangles in the frame of the asset.
    pub fn triangles(&self, build: &mut Build) -> Result<Triangles, SceneError> {
        let mut mesh = match &self.source {
            MeshSource::File(path) => mesh_file::read(build.files, path)?,
            MeshSource::Text(triangles) => triangles.clone(),
            MeshSource::Generated(word) => {
                return Err(self
                    .element
                    .error(format_args!("{word}; expected a file or vertices")));
            }
            MeshSource::Field(solid, width) => {
                let built = Field::build(solid.clone(), *width);
                let field = built.map_err(|fault| self.element.error(fault))?;
                let surface = field.surface();
                Triangles {
                    vertices: surface.vertices().to_vec(),
                    triangles: surface.triangles().to_vec(),
                    first_object: None,
                }
            }
        };
        mesh.triangles.truncate(mesh.first_object.unwrap_or(usize::MAX));
        let back = self.reference.inverse();
        for vertex in &mut mesh.vertices {
            let single = vertex.map(|part| f64::from(part as f32));
            *vertex = (back * nalgebra::Point3::from(single)).coords.component_mul(&self.scale);
            if !vertex.iter().all(|part| part.is_finite()) {
                return Err(self.element.error("vertices beyond all bounds; expected finite ones"));
            }
        }
        if self.scale.product() < 0.0 {
            mesh.triangles.iter_mut().for_each(|corners| corners.swap(1, 2));
        }
        Ok(mesh)
    }

    /// Moves a mesh into the frame of its inertia.
    fn place(&self, mesh: Triangles) -> MeshSolid {
        let found = match self.rule {
            _ if mesh.triangles.is_empty() => mass::convex(&mesh),
            MassRule::Absolute => mass::legacy(&mesh),
            MassRule::Exact => mass::exact(&mesh),
            MassRule::Convex => mass::convex(&mesh),
            MassRule::Shell => mass::shell(&mesh),
        };
        let mut pose = Isometry3::identity();
        let (mut integrals, mut half_box) = (None, Vector3::zeros());
        if let Ok((measure, com, inertia)) = found {
            let (moments, axes) = principal::decompose(&inertia, principal::OF_MESHES);
            // MuJoCo gives the surfaces of plugins their moments of inertia, largest first, but not the frame: the centre of mass
            // is at the origin.
            if self.field().is_none() {
                pose = Isometry3::from_parts(Translation3::from(com), axes);
            }
            let second = Vector3::repeat(moments.sum() / 2.0) - moments;
            half_box = (second * (3.0 / measure)).map(|square| square.max(0.0).sqrt());
            integrals = Some((measure, moments));
        }
        let back = pose.inverse();
        let (mut low, mut high) = (Vector3::repeat(f64::MAX), Vector3::repeat(f64::MIN));
        let vertices: Vec<_> = mesh
            .vertices
            .iter()
            .map(|vertex| {
                let vertex = (back * nalgebra::Point3::from(*vertex)).coords;
                (low, high) = (low.inf(&vertex), high.sup(&vertex));
                vertex
            })
            .collect();
        MeshSolid {
            pose,
            integrals,
            half_box,
            bounds: [low, high],
            vertices,
            triangles: mesh.triangles,
            hull: OnceCell::new(),
            surface: OnceCell::new(),
        }
    }
}

impl MeshSolid {
    /// The triangles themselves, made once; none if they make no surface.
    pub fn surface(&self) -> Option<Shape> {
        let make = || Shape::mesh(&self.vertices, &self.triangles).ok();
        self.surface.get_or_init(make).clone()
    }

    /// The convex hull, made once.
    pub fn hull(&self) -> Result<Shape, ShapeError> {
        if let Some(hull) = self.hull.get() {
            return Ok(hull.clone());
        }
        let hull = Shape::convex(&self.vertices)?;
        Ok(self.hull.get_or_init(|| hull).clone())
    }
}

/// The mesh of a name, read once.
pub(super) fn solid(build: &mut Build, name: &str) -> Result<Option<Rc<MeshSolid>>, SceneError> {
    if let Some(solid) = build.assets.solids.get(name) {
        return Ok(Some(solid.clone()));
    }
    let Some(mesh) = build.assets.meshes.get(name).cloned() else { return Ok(None) };
    let solid = Rc::new(mesh.solid(build)?);
    build.assets.solids.insert(name.to_owned(), solid.clone());
    Ok(Some(solid))
}

/// `vertex` and `face` of the text.
fn inline(element: &Element) -> Result<Triangles, SceneError> {
    let numbers = element.numbers("vertex")?.unwrap_or_default();
    if numbers.len() < 12 || numbers.len() % 3 != 0 {
        let expected = "a file, or three numbers for each of at least four vertices";
        return Err(element.wrong("vertex", expected));
    }
    let vertices: Vec<_> =
        numbers.chunks_exact(3).map(|part| Vector3::new(part[0], part[1], part[2])).collect();
    let faces = element.numbers("face")?.unwrap_or_default();
    let wrong = || element.wrong("face", "three numbers of vertices for each triangle");
    if faces.len() % 3 != 0 {
        return Err(wrong());
    }
    let corner = |number: f64| {
        let whole = number >= 0.0 && number < vertices.len() as f64 && number.fract() == 0.0;
        whole.then_some(number as u32).ok_or_else(wrong)
    };
    let triangles = faces
        .chunks_exact(3)
        .map(|part| Ok([corner(part[0])?, corner(part[1])?, corner(part[2])?]))
        .collect::<Result<_, SceneError>>()?;
    Ok(Triangles { vertices, triangles, first_object: None })
}
