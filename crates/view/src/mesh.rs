//! Shapes as triangles with normals, each mesh once.
//!
//! Balls, boxes, cylinders and ellipsoids are one mesh of unit size each, and a scale; capsules one
//! mesh per proportion. Hulls, meshes and height fields get normals that are smooth over gentle
//! edges and sharp over others. Planes are unbounded and have no mesh.

use std::collections::HashMap;
use std::collections::hash_map::DefaultHasher;
use std::f64::consts::{FRAC_PI_2, TAU};
use std::hash::{Hash, Hasher};

use nalgebra::{Isometry3, Vector3};
use stiction_geom::Shape;
use stiction_geom::shape::generate;
use stiction_sim::record::Geometry;

/// Edges that bend by less than this angle [rad] are drawn round.
pub(crate) const CREASE: f64 = 0.61;
/// Corners around a cylinder or capsule.
const AROUND: u32 = 40;
/// Rings over a capsule's end.
const RINGS: u32 = 8;
/// Subdivisions of the icosahedron for a sphere: largest number of shapes, subdivisions.
const BALL_LEVELS: [(usize, u32); 3] = [(100, 4), (1000, 3), (usize::MAX, 2)];

/// Triangles with a normal per corner.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Mesh {
    /// Corners [m], or in units of the scale.
    pub positions: Vec<[f32; 3]>,
    /// Unit normals.
    pub normals: Vec<[f32; 3]>,
    /// Three corners each, counter-clockwise seen from outside.
    pub triangles: Vec<[u32; 3]>,
}

/// A mesh with its pose and scale in a geometry.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PlacedMesh {
    /// Index of the mesh; `None` for the half space z ≤ 0.
    pub mesh: Option<usize>,
    /// Pose in the frame of the geometry.
    pub pose: Isometry3<f64>,
    /// Scale along the mesh's axes, before the pose.
    pub scale: [f64; 3],
}

/// Meshes, each once.
#[derive(Debug, Default)]
pub struct Meshes {
    /// Number of shapes that will be drawn; the more there are, the coarser each mesh.
    expected: usize,
    meshes: Vec<Mesh>,
    by_hash: HashMap<u64, Vec<usize>>,
    by_place: HashMap<usize, usize>,
}

impl Meshes {
    /// An empty collection for this number of shapes.
    pub fn expecting(shapes: usize) -> Self {
        Self { expected: shapes, ..Self::default() }
    }

    /// The meshes.
    pub fn all(&self) -> &[Mesh] {
        &self.meshes
    }

    /// Returns the meshes.
    pub fn into_all(self) -> Vec<Mesh> {
        self.meshes
    }

    /// The placed meshes of a geometry.
    pub fn of(&mut self, geometry: &Geometry) -> Vec<PlacedMesh> {
        let mut placed = Vec::new();
        match geometry {
            Geometry::Shape(shape) => self.add_shape(shape, &Isometry3::identity(), &mut placed),
            Geometry::Triangles(soup) => {
                let mesh = self.at(std::sync::Arc::as_ptr(soup) as usize, || {
                    let to_f64 = |p: &[f32; 3]| Vector3::from(*p).cast::<f64>();
                    let vertices: Vec<_> = soup.vertices.iter().map(to_f64).collect();
                    creased(&vertices, &soup.triangles)
                });
                placed.push(PlacedMesh {
                    mesh: Some(mesh),
                    pose: Isometry3::identity(),
                    scale: [1.0; 3],
                });
            }
        }
        placed
    }

    fn add_shape(&mut self, shape: &Shape, pose: &Isometry3<f64>, placed: &mut Vec<PlacedMesh>) {
        let (mesh, scale) = match shape {
            Shape::Plane => (None, [1.0; 3]),
            Shape::Box(half) => (Some(self.add(unit_box())), (*half).into()),
            Shape::Sphere { radius } => (Some(self.add(unit_ball(self.expected))), [*radius; 3]),
            Shape::Ellipsoid { radii } => {
                (Some(self.add(unit_ball(self.expected))), (*radii).into())
            }
            Shape::Cylinder { radius, half_length } => {
                (Some(self.add(unit_cylinder())), [*radius, *radius, *half_length])
            }
            Shape::Capsule { radius, half_length } => {
                (Some(self.add(unit_capsule(half_length / radius))), [*radius; 3])
            }
            Shape::Convex(convex) => {
                let mesh = self.at(std::sync::Arc::as_ptr(convex) as usize, || {
                    let fan = |k: usize| {
                        let corners = convex.face_corners(k);
                        corners.windows(2).skip(1).map(|pair| [corners[0], pair[0], pair[1]])
                    };
                    let triangles: Vec<_> = (0..convex.faces()).flat_map(fan).collect();
                    creased(convex.vertices(), &triangles)
                });
                (Some(mesh), [1.0; 3])
            }
            Shape::Mesh(mesh) => {
                let make = || creased(mesh.vertices(), mesh.triangles());
                (Some(self.at(std::sync::Arc::as_ptr(mesh) as usize, make)), [1.0; 3])
            }
            Shape::Field(field) => {
                let surface = field.surface();
                let make = || creased(surface.vertices(), surface.triangles());
                (Some(self.at(std::sync::Arc::as_ptr(field) as usize, make)), [1.0; 3])
            }
            Shape::HeightField(field) => {
                let make = || {
                    let count = field.heights().len() as u32;
                    let vertices: Vec<_> = (0..count).map(|v| field.vertex(v)).collect();
                    let triangles: Vec<_> =
                        (0..field.triangles()).map(|t| field.triangle(t)).collect();
                    creased(&vertices, &triangles)
                };
                (Some(self.at(std::sync::Arc::as_ptr(field) as usize, make)), [1.0; 3])
            }
            Shape::Compound(compound) => {
                for (part_pose, part) in compound.parts() {
                    self.add_shape(part, &(pose * part_pose), placed);
                }
                return;
            }
        };
        placed.push(PlacedMesh { mesh, pose: *pose, scale });
    }

    /// The mesh of the geometry at an address, made once.
    fn at(&mut self, address: usize, make: impl FnOnce() -> Mesh) -> usize {
        if let Some(&index) = self.by_place.get(&address) {
            return index;
        }
        let index = self.add(make());
        self.by_place.insert(address, index);
        index
    }

    fn add(&mut self, mesh: Mesh) -> usize {
        let mut hasher = DefaultHasher::new();
        for x in mesh.positions.iter().flatten() {
            x.to_bits().hash(&mut hasher);
        }
        mesh.triangles.hash(&mut hasher);
        let same = self.by_hash.entry(hasher.finish()).or_default();
        if let Some(&index) = same.iter().find(|&&index| self.meshes[index] == mesh) {
            return index;
        }
        self.meshes.push(mesh);
        same.push(self.meshes.len() - 1);
        self.meshes.len() - 1
    }
}

fn single(v: &Vector3<f64>) -> [f32; 3] {
    v.cast::<f32>().into()
}

fn unit_box() -> Mesh {
    let (vertices, triangles) = generate::cuboid(Vector3::repeat(1.0));
    creased(&vertices, &triangles)
}

fn unit_ball(shapes: usize) -> Mesh {
    let levels = BALL_LEVELS.iter().find(|(most, _)| shapes <= *most).map_or(2, |found| found.1);
    let (vertices, triangles) = generate::icosphere(1.0, levels);
    let positions: Vec<_> = vertices.iter().map(single).collect();
    let normals = vertices.iter().map(|v| single(&v.normalize())).collect();
    Mesh { positions, normals, triangles }
}

/// Surface of revolution about z of a profile of (radius, height) and normal.
fn turned(profile: &[([f64; 2], [f64; 2])]) -> Mesh {
    let mut mesh = Mesh::default();
    for (k, (point, normal)) in profile.iter().enumerate() {
        for i in 0..=AROUND {
            let (sin, cos) = (TAU * f64::from(i) / f64::from(AROUND)).sin_cos();
            let turn = |[r, z]: [f64; 2]| [(r * cos) as f32, (r * sin) as f32, z as f32];
            mesh.positions.push(turn(*point));
            mesh.normals.push(turn(*normal));
        }
        // Two equal points are a sharp edge, without a band between them.
        if k == 0 || profile[k - 1].0 == *point {
            continue;
        }
        let row = AROUND + 1;
        let base = k as u32 * row;
        for i in base..base + AROUND {
            let (a, b, c, d) = (i - row, i - row + 1, i + 1, i);
            if profile[k - 1].0[0] > 0.0 {
                mesh.triangles.push([a, b, c]);
            }
            if point[0] > 0.0 {
                mesh.triangles.push([a, c, d]);
            }
        }
    }
    mesh
}

fn unit_cylinder() -> Mesh {
    let (down, out, up) = ([0.0, -1.0], [1.0, 0.0], [0.0, 1.0]);
    turned(&[
        ([0.0, -1.0], down),
        ([1.0, -1.0], down),
        ([1.0, -1.0], out),
        ([1.0, 1.0], out),
        ([1.0, 1.0], up),
        ([0.0, 1.0], up),
    ])
}

/// A capsule of unit radius.
fn unit_capsule(half_length: f64) -> Mesh {
    let arc = |end: f64| {
        (0..=RINGS).map(move |k| {
            let along = f64::from(k) / f64::from(RINGS);
            let angle = FRAC_PI_2 * if end < 0.0 { along - 1.0 } else { along };
            let (sin, cos) = angle.sin_cos();
            // Exactly on the axis at the poles.
            let radius = if (end < 0.0 && k == 0) || (end > 0.0 && k == RINGS) { 0.0 } else { cos };
            ([radius, sin + end * half_length], [cos, sin])
        })
    };
    let profile: Vec<_> = arc(-1.0).chain(arc(1.0)).collect();
    turned(&profile)
}

/// Triangles with normals that are the mean, weighted by area, of those around a corner that bend
/// away by less than the crease angle. Corners at the same position are merged.
pub fn creased(vertices: &[Vector3<f64>], triangles: &[[u32; 3]]) -> Mesh {
    let mut place_of = HashMap::new();
    let welded: Vec<usize> = vertices
        .iter()
        .map(|v| {
            let next = place_of.len();
            *place_of.entry([v.x, v.y, v.z].map(|x| (x + 0.0).to_bits())).or_insert(next)
        })
        .collect();
    let in_range = |t: &&[u32; 3]| t.iter().all(|&v| (v as usize) < vertices.len());
    let triangles: Vec<[u32; 3]> = triangles.iter().filter(in_range).copied().collect();
    let areas: Vec<Vector3<f64>> = triangles
        .iter()
        .map(|t| {
            let [a, b, c] = t.map(|v| vertices[v as usize]);
            (b - a).cross(&(c - a))
        })
        .collect();
    let mut around = vec![Vec::new(); place_of.len()];
    for (t, corners) in triangles.iter().enumerate() {
        for &v in corners {
            around[welded[v as usize]].push(t);
        }
    }
    let (mut mesh, mut known) = (Mesh::default(), HashMap::new());
    let gentle = CREASE.cos();
    for (t, corners) in triangles.iter().enumerate() {
        let Some(own) = areas[t].try_normalize(0.0) else { continue };
        let drawn = corners.map(|v| {
            let place = welded[v as usize];
            let mut sum = Vector3::zeros();
            for &other in &around[place] {
                let area = areas[other];
                if area.dot(&own) >= gentle * area.norm() {
                    sum += area;
                }
            }
            let normal = single(&sum.try_normalize(0.0).unwrap_or(own));
            let coarse = normal.map(|x| (x * 1024.0).round() as i32);
            *known.entry((place, coarse)).or_insert_with(|| {
                mesh.positions.push(single(&vertices[v as usize]));
                mesh.normals.push(normal);
                mesh.positions.len() as u32 - 1
            })
        });
        mesh.triangles.push(drawn);
    }
    mesh
}

#[cfg(test)]
mod tests {
    use super::*;
    use stiction_sim::record::Triangles;

    /// Volume inside by the divergence theorem, and whether normals and corners agree on outside.
    fn volume(mesh: &Mesh) -> f64 {
        let mut volume = 0.0;
        for t in &mesh.triangles {
            let corner = |k: usize| Vector3::from(mesh.positions[t[k] as usize]).cast::<f64>();
            let area = (corner(1) - corner(0)).cross(&(corner(2) - corner(0)));
            volume += corner(0).dot(&area) / 6.0;
            for &v in t {
                let normal = Vector3::from(mesh.normals[v as usize]).cast::<f64>();
                assert!((normal.norm() - 1.0).abs() < 1e-5);
                assert!(normal.dot(&area) > 0.0, "a normal points inwards");
            }
        }
        volume
    }

    #[test]
    fn meshes_hold_nearly_the_volume_of_their_shapes_and_face_outwards() {
        let shapes = [
            Shape::cuboid(Vector3::new(0.1, 0.2, 0.3)).unwrap(),
            Shape::sphere(0.3).unwrap(),
            Shape::capsule(0.1, 0.4).unwrap(),
            Shape::cylinder(0.2, 0.1).unwrap(),
            Shape::ellipsoid(Vector3::new(0.1, 0.2, 0.3)).unwrap(),
            Shape::convex(&generate::icosphere(0.4, 1).0).unwrap(),
            Shape::mesh(&generate::torus(1.0, 0.3, 24, 12).0, &generate::torus(1.0, 0.3, 24, 12).1)
                .unwrap(),
        ];
        for shape in shapes {
            let mut meshes = Meshes::default();
            let placed = meshes.of(&Geometry::Shape(shape.clone()));
            let PlacedMesh { mesh, scale, .. } = placed[0];
            let found = volume(&meshes.all()[mesh.unwrap()]) * scale.iter().product::<f64>();
            let exact = shape.volume();
            // A polygon of n corners lacks (2π/n)²/6 of its circle's area; twice for two bends.
            let bound = 2.0 * (TAU / f64::from(AROUND)).powi(2) / 6.0;
            assert!(((found - exact) / exact).abs() < bound, "{}: {found}", shape.name());
        }
    }

    #[test]
    fn equal_geometry_is_drawn_with_one_mesh() {
        let mut meshes = Meshes::default();
        for k in 1..20 {
            let radius = 0.1 * f64::from(k);
            meshes.of(&Geometry::Shape(Shape::sphere(radius).unwrap()));
            meshes.of(&Geometry::Shape(Shape::capsule(radius, 2.0 * radius).unwrap()));
            let corners = [[0.0; 3], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]];
            let soup = Triangles { vertices: corners.into(), triangles: vec![[0, 1, 2]] };
            meshes.of(&Geometry::Triangles(soup.into()));
        }
        // A ball, a triangle, and capsules whose proportions differ by round-off at most.
        assert!(meshes.all().len() <= 5, "{}", meshes.all().len());
    }

    #[test]
    fn a_box_has_sharp_edges_and_a_ball_of_triangles_none() {
        let (vertices, triangles) = generate::cuboid(Vector3::repeat(1.0));
        assert_eq!(creased(&vertices, &triangles).positions.len(), 24);
        let (vertices, triangles) = generate::icosphere(1.0, 2);
        assert_eq!(creased(&vertices, &triangles).positions.len(), vertices.len());
    }

    #[test]
    fn parts_of_a_compound_stand_at_their_poses_and_planes_have_no_mesh() {
        let ball = Shape::sphere(0.1).unwrap();
        let at = Isometry3::translation(1.0, 2.0, 3.0);
        let both = Shape::compound(vec![(at, ball.clone()), (at * at, ball)]).unwrap();
        let placed = Meshes::default().of(&Geometry::Shape(both));
        assert_eq!(placed[1].pose.translation.vector, Vector3::new(2.0, 4.0, 6.0));
        assert_eq!(Meshes::default().of(&Geometry::Shape(Shape::Plane))[0].mesh, None);
    }
}
