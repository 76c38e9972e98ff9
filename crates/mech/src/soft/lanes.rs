//! SIMD arithmetic on [`N`] elements at a time.
//!
//! A [`Lanes`] holds one number of each of [`N`] elements, a [`Mat`] one 3×3 matrix of each. The result
//! of a lane depends on that lane only, so that results do not depend on which elements share a group.
//! Multiply-adds round once (`mul_add`), in the same order for every instruction set.

use nalgebra::Matrix3;
use std::ops::{Add, Div, Mul, Neg, Sub};

/// Number of elements processed at a time.
pub(crate) const N: usize = 4;

/// One number of each of [`N`] elements.
#[derive(Clone, Copy, Debug, PartialEq)]
#[repr(C, align(32))]
pub(crate) struct Lanes(pub [f64; N]);

/// Result of a comparison per element: all bits set or none, as SIMD units represent it.
#[derive(Clone, Copy, Debug)]
#[repr(C, align(32))]
pub(crate) struct Mask([u64; N]);

macro_rules! binary {
    ($trait:ident, $name:ident, $op:tt) => {
        impl $trait for Lanes {
            type Output = Self;
            #[inline(always)]
            fn $name(self, other: Self) -> Self {
                let mut out = [0.0; N];
                for k in 0..N {
                    out[k] = self.0[k] $op other.0[k];
                }
                Self(out)
            }
        }
    };
}
binary!(Add, add, +);
binary!(Sub, sub, -);
binary!(Mul, mul, *);
binary!(Div, div, /);

impl Neg for Lanes {
    type Output = Self;
    #[inline(always)]
    fn neg(self) -> Self {
        self.map(|x| -x)
    }
}

impl Lanes {
    pub const ZERO: Self = Self([0.0; N]);
    pub const ONE: Self = Self([1.0; N]);

    #[inline(always)]
    pub fn splat(x: f64) -> Self {
        Self([x; N])
    }

    #[inline(always)]
    pub fn map(self, f: impl Fn(f64) -> f64) -> Self {
        let mut out = [0.0; N];
        for k in 0..N {
            out[k] = f(self.0[k]);
        }
        Self(out)
    }

    /// a b + self, rounded once.
    #[inline(always)]
    pub fn fma(self, a: Self, b: Self) -> Self {
        let mut out = [0.0; N];
        for k in 0..N {
            out[k] = a.0[k].mul_add(b.0[k], self.0[k]);
        }
        Self(out)
    }

    /// self − a b, rounded once.
    #[inline(always)]
    pub fn fnma(self, a: Self, b: Self) -> Self {
        let mut out = [0.0; N];
        for k in 0..N {
            out[k] = (-a.0[k]).mul_add(b.0[k], self.0[k]);
        }
        Self(out)
    }

    /// The sum over the elements.
    #[inline(always)]
    pub fn sum(self) -> f64 {
        (self.0[0] + self.0[1]) + (self.0[2] + self.0[3])
    }

    #[inline(always)]
    pub fn sqrt(self) -> Self {
        self.map(f64::sqrt)
    }

    #[inline(always)]
    pub fn abs(self) -> Self {
        self.map(f64::abs)
    }

    /// The larger of two; a NaN in `self` is replaced by `other`.
    #[inline(always)]
    pub fn max(self, other: Self) -> Self {
        self.greater(other).select(self, other)
    }

    #[inline(always)]
    pub fn greater(self, other: Self) -> Mask {
        let mut out = [0; N];
        for k in 0..N {
            out[k] = if self.0[k] > other.0[k] { u64::MAX } else { 0 };
        }
        Mask(out)
    }

    /// self with the sign of `sign`.
    #[inline(always)]
    pub fn copysign(self, sign: Self) -> Self {
        let mut out = [0.0; N];
        for k in 0..N {
            out[k] = self.0[k].copysign(sign.0[k]);
        }
        Self(out)
    }
}

impl Mask {
    /// `yes` where the mask is set, `no` elsewhere.
    #[inline(always)]
    pub fn select(self, yes: Lanes, no: Lanes) -> Lanes {
        let mut out = [0.0; N];
        for k in 0..N {
            let (yes, no) = (yes.0[k].to_bits() & self.0[k], no.0[k].to_bits() & !self.0[k]);
            out[k] = f64::from_bits(yes | no);
        }
        Lanes(out)
    }

    #[inline(always)]
    pub fn select_mat(self, yes: &Mat, no: &Mat) -> Mat {
        let mut out = *no;
        for i in 0..3 {
            for j in 0..3 {
                out.0[i][j] = self.select(yes.0[i][j], no.0[i][j]);
            }
        }
        out
    }

    #[inline(always)]
    pub fn any(self) -> bool {
        (self.0[0] | self.0[1]) | (self.0[2] | self.0[3]) != 0
    }

    #[inline(always)]
    pub fn all(self) -> bool {
        (self.0[0] & self.0[1]) & (self.0[2] & self.0[3]) != 0
    }

    #[inline(always)]
    pub fn not(self) -> Self {
        let mut out = [0; N];
        for k in 0..N {
            out[k] = !self.0[k];
        }
        Self(out)
    }

    #[inline(always)]
    pub fn and(self, other: Self) -> Self {
        let mut out = [0; N];
        for k in 0..N {
            out[k] = self.0[k] & other.0[k];
        }
        Self(out)
    }
}

/// A vector of each element.
pub(crate) type Vec3 = [Lanes; 3];

/// A vector by its entries. (Closures passed to `array::map` are not inlined.)
#[inline(always)]
pub(crate) fn vec3(f: impl Fn(usize) -> Lanes) -> Vec3 {
    [f(0), f(1), f(2)]
}

#[inline(always)]
pub(crate) fn dot(a: &Vec3, b: &Vec3) -> Lanes {
    (a[0] * b[0]).fma(a[1], b[1]).fma(a[2], b[2])
}

#[inline(always)]
pub(crate) fn cross(a: &Vec3, b: &Vec3) -> Vec3 {
    [(a[1] * b[2]).fnma(a[2], b[1]), (a[2] * b[0]).fnma(a[0], b[2]), (a[0] * b[1]).fnma(a[1], b[0])]
}

#[inline(always)]
pub(crate) fn scale(a: &Vec3, s: Lanes) -> Vec3 {
    [a[0] * s, a[1] * s, a[2] * s]
}

/// A 3×3 matrix of each element, by rows.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Mat(pub [Vec3; 3]);

impl Mat {
    pub const ZERO: Self = Self([[Lanes::ZERO; 3]; 3]);
    pub const IDENTITY: Self = Self([
        [Lanes::ONE, Lanes::ZERO, Lanes::ZERO],
        [Lanes::ZERO, Lanes::ONE, Lanes::ZERO],
        [Lanes::ZERO, Lanes::ZERO, Lanes::ONE],
    ]);

    #[inline(always)]
    pub fn from_fn(f: impl Fn(usize, usize) -> Lanes) -> Self {
        let mut out = Self::ZERO;
        for i in 0..3 {
            for j in 0..3 {
                out.0[i][j] = f(i, j);
            }
        }
        out
    }

    /// The same matrix in every lane.
    pub fn splat(m: &Matrix3<f64>) -> Self {
        Self::from_fn(|i, j| Lanes::splat(m[(i, j)]))
    }

    /// The matrix of one lane.
    pub fn lane(&self, k: usize) -> Matrix3<f64> {
        Matrix3::from_fn(|i, j| self.0[i][j].0[k])
    }

    #[inline(always)]
    pub fn column(&self, j: usize) -> Vec3 {
        [self.0[0][j], self.0[1][j], self.0[2][j]]
    }

    #[inline(always)]
    pub fn set_column(&mut self, j: usize, column: Vec3) {
        for i in 0..3 {
            self.0[i][j] = column[i];
        }
    }

    /// A x.
    #[inline(always)]
    pub fn apply(&self, x: &Vec3) -> Vec3 {
        [dot(&self.0[0], x), dot(&self.0[1], x), dot(&self.0[2], x)]
    }

    /// Aᵀ x.
    #[inline(always)]
    pub fn apply_transposed(&self, x: &Vec3) -> Vec3 {
        let mut out = [Lanes::ZERO; 3];
        for j in 0..3 {
            out[j] = dot(&self.column(j), x);
        }
        out
    }

    /// A B.
    #[inline(always)]
    pub fn times(&self, other: &Self) -> Self {
        Self::from_fn(|i, j| dot(&self.0[i], &other.column(j)))
    }

    /// A Bᵀ.
    #[inline(always)]
    pub fn times_transposed(&self, other: &Self) -> Self {
        Self::from_fn(|i, j| dot(&self.0[i], &other.0[j]))
    }

    /// Aᵀ B.
    #[inline(always)]
    pub fn transposed_times(&self, other: &Self) -> Self {
        Self::from_fn(|i, j| dot(&self.column(i), &other.column(j)))
    }

    /// Derivative of the determinant: det(A) A⁻ᵀ.
    #[inline(always)]
    pub fn cofactor(&self) -> Self {
        let [a, b, c] = &self.0;
        Self([cross(b, c), cross(c, a), cross(a, b)])
    }

    /// Sum of the squares of the entries.
    #[inline(always)]
    pub fn squared(&self) -> Lanes {
        dot(&self.0[0], &self.0[0]) + dot(&self.0[1], &self.0[1]) + dot(&self.0[2], &self.0[2])
    }

    #[inline(always)]
    pub fn trace(&self) -> Lanes {
        self.0[0][0] + self.0[1][1] + self.0[2][2]
    }

    /// a self + b other.
    #[inline(always)]
    pub fn combine(&self, a: Lanes, other: &Self, b: Lanes) -> Self {
        Self::from_fn(|i, j| (self.0[i][j] * a).fma(other.0[i][j], b))
    }

    #[inline(always)]
    pub fn scaled(&self, a: Lanes) -> Self {
        Self::from_fn(|i, j| self.0[i][j] * a)
    }
}
