//! Which diagonal stands for A~⁻¹.

use crate::solver::Value;

/// A way to choose the surrogate W.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Choice {
    /// The minimiser of `|I − W A~|_F` [Lee23, Sec. IV-C].
    Frobenius,
    /// The alternating steps of Barzilai and Borwein, without acceleration.
    BarzilaiBorwein,
}

impl Value for Choice {
    fn get(&self) -> String {
        match self {
            Self::Frobenius => "frobenius",
            Self::BarzilaiBorwein => "barzilai-borwein",
        }
        .to_owned()
    }

    fn set(&mut self, text: &str) -> Result<(), String> {
        *self = match text {
            "frobenius" => Self::Frobenius,
            "barzilai-borwein" => Self::BarzilaiBorwein,
            _ => return Err("frobenius or barzilai-borwein".to_owned()),
        };
        Ok(())
    }
}
