//! Loops over groups of elements, compiled once per instruction set: rotations, forces, stiffness and
//! energy of each element, written to per-element buffers.

use super::elements::ElementGroup;
use super::lanes::{Lanes, Mat, N, Vec3, scale};
use super::polar::rotation;
use super::svd::svd;
use super::workspace::{BLOCK_INDEX, ElementBlocks, ElementForces, ElementRotations};
use crate::material::{IsotropicMaterial, Lame};
use nalgebra::Vector3;
use stiction_math::simd::Job;

/// Energy of linear materials.
pub(super) struct LinearEnergy<'a> {
    pub groups: &'a [ElementGroup],
    pub x: &'a [Vector3<f64>],
    pub lame: Lame,
    pub lagged: bool,
}

impl Job for LinearEnergy<'_> {
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
pub(super) struct IsotropicEnergy<'a, M> {
    pub groups: &'a [ElementGroup],
    pub x: &'a [Vector3<f64>],
    pub law: M,
}

impl<M: IsotropicMaterial> Job for IsotropicEnergy<'_, M> {
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

/// Rotations and rotated gradients; the identity if `x` is `None`.
pub(super) struct UpdateRotations<'a> {
    pub groups: &'a [ElementGroup],
    pub x: Option<&'a [Vector3<f64>]>,
    pub out: &'a mut [ElementRotations],
}

impl Job for UpdateRotations<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        for (group, out) in self.groups.iter().zip(self.out) {
            let R = match self.x {
                Some(x) => rotation(&group.deformation(x)),
                None => Mat::IDENTITY,
            };
            let root = group.volume.sqrt();
            let mut h = [[Lanes::ZERO; 3]; 4];
            for a in 0..3 {
                h[a + 1] = scale(&R.apply(&group.gradients.0[a]), root);
                for i in 0..3 {
                    h[0][i] = h[0][i] - h[a + 1][i];
                }
            }
            out.rotation = R;
            store_corners(&h, &mut out.rotated_gradients);
        }
    }
}

/// Forces of linear materials.
pub(super) struct LinearForces<'a> {
    pub groups: &'a [ElementGroup],
    pub x: &'a [Vector3<f64>],
    pub rotations: &'a [ElementRotations],
    pub lame: Lame,
    pub out: &'a mut [ElementForces],
}

impl Job for LinearForces<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        for ((group, rotations), out) in self.groups.iter().zip(self.rotations).zip(self.out) {
            let P = self.lame.stress(&group.deformation(self.x), &rotations.rotation);
            store_corners(&group.vertex_forces(&P), &mut out.0);
        }
    }
}

/// Forces of isotropic materials.
pub(super) struct IsotropicForces<'a, M> {
    pub groups: &'a [ElementGroup],
    pub x: &'a [Vector3<f64>],
    pub law: M,
    pub out: &'a mut [ElementForces],
}

impl<M: IsotropicMaterial> Job for IsotropicForces<'_, M> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        for (group, out) in self.groups.iter().zip(self.out) {
            let P = self.law.stress(&group.deformation(self.x));
            store_corners(&group.vertex_forces(&P), &mut out.0);
        }
    }
}

/// Stiffness of each element, exact or without negative eigenvalues.
pub(super) struct IsotropicBlocks<'a, M> {
    pub groups: &'a [ElementGroup],
    pub x: &'a [Vector3<f64>],
    pub law: M,
    pub projected: bool,
    pub out: &'a mut [ElementBlocks],
}

impl<M: IsotropicMaterial> Job for IsotropicBlocks<'_, M> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        for (group, out) in self.groups.iter().zip(self.out) {
            let frames = svd(&group.deformation(self.x));
            let tangent = self.law.tangent(&frames.sigma);
            let tangent = if self.projected { tangent.projected() } else { tangent };
            let mut g = [[Lanes::ZERO; 3]; 3];
            for a in 0..3 {
                g[a] = frames.V.apply_transposed(&group.gradients.0[a]);
            }
            let mut blocks = [Mat::ZERO; 10];
            for a in 0..3 {
                for b in 0..=a {
                    let K = tangent.block(&frames, &g[a], &g[b]).scaled(group.volume);
                    blocks[BLOCK_INDEX[a + 1][b + 1]] = K;
                    // N_0 is one minus the other shape functions.
                    let (own, first) = (BLOCK_INDEX[a + 1][0], BLOCK_INDEX[b + 1][0]);
                    blocks[own] = subtracted(&blocks[own], &K);
                    if a != b {
                        blocks[first] = subtracted(&blocks[first], &transposed(&K));
                    }
                }
            }
            for a in 1..4 {
                blocks[0] = subtracted(&blocks[0], &blocks[BLOCK_INDEX[a][0]]);
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

/// Stores one vector per corner, element by element.
#[inline(always)]
fn store_corners(corners: &[Vec3; 4], out: &mut [[[f64; 4]; 4]; N]) {
    for k in 0..N {
        for a in 0..4 {
            let [x, y, z] = corners[a];
            out[k][a] = [x.0[k], y.0[k], z.0[k], 0.0];
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::material::{Material, with_material};
    use crate::soft::testing::Random;
    use crate::soft::{SoftBody, SoftSpec, SoftWorkspace};
    use stiction_math::simd::dispatch;

    #[test]
    fn every_instruction_set_gives_the_same_bits() {
        let mut rng = Random(12);
        let vertices = vec![Vector3::zeros(), Vector3::x(), Vector3::y(), Vector3::z()];
        for entry in crate::MATERIALS {
            let parameters = &[2.0, 0.3, 9.0][..entry.parameters.len()];
            let material = Material::from_name(entry.name, parameters).unwrap();
            let spec = SoftSpec::new(vertices.clone(), vec![[0, 1, 2, 3]; 7], material, 1.0);
            let body = SoftBody::new(spec).unwrap();
            for size in [0.1, 1.0] {
                let x: Vec<_> = vertices.iter().map(|x| x + size * rng.vector()).collect();
                let (groups, x) = (&body.groups[..], &x[..]);
                let (mut wide, mut twin) = (SoftWorkspace::new(&body), SoftWorkspace::new(&body));
                dispatch(UpdateRotations { groups, x: Some(x), out: &mut wide.rotations });
                UpdateRotations { groups, x: Some(x), out: &mut twin.rotations }.run();
                let energies = with_material!(
                    body.resolved,
                    lame => {
                        let out = &mut wide.element_forces[..];
                        dispatch(LinearForces { groups, x, rotations: &wide.rotations, lame, out });
                        let out = &mut twin.element_forces[..];
                        LinearForces { groups, x, rotations: &twin.rotations, lame, out }.run();
                        let energy = || LinearEnergy { groups, x, lame, lagged: true };
                        [dispatch(energy()), energy().run()]
                    },
                    law => {
                        let out = &mut wide.element_forces[..];
                        dispatch(IsotropicForces { groups, x, law, out });
                        let out = &mut twin.element_forces[..];
                        IsotropicForces { groups, x, law, out }.run();
                        let out = &mut wide.element_blocks[..];
                        dispatch(IsotropicBlocks { groups, x, law, projected: true, out });
                        let out = &mut twin.element_blocks[..];
                        IsotropicBlocks { groups, x, law, projected: true, out }.run();
                        let energy = || IsotropicEnergy { groups, x, law };
                        [dispatch(energy()), energy().run()]
                    }
                );
                let bits = |work: &SoftWorkspace| {
                    let forces = work.element_forces.iter().flat_map(|f| f.0).flatten().flatten();
                    let blocks = work.element_blocks.iter().flat_map(|b| b.0).flatten().flatten();
                    let rotated =
                        work.rotations.iter().flat_map(|f| f.rotated_gradients).flatten().flatten();
                    let all = forces.chain(blocks).chain(rotated);
                    all.map(f64::to_bits).collect::<Vec<_>>()
                };
                assert_eq!(bits(&wide), bits(&twin), "{}", entry.name);
                assert_eq!(energies[0].to_bits(), energies[1].to_bits(), "{}", entry.name);
            }
        }
    }
}
