//! Attributes as numbers, vectors and words, each checked: finite, of the right count, known.
//! Numbers of a blank attribute count as not given, as in MuJoCo; a blank word is an error.

use nalgebra::Vector3;

use super::{Attribute, Element};
use crate::error::SceneError;

impl Attribute {
    /// An error at this attribute.
    pub fn error(&self, element: &Element, expected: &str) -> SceneError {
        const LONGEST: usize = 80;
        let mut found: String = self.value.chars().take(LONGEST).collect();
        if found.len() < self.value.len() {
            found.push('…');
        }
        SceneError::Model {
            place: self.place.clone(),
            what: format!("<{}> {} = \"{found}\"; expected {expected}", element.tag, self.name),
        }
    }
}

impl Element {
    /// The text of an attribute that must be there.
    pub fn require(&self, name: &str) -> Result<&str, SceneError> {
        self.get(name).ok_or_else(|| self.error(format_args!("no {name}; expected one")))
    }

    /// An attribute that is not blank.
    fn filled(&self, name: &str) -> Option<&Attribute> {
        self.attribute(name).filter(|attribute| !attribute.value.trim().is_empty())
    }

    /// Any number of finite numbers, at least one.
    pub fn numbers(&self, name: &str) -> Result<Option<Vec<f64>>, SceneError> {
        let Some(attribute) = self.filled(name) else { return Ok(None) };
        let numbers: Option<Vec<f64>> =
            attribute.value.split_ascii_whitespace().map(finite).collect();
        match numbers {
            Some(numbers) => Ok(Some(numbers)),
            None => Err(attribute.error(self, "finite numbers, separated by spaces")),
        }
    }

    /// Exactly N finite numbers.
    pub fn array<const N: usize>(&self, name: &str) -> Result<Option<[f64; N]>, SceneError> {
        let Some(numbers) = self.numbers(name)? else { return Ok(None) };
        match <[f64; N]>::try_from(numbers) {
            Ok(array) => Ok(Some(array)),
            Err(_) => Err(self.wrong(name, &format!("{N} finite numbers"))),
        }
    }

    /// At most N finite numbers; the others keep their defaults.
    pub fn array_or<const N: usize>(
        &self,
        name: &str,
        default: [f64; N],
    ) -> Result<[f64; N], SceneError> {
        let Some(numbers) = self.numbers(name)? else { return Ok(default) };
        if numbers.len() > N {
            return Err(self.wrong(name, &format!("at most {N} numbers")));
        }
        let mut array = default;
        array[..numbers.len()].copy_from_slice(&numbers);
        Ok(array)
    }

    /// One finite number.
    pub fn number(&self, name: &str) -> Result<Option<f64>, SceneError> {
        Ok(self.array::<1>(name)?.map(|[number]| number))
    }

    /// Three finite numbers.
    pub fn vector(&self, name: &str) -> Result<Option<Vector3<f64>>, SceneError> {
        Ok(self.array::<3>(name)?.map(Vector3::from))
    }

    /// A whole number.
    pub fn integer(&self, name: &str) -> Result<Option<i64>, SceneError> {
        let Some(attribute) = self.filled(name) else { return Ok(None) };
        match attribute.value.trim().parse() {
            Ok(number) => Ok(Some(number)),
            Err(_) => Err(attribute.error(self, "a whole number")),
        }
    }

    /// `true` or `false`.
    pub fn boolean(&self, name: &str) -> Result<Option<bool>, SceneError> {
        self.choice(name, &[("true", true), ("false", false)])
    }

    /// One of several words.
    pub fn choice<T: Copy>(
        &self,
        name: &str,
        words: &[(&str, T)],
    ) -> Result<Option<T>, SceneError> {
        let Some(attribute) = self.attribute(name) else { return Ok(None) };
        match words.iter().find(|(word, _)| *word == attribute.value.trim()) {
            Some((_, value)) => Ok(Some(*value)),
            None => {
                let known: Vec<_> = words.iter().map(|(word, _)| *word).collect();
                Err(attribute.error(self, &format!("one of: {}", known.join(", "))))
            }
        }
    }

    /// An error at one of the attributes, or at the element if it has none of that name.
    pub fn wrong(&self, name: &str, expected: &str) -> SceneError {
        match self.attribute(name) {
            Some(attribute) => attribute.error(self, expected),
            None => self.error(format_args!("no {name}; expected {expected}")),
        }
    }
}

fn finite(text: &str) -> Option<f64> {
    text.parse().ok().filter(|number: &f64| number.is_finite())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    #[test]
    fn numbers_that_are_none_are_refused_with_file_line_element_and_text() {
        for bad in ["1 2", "1 2 x", "1 2 NaN", "1 2 inf", "1 2 1e999"] {
            let text = format!("<geom\n size='{bad}'/>");
            let geom = Element::parse(&text, Path::new("a.xml")).unwrap();
            let message = geom.vector("size").unwrap_err().to_string();
            assert!(message.starts_with("a.xml:2: <geom> size = "), "{message}");
        }
    }

    #[test]
    fn blank_numbers_are_not_given_and_blank_words_are_refused() {
        let geom = Element::parse("<geom size='' group=' ' type=''/>", Path::new("a.xml")).unwrap();
        assert_eq!(geom.vector("size").unwrap(), None);
        assert_eq!(geom.integer("group").unwrap(), None);
        assert!(geom.choice("type", &[("box", 1)]).is_err());
    }

    #[test]
    fn missing_numbers_keep_their_defaults() {
        let geom = Element::parse("<geom friction='2'/>", Path::new("a.xml")).unwrap();
        assert_eq!(geom.array_or("friction", [1.0, 0.5, 0.1]).unwrap(), [2.0, 0.5, 0.1]);
        assert!(geom.array_or::<0>("friction", []).is_err());
    }
}
