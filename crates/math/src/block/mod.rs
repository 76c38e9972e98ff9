//! Matrices made of dense blocks on a sparse symmetric pattern, and their factorizations.
//!
//! Indices are partitioned into blocks of any size: six for a rigid body, the velocities of a tree,
//! three for a vertex, or one block for everything. A [`Pattern`] lists the pairs of blocks that are
//! coupled; [`Symmetric`] and [`General`] add values; [`Cholesky`] and [`Lu`] factor them, with an
//! analysis that depends on the pattern alone and is reused while the values change.
//!
//! ```
//! use stiction_math::block::{Cholesky, Pattern, Symmetric};
//! let pattern = Pattern::new(&[1, 1], [(1, 0)]);
//! let mut A = Symmetric::zeros(&pattern);
//! for (entry, value) in pattern.entries().zip([4.0, 2.0, 3.0]) {
//!     A.block_mut(entry.id)[0] = value; // [[4, 2], [2, 3]]
//! }
//! let mut factor = Cholesky::analyse(&pattern);
//! factor.factor(&A)?;
//! let mut x = [8.0, 8.0];
//! factor.solve_in_place(&mut x);
//! assert!((x[0] - 1.0).abs() < 1e-15 && (x[1] - 2.0).abs() < 1e-15);
//! # Ok::<(), stiction_math::NotPositiveDefinite>(())
//! ```

mod cholesky;
mod elimination;
mod general;
mod kernel;
mod left_looking;
mod lu;
mod ordering;
mod pattern;
mod product3;
mod symmetric;

pub use cholesky::{Cholesky, Engine, SelectedInverse};
pub use general::General;
pub use lu::Lu;
pub use pattern::{BlockId, Pattern, PatternEntry};
pub use symmetric::{Symmetric, View};

pub(crate) use cholesky::Supernodal;
pub(crate) use elimination::Elimination;
pub(crate) use symmetric::dot;
