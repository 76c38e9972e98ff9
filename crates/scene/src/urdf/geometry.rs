//! Shapes of links: collision shapes become geoms, visual shapes become visuals.

use std::collections::{HashMap, HashSet};
use std::path::PathBuf;

use stiction_geom::{Shape, ShapeError};
use stiction_sim::Geom;

use super::diagnostics::Diagnostics;
use super::link::{Link, LinkShape, LinkShapeKind};
use super::package::Packages;
use super::plan::Plan;
use super::proximity;
use super::robot::Robot;
use crate::error::SceneError;
use crate::files::Files;
use crate::import::{Visual, VisualGeometry};
use crate::mesh_file;
use crate::xml::Element;

/// Colour of what has none.
const GREY: [f32; 4] = [0.6, 0.6, 0.6, 1.0];

/// Places that a message names, at most.
const MOST_PLACES: usize = 4;

/// All shapes of a robot, on the bodies of its plan.
#[derive(Default)]
pub(super) struct Geometry {
    pub geoms: Vec<Geom>,
    pub visuals: Vec<Visual>,
}

impl Geometry {
    pub fn of(
        robot: &Robot,
        plan: &Plan,
        files: &mut Files,
        packages: &Packages,
        diagnostics: &mut Diagnostics,
    ) -> Result<Self, SceneError> {
        let mut meshes = Meshes { files, packages, hulls: HashMap::new() };
        let mut geometry = Self::default();
        let mut names = HashSet::new();
        for (link, frame) in robot.links.iter().zip(&plan.links) {
            for part in &link.collisions {
                let shape = meshes.collision(part, diagnostics)?;
                let mut geom = Geom::new(frame.body, shape).at(frame.pose * part.pose);
                geom.surface = link.surface;
                proximity::read(part.element, &mut geom.surface, diagnostics)?;
                geom.colour = part.colour.or_else(|| colour_of(link)).unwrap_or(GREY);
                if let Some(name) = part.element.peek("name").filter(|name| names.insert(*name)) {
                    geom.name = name.to_owned();
                }
                geometry.geoms.push(geom);
            }
            for part in &link.visuals {
                let Some(visual) = meshes.visual(part, diagnostics) else { continue };
                geometry.visuals.push(Visual {
                    body: frame.body,
                    pose: frame.pose * part.pose,
                    geometry: visual,
                    colour: part.colour.unwrap_or(GREY),
                });
            }
        }
        Ok(geometry)
    }
}

/// The colour of the first visual that has one.
fn colour_of(link: &Link) -> Option<[f32; 4]> {
    link.visuals.iter().find_map(|visual| visual.colour)
}

/// A shape without a file; `None` for a mesh.
fn simple(kind: &LinkShapeKind) -> Option<Result<Shape, ShapeError>> {
    Some(match *kind {
        LinkShapeKind::Box { edges } => Shape::cuboid(0.5 * edges),
        LinkShapeKind::Capsule { radius, length } => Shape::capsule(radius, 0.5 * length),
        LinkShapeKind::Cylinder { radius, length } => Shape::cylinder(radius, 0.5 * length),
        LinkShapeKind::Sphere { radius } => Shape::sphere(radius),
        LinkShapeKind::Mesh { .. } => return None,
    })
}

struct Meshes<'a> {
    files: &'a mut Files,
    packages: &'a Packages,
    /// Hulls by file and the bits of their scale: links share meshes.
    hulls: HashMap<(PathBuf, [u64; 3]), Shape>,
}

impl Meshes<'_> {
    fn collision(
        &mut self,
        part: &LinkShape,
        diagnostics: &mut Diagnostics,
    ) -> Result<Shape, SceneError> {
        if let Some(shape) = simple(&part.kind) {
            return shape.map_err(|error| part.element.error(error));
        }
        let LinkShapeKind::Mesh { element, filename, scale } = part.kind else {
            return Err(part.element.error("expected a shape"));
        };
        let path = self.packages.find(self.files, filename);
        let path = path.map_err(|places| not_found(element, &places))?;
        let key = (path.clone(), [scale.x.to_bits(), scale.y.to_bits(), scale.z.to_bits()]);
        if let Some(shape) = self.hulls.get(&key) {
            return Ok(shape.clone());
        }
        let mut mesh = mesh_file::read(self.files, &path)?;
        mesh.vertices.iter_mut().for_each(|vertex| *vertex = vertex.component_mul(&scale));
        let shape = match Shape::convex(&mesh.corner_points()) {
            Ok(hull) => {
                diagnostics.note("collision meshes stand for their convex hulls", "");
                hull
            }
            // A flat mesh has no convex hull, but a surface.
            Err(fault) => Shape::mesh(&mesh.vertices, &mesh.triangles)
                .map_err(|_| element.error(format_args!("{}: {fault}", path.display())))?,
        };
        self.hulls.insert(key, shape.clone());
        Ok(shape)
    }

    /// Visual shapes; unsupported ones are listed.
    fn visual(
        &mut self,
        part: &LinkShape,
        diagnostics: &mut Diagnostics,
    ) -> Option<VisualGeometry> {
        if let Some(shape) = simple(&part.kind) {
            return match shape {
                Ok(shape) => Some(VisualGeometry::Shape(shape)),
                Err(fault) => {
                    diagnostics.report_ignored(&part.element.place, format!("<visual>: {fault}"));
                    None
                }
            };
        }
        let LinkShapeKind::Mesh { element, filename, scale } = part.kind else { return None };
        let fault = match self.packages.find(self.files, filename) {
            Err(_) => "was not found",
            Ok(path) if mesh_file::format_of(&path).is_none() => "is of no known format",
            Ok(path) => return Some(VisualGeometry::Mesh { path, scale }),
        };
        diagnostics.report_ignored(&element.place, format!("visual mesh \"{filename}\" {fault}"));
        None
    }
}

fn not_found(element: &Element, places: &[PathBuf]) -> SceneError {
    let mut looked: Vec<_> =
        places.iter().take(MOST_PLACES).map(|path| path.display().to_string()).collect();
    if places.len() > MOST_PLACES {
        looked.push(format!("{} more", places.len() - MOST_PLACES));
    }
    let expected = match looked.is_empty() {
        true => "a name with package://, model:// or file://, or a path".to_owned(),
        false => format!("a file in one of: {}", looked.join(", ")),
    };
    element.wrong("filename", &expected)
}
