//! Spatial algebra with fused multiply-adds, for recursions that run as a [`Job`](stiction_math::simd::Job).
//!
//! The same algebra as in `spatial` [Featherstone08, Ch. 2], angular part first. Every function is inlined into the job, which
//! is compiled for vector instructions: elsewhere a fused multiply-add may be a function call. Rotations are three columns of
//! four numbers, the last of which has no meaning.

use nalgebra::{Matrix3, Quaternion, UnitQuaternion, Vector3, Vector6};
use stiction_math::spatial::Inertia10;

/// A vector of three numbers and one without meaning.
pub(crate) type Lanes = [f64; 4];
/// The columns of a rotation matrix.
pub(crate) type Columns = [Lanes; 3];

/// The rotation that changes nothing.
pub(crate) const IDENTITY: Columns =
    [[1.0, 0.0, 0.0, 0.0], [0.0, 1.0, 0.0, 0.0], [0.0, 0.0, 1.0, 0.0]];

#[inline(always)]
pub(crate) fn columns(rotation: &UnitQuaternion<f64>) -> Columns {
    let [x, y, z, w] = [rotation.i, rotation.j, rotation.k, rotation.w];
    let (xx, yy, zz, ww) = (x * x, y * y, z * z, w * w);
    let (xy, xz, yz) = (x * y, x * z, y * z);
    let (wx, wy, wz) = (w * x, w * y, w * z);
    [
        [(ww + xx) - (yy + zz), 2.0 * (xy + wz), 2.0 * (xz - wy), 0.0],
        [2.0 * (xy - wz), (ww + yy) - (xx + zz), 2.0 * (yz + wx), 0.0],
        [2.0 * (xz + wy), 2.0 * (yz - wx), (ww + zz) - (xx + yy), 0.0],
    ]
}

/// `R v + p`.
#[inline(always)]
pub(crate) fn transform(R: &Columns, v: &Vector3<f64>, p: &Lanes) -> Lanes {
    let mut out = [0.0; 4];
    for lane in 0..4 {
        let sum = R[0][lane].mul_add(v.x, p[lane]);
        out[lane] = R[2][lane].mul_add(v.z, R[1][lane].mul_add(v.y, sum));
    }
    out
}

#[inline(always)]
pub(crate) fn vector(lanes: &Lanes) -> Vector3<f64> {
    Vector3::new(lanes[0], lanes[1], lanes[2])
}

#[inline(always)]
pub(crate) fn lanes(v: &Vector3<f64>) -> Lanes {
    [v.x, v.y, v.z, 0.0]
}

/// Product of two rotations.
#[inline(always)]
pub(crate) fn product(a: &UnitQuaternion<f64>, b: &UnitQuaternion<f64>) -> UnitQuaternion<f64> {
    let [x, y, z, w] = [b.i, b.j, b.k, b.w];
    let mut out = [a.w * x, a.w * y, a.w * z, a.w * w];
    let (i, j, k) = ([w, -z, y, -x], [z, w, -x, -y], [-y, x, w, -z]);
    for lane in 0..4 {
        let sum = i[lane].mul_add(a.i, out[lane]);
        out[lane] = k[lane].mul_add(a.k, j[lane].mul_add(a.j, sum));
    }
    UnitQuaternion::new_unchecked(Quaternion::new(out[3], out[0], out[1], out[2]))
}

/// a × b.
#[inline(always)]
pub(crate) fn cross(a: &Vector3<f64>, b: &Vector3<f64>) -> Vector3<f64> {
    Vector3::new(
        a.y.mul_add(b.z, -(a.z * b.y)),
        a.z.mul_add(b.x, -(a.x * b.z)),
        a.x.mul_add(b.y, -(a.y * b.x)),
    )
}

/// c + a × b.
#[inline(always)]
pub(crate) fn add_cross(c: &Vector3<f64>, a: &Vector3<f64>, b: &Vector3<f64>) -> Vector3<f64> {
    Vector3::new(
        a.y.mul_add(b.z, (-a.z).mul_add(b.y, c.x)),
        a.z.mul_add(b.x, (-a.x).mul_add(b.z, c.y)),
        a.x.mul_add(b.y, (-a.y).mul_add(b.x, c.z)),
    )
}

/// aᵀ b.
#[inline(always)]
pub(crate) fn dot(a: &Vector6<f64>, b: &Vector6<f64>) -> f64 {
    let mut sums = [a[0] * b[0], a[1] * b[1]];
    for k in [2, 4] {
        for lane in 0..2 {
            sums[lane] = a[k + lane].mul_add(b[k + lane], sums[lane]);
        }
    }
    sums[0] + sums[1]
}

/// v × m, added to `sum`.
#[inline(always)]
pub(crate) fn add_cross_motion(
    sum: &Vector6<f64>,
    v: &Vector6<f64>,
    m: &Vector6<f64>,
) -> Vector6<f64> {
    let (s, v, m) = (parts(sum), parts(v), parts(m));
    join(add_cross(&s.0, &v.0, &m.0), add_cross(&add_cross(&s.1, &v.0, &m.1), &v.1, &m.0))
}

/// v ×* f, added to `sum`.
#[inline(always)]
pub(crate) fn add_cross_force(
    sum: &Vector6<f64>,
    v: &Vector6<f64>,
    f: &Vector6<f64>,
) -> Vector6<f64> {
    let (s, v, f) = (parts(sum), parts(v), parts(f));
    join(add_cross(&add_cross(&s.0, &v.0, &f.0), &v.1, &f.1), add_cross(&s.1, &v.0, &f.1))
}

/// Inertia times a motion vector.
#[inline(always)]
pub(crate) fn apply(inertia: &Inertia10, v: &Vector6<f64>) -> Vector6<f64> {
    let [xx, yy, zz, xy, xz, yz] = inertia.rotational;
    let ((w, u), h) = (parts(v), inertia.moment);
    let rotational = Vector3::new(
        xx.mul_add(w.x, xy.mul_add(w.y, xz * w.z)),
        xy.mul_add(w.x, yy.mul_add(w.y, yz * w.z)),
        xz.mul_add(w.x, yz.mul_add(w.y, zz * w.z)),
    );
    join(add_cross(&rotational, &h, &u), add_cross(&(inertia.mass * u), &w, &h))
}

/// Spatial inertia in world axes about a point O of a body of this mass and central inertia in its own axes, whose centre of
/// mass is at `p_OBcm` [m].
#[inline(always)]
pub(crate) fn inertia_about(
    mass: f64,
    central: &Matrix3<f64>,
    R: &Columns,
    p_OBcm: &Vector3<f64>,
) -> Inertia10 {
    let (p, moment) = (lanes(p_OBcm), mass * p_OBcm);
    // No closures: they would not be part of the job.
    let mut turned = [[0.0; 4]; 3];
    for k in 0..3 {
        let column = Vector3::new(central[(0, k)], central[(1, k)], central[(2, k)]);
        turned[k] = transform(R, &column, &turned[k]);
    }
    // R I Rᵀ − m p pᵀ, to which m |p|² is added on the diagonal.
    let mut about = [[0.0; 4]; 3];
    for k in 0..3 {
        for lane in 0..4 {
            about[k][lane] = -p[lane] * moment[k];
        }
        let row = Vector3::new(R[0][k], R[1][k], R[2][k]);
        about[k] = transform(&turned, &row, &about[k]);
    }
    let [x, y, z] = about;
    let square = moment.x.mul_add(p[0], moment.y.mul_add(p[1], moment.z * p[2]));
    let rotational = [x[0] + square, y[1] + square, z[2] + square, x[1], x[2], y[2]];
    Inertia10 { mass, moment, rotational }
}

#[inline(always)]
pub(crate) fn parts(v: &Vector6<f64>) -> (Vector3<f64>, Vector3<f64>) {
    (Vector3::new(v[0], v[1], v[2]), Vector3::new(v[3], v[4], v[5]))
}

#[inline(always)]
pub(crate) fn join(angular: Vector3<f64>, linear: Vector3<f64>) -> Vector6<f64> {
    Vector6::new(angular.x, angular.y, angular.z, linear.x, linear.y, linear.z)
}
