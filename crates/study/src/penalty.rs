//! The penalty model of contact: explicit springs and dampers at points of a body [Yamane06], a
//! baseline for what the contact problem replaces.
//!
//! Each point below the ground z = 0 is pushed by `f_n = max(0, −k z − d ż)` and dragged against its
//! sliding by `f_t = min(μ f_n, d_t |v_t|)`, all at the state before the step. Works as a controller
//! that writes the wrench of the body, whose shapes must touch nothing. Sinks by its rest
//! compression, and is stable only while `h (h k + d)` is small against the mass.

use nalgebra::{Point3, Vector3, Vector6};
use stiction_mech::{BodyId, point_velocity};
use stiction_sim::Simulation;

use stiction_scene::Controller;

/// Springs and dampers at points of one body.
#[derive(Clone, Debug)]
pub struct Penalty {
    /// The body.
    pub body: BodyId,
    /// Points that can touch, body frame [m].
    pub points: Vec<Vector3<f64>>,
    /// Stiffness k of each point [N/m].
    pub stiffness: f64,
    /// Damping d of the normal [N·s/m].
    pub damping: f64,
    /// Damping d_t that stands for stiction [N·s/m].
    pub sliding_damping: f64,
    /// Coefficient of friction μ [-].
    pub friction: f64,
}

impl Penalty {
    /// Force of a point [N] at a height [m] with a velocity [m/s].
    pub fn force(&self, height: f64, velocity: Vector3<f64>) -> Vector3<f64> {
        if height >= 0.0 {
            return Vector3::zeros();
        }
        let normal = (-self.stiffness * height - self.damping * velocity.z).max(0.0);
        let sliding = Vector3::new(velocity.x, velocity.y, 0.0);
        let speed = sliding.norm();
        let drag = (self.friction * normal).min(self.sliding_damping * speed);
        let along = if speed > 0.0 { sliding * (drag / speed) } else { Vector3::zeros() };
        Vector3::new(-along.x, -along.y, normal)
    }
}

impl Penalty {
    /// Adds the forces of all points to a wrench about the body's centre of mass, angular first.
    fn wrench(&self, simulation: &mut Simulation) -> Vector6<f64> {
        let pose = simulation.body_pose(self.body.0);
        let world = simulation.world().clone();
        let spec = &world.model().bodies()[self.body.0].spec;
        let com = spec.mass.as_ref().map_or(Vector3::zeros(), |mass| mass.com());
        let centre = pose * Point3::from(com);
        let data = simulation.data();
        let mut wrench = Vector6::zeros();
        for point in &self.points {
            let place = pose * Point3::from(*point);
            let force =
                self.force(place.z, point_velocity(world.model(), data, self.body, place.coords));
            let torque = (place - centre).cross(&force);
            wrench += Vector6::new(torque.x, torque.y, torque.z, force.x, force.y, force.z);
        }
        wrench
    }
}

impl Controller for Penalty {
    fn control(&mut self, simulation: &mut Simulation) {
        let wrench = self.wrench(simulation);
        simulation.input_mut().wrench[self.body.0] = wrench;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn penalty() -> Penalty {
        Penalty {
            body: BodyId(1),
            points: Vec::new(),
            stiffness: 100.0,
            damping: 2.0,
            sliding_damping: 20.0,
            friction: 0.2,
        }
    }

    #[test]
    fn nothing_pulls_and_friction_stays_in_its_cone() {
        let model = penalty();
        for (height, v) in [
            (-0.01, Vector3::new(3.0, -4.0, 0.0)),
            (-0.01, Vector3::new(1e-3, 0.0, -0.1)),
            (-0.01, Vector3::new(0.0, 1.0, 10.0)),
            (0.01, Vector3::new(1.0, 1.0, -1.0)),
        ] {
            let f = model.force(height, v);
            assert!(f.z >= 0.0);
            // One root and one quotient: a few ulps.
            assert!(f.xy().norm() <= 0.2 * f.z * (1.0 + 1e-14), "{f}");
            assert!(f.xy().dot(&v.xy()) <= 0.0, "{f}");
        }
        assert_eq!(model.force(-0.01, Vector3::zeros()), Vector3::new(0.0, 0.0, 1.0));
    }
}
