//! Numbers, texts and lists as bytes, little-endian, for files that are read back to the bit.
//!
//! Reading returns `None` if bytes are missing. A damaged length cannot cause a large allocation: a
//! list has at least as many bytes as items.

use nalgebra::{Isometry3, Quaternion, UnitQuaternion, Vector3};

/// Appends values to bytes.
#[derive(Debug, Default)]
pub(crate) struct Writer(pub Vec<u8>);

impl Writer {
    pub fn u32(&mut self, value: u32) {
        self.0.extend_from_slice(&value.to_le_bytes());
    }

    pub fn u64(&mut self, value: u64) {
        self.0.extend_from_slice(&value.to_le_bytes());
    }

    pub fn f32(&mut self, value: f32) {
        self.0.extend_from_slice(&value.to_bits().to_le_bytes());
    }

    pub fn f64(&mut self, value: f64) {
        self.0.extend_from_slice(&value.to_bits().to_le_bytes());
    }

    pub fn text(&mut self, text: &str) {
        self.u64(text.len() as u64);
        self.0.extend_from_slice(text.as_bytes());
    }

    pub fn vector(&mut self, value: &Vector3<f64>) {
        value.iter().for_each(|x| self.f64(*x));
    }

    pub fn pose(&mut self, value: &Isometry3<f64>) {
        self.vector(&value.translation.vector);
        value.rotation.coords.iter().for_each(|x| self.f64(*x));
    }

    pub fn list<T>(&mut self, items: &[T], mut write: impl FnMut(&mut Self, &T)) {
        self.u64(items.len() as u64);
        items.iter().for_each(|item| write(self, item));
    }

    pub fn rows<const N: usize>(&mut self, rows: &[[f64; N]]) {
        self.0.reserve(size_of_val(rows));
        rows.iter().flatten().for_each(|x| self.f64(*x));
    }

    pub fn numbers(&mut self, numbers: &[f64]) {
        self.0.reserve(size_of_val(numbers));
        numbers.iter().for_each(|x| self.f64(*x));
    }

    pub fn counts(&mut self, counts: &[u32]) {
        counts.iter().for_each(|x| self.u32(*x));
    }
}

/// Reads values from the remaining bytes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Reader<'a>(pub &'a [u8]);

impl<'a> Reader<'a> {
    pub fn take<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (head, rest) = self.0.split_first_chunk::<N>()?;
        self.0 = rest;
        Some(*head)
    }

    pub fn u32(&mut self) -> Option<u32> {
        self.take().map(u32::from_le_bytes)
    }

    pub fn u64(&mut self) -> Option<u64> {
        self.take().map(u64::from_le_bytes)
    }

    pub fn f32(&mut self) -> Option<f32> {
        self.u32().map(f32::from_bits)
    }

    pub fn f64(&mut self) -> Option<f64> {
        self.u64().map(f64::from_bits)
    }

    pub fn vector(&mut self) -> Option<Vector3<f64>> {
        Some(Vector3::new(self.f64()?, self.f64()?, self.f64()?))
    }

    /// Preserves the bits: the rotation is not normalised.
    pub fn pose(&mut self) -> Option<Isometry3<f64>> {
        let translation = self.vector()?;
        let [x, y, z, w] = [self.f64()?, self.f64()?, self.f64()?, self.f64()?];
        let turn = UnitQuaternion::new_unchecked(Quaternion::new(w, x, y, z));
        Some(Isometry3::from_parts(translation.into(), turn))
    }

    /// A length that is at most the number of remaining bytes.
    pub fn length(&mut self) -> Option<usize> {
        usize::try_from(self.u64()?).ok().filter(|length| *length <= self.0.len())
    }

    /// The next `length` bytes.
    pub fn slice(&mut self, length: usize) -> Option<&'a [u8]> {
        let (head, rest) = self.0.split_at_checked(length)?;
        self.0 = rest;
        Some(head)
    }

    pub fn text(&mut self) -> Option<String> {
        let length = self.length()?;
        String::from_utf8(self.slice(length)?.to_vec()).ok()
    }

    pub fn list<T>(&mut self, read: impl FnMut(&mut Self) -> Option<T>) -> Option<Vec<T>> {
        let count = self.length()?;
        self.items(count, read)
    }

    /// The next `count` items, each of at least one byte.
    pub fn items<T>(
        &mut self,
        count: usize,
        mut read: impl FnMut(&mut Self) -> Option<T>,
    ) -> Option<Vec<T>> {
        if count > self.0.len() {
            return (count == 0).then(Vec::new);
        }
        (0..count).map(|_| read(self)).collect()
    }

    pub fn rows<const N: usize>(&mut self, count: usize) -> Option<Vec<[f64; N]>> {
        self.items(count, |from| {
            let mut row = [0.0; N];
            row.iter_mut().try_for_each(|x| from.f64().map(|value| *x = value))?;
            Some(row)
        })
    }

    pub fn numbers(&mut self, count: usize) -> Option<Vec<f64>> {
        self.items(count, Self::f64)
    }

    pub fn counts(&mut self, count: usize) -> Option<Vec<u32>> {
        self.items(count, Self::u32)
    }

    /// `Some` if no bytes remain.
    pub fn done(&self) -> Option<()> {
        self.0.is_empty().then_some(())
    }
}
