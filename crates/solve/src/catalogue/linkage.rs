//! Links that hang on one another by hinges, and their mass matrix in joint coordinates.
//!
//! Composite inertias [Featherstone08, Sec. 6.2], all at the world's origin, where inertias of a
//! subtree simply add up: `H_ab = s_aᵀ I_c s_b` with I_c the inertia of everything that moves with
//! the outer of the two coordinates. The first link floats: linear velocity of a reference point,
//! then angular velocity, both in world axes. Costs O(n²) products; nothing here moves.

use nalgebra::{Vector3, Vector6};
use stiction_math::spatial::Inertia10;

use crate::problem::Map;

/// Index of a link.
pub(super) type LinkId = usize;

struct Link {
    parent: Option<LinkId>,
    inertia: Inertia10,
}

/// A tree of links with a floating root.
pub(super) struct Linkage {
    links: Vec<Link>,
    /// The link that each coordinate moves first, and the motion it gives: angular, then linear
    /// at the world's origin.
    coordinates: Vec<(LinkId, Vector6<f64>)>,
}

impl Linkage {
    /// A floating root with its reference point.
    pub fn floating(inertia: Inertia10, reference: Vector3<f64>) -> Self {
        let axes = [Vector3::x(), Vector3::y(), Vector3::z()];
        let linear = axes.map(|e| (0, spatial(Vector3::zeros(), e)));
        let angular = axes.map(|e| (0, spatial(e, reference.cross(&e))));
        Self {
            links: vec![Link { parent: None, inertia }],
            coordinates: linear.into_iter().chain(angular).collect(),
        }
    }

    /// Hangs a link on another by a hinge about `axis` through `point` [m].
    pub fn hinge(
        &mut self,
        parent: LinkId,
        axis: Vector3<f64>,
        point: Vector3<f64>,
        inertia: Inertia10,
    ) -> LinkId {
        let link = self.links.len();
        self.links.push(Link { parent: Some(parent), inertia });
        self.coordinates.push((link, spatial(axis, point.cross(&axis))));
        link
    }

    /// Number of coordinates.
    pub fn dofs(&self) -> usize {
        self.coordinates.len()
    }

    /// Whether `link` hangs on `ancestor`, or is it.
    fn hangs_on(&self, link: LinkId, ancestor: LinkId) -> bool {
        let mut at = Some(link);
        while let Some(k) = at {
            if k == ancestor {
                return true;
            }
            at = self.links[k].parent;
        }
        false
    }

    /// Inertia of each link with everything that hangs on it.
    fn composites(&self) -> Vec<Inertia10> {
        let mut sums: Vec<Inertia10> = self.links.iter().map(|link| link.inertia).collect();
        for k in (0..self.links.len()).rev() {
            if let Some(parent) = self.links[k].parent {
                let sum = sums[k];
                sums[parent] += sum;
            }
        }
        sums
    }

    /// The mass matrix H, row-major [kg, kg·m, kg·m²].
    pub fn mass_matrix(&self) -> Vec<f64> {
        let (n, composites) = (self.dofs(), self.composites());
        let mut H = vec![0.0; n * n];
        for (b, (outer, s_b)) in self.coordinates.iter().enumerate() {
            let momentum = composites[*outer].momentum(s_b);
            for (a, (inner, s_a)) in self.coordinates.iter().enumerate().take(b + 1) {
                if self.hangs_on(*outer, *inner) {
                    let h = s_a.dot(&momentum);
                    H[a * n + b] = h;
                    H[b * n + a] = h;
                }
            }
        }
        H
    }

    /// Generalized force [N, N·m] of a uniform acceleration field [m/s²] such as gravity.
    pub fn field_force(&self, acceleration: Vector3<f64>) -> Vec<f64> {
        let composites = self.composites();
        let field = spatial(Vector3::zeros(), acceleration);
        let force = |(link, s): &(LinkId, Vector6<f64>)| s.dot(&composites[*link].momentum(&field));
        self.coordinates.iter().map(force).collect()
    }

    /// The map from all coordinates to the spatial velocity of a link at the world's origin.
    pub fn link_map(&self, link: LinkId) -> Map {
        let n = self.dofs();
        let mut values = vec![0.0; 6 * n];
        for (a, (inner, s)) in self.coordinates.iter().enumerate() {
            if self.hangs_on(link, *inner) {
                for row in 0..6 {
                    values[row * n + a] = s[row];
                }
            }
        }
        Map::Matrix { rows: 6, values }
    }
}

fn spatial(angular: Vector3<f64>, linear: Vector3<f64>) -> Vector6<f64> {
    Vector6::new(angular.x, angular.y, angular.z, linear.x, linear.y, linear.z)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::SplitMix64;

    #[test]
    fn kinetic_energy_is_the_sum_over_the_links() {
        let mut rng = SplitMix64::new(11);
        let mut vector = || Vector3::from_fn(|_, _| rng.uniform(-1.0, 1.0));
        let mut inertias = Vec::new();
        let mut inertia = |p: Vector3<f64>| {
            let mut sum = Inertia10::default();
            for k in 0..4 {
                let corner = Vector3::from_fn(|i, _| if i == k { 0.3 } else { -0.1 });
                sum += Inertia10::point_mass(0.5, p + corner);
            }
            inertias.push(sum);
            sum
        };
        let mut linkage = Linkage::floating(inertia(vector()), vector());
        for parent in [0, 1, 0, 3] {
            let (axis, point) = (vector().normalize(), vector());
            let inertia = inertia(vector());
            linkage.hinge(parent, axis, point, inertia);
        }
        let n = linkage.dofs();
        let v: Vec<f64> = (0..n).map(|k| (2.1 * k as f64).cos()).collect();
        let H = linkage.mass_matrix();
        let by_matrix: f64 = (0..n * n).map(|k| 0.5 * v[k / n] * H[k] * v[k % n]).sum();
        let mut by_links = 0.0;
        for (link, inertia) in inertias.iter().enumerate() {
            let Map::Matrix { values, .. } = linkage.link_map(link) else { panic!() };
            let V = Vector6::from_fn(|row, _| {
                values[row * n..(row + 1) * n].iter().zip(&v).map(|(p, v)| p * v).sum::<f64>()
            });
            by_links += 0.5 * V.dot(&inertia.momentum(&V));
        }
        // About n² = 100 summands, each of the order of the sum at most.
        assert!((by_matrix - by_links).abs() <= 200.0 * f64::EPSILON * by_links);
    }

    #[test]
    fn a_uniform_field_pulls_with_the_whole_weight() {
        let mut linkage =
            Linkage::floating(Inertia10::point_mass(2.0, Vector3::x()), Vector3::zeros());
        linkage.hinge(
            0,
            Vector3::y(),
            Vector3::x(),
            Inertia10::point_mass(3.0, Vector3::x() * 2.0),
        );
        let force = linkage.field_force(Vector3::new(0.0, 0.0, -10.0));
        // Weight of 5 kg; about y it turns by (2·1 + 3·2)·10, about the hinge by 3·1·10.
        let expected = [0.0, 0.0, -50.0, 0.0, 80.0, 0.0, 30.0];
        for (found, expected) in force.iter().zip(expected) {
            assert!((found - expected).abs() <= 1e-13, "{force:?}");
        }
    }
}
