//! Compliant surfaces: shapes that yield by a pressure field, so that their contacts are patches.

use stiction_geom::{ColliderId, Colliders, PressureBodies, PressureError, pressure};

use crate::error::WorldError;
use crate::world::Geom;

/// How a shape yields under pressure (hydroelastic contact) [Elandt19].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Compliance {
    /// Hydroelastic modulus: the pressure on the medial axis of the shape, or at the depth `thickness` [Pa].
    pub modulus: f64,
    /// Dissipation time τ_d [s]; those of two shapes in contact add up.
    pub dissipation: f64,
    /// Depth at which the pressure is that of the modulus [m]; `None`: the largest depth of the shape. A plane needs one.
    pub thickness: Option<f64>,
    /// Length of the edges of its mesh [m]; `None`: by the size of the shape.
    pub resolution: Option<f64>,
}

impl Compliance {
    /// A modulus [Pa] without dissipation.
    pub fn with_modulus(modulus: f64) -> Self {
        Self { modulus, dissipation: 0.0, thickness: None, resolution: None }
    }

    fn field(&self) -> pressure::Compliance {
        let Self { modulus, thickness, resolution, .. } = *self;
        pressure::Compliance { modulus, thickness, resolution }
    }

    /// Checks the ranges of all parameters; `shape` is its name in the error.
    pub(crate) fn check(&self, shape: &str) -> Result<(), WorldError> {
        let shape = || shape.to_owned();
        self.field().check().map_err(|source| WorldError::Pressure { shape: shape(), source })?;
        if !(self.dissipation >= 0.0 && self.dissipation.is_finite()) {
            return Err(WorldError::Surface {
                shape: shape(),
                what: "dissipation of the compliance",
                found: self.dissipation,
                expected: "a finite number of seconds that is not negative",
            });
        }
        Ok(())
    }
}

/// The pressure fields and rigid surfaces of all shapes that take part in patches.
pub(crate) fn pressure_bodies(
    geoms: &[Geom],
    colliders: &Colliders,
) -> Result<PressureBodies, WorldError> {
    let compliance =
        |id: ColliderId| geoms[id.index()].surface.compliance.map(|c| Compliance::field(&c));
    let named = |(id, source): (ColliderId, PressureError)| {
        let geom = &geoms[id.index()];
        let name = &geom.name;
        let shape = if name.is_empty() { format!("number {}", id.0) } else { name.clone() };
        WorldError::Pressure { shape, source }
    };
    PressureBodies::new(colliders, compliance).map_err(named)
}
