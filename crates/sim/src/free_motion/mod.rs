//! Free motion, the first stage of a step: A and b of every tree, without constraints.
//!
//! With θ = 0 one linear solve suffices, in which damping and servos are implicit. Otherwise
//! `m(v*) = M(q^θ)(v* − v₀) − h k(q^θ, v^θ) = 0` is solved by Newton's method with the matrix of the
//! second stage, `A = M + h² θ θ_vq K + h θ D` [Castro22, Eqs. (13)–(17)]. With θ = 0 single free
//! bodies turn by a rule that conserves energy and angular momentum (`spin`), and the default scheme
//! moves trees without constraint rows by a rule of second order (`flight`).

mod activation;
mod bias;
mod bias_slopes;
mod dense;
mod direct;
mod drive_estimate;
mod drive_modes;
mod flight;
mod flight_forces;
mod force_impulse;
mod iterate;
mod rk4;
mod rods;
mod single;
mod soft;
mod spin;
mod spring_work;
mod stiff_springs;

pub(crate) use soft::SoftMotion;

use std::ops::Range;

use nalgebra::Isometry3;
use stiction_math::branch;
use stiction_math::spatial::Inertia10;
use stiction_mech::{
    Actuator, Data, ForceError, Forces, Input, Joint, JointKind, Link, MechanismState, Model,
    State, Transmission, set_driven_poses, tree_mass_matrix,
};

use self::activation::ActivationStep;
use self::bias::BiasInMomentum;
use self::bias_slopes::BiasSlopes;
use self::drive_modes::DriveModes;
use self::flight::Flight;
use self::rods::RodSystem;
use self::single::MAX_FREE_TURN;
use self::spin::Spin;
use crate::contact_point::ContactPoint;
use crate::rows::contact::REACH_FACTOR;
use crate::scheme::Scheme;

/// Turn of a link of a mechanism within a step above which the step does not resolve it [rad].
pub(crate) const MAX_TURN: f64 = 0.5;
/// Largest h² K/M of a servo of stiffness K that a step resolves [-]; a stiffer one takes the linearly implicit step, which
/// damps what it does not resolve.
const MAX_SERVO_STIFFNESS: f64 = 1.0;

/// Why free motion could not be computed.
#[derive(Debug)]
pub(crate) enum FreeMotionError {
    /// An input is invalid.
    Force(ForceError),
    /// A of a tree is singular.
    Singular {
        /// The tree.
        tree: usize,
    },
}

impl From<ForceError> for FreeMotionError {
    fn from(error: ForceError) -> Self {
        Self::Force(error)
    }
}

/// The start of a step.
#[derive(Clone, Copy)]
pub(crate) struct StepStart<'a> {
    pub model: &'a Model,
    pub scheme: Scheme,
    /// Time step [s].
    pub time_step: f64,
    pub state: &'a State,
    pub input: &'a Input,
    /// Per tree: whether it sleeps.
    pub asleep: &'a [bool],
    /// Contacts of the last step with their forces.
    pub contacts: &'a [ContactPoint],
}

/// A, b and v* of all trees, and the forces at the start of the step.
pub(crate) struct FreeMotion {
    /// Forces at the start of the step: limits and drives become rows.
    pub forces: Forces,
    /// Soft bodies.
    pub soft: SoftMotion,
    matrix: Vec<f64>,
    factor: Vec<f64>,
    /// Per tree: whether `factor` is that of A.
    is_factored: Vec<bool>,
    diagonal: Vec<f64>,
    momentum: Vec<f64>,
    /// v* of the trees for which it is known.
    free_velocity: Vec<f64>,
    is_solved: Vec<bool>,
    velocity: Vec<f64>,
    /// Per tree: largest angle by which a link turns within the step at its velocity at the start [rad].
    turn: Vec<f64>,
    /// Per tree: whether rows are written in the velocities of the tree, and not link by link.
    by_tree: Vec<bool>,
    /// Stiffness of joint springs, per velocity; weighted by the scheme's θ, since springs store energy.
    spring: Vec<f64>,
    /// Per velocity: whether that spring is linearly implicit.
    is_stiff: Vec<bool>,
    /// Trees whose mass matrix may have no inverse, in some configuration or in all.
    doubtful: Vec<usize>,
    inertia_scale: f64,
    /// Per tree: whether drag acts on it.
    dragged: Vec<bool>,
    /// Per tree: whether it takes the linearly implicit step: drag or muscles damp several of its velocities, or a
    /// servo is stiffer than the step resolves.
    linearised: Vec<bool>,
    /// What dry friction that holds adds to the diagonal of A, per velocity; `matrix` and `diagonal` are without it.
    held: Vec<f64>,
    /// What servos without rows add to the diagonal of A, per velocity.
    moded: Vec<f64>,
    /// Diagonal of A without either, per velocity.
    free_diagonal: Vec<f64>,
    /// Per tree: whether there is any of the two.
    has_modes: Vec<bool>,
    /// Drives whose mode in the step is predicted.
    drive_modes: DriveModes,
    /// Per tree: whether a joint has a spring.
    sprung: Vec<bool>,
    /// Per tree: whether a joint has limits.
    limited: Vec<bool>,
    /// Per tree: Coriolis, centrifugal and gravity forces in b.
    bias: Vec<BiasInMomentum>,
    /// Per tree: free rotation of a single body.
    spins: Vec<Spin>,
    flight: Flight,
    /// Whether a force depends on the poses of several trees.
    forces_read_poses: bool,
    /// Whether mean forces of actuators are asked for.
    keeps_actuator_forces: bool,
    bias_slopes: BiasSlopes,
    /// Whether a mechanism moves faster than the step resolves.
    unresolved: bool,
    trial: Trial,
    activation: ActivationStep,
    /// A of the rods.
    rods: Vec<RodSystem>,
}

/// Memory for states between the old and the next.
struct Trial {
    data: Data,
    forces: Forces,
    q: Vec<f64>,
    v: Vec<f64>,
    speed: Vec<f64>,
    residual: Vec<f64>,
}

impl FreeMotion {
    /// `keeps_actuator_forces` if the mean forces of actuators over the steps are asked for.
    pub fn new(model: &Model, scheme: Scheme, h: f64, keeps_actuator_forces: bool) -> Self {
        let (nv, nm) = (model.nv(), model.mass_len());
        let mut motion = Self {
            forces: Forces::new(model),
            soft: SoftMotion::new(model, scheme, h),
            matrix: vec![0.0; nm],
            factor: vec![0.0; nm],
            is_factored: vec![false; model.trees().len()],
            diagonal: vec![0.0; nv],
            momentum: vec![0.0; nv],
            free_velocity: vec![0.0; nv],
            is_solved: vec![false; model.trees().len()],
            velocity: vec![0.0; nv],
            turn: vec![0.0; model.trees().len()],
            by_tree: vec![false; model.trees().len()],
            spring: vec![0.0; nv],
            is_stiff: vec![false; nv],
            doubtful: Vec::with_capacity(model.trees().len()),
            inertia_scale: 1.0,
            dragged: (0..model.trees().len()).map(|tree| has_drag(model, tree)).collect(),
            linearised: vec![false; model.trees().len()],
            held: vec![0.0; nv],
            moded: vec![0.0; nv],
            free_diagonal: vec![0.0; nv],
            has_modes: vec![false; model.trees().len()],
            drive_modes: DriveModes::new(model),
            sprung: vec![false; model.trees().len()],
            limited: (0..model.trees().len()).map(|tree| has_limits(model, tree)).collect(),
            bias: vec![BiasInMomentum::Complete; model.trees().len()],
            spins: vec![Spin::NONE; model.trees().len()],
            flight: Flight::new(model),
            forces_read_poses: !model.tendons().is_empty()
                || !model.actuators().iter().all(acts_on_coordinate),
            keeps_actuator_forces,
            bias_slopes: BiasSlopes::default(),
            unresolved: false,
            trial: Trial {
                data: Data::new(model),
                forces: Forces::new(model),
                q: vec![0.0; model.nq()],
                v: vec![0.0; nv],
                speed: vec![0.0; nv],
                residual: vec![0.0; nv],
            },
            activation: ActivationStep::new(model),
            rods: model.rods().iter().map(RodSystem::new).collect(),
        };
        motion.set_parameters(model);
        motion
    }

    /// What follows from the parameters of joints and from masses.
    fn set_parameters(&mut self, model: &Model) {
        for joint in model.joints() {
            self.spring[joint.dofs.clone()].fill(joint.spec.stiffness);
        }
        let trees = 0..model.trees().len();
        self.doubtful.clear();
        self.doubtful.extend(trees.clone().filter(|tree| is_doubtful(model, *tree)));
        for tree in trees {
            self.sprung[tree] = has_springs(model, tree);
        }
    }

    /// Takes over changed parameters of a model.
    pub fn update_parameters(&mut self, model: &Model) {
        self.set_parameters(model);
        self.forces.update_parameters(model);
        self.trial.data.update_parameters(model);
        self.trial.forces.update_parameters(model);
        self.soft.set_gravity(model);
    }

    /// A of a tree without what holds velocities, row-major; `range` is that of its mass matrix in the model's array.
    pub fn matrix(&self, range: Range<usize>) -> &[f64] {
        &self.matrix[range]
    }

    /// b [N·s].
    pub fn momentum(&self, dofs: Range<usize>) -> &[f64] {
        &self.momentum[dofs]
    }

    /// Diagonal of A without the inertia of links.
    pub fn diagonal(&self, dofs: Range<usize>) -> &[f64] {
        &self.diagonal[dofs]
    }

    /// What holds velocities of a tree in A besides `matrix` and `diagonal`, and the diagonal of A without drives that have no
    /// rows; `None` if there are none.
    pub fn held(&self, tree: usize, dofs: Range<usize>) -> Option<[&[f64]; 2]> {
        self.has_modes[tree].then(|| [&self.held[dofs.clone()], &self.free_diagonal[dofs]])
    }

    /// Whether a body or a mechanism moves faster than the step resolves: it turns by too much in it,
    /// velocity-dependent forces change its velocity by too much, or equations were not solved.
    pub fn is_unresolved(&self) -> bool {
        self.unresolved || self.soft.is_unresolved()
    }

    /// Whether a tree advanced in several substeps.
    pub fn is_in_substeps(&self, tree: usize) -> bool {
        self.flight.in_substeps[tree]
    }

    /// Energy [J] that trees without constraint rows gained in the step and that no force supplied, as far as
    /// it is known: the sum over the trees whose energy balance the default scheme computes. Energy that
    /// was removed again is included. Zero under other schemes, which compute no balance.
    #[allow(dead_code)] // for the energy audit of a step
    pub fn unaccounted_energy(&self) -> f64 {
        self.flight.unaccounted
    }

    /// Per tree: whether rows are written in the velocities of the tree, and not link by link.
    pub fn by_tree(&self) -> &[bool] {
        &self.by_tree
    }

    /// The inertia of a link as scaled in A.
    pub fn scaled_inertia(&self, inertia: &Inertia10) -> Inertia10 {
        let scale = self.inertia_scale;
        Inertia10 {
            mass: scale * inertia.mass,
            moment: scale * inertia.moment,
            rotational: inertia.rotational.map(|entry| scale * entry),
        }
    }

    /// Sets the poses of driven bodies for states between the old and the next.
    pub fn set_driven_poses(&mut self, model: &Model, poses: &[Isometry3<f64>]) {
        set_driven_poses(model, poses, &mut self.trial.data);
    }

    /// Computes A and b from a state whose kinematics are in `data`. Sleeping trees are skipped.
    pub fn compute(&mut self, start: &StepStart, data: &mut Data) -> Result<(), FreeMotionError> {
        let StepStart { model, scheme, time_step: h, state, input, asleep, .. } = *start;
        self.inertia_scale = 1.0 / scheme.alpha();
        self.is_factored.fill(false);
        self.is_solved.fill(false);
        for (index, tree) in model.trees().iter().enumerate() {
            let is_coupled = tree.links.len() == 1 || model.has_tendon_inertia(index);
            self.by_tree[index] = scheme.is_iterated() || is_coupled;
        }
        let (q, v) = (&state.q[..], &state.v[..]);
        if model.integrates_errors() {
            let activation = &state.activation[..];
            self.forces.evaluate(model, MechanismState { q, v, activation }, data, input, h)?;
            self.activation.keep_motion(&self.forces);
        }
        self.set_activations(start);
        let activation = &self.activation.read[..];
        self.forces.evaluate(model, MechanismState { q, v, activation }, data, input, h)?;
        self.unresolved = false;
        for (tree, turn) in self.turn.iter_mut().enumerate() {
            *turn = largest_turn(model, tree, h, data);
            let is_free = model.trees()[tree].single && model.rod_of_tree(tree).is_none();
            let most = if is_free { MAX_FREE_TURN } else { MAX_TURN };
            // Not a number is fast as well.
            self.unresolved |= !(*turn <= most);
        }
        self.flight.unaccounted = 0.0;
        if scheme.is_iterated() {
            self.iterate(start)?;
        } else if scheme.is_direct() {
            self.direct(model, scheme, h, state, asleep, data);
            for tree in (0..model.trees().len()).filter(|tree| !asleep[*tree]) {
                self.check_explicit_bias(model, tree, h, state, data);
            }
        } else {
            self.once(start, data);
        }
        if !scheme.is_iterated() {
            self.couple_rods(model, scheme, h, state, asleep, data);
        }
        for k in 0..self.doubtful.len() {
            let tree = self.doubtful[k];
            if !asleep[tree] && !self.factors(model, tree) {
                return Err(FreeMotionError::Singular { tree });
            }
        }
        if self.forces.has_joint_limits() {
            self.list_reachable_limits(model, h, state, asleep);
        }
        Ok(())
    }

    /// Lists the limits that free motion can reach within the step, also from rest.
    fn list_reachable_limits(&mut self, model: &Model, h: f64, state: &State, asleep: &[bool]) {
        let mut next = std::mem::take(&mut self.velocity);
        for (index, tree) in model.trees().iter().enumerate() {
            let next = &mut next[tree.dofs.clone()];
            if asleep[index] || !self.solve(model, index, next) {
                next.fill(0.0);
            }
        }
        for (predicted, (next, old)) in
            self.flight.predicted.iter_mut().zip(next.iter_mut().zip(&state.v))
        {
            *predicted = *next - old;
            *next = REACH_FACTOR * h * next.abs().max(old.abs());
        }
        self.forces.update_joint_limits((&state.q, &state.v), &next);
        self.velocity = next;
    }

    /// `A = M/α + h D + h² K`, `b = A v₀ + h f − h² K v₀`, with D and K of damping, servos and drag.
    fn once(&mut self, start: &StepStart, data: &mut Data) {
        let StepStart { model, scheme, time_step: h, state, asleep, .. } = *start;
        let scale = self.inertia_scale;
        self.bias.fill(BiasInMomentum::Complete);
        for index in (0..model.trees().len()).filter(|index| !asleep[*index]) {
            tree_mass_matrix(model, index, data);
        }
        self.linearised.copy_from_slice(&self.dragged);
        for tree in (0..model.trees().len()).filter(|tree| !asleep[*tree]) {
            if self.sprung[tree] && scheme.advances_trees() {
                self.mark_stiff_springs(model, tree, h, data);
            }
        }
        self.take_drive_modes(start, data);
        for (index, tree) in model.trees().iter().enumerate() {
            if asleep[index] {
                continue;
            }
            let (n, v) = (tree.dofs.len(), &state.v[tree.dofs.clone()]);
            let (forces, A) = (&self.forces, &mut self.matrix[tree.mass.clone()]);
            for (a, m) in A.iter_mut().zip(&data.mass[tree.mass.clone()]) {
                *a = scale * m;
            }
            for (k, dof) in tree.dofs.clone().enumerate() {
                let (spring, is_stiff) = (self.spring[dof], self.is_stiff[dof]);
                let servo = stiff_springs::implicit(forces.stiffness[dof], spring, is_stiff);
                let inertia = data.mass[tree.mass.start + k * (n + 1)];
                let servo_alone = stiff_springs::implicit(forces.stiffness[dof], spring, false);
                self.linearised[index] |= h * h * servo_alone > MAX_SERVO_STIFFNESS * inertia;
                let implicit = h * (forces.damping[dof] + h * servo);
                A[k * n + k] += implicit;
                self.free_diagonal[dof] = A[k * n + k] - self.moded[dof];
                self.diagonal[dof] = scale * model.armature()[dof] + implicit;
                self.momentum[dof] = h * forces.generalized[dof] - h * h * servo * v[k];
            }
        }
        if self.forces.has_coupled_slopes() {
            self.add_coupled_slopes(model, h, asleep);
        }
        for (index, tree) in model.trees().iter().enumerate().filter(|(index, _)| !asleep[*index]) {
            let v = &state.v[tree.dofs.clone()];
            if tree.single {
                self.add_single_body(model, index, h, state, data);
            } else {
                self.add_bias(model, index, (scheme, h), state, data);
            }
            let A = &self.matrix[tree.mass.clone()];
            dense::add_product(A, v, &mut self.momentum[tree.dofs.clone()]);
        }
    }

    /// Whether a tree without constraint rows advances by a rule of its own.
    pub fn flies(&self, model: &Model, scheme: Scheme, tree: usize) -> bool {
        if scheme == Scheme::Rk4 {
            return model.rod_of_tree(tree).is_none();
        }
        scheme.advances_trees() && !model.trees()[tree].single && !self.linearised[tree]
    }

    /// `v* = A⁻¹ b` of one tree. False if A is not positive definite.
    pub fn solve(&mut self, model: &Model, tree: usize, out: &mut [f64]) -> bool {
        let dofs = model.trees()[tree].dofs.clone();
        if !self.is_solved[tree] {
            out.copy_from_slice(&self.momentum[dofs.clone()]);
            self.is_solved[tree] = self.apply_inverse(model, tree, out);
            self.free_velocity[dofs].copy_from_slice(out);
            return self.is_solved[tree];
        }
        out.copy_from_slice(&self.free_velocity[dofs]);
        true
    }

    /// `x ← A⁻¹ x` of one tree. False if A is not positive definite.
    fn apply_inverse(&mut self, model: &Model, tree: usize, x: &mut [f64]) -> bool {
        let positive = self.factors(model, tree);
        if positive {
            let range = &model.trees()[tree];
            let parents = &model.dof_parents()[range.dofs.clone()];
            branch::solve(&self.factor[range.mass.clone()], parents, x);
        }
        positive
    }

    /// Factors A of one tree. False if it is not positive definite.
    fn factors(&mut self, model: &Model, tree: usize) -> bool {
        if self.is_factored[tree] {
            return true;
        }
        let range = &model.trees()[tree];
        let (L, A) = (&mut self.factor[range.mass.clone()], &self.matrix[range.mass.clone()]);
        L.copy_from_slice(A);
        let n = range.dofs.len();
        if self.has_modes[tree] {
            let held = &self.held[range.dofs.clone()];
            held.iter().enumerate().for_each(|(k, held)| L[k * (n + 1)] += held);
        }
        let parents = &model.dof_parents()[range.dofs.clone()];
        self.is_factored[tree] = branch::factor(L, parents, |k| A[k * n + k]);
        self.is_factored[tree]
    }

    /// The factor of A of a tree, if it is known.
    pub fn known_factor(&self, tree: usize, range: Range<usize>) -> Option<&[f64]> {
        self.is_factored[tree].then(|| &self.factor[range])
    }
}

/// Whether the mass matrix of a tree may have no inverse: bodies with extent in every direction, on
/// one joint each, always have one.
fn is_doubtful(model: &Model, tree: usize) -> bool {
    let is_sound = |link: &Link| {
        let joints = &model.joints()[link.joints.clone()];
        let turns_twice = |joint: &Joint| matches!(joint.spec.kind, JointKind::Universal { .. });
        link.mass > 0.0
            && link.inertia.cholesky().is_some()
            && joints.len() == 1
            && !joints.iter().any(turns_twice)
    };
    !model.links()[model.trees()[tree].links.clone()].iter().all(is_sound)
}

/// Whether the force of an actuator depends on coordinates of one joint, and not on poses.
fn acts_on_coordinate(actuator: &Actuator) -> bool {
    matches!(actuator.spec.transmission, Transmission::Joint(_) | Transmission::JointDof(..))
}

/// Whether a joint of a tree has a spring.
fn has_springs(model: &Model, tree: usize) -> bool {
    let joints = &model.joints()[model.trees()[tree].joints.clone()];
    joints.iter().any(|joint| joint.spec.stiffness > 0.0)
}

/// Whether a joint of a tree has limits.
fn has_limits(model: &Model, tree: usize) -> bool {
    let joints = &model.joints()[model.trees()[tree].joints.clone()];
    joints.iter().any(|joint| joint.spec.limit.is_some())
}

/// Whether drag acts on a body of a tree.
fn has_drag(model: &Model, tree: usize) -> bool {
    model.drags().iter().any(|drag| model.tree(drag.body) == Some(tree))
}

/// Largest angle by which a link of a tree turns within a step at its present velocity [rad].
fn largest_turn(model: &Model, tree: usize, h: f64, data: &Data) -> f64 {
    let links = &model.links()[model.trees()[tree].links.clone()];
    let rate = |body: usize| data.velocity[body].fixed_rows::<3>(0).norm_squared();
    h * links.iter().map(|link| rate(link.body)).fold(0.0, f64::max).sqrt()
}
