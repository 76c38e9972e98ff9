//! Trees of links connected by hinges, for the robots of the catalogue.
//!
//! All at the world's origin, where inertias of a subtree simply add up. The first link floats:
//! linear velocity of a reference point, then angular velocity, both in world axes.

use nalgebra::{Vector3, Vector6};
use stiction_math::spatial::Inertia10;

use crate::problem::Tree;

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

    /// The links as a tree of a problem, with what is added to the diagonal of its mass matrix.
    pub fn tree(&self, diagonal: &[f64]) -> Tree {
        let mut tree = Tree::new();
        for (k, link) in self.links.iter().enumerate() {
            let own = || (0..self.dofs()).filter(|a| self.coordinates[*a].0 == k);
            let subspace: Vec<_> = own().map(|a| self.coordinates[a].1).collect();
            let added: Vec<_> = own().map(|a| diagonal[a]).collect();
            tree.link(link.parent, &subspace, link.inertia, &added);
        }
        tree
    }

    /// Generalized force [N, N·m] of a uniform acceleration field [m/s²] such as gravity.
    pub fn field_force(&self, acceleration: Vector3<f64>) -> Vec<f64> {
        let composites = self.composites();
        let field = spatial(Vector3::zeros(), acceleration);
        let force = |(link, s): &(LinkId, Vector6<f64>)| s.dot(&composites[*link].momentum(&field));
        self.coordinates.iter().map(force).collect()
    }
}

fn spatial(angular: Vector3<f64>, linear: Vector3<f64>) -> Vector6<f64> {
    Vector6::new(angular.x, angular.y, angular.z, linear.x, linear.y, linear.z)
}

#[cfg(test)]
mod tests {
    use super::*;

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
