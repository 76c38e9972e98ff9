//! Errors found when a problem is built; afterwards it is valid.

/// Why a problem could not be built. Indices count from zero in the order of the builder's calls.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ProblemError {
    /// There is nothing to solve for.
    #[error("the problem has no degree of freedom; expected at least one subsystem")]
    Empty,
    /// An array has the wrong length.
    #[error("{what} of {owner} {index} has {found} entries; expected {expected}")]
    Length {
        /// The array.
        what: &'static str,
        /// Its owner: subsystem, port or constraint.
        owner: &'static str,
        /// Index of the owner.
        index: usize,
        /// Its length.
        found: usize,
        /// The length it should have.
        expected: usize,
    },
    /// A number is infinite or not a number.
    #[error("{what} of {owner} {index} holds {value} at entry {entry}; expected a finite number")]
    NotFinite {
        /// The array.
        what: &'static str,
        /// Its owner: subsystem, port or constraint.
        owner: &'static str,
        /// Index of the owner.
        index: usize,
        /// Index in the array.
        entry: usize,
        /// The number.
        value: f64,
    },
    /// A matrix that must be symmetric is not.
    #[error(
        "A of subsystem {subsystem} is not symmetric: entries ({row}, {column}) and \
         ({column}, {row}) are {found} and {mirror}; expected equal values"
    )]
    NotSymmetric {
        /// Index of the subsystem.
        subsystem: usize,
        /// Row of the entry.
        row: usize,
        /// Column of the entry.
        column: usize,
        /// The entry.
        found: f64,
        /// Its mirror.
        mirror: f64,
    },
    /// A cannot be factored.
    #[error(
        "A of subsystem {subsystem} is not positive definite; expected a mass matrix (plus \
         implicit damping and stiffness) with positive eigenvalues"
    )]
    NotPositiveDefinite {
        /// Index of the subsystem.
        subsystem: usize,
    },
    /// A subsystem, node, link or port that does not exist is referred to.
    #[error("{owner} {index} refers to {what} {found}; there are {count}")]
    Unknown {
        /// The referring object: port or constraint.
        owner: &'static str,
        /// Index of the owner.
        index: usize,
        /// The kind of the missing object.
        what: &'static str,
        /// The index found.
        found: usize,
        /// How many there are.
        count: usize,
    },
    /// A term of a constraint reads a subsystem that is not part of the problem.
    #[error(
        "term {term} of constraint {constraint} has no port; expected a port of a subsystem that \
         takes part in the problem"
    )]
    NoPort {
        /// Index of the constraint.
        constraint: usize,
        /// Index of the term within the constraint.
        term: usize,
    },
    /// A port reads a velocity that the kind of its subsystem does not have.
    #[error("port {port} reads a {map} of subsystem {subsystem}; that subsystem is {kind}")]
    WrongPort {
        /// Index of the port.
        port: usize,
        /// Its subsystem.
        subsystem: usize,
        /// The quantity that the port reads.
        map: &'static str,
        /// The structure of the subsystem.
        kind: &'static str,
    },
    /// A compliance is negative or uneven over the tangents of a contact.
    #[error("constraint {constraint} has compliance {found:?}; expected {expected}")]
    Compliance {
        /// Index of the constraint.
        constraint: usize,
        /// The values.
        found: Vec<f64>,
        /// The violated condition.
        expected: &'static str,
    },
    /// A constraint that no velocity can change.
    #[error(
        "constraint {constraint} acts on no velocity: its rows of J are zero and it has no \
         compliance; remove it or connect it to a subsystem that moves"
    )]
    NoEffect {
        /// Index of the constraint.
        constraint: usize,
    },
    /// A parent that does not come before its child.
    #[error("link {link} of subsystem {subsystem} has parent {parent}; expected an earlier link")]
    Parent {
        /// Index of the subsystem.
        subsystem: usize,
        /// Index of the link.
        link: usize,
        /// The parent found.
        parent: usize,
    },
    /// A kind of constraint that does not exist, or has parameters that its law does not admit.
    #[error("constraint {constraint}: {what} = {found}; expected {expected}")]
    Law {
        /// Index of the constraint.
        constraint: usize,
        /// The parameter.
        what: &'static str,
        /// Its value.
        found: f64,
        /// The permitted values.
        expected: &'static str,
    },
    /// Arrays of a file that contradict one another.
    #[error("{what}: {found}; expected {expected}")]
    Structure {
        /// The array or relation.
        what: &'static str,
        /// The content found.
        found: String,
        /// The required content.
        expected: &'static str,
    },
}
