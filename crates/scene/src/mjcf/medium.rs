//! Forces of the medium around the bodies, by MuJoCo's model of boxes.
//!
//! Each body is treated as the box that has its inertia: half sides
//! `r_i = √(3/(2 m) (I_j + I_k − I_i))` along its principal axes. With the viscosity β and the mean
//! half side r, force and torque are `−6 π β r v` and `−8 π β r³ ω`; with the density ρ they are
//! `−2 ρ r_j r_k |v_i| v_i` and `−½ ρ r_i (r_j⁴ + r_k⁴) |ω_i| ω_i` along and about each axis, at the
//! centre of mass [MuJoCo, Computation, Fluid forces]. Velocities are relative to the wind.
//! Geoms with `fluidshape="ellipsoid"` have the forces of [`EllipsoidDrag`] instead.

use std::f64::consts::PI;

use nalgebra::{Matrix3, Vector3, Vector6};
use stiction_mech::{BodyId, DragSpec, EllipsoidDrag};

use super::build::{Build, BuiltGeom, GeomKind};
use crate::error::SceneError;
use crate::xml::Element;

/// The medium around the bodies.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Medium {
    /// Density [kg/m³].
    pub density: f64,
    /// Viscosity [Pa·s].
    pub viscosity: f64,
    /// Velocity of the medium in the world [m/s].
    pub wind: Vector3<f64>,
}

impl Medium {
    /// Reads the attributes of an `<option>`.
    pub fn merge(&mut self, option: &Element) -> Result<(), SceneError> {
        for (name, value) in [("density", &mut self.density), ("viscosity", &mut self.viscosity)] {
            if let Some(found) = option.number(name)? {
                if !(found >= 0.0) {
                    return Err(option.wrong(name, "a number that is not negative"));
                }
                *value = found;
            }
        }
        self.wind = option.vector("wind")?.unwrap_or(self.wind);
        Ok(())
    }

    fn is_none(&self) -> bool {
        self.density == 0.0 && self.viscosity == 0.0
    }
}

/// Half sides [m] of the box of a mass [kg] and principal moments of inertia [kg·m²].
fn half_sides(mass: f64, moments: Vector3<f64>) -> Vector3<f64> {
    let sum = moments.sum();
    moments.map(|own| (1.5 / mass * (sum - 2.0 * own)).max(0.0).sqrt())
}

/// Gives every body the resistance of the medium. All bodies must have been read. A body with geoms for the model of
/// ellipsoids has their forces, any other those of its box; a body without mass has none.
pub(super) fn apply(build: &mut Build) {
    let medium = build.medium;
    if medium.is_none() {
        return;
    }
    let declared = build.world.mechanism.declared().bodies;
    let mut drags = Vec::new();
    let mut has_ellipsoid = vec![false; declared.len()];
    let has_mass = |id: BodyId| declared[id.0].mass.is_some_and(|mass| mass.mass() > 0.0);
    for geom in build.geoms.items() {
        let Some(coefficients) = geom.fluid.filter(|_| has_mass(geom.body)) else { continue };
        has_ellipsoid[geom.body.0] = true;
        drags.push(medium.ellipsoid(geom, coefficients));
    }
    for made in build.bodies.items().iter().filter(|made| !has_ellipsoid[made.id.0]) {
        let Some(mass) = declared[made.id.0].mass.filter(|mass| mass.mass() > 0.0) else {
            continue;
        };
        let axes: Matrix3<f64> = made.inertial.rotation.to_rotation_matrix().into_inner();
        let moments = (axes.transpose() * mass.inertia() * axes).diagonal();
        let (linear, quadratic) = medium.coefficients(half_sides(mass.mass(), moments));
        let (body, frame, wind) = (made.id, made.inertial, medium.wind);
        drags.push(DragSpec { body, frame, linear, quadratic, wind, ellipsoid: None });
    }
    for drag in drags {
        build.world.mechanism.drag(drag);
    }
}

impl Medium {
    /// Forces on the ellipsoid of a geom. Of a viscous medium they are those on a ball of the mean semi-axis.
    fn ellipsoid(&self, geom: &BuiltGeom, coefficients: [f64; 5]) -> DragSpec {
        let [x, y, z] = [geom.size.x, geom.size.y, geom.size.z];
        let axes = match geom.kind {
            GeomKind::Sphere => Vector3::repeat(x),
            GeomKind::Capsule => Vector3::new(x, x, x + y),
            GeomKind::Cylinder => Vector3::new(x, x, y),
            _ => Vector3::new(x, y, z),
        };
        let diameter = 2.0 * axes.mean();
        let turning = PI * self.viscosity * diameter.powi(3);
        let moving = 3.0 * PI * self.viscosity * diameter;
        DragSpec {
            body: geom.body,
            frame: geom.pose,
            linear: Vector6::new(turning, turning, turning, moving, moving, moving),
            quadratic: Vector6::zeros(),
            wind: self.wind,
            ellipsoid: Some(EllipsoidDrag::new(self.density, axes, coefficients)),
        }
    }
}

impl Medium {
    /// Linear and quadratic resistance of a box of half sides r [m], angular first.
    fn coefficients(&self, r: Vector3<f64>) -> (Vector6<f64>, Vector6<f64>) {
        let mean = r.mean();
        let (turning, moving) =
            (8.0 * PI * self.viscosity * mean.powi(3), 6.0 * PI * self.viscosity * mean);
        let mut quadratic = Vector6::zeros();
        for i in 0..3 {
            let (r_i, r_j, r_k) = (r[i], r[(i + 1) % 3], r[(i + 2) % 3]);
            quadratic[i] = 0.5 * self.density * r_i * (r_j.powi(4) + r_k.powi(4));
            quadratic[3 + i] = 2.0 * self.density * r_j * r_k;
        }
        (Vector6::new(turning, turning, turning, moving, moving, moving), quadratic)
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{error, model};
    use super::*;
    use stiction_sim::Simulation;

    #[test]
    fn a_solid_box_is_treated_as_itself() {
        let (mass, r) = (2.0, Vector3::new(0.1, 0.2, 0.4));
        let square = r.component_mul(&r);
        let moments = square.map(|own| mass / 3.0 * (square.sum() - own));
        assert!((half_sides(mass, moments) - r).norm() <= 1e-15);
    }

    #[test]
    fn a_ball_sinks_at_the_speed_at_which_drag_balances_its_weight() {
        let (mass, radius, viscosity, g) = (0.5, 0.1_f64, 3.0, 9.81);
        let found = model(&format!(
            "<option viscosity='{viscosity}' wind='0 1 0'/>
             <worldbody><body><freejoint/><geom size='{radius}' mass='{mass}'/></body></worldbody>"
        ));
        assert!(found.unsupported.is_empty(), "{:?}", found.unsupported);
        let mut simulation = Simulation::new(found.world, found.settings).unwrap();
        for _ in 0..1000 {
            let _ = simulation.step().unwrap();
        }
        // The box of a ball has half sides of √(3/5) radii. Two seconds are 17 time constants
        // m/(6 π β r), in which the rest of the way falls by e¹⁷.
        let exact = mass * g / (6.0 * PI * viscosity * 0.6_f64.sqrt() * radius);
        let v = &simulation.state().v;
        assert!((v[2] + exact).abs() <= 1e-6 * exact, "{} against {exact}", v[2]);
        assert!((v[1] - 1.0).abs() <= 1e-6, "carried by the wind: {}", v[1]);
    }

    #[test]
    fn a_geom_of_the_model_of_ellipsoids_replaces_the_box_of_its_body() {
        let found = |shape: &str| {
            let text = format!(
                "<option density='1'/><worldbody><body><freejoint/>
                 <geom size='1' fluidshape='{shape}'/></body></worldbody>"
            );
            let found = model(&text);
            assert!(found.unsupported.is_empty(), "{:?}", found.unsupported);
            let drags = found.world.model().drags().to_vec();
            assert_eq!(drags.len(), 1);
            drags[0].ellipsoid.is_some()
        };
        assert!(found("ellipsoid") && !found("none"));
        assert!(error("<option viscosity='-1'/>").contains("not negative"));
    }
}
