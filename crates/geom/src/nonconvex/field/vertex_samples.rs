//! Values of a field at the vertices of a surface, each sampled once per query.

use super::distance_field::DistanceField;
use crate::field::FieldSample;
use crate::shape::Mesh;
use nalgebra::{Isometry3, Matrix3, Vector3};

/// A vertex of a surface with the value of a field there.
#[derive(Clone, Copy, Debug)]
pub struct VertexSample {
    /// The vertex in the frame of the field [m].
    pub place: Vector3<f64>,
    /// In the frame of the field.
    pub sample: FieldSample,
    /// The gradient in the frame of the surface [-].
    pub gradient_M: Vector3<f64>,
}

/// Samples at the vertices of one surface.
#[derive(Debug, Default)]
pub struct VertexSamples {
    stamp: u32,
    stamps: Vec<u32>,
    samples: Vec<VertexSample>,
    /// The vertices of this query, in the order of their triangles.
    pub used: Vec<u32>,
}

impl VertexSamples {
    /// Samples the corners of the triangles of a surface at `X_DM`.
    pub fn fill(
        &mut self,
        mesh: &Mesh,
        triangles: &[u32],
        (R_DM, X_DM): (&Matrix3<f64>, &Isometry3<f64>),
        field: &impl DistanceField,
    ) {
        self.start(mesh.vertices().len());
        for &t in triangles {
            for v in mesh.triangles()[t as usize] {
                let k = v as usize;
                if self.stamps[k] != self.stamp {
                    self.stamps[k] = self.stamp;
                    let place = R_DM * mesh.vertices()[k] + X_DM.translation.vector;
                    let sample = field.sample(&place);
                    let gradient_M = R_DM.tr_mul(&sample.gradient);
                    self.samples[k] = VertexSample { place, sample, gradient_M };
                    self.used.push(v);
                }
            }
        }
    }

    fn start(&mut self, vertices: usize) {
        self.used.clear();
        self.stamp = self.stamp.wrapping_add(1);
        if self.stamp == 0 {
            self.stamps.fill(0);
            self.stamp = 1;
        }
        if self.stamps.len() < vertices {
            let zero = Vector3::zeros();
            self.stamps.resize(vertices, 0);
            let sample = FieldSample { value: f64::INFINITY, gradient: zero };
            let unknown = VertexSample { place: zero, sample, gradient_M: zero };
            self.samples.resize(vertices, unknown);
        }
    }

    /// The sample at a vertex of this query.
    #[inline]
    pub fn get(&self, vertex: u32) -> &VertexSample {
        &self.samples[vertex as usize]
    }

    /// The value at a vertex, if it was sampled in this query [m].
    #[inline]
    pub fn value(&self, vertex: u32) -> Option<f64> {
        let k = vertex as usize;
        (self.stamps[k] == self.stamp).then(|| self.samples[k].sample.value)
    }
}
