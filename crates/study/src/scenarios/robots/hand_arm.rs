//! An arm of seven hinges that carries a hand, led by inverse kinematics of its palm.

use nalgebra::Isometry3;
use stiction_geom::Groups;
use stiction_mech::{BodyId, BodySpec, InverseKinematics, JointId, Model};
use stiction_scene::pose_follower::{PoseFollower, PosePath};
use stiction_sim::{Surface, WorldBuilder};

use super::hand::{Hand, HandSpec};
use super::manipulator::{self, AT_EASE, DAMPING_TIME, JOINTS, Manipulator};
use super::reach::ArmInverseKinematics;
use crate::error::StudyError;

/// Width of the flange of the arm [m].
const FLANGE: f64 = 0.06;

/// An arm with a hand that was added to a world, in the ids of its builder.
#[derive(Clone, Debug)]
pub struct HandArm {
    name: String,
    spec: HandSpec,
    arm: Manipulator,
    hand: Hand,
    palm: BodyId,
}

/// A hinge that bends a digit.
#[derive(Clone, Copy, Debug)]
pub struct Bend {
    /// Place of its servo among the controls.
    pub control: usize,
    /// Place of its angle among the coordinates.
    pub coordinate: usize,
}

/// Adds an arm that stands at `base` with its palm at a pose. Shapes of the hand collide according to `groups`; those of the arm can
/// only be seen.
pub fn add(
    builder: &mut WorldBuilder,
    name: &str,
    base: Isometry3<f64>,
    spec: HandSpec,
    palm: &Isometry3<f64>,
    surface: Surface,
    groups: Groups,
) -> Result<HandArm, StudyError> {
    let on_flange = Isometry3::translation(0.0, 0.0, spec.palm[2]);
    let flange = palm * on_flange.inverse();
    let angles = ArmInverseKinematics::new(base)?.first_angles(&flange);
    let arm = manipulator::add(builder, name, base, &angles, FLANGE)?;
    let palm = builder.mechanism.body(BodySpec {
        name: format!("{name}-palm"),
        parent: arm.hand,
        pose: on_flange,
        mass: Some(spec.palm_mass()?),
        gravity_compensation: 1.0,
        ..BodySpec::default()
    });
    let hand = spec.add(builder, name, palm, surface, groups)?;
    Ok(HandArm { name: name.to_owned(), spec, arm, hand, palm })
}

impl HandArm {
    /// The palm in the model that was built.
    pub fn palm(&self, model: &Model) -> BodyId {
        model.body_of_builder(self.palm).unwrap_or(self.palm)
    }

    /// Leads the palm along poses. The hinges of the arm prefer their angles at ease but for those that are `free`.
    pub fn follower(
        &self,
        model: &Model,
        free: &[usize],
        path: PosePath,
    ) -> Result<PoseFollower, StudyError> {
        let joint = |k| model.joint(&format!("{}-{k}", self.name));
        let joints: Vec<JointId> = (0..JOINTS).filter_map(joint).collect();
        let mut chain =
            InverseKinematics::new(model, &joints, self.palm(model), Isometry3::identity())?;
        let posture: [f64; JOINTS] =
            std::array::from_fn(|k| if free.contains(&k) { f64::NAN } else { AT_EASE[k] });
        chain.set_posture(&posture);
        let first = self.arm.first_control;
        let controls = (first..first + JOINTS).collect();
        Ok(PoseFollower::new(model, chain, controls, DAMPING_TIME, path))
    }

    /// The hinges that bend each digit, from the palm outward.
    pub fn bends(&self, model: &Model) -> Vec<Vec<Bend>> {
        let mut servos = self.hand.servos.iter().map(|servo| servo.0);
        let mut digits = Vec::with_capacity(self.spec.digits.len());
        for digit in self.spec.digits {
            let spreads = usize::from(digit.spreads);
            let hinge = |(k, control): (usize, usize)| {
                let joint = model.joint(&format!("{}-{}-hinge-{k}", self.name, digit.name))?;
                Some(Bend { control, coordinate: model.joints()[joint.0].q.start })
            };
            let hinges = servos.by_ref().take(spreads + digit.links.len()).enumerate();
            digits.push(hinges.skip(spreads).filter_map(hinge).collect());
        }
        digits
    }
}
