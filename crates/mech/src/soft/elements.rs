//! Constant data of the elements: vertices, gradients of the shape functions, volumes.
//!
//! F = Σ_a (x_a − x_0) ⊗ ∇N_a over the vertices a = 1, 2, 3, where ∇N_a are the rows of the inverse of
//! the matrix of reference edges. Elements are processed in groups of one SIMD vector; the last group
//! is padded with copies of zero volume.

use super::lanes::{Lanes, Mat, N, Vec3};
use super::spec::SoftSpec;
use nalgebra::{Matrix3, Vector3};

/// A group of elements, one per SIMD lane.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ElementGroup {
    /// Vertices of each element.
    pub vertices: [[u32; 4]; N],
    /// Gradients ∇N_1, ∇N_2, ∇N_3 [1/m]; that of vertex 0 is minus their sum.
    pub gradients: Mat,
    /// Volumes [m³]; zero for padding.
    pub volume: Lanes,
}

/// The groups of a checked soft body.
pub(crate) fn groups(spec: &SoftSpec) -> Vec<ElementGroup> {
    spec.tetrahedra.chunks(N).map(|elements| group(spec, elements)).collect()
}

fn group(spec: &SoftSpec, elements: &[[u32; 4]]) -> ElementGroup {
    let last = elements[elements.len() - 1];
    let mut out = ElementGroup { vertices: [last; N], gradients: Mat::ZERO, volume: Lanes::ZERO };
    for k in 0..N {
        let element = elements.get(k).copied().unwrap_or(last);
        let p = element.map(|vertex| spec.vertices[vertex as usize]);
        let edges = Matrix3::from_columns(&[p[1] - p[0], p[2] - p[0], p[3] - p[0]]);
        let six_volumes = edges.determinant();
        // Rows of the inverse are the cofactors, by columns of edges.
        let (a, b, c) = (edges.column(0), edges.column(1), edges.column(2));
        let rows = [b.cross(&c), c.cross(&a), a.cross(&b)].map(|row| row / six_volumes);
        for i in 0..3 {
            for j in 0..3 {
                out.gradients.0[i][j].0[k] = rows[i][j];
            }
        }
        out.vertices[k] = element;
        out.volume.0[k] = if k < elements.len() { six_volumes / 6.0 } else { 0.0 };
    }
    out
}

impl ElementGroup {
    /// Deformation gradient F of each element, for positions x [m].
    #[inline(always)]
    pub fn deformation(&self, x: &[Vector3<f64>]) -> Mat {
        let mut edges = [[Lanes::ZERO; 3]; 3];
        for k in 0..N {
            let [v0, v1, v2, v3] = self.vertices[k].map(|vertex| vertex as usize);
            let p0 = x[v0];
            for (a, p) in [x[v1], x[v2], x[v3]].into_iter().enumerate() {
                for i in 0..3 {
                    edges[a][i].0[k] = p[i] - p0[i];
                }
            }
        }
        Mat::from_fn(|i, j| {
            let g = &self.gradients.0;
            (edges[0][i] * g[0][j]).fma(edges[1][i], g[1][j]).fma(edges[2][i], g[2][j])
        })
    }

    /// Forces −V P ∇N_a [N] on the four vertices of each element.
    #[inline(always)]
    pub fn vertex_forces(&self, P: &Mat) -> [Vec3; 4] {
        let mut f = [[Lanes::ZERO; 3]; 4];
        for a in 0..3 {
            let force = P.apply(&self.gradients.0[a]);
            for i in 0..3 {
                f[a + 1][i] = -(self.volume * force[i]);
                f[0][i] = f[0][i] - f[a + 1][i];
            }
        }
        f
    }
}
