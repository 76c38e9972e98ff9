//! Differential inverse kinematics: changes of joint coordinates that bring a frame of a body nearer to a pose.
//!
//! With e the way from the frame to its target and z a pull towards a posture, `Δq = z + Jᵀ (J Jᵀ + ν² I)⁻¹ (e − J z)`
//! [Nakamura86]: damped least squares, so that the change is at most ‖e‖/2ν beside z however near the arm is to a singular
//! pose, and the posture acts where the pose leaves freedom. A coordinate that would leave its range stops at its end, and the
//! others take over what it does not do. O(joints) per iteration; no memory is taken after the start.
//!
//! The target is approached, not guaranteed: errors that remain are returned.

use crate::body::BodyId;
use crate::data::Data;
use crate::jacobian::for_each_column;
use crate::joint::{JointId, JointKind};
use crate::kinematics::tree_kinematics;
use crate::model::Model;
use nalgebra::{Isometry3, Matrix6, Vector3, Vector6};
use thiserror::Error;

/// How inverse kinematics compares, damps and limits.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct InverseKinematicsSettings {
    /// Length by which an error of angle is compared with one of position [m].
    pub lever: f64,
    /// Damping ν [m].
    pub damping: f64,
    /// Part of the way to the posture that an iteration takes [-].
    pub posture_gain: f64,
    /// Largest change of a coordinate in an iteration [rad, m].
    pub largest_change: f64,
}

impl Default for InverseKinematicsSettings {
    fn default() -> Self {
        Self { lever: 0.2, damping: 2e-3, posture_gain: 2e-3, largest_change: 0.2 }
    }
}

/// Why there is no inverse kinematics for a chain.
#[derive(Clone, Debug, Error, PartialEq)]
#[non_exhaustive]
pub enum InverseKinematicsError {
    /// There are no joints.
    #[error("inverse kinematics of body {body}: no joints; expected at least one")]
    NoJoint {
        /// Index of the body.
        body: usize,
    },
    /// A joint is neither a hinge nor a slide.
    #[error("inverse kinematics: joint \"{joint}\" is a {found}; expected a hinge or a slide")]
    Kind {
        /// Name of the joint.
        joint: String,
        /// Its kind.
        found: String,
    },
    /// A joint does not move the body.
    #[error(
        "inverse kinematics: joint \"{joint}\" does not move body \"{body}\"; expected one between it and the root"
    )]
    NotInChain {
        /// Name of the joint.
        joint: String,
        /// Name of the body.
        body: String,
    },
}

/// What is left between a frame and its target.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct PoseError {
    /// Distance [m].
    pub distance: f64,
    /// Angle [rad].
    pub angle: f64,
}

/// A coordinate that is free to move.
#[derive(Clone, Debug)]
struct Coordinate {
    q: usize,
    dof: usize,
    lower: f64,
    upper: f64,
    /// Value that is preferred [rad, m], if any.
    posture: Option<f64>,
    /// Column of the Jacobian: angular part times the lever, then linear.
    column: Vector6<f64>,
    change: f64,
    /// Whether it stops at the end of its range in this iteration.
    stopped: bool,
}

/// Inverse kinematics of a chain of hinges and slides that moves a body; other coordinates stay.
#[derive(Clone, Debug)]
pub struct InverseKinematics {
    /// How it compares, damps and limits.
    pub settings: InverseKinematicsSettings,
    body: BodyId,
    tree: usize,
    /// Pose of the frame in the body.
    tool: Isometry3<f64>,
    chain: Vec<Coordinate>,
    data: Data,
}

impl InverseKinematics {
    /// Inverse kinematics of the frame `tool` of a body by joints of the model, which keep to their ranges. The posture is the
    /// reference configuration.
    pub fn new(
        model: &Model,
        joints: &[JointId],
        body: BodyId,
        tool: Isometry3<f64>,
    ) -> Result<Self, InverseKinematicsError> {
        let tree = model.tree(body).filter(|_| !joints.is_empty());
        let tree = tree.ok_or(InverseKinematicsError::NoJoint { body: body.0 })?;
        let mut data = Data::new(model);
        tree_kinematics(model, tree, model.q0(), &mut data);
        let mut moving = Vec::new();
        for_each_column(model, &data, body, Vector3::zeros(), |dof, _, _| moving.push(dof));
        let mut chain = Vec::with_capacity(joints.len());
        for id in joints {
            let joint = &model.joints()[id.0];
            let name = || joint.spec.name.clone();
            if !matches!(joint.spec.kind, JointKind::Hinge { .. } | JointKind::Slide { .. }) {
                let found = format!("{:?}", joint.spec.kind);
                return Err(InverseKinematicsError::Kind { joint: name(), found });
            }
            if !moving.contains(&joint.dofs.start) {
                let body = model.bodies()[body.0].spec.name.clone();
                return Err(InverseKinematicsError::NotInChain { joint: name(), body });
            }
            let limit = joint.spec.limit;
            chain.push(Coordinate {
                q: joint.q.start,
                dof: joint.dofs.start,
                lower: limit.map_or(f64::NEG_INFINITY, |limit| limit.lower),
                upper: limit.map_or(f64::INFINITY, |limit| limit.upper),
                posture: Some(model.q0()[joint.q.start]),
                column: Vector6::zeros(),
                change: 0.0,
                stopped: false,
            });
        }
        let settings = InverseKinematicsSettings::default();
        Ok(Self { settings, body, tree, tool, chain, data })
    }

    /// Sets the posture [rad, m], one number per joint in their order; NaN for a joint without a preference.
    pub fn set_posture(&mut self, posture: &[f64]) {
        for (coordinate, posture) in self.chain.iter_mut().zip(posture) {
            coordinate.posture = posture.is_finite().then_some(*posture);
        }
    }

    /// Indices in q of the joints, in their order.
    pub fn coordinates(&self) -> impl Iterator<Item = usize> + '_ {
        self.chain.iter().map(|coordinate| coordinate.q)
    }

    /// Pose of the frame in the world at the coordinates `q` of the whole model.
    pub fn pose(&mut self, model: &Model, q: &[f64]) -> Isometry3<f64> {
        tree_kinematics(model, self.tree, q, &mut self.data);
        self.data.body_pose[self.body.0] * self.tool
    }

    /// Distance and angle of the frame from a target.
    pub fn error(&mut self, model: &Model, q: &[f64], target: &Isometry3<f64>) -> PoseError {
        let pose = self.pose(model, q);
        let distance = (target.translation.vector - pose.translation.vector).norm();
        PoseError { distance, angle: pose.rotation.angle_to(&target.rotation) }
    }

    /// Changes the coordinates of the chain in `q` so that the frame is nearer to a target: one iteration.
    pub fn improve(&mut self, model: &Model, q: &mut [f64], target: &Isometry3<f64>) {
        let pose = self.pose(model, q);
        let Self { settings, body, chain, data, .. } = self;
        let place = pose.translation.vector;
        let turn = (target.rotation * pose.rotation.inverse()).scaled_axis();
        let e = stack(&(turn * settings.lever), &(target.translation.vector - place));
        for_each_column(model, data, *body, place, |dof, w, v| {
            if let Some(coordinate) = chain.iter_mut().find(|coordinate| coordinate.dof == dof) {
                coordinate.column = stack(&(w * settings.lever), &v);
            }
        });
        for coordinate in chain.iter_mut() {
            coordinate.stopped = false;
        }
        // Each round at least one more coordinate stops.
        for _ in 0..=chain.len() {
            if !solve(settings, chain, q, &e) {
                break;
            }
        }
        for coordinate in chain.iter() {
            let value = q[coordinate.q] + coordinate.change;
            q[coordinate.q] = value.clamp(coordinate.lower, coordinate.upper);
        }
    }
}

fn stack(angular: &Vector3<f64>, linear: &Vector3<f64>) -> Vector6<f64> {
    Vector6::new(angular.x, angular.y, angular.z, linear.x, linear.y, linear.z)
}

/// Finds the changes of the coordinates that are not stopped; true if one of them stops now.
fn solve(
    settings: &InverseKinematicsSettings,
    chain: &mut [Coordinate],
    q: &[f64],
    e: &Vector6<f64>,
) -> bool {
    let InverseKinematicsSettings { damping, posture_gain, largest_change, .. } = *settings;
    let mut squared = Matrix6::identity() * (damping * damping);
    let mut left = *e;
    for coordinate in chain.iter_mut() {
        if !coordinate.stopped {
            squared += coordinate.column * coordinate.column.transpose();
            let pull = coordinate.posture.map_or(0.0, |posture| posture - q[coordinate.q]);
            coordinate.change = posture_gain * pull;
        }
        left -= coordinate.column * coordinate.change;
    }
    let Some(factor) = squared.cholesky() else { return false };
    let y = factor.solve(&left);
    let mut largest: f64 = 0.0;
    for coordinate in chain.iter_mut().filter(|coordinate| !coordinate.stopped) {
        coordinate.change += coordinate.column.dot(&y);
        largest = largest.max(coordinate.change.abs());
    }
    let part = (largest_change / largest).min(1.0);
    let mut any = false;
    for coordinate in chain.iter_mut().filter(|coordinate| !coordinate.stopped) {
        coordinate.change *= part;
        let present = q[coordinate.q];
        let value = present + coordinate.change;
        let end = value.clamp(coordinate.lower, coordinate.upper);
        if value != end {
            (coordinate.change, coordinate.stopped, any) = (end - present, true, true);
        }
    }
    any
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::body::BodySpec;
    use crate::builder::ModelBuilder;
    use crate::inertia::MassProperties;
    use crate::joint::{JointSpec, Limit};
    use nalgebra::Matrix3;

    /// An arm of seven hinges, alternately along and across it, with links of 0.2 m; the hand is at its end.
    fn arm(limit: Option<Limit>) -> (Model, Vec<JointId>, BodyId, Vec<f64>) {
        let mut builder = ModelBuilder::new();
        let (mut parent, mut joints) = (BodyId::WORLD, Vec::new());
        for k in 0..7 {
            let axis = if k % 2 == 0 { Vector3::z() } else { Vector3::y() };
            let centre = Vector3::new(0.0, 0.0, 0.1);
            let mass = MassProperties::new(1.0, centre, Matrix3::identity() * 0.01).unwrap();
            let up = if k == 0 { 0.0 } else { 0.2 };
            parent = builder.body(BodySpec {
                name: format!("link-{k}"),
                parent,
                pose: Isometry3::translation(0.0, 0.0, up),
                mass: Some(mass),
                ..BodySpec::default()
            });
            let spec = JointSpec { limit, ..JointSpec::new(JointKind::Hinge { axis }) };
            joints.push(builder.joint(parent, spec));
        }
        let bent = vec![0.0, 0.4, 0.0, 1.2, 0.0, 1.0, 0.0];
        (builder.build().unwrap(), joints, parent, bent)
    }

    fn tool() -> Isometry3<f64> {
        Isometry3::translation(0.0, 0.0, 0.2)
    }

    #[test]
    fn a_pose_that_is_in_reach_is_reached() {
        let (model, joints, hand, bent) = arm(None);
        let mut ik = InverseKinematics::new(&model, &joints, hand, tool()).unwrap();
        ik.set_posture(&bent);
        // Poses of the arm itself are in reach.
        for shift in [0.1, -0.2, 0.3] {
            let way = |(k, q): (usize, &f64)| q + shift / (1.0 + k as f64);
            let other: Vec<f64> = bent.iter().enumerate().map(way).collect();
            let target = ik.pose(&model, &other);
            let mut q = bent.clone();
            (0..300).for_each(|_| ik.improve(&model, &mut q, &target));
            // The pull towards the posture is projected out up to the damping: ν² over the square of the least singular value, of the
            // order of 0.1 m, times the pull of 2e-3 of a few tenths of a radian.
            let error = ik.error(&model, &q, &target);
            assert!(error.distance < 1e-5 && error.angle < 1e-4, "{error:?}");
        }
    }

    #[test]
    fn limits_hold_and_the_other_joints_take_over() {
        let limit = Limit { lower: -1.3, upper: 1.3, margin: 0.0 };
        let (model, joints, hand, bent) = arm(Some(limit));
        let mut ik = InverseKinematics::new(&model, &joints, hand, tool()).unwrap();
        ik.set_posture(&bent);
        let mut wanted = bent.clone();
        (wanted[0], wanted[3]) = (1.2, 1.25);
        let target = ik.pose(&model, &wanted);
        // Starts beyond the end of a range as well.
        let mut q = bent.clone();
        q[3] = 1.29;
        for _ in 0..500 {
            ik.improve(&model, &mut q, &target);
            assert!(q.iter().all(|q| (-1.3..=1.3).contains(q)), "{q:?}");
        }
        let error = ik.error(&model, &q, &target);
        assert!(error.distance < 1e-4 && error.angle < 1e-3, "{error:?}");
        // What is out of reach leaves them at their ends, no farther.
        let far = Isometry3::translation(0.0, 0.0, -3.0);
        (0..500).for_each(|_| ik.improve(&model, &mut q, &far));
        assert!(q.iter().all(|q| (-1.3..=1.3).contains(q)), "{q:?}");
    }

    #[test]
    fn changes_stay_bounded_at_a_singular_pose() {
        let (model, joints, hand, _) = arm(None);
        let mut ik = InverseKinematics::new(&model, &joints, hand, tool()).unwrap();
        ik.settings.posture_gain = 0.0;
        ik.settings.largest_change = f64::INFINITY;
        // Stretched out: the arm cannot move along itself.
        let mut q = vec![0.0; 7];
        let way = 1e-4;
        let pose = ik.pose(&model, &q);
        let target = Isometry3::translation(1e-5, 2e-5, way) * pose;
        let before = q.clone();
        ik.improve(&model, &mut q, &target);
        let change = q.iter().zip(&before).map(|(a, b)| (a - b).powi(2)).sum::<f64>().sqrt();
        // The largest singular value of Jᵀ (J Jᵀ + ν²)⁻¹ is 1/2ν.
        let e = (way * way + 5e-10_f64).sqrt();
        assert!(change <= e / (2.0 * ik.settings.damping) * (1.0 + 1e-9), "{change}");
    }

    #[test]
    fn the_posture_acts_where_the_pose_leaves_freedom() {
        let (model, joints, hand, bent) = arm(None);
        let mut ik = InverseKinematics::new(&model, &joints, hand, tool()).unwrap();
        ik.set_posture(&bent);
        let target = ik.pose(&model, &bent);
        // Away from the posture, then back to the pose: the elbow returns as well.
        let mut q: Vec<_> = bent.iter().map(|q| q + 0.2).collect();
        ik.settings.posture_gain = 0.1;
        (0..1000).for_each(|_| ik.improve(&model, &mut q, &target));
        let off = q.iter().zip(&bent).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
        assert!(off < 1e-6, "{off}");
    }

    #[test]
    fn chains_that_do_not_move_the_body_are_refused() {
        let (model, joints, _, _) = arm(None);
        let first = BodyId(1);
        let found = InverseKinematics::new(&model, &joints, first, tool());
        assert!(matches!(found, Err(InverseKinematicsError::NotInChain { .. })));
        let found = InverseKinematics::new(&model, &[], first, Isometry3::identity());
        assert!(matches!(found, Err(InverseKinematicsError::NoJoint { .. })));
    }
}
