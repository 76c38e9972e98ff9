//! Forces of a fluid on an ellipsoid that moves in it, by MuJoCo's model.
//!
//! Forces and torques are in the frame of the semi-axes, at the centre, for velocities relative to the fluid
//! [MuJoCo, Computation, Fluid forces]: the fluid that moves along (added mass), drag of blunt and of slender bodies,
//! resistance to turning, lift by Kutta's condition, and Magnus lift. Viscous resistance, linear in the velocity, is in
//! the linear coefficients of a [`DragSpec`](super::DragSpec). Accelerations of the added mass are left out, as there.

use std::f64::consts::PI;

use nalgebra::{Vector3, Vector6};

/// Least value of a divisor.
const LEAST: f64 = 1e-15;

/// Nodes and weights of the Gauss-Kronrod rule of 15 points on [−1, 1], those that are not negative.
const KRONROD: [(f64, f64); 8] = [
    (0.0, 0.209_482_141_084_727_83),
    (0.207_784_955_007_898_47, 0.204_432_940_075_298_9),
    (0.405_845_151_377_397_2, 0.190_350_578_064_785_4),
    (0.586_087_235_467_691_1, 0.169_004_726_639_267_9),
    (0.741_531_185_599_394_4, 0.140_653_259_715_525_92),
    (0.864_864_423_359_769_1, 0.104_790_010_322_250_18),
    (0.949_107_912_342_758_5, 0.063_092_092_629_978_55),
    (0.991_455_371_120_812_6, 0.022_935_322_010_529_224),
];

/// An ellipsoid in a fluid.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct EllipsoidDrag {
    /// Density of the fluid [kg/m³].
    pub density: f64,
    /// Semi-axes [m].
    pub axes: Vector3<f64>,
    /// Drag of blunt bodies [-].
    pub blunt: f64,
    /// Drag of slender bodies [-].
    pub slender: f64,
    /// Drag of turning [-].
    pub angular: f64,
    /// Lift by Kutta's condition [-].
    pub kutta: f64,
    /// Magnus lift [-].
    pub magnus: f64,
    /// Added mass along each axis over the density [m³].
    added_mass: Vector3<f64>,
    /// Added moment of inertia about each axis over the density [m⁵].
    added_inertia: Vector3<f64>,
}

impl EllipsoidDrag {
    /// An ellipsoid of these semi-axes [m] in a fluid of this density [kg/m³], with coefficients of blunt, slender and
    /// angular drag, of Kutta lift and of Magnus lift.
    pub fn new(density: f64, axes: Vector3<f64>, coefficients: [f64; 5]) -> Self {
        let [blunt, slender, angular, kutta, magnus] = coefficients;
        let [x, y, z] = [axes.x, axes.y, axes.z];
        let kappa = Vector3::new(
            added_mass_kappa(x, y, z),
            added_mass_kappa(y, z, x),
            added_mass_kappa(z, x, y),
        );
        let size = volume(axes);
        let added_mass = kappa.map(|k| size * k / (2.0 - k).max(LEAST));
        let added_inertia = Vector3::from_fn(|i, _| {
            let (j, k) = ((i + 1) % 3, (i + 2) % 3);
            let (a, b) = (axes[j] * axes[j], axes[k] * axes[k]);
            let divisor = (2.0 * (a - b) + (a + b) * (kappa[j] - kappa[k])).abs().max(LEAST);
            size / 5.0 * (a - b).powi(2) * (kappa[k] - kappa[j]).abs() / divisor
        });
        Self { density, axes, blunt, slender, angular, kutta, magnus, added_mass, added_inertia }
    }

    /// Torque [N·m] and force [N] for angular velocity and velocity relative to the fluid, and how much of each is
    /// drag per unit of angular velocity and of velocity, not negative.
    pub(super) fn force(&self, motion: &Vector6<f64>) -> (Vector6<f64>, [f64; 2]) {
        let turning: Vector3<f64> = motion.fixed_rows::<3>(0).into();
        let moving: Vector3<f64> = motion.fixed_rows::<3>(3).into();
        let density = self.density;
        let momentum = density * self.added_mass.component_mul(&moving);
        let angular_momentum = density * self.added_inertia.component_mul(&turning);
        let drag = self.drag_per_velocity(&moving, &turning);
        let torque = momentum.cross(&moving) + angular_momentum.cross(&turning) - drag[0] * turning;
        let magnus = self.magnus * density * volume(self.axes) * turning.cross(&moving);
        let force = momentum.cross(&turning) + magnus + self.kutta_lift(&moving) - drag[1] * moving;
        (Vector6::new(torque.x, torque.y, torque.z, force.x, force.y, force.z), drag)
    }

    /// Products of two semi-axes: half diameters of the sections across each axis, multiplied [m²].
    fn sections(&self) -> Vector3<f64> {
        let d = self.axes;
        Vector3::new(d.y * d.z, d.z * d.x, d.x * d.y)
    }

    /// Σ s⁴ v², Σ s² v² of the sections s, and the area that the ellipsoid shows along its velocity [m²].
    fn projection(&self, moving: &Vector3<f64>) -> (f64, f64, f64) {
        let s = self.sections();
        let squares = s.component_mul(moving);
        let numerator = squares.norm_squared();
        let denominator = s.component_mul(&squares).norm_squared();
        (denominator, numerator, PI * (denominator / numerator.max(LEAST)).sqrt())
    }

    fn kutta_lift(&self, moving: &Vector3<f64>) -> Vector3<f64> {
        let (denominator, numerator, area) = self.projection(moving);
        let s = self.sections();
        let normal = s.component_mul(&s).component_mul(moving);
        let cosine = numerator / (moving.norm() * denominator).max(LEAST);
        let circulation = self.kutta * self.density * cosine * area * normal.cross(moving);
        circulation.cross(moving)
    }

    /// Torque per angular velocity [N·m·s] and force per velocity [N·s/m] of drag.
    fn drag_per_velocity(&self, moving: &Vector3<f64>, turning: &Vector3<f64>) -> [f64; 2] {
        let d = self.axes;
        let (largest, least) = (d.max(), d.min());
        let middle = d.sum() - largest - least;
        let (_, _, area) = self.projection(moving);
        let largest_area = PI * largest * middle;
        let moment = |along: f64, across: f64| 8.0 / 15.0 * PI * along * across.powi(4);
        let largest_moment = moment(middle, largest);
        let resistance = Vector3::from_fn(|i, _| {
            let own = moment(d[i], d[(i + 1) % 3].max(d[(i + 2) % 3]));
            turning[i] * (self.angular * own + self.slender * (largest_moment - own))
        });
        let area = self.blunt * area + self.slender * (largest_area - area);
        [self.density * resistance.norm(), self.density * moving.norm() * area]
    }
}

fn volume(axes: Vector3<f64>) -> f64 {
    4.0 / 3.0 * PI * axes.x * axes.y * axes.z
}

/// `κ = x y z ∫₀^∞ dλ / ((x² + λ) √((x² + λ)(y² + λ)(z² + λ)))` [Lamb, Hydrodynamics, §114], which gives the added mass
/// along x. With `λ = s u³/(1 − u)²` the integral is one over u in [0, 1], by Gauss and Kronrod.
fn added_mass_kappa(x: f64, y: f64, z: f64) -> f64 {
    let scale = (x.powi(3) * y * z).powf(0.4);
    let integrand = |u: f64| {
        let lambda = scale * u.powi(3) / (1.0 - u).powi(2);
        let slope = scale * u * u * (3.0 - u) / (1.0 - u).powi(3);
        let [a, b, c] = [x, y, z].map(|d| 1.0 + lambda / (d * d));
        slope / (a * (a * b * c).sqrt())
    };
    let sum = KRONROD.iter().map(|(node, weight)| {
        let right = integrand(0.5 + 0.5 * node);
        let left = if *node > 0.0 { integrand(0.5 - 0.5 * node) } else { 0.0 };
        0.5 * weight * (left + right)
    });
    sum.sum::<f64>() / (x * x)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_added_mass_of_a_ball_is_half_of_that_of_the_fluid_it_displaces() {
        // The rule of 15 points is wrong by 6e-7 of this integral.
        let ball = EllipsoidDrag::new(1.0, Vector3::repeat(0.3), [0.0; 5]);
        let half = 0.5 * volume(ball.axes);
        assert!((ball.added_mass - Vector3::repeat(half)).norm() <= 1e-6 * half, "{ball:?}");
        assert!(ball.added_inertia.norm() <= 1e-12);
    }

    #[test]
    fn a_blunt_ball_has_drag_of_its_section_and_no_force_across_its_motion() {
        let (density, radius, blunt) = (2.0, 0.3, 0.7);
        let ball =
            EllipsoidDrag::new(density, Vector3::repeat(radius), [blunt, 0.0, 0.0, 1.0, 0.0]);
        let v = Vector3::new(1.0, -2.0, 0.5);
        let (found, _) = ball.force(&Vector6::new(0.0, 0.0, 0.0, v.x, v.y, v.z));
        let exact = -density * v.norm() * PI * radius * radius * blunt * v;
        assert!((found.fixed_rows::<3>(3) - exact).norm() <= 1e-13 * exact.norm());
        assert!(found.fixed_rows::<3>(0).norm() <= 1e-13);
    }

    #[test]
    fn lift_and_the_added_mass_do_no_work() {
        let body = EllipsoidDrag::new(3.0, Vector3::new(0.1, 0.4, 0.2), [0.0, 0.0, 0.0, 0.9, 1.1]);
        let motion = Vector6::new(0.4, -1.0, 2.0, 1.0, -2.0, 0.5);
        let (force, drag) = body.force(&motion);
        assert!(drag == [0.0, 0.0] && force.norm() > 0.01, "{force}");
        assert!(force.dot(&motion).abs() <= 1e-14 * force.norm() * motion.norm());
    }
}
