//! Shapes as bytes: a number for the kind, then sizes or corners. What several of them share is
//! written once.

use std::collections::HashMap;
use std::sync::Arc;

use nalgebra::Vector3;
use stiction_geom::Shape;
use stiction_geom::shape::Mesh;

use super::super::{Geometry, Triangles, VisualShape};
use crate::bytes::{Reader, Writer};

/// Kinds, as they stand in files.
mod kind {
    pub const SAME_AS: u32 = 0;
    pub const BOX: u32 = 1;
    pub const CAPSULE: u32 = 2;
    pub const COMPOUND: u32 = 3;
    pub const CONVEX: u32 = 4;
    pub const CYLINDER: u32 = 5;
    pub const ELLIPSOID: u32 = 6;
    pub const HEIGHT_FIELD: u32 = 7;
    pub const MESH: u32 = 8;
    pub const PLANE: u32 = 9;
    pub const SPHERE: u32 = 10;
    pub const TRIANGLES: u32 = 11;
}

/// Shapes inside shapes inside shapes are read up to this depth.
const DEEPEST: u32 = 16;
/// Most parts of all compounds of a recording, those of repeated ones counted each time.
const MOST_PARTS: usize = 1 << 22;

/// Geometries that were written, by where they are in memory.
#[derive(Default)]
pub struct WrittenGeometries {
    written: u32,
    place: HashMap<usize, u32>,
}

impl WrittenGeometries {
    pub fn write(&mut self, geometry: &Geometry, out: &mut Writer) {
        let here = match geometry {
            Geometry::Shape(Shape::Compound(shared)) => Arc::as_ptr(shared).addr(),
            Geometry::Shape(Shape::Convex(shared)) => Arc::as_ptr(shared).addr(),
            Geometry::Shape(Shape::Field(shared)) => Arc::as_ptr(shared).addr(),
            Geometry::Shape(Shape::HeightField(shared)) => Arc::as_ptr(shared).addr(),
            Geometry::Shape(Shape::Mesh(shared)) => Arc::as_ptr(shared).addr(),
            Geometry::Shape(_) => 0,
            Geometry::Triangles(shared) => Arc::as_ptr(shared).addr(),
        };
        let earlier = if here == 0 { None } else { self.place.get(&here) };
        match (earlier, geometry) {
            (Some(earlier), _) => [kind::SAME_AS, *earlier].iter().for_each(|x| out.u32(*x)),
            (None, Geometry::Shape(solid)) => shape(solid, out),
            (None, Geometry::Triangles(mesh)) => triangles(mesh, out),
        }
        if earlier.is_none() {
            self.place.insert(here, self.written);
        }
        self.written += 1;
    }
}

fn triangles(mesh: &Triangles, out: &mut Writer) {
    out.u32(kind::TRIANGLES);
    out.list(&mesh.vertices, |out, v| v.iter().for_each(|x| out.f32(*x)));
    out.list(&mesh.triangles, |out, corners| out.counts(corners));
}

fn shape(shape: &Shape, out: &mut Writer) {
    match shape {
        Shape::Box(half) => {
            out.u32(kind::BOX);
            out.vector(half);
        }
        Shape::Capsule { radius, half_length } => {
            out.u32(kind::CAPSULE);
            out.numbers(&[*radius, *half_length]);
        }
        Shape::Compound(parts) => {
            out.u32(kind::COMPOUND);
            out.list(parts.parts(), |out, (pose, part)| {
                out.pose(pose);
                self::shape(part, out);
            });
        }
        Shape::Convex(hull) => {
            out.u32(kind::CONVEX);
            out.list(hull.vertices(), Writer::vector);
            let fans = (0..hull.faces()).flat_map(|face| {
                let corners = hull.face_corners(face);
                corners.windows(2).skip(1).map(|pair| [corners[0], pair[0], pair[1]])
            });
            out.list(&fans.collect::<Vec<_>>(), |out, corners| out.counts(corners));
        }
        Shape::Cylinder { radius, half_length } => {
            out.u32(kind::CYLINDER);
            out.numbers(&[*radius, *half_length]);
        }
        Shape::Ellipsoid { radii } => {
            out.u32(kind::ELLIPSOID);
            out.vector(radii);
        }
        Shape::HeightField(field) => {
            let ((rows, columns), (x, y)) = (field.shape(), field.size());
            out.u32(kind::HEIGHT_FIELD);
            out.u64(rows as u64);
            out.u64(columns as u64);
            out.numbers(&[x, y]);
            out.list(field.heights(), |out, z| out.f64(*z));
        }
        // A recording shows the surface of a field.
        Shape::Field(field) => surface(field.surface(), out),
        Shape::Mesh(mesh) => surface(mesh, out),
        Shape::Plane => out.u32(kind::PLANE),
        Shape::Sphere { radius } => {
            out.u32(kind::SPHERE);
            out.f64(*radius);
        }
    }
}

fn surface(mesh: &Mesh, out: &mut Writer) {
    out.u32(kind::MESH);
    out.list(mesh.vertices(), Writer::vector);
    out.list(mesh.triangles(), |out, corners| out.counts(corners));
}

/// A geometry; `earlier` are those that were read. `parts` counts the parts of compounds so far.
pub fn read(from: &mut Reader, earlier: &[VisualShape], parts: &mut usize) -> Option<Geometry> {
    let found = geometry(from, earlier, 0)?;
    if let Geometry::Shape(shape) = &found {
        *parts = parts.checked_add(part_count(shape)).filter(|count| *count <= MOST_PARTS)?;
    }
    Some(found)
}

/// Number of shapes in a shape. Its depth was bounded when it was read.
fn part_count(shape: &Shape) -> usize {
    match shape {
        Shape::Compound(compound) => {
            compound.parts().iter().map(|(_, part)| part_count(part)).sum::<usize>() + 1
        }
        _ => 1,
    }
}

/// A geometry that cannot be built, such as a hull that round-off has made flat, is read as triangles.
fn geometry(from: &mut Reader, earlier: &[VisualShape], depth: u32) -> Option<Geometry> {
    let built = match from.u32()? {
        // Parts of compounds are written out: a part that repeated an earlier compound could double
        // the number of shapes, and add to their depth, with every few bytes.
        kind::SAME_AS if depth == 0 => {
            return Some(earlier.get(from.u32()? as usize)?.geometry.clone());
        }
        kind::TRIANGLES => {
            let vertices = from.list(|from| Some([from.f32()?, from.f32()?, from.f32()?]))?;
            return visual_mesh(vertices, from.list(corners)?);
        }
        kind::BOX => Shape::cuboid(from.vector()?),
        kind::CAPSULE => Shape::capsule(from.f64()?, from.f64()?),
        kind::COMPOUND if depth < DEEPEST => {
            let mut parts = Vec::new();
            for _ in 0..from.length()? {
                let pose = from.pose()?;
                if let Geometry::Shape(part) = geometry(from, earlier, depth + 1)? {
                    parts.push((pose, part));
                }
            }
            Shape::compound(parts)
        }
        number @ (kind::CONVEX | kind::MESH) => {
            let (vertices, triangles) = (from.list(Reader::vector)?, from.list(corners)?);
            let solid = match number {
                kind::CONVEX => Shape::convex(&vertices),
                _ => Shape::mesh(&vertices, &triangles),
            };
            let rounded = |v: &Vector3<f64>| v.cast::<f32>().into();
            return solid
                .ok()
                .map(Geometry::Shape)
                .or_else(|| visual_mesh(vertices.iter().map(rounded).collect(), triangles));
        }
        kind::CYLINDER => Shape::cylinder(from.f64()?, from.f64()?),
        kind::ELLIPSOID => Shape::ellipsoid(from.vector()?),
        kind::HEIGHT_FIELD => {
            let [rows, columns] = [from.u64()?, from.u64()?].map(usize::try_from);
            let size = (from.f64()?, from.f64()?);
            Shape::height_field(rows.ok()?, columns.ok()?, from.list(Reader::f64)?, size)
        }
        kind::PLANE => Ok(Shape::Plane),
        kind::SPHERE => Shape::sphere(from.f64()?),
        _ => return None,
    };
    built.ok().map(Geometry::Shape)
}

fn visual_mesh(vertices: Vec<[f32; 3]>, triangles: Vec<[u32; 3]>) -> Option<Geometry> {
    let count = vertices.len();
    let fits = triangles.iter().flatten().all(|corner| (*corner as usize) < count);
    fits.then(|| Geometry::Triangles(Arc::new(Triangles { vertices, triangles })))
}

pub fn corners(from: &mut Reader) -> Option<[u32; 3]> {
    Some([from.u32()?, from.u32()?, from.u32()?])
}
