//! Layers of prisms over a triangulation, each split into three tetrahedra so that neighbours conform.
//!
//! The diagonal of each side of a prism rises from the end with the smaller number to the one with the
//! larger, so that both prisms at the side agree.

/// Discs by rings: the first vertex is the centre, ring k of `counts` has vertices at equal angles.
/// Returns the rings and the fractions of a turn of the vertices, and triangles counter-clockwise.
pub fn disc(counts: &[usize]) -> (Vec<(usize, f64)>, Vec<[u32; 3]>) {
    let (mut places, mut triangles) = (vec![(0, 0.0)], Vec::new());
    let (mut inner, mut m) = (0, 1);
    for (ring, &M) in counts.iter().enumerate() {
        let outer = places.len();
        places.extend((0..M).map(|j| (ring + 1, j as f64 / M as f64)));
        let at = |first: usize, i: usize, n: usize| (first + i % n) as u32;
        if ring == 0 {
            triangles.extend((0..M).map(|j| [0, at(outer, j, M), at(outer, j + 1, M)]));
        } else {
            // Advance around both rings at once, along the one whose next side has its midpoint first.
            let (mut i, mut j) = (0, 0);
            while i < m || j < M {
                let (p, q) = (at(inner, i, m), at(outer, j, M));
                if j < M && (i == m || (2 * j + 1) * m <= (2 * i + 1) * M) {
                    triangles.push([p, q, at(outer, j + 1, M)]);
                    j += 1;
                } else {
                    triangles.push([p, q, at(inner, i + 1, m)]);
                    i += 1;
                }
            }
        }
        (inner, m) = (outer, M);
    }
    (places, triangles)
}

/// Tetrahedra of `layers` layers of prisms over triangles of `vertices` vertices. Vertex v of level k
/// has the number v + k · `vertices`. Volumes have either sign.
pub fn prisms(vertices: usize, triangles: &[[u32; 3]], layers: usize) -> Vec<[u32; 4]> {
    let mut tetrahedra = Vec::with_capacity(3 * layers * triangles.len());
    for layer in 0..layers {
        let (low, high) = ((layer * vertices) as u32, ((layer + 1) * vertices) as u32);
        for t in triangles {
            let mut sorted = *t;
            sorted.sort_unstable();
            let [a, b, c] = sorted;
            tetrahedra.push([low + a, low + b, low + c, high + c]);
            tetrahedra.push([low + a, low + b, high + b, high + c]);
            tetrahedra.push([low + a, high + a, high + b, high + c]);
        }
    }
    tetrahedra
}
