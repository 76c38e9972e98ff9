//! Ports: the velocities of a subsystem that constraints read.
//!
//! `J = C P`: a port P maps the velocities of one subsystem to those of a point, a node or a
//! link; C maps ports to the rows of a constraint. Solvers that split by link need the factors.

/// Index of a subsystem of a problem.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SubsystemId(pub usize);

/// Index of a port of a problem.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PortId(pub usize);

/// How a port reads the velocities of its subsystem.
#[derive(Clone, Debug, PartialEq)]
pub enum Map {
    /// All of them.
    Whole,
    /// A run of coordinates: a joint, for example.
    Coordinates {
        /// The first.
        first: usize,
        /// How many.
        count: usize,
    },
    /// The spatial velocity of a link of a tree, angular part first, at the world's origin.
    Link(usize),
    /// A weighted sum of node velocities of a sparse subsystem: barycentric weights of a face.
    Nodes(Vec<(usize, f64)>),
    /// The same for at most four nodes, stored inline: a mesh vertex, or a point of a face or of a
    /// tetrahedron. A node of weight zero is ignored.
    Point {
        /// The nodes.
        nodes: [u32; 4],
        /// Their weights [-].
        weights: [f64; 4],
    },
    /// Any linear map, row-major.
    Matrix {
        /// Number of rows.
        rows: usize,
        /// Row-major values, one column per coordinate of the subsystem.
        values: Vec<f64>,
    },
}

impl Map {
    /// One node of a sparse subsystem.
    pub fn node(node: u32) -> Self {
        Self::Point { nodes: [node, 0, 0, 0], weights: [1.0, 0.0, 0.0, 0.0] }
    }

    pub(super) fn describe(&self) -> &'static str {
        match self {
            Self::Whole => "whole",
            Self::Coordinates { .. } => "run of coordinates",
            Self::Link(_) => "link",
            Self::Nodes(_) | Self::Point { .. } => "node",
            Self::Matrix { .. } => "matrix",
        }
    }
}

/// A port: a subsystem and how it is read.
#[derive(Clone, Debug, PartialEq)]
pub struct Port {
    /// The subsystem.
    pub subsystem: SubsystemId,
    /// The map from its velocities.
    pub map: Map,
}
