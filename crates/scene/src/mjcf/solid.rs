//! Volume (or area) and principal inertia of primitives, as solids and as shells.

use std::f64::consts::PI;

use nalgebra::Vector3;

use super::build::GeomKind;

/// How much wider the outer ellipsoid of a shell is [m], as in MuJoCo.
const SHELL: f64 = 1e-6;

/// Volume [m³], or area [m²] of a shell. `size` holds half sizes as MJCF has them.
pub(super) fn measure(kind: GeomKind, size: &Vector3<f64>, shell: bool) -> f64 {
    let [a, b, c] = (*size).into();
    match (kind, shell) {
        (GeomKind::Sphere, false) => 4.0 / 3.0 * PI * a.powi(3),
        (GeomKind::Sphere, true) => 4.0 * PI * a * a,
        (GeomKind::Capsule, false) => PI * a * a * (2.0 * b + 4.0 / 3.0 * a),
        (GeomKind::Capsule, true) => 4.0 * PI * a * (a + b),
        (GeomKind::Cylinder, false) => 2.0 * PI * a * a * b,
        (GeomKind::Cylinder, true) => 2.0 * PI * a * (a + 2.0 * b),
        (GeomKind::Ellipsoid, false) => 4.0 / 3.0 * PI * a * b * c,
        (GeomKind::Ellipsoid, true) => {
            // Thomsen's approximation, which MuJoCo uses.
            let p = 1.6075;
            let mean = ((a * b).powf(p) + (b * c).powf(p) + (c * a).powf(p)) / 3.0;
            4.0 * PI * mean.powf(1.0 / p)
        }
        (GeomKind::Box | GeomKind::HeightField, false) => 8.0 * a * b * c,
        (GeomKind::Box | GeomKind::HeightField, true) => 8.0 * (a * b + b * c + c * a),
        (GeomKind::Plane | GeomKind::Mesh | GeomKind::Sdf, _) => 0.0,
    }
}

/// Principal inertia per unit of mass [m²].
pub(super) fn inertia(kind: GeomKind, size: &Vector3<f64>, shell: bool) -> Vector3<f64> {
    let [a, b, c] = (*size).into();
    let squares = size.component_mul(size);
    let others = |s: Vector3<f64>| Vector3::new(s.y + s.z, s.x + s.z, s.x + s.y);
    let round = |across: f64, along: f64| Vector3::new(across, across, along);
    match (kind, shell) {
        (GeomKind::Sphere, false) => Vector3::repeat(0.4 * a * a),
        (GeomKind::Sphere, true) => Vector3::repeat(a * a / 1.5),
        (GeomKind::Capsule, false) => {
            // A cylinder and two half balls, each 3a/8 beyond its end.
            let ball = 2.0 * a / (2.0 * a + 3.0 * b);
            let (rod, caps) = (1.0 - ball, 0.4 * a * a);
            let shift = b * b + 0.75 * a * b;
            round(
                rod * (a * a / 4.0 + b * b / 3.0) + ball * (caps + shift),
                rod * a * a / 2.0 + ball * caps,
            )
        }
        (GeomKind::Capsule, true) => {
            // A tube and two half spheres, each a/2 beyond its end.
            let ball = a / (a + b);
            let (tube, caps) = (1.0 - ball, a * a / 1.5);
            let shift = b * b + a * b;
            round(
                tube * (a * a / 2.0 + b * b / 3.0) + ball * (caps + shift),
                tube * a * a + ball * caps,
            )
        }
        (GeomKind::Cylinder, false) => round(a * a / 4.0 + b * b / 3.0, a * a / 2.0),
        (GeomKind::Cylinder, true) => {
            let lids = a / (a + 2.0 * b);
            let tube = 1.0 - lids;
            round(
                tube * (a * a / 2.0 + b * b / 3.0) + lids * (a * a / 4.0 + b * b),
                tube * a * a + lids * a * a / 2.0,
            )
        }
        (GeomKind::Ellipsoid, false) => others(squares) / 5.0,
        (GeomKind::Ellipsoid, true) => {
            let outer = size.add_scalar(SHELL);
            let (inside, outside) = (size.product(), outer.product());
            let wide = others(outer.component_mul(&outer)) * outside;
            (wide - others(squares) * inside) / (5.0 * (outside - inside))
        }
        (GeomKind::Box | GeomKind::HeightField, false) => others(squares) / 3.0,
        (GeomKind::Box | GeomKind::HeightField, true) => {
            // Second moments of the three pairs of plates along each axis.
            let area = Vector3::new(b * c, c * a, a * b) / (a * b + b * c + c * a);
            let along = |k: usize| squares[k] * (area[k] + (1.0 - area[k]) / 3.0);
            others(Vector3::new(along(0), along(1), along(2)))
        }
        (GeomKind::Plane | GeomKind::Mesh | GeomKind::Sdf, _) => Vector3::zeros(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SOLIDS: [GeomKind; 5] = [
        GeomKind::Sphere,
        GeomKind::Capsule,
        GeomKind::Cylinder,
        GeomKind::Ellipsoid,
        GeomKind::Box,
    ];

    /// A shell is the derivative of the solid with respect to the thickness of a layer around it:
    /// of the volume, and of the second moments of the volume.
    #[test]
    fn a_shell_is_the_difference_of_two_solids() {
        let size = Vector3::new(0.1, 0.2, 0.3);
        // The difference quotient errs by h/size, and by the square of round-off over it.
        let h = 1e-6;
        for kind in SOLIDS.into_iter().filter(|kind| *kind != GeomKind::Ellipsoid) {
            let thicken = match kind {
                GeomKind::Sphere | GeomKind::Capsule => Vector3::new(h, 0.0, 0.0),
                _ => Vector3::repeat(h),
            };
            let (inner, outer) = (size, size + thicken);
            let volume = |s: &Vector3<f64>| measure(kind, s, false);
            let area = (volume(&outer) - volume(&inner)) / h;
            let found = measure(kind, &size, true);
            assert!((area - found).abs() <= 1e-4 * found, "{kind:?}: {found} against {area}");
            let moments = |s: &Vector3<f64>| inertia(kind, s, false) * volume(s);
            let expected = (moments(&outer) - moments(&inner)) / (volume(&outer) - volume(&inner));
            let found = inertia(kind, &size, true);
            assert!((expected - found).amax() <= 1e-4 * found.amax(), "{kind:?}: {found}");
        }
    }

    #[test]
    fn round_shapes_of_equal_radii_are_spheres() {
        let r = 0.3;
        for shell in [false, true] {
            let ball = inertia(GeomKind::Sphere, &Vector3::new(r, 0.0, 0.0), shell);
            let as_capsule = inertia(GeomKind::Capsule, &Vector3::new(r, 0.0, 0.0), shell);
            assert!((ball - as_capsule).amax() <= 1e-15);
            // The shell of an ellipsoid is a layer of finite thickness, wider by half of it.
            let as_ellipsoid = inertia(GeomKind::Ellipsoid, &Vector3::repeat(r), shell);
            assert!((ball - as_ellipsoid).amax() <= 2.0 * SHELL, "{as_ellipsoid}");
            let area = measure(GeomKind::Ellipsoid, &Vector3::repeat(r), shell);
            let exact = measure(GeomKind::Sphere, &Vector3::new(r, 0.0, 0.0), shell);
            assert!((area - exact).abs() <= 1e-14);
        }
    }
}
