//! A typed array of any shape, as stored in a file: the common type of all readers and writers.
//!
//! Two element types carry everything: `f64` and `i64`. Narrower types widen when read.

/// The elements of an [`Array`] in C order (last index fastest).
#[derive(Clone, Debug, PartialEq)]
pub enum Values {
    /// Floating-point numbers.
    F64(Vec<f64>),
    /// Integers and booleans.
    I64(Vec<i64>),
}

/// Elements and shape; an empty shape is a scalar with one element.
#[derive(Clone, Debug, PartialEq)]
pub struct Array {
    /// Extent of each axis.
    pub shape: Vec<usize>,
    /// The elements, as many as the product of the shape.
    pub values: Values,
}

impl Array {
    /// A vector of floating-point numbers.
    pub fn from_f64(values: &[f64]) -> Self {
        Self { shape: vec![values.len()], values: Values::F64(values.to_vec()) }
    }

    /// A vector of integers.
    pub fn from_i64(values: &[i64]) -> Self {
        Self { shape: vec![values.len()], values: Values::I64(values.to_vec()) }
    }

    /// A vector of indices. An index beyond the range of `i64` cannot address memory, so none is lost.
    pub fn from_usize(values: &[usize]) -> Self {
        let values: Vec<i64> = values.iter().map(|&value| value as i64).collect();
        Self { shape: vec![values.len()], values: Values::I64(values) }
    }

    /// One floating-point number.
    pub fn scalar_f64(value: f64) -> Self {
        Self { shape: Vec::new(), values: Values::F64(vec![value]) }
    }

    /// One integer.
    pub fn scalar_i64(value: i64) -> Self {
        Self { shape: Vec::new(), values: Values::I64(vec![value]) }
    }

    /// Number of elements.
    pub fn len(&self) -> usize {
        match &self.values {
            Values::F64(values) => values.len(),
            Values::I64(values) => values.len(),
        }
    }

    /// Whether there are no elements.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The elements as floating-point numbers; integers are converted.
    pub fn to_f64(&self) -> Vec<f64> {
        match &self.values {
            Values::F64(values) => values.clone(),
            Values::I64(values) => values.iter().map(|&value| value as f64).collect(),
        }
    }

    /// Whether the shape has as many elements as there are.
    pub fn is_consistent(&self) -> bool {
        element_count(&self.shape) == Some(self.len())
    }
}

/// Product of the extents, or `None` when it overflows.
pub(super) fn element_count(shape: &[usize]) -> Option<usize> {
    shape.iter().try_fold(1usize, |count, &extent| count.checked_mul(extent))
}
