//! The triangles of one time: in the world for light, projected onto the picture for the camera.
//!
//! Triangles are clipped at the near plane and far outside the picture; clipping adds corners.

use nalgebra::Vector3;

use super::camera::Camera;
use super::scan::{Edges, snapped};
use crate::bounds::Bounds;
use crate::crease::CreasedSurface;
use crate::draw_list::MeshInstance;
use crate::mesh::Mesh;
use nalgebra::Isometry3;

/// Triangles are clipped at this many times the half width of the picture.
const GUARD: f64 = 6.0;

/// A corner: position relative to the middle of the bounds [m], and normal.
#[derive(Clone, Copy, Debug)]
pub struct Corner {
    /// Position [m].
    pub place: Vector3<f32>,
    /// Normal, not always of unit length.
    pub normal: Vector3<f32>,
}

/// A triangle on the picture.
#[derive(Clone, Copy, Debug)]
pub struct Triangle {
    /// Its edges, in samples.
    pub edges: Edges,
    /// Inverse depth of the corners [1/m].
    pub inverse: [f64; 3],
    /// Indices of its corners.
    pub corners: [u32; 3],
    /// Index of its colour.
    pub colour: u32,
}

/// Triangles of one time.
#[derive(Debug, Default)]
pub struct Surface {
    /// Corners in the world.
    pub corners: Vec<Corner>,
    /// Triangles in the world: corners and colour.
    pub faces: Vec<([u32; 3], u32)>,
    /// Colours: linear red, green, blue, and opacity.
    pub colours: Vec<[f32; 4]>,
    /// Triangles on the picture, written by [`project`](Self::project).
    pub triangles: Vec<Triangle>,
    /// Memory of the projection: corners in the frame of the camera [m].
    seen: Vec<Vector3<f64>>,
}

impl Surface {
    /// Removes everything, and keeps the memory.
    pub fn clear(&mut self) {
        self.corners.clear();
        self.faces.clear();
        self.colours.clear();
        self.triangles.clear();
    }

    /// Adds a mesh instance.
    pub fn add_instance(
        &mut self,
        mesh: &Mesh,
        instance: &MeshInstance,
        body: &Isometry3<f64>,
        colour: [f32; 4],
        bounds: &Bounds,
    ) {
        let pose = body * instance.pose;
        let shift = (pose.translation.vector - bounds.centre()).cast::<f32>();
        let turn = pose.rotation.to_rotation_matrix().into_inner();
        let stretch = (turn * nalgebra::Matrix3::from_diagonal(&instance.scale)).cast::<f32>();
        let shrink = instance.scale.map(|s| 1.0 / s);
        let flatten = (turn * nalgebra::Matrix3::from_diagonal(&shrink)).cast::<f32>();
        let corners = mesh.positions.iter().zip(&mesh.normals).map(|(p, n)| Corner {
            place: shift + stretch * Vector3::from(*p),
            normal: (flatten * Vector3::from(*n)).normalize(),
        });
        self.add(corners, &mesh.triangles, colour);
    }

    /// Adds a surface with vertices in the world; normals are means over the triangles about its corners.
    pub fn add_soft(
        &mut self,
        vertices: &[[f32; 3]],
        drawn: &CreasedSurface,
        colour: [f32; 4],
        bounds: &Bounds,
    ) {
        let centre = bounds.centre();
        let place = |p: &[f32; 3]| (Vector3::from(p.map(f64::from)) - centre).cast::<f32>();
        let of = |vertex: &u32| vertices.get(*vertex as usize).map_or_else(Vector3::zeros, place);
        let places: Vec<Vector3<f32>> = drawn.vertices.iter().map(of).collect();
        let triangles = &drawn.triangles[..];
        let mut normals = vec![Vector3::zeros(); places.len()];
        for t in triangles {
            let [a, b, c] = t.map(|v| places[v as usize]);
            let area = (b - a).cross(&(c - a));
            t.iter().for_each(|&v| normals[v as usize] += area);
        }
        let corners = places.into_iter().zip(normals).map(|(place, normal)| Corner {
            place,
            normal: normal.try_normalize(0.0).unwrap_or_else(Vector3::z),
        });
        self.add(corners, triangles, colour);
    }

    /// Adds corners and triangles between them.
    pub fn add(
        &mut self,
        corners: impl Iterator<Item = Corner>,
        triangles: &[[u32; 3]],
        colour: [f32; 4],
    ) {
        let first = self.corners.len() as u32;
        self.corners.extend(corners);
        let index = self.colours.len() as u32;
        self.colours.push(colour);
        self.faces.extend(triangles.iter().map(|t| (t.map(|v| first + v), index)));
    }

    /// Projects the triangles onto a picture of a width and height in samples.
    pub fn project(&mut self, camera: &Camera, centre: &Vector3<f64>, width: f64, height: f64) {
        let seen_at =
            |corner: &Corner| camera.to_camera_frame(&(corner.place.cast::<f64>() + centre));
        let mut seen = std::mem::take(&mut self.seen);
        seen.clear();
        seen.extend(self.corners.iter().map(seen_at));
        let (wide, tall) = (GUARD * width / height / camera.focal, GUARD / camera.focal);
        let planes = [
            (Vector3::z(), camera.near),
            (Vector3::new(1.0, 0.0, wide), 0.0),
            (Vector3::new(-1.0, 0.0, wide), 0.0),
            (Vector3::new(0.0, 1.0, tall), 0.0),
            (Vector3::new(0.0, -1.0, tall), 0.0),
        ];
        let half = 0.5 * height * camera.focal;
        let project = |p: &Vector3<f64>| {
            [snapped(0.5 * width + half * p.x / p.z), snapped(0.5 * height - half * p.y / p.z)]
        };
        let faces = std::mem::take(&mut self.faces);
        for &(corners, colour) in &faces {
            let points = corners.map(|c| seen[c as usize]);
            let inside = |p: &Vector3<f64>| planes.iter().all(|(n, d)| n.dot(p) >= *d);
            if points.iter().all(inside) {
                self.push(
                    corners,
                    points.map(|p| 1.0 / p.z),
                    points.each_ref().map(project),
                    colour,
                );
                continue;
            }
            // Clips by one plane after the other; corners that are not finite are outside of all.
            let mut polygon: Vec<(Vector3<f64>, Corner)> =
                (0..3).map(|k| (points[k], self.corners[corners[k] as usize])).collect();
            for (normal, least) in planes {
                polygon = cut(&polygon, &normal, least);
            }
            let first = self.corners.len() as u32;
            self.corners.extend(polygon.iter().map(|(_, corner)| *corner));
            for k in 2..polygon.len() {
                let three = [0, k - 1, k];
                let points = three.map(|k| polygon[k].0);
                let corners = three.map(|k| first + k as u32);
                self.push(
                    corners,
                    points.map(|p| 1.0 / p.z),
                    points.each_ref().map(project),
                    colour,
                );
            }
        }
        self.faces = faces;
        self.seen = seen;
    }

    fn push(&mut self, corners: [u32; 3], inverse: [f64; 3], places: [[i64; 2]; 3], colour: u32) {
        if let Some(edges) = Edges::new(places) {
            self.triangles.push(Triangle { edges, inverse, corners, colour });
        }
    }
}

/// The part of a polygon where n · p ≥ least.
fn cut(
    polygon: &[(Vector3<f64>, Corner)],
    normal: &Vector3<f64>,
    least: f64,
) -> Vec<(Vector3<f64>, Corner)> {
    let mut left = Vec::with_capacity(polygon.len() + 1);
    for (k, (p, corner)) in polygon.iter().enumerate() {
        let (next, next_corner) = &polygon[(k + 1) % polygon.len()];
        let (here, there) = (normal.dot(p) - least, normal.dot(next) - least);
        if here >= 0.0 {
            left.push((*p, *corner));
        }
        if (here > 0.0 && there < 0.0) || (here < 0.0 && there > 0.0) {
            let part = here / (here - there);
            let mixed = Corner {
                place: corner.place.lerp(&next_corner.place, part as f32),
                normal: corner.normal.lerp(&next_corner.normal, part as f32),
            };
            left.push((p.lerp(next, part), mixed));
        }
    }
    left
}
