//! Subdivides tetrahedra into n³ smaller ones each, so that neighbours conform.
//!
//! A tetrahedron with ordered corners is the set n ≥ x₁ ≥ x₂ ≥ x₃ ≥ 0 of lattice points with the
//! barycentric weights (n − x₁, x₁ − x₂, x₂ − x₃, x₃)/n; the Kuhn subdivision of the unit cubes subdivides
//! it too, into pieces of at most three shapes [Edelsbrunner00]. On each face it gives the one subdivision
//! into n² equal triangles, for every order of the corners, so that neighbours conform.

use std::collections::HashMap;

/// A vertex of the refined mesh: up to four corners of the coarse mesh with integer weights that sum to n;
/// unused entries have weight zero.
pub type BarycentricVertex = [(u32, u32); 4];

/// The orders in which a step along each axis leads from the lowest corner of a cube to the highest,
/// with the even permutations first.
pub const STEPS: [[usize; 3]; 6] =
    [[0, 1, 2], [1, 2, 0], [2, 0, 1], [0, 2, 1], [2, 1, 0], [1, 0, 2]];

/// Corners of the six tetrahedra of the unit cube along its (1, 1, 1) diagonal, all of positive volume.
pub fn kuhn() -> [[[usize; 3]; 4]; 6] {
    let mut cut = [[[0; 3]; 4]; 6];
    for (k, steps) in STEPS.iter().enumerate() {
        let mut at = [0; 3];
        for (corner, &axis) in steps.iter().enumerate() {
            at[axis] = 1;
            cut[k][corner + 1] = at;
        }
        if k >= 3 {
            cut[k].swap(2, 3); // an odd permutation has negative volume
        }
    }
    cut
}

/// Subdivides coarse tetrahedra into n³ each.
pub fn refine(coarse: &[[u32; 4]], n: usize) -> (Vec<BarycentricVertex>, Vec<[u32; 4]>) {
    let mut known: HashMap<BarycentricVertex, u32> = HashMap::new();
    let (mut places, mut tetrahedra) = (Vec::new(), Vec::new());
    let cut = kuhn();
    for corners in coarse {
        for (x, y, z) in
            (0..n).flat_map(|x| (0..=x).flat_map(move |y| (0..=y).map(move |z| (x, y, z))))
        {
            for piece in &cut {
                let lattice = piece.map(|[i, j, k]| [x + i, y + j, z + k]);
                if !lattice.iter().all(|&[i, j, k]| n >= i && i >= j && j >= k) {
                    continue;
                }
                tetrahedra.push(lattice.map(|[i, j, k]| {
                    let weights = [n - i, i - j, j - k, k];
                    let mut place: BarycentricVertex = [(u32::MAX, 0); 4];
                    for (slot, (&corner, &weight)) in
                        place.iter_mut().zip(corners.iter().zip(&weights))
                    {
                        if weight > 0 {
                            *slot = (corner, weight as u32);
                        }
                    }
                    place.sort_unstable();
                    *known.entry(place).or_insert_with(|| {
                        places.push(place);
                        places.len() as u32 - 1
                    })
                }));
            }
        }
    }
    (places, tetrahedra)
}
