//! Nodalization: gives every constraint a node of its own, so that their solves decouple.
//!
//! A contact acts on a mesh node *directly* if it is the only constraint of that node, touches
//! nothing else, and has an orthogonal Jacobian block there: a diagonal surrogate with equal entries
//! on the node is then a multiple of the identity in the contact frame [Lee23, Prop. 3]. Every
//! other constraint gets one *virtual node* with the constraint's own velocity y, tied to `J v` by
//! a viscous coupling k_v [Lee23, Eq. (15)].
//!
//! Deviation: one relative virtual node per constraint, in the constraint's frame, replaces the
//! one or two Cartesian nodes of the paper; it halves the unknowns and works for joints too.
//! Deviation: the paper does not say that a node in two contacts breaks its Eq. (25); here such a
//! node is never used directly.

use crate::contact::DIM;
use crate::problem::{Problem, dot};
use crate::residual::compliance_scale;

/// Largest deviation of `J Jᵀ` from the identity [-] at which J counts as orthogonal.
const ORTHOGONAL: f64 = 1e-12;

/// Where a constraint acts.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Node {
    /// On a block of coordinates.
    Direct {
        /// First coordinate of the node.
        first: usize,
    },
    /// On a virtual node.
    Virtual {
        /// First unknown of the node, after the velocities.
        first: usize,
        /// The coupling k_v [kg].
        coupling: f64,
    },
}

/// The nodes of all constraints.
#[derive(Clone, Debug, Default)]
pub(super) struct Nodes {
    pub of_constraint: Vec<Node>,
    /// Velocities and virtual rows together.
    pub unknowns: usize,
    /// Constraints with a virtual node.
    pub virtual_constraints: Vec<u32>,
}

impl Nodes {
    /// Finds the nodes of a problem. `coupling` is `k_v` per 1/w [-]; `absolute` [kg], if
    /// positive, is the same k_v for all.
    pub fn find(&mut self, problem: &Problem, coupling: f64, absolute: f64) {
        self.of_constraint.clear();
        self.virtual_constraints.clear();
        self.unknowns = problem.dofs();
        for i in 0..problem.constraints().len() {
            let node = direct(problem, i).unwrap_or_else(|| {
                let first = self.unknowns;
                self.unknowns += problem.law(i).dim();
                self.virtual_constraints.push(i as u32);
                let relative = coupling / compliance_scale(problem, i);
                let coupling = if absolute > 0.0 { absolute } else { relative };
                Node::Virtual { first, coupling }
            });
            self.of_constraint.push(node);
        }
    }

    /// Each virtual constraint with the first unknown of its node and its coupling [kg].
    pub fn virtual_nodes(&self) -> impl Iterator<Item = (usize, usize, f64)> + '_ {
        self.virtual_constraints.iter().filter_map(|&i| match self.of_constraint[i as usize] {
            Node::Virtual { first, coupling } => Some((i as usize, first, coupling)),
            Node::Direct { .. } => None,
        })
    }

    /// First coordinates of the nodes that contacts use directly.
    pub fn direct_nodes(&self) -> impl Iterator<Item = usize> + '_ {
        self.of_constraint.iter().filter_map(|node| match node {
            Node::Direct { first } => Some(*first),
            Node::Virtual { .. } => None,
        })
    }
}

/// The node that a contact may use directly.
pub(super) fn direct(problem: &Problem, constraint: usize) -> Option<Node> {
    let jacobian = problem.jacobian();
    let [entry] = jacobian.constraint_entries(constraint) else { return None };
    let columns = jacobian.block_range(entry.block as usize);
    let alone = jacobian.column_entries(entry.block as usize).len() == 1;
    if !problem.law(constraint).is_contact() || columns.len() != DIM || !alone {
        return None;
    }
    let J = jacobian.block(entry);
    let row = |d: usize| &J[d * DIM..(d + 1) * DIM];
    let orthogonal = (0..DIM).all(|p| {
        (0..=p).all(|q| (dot(row(p), row(q)) - f64::from(u8::from(p == q))).abs() <= ORTHOGONAL)
    });
    orthogonal.then_some(Node::Direct { first: columns.start })
}
