//! A height field: heights over a rectangular grid in x and y about the origin, solid below.
//!
//! Each cell is split along the diagonal from its lowest corner in x and y into two triangles. Topology
//! follows from the numbers of rows and columns; the cost of a query is proportional to the number of cells
//! in its region.

use super::generate::TriangleSoup;
use super::mesh::{EdgeConvexity, edge_convexity};
use crate::{Aabb, ShapeError};
use nalgebra::{Isometry3, Matrix3, Vector3};
use stiction_math::sets::DisjointSets;

/// A height field.
#[derive(Clone, Debug)]
pub struct HeightField {
    rows: u32,
    columns: u32,
    /// Heights [m], one row (of constant y) after the other.
    heights: Vec<f64>,
    /// Lengths along x and y [m].
    size: (f64, f64),
    /// Upward unit normals of the triangles.
    normals: Vec<Vector3<f64>>,
    /// Whether each vertex lies on a convex edge or on the border.
    exposed: Vec<bool>,
    /// Patch of each triangle: connected coplanar triangles share one.
    patches: Vec<u32>,
    bounds: Aabb,
    radius: f64,
}

impl HeightField {
    /// Builds a field of `rows` × `columns` heights [m], one row of constant y after the other from the
    /// lowest y, over a rectangle of lengths `size` [m] along x and y about the origin.
    pub fn build(
        rows: usize,
        columns: usize,
        heights: Vec<f64>,
        size: (f64, f64),
    ) -> Result<Self, ShapeError> {
        let shape = "heightfield";
        let least = |element, found, expected| {
            if found < expected {
                return Err(ShapeError::TooFew { shape, element, found, expected });
            }
            Ok(())
        };
        least("rows", rows, 2)?;
        least("columns", columns, 2)?;
        least("heights", heights.len(), rows.saturating_mul(columns))?;
        if heights.len() > rows * columns || heights.len() > (u32::MAX / 4) as usize {
            let found = heights.len();
            return Err(ShapeError::TooMany {
                shape,
                element: "heights",
                found,
                expected: rows * columns,
            });
        }
        for (parameter, found) in [("length along x", size.0), ("length along y", size.1)] {
            if !(found > 0.0 && found.is_finite()) {
                return Err(ShapeError::Length { shape, parameter, found });
            }
        }
        let mut field = Self {
            rows: rows as u32,
            columns: columns as u32,
            heights,
            size,
            normals: Vec::new(),
            exposed: Vec::new(),
            patches: Vec::new(),
            bounds: Aabb::NONE,
            radius: 0.0,
        };
        for v in 0..field.heights.len() as u32 {
            let p = field.vertex(v);
            if !p.z.is_finite() {
                return Err(ShapeError::Vertex {
                    shape,
                    index: v as usize,
                    found: [p.x, p.y, p.z],
                });
            }
            field.bounds = field.bounds.union(&Aabb { min: p, max: p });
            field.radius = field.radius.max(p.norm());
        }
        let n = field.triangles();
        let normal = |t: u32| {
            let [a, b, c] = field.triangle(t).map(|v| field.vertex(v));
            (b - a).cross(&(c - a)).normalize()
        };
        field.normals = (0..n).map(normal).collect();
        let mut planes = DisjointSets::new(n as usize);
        field.exposed = vec![false; field.heights.len()];
        for (t, k) in (0..n).flat_map(|t| [(t, 0), (t, 1), (t, 2)]) {
            match (field.convexity(t, k), field.across(t, k).1) {
                (EdgeConvexity::Flat, Some(other)) => {
                    planes.union(t as usize, other as usize);
                }
                (EdgeConvexity::Convex | EdgeConvexity::Border, _) => {
                    let corners = field.triangle(t);
                    field.exposed[corners[k] as usize] = true;
                    field.exposed[corners[(k + 1) % 3] as usize] = true;
                }
                _ => {}
            }
        }
        field.patches = (0..n as usize).map(|t| planes.find(t) as u32).collect();
        Ok(field)
    }

    /// Number of rows and of columns.
    pub fn shape(&self) -> (usize, usize) {
        (self.rows as usize, self.columns as usize)
    }

    /// Heights [m], one row of constant y after the other.
    pub fn heights(&self) -> &[f64] {
        &self.heights
    }

    /// Lengths along x and y [m].
    pub fn size(&self) -> (f64, f64) {
        self.size
    }

    /// Edge lengths of a cell along x and y [m].
    pub fn spacing(&self) -> (f64, f64) {
        (self.size.0 / f64::from(self.columns - 1), self.size.1 / f64::from(self.rows - 1))
    }

    /// Number of triangles.
    pub fn triangles(&self) -> u32 {
        2 * (self.rows - 1) * (self.columns - 1)
    }

    /// Position of a vertex, numbered along the rows [m].
    pub fn vertex(&self, v: u32) -> Vector3<f64> {
        let place = |i: u32, n: u32, size: f64| size * (f64::from(i) / f64::from(n - 1) - 0.5);
        Vector3::new(
            place(v % self.columns, self.columns, self.size.0),
            place(v / self.columns, self.rows, self.size.1),
            self.heights[v as usize],
        )
    }

    /// Vertices of a triangle. Triangle 2 c is the lower right half of cell c, 2 c + 1 the upper left half.
    pub fn triangle(&self, t: u32) -> [u32; 3] {
        let cell = t / 2;
        let a = cell / (self.columns - 1) * self.columns + cell % (self.columns - 1);
        let (b, c, d) = (a + 1, a + self.columns + 1, a + self.columns);
        if t.is_multiple_of(2) { [a, b, c] } else { [a, c, d] }
    }

    /// Upward unit normal of a triangle.
    pub fn normal(&self, t: u32) -> Vector3<f64> {
        self.normals[t as usize]
    }

    /// Index of the edge from corner `k` of triangle `t` to the next, and the triangle across it.
    pub fn across(&self, t: u32, k: usize) -> (u32, Option<u32>) {
        let width = self.columns - 1;
        let (cell, half) = (t / 2, t % 2);
        let (row, column) = (cell / width, cell % width);
        let a = row * self.columns + column;
        let some = |exists: bool, t: u32| exists.then_some(t);
        // Vertex a has the edges 3 a to its right, 3 a + 1 above it and 3 a + 2 along the diagonal.
        match (half, k) {
            (0, 0) => (3 * a, some(row > 0, (2 * cell + 1).wrapping_sub(2 * width))),
            (0, 1) => (3 * (a + 1) + 1, some(column + 1 < width, 2 * (cell + 1) + 1)),
            (0, _) => (3 * a + 2, Some(t + 1)),
            (_, 0) => (3 * a + 2, Some(t - 1)),
            (_, 1) => (3 * (a + self.columns), some(row + 2 < self.rows, 2 * (cell + width))),
            (_, _) => (3 * a + 1, some(column > 0, (2 * cell).wrapping_sub(2))),
        }
    }

    /// How the triangles at the edge from corner `k` of triangle `t` to the next meet.
    pub fn convexity(&self, t: u32, k: usize) -> EdgeConvexity {
        let Some(other) = self.across(t, k).1 else { return EdgeConvexity::Border };
        let corners = self.triangle(t);
        let (from, to) = (self.vertex(corners[k]), self.vertex(corners[(k + 1) % 3]));
        edge_convexity(&self.normal(t), &self.normal(other), &(to - from))
    }

    /// Coplanar patch to which a triangle belongs.
    pub fn patch(&self, t: u32) -> u32 {
        self.patches[t as usize]
    }

    /// Vertices joined by an edge to `v`.
    pub fn ring(&self, v: u32) -> impl Iterator<Item = u32> {
        let (rows, columns) = (self.rows, self.columns);
        let (row, column) = (v / columns, v % columns);
        [(0, 1), (1, 1), (1, 0), (0, -1), (-1, -1), (-1, 0)].into_iter().filter_map(
            move |(up, right)| {
                let r = row.checked_add_signed(up).filter(|&r| r < rows)?;
                let c = column.checked_add_signed(right).filter(|&c| c < columns)?;
                Some(r * columns + c)
            },
        )
    }

    /// Whether vertex `v` lies on a convex edge or on the border.
    pub fn is_exposed(&self, v: u32) -> bool {
        self.exposed[v as usize]
    }

    /// The triangle over or under the point (x, y) [m], if it is within the field.
    pub fn triangle_under(&self, x: f64, y: f64) -> Option<u32> {
        let (dx, dy) = self.spacing();
        let (u, v) =
            (x / dx + 0.5 * f64::from(self.columns - 1), y / dy + 0.5 * f64::from(self.rows - 1));
        let within = |u: f64, n: u32| u >= 0.0 && u <= f64::from(n - 1);
        if !(within(u, self.columns) && within(v, self.rows)) {
            return None;
        }
        let (column, row) = ((u as u32).min(self.columns - 2), (v as u32).min(self.rows - 2));
        let upper = v - f64::from(row) > u - f64::from(column);
        Some(2 * (row * (self.columns - 1) + column) + u32::from(upper))
    }

    /// Visits the triangles of the cells over or within `region` [m].
    pub fn cells_near(&self, region: &Aabb, mut visit: impl FnMut(u32)) {
        let (dx, dy) = self.spacing();
        // A float beyond the range of u32 saturates, so regions far outside give empty or full ranges.
        let range = |low: f64, high: f64, step: f64, n: u32| {
            let half = 0.5 * f64::from(n - 1);
            let (first, last) = ((low / step + half).floor(), (high / step + half).floor());
            if last < 0.0 || first >= f64::from(n) {
                return 0..0;
            }
            (first as u32).min(n - 2)..(last as u32).saturating_add(1).min(n - 1)
        };
        for row in range(region.min.y, region.max.y, dy, self.rows) {
            for column in range(region.min.x, region.max.x, dx, self.columns) {
                let cell = row * (self.columns - 1) + column;
                let a = (row * self.columns + column) as usize;
                let above = a + self.columns as usize;
                let tops = [a, a + 1, above, above + 1].map(|v| self.heights[v]);
                if tops.iter().all(|&z| z < region.min.z) {
                    continue;
                }
                visit(2 * cell);
                visit(2 * cell + 1);
            }
        }
    }

    /// The surface as vertices [m] and triangles.
    pub fn soup(&self) -> TriangleSoup {
        let vertices = (0..self.heights.len() as u32).map(|v| self.vertex(v)).collect();
        (vertices, (0..self.triangles()).map(|t| self.triangle(t)).collect())
    }

    /// Bounds of the surface in S [m].
    pub fn local_bounds(&self) -> Aabb {
        self.bounds
    }

    /// Bounds in the world [m]: those of the surface, deepened by its horizontal size, so that shapes below
    /// it are still found.
    pub fn bounds(&self, X_WS: &Isometry3<f64>) -> Aabb {
        let mut bounds = self.bounds;
        bounds.min.z -= self.size.0.max(self.size.1);
        Aabb::of_box(X_WS, bounds.centre(), 0.5 * bounds.size())
    }

    /// Bounding radius of the surface about the shape's origin [m].
    pub fn bounding_radius(&self) -> f64 {
        self.radius
    }

    /// Mass [kg], centre of mass [m] and central inertia [kg·m²]: all zero, because the solid below is
    /// unbounded.
    pub fn mass_properties(&self, _density: f64) -> (f64, Vector3<f64>, Matrix3<f64>) {
        (0.0, Vector3::zeros(), Matrix3::zeros())
    }

    /// Always succeeds: building validated the shape.
    pub fn check(&self) -> Result<(), ShapeError> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::super::generate;
    use super::super::mesh::Mesh;
    use super::*;

    fn hills() -> HeightField {
        let heights = (0..7 * 5).map(|k| 0.1 * (1.7 * k as f64).sin()).collect();
        HeightField::build(7, 5, heights, (2.0, 3.0)).unwrap()
    }

    #[test]
    fn topology_from_the_grid_equals_that_found_from_the_triangles() {
        let field = hills();
        let (vertices, triangles) = field.soup();
        let mesh = Mesh::build(&vertices, &triangles).unwrap();
        // Welding numbers vertices by first use; positions identify them.
        let mut names = std::collections::HashMap::new();
        for t in 0..field.triangles() {
            assert_eq!(field.normal(t), mesh.normal(t));
            for k in 0..3 {
                let edge = &mesh.edges()[mesh.sides(t)[k] as usize];
                let other = edge.faces.iter().flatten().find(|&&face| face != t).copied();
                let (name, across) = field.across(t, k);
                assert_eq!((across, field.convexity(t, k)), (other, edge.convexity));
                assert_eq!(*names.entry(name).or_insert(mesh.sides(t)[k]), mesh.sides(t)[k]);
                let v = field.triangle(t)[k];
                let of_mesh = mesh.triangles()[t as usize][k];
                assert_eq!(field.vertex(v), mesh.vertices()[of_mesh as usize]);
                assert_eq!(field.is_exposed(v), mesh.is_exposed(of_mesh));
                assert_eq!(field.ring(v).count(), mesh.ring(of_mesh).len());
            }
        }
        assert_eq!(names.len(), mesh.edges().len());
    }

    #[test]
    fn the_cells_found_are_those_under_the_region() {
        let field = hills();
        for (x, y) in [(-0.9, -1.4), (0.01, 0.02), (0.99, 1.49), (-0.45, 0.52)] {
            let under = field.triangle_under(x, y).unwrap();
            let [a, b, c] = field.triangle(under).map(|v| field.vertex(v).xy());
            let turn = |p: nalgebra::Vector2<f64>, q: nalgebra::Vector2<f64>| {
                (q - p).perp(&(nalgebra::Vector2::new(x, y) - p))
            };
            assert!(turn(a, b) >= 0.0 && turn(b, c) >= 0.0 && turn(c, a) >= 0.0);
            let mut found = Vec::new();
            let p = Vector3::new(x, y, -5.0);
            field.cells_near(&Aabb { min: p, max: p }, |t| found.push(t));
            assert_eq!(found, [under / 2 * 2, under / 2 * 2 + 1]);
        }
        assert!(field.triangle_under(1.1, 0.0).is_none());
        field.cells_near(&Aabb::around(Vector3::new(9.0, 0.0, 0.0), Vector3::repeat(1.0)), |t| {
            panic!("{t}")
        });
    }

    #[test]
    fn a_level_field_is_one_patch() {
        let field = HeightField::build(4, 6, vec![0.5; 24], (1.0, 1.0)).unwrap();
        assert!((0..field.triangles()).all(|t| field.patch(t) == 0));
        let (vertices, triangles) = generate::grid((1.0, 1.0), (5, 3));
        assert_eq!((vertices.len(), triangles), (24, field.soup().1));
    }

    #[test]
    fn wrong_counts_lengths_and_heights_are_refused() {
        assert!(matches!(
            HeightField::build(3, 3, vec![0.0; 8], (1.0, 1.0)),
            Err(ShapeError::TooFew { element: "heights", found: 8, expected: 9, .. })
        ));
        assert!(matches!(
            HeightField::build(3, 3, vec![0.0; 10], (1.0, 1.0)),
            Err(ShapeError::TooMany { found: 10, expected: 9, .. })
        ));
        assert!(HeightField::build(1, 3, vec![0.0; 3], (1.0, 1.0)).is_err());
        assert!(HeightField::build(2, 2, vec![0.0; 4], (1.0, f64::NAN)).is_err());
        let broken = vec![0.0, 0.0, f64::INFINITY, 0.0];
        assert!(matches!(
            HeightField::build(2, 2, broken, (1.0, 1.0)),
            Err(ShapeError::Vertex { index: 2, .. })
        ));
    }
}
