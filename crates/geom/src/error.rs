//! Errors of shapes, colliders, tetrahedral meshes and soft surfaces.

/// An invalid shape.
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
        /// The element that is counted.
        element: &'static str,
        /// Number given.
        found: usize,
        /// Number required.
        expected: usize,
    },
    /// A list that is too long for the shape.
    #[error("{shape}: {found} {element}; expected {expected}")]
    TooMany {
        /// Name of the shape, as in [`crate::SHAPES`].
        shape: &'static str,
        /// The element that is counted.
        element: &'static str,
        /// Number given.
        found: usize,
        /// Number required.
        expected: usize,
    },
    /// Points that lie in one plane (or on one line) and enclose no volume.
    #[error(
        "{shape}: {vertices} points lie in one plane to within {thickness} m; expected a solid thicker than round-off, {expected} m"
    )]
    Flat {
        /// Name of the shape, as in [`crate::SHAPES`].
        shape: &'static str,
        /// Number of points given.
        vertices: usize,
        /// Largest distance of a point from the best plane found [m].
        thickness: f64,
        /// The distance beyond which the points have a hull [m].
        expected: f64,
    },
    /// Points whose hull failed its check.
    #[error(
        "{shape}: the hull of {vertices} points is not a closed convex surface around all of them; expected finite points a few digits above round-off"
    )]
    Hull {
        /// Name of the shape, as in [`crate::SHAPES`].
        shape: &'static str,
        /// Number of points given.
        vertices: usize,
    },
    /// A face that refers to a vertex that does not exist.
    #[error("{shape}: face {face} refers to vertex {found}; expected an index below {vertices}")]
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
        "{shape}: {borders} edges do not join exactly two triangles, or the triangles cannot be oriented consistently; expected a closed surface"
    )]
    Open {
        /// Name of the shape, as in [`crate::SHAPES`].
        shape: &'static str,
        /// Number of edges at which the surface ends.
        borders: usize,
    },
    /// A surface that bounds no solid, and where it ends.
    #[error(
        "sdf: {borders} edges of the mesh do not join exactly two triangles, or the triangles cannot be oriented, near ({}, {}, {}) m; expected a closed mesh, or the sign by winding number", found[0], found[1], found[2]
    )]
    OpenAt {
        /// Number of edges at which the surface ends.
        borders: usize,
        /// Middle of the first of them [m].
        found: [f64; 3],
    },
    /// Two triangles of a mesh that pass through each other.
    #[error(
        "sdf: triangles {} and {} of the mesh cross at ({}, {}, {}) m; expected a mesh that does not cross itself, or the sign by winding number", triangles[0], triangles[1], found[0], found[1], found[2]
    )]
    Crossing {
        /// The triangles, after welding.
        triangles: [u32; 2],
        /// A point that both share [m].
        found: [f64; 3],
    },
    /// A grid that does not fit into the memory allowed.
    #[error(
        "sdf: a grid with cells of {cell} m needs {bytes:.0} bytes; expected at most {most:.0}, hence larger cells"
    )]
    Memory {
        /// Edge of a cell [m].
        cell: f64,
        /// Memory needed, or a lower bound of it [bytes].
        bytes: f64,
        /// Memory allowed [bytes].
        most: f64,
    },
    /// A surface of too many cells.
    #[error(
        "sdf: a surface with cells of {width} m needs {found:.0} of them; expected at most {most:.0}"
    )]
    Cells {
        /// Edge of a cell [m].
        width: f64,
        /// Number of cells.
        found: f64,
        /// Most cells.
        most: f64,
    },
    /// A point of a profile that is not in the half plane.
    #[error("sdf: point {index} of the profile = ({}, {}) m; expected finite (ρ, z) with ρ ≥ 0", found[0], found[1])]
    ProfilePoint {
        /// Index of the point.
        index: usize,
        /// The point given [m].
        found: [f64; 2],
    },
    /// Two neighbouring points of a profile that coincide.
    #[error("sdf: points {index} and the next of the profile coincide at ({}, {}) m; expected different points", found[0], found[1])]
    ProfileEdge {
        /// Index of the first point.
        index: usize,
        /// The point [m].
        found: [f64; 2],
    },
    /// A polygon that crosses itself.
    #[error("sdf: the profile crosses itself at (ρ, z) = ({}, {}) m; expected a simple polygon", found[0], found[1])]
    ProfileCrossing {
        /// The point [m].
        found: [f64; 2],
    },
    /// A rounding that is larger than the solid.
    #[error("sdf: a radius of {found} m; expected at most {most} m")]
    Rounding {
        /// The radius given [m].
        found: f64,
        /// The largest possible one [m].
        most: f64,
    },
    /// A thread that does not exist or does not hold.
    #[error("sdf: {parameter} = {found} m; expected {expected} {limit} m")]
    Thread {
        /// Name of the parameter.
        parameter: &'static str,
        /// The value found [m].
        found: f64,
        /// The relation that it must have to the limit.
        expected: &'static str,
        /// The limit [m].
        limit: f64,
    },
    /// A solid without bounds.
    #[error("{shape}: the solid is empty or has no bounds; expected a bounded solid")]
    Unbounded {
        /// Name of the shape, as in [`crate::SHAPES`].
        shape: &'static str,
    },
    /// A part that the shape cannot hold.
    #[error("{shape}: part {index} is a {found}; expected {expected}")]
    Part {
        /// Name of the shape, as in [`crate::SHAPES`].
        shape: &'static str,
        /// Index of the part in the list given.
        index: usize,
        /// The shape given.
        found: &'static str,
        /// The permitted shapes.
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
        /// The error of its shape.
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
    /// An explicit pair refers to a collider that does not exist, or twice to one collider.
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

/// An invalid tetrahedral mesh.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum TetMeshError {
    /// There are no elements.
    #[error("tetrahedral mesh: no elements; expected at least one")]
    Empty,
    /// A coordinate that is not finite.
    #[error("tetrahedral mesh: vertex {vertex} = ({}, {}, {}) m; expected finite coordinates", found[0], found[1], found[2])]
    Vertex {
        /// Index of the vertex.
        vertex: usize,
        /// The coordinates given [m].
        found: [f64; 3],
    },
    /// An element that refers to a vertex that does not exist.
    #[error(
        "tetrahedral mesh: element {element} refers to vertex {found}; expected an index below {vertices}"
    )]
    Index {
        /// Index of the element.
        element: usize,
        /// The vertex index found.
        found: u32,
        /// Number of vertices given.
        vertices: usize,
    },
    /// An element without volume.
    #[error(
        "tetrahedral mesh: element {element} with vertices {corners:?} has a volume of {volume} m³ at a longest edge of {longest} m; expected an element with volume"
    )]
    Flat {
        /// Index of the element.
        element: usize,
        /// Its vertices.
        corners: [u32; 4],
        /// Its volume [m³].
        volume: f64,
        /// Its longest edge [m].
        longest: f64,
    },
    /// A vertex that belongs to no element.
    #[error(
        "tetrahedral mesh: vertex {vertex} belongs to no element ({unused} such vertices in all); expected every vertex to be used"
    )]
    Unused {
        /// Index of the first such vertex.
        vertex: usize,
        /// Number of such vertices.
        unused: usize,
    },
    /// A face of more than two elements, or of two on the same side of it.
    #[error(
        "tetrahedral mesh: the face of vertices {corners:?} belongs to elements {elements:?}; expected one, or two on its two sides"
    )]
    Face {
        /// Vertices of the face, in ascending order.
        corners: [u32; 3],
        /// The elements.
        elements: Vec<usize>,
    },
    /// An edge of the surface that does not join exactly two triangles.
    #[error(
        "tetrahedral mesh: the edge between vertices {} and {} joins {triangles} triangles of the surface; expected two (a manifold)", ends[0], ends[1]
    )]
    Edge {
        /// Its ends.
        ends: [u32; 2],
        /// How many triangles of the surface it joins.
        triangles: usize,
    },
    /// A vertex at which parts of the surface meet that share no edge there.
    #[error(
        "tetrahedral mesh: parts of the surface meet in vertex {vertex} alone; expected one fan of triangles around it (a manifold)"
    )]
    Pinched {
        /// Index of the vertex.
        vertex: usize,
    },
    /// A length or a factor that is not a positive, finite number.
    #[error("tetrahedral mesh: {parameter} = {found}; expected a finite number > 0")]
    Length {
        /// Name of the parameter.
        parameter: &'static str,
        /// The value given.
        found: f64,
    },
    /// A number of cells that makes no solid.
    #[error("tetrahedral mesh: {parameter} = {found}; expected at least {expected}")]
    Count {
        /// Name of the parameter.
        parameter: &'static str,
        /// The number given.
        found: usize,
        /// The least number.
        expected: usize,
    },
    /// More elements than a generator allows.
    #[error("tetrahedral mesh: more than {most} elements; expected fewer cells")]
    TooMany {
        /// Most elements allowed.
        most: usize,
    },
    /// A wall that leaves no hollow.
    #[error(
        "tetrahedral mesh: {solid} with thickness = {thickness} m and radius = {radius} m; expected a thickness below the radius"
    )]
    Thickness {
        /// Name of the solid.
        solid: &'static str,
        /// Thickness of its wall [m].
        thickness: f64,
        /// Its outer radius [m].
        radius: f64,
    },
}

/// An invalid surface of a soft body.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum SoftSurfaceError {
    /// A triangle that refers to a node of another body.
    #[error(
        "soft surface {surface}: triangle {triangle} refers to node {found}; expected one of {}..{}", nodes.start, nodes.end
    )]
    Node {
        /// Index of the surface.
        surface: u32,
        /// Index of the triangle.
        triangle: usize,
        /// The node index found.
        found: u32,
        /// Nodes of the body.
        nodes: std::ops::Range<usize>,
    },
    /// There are no triangles.
    #[error("soft surface {surface}: no triangles; expected a closed surface")]
    Empty {
        /// Index of the surface.
        surface: u32,
    },
    /// The number of rest positions differs from the number of nodes.
    #[error("soft surface {surface}: {found} rest positions; expected {expected}, one per node")]
    Rest {
        /// Index of the surface.
        surface: u32,
        /// Number given.
        found: usize,
        /// Number of nodes.
        expected: usize,
    },
    /// A rest position that is not finite.
    #[error("soft surface {surface}: rest position of node {node} = ({}, {}, {}) m; expected finite coordinates", found[0], found[1], found[2])]
    Position {
        /// Index of the surface.
        surface: u32,
        /// The node.
        node: usize,
        /// Its rest position [m].
        found: [f64; 3],
    },
    /// An edge that does not join two consistently oriented triangles.
    #[error(
        "soft surface {surface}: the edge between nodes {} and {} joins {triangles} triangles, or two of opposite orientation; expected a closed surface that faces outwards", ends[0], ends[1]
    )]
    Edge {
        /// Index of the surface.
        surface: u32,
        /// Its ends.
        ends: [u32; 2],
        /// How many triangles it joins.
        triangles: usize,
    },
    /// A margin that is negative or not finite.
    #[error("soft surface {surface}: margin = {found} m; expected a finite number ≥ 0")]
    Margin {
        /// Index of the surface.
        surface: u32,
        /// The margin given [m].
        found: f64,
    },
}

/// An invalid pressure field, or a shape that cannot have one.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum PressureError {
    /// A modulus that is not a positive, finite number.
    #[error(
        "compliance: modulus = {found} Pa; expected a finite number > 0, or no compliance for a rigid shape"
    )]
    Modulus {
        /// The modulus given [Pa].
        found: f64,
    },
    /// A length that is not a positive, finite number.
    #[error("compliance: {parameter} = {found} m; expected a finite number > 0")]
    Length {
        /// Name of the parameter.
        parameter: &'static str,
        /// The length given [m].
        found: f64,
    },
    /// A compliant half space without a thickness.
    #[error(
        "compliance: a plane has no thickness; expected the depth at which its pressure is that of the modulus"
    )]
    NoThickness,
    /// A mesh that is not closed.
    #[error(
        "compliance: {borders} edges of the mesh do not join two triangles; expected a closed mesh"
    )]
    Open {
        /// Number of edges of one triangle.
        borders: usize,
    },
    /// A shape of a kind that takes no part in patches.
    #[error(
        "compliance: the shape is a {found}; expected a box, capsule, convex hull, cylinder, ellipsoid, closed mesh, plane, sdf or sphere (compounds: their parts one by one)"
    )]
    Shape {
        /// Name of the kind.
        found: &'static str,
    },
    /// A resolution that asks for too many elements, or for none.
    #[error(
        "compliance: resolution {resolution} m of a {shape}; expected one that makes between 1 and {} elements",
        crate::pressure::MOST_ELEMENTS
    )]
    Resolution {
        /// Name of the shape.
        shape: &'static str,
        /// The resolution [m].
        resolution: f64,
    },
}
