//! Components of a vector in a contact frame: the only file that depends on their storage order.
//!
//! Rows, files and multipliers keep a contact as a triple with the normal component first
//! ([Lee23, Eq. (3)], [Tasora, Sec. 2]); [Castro22] and [Lee25] print it last. All other code
//! uses the names `n` and `t`.

use nalgebra::{Matrix3, Vector2, Vector3};

/// Number of rows of a contact.
pub const DIM: usize = 3;

/// A vector in a contact frame: normal and tangential components.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ContactVec {
    /// Normal component, positive when the sides separate or push.
    pub n: f64,
    /// Tangential components.
    pub t: Vector2<f64>,
}

impl ContactVec {
    /// The zero vector.
    pub const ZERO: Self = Self { n: 0.0, t: Vector2::new(0.0, 0.0) };

    /// Reads the three rows of a contact.
    #[inline]
    pub fn load(rows: &[f64]) -> Self {
        Self { n: rows[0], t: Vector2::new(rows[1], rows[2]) }
    }

    /// Writes the three rows of a contact.
    #[inline]
    pub fn store(self, rows: &mut [f64]) {
        (rows[0], rows[1], rows[2]) = (self.n, self.t.x, self.t.y);
    }

    /// A row-major matrix over the rows of a contact, from its blocks
    /// `[[nn, nt], [tn, tt]]`.
    #[inline]
    pub fn store_matrix(
        nn: f64,
        nt: Vector2<f64>,
        tn: Vector2<f64>,
        tt: nalgebra::Matrix2<f64>,
        out: &mut [f64],
    ) {
        out[..DIM * DIM].copy_from_slice(&[
            nn,
            nt.x,
            nt.y,
            tn.x,
            tt[(0, 0)],
            tt[(0, 1)],
            tn.y,
            tt[(1, 0)],
            tt[(1, 1)],
        ]);
    }
}

/// The blocks `nn, nt, tn, tt` of a row-major matrix over the rows of a contact.
#[inline]
pub fn load_matrix(matrix: &[f64]) -> (f64, Vector2<f64>, Vector2<f64>, nalgebra::Matrix2<f64>) {
    let at = |i: usize, j: usize| matrix[i * DIM + j];
    (
        at(0, 0),
        Vector2::new(at(0, 1), at(0, 2)),
        Vector2::new(at(1, 0), at(2, 0)),
        nalgebra::Matrix2::new(at(1, 1), at(1, 2), at(2, 1), at(2, 2)),
    )
}

/// The rows of a contact, the normal before the tangents: the order of a second-order cone.
pub const NORMAL_BEFORE_TANGENTS: [usize; DIM] = [0, 1, 2];

/// Adds `value` to the normal row of a contact.
#[inline]
pub fn add_to_normal(rows: &mut [f64], value: f64) {
    rows[0] += value;
}

/// The normal row of a row-major matrix with a row per row of a contact and `width` columns.
#[inline]
pub fn normal_row(matrix: &[f64], width: usize) -> &[f64] {
    &matrix[..width]
}

/// Per-row values of a contact that has one value for its normal and one for its tangents.
#[inline]
pub fn rows(normal: f64, tangential: f64) -> [f64; DIM] {
    [normal, tangential, tangential]
}

/// `½ Σ r λ²` over the rows of a contact: the energy of an impulse in the norm of the local compliances.
#[inline]
pub fn half_square(r: &[f64], lambda: &[f64]) -> f64 {
    0.5 * r.iter().zip(lambda).map(|(r, l)| r * l * l).sum::<f64>()
}

/// The rotation from world axes to the rows of a contact with this unit normal. The first tangent
/// is the part of the x axis, or of the y axis for normals near x, that is orthogonal to it.
pub fn frame(normal: Vector3<f64>) -> Matrix3<f64> {
    let nearest = if normal.x.abs() < 0.7 { Vector3::x() } else { Vector3::y() };
    frame_along(normal, nearest)
}

/// The rotation from world axes to the rows of a contact whose first tangent is the part of
/// `along` that is orthogonal to the unit normal. A direction along the normal has no such part;
/// then the tangents are those of [`frame`].
pub fn frame_along(normal: Vector3<f64>, along: Vector3<f64>) -> Matrix3<f64> {
    let part = along - normal * along.dot(&normal);
    if part.norm() <= 1e-9 * along.norm() {
        return frame(normal);
    }
    let first = part.normalize();
    let second = normal.cross(&first);
    Matrix3::from_rows(&[normal.transpose(), first.transpose(), second.transpose()])
}
