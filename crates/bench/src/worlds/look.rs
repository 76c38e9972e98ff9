//! Quantities of one state that the oracles compare, from state and geometry alone.

use nalgebra::Vector3;
use stiction_mech::{
    BodyId, Data, Joint, Model, State, angular_velocity, kinematics, kinetic_energy, momentum,
    point_velocity, potential_energy, soft_kinetic_energy, soft_momentum, soft_potential_energy,
    velocities,
};
use stiction_sim::World;
use stiction_sim::constraint::Equality;

/// A state with its poses, velocities and energies.
#[derive(Clone, Debug)]
pub struct Look {
    /// The state.
    pub state: State,
    /// Poses and velocities of bodies.
    pub data: Data,
    /// Kinetic energy [J].
    pub kinetic: f64,
    /// Energy of weight, springs, cables and soft bodies [J].
    pub potential: f64,
    /// Linear momentum [N·s].
    pub momentum: Vector3<f64>,
    /// Per body: speed of its farthest point [m/s], an upper bound.
    pub speed: Vec<f64>,
    /// Per body: angular speed [rad/s].
    pub turn: Vec<f64>,
    /// Position errors of equalities, translations [m] and turns [rad].
    pub equality: Vec<[f64; 2]>,
    /// Per joint: distance of its coordinates beyond its limit [m, rad].
    pub limits: Vec<f64>,
}

/// Per body: distance of the farthest point of its shapes from its origin [m].
pub fn radii(world: &World) -> Vec<f64> {
    let mut radius = vec![0.0_f64; world.model().bodies().len()];
    for geom in world.geoms().iter().filter(|geom| geom.body != BodyId::WORLD) {
        let reach = geom.pose.translation.vector.norm() + geom.shape.bounding_radius();
        radius[geom.body.0] = radius[geom.body.0].max(reach);
    }
    radius
}

impl Look {
    /// Looks at a state.
    pub fn of(world: &World, state: &State, radius: &[f64]) -> Self {
        let model = world.model();
        let mut data = Data::new(model);
        kinematics(model, &state.q, &mut data);
        velocities(model, &state.v, &mut data);
        let kinetic =
            kinetic_energy(model, &data, &state.v) + soft_kinetic_energy(model, &state.x_dot);
        let potential =
            potential_energy(model, &data, &state.q) + soft_potential_energy(model, &state.x);
        let origin = Vector3::zeros();
        let momentum = momentum(model, &data, origin).0
            + soft_momentum(model, &state.x, &state.x_dot, origin).0;
        let count = model.bodies().len();
        let (mut speed, mut turn) = (vec![0.0; count], vec![0.0; count]);
        for link in model.links() {
            let (body, p_WB) = (BodyId(link.body), data.body_pose[link.body].translation.vector);
            turn[link.body] = angular_velocity(&data, body).norm();
            speed[link.body] = point_velocity(model, &data, body, p_WB).norm()
                + turn[link.body] * (radius[link.body].max(link.com.norm()));
        }
        let equality = world.equalities().iter().map(|e| equality_error(e, &data)).collect();
        let limits = limit_errors(model, &state.q);
        Self {
            state: state.clone(),
            data,
            kinetic,
            potential,
            momentum,
            speed,
            turn,
            equality,
            limits,
        }
    }

    /// The largest entry of two arrays.
    pub fn largest(a: &[f64], b: &[f64]) -> f64 {
        a.iter().chain(b).copied().fold(0.0, f64::max)
    }
}

/// Distance by which the points of an equality are apart from where they should be [m], and the angle by which a
/// weld is turned [rad].
fn equality_error(equality: &Equality, data: &Data) -> [f64; 2] {
    let point = |body: BodyId, p: &Vector3<f64>| {
        let X_WB = &data.body_pose[body.0];
        X_WB.translation.vector + X_WB.rotation * p
    };
    match equality {
        Equality::Connect(c) => {
            [(point(c.body_a, &c.point_a) - point(c.body_b, &c.point_b)).norm(), 0.0]
        }
        Equality::Distance(d) => {
            let between = point(d.body_a, &d.point_a) - point(d.body_b, &d.point_b);
            [(between.norm() - d.distance).abs(), 0.0]
        }
        Equality::Weld(w) => {
            let target = point(w.body_a, &w.pose.translation.vector);
            let rotation = data.body_pose[w.body_a.0].rotation * w.pose.rotation;
            let turn = rotation.angle_to(&data.body_pose[w.body_b.0].rotation);
            [(point(w.body_b, &Vector3::zeros()) - target).norm(), turn]
        }
        _ => [0.0; 2],
    }
}

/// Per joint: distance of its coordinates beyond its limit [m, rad]; the angle of a ball joint.
fn limit_errors(model: &Model, q: &[f64]) -> Vec<f64> {
    let error = |joint: &Joint| {
        let Some(limit) = joint.spec.limit else { return 0.0 };
        let beyond = |x: f64| (limit.lower - x).max(x - limit.upper).max(0.0);
        let coordinates = &q[joint.q.clone()];
        if joint.quaternion().is_some() {
            let vector = Vector3::from_column_slice(&coordinates[1..4]).norm();
            return beyond(2.0 * vector.atan2(coordinates[0].abs()));
        }
        coordinates.iter().map(|x| beyond(*x)).fold(0.0, f64::max)
    };
    model.joints().iter().map(error).collect()
}
