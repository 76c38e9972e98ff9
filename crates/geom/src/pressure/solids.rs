//! Surfaces of convex shapes with their medial axes, and the tetrahedra between the two.
//!
//! Each vertex of the surface has a point of the medial axis, or of the centre of shapes that have none of few pieces: the
//! pressure falls linearly from one there to zero on the surface. Boxes, cylinders and capsules have the exact field
//! "distance from the surface over the largest distance" up to the facets of round sides; ellipsoids and convex hulls have
//! one that is linear between their centre and their surface. One layer of elements suffices, since the field is linear.

use super::MOST_ELEMENTS;
use super::element::PressureElement;
use crate::shape::Convex;
use crate::{PressureError, Shape};
use nalgebra::Vector3;
use std::f64::consts::TAU;

/// Longest edge of an icosahedron of radius one that is refined and moved onto the sphere, times the number of cells: that of
/// the icosahedron, 1.051, over the distance of its faces from the centre, 0.795 [-].
const ICOSAHEDRON_EDGE: f64 = 1.33;
/// Fewest edges round a circle.
const LEAST_AROUND: usize = 8;

/// A triangulated surface, with a point of the medial axis per vertex.
#[derive(Clone, Debug, Default)]
pub struct Skin {
    /// Vertices [m].
    pub vertices: Vec<Vector3<f64>>,
    /// Points of the medial axis [m].
    pub core: Vec<Vector3<f64>>,
    /// Triangles, counter-clockwise seen from outside.
    pub triangles: Vec<[u32; 3]>,
    /// Largest distance from the surface [m].
    pub depth: f64,
}

impl Skin {
    /// The surface of a convex shape with edges of about `resolution` [m].
    pub fn of(shape: &Shape, resolution: f64) -> Result<Self, PressureError> {
        let too_fine = || PressureError::Resolution { shape: shape.name(), resolution };
        let area = shape.bounds(&nalgebra::Isometry3::identity()).size().norm_squared();
        if area / (resolution * resolution) > MOST_ELEMENTS as f64 / 6.0 {
            return Err(too_fine());
        }
        let skin = match shape {
            Shape::Box(half) => Self::cuboid(half, resolution),
            Shape::Capsule { radius, half_length } => {
                Self::capsule(*radius, *half_length, resolution)
            }
            Shape::Convex(convex) => Self::hull(convex, resolution),
            Shape::Cylinder { radius, half_length } => {
                Self::cylinder(*radius, *half_length, resolution)
            }
            Shape::Ellipsoid { radii } => {
                let mut skin = Self::sphere(1.0, resolution / radii.max());
                skin.vertices.iter_mut().for_each(|x| x.component_mul_assign(radii));
                skin.depth = radii.min();
                skin
            }
            Shape::Sphere { radius } => Self::sphere(*radius, resolution),
            _ => return Err(PressureError::Shape { found: shape.name() }),
        };
        if 3 * skin.triangles.len() > MOST_ELEMENTS {
            return Err(too_fine());
        }
        Ok(skin)
    }

    /// The tetrahedra between surface and medial axis, with pressures from 0 to 1, and the largest depth [m]: a prism over each triangle,
    /// cut into three along diagonals that depend on the numbers of the vertices, so that neighbours conform. Flat ones are
    /// left out, where points of the medial axis coincide.
    pub fn elements(&self) -> Result<(Vec<PressureElement>, f64), PressureError> {
        let mut elements = Vec::new();
        for (number, triangle) in self.triangles.iter().enumerate() {
            let mut sorted = *triangle;
            sorted.sort_unstable();
            let [a, b, c] = sorted.map(|v| v as usize);
            let (outer, inner) = (&self.vertices, &self.core);
            for (corners, pressures) in [
                ([outer[a], outer[b], outer[c], inner[c]], [0.0, 0.0, 0.0, 1.0]),
                ([outer[a], outer[b], inner[b], inner[c]], [0.0, 0.0, 1.0, 1.0]),
                ([outer[a], inner[a], inner[b], inner[c]], [0.0, 1.0, 1.0, 1.0]),
            ] {
                let element = PressureElement::new(corners, pressures);
                elements.extend(element.map(|e| PressureElement { cell: number as u32, ..e }));
            }
        }
        Ok((elements, self.depth))
    }

    fn push(&mut self, vertex: Vector3<f64>, core: Vector3<f64>) -> u32 {
        self.vertices.push(vertex);
        self.core.push(core);
        self.vertices.len() as u32 - 1
    }

    /// A grid of quadrilaterals, each cut in two; `at(i, j)` is the number of a vertex.
    fn quads(&mut self, counts: [usize; 2], at: impl Fn(usize, usize) -> u32) {
        for j in 0..counts[1] {
            for i in 0..counts[0] {
                let [a, b, c, d] = [at(i, j), at(i + 1, j), at(i + 1, j + 1), at(i, j + 1)];
                self.triangles.extend([[a, b, c], [a, c, d]]);
            }
        }
    }

    fn cuboid(half: &Vector3<f64>, resolution: f64) -> Self {
        let depth = half.min();
        let mut skin = Self { depth, ..Self::default() };
        // The medial axis is the box of points that are farther than the depth from no face: flat in one direction.
        let inner = half.map(|h| (h - depth) / h);
        let cells = half.map(|h| cells(2.0 * h, resolution));
        for axis in 0..3 {
            let (u, v) = ((axis + 1) % 3, (axis + 2) % 3);
            for side in [-1.0, 1.0] {
                let first = skin.vertices.len() as u32;
                let (m, n) = (cells[u], cells[v]);
                for j in 0..=n {
                    for i in 0..=m {
                        let mut x = Vector3::zeros();
                        x[axis] = side * half[axis];
                        x[u] = half[u] * (2.0 * i as f64 / m as f64 - 1.0);
                        x[v] = half[v] * (2.0 * j as f64 / n as f64 - 1.0);
                        skin.push(x, x.component_mul(&inner));
                    }
                }
                let at = |i: usize, j: usize| first + (i + (m + 1) * j) as u32;
                if side > 0.0 {
                    skin.quads([m, n], at);
                } else {
                    skin.quads([n, m], |i, j| at(j, i));
                }
            }
        }
        skin
    }

    /// An icosahedron refined, with its vertices on the sphere.
    fn sphere(radius: f64, resolution: f64) -> Self {
        let cells = cells(ICOSAHEDRON_EDGE * radius, resolution);
        let mut skin = Self { depth: radius, ..Self::default() };
        let (corners, faces) = crate::shape::generate::icosphere(1.0, 0);
        for face in faces {
            let [a, b, c] = face.map(|v| corners[v as usize]);
            skin.lattice(cells, |s, t| {
                (radius * (a * (1.0 - s - t) + b * s + c * t).normalize(), Vector3::zeros())
            });
        }
        skin
    }

    /// A triangle cut into `cells`² triangles; `at(s, t)` is a vertex with its point of the medial axis.
    fn lattice(&mut self, cells: usize, at: impl Fn(f64, f64) -> (Vector3<f64>, Vector3<f64>)) {
        let first = self.vertices.len() as u32;
        // Row j has cells + 1 − j vertices.
        let number = |i: usize, j: usize| first + (j * (2 * cells + 3 - j) / 2 + i) as u32;
        for j in 0..=cells {
            for i in 0..=cells - j {
                let (x, core) = at(i as f64 / cells as f64, j as f64 / cells as f64);
                self.push(x, core);
            }
        }
        for j in 0..cells {
            for i in 0..cells - j {
                self.triangles.push([number(i, j), number(i + 1, j), number(i, j + 1)]);
                if i + j + 1 < cells {
                    let upper = [number(i + 1, j), number(i + 1, j + 1), number(i, j + 1)];
                    self.triangles.push(upper);
                }
            }
        }
    }

    fn cylinder(radius: f64, half_length: f64, resolution: f64) -> Self {
        let depth = radius.min(half_length);
        let mut skin = Self { depth, ..Self::default() };
        let shrink = [(radius - depth) / radius, (half_length - depth) / half_length];
        let inner =
            |x: &Vector3<f64>| Vector3::new(x.x * shrink[0], x.y * shrink[0], x.z * shrink[1]);
        let around = cells(TAU * radius, resolution).max(LEAST_AROUND);
        let high = cells(2.0 * half_length, resolution);
        let rings = cells(radius, 2.0 * resolution);
        let on_circle = |r: f64, i: usize, z: f64| {
            let (sin, cos) = (TAU * (i % around) as f64 / around as f64).sin_cos();
            Vector3::new(r * cos, r * sin, z)
        };
        for j in 0..=high {
            let z = half_length * (2.0 * j as f64 / high as f64 - 1.0);
            for i in 0..around {
                let x = on_circle(radius, i, z);
                skin.push(x, inner(&x));
            }
        }
        skin.quads([around, high], |i, j| (i % around + j * around) as u32);
        for side in [-1.0, 1.0] {
            let centre = Vector3::new(0.0, 0.0, side * half_length);
            let middle = skin.push(centre, inner(&centre));
            for ring in 1..=rings {
                for i in 0..around {
                    let x = on_circle(radius * ring as f64 / rings as f64, i, centre.z);
                    skin.push(x, inner(&x));
                }
            }
            let at = |i: usize, ring: usize| middle + (1 + i % around + ring * around) as u32;
            let up = side > 0.0;
            for i in 0..around {
                let (i, next) = if up { (i, i + 1) } else { (i + 1, i) };
                skin.triangles.push([middle, at(i, 0), at(next, 0)]);
                for ring in 0..rings - 1 {
                    let quad = [at(i, ring), at(i, ring + 1), at(next, ring + 1), at(next, ring)];
                    let [a, b, c, d] = quad;
                    skin.triangles.extend([[a, b, c], [a, c, d]]);
                }
            }
        }
        skin
    }

    fn capsule(radius: f64, half_length: f64, resolution: f64) -> Self {
        let mut skin = Self { depth: radius, ..Self::default() };
        let around = cells(TAU * radius, resolution).max(LEAST_AROUND);
        let (bows, high) =
            (cells(0.25 * TAU * radius, resolution).max(2), cells(2.0 * half_length, resolution));
        // Rings from the south pole to the north pole, with the height of their point of the medial axis.
        let mut rings = Vec::new();
        for k in 1..=bows {
            let (sin, cos) = (0.25 * TAU * (k as f64 / bows as f64 - 1.0)).sin_cos();
            rings.push((radius * cos, radius * sin - half_length, -half_length));
        }
        for k in 1..high {
            let z = half_length * (2.0 * k as f64 / high as f64 - 1.0);
            rings.push((radius, z, z));
        }
        for k in 0..bows {
            let (sin, cos) = (0.25 * TAU * k as f64 / bows as f64).sin_cos();
            rings.push((radius * cos, radius * sin + half_length, half_length));
        }
        for &(r, z, core) in &rings {
            for i in 0..around {
                let (sin, cos) = (TAU * i as f64 / around as f64).sin_cos();
                skin.push(Vector3::new(r * cos, r * sin, z), Vector3::new(0.0, 0.0, core));
            }
        }
        let at = |i: usize, j: usize| (i % around + j * around) as u32;
        skin.quads([around, rings.len() - 1], at);
        for side in [-1.0, 1.0] {
            let core = Vector3::new(0.0, 0.0, side * half_length);
            let pole = skin.push(core + side * radius * Vector3::z(), core);
            let last = if side > 0.0 { rings.len() - 1 } else { 0 };
            for i in 0..around {
                let (i, next) = if side > 0.0 { (i, i + 1) } else { (i + 1, i) };
                skin.triangles.push([at(i, last), at(next, last), pole]);
            }
        }
        skin
    }

    /// The faces of a hull, each cut into triangles about its first corner and these into smaller ones.
    fn hull(convex: &Convex, resolution: f64) -> Self {
        let centre = convex.centre();
        let mut skin = Self { depth: f64::INFINITY, ..Self::default() };
        let vertices = convex.vertices();
        for face in 0..convex.faces() {
            let corners = convex.face_corners(face);
            let base = vertices[corners[0] as usize];
            skin.depth = skin.depth.min(convex.face_normal(face).dot(&(base - centre)));
            for pair in corners[1..].windows(2) {
                let [b, c] = [pair[0], pair[1]].map(|v| vertices[v as usize]);
                let longest = (b - base).norm().max((c - b).norm()).max((c - base).norm());
                let cells = cells(longest, resolution);
                skin.lattice(cells, |s, t| (base * (1.0 - s - t) + b * s + c * t, centre));
            }
        }
        skin
    }
}

/// Number of cells of at most `resolution` [m] along a length [m].
fn cells(length: f64, resolution: f64) -> usize {
    ((length / resolution - 1e-9).ceil() as usize).max(1)
}
