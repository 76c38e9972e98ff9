//! Elastic blocks of linear tetrahedra on a regular grid.
//!
//! Each cell is cut into the six tetrahedra of the Kuhn subdivision. Masses are lumped; the
//! stiffness is that of linear elasticity, K_ij = V (λ g_i g_jᵀ + μ g_j g_iᵀ + μ (g_i·g_j) 1), g the
//! gradients of the barycentric coordinates [Han23, Eq. (7)]. Nodes count along x first, then y,
//! then z.

use nalgebra::{Matrix3, Vector3};
use stiction_math::block;

/// Orders in which the Kuhn subdivision steps along the axes, from the low corner of a cell.
pub(super) const STEPS: [[usize; 3]; 6] =
    [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]];

/// An elastic block with its edges along the axes and its low corner at the origin.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ElasticGrid {
    /// Cells along each axis.
    pub cells: [usize; 3],
    /// Edges [m].
    pub size: [f64; 3],
    /// Young's modulus [Pa].
    pub young: f64,
    /// Poisson's ratio [-].
    pub poisson: f64,
    /// Density [kg/m³].
    pub density: f64,
}

impl ElasticGrid {
    /// Nodes along each axis.
    pub fn nodes(&self) -> [usize; 3] {
        self.cells.map(|c| c + 1)
    }

    /// Number of nodes.
    pub fn count(&self) -> usize {
        self.nodes().iter().product()
    }

    /// Index of the node at a grid point.
    pub fn index(&self, p: [usize; 3]) -> usize {
        let n = self.nodes();
        (p[2] * n[1] + p[1]) * n[0] + p[0]
    }

    /// Position of a node [m].
    pub fn place(&self, p: [usize; 3]) -> Vector3<f64> {
        Vector3::from_fn(|axis, _| self.size[axis] * p[axis] as f64 / self.cells[axis] as f64)
    }

    /// Lumped masses [kg] and the stiffness K [N/m].
    pub fn matrices(&self) -> (Vec<f64>, block::Symmetric) {
        let mut pairs = Vec::new();
        self.for_each_element(|nodes, _, _| {
            pairs.extend((0..4).flat_map(|i| (0..i).map(move |j| (nodes[i], nodes[j]))));
        });
        pairs.sort_unstable();
        pairs.dedup();
        let pattern = block::Pattern::new(&vec![3; self.count()], pairs);
        let (mut masses, mut K) = (vec![0.0; self.count()], block::Symmetric::zeros(&pattern));
        self.for_each_element(|nodes, volume, gradients| {
            for i in 0..4 {
                masses[nodes[i]] += 0.25 * self.density * volume;
                for j in 0..4 {
                    let (row, col) = (nodes[i], nodes[j]);
                    let Some(id) = (row >= col).then(|| pattern.find(row, col)).flatten() else {
                        continue;
                    };
                    let (g, h) = (&gradients[i], &gradients[j]);
                    let block = row_major(&lame(self.young, self.poisson, volume, g, h));
                    K.block_mut(id).iter_mut().zip(block).for_each(|(k, b)| *k += b);
                }
            }
        });
        (masses, K)
    }

    /// Calls `f` with the nodes, the volume [m³] and the gradients [1/m] of every tetrahedron.
    fn for_each_element(&self, mut f: impl FnMut([usize; 4], f64, [Vector3<f64>; 4])) {
        let cells = self.cells;
        for cell in 0..cells.iter().product() {
            let low = [cell % cells[0], cell / cells[0] % cells[1], cell / (cells[0] * cells[1])];
            for order in STEPS {
                let mut corners = [low; 4];
                for (k, axis) in order.into_iter().enumerate() {
                    corners[k + 1] = corners[k];
                    corners[k + 1][axis] += 1;
                }
                let (volume, gradients) = tetrahedron(corners.map(|p| self.place(p)));
                f(corners.map(|p| self.index(p)), volume, gradients);
            }
        }
    }

    /// `A = M + weight K` [kg], for a weight of δt (δt + β) [s²] with Rayleigh damping β K.
    pub fn implicit_matrix(&self, weight: f64) -> (Vec<f64>, block::Symmetric) {
        let (masses, mut A) = self.matrices();
        A.values_mut().iter_mut().for_each(|k| *k *= weight);
        for (node, mass) in masses.iter().enumerate() {
            let id = A.pattern().diagonal(node);
            A.block_mut(id).iter_mut().step_by(4).for_each(|a| *a += mass);
        }
        (masses, A)
    }

    /// Estimate of the compliance `trace((A⁻¹)_ii)/3` [1/kg] of each node: that of its diagonal block, times
    /// a factor for the motion of the neighbours, plus the inverse of the total mass.
    pub fn node_compliance(&self, masses: &[f64], A: &block::Symmetric) -> Vec<f64> {
        const SOFTER: f64 = 2.0;
        let whole = 1.0 / masses.iter().sum::<f64>();
        (0..self.count())
            .map(|k| {
                let D = Matrix3::from_row_slice(A.block(A.pattern().diagonal(k)));
                let own = D.try_inverse().map_or(0.0, |inverse| inverse.trace() / 3.0);
                SOFTER * own + whole
            })
            .collect()
    }
}

/// Volume [m³] and gradients of the barycentric coordinates [1/m].
pub(super) fn tetrahedron(p: [Vector3<f64>; 4]) -> (f64, [Vector3<f64>; 4]) {
    let [a, b, c] = [p[1] - p[0], p[2] - p[0], p[3] - p[0]];
    let six = a.dot(&b.cross(&c));
    let others = [b.cross(&c) / six, c.cross(&a) / six, a.cross(&b) / six];
    let first = -(others[0] + others[1] + others[2]);
    (six.abs() / 6.0, [first, others[0], others[1], others[2]])
}

/// The block of nodes with gradients `g` and `h` [N/m].
pub(super) fn lame(
    young: f64,
    poisson: f64,
    volume: f64,
    g: &Vector3<f64>,
    h: &Vector3<f64>,
) -> Matrix3<f64> {
    let lambda = young * poisson / ((1.0 + poisson) * (1.0 - 2.0 * poisson));
    let mu = 0.5 * young / (1.0 + poisson);
    let isotropic = Matrix3::from_diagonal_element(mu * g.dot(h));
    volume * (lambda * g * h.transpose() + mu * h * g.transpose() + isotropic)
}

/// A 3 × 3 matrix row by row.
pub(super) fn row_major(matrix: &Matrix3<f64>) -> [f64; 9] {
    std::array::from_fn(|k| matrix[(k / 3, k % 3)])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_unit_tetrahedron_has_the_stiffness_of_the_textbook() {
        // E = 1, ν = 1/4: Lamé parameters 2/5 and 2/5, volume 1/6, entries by hand.
        let corners = [Vector3::zeros(), Vector3::x(), Vector3::y(), Vector3::z()];
        let (volume, g) = tetrahedron(corners);
        let K = |i: usize, j: usize| lame(1.0, 0.25, volume, &g[i], &g[j]);
        let bound = 8.0 * f64::EPSILON;
        for axis in 0..3 {
            assert!((K(0, 0)[(axis, axis)] - 1.0 / 3.0).abs() <= bound);
            let along = if axis == 0 { 0.2 } else { 1.0 / 15.0 };
            assert!((K(1, 1)[(axis, axis)] - along).abs() <= bound);
        }
        assert!((K(0, 1)[(0, 0)] + 0.2).abs() <= bound);
        assert!((K(1, 2)[(0, 1)] - 1.0 / 15.0).abs() <= bound);
        let trace: f64 = (0..4).map(|i| K(i, i).trace()).sum();
        assert!((trace - 2.0).abs() <= 12.0 * bound);
    }

    #[test]
    fn a_rigid_motion_meets_no_stiffness() {
        let corners = [[0.1, 0.2, 0.0], [0.9, 0.1, 0.2], [0.3, 1.1, 0.1], [0.2, 0.3, 0.8]];
        let p = corners.map(Vector3::from);
        let (volume, g) = tetrahedron(p);
        let (v, w) = (Vector3::new(0.3, -0.4, 0.2), Vector3::new(-0.5, 0.1, 0.7));
        for i in 0..4 {
            let force: Vector3<f64> =
                (0..4).map(|j| lame(1.0, 0.3, volume, &g[i], &g[j]) * (v + w.cross(&p[j]))).sum();
            // Sums of a few dozen products of order one.
            assert!(force.norm() <= 100.0 * f64::EPSILON, "{force}");
        }
    }

    #[test]
    fn a_block_weighs_what_its_volume_does_and_moves_as_one_without_a_force() {
        let grid = ElasticGrid {
            cells: [3, 2, 2],
            size: [0.3, 0.1, 0.2],
            young: 1e5,
            poisson: 0.3,
            density: 500.0,
        };
        let (masses, K) = grid.matrices();
        let weight = 500.0 * 0.3 * 0.1 * 0.2;
        assert!((masses.iter().sum::<f64>() - weight).abs() <= 1e-14 * weight * 36.0);
        let v: Vec<f64> = (0..grid.count()).flat_map(|_| [0.3, -1.0, 0.7]).collect();
        let mut force = vec![0.0; v.len()];
        K.mul(&v, &mut force);
        let stiffest = K.values().iter().fold(0.0, |m: f64, k| m.max(k.abs()));
        assert!(force.iter().all(|f| f.abs() <= 100.0 * f64::EPSILON * stiffest));
    }
}
