//! What can be wrong with a shape or a set of colliders, in the author's words.

/// A shape that cannot exist.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ShapeError {
    /// A length that is not a positive, finite number.
    #[error("{shape}: {parameter} = {found} m; expected a finite number > 0")]
    Length {
        /// Name of the shape, as in [`crate::SHAPES`].
        shape: &'static str,
        /// Name of the parameter.
        parameter: &'static str,
        /// The value given [m].
        found: f64,
    },
    /// A coordinate that is not finite.
    #[error("{shape}: vertex {index} = ({}, {}, {}) m; expected finite coordinates", found[0], found[1], found[2])]
    Vertex {
        /// Name of the shape, as in [`crate::SHAPES`].
        shape: &'static str,
        /// Index of the vertex in the list given.
        index: usize,
        /// The coordinates given [m].
        found: [f64; 3],
    },
    /// A list that is too short to make a shape.
    #[error("{shape}: {found} {element}; expected at least {expected}")]
    TooFew {
        /// Name of the shape, as in [`crate::SHAPES`].
        shape: &'static str,
        /// What is counted.
        element: &'static str,
        /// How many were given.
        found: usize,
        /// How many are needed.
        expected: usize,
    },
    /// A list that is too long for the shape.
    #[error("{shape}: {found} {element}; expected {expected}")]
    TooMany {
        /// Name of the shape, as in [`crate::SHAPES`].
        shape: &'static str,
        /// What is counted.
        element: &'static str,
        /// How many were given.
        found: usize,
        /// How many are needed.
        expected: usize,
    },
    /// Points that lie in one plane (or on one line) and enclose no volume.
    #[error(
        "{shape}: {vertices} points lie in one plane to within {thickness} m; expected a solid"
    )]
    Flat {
        /// Name of the shape, as in [`crate::SHAPES`].
        shape: &'static str,
        /// Number of points given.
        vertices: usize,
        /// Largest distance of a point from the best plane found [m].
        thickness: f64,
    },
    /// A face that names a vertex that does not exist.
    #[error("{shape}: face {face} names vertex {found}; there are {vertices} vertices")]
    Index {
        /// Name of the shape, as in [`crate::SHAPES`].
        shape: &'static str,
        /// Index of the face in the list given.
        face: usize,
        /// The index found.
        found: usize,
        /// Number of vertices given.
        vertices: usize,
    },
    /// A surface that bounds no solid, where a solid is needed.
    #[error(
        "{shape}: {borders} edges do not join exactly two triangles, or its sides cannot be told apart; expected a closed surface"
    )]
    Open {
        /// Name of the shape, as in [`crate::SHAPES`].
        shape: &'static str,
        /// Number of edges at which the surface ends.
        borders: usize,
    },
    /// A part that the shape cannot hold.
    #[error("{shape}: part {index} is a {found}; expected {expected}")]
    Part {
        /// Name of the shape, as in [`crate::SHAPES`].
        shape: &'static str,
        /// Index of the part in the list given.
        index: usize,
        /// What was given.
        found: &'static str,
        /// What the shape takes.
        expected: &'static str,
    },
}

/// A set of colliders that cannot be built.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ColliderError {
    /// The shape of a collider cannot exist.
    #[error("collider {collider}: {source}")]
    Shape {
        /// Index of the collider.
        collider: u32,
        /// What is wrong with its shape.
        source: ShapeError,
    },
    /// The pose of a collider in its frame is not finite.
    #[error(
        "collider {collider}: its pose in frame {frame} is not finite; expected finite numbers"
    )]
    Pose {
        /// Index of the collider.
        collider: u32,
        /// The frame that carries it.
        frame: u32,
    },
    /// The margin of a collider is negative or not finite.
    #[error("collider {collider}: margin = {found} m; expected a finite number ≥ 0")]
    Margin {
        /// Index of the collider.
        collider: u32,
        /// The margin given [m].
        found: f64,
    },
    /// An explicit pair names a collider that does not exist, or one collider twice.
    #[error("pair ({a}, {b}): expected two different colliders out of {colliders}")]
    Pair {
        /// First collider named.
        a: u32,
        /// Second collider named.
        b: u32,
        /// Number of colliders in the set.
        colliders: usize,
    },
}
