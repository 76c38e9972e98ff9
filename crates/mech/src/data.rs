//! Memory of one mechanism: every array with its stage, its producer and its shape.
//!
//! Nothing here is truth: all of it follows from the model and a state. Spatial vectors have world
//! axes and are taken at the point [`Data::reference`] of their tree (angular part first); a tree's
//! own point keeps the numbers small wherever the tree stands. No function that fills these arrays
//! asks for memory.

use crate::body::BodyId;
use crate::driven::set_driven_poses;
use crate::kinematics::kinematics;
use crate::mass;
use crate::model::Model;
use nalgebra::{Isometry3, Matrix6, Vector3, Vector6};
use stiction_math::spatial::Inertia10;

/// The arrays between the stages of the dynamics.
#[derive(Clone, Debug)]
pub struct Data {
    // Stage: position, by `kinematics`.
    /// Pose of each body in the world; per body.
    pub body_pose: Vec<Isometry3<f64>>,
    /// Point at which the spatial vectors of a tree are taken: the centre of mass of its root link
    /// [m]; per tree.
    pub reference: Vec<Vector3<f64>>,
    /// A point of the world on the axis of each coordinate [m]; per dof.
    pub anchor: Vec<Vector3<f64>>,
    /// Column S of each velocity coordinate: the motion of its link at unit velocity; per dof.
    pub subspace: Vec<Vector6<f64>>,
    /// Inertia of each link, all its welded bodies together; per body, zero if it is no link.
    pub link_inertia: Vec<Inertia10>,

    // Stage: velocity, by `velocities`.
    /// Spatial velocity; per body.
    pub velocity: Vec<Vector6<f64>>,
    /// Acceleration Ṡ v that the joints of a link add at rest of all joints' rates; per body, zero
    /// if it is no link.
    pub joint_bias: Vec<Vector6<f64>>,
    /// Coriolis, centrifugal and gravity forces, MuJoCo's `qfrc_bias` [N, N·m], by `bias_forces`;
    /// per dof.
    pub bias: Vec<f64>,

    // Stage: mass, by `mass_matrix` and `factor_mass`.
    /// Mass matrices with armature [kg, kg·m²]: a dense row-major block per tree, one after the
    /// other as in [`Model::mass_range`].
    pub mass: Vec<f64>,
    /// Their factors L in `M = Lᵀ L` (lower triangles), in the same layout.
    pub factor: Vec<f64>,

    // Scratch of the recursions; no meaning between calls.
    /// Inertia of a link with all that it carries; per body.
    pub(crate) composite: Vec<Inertia10>,
    /// Spatial acceleration; per body.
    pub(crate) acceleration: Vec<Vector6<f64>>,
    /// Spatial force; per body.
    pub(crate) force: Vec<Vector6<f64>>,
    /// Articulated inertia; per body.
    pub(crate) articulated: Vec<Matrix6<f64>>,
    /// Articulated inertia times the subspace column; per dof.
    pub(crate) articulated_column: Vec<Vector6<f64>>,
    /// Inertia seen by a coordinate and the force left for it; per dof.
    pub(crate) articulated_pivot: Vec<[f64; 2]>,
}

impl Data {
    /// Memory for a model, standing at the reference configuration at rest.
    pub fn new(model: &Model) -> Self {
        let (nb, nv, nt) = (model.bodies().len(), model.nv(), model.trees().len());
        let n_mass = model.mass_len();
        let mut data = Self {
            body_pose: model.bodies().iter().map(|body| body.pose_in_link).collect(),
            reference: vec![Vector3::zeros(); nt],
            anchor: vec![Vector3::zeros(); nv],
            subspace: vec![Vector6::zeros(); nv],
            link_inertia: vec![Inertia10::default(); nb],
            velocity: vec![Vector6::zeros(); nb],
            joint_bias: vec![Vector6::zeros(); nb],
            bias: vec![0.0; nv],
            mass: vec![0.0; n_mass],
            factor: vec![0.0; n_mass],
            composite: vec![Inertia10::default(); nb],
            acceleration: vec![Vector6::zeros(); nb],
            force: vec![Vector6::zeros(); nb],
            articulated: vec![Matrix6::zeros(); nb],
            articulated_column: vec![Vector6::zeros(); nv],
            articulated_pivot: vec![[0.0; 2]; nv],
        };
        let home = |id: &BodyId| model.bodies()[id.0].spec.pose;
        let driven: Vec<Isometry3<f64>> = model.driven().iter().map(home).collect();
        set_driven_poses(model, &driven, &mut data);
        kinematics(model, model.q0(), &mut data);
        mass::write_constant(model, &mut data);
        data
    }
}
