//! The choice of the diagonal W in place of A~⁻¹.

use crate::setting_choices;

/// A way to choose the surrogate W.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SurrogateChoice {
    /// The minimiser of `|I − W A~|_F` [Lee23, Sec. IV-C].
    Frobenius,
    /// The alternating steps of Barzilai and Borwein, without acceleration.
    BarzilaiBorwein,
}

setting_choices!(SurrogateChoice {
    "frobenius" => SurrogateChoice::Frobenius,
    "barzilai-borwein" => SurrogateChoice::BarzilaiBorwein,
});
