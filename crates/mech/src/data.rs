//! Intermediate results of the dynamics: every array with its stage, its producer and its shape.
//!
//! All values are computed from the model and a state. Spatial vectors are expressed in world axes,
//! taken at the point [`Data::reference`] of their tree, angular part first; a reference point per
//! tree keeps round-off small wherever the tree is. No function that fills these arrays allocates.
//!
//! | stage | producer | needs | arrays |
//! |---|---|---|---|
//! | position | [`kinematics`] | q | `body_pose`, `reference`, `anchor`, `subspace`, `tendon_gradient`, `link_inertia` |
//! | velocity | [`velocities`](crate::velocities) | position, v | `velocity`, `joint_bias` |
//! | bias | [`bias_forces`](crate::bias_forces) | velocity, v | `bias` |
//! | mass | [`mass_matrix`](crate::mass_matrix) | position | `mass` |
//! | factor | [`factor_mass`](crate::factor_mass) | mass | `factor` |

use crate::body::BodyId;
use crate::driven::set_driven_poses;
use crate::fused::{Columns, IDENTITY};
use crate::kinematics::kinematics;
use crate::mass;
use crate::model::Model;
use nalgebra::{Isometry3, Matrix6, Vector3, Vector6};
use stiction_math::spatial::Inertia10;

/// The arrays that the stages of the dynamics produce and consume.
#[derive(Clone, Debug)]
pub struct Data {
    // Stage: position, by `kinematics`.
    /// Pose `X_WB` of each body in the world; per body.
    pub body_pose: Vec<Isometry3<f64>>,
    /// Point at which the spatial vectors of a tree are taken: the centre of mass of its root link
    /// [m], world frame; per tree.
    pub reference: Vec<Vector3<f64>>,
    /// A point on the axis of each coordinate [m], world frame; per dof.
    pub anchor: Vec<Vector3<f64>>,
    /// Column S of the motion subspace: spatial velocity of the link at unit velocity of the
    /// coordinate; per dof.
    pub subspace: Vec<Vector6<f64>>,
    /// Gradient of each tendon with armature over all velocities, one after the other.
    pub(crate) tendon_gradient: Vec<f64>,
    /// Spatial inertia of each link including its welded bodies, about the tree's reference point,
    /// world axes; per body, zero for bodies that are not links.
    pub link_inertia: Vec<Inertia10>,

    // Stage: velocity, by `velocities`.
    /// Spatial velocity [rad/s, m/s]; per body.
    pub velocity: Vec<Vector6<f64>>,
    /// Bias acceleration Ṡ v of the joints of a link [rad/s², m/s²]; per body, zero for bodies that
    /// are not links.
    pub joint_bias: Vec<Vector6<f64>>,

    // Stage: bias, by `bias_forces`.
    /// Coriolis, centrifugal and gravity forces, MuJoCo's `qfrc_bias` [N, N·m]; per dof.
    pub bias: Vec<f64>,

    // Stage: mass, by `mass_matrix`.
    /// Mass matrices with armature [kg, kg·m²]: a dense row-major block per tree, one after the
    /// other as in [`Model::mass_range`].
    pub mass: Vec<f64>,

    // Stage: factor, by `factor_mass`.
    /// Factors L of the mass matrices, `M = Lᵀ L` (lower triangles), in the same layout.
    pub factor: Vec<f64>,

    // Scratch of the recursions; not valid between calls.
    /// Rotation `R_WB`; per body, identity for those that are not links.
    pub(crate) rotation: Vec<Columns>,
    /// Composite inertia of a link and all its descendants; per body.
    pub(crate) composite: Vec<Inertia10>,
    /// Spatial velocity at velocities other than those of the velocity stage; per body.
    pub(crate) other_velocity: Vec<Vector6<f64>>,
    /// Spatial acceleration; per body.
    pub(crate) acceleration: Vec<Vector6<f64>>,
    /// Spatial force; per body.
    pub(crate) force: Vec<Vector6<f64>>,
    /// Articulated inertia; per body.
    pub(crate) articulated: Vec<Matrix6<f64>>,
    /// Articulated inertia times the subspace column; per dof.
    pub(crate) articulated_column: Vec<Vector6<f64>>,
    /// D and u of the articulated-body algorithm: inertia along the coordinate and the force that
    /// accelerates it; per dof.
    pub(crate) articulated_pivot: Vec<[f64; 2]>,
}

impl Data {
    /// Allocates the arrays for a model and fills the position stage at the reference configuration.
    pub fn new(model: &Model) -> Self {
        let (nb, nv, nt) = (model.bodies().len(), model.nv(), model.trees().len());
        let n_mass = model.mass_len();
        let mut data = Self {
            body_pose: model.bodies().iter().map(|body| body.pose_in_link).collect(),
            reference: vec![Vector3::zeros(); nt],
            anchor: vec![Vector3::zeros(); nv],
            subspace: vec![Vector6::zeros(); nv],
            tendon_gradient: vec![0.0; nv * model.inertial_tendons.len()],
            link_inertia: vec![Inertia10::default(); nb],
            velocity: vec![Vector6::zeros(); nb],
            joint_bias: vec![Vector6::zeros(); nb],
            bias: vec![0.0; nv],
            mass: vec![0.0; n_mass],
            factor: vec![0.0; n_mass],
            rotation: vec![IDENTITY; nb],
            composite: vec![Inertia10::default(); nb],
            other_velocity: vec![Vector6::zeros(); nb],
            acceleration: vec![Vector6::zeros(); nb],
            force: vec![Vector6::zeros(); nb],
            articulated: vec![Matrix6::zeros(); nb],
            articulated_column: vec![Vector6::zeros(); nv],
            articulated_pivot: vec![[0.0; 2]; nv],
        };
        let declared_pose = |id: &BodyId| model.bodies()[id.0].spec.pose;
        let driven: Vec<Isometry3<f64>> = model.driven().iter().map(declared_pose).collect();
        set_driven_poses(model, &driven, &mut data);
        kinematics(model, model.q0(), &mut data);
        mass::write_constant(model, &mut data);
        data
    }

    /// Takes over masses of a model that were changed, where mass matrices do not depend on the configuration. The
    /// position stage is valid again after [`kinematics`].
    pub fn update_parameters(&mut self, model: &Model) {
        mass::write_constant(model, self);
    }
}
