//! `<compiler>`: how the rest of the file is to be understood.

/// Options of the compiler.
#[derive(Clone, Debug)]
pub(super) struct Compiler {
    /// Radians per unit of angle.
    pub angle: f64,
    /// Whether ranges imply limits.
    pub autolimits: bool,
}
