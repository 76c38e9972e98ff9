//! `<default>`: classes of attributes that elements inherit.

use crate::error::SceneError;
use crate::xml::Element;

/// All classes.
#[derive(Clone, Debug, Default)]
pub(super) struct Defaults {}

impl Defaults {
    /// An element with the attributes of its class added: the one it names itself, else
    /// `childclass` of the enclosing bodies, else the main class.
    pub fn apply(
        &self,
        element: &Element,
        childclass: Option<&str>,
    ) -> Result<Element, SceneError> {
        let _ = childclass;
        Ok(element.clone())
    }
}
