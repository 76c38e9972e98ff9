//! The samples of a grid as bytes, to be kept and read again: building a fine grid takes seconds.
//!
//! A magic word with the version of the sampling, cell, sign and blocks, then the values, all little-endian. What is read is checked against the
//! mesh that it is to belong to: sizes, starts of blocks, numbers. It cannot be told whether the values are those of this mesh; who keeps
//! them names them after its content, see [`SampledGrid::content_key`].

use super::grid::{CELLS, COARSE, GridSign, SAMPLES, SampledGrid};
use crate::shape::Mesh;
use nalgebra::Vector3;

/// Changes with the format and with how values are found.
const MAGIC: &[u8; 8] = b"stsdf\0\0\x01";
/// Primes and offsets of two hashes of 64 bits each [FNV-1a].
const PRIME: u64 = 0x0000_0100_0000_01b3;
const OFFSETS: [u64; 2] = [0xcbf2_9ce4_8422_2325, 0x6c62_272e_07bb_0142];

impl SampledGrid {
    /// A key of all that determines the samples: the mesh, the cell, the sign and how they are found.
    pub fn content_key(mesh: &Mesh, cell: f64, sign: GridSign) -> String {
        let mut sums = OFFSETS;
        let mut add = |bytes: &[u8]| {
            for byte in bytes {
                for (k, sum) in sums.iter_mut().enumerate() {
                    // The second one is fed the complement, so that the two are not the same up to their starts.
                    let byte = if k == 0 { *byte } else { !*byte };
                    *sum = (*sum ^ u64::from(byte)).wrapping_mul(PRIME);
                }
            }
        };
        add(MAGIC);
        add(&cell.to_le_bytes());
        add(&[sign as u8]);
        for vertex in mesh.vertices() {
            vertex.iter().for_each(|x| add(&x.to_le_bytes()));
        }
        for corners in mesh.triangles() {
            corners.iter().for_each(|v| add(&v.to_le_bytes()));
        }
        format!("{:016x}{:016x}", sums[0], sums[1])
    }

    /// The samples as bytes.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut out = Vec::with_capacity(self.bytes() as usize + 128);
        out.extend_from_slice(MAGIC);
        for number in [self.cell, self.lipschitz].into_iter().chain(self.origin.iter().copied()) {
            out.extend_from_slice(&number.to_le_bytes());
        }
        out.push(self.sign as u8);
        let sizes = self.blocks.into_iter().chain([self.fine.len()]);
        sizes.for_each(|size| out.extend_from_slice(&(size as u64).to_le_bytes()));
        self.coarse.iter().for_each(|x| out.extend_from_slice(&x.to_le_bytes()));
        self.starts.iter().for_each(|x| out.extend_from_slice(&x.to_le_bytes()));
        self.fine.iter().for_each(|x| out.extend_from_slice(&x.to_le_bytes()));
        out
    }

    /// The grid of a mesh from the bytes of its samples; `None` if they are not those of a grid with this cell and sign.
    pub fn from_bytes(mesh: Mesh, cell: f64, sign: GridSign, bytes: &[u8]) -> Option<Self> {
        let mut rest = bytes.strip_prefix(MAGIC)?;
        let mut number = || take(&mut rest).map(f64::from_le_bytes);
        let (found_cell, lipschitz) = (number()?, number()?);
        let origin = Vector3::new(number()?, number()?, number()?);
        let [found_sign] = take(&mut rest)?;
        let mut size = || usize::try_from(u64::from_le_bytes(take(&mut rest)?)).ok();
        let blocks = [size()?, size()?, size()?];
        let fine = size()?;
        let fits = found_cell == cell && found_sign == sign as u8;
        let is_sane =
            lipschitz.is_finite() && lipschitz >= 1.0 && origin.iter().all(|x| x.is_finite());
        let count = product(blocks)?;
        let corners = product([
            blocks[0].checked_add(1)?,
            blocks[1].checked_add(1)?,
            blocks[2].checked_add(1)?,
        ])?;
        let length = corners.checked_mul(8)?.checked_add(count.checked_mul(4)?)?;
        if !fits
            || !is_sane
            || count == 0
            || length.checked_add(fine.checked_mul(4)?)? != rest.len()
        {
            return None;
        }
        let coarse = list(&mut rest, corners, f64::from_le_bytes)?;
        let starts = list(&mut rest, count, u32::from_le_bytes)?;
        let fine = list(&mut rest, fine, f32::from_le_bytes)?;
        let holds = |start: &u32| {
            *start == COARSE
                || (*start as usize)
                    .checked_add(SAMPLES.pow(3))
                    .is_some_and(|end| end <= fine.len())
        };
        let is_finite = coarse.iter().all(|x| x.is_finite()) && fine.iter().all(|x| x.is_finite());
        // The box must contain the mesh.
        let size = Vector3::from(blocks.map(|n| n as f64)) * cell * CELLS as f64;
        let bounds = mesh.local_bounds();
        let contains =
            (0..3).all(|k| origin[k] <= bounds.min[k] && bounds.max[k] <= origin[k] + size[k]);
        (starts.iter().all(holds) && is_finite && contains).then_some(Self {
            mesh,
            sign,
            origin,
            cell,
            blocks,
            coarse,
            starts,
            fine,
            lipschitz,
        })
    }
}

fn product(sizes: [usize; 3]) -> Option<usize> {
    sizes[0].checked_mul(sizes[1])?.checked_mul(sizes[2])
}

fn take<const N: usize>(rest: &mut &[u8]) -> Option<[u8; N]> {
    let (first, after) = rest.split_first_chunk()?;
    *rest = after;
    Some(*first)
}

fn list<T, const N: usize>(
    rest: &mut &[u8],
    count: usize,
    read: fn([u8; N]) -> T,
) -> Option<Vec<T>> {
    let (mine, after) = rest.split_at_checked(count.checked_mul(N)?)?;
    *rest = after;
    let (chunks, _) = mine.as_chunks();
    Some(chunks.iter().map(|chunk| read(*chunk)).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::field::MOST_BYTES;
    use crate::shape::generate;

    fn ring() -> Mesh {
        let (vertices, triangles) = generate::torus(0.1, 0.03, 24, 12);
        Mesh::build(&vertices, &triangles).unwrap()
    }

    #[test]
    fn a_grid_read_from_its_bytes_has_the_same_bits() {
        let grid = SampledGrid::build(ring(), 0.01, GridSign::Closed, MOST_BYTES).unwrap();
        let bytes = grid.to_bytes();
        let again = SampledGrid::from_bytes(ring(), 0.01, GridSign::Closed, &bytes).unwrap();
        for k in 0..200 {
            let t = f64::from(k) * 0.37;
            let p = Vector3::new(0.12 * t.sin(), 0.11 * (1.3 * t).cos(), 0.05 * (0.7 * t).sin());
            assert_eq!(grid.sample(&p), again.sample(&p));
        }
        assert_eq!(again.to_bytes(), bytes);
    }

    #[test]
    fn bytes_that_are_cut_changed_or_of_another_grid_are_refused() {
        let grid = SampledGrid::build(ring(), 0.01, GridSign::Closed, MOST_BYTES).unwrap();
        let bytes = grid.to_bytes();
        let read = |cell, sign, bytes: &[u8]| SampledGrid::from_bytes(ring(), cell, sign, bytes);
        assert!(read(0.01, GridSign::Closed, &bytes).is_some());
        assert!(read(0.02, GridSign::Closed, &bytes).is_none());
        assert!(read(0.01, GridSign::Winding, &bytes).is_none());
        for end in [0, 7, 8, 40, 81, bytes.len() - 1] {
            assert!(read(0.01, GridSign::Closed, &bytes[..end]).is_none(), "{end}");
        }
        // Numbers of blocks that would overflow, and a start beyond the samples.
        let mut huge = bytes.clone();
        huge[49..57].copy_from_slice(&u64::MAX.to_le_bytes());
        assert!(read(0.01, GridSign::Closed, &huge).is_none());
        let mut endless = bytes;
        let last = endless.len() - 4;
        endless[last..].copy_from_slice(&f32::NAN.to_le_bytes());
        assert!(read(0.01, GridSign::Closed, &endless).is_none());
    }

    #[test]
    fn the_key_changes_with_the_mesh_the_cell_and_the_sign() {
        let key = |mesh: &Mesh, cell, sign| SampledGrid::content_key(mesh, cell, sign);
        let (ring, (vertices, triangles)) = (ring(), generate::torus(0.1, 0.031, 24, 12));
        let other = Mesh::build(&vertices, &triangles).unwrap();
        let keys = [
            key(&ring, 0.01, GridSign::Closed),
            key(&ring, 0.011, GridSign::Closed),
            key(&ring, 0.01, GridSign::Winding),
            key(&other, 0.01, GridSign::Closed),
        ];
        assert_eq!(keys[0], key(&ring, 0.01, GridSign::Closed));
        assert!((1..4).all(|k| !keys[..k].contains(&keys[k])), "{keys:?}");
    }
}
