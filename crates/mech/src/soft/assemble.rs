//! Forces and stiffness of all elements, gathered at the vertices.
//!
//! Two loops each: over groups of elements into memory of their own, then over vertices or blocks, which
//! add up their elements in a fixed order. Seen from given rotations, with h_a = √V R ∇N_a,
//! K_ab = Σ μ (h_a·h_b) 1 + μ h_b h_aᵀ + λ h_a h_bᵀ [Han23, Appendix], so that T = Σ h_a h_bᵀ is all that
//! has to be gathered: K_ab = μ tr(T) 1 + μ Tᵀ + λ T. Other materials store the blocks of each element.

use super::SoftBody;
use super::elements::Group;
use super::lanes::{Lanes, Mat, N, Vec3, scale};
use super::polar::rotation;
use super::svd::svd;
use super::topology::Topology;
use super::work::{ElementBlocks, ElementForces, Frozen, SoftWork};
use crate::material::{Isotropic, Lame, with_law};
use nalgebra::Vector3;
use stiction_math::par::{for_each_chunk, reduce};
use stiction_math::simd::{Job, dispatch};

/// Groups of elements, and vertices or blocks, that one thread takes at a time.
const GROUPS: usize = 32;
const VERTICES: usize = 256;
const BLOCKS: usize = 512;
/// Groups from which on a second thread pays.
const PARALLEL_FROM: usize = 256;

/// Place of the block (a, b) of an element among its ten, for b ≤ a.
const PLACE: [[usize; 4]; 4] = [[0, 1, 3, 6], [1, 2, 4, 7], [3, 4, 5, 8], [6, 7, 8, 9]];

impl SoftBody {
    fn parallel_from(&self, items: usize) -> usize {
        if self.groups.len() >= PARALLEL_FROM { 0 } else { items + 1 }
    }

    /// Freezes the rotations of the elements at positions x [m] of this body's vertices. Only the
    /// linear corotated material asks for it; for others it does nothing.
    ///
    /// # Panics
    /// If `x` has not one position per vertex.
    pub fn freeze(&self, x: &[Vector3<f64>], work: &mut SoftWork) {
        assert_eq!(x.len(), self.nodes.len());
        if self.spec.material.entry().lagged {
            self.freeze_by(Some(x), work);
        }
    }

    pub(super) fn freeze_at_rest(&self, work: &mut SoftWork) {
        self.freeze_by(None, work);
    }

    fn freeze_by(&self, x: Option<&[Vector3<f64>]>, work: &mut SoftWork) {
        let from = self.parallel_from(work.frozen.len());
        for_each_chunk(&mut work.frozen, GROUPS, from, |first, out| {
            dispatch(Freeze { groups: &self.groups[first..first + out.len()], x, out });
        });
    }

    /// Elastic forces [N] on this body's vertices at positions x [m], into [`SoftWork::force`].
    ///
    /// # Panics
    /// If `x` has not one position per vertex.
    pub fn forces(&self, x: &[Vector3<f64>], work: &mut SoftWork) {
        assert_eq!(x.len(), self.nodes.len());
        let from = self.parallel_from(work.element_forces.len());
        let SoftWork { force, frozen, element_forces, .. } = work;
        for_each_chunk(element_forces, GROUPS, from, |first, out| {
            let range = first..first + out.len();
            let groups = &self.groups[range.clone()];
            with_law!(
                self.resolved,
                lame => dispatch(GivenForces { groups, x, frozen: &frozen[range], lame, out }),
                law => dispatch(IsotropicForces { groups, x, law, out })
            );
        });
        let from = self.parallel_from(force.len());
        let topology = &self.topology;
        for_each_chunk(force, VERTICES, from, |first, out| {
            dispatch(GatherForces { topology, from: element_forces, first, out });
        });
    }

    /// Stiffness K = −∂f/∂x [N/m] at positions x [m], positive semi-definite, into
    /// [`SoftWork::stiffness`]. For linear materials it depends on the frozen rotations alone.
    ///
    /// # Panics
    /// If `x` has not one position per vertex.
    pub fn stiffness(&self, x: &[Vector3<f64>], work: &mut SoftWork) {
        assert_eq!(x.len(), self.nodes.len());
        let SoftWork { stiffness, frozen, element_blocks, .. } = work;
        let from = self.parallel_from(element_blocks.len());
        for_each_chunk(element_blocks, GROUPS, from, |first, out| {
            let groups = &self.groups[first..first + out.len()];
            with_law!(
                self.resolved,
                _lame => (),
                law => dispatch(IsotropicBlocks { groups, x, law, out })
            );
        });
        let topology = &self.topology;
        let values = stiffness.values_mut();
        let from = self.parallel_from(values.len());
        for_each_chunk(values, 9 * BLOCKS, from, |first, out| {
            let (first, out) = (first / 9, out.as_chunks_mut::<9>().0);
            with_law!(
                self.resolved,
                lame => dispatch(GatherTurned { topology, frozen, lame, first, out }),
                _law => dispatch(GatherBlocks { topology, from: element_blocks, first, out })
            );
        });
    }

    /// Elastic energy [J] at positions x [m], each element seen from its present rotation.
    ///
    /// # Panics
    /// If `x` has not one position per vertex.
    pub fn energy(&self, x: &[Vector3<f64>]) -> f64 {
        assert_eq!(x.len(), self.nodes.len());
        let lagged = self.spec.material.entry().lagged;
        let from = self.parallel_from(self.groups.len());
        let sum = |range: std::ops::Range<usize>| {
            let groups = &self.groups[range];
            with_law!(
                self.resolved,
                lame => dispatch(GivenEnergy { groups, x, lame, lagged }),
                law => dispatch(IsotropicEnergy { groups, x, law })
            )
        };
        reduce(self.groups.len(), GROUPS, from, sum, |a, b| a + b)
    }
}

/// Energy of linear materials.
struct GivenEnergy<'a> {
    groups: &'a [Group],
    x: &'a [Vector3<f64>],
    lame: Lame,
    lagged: bool,
}

impl Job for GivenEnergy<'_> {
    type Output = f64;

    #[inline(always)]
    fn run(self) -> f64 {
        let mut total = Lanes::ZERO;
        for group in self.groups {
            let F = group.deformation(self.x);
            let R = if self.lagged { rotation(&F) } else { Mat::IDENTITY };
            total = total.fma(self.lame.energy(&F, &R), group.volume);
        }
        total.sum()
    }
}

/// Energy of isotropic materials.
struct IsotropicEnergy<'a, M> {
    groups: &'a [Group],
    x: &'a [Vector3<f64>],
    law: M,
}

impl<M: Isotropic> Job for IsotropicEnergy<'_, M> {
    type Output = f64;

    #[inline(always)]
    fn run(self) -> f64 {
        let mut total = Lanes::ZERO;
        for group in self.groups {
            total = total.fma(self.law.energy(&group.deformation(self.x)), group.volume);
        }
        total.sum()
    }
}

/// Rotations and turned gradients; the identity without positions.
struct Freeze<'a> {
    groups: &'a [Group],
    x: Option<&'a [Vector3<f64>]>,
    out: &'a mut [Frozen],
}

impl Job for Freeze<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        for (group, out) in self.groups.iter().zip(self.out) {
            let R = match self.x {
                Some(x) => rotation(&group.deformation(x)),
                None => Mat::IDENTITY,
            };
            let root = group.volume.sqrt();
            let mut turned = [[Lanes::ZERO; 3]; 4];
            for a in 0..3 {
                turned[a + 1] = scale(&R.apply(&group.gradients.0[a]), root);
                for i in 0..3 {
                    turned[0][i] = turned[0][i] - turned[a + 1][i];
                }
            }
            out.rotation = R;
            store_corners(&turned, &mut out.turned);
        }
    }
}

/// Forces of linear materials.
struct GivenForces<'a> {
    groups: &'a [Group],
    x: &'a [Vector3<f64>],
    frozen: &'a [Frozen],
    lame: Lame,
    out: &'a mut [ElementForces],
}

impl Job for GivenForces<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        for ((group, frozen), out) in self.groups.iter().zip(self.frozen).zip(self.out) {
            let P = self.lame.stress(&group.deformation(self.x), &frozen.rotation);
            store_corners(&group.vertex_forces(&P), &mut out.0);
        }
    }
}

/// Forces of isotropic materials.
struct IsotropicForces<'a, M> {
    groups: &'a [Group],
    x: &'a [Vector3<f64>],
    law: M,
    out: &'a mut [ElementForces],
}

impl<M: Isotropic> Job for IsotropicForces<'_, M> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        for (group, out) in self.groups.iter().zip(self.out) {
            let P = self.law.stress(&group.deformation(self.x));
            store_corners(&group.vertex_forces(&P), &mut out.0);
        }
    }
}

/// Projected stiffness of each element.
struct IsotropicBlocks<'a, M> {
    groups: &'a [Group],
    x: &'a [Vector3<f64>],
    law: M,
    out: &'a mut [ElementBlocks],
}

impl<M: Isotropic> Job for IsotropicBlocks<'_, M> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        for (group, out) in self.groups.iter().zip(self.out) {
            let frames = svd(&group.deformation(self.x));
            let tangent = self.law.tangent(&frames.sigma).projected();
            let mut g = [[Lanes::ZERO; 3]; 3];
            for a in 0..3 {
                g[a] = frames.V.apply_transposed(&group.gradients.0[a]);
            }
            let mut blocks = [Mat::ZERO; 10];
            for a in 0..3 {
                for b in 0..=a {
                    let K = tangent.block(&frames, &g[a], &g[b]).scaled(group.volume);
                    blocks[PLACE[a + 1][b + 1]] = K;
                    // N_0 is one minus the others.
                    let (own, first) = (PLACE[a + 1][0], PLACE[b + 1][0]);
                    blocks[own] = subtracted(&blocks[own], &K);
                    if a != b {
                        blocks[first] = subtracted(&blocks[first], &transposed(&K));
                    }
                }
            }
            for a in 1..4 {
                blocks[0] = subtracted(&blocks[0], &blocks[PLACE[a][0]]);
            }
            for (place, block) in blocks.iter().enumerate() {
                for k in 0..N {
                    for i in 0..3 {
                        for j in 0..3 {
                            out.0[k][place][3 * i + j] = block.0[i][j].0[k];
                        }
                    }
                }
            }
        }
    }
}

#[inline(always)]
fn transposed(A: &Mat) -> Mat {
    Mat::from_fn(|i, j| A.0[j][i])
}

#[inline(always)]
fn subtracted(A: &Mat, B: &Mat) -> Mat {
    Mat::from_fn(|i, j| A.0[i][j] - B.0[i][j])
}

/// Vectors of the corners, element by element.
#[inline(always)]
fn store_corners(corners: &[Vec3; 4], out: &mut [[[f64; 4]; 4]; N]) {
    for k in 0..N {
        for a in 0..4 {
            let [x, y, z] = corners[a];
            out[k][a] = [x.0[k], y.0[k], z.0[k], 0.0];
        }
    }
}

/// Forces on vertices.
struct GatherForces<'a> {
    topology: &'a Topology,
    from: &'a [ElementForces],
    first: usize,
    out: &'a mut [Vector3<f64>],
}

impl Job for GatherForces<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        for (vertex, out) in self.out.iter_mut().enumerate() {
            let mut sum = [0.0; 4];
            for incidence in self.topology.around(self.first + vertex) {
                let element = incidence.element();
                let force = &self.from[element / N].0[element % N][incidence.row()];
                for i in 0..4 {
                    sum[i] += force[i];
                }
            }
            *out = Vector3::new(sum[0], sum[1], sum[2]);
        }
    }
}

/// Stiffness of linear materials.
struct GatherTurned<'a> {
    topology: &'a Topology,
    frozen: &'a [Frozen],
    lame: Lame,
    first: usize,
    out: &'a mut [[f64; 9]],
}

impl Job for GatherTurned<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let Lame { mu, lambda } = self.lame;
        for (block, out) in self.out.iter_mut().enumerate() {
            let mut T = [[0.0; 4]; 3];
            for incidence in self.topology.block(self.first + block) {
                let element = incidence.element();
                let turned = &self.frozen[element / N].turned[element % N];
                let (h_a, h_b) = (&turned[incidence.row()], &turned[incidence.column()]);
                for i in 0..3 {
                    for j in 0..4 {
                        T[i][j] = h_a[i].mul_add(h_b[j], T[i][j]);
                    }
                }
            }
            let trace = mu * ((T[0][0] + T[1][1]) + T[2][2]);
            for i in 0..3 {
                for j in 0..3 {
                    let start = if i == j { trace } else { 0.0 };
                    out[3 * i + j] = lambda.mul_add(T[i][j], mu.mul_add(T[j][i], start));
                }
            }
        }
    }
}

/// Stiffness from the blocks of the elements.
struct GatherBlocks<'a> {
    topology: &'a Topology,
    from: &'a [ElementBlocks],
    first: usize,
    out: &'a mut [[f64; 9]],
}

impl Job for GatherBlocks<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        for (block, out) in self.out.iter_mut().enumerate() {
            // Blocks whose row is the later corner are stored as they are, others transposed.
            let (mut sum, mut mirrored) = ([0.0; 9], [0.0; 9]);
            for incidence in self.topology.block(self.first + block) {
                let (element, a, b) = (incidence.element(), incidence.row(), incidence.column());
                let stored = &self.from[element / N].0[element % N][PLACE[a][b]];
                let into = if a >= b { &mut sum } else { &mut mirrored };
                for k in 0..9 {
                    into[k] += stored[k];
                }
            }
            let [row, column] = self.topology.places[self.first + block];
            if row == column {
                // Symmetric but for round-off, which the mean removes.
                (sum, mirrored) = (sum.map(|x| 0.5 * x), sum.map(|x| 0.5 * x));
            }
            for i in 0..3 {
                for j in 0..3 {
                    out[3 * i + j] = sum[3 * i + j] + mirrored[3 * j + i];
                }
            }
        }
    }
}
