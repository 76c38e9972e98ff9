//! `solref` and `solimp` of constraints: limits, dry friction, equalities.

use stiction_mech::SoftLaw;

use crate::error::SceneError;
use crate::xml::Element;

/// The law of two attributes; `None` if both are absent or have MuJoCo's defaults, by which it makes exact constraints
/// solvable.
pub(super) fn read(
    element: &Element,
    reference: &str,
    impedance: &str,
) -> Result<Option<SoftLaw>, SceneError> {
    let default = SoftLaw::default();
    let law = SoftLaw {
        reference: element.array_or(reference, default.reference)?,
        impedance: element.array_or(impedance, default.impedance)?,
    };
    Ok((law != default).then_some(law))
}
