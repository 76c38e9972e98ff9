//! Groups of trees that constraints connect: their errors, the bounds of their displacements, and which
//! displacements are accepted.

use stiction_math::sets::DisjointSets;

use super::MIN_SPEED;
use super::errors::TreeErrors;
use super::extent::{Extent, MAX_TURN};
use super::history::TreeCorrection;
use crate::rows::RowBuilder;
use crate::settings::Stabilisation;
use crate::world::World;

/// Rounds in which penetration alone is corrected, unless it is this many times the slop.
const DEPTH_ROUNDS: usize = 2;
const DEEP: f64 = 10.0;
/// Factor by which a displacement that did not reduce the errors is shortened [-], and how often before it
/// is dropped.
const SHORTENING: f64 = 0.25;
const SHORTENINGS: u8 = 1;
/// Least decrease of the largest error for which a displacement is accepted, relative to the intended one [-].
const MIN_DECREASE: f64 = 1e-3;
/// Decrease below which no further round follows in this step, relative to the intended one [-].
const PROGRESS: f64 = 0.1;

/// Corrections of a tree within one step, besides its errors.
#[derive(Clone, Copy, Debug, Default)]
struct TreeBudget {
    /// Remaining extent of displacements; `None` before the first.
    remaining: Option<Extent>,
    /// Extent of the present displacement.
    extent: Extent,
    /// Depth that was removed already [m, rad].
    removed: f64,
    /// Whether no further round follows in this step.
    done: bool,
}

/// The displacement of a group.
#[derive(Clone, Copy, Debug)]
struct GroupDisplacement {
    before: TreeErrors,
    after: TreeErrors,
    /// Depth that the displacement is to remove [m, rad].
    intended: f64,
    /// Factor of the displacement [-].
    step_length: f64,
    shortened: u8,
    state: GroupState,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum GroupState {
    /// Not corrected in this round.
    Idle,
    /// Displaced, to be judged.
    Judged,
    /// Displaced and accepted, or dropped.
    Decided,
}

impl GroupDisplacement {
    const IDLE: Self = Self {
        before: TreeErrors::NONE,
        after: TreeErrors::NONE,
        intended: 0.0,
        step_length: 0.0,
        shortened: 0,
        state: GroupState::Idle,
    };
}

/// Groups of trees that constraints connect. A group is named by one of its trees.
pub(super) struct CorrectionGroups {
    sets: DisjointSets,
    /// Per tree: its group.
    group: Vec<u32>,
    /// Per tree: errors of its constraints at the last measurement.
    pub errors: Vec<TreeErrors>,
    budgets: Vec<TreeBudget>,
    /// Per tree that names a group.
    displacements: Vec<GroupDisplacement>,
    /// Largest turn of a body by corrections [rad].
    max_turn: f64,
}

impl CorrectionGroups {
    pub fn new(trees: usize) -> Self {
        Self {
            sets: DisjointSets::new(0),
            group: vec![0; trees],
            errors: vec![TreeErrors::default(); trees],
            budgets: vec![TreeBudget::default(); trees],
            displacements: vec![GroupDisplacement::IDLE; trees],
            max_turn: MAX_TURN,
        }
    }

    /// Forgets the displacements of the last step. `fraction` is the length of the part of the step [-].
    pub fn begin_step(&mut self, fraction: f64) {
        self.max_turn = fraction * MAX_TURN;
        self.budgets.fill(TreeBudget::default());
    }

    pub fn clear_errors(&mut self) {
        self.errors.fill(TreeErrors::default());
    }

    /// Finds the groups that rows and rods connect.
    pub fn connect(&mut self, world: &World, rows: &RowBuilder) {
        let trees = self.group.len();
        self.sets.reset(trees);
        for constraint in rows.rows().constraints() {
            let mut trees = rows.ports()[constraint.terms()].iter().filter_map(|port| port.tree());
            if let Some(first) = trees.next() {
                for tree in trees {
                    self.sets.union(first, tree);
                }
            }
        }
        for rod in world.model.rods() {
            for tree in rod.trees.clone().skip(1) {
                self.sets.union(rod.trees.start, tree);
            }
        }
        for tree in 0..trees {
            self.group[tree] = self.sets.find(tree) as u32;
        }
    }

    /// Whether a tree has an error that is to be corrected in a round.
    pub fn is_any_due(
        &self,
        history: &[TreeCorrection],
        settings: &Stabilisation,
        h: f64,
        round: usize,
    ) -> bool {
        (0..self.errors.len()).any(|tree| self.is_due(tree, &history[tree], settings, h, round))
    }

    /// Whether the errors of a tree are to be corrected in a round.
    fn is_due(
        &self,
        tree: usize,
        history: &TreeCorrection,
        settings: &Stabilisation,
        h: f64,
        round: usize,
    ) -> bool {
        let slop = if round < DEPTH_ROUNDS { settings.slop } else { DEEP * settings.slop };
        let (errors, budget) = (&self.errors[tree], &self.budgets[tree]);
        let wrong = errors.equality > settings.closure
            || (errors.depth > slop && budget.removed < settings.max_speed * h);
        wrong && !budget.done && history.is_due(errors.largest(settings))
    }

    /// Selects the groups to correct in a round: those of trees that are due.
    pub fn select(
        &mut self,
        history: &[TreeCorrection],
        settings: &Stabilisation,
        h: f64,
        round: usize,
    ) {
        self.displacements.fill(GroupDisplacement::IDLE);
        for tree in 0..self.group.len() {
            let is_due = self.is_due(tree, &history[tree], settings, h, round);
            let group = &mut self.displacements[self.group[tree] as usize];
            group.before.merge(&self.errors[tree]);
            if is_due {
                group.state = GroupState::Judged;
            }
        }
        for tree in 0..self.group.len() {
            let removable = self.removable_depth(tree, settings, h);
            let group = &mut self.displacements[self.group[tree] as usize];
            if group.state == GroupState::Judged {
                group.step_length = 1.0;
                let open = group.before.equality > settings.closure;
                let depth = group.before.depth.min(removable);
                group.intended = if open { depth.max(group.before.equality) } else { depth };
            }
        }
    }

    /// Whether the constraints of a tree take part in this round.
    pub fn is_selected(&self, tree: usize) -> bool {
        self.displacement_of(tree).state != GroupState::Idle
    }

    /// Whether the displacement of a tree is still to be judged.
    pub fn is_judged(&self, tree: usize) -> bool {
        self.displacement_of(tree).state == GroupState::Judged
    }

    /// Factor of the displacement of a tree.
    pub fn step_length(&self, tree: usize) -> f64 {
        self.displacement_of(tree).step_length
    }

    /// Whether a displacement of a tree was tried in this step.
    pub fn is_displaced(&self, tree: usize) -> bool {
        self.budgets[tree].remaining.is_some()
    }

    /// Depth of contacts and limits that may still be removed in this step [m, rad].
    pub fn removable_depth(&self, tree: usize, settings: &Stabilisation, h: f64) -> f64 {
        (settings.max_speed * h - self.budgets[tree].removed).max(0.0)
    }

    /// Bounds the displacement of the group by that of one of its trees, whose extent of motion in the step
    /// and of displacement are given. The bound of a tree is its own: a tree at rest does not jump because
    /// another of its group is fast.
    pub fn bound(
        &mut self,
        tree: usize,
        (motion, extent): (Extent, Extent),
        settings: &Stabilisation,
        h: f64,
    ) {
        let group = &mut self.displacements[self.group[tree] as usize];
        let budget = &mut self.budgets[tree];
        let speed = settings.max_speed.max(MIN_SPEED);
        let allowed = Extent::allowed(&motion, (speed, self.max_turn), h);
        let remaining = budget.remaining.get_or_insert(allowed);
        budget.extent = extent;
        group.step_length = group.step_length.min(extent.factor_within(remaining));
    }

    /// Gives up the selected groups in this step.
    pub fn fail_all(&mut self, history: &mut [TreeCorrection], settings: &Stabilisation) {
        for tree in 0..self.group.len() {
            if self.is_selected(tree) {
                self.budgets[tree].done = true;
                history[tree].fail(self.errors[tree].largest(settings));
            }
        }
    }

    /// Compares the errors with those before the displacement. Accepts the groups whose errors fell, and
    /// shortens the displacements of the others. Returns whether all are decided.
    pub fn judge(&mut self, history: &mut [TreeCorrection], settings: &Stabilisation) -> bool {
        self.displacements.iter_mut().for_each(|group| group.after = TreeErrors::default());
        for (errors, group) in self.errors.iter().zip(&self.group) {
            self.displacements[*group as usize].after.merge(errors);
        }
        let mut decided = true;
        for tree in 0..self.group.len() {
            let name = self.group[tree] as usize;
            if self.displacements[name].state != GroupState::Judged {
                continue;
            }
            let GroupDisplacement { before, after, intended, step_length, .. } =
                self.displacements[name];
            let decrease = step_length * intended;
            let accepted = after.is_less_than(&before, MIN_DECREASE * decrease, settings);
            if accepted || step_length == 0.0 {
                let budget = &mut self.budgets[tree];
                budget.removed += step_length * intended.min(before.depth.max(0.0));
                let extent = budget.extent;
                if let Some(remaining) = &mut budget.remaining {
                    remaining.reduce(&extent, step_length);
                }
                let fell = before.largest(settings) - after.largest(settings);
                let progress = accepted && fell >= PROGRESS * decrease;
                budget.done |= !progress;
                if progress {
                    history[tree].succeed();
                } else {
                    history[tree].fail(after.largest(settings));
                }
            } else {
                decided = false;
            }
        }
        for group in &mut self.displacements {
            if group.state != GroupState::Judged {
                continue;
            }
            let decrease = MIN_DECREASE * group.step_length * group.intended;
            if group.after.is_less_than(&group.before, decrease, settings)
                || group.step_length == 0.0
            {
                group.state = GroupState::Decided;
            } else if group.shortened < SHORTENINGS {
                group.shortened += 1;
                group.step_length *= SHORTENING;
            } else {
                group.step_length = 0.0;
            }
        }
        decided
    }

    fn displacement_of(&self, tree: usize) -> &GroupDisplacement {
        &self.displacements[self.group[tree] as usize]
    }
}
