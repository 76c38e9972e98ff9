//! Steps whose motion one step does not resolve: they are computed in parts.
//!
//! A part that does not keep its balance of energy is given up before it is accepted, and its first half is tried in its
//! place. Parts are accepted one after the other, so that no work is lost. What a part cannot resolve at the
//! smallest length is accepted and flagged. The balance of energy is that of the whole step: what earlier parts gained
//! without cause counts in later ones. On an error the state is as it was before the step.
//!
//! A joint that impacts throw to and fro may move in a step without a velocity before or after it that shows it. No one who
//! sees states alone can tell this from a jump, so the step is computed again at once and flagged: its displacement
//! is that of its velocity. Where one step turns too far, or leaves a fault that its parts do not have, its parts stay.

use nalgebra::Isometry3;
use stiction_mech::{Data, State, set_driven_poses, tree_kinematics};
use stiction_solve::Goal;

use crate::contact_point::ContactPoint;
use crate::error::StepError;
use crate::free_motion::FreeMotion;
use crate::history::StepHistory;
use crate::position_correction::extent::Extent;
use crate::report::StepReport;
use crate::rows::ConstraintKey;
use crate::settings::Settings;
use crate::simulation::Simulation;
use crate::step::{self, MAX_JUMP, Scratch, StepPart, any_joint_jumps};
use crate::world::World;

/// Speed of a motion within a step relative to that at its ends above which the two do not describe it [-].
const FASTER: f64 = 1.5;
/// Displacement and turn of a body that need no explanation: what fingers grasp moves and stops within a step [m, rad].
const LEAST_PATH: f64 = 1e-4;
const LEAST_TURN: f64 = 1e-3;
/// Turn that corrections in the parts of a step, and collisions between them, explain [rad].
const CORRECTED_TURN: f64 = 0.1;

/// Memory of steps in parts.
pub(crate) struct PartMemory {
    /// The settings with the length of a part as time step.
    pub settings: Settings,
    /// The goal of its solves: velocities are as exact as in a whole step, whose reference velocity is larger.
    pub goal: Goal,
    /// The state before the step and the poses of its driven bodies.
    before: State,
    driven_pose: Vec<Isometry3<f64>>,
    /// The history before the step, in worlds with joints that may jump.
    history: Option<Box<StepHistory>>,
    /// Poses and velocities before the step.
    pub data: Data,
    /// Contacts of all parts so far, with forces that are means over the step.
    contacts: Vec<(ConstraintKey, ContactPoint)>,
}

impl PartMemory {
    pub fn new(world: &World, settings: &Settings, goal: Goal, state: &State) -> Self {
        Self {
            settings: settings.clone(),
            goal,
            before: state.clone(),
            driven_pose: Vec::with_capacity(world.model.driven().len()),
            history: None,
            data: Data::new(&world.model),
            contacts: Vec::new(),
        }
    }
}

/// Places in a step in units of its smallest part.
struct Progress {
    parts: u64,
    done: u64,
    /// Length of the next part.
    length: u64,
    /// Whether a part of the smallest length was not resolved: then no longer ones are tried.
    is_hopeless: bool,
}

impl Progress {
    fn new(divisions: usize) -> Self {
        let parts = 1 << divisions;
        Self { parts, done: 0, length: (parts / 2).max(1), is_hopeless: false }
    }

    /// After a part that was accepted.
    fn advance(&mut self, is_resolved: bool) {
        self.done += self.length;
        self.is_hopeless |= !is_resolved;
        let longer = 2 * self.length;
        let fits = longer < self.parts && self.done.is_multiple_of(longer);
        if fits && !self.is_hopeless {
            self.length = longer;
        }
    }
}

impl Simulation {
    /// Keeps the poses of driven bodies before a step.
    pub(crate) fn keep_driven_poses(&mut self) {
        self.parts.driven_pose.clone_from(&self.history.driven_pose);
    }

    /// Whether a tree that advanced in several substeps moved too far for one step, which has been accepted.
    pub(crate) fn substeps_move_too_far(&mut self, report: &StepReport) -> bool {
        let in_substeps = |tree| self.scratch.free.is_in_substeps(tree);
        if !(0..self.world.model.trees().len()).any(in_substeps) {
            return false;
        }
        // The memory for the next state has the one before.
        self.parts.before.copy_from(&self.scratch.next);
        self.moves_too_far(report, FreeMotion::is_in_substeps)
    }

    /// Computes a step in parts, after the whole was given up with a report.
    pub(crate) fn step_in_parts(&mut self, whole: &StepReport) -> Result<StepReport, StepError> {
        self.parts.before.copy_from(&self.state);
        let turns_too_far = self.scratch.free.is_unresolved();
        let may_jump =
            !turns_too_far && self.world.model.joints().iter().any(|joint| joint.q.len() == 1);
        self.parts.history = may_jump.then(|| Box::new(self.history.clone()));
        let result = self.advance_in_parts();
        let h = self.settings.time_step;
        self.set_part_length(h);
        match result {
            Ok(mut report) => {
                self.finish_parts();
                if let Some(history) = self.parts.history.take()
                    && self.joint_jumps(whole, &report)
                {
                    return self.step_at_once(*history);
                }
                report.unresolved |=
                    self.moves_too_far(&report, |_, _| true) || self.nodes_move_too_far();
                Ok(report)
            }
            Err(error) => {
                self.undo_parts();
                Err(error)
            }
        }
    }

    fn advance_in_parts(&mut self) -> Result<StepReport, StepError> {
        let h = self.settings().time_step;
        let mut progress = Progress::new(self.settings().divisions);
        let mut sum: Option<StepReport> = None;
        let mut last = progress.parts;
        self.parts.contacts.clear();
        while progress.done < progress.parts {
            let share = |count: u64| count as f64 / progress.parts as f64;
            let part = StepPart {
                fraction: share(progress.length),
                remaining: h * share(progress.parts - progress.done),
                may_be_divided: progress.length > 1 && !progress.is_hopeless,
            };
            self.set_part_length(h * part.fraction);
            self.history.warm_start.scale(progress.length as f64 / last as f64);
            last = progress.length;
            let Some(report) = step::advance(self.step_context(part))? else {
                progress.length /= 2;
                continue;
            };
            self.add_part_contacts(part.fraction, progress.done == 0);
            progress.advance(!report.unresolved);
            sum = Some(sum.map_or(report, |sum| sum.followed_by(&report)));
        }
        self.history.warm_start.scale(progress.parts as f64 / last as f64);
        Ok(sum.unwrap_or_else(|| StepReport::without_problem(self.friction_model())))
    }

    /// Sets the time step of the next part.
    fn set_part_length(&mut self, h: f64) {
        let PartMemory { settings, goal, .. } = &mut self.parts;
        settings.time_step = h;
        goal.tolerance = self.goal.tolerance * self.settings.time_step / h;
        self.scratch.free.soft.set_time_step(h);
    }

    /// Adds the forces of a part to the contacts of the step. Contacts that were met after the first part count as
    /// apart at the start of the step.
    fn add_part_contacts(&mut self, fraction: f64, is_first: bool) {
        let all = &mut self.parts.contacts;
        let rows = &self.scratch.rows;
        let known = all.len();
        for (row, contact) in rows.contacts().iter().zip(&self.history.contacts) {
            let key = rows.records()[row.constraint as usize].key;
            let (force, torque) = (fraction * contact.force, fraction * contact.torque);
            if let Some((_, old)) = all[..known].iter_mut().find(|(other, _)| *other == key) {
                old.force += force;
                old.torque += torque;
                old.velocity = contact.velocity;
            } else {
                let gap = if is_first { contact.gap } else { contact.gap.max(0.0) };
                all.push((key, ContactPoint { gap, force, torque, ..*contact }));
            }
        }
    }

    fn finish_parts(&mut self) {
        // The sum of the parts differs by round-off.
        self.state.time = self.parts.before.time + self.settings.time_step;
        self.history.contacts.clear();
        self.history.contacts.extend(self.parts.contacts.iter().map(|(_, contact)| *contact));
    }

    /// Whether a joint jumped in the parts of a step whose whole would have had no other fault than theirs.
    fn joint_jumps(&self, whole: &StepReport, report: &StepReport) -> bool {
        let is_better = (report.converged() && !whole.converged())
            || (!report.correction_failed && whole.correction_failed);
        let states = [&self.parts.before, &self.state];
        !is_better && any_joint_jumps(&self.world.model, states, self.settings.time_step, FASTER)
    }

    /// Computes the step from the state before it again, with a history, undivided and flagged.
    fn step_at_once(&mut self, history: StepHistory) -> Result<StepReport, StepError> {
        self.restore_start();
        self.history = history;
        // Contacts, poses and what was measured of them belong to the parts.
        let Self { world, settings, state, history, scratch, .. } = self;
        scratch.rebuild(world, state, history, settings);
        let report = step::advance_at_once(
            self.step_context(StepPart::whole(self.settings.time_step, false)),
        )?;
        Ok(StepReport { unresolved: true, ..report })
    }

    /// Whether a body of the selected trees moved farther than its tree does in a step at the velocities before and after it,
    /// and corrections, if there were any, or a joint of one velocity than its own explains: in between it was faster.
    fn moves_too_far(
        &mut self,
        report: &StepReport,
        is_selected: impl Fn(&FreeMotion, usize) -> bool,
    ) -> bool {
        let (world, h) = (&self.world, self.settings.time_step);
        let is_corrected = report.energy.correction != 0.0;
        let (max_speed, max_turn) = if is_corrected {
            (self.settings.stabilisation.max_speed, CORRECTED_TURN)
        } else {
            (0.0, 0.0)
        };
        let model = &world.model;
        let PartMemory { before, data, driven_pose, .. } = &mut self.parts;
        let Scratch { data: after, free, .. } = &mut self.scratch;
        set_driven_poses(model, driven_pose, data);
        let mut selected = (0..model.trees().len()).filter(|tree| is_selected(free, *tree));
        selected.any(|tree| {
            tree_kinematics(model, tree, &before.q, data);
            let old = Extent::of(world, tree, &before.v, data);
            let new = Extent::of(world, tree, &self.state.v, after);
            let distance = h * (FASTER * old.distance.max(new.distance) + max_speed) + LEAST_PATH;
            let turn = FASTER * h * old.turn.max(new.turn) + max_turn + LEAST_TURN;
            let links = &model.links()[model.trees()[tree].links.clone()];
            let body_moves_too_far = links.iter().any(|link| {
                let [X_0, X_1] = [&*data, &*after].map(|data| data.body_pose[link.body]);
                (X_1.translation.vector - X_0.translation.vector).norm() > distance
                    || X_0.rotation.angle_to(&X_1.rotation) > turn
            });
            let joints = &model.joints()[model.trees()[tree].joints.clone()];
            let mut single = joints.iter().filter(|joint| joint.q.len() == 1);
            let (old, new) = (&*before, &self.state);
            body_moves_too_far
                || single.any(|joint| {
                    let (q, dof) = (joint.q.start, joint.dofs.start);
                    let speed = FASTER * old.v[dof].abs().max(new.v[dof].abs());
                    let correction = (h * max_speed).max(max_turn);
                    (new.q[q] - old.q[q]).abs() > h * speed + correction + MAX_JUMP
                })
        })
    }

    /// The same for the vertices of soft bodies, whose overlaps part at the speed of corrections.
    fn nodes_move_too_far(&self) -> bool {
        let (before, after) = (&self.parts.before, &self.state);
        let Settings { time_step: h, stabilisation, .. } = &self.settings;
        let speeds = before.x_dot.iter().zip(&after.x_dot).map(|(a, b)| a.norm().max(b.norm()));
        before.x.iter().zip(&after.x).zip(speeds).any(|((old, new), speed)| {
            (new - old).norm() > h * (FASTER * speed + stabilisation.max_speed)
        })
    }

    fn undo_parts(&mut self) {
        self.restore_start();
        self.history.restart(&self.state);
        // Contacts are detected again.
        self.history.detection_is_current = false;
        self.history.driven_pose.copy_from_slice(&self.parts.driven_pose);
    }

    /// Puts state and driven bodies where they were before the step.
    fn restore_start(&mut self) {
        self.state.copy_from(&self.parts.before);
        self.scratch.driven.set_pose(&self.parts.driven_pose);
    }
}
