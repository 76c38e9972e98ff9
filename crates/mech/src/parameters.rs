//! Parameters of a model that may change while it is simulated: masses, gravity, constants of joints and actuators.
//!
//! A model is otherwise constant: which bodies, joints, rows and arrays there are does not depend on these numbers.
//! Values are not checked here, and what is computed from a model keeps the old ones until it is told
//! ([`Forces::update_parameters`](crate::Forces::update_parameters),
//! [`Data::update_parameters`](crate::Data::update_parameters), [`InverseWeights`](crate::InverseWeights)).

use crate::actuator::{ActuatorId, ActuatorLaw};
use crate::body::BodyId;
use crate::inertia::MassProperties;
use crate::joint::{JointId, JointSpec};
use crate::model::Model;
use nalgebra::Vector3;
use stiction_math::spatial::Inertia10;

/// Parameters of a joint that may change while its model is simulated; see [`JointSpec`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct JointParameters {
    /// Damping [N·m·s/rad, N·s/m].
    pub damping: f64,
    /// Inertia added to the diagonal of the mass matrix [kg·m², kg].
    pub armature: f64,
    /// Stiffness of the spring [N·m/rad, N/m].
    pub stiffness: f64,
    /// Value of each scalar coordinate at which the spring is at rest [rad, m].
    pub spring_reference: f64,
    /// Largest force of dry friction [N·m, N].
    pub friction_loss: f64,
    /// Lower and upper end of its range [rad, m]; not numbers without limits.
    pub range: (f64, f64),
}

impl JointParameters {
    /// Those of a declaration.
    pub fn of(spec: &JointSpec) -> Self {
        Self {
            damping: spec.damping,
            armature: spec.armature,
            stiffness: spec.stiffness,
            spring_reference: spec.spring_reference,
            friction_loss: spec.friction_loss,
            range: spec.limit.map_or((f64::NAN, f64::NAN), |limit| (limit.lower, limit.upper)),
        }
    }
}

impl Model {
    /// Sets the acceleration of gravity [m/s²], world frame.
    pub fn set_gravity(&mut self, gravity: Vector3<f64>) {
        self.gravity = gravity;
    }

    /// Sets the mass properties of a body that has some, and those of its link. Cost: one pass over the bodies of its
    /// tree.
    pub fn set_mass_properties(&mut self, body: BodyId, mass: MassProperties) {
        let Some(entry) = self.bodies.get_mut(body.0).filter(|body| body.spec.mass.is_some())
        else {
            return;
        };
        entry.spec.mass = Some(mass);
        let (link, tree) = (entry.link, entry.tree);
        if let (Some(link), Some(tree)) = (link, tree) {
            self.update_link(link, tree);
            self.update_tree(tree);
        }
    }

    /// Sets the parameters of a joint. The ends of a range count if it has limits.
    pub fn set_joint(&mut self, joint: JointId, to: &JointParameters) {
        let Some(entry) = self.joints.get_mut(joint.0) else { return };
        let spec = &mut entry.spec;
        (spec.damping, spec.armature) = (to.damping, to.armature);
        (spec.stiffness, spec.spring_reference) = (to.stiffness, to.spring_reference);
        spec.friction_loss = to.friction_loss;
        if let Some(limit) = &mut spec.limit {
            (limit.lower, limit.upper) = to.range;
        }
        self.armature[entry.dofs.clone()].fill(to.armature);
        if spec.kind.quaternion().is_none() {
            self.q_spring[entry.q.clone()].fill(to.spring_reference);
        }
    }

    /// Sets the force law and the force range of an actuator.
    pub fn set_actuator(
        &mut self,
        actuator: ActuatorId,
        law: ActuatorLaw,
        force_range: Option<(f64, f64)>,
    ) {
        if let Some(entry) = self.compiled.actuators.get_mut(actuator.0) {
            (entry.spec.law, entry.spec.force_range) = (law, force_range);
        }
    }

    /// Sums the mass properties of the bodies of a link, in the order in which the builder does.
    fn update_link(&mut self, link: usize, tree: usize) {
        let Self { bodies, links, trees, .. } = self;
        let (mut sum, mut massive) = (Inertia10::default(), 0);
        let Ok(index) = links.binary_search_by_key(&link, |entry| entry.body) else { return };
        let entry = &mut links[index];
        (entry.compensated_mass, entry.compensated_moment) = (0.0, Vector3::zeros());
        for body in bodies[trees[tree].bodies.clone()].iter().filter(|b| b.link == Some(link)) {
            let Some(mass) = body.spec.mass else { continue };
            massive += 1;
            let inertia = mass.inertia_in_frame(&body.pose_in_link);
            sum += inertia;
            entry.add_compensation(body.spec.gravity_compensation, &inertia);
        }
        let own = bodies[link].spec.mass.filter(|_| massive == 1);
        entry.set_inertia(&sum, own.as_ref());
    }

    /// What a tree and a rod know of the masses of their links.
    fn update_tree(&mut self, tree: usize) {
        let entry = &mut self.trees[tree];
        let root = &self.links[entry.links.start];
        entry.constant_mass = entry.single && root.com == Vector3::zeros();
        if let Some(rod) = self.rod_of_tree[tree] {
            self.rods[rod.0].update_masses(&self.trees, &self.links);
        }
    }
}
