//! Mesh connectivity: the block pattern of the stiffness and, for each block, the elements that
//! contribute to it. Computed once per body.
//!
//! Element contributions are summed block by block in this order, so that blocks can be processed in
//! parallel and have the same bits for every number of threads.

use super::spec::SoftSpec;
use stiction_math::block::Pattern;

/// Block pattern and incidences of a soft body.
#[derive(Clone, Debug)]
pub(crate) struct MeshTopology {
    /// One 3×3 block per pair of vertices that share an element.
    pub pattern: Pattern,
    /// First incidence of each stored block; the last entry is the number of incidences.
    start: Vec<u32>,
    /// Incidences by blocks, elements ascending.
    incidences: Vec<Incidence>,
    /// Index of each vertex's diagonal block.
    pub diagonal: Vec<u32>,
    /// Row and column of each stored block.
    pub places: Vec<[u32; 2]>,
}

/// A block of an element's stiffness that contributes to a stored block, packed: 2 bits each for the
/// corners of row and column, the element index in the higher bits.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Incidence(u32);

/// Upper bound of the number of elements of one body, so that an incidence fits in 32 bits.
pub(crate) const MAX_ELEMENTS: usize = 1 << 28;

impl Incidence {
    fn new(element: usize, row: usize, column: usize) -> Self {
        Self((element as u32) << 4 | (row as u32) << 2 | column as u32)
    }

    #[inline(always)]
    pub fn element(self) -> usize {
        (self.0 >> 4) as usize
    }

    /// Corner of the element that is the vertex of the block's row.
    #[inline(always)]
    pub fn row(self) -> usize {
        (self.0 >> 2 & 3) as usize
    }

    /// Corner of the element that is the vertex of the block's column.
    #[inline(always)]
    pub fn column(self) -> usize {
        (self.0 & 3) as usize
    }
}

impl MeshTopology {
    pub fn new(spec: &SoftSpec) -> Self {
        let n = spec.vertices.len();
        let pairs = spec.tetrahedra.iter().flat_map(|corners| {
            (0..4)
                .flat_map(move |a| (0..a).map(move |b| (corners[a] as usize, corners[b] as usize)))
        });
        let pattern = Pattern::new(&vec![3; n], pairs);
        let mut lists: Vec<(u32, Incidence)> = Vec::with_capacity(10 * spec.tetrahedra.len());
        for (element, corners) in spec.tetrahedra.iter().enumerate() {
            for a in 0..4 {
                for b in (0..4).filter(|&b| corners[b] <= corners[a]) {
                    let (row, column) = (corners[a] as usize, corners[b] as usize);
                    if let Some(id) = pattern.find(row, column) {
                        lists.push((id.0 as u32, Incidence::new(element, a, b)));
                    }
                }
            }
        }
        lists.sort_by_key(|&(block, _)| block); // stable: elements stay in order
        let mut start = vec![0; pattern.n_entries() + 1];
        for &(block, _) in &lists {
            start[block as usize + 1] += 1;
        }
        for block in 0..pattern.n_entries() {
            start[block + 1] += start[block];
        }
        let incidences = lists.into_iter().map(|(_, incidence)| incidence).collect();
        let diagonal = (0..n).map(|vertex| pattern.diagonal(vertex).0 as u32).collect();
        let places = pattern.entries().map(|e| [e.row as u32, e.col as u32]).collect();
        Self { pattern, start, incidences, diagonal, places }
    }

    /// The element blocks that contribute to a stored block.
    #[inline(always)]
    pub fn block(&self, block: usize) -> &[Incidence] {
        &self.incidences[self.start[block] as usize..self.start[block + 1] as usize]
    }

    /// The elements around a vertex, with its corner in them.
    #[inline(always)]
    pub fn around(&self, vertex: usize) -> &[Incidence] {
        self.block(self.diagonal[vertex] as usize)
    }
}
