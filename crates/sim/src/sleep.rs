//! Sleeping: islands that have come to rest are left out until something touches them.
//!
//! An island falls asleep when all of it has been slower than a threshold for a while and the last
//! step solved it. It wakes as a whole, when a moving body comes into contact with any part of
//! it, or when a user changes the state or an input. With friction that truly sticks this is exact:
//! a sleeping body would not have moved. Soft bodies never sleep and keep awake what they touch.

use stiction_geom::{ColliderId, SoftContact, SoftContactSide};
use stiction_mech::{Data, Model, tree_velocities};
use stiction_solve::Problem;

use crate::problem_assembly::ProblemAssembler;
use crate::settings::Sleep;
use crate::world::World;

/// A moving body wakes what it touches if it moves faster than this multiple of the speed at which
/// islands fall asleep [-].
const WAKE_FACTOR: f64 = 2.0;

/// Which trees sleep, and for how long the others have been still.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct SleepState {
    /// Per tree: whether it sleeps.
    pub asleep: Vec<bool>,
    /// Per tree: time for which it has been still [s].
    pub still: Vec<f64>,
    /// Trees with the same number fell asleep together.
    pub group: Vec<u32>,
    /// Number of the last group.
    pub groups: u32,
}

impl SleepState {
    pub fn new(model: &Model) -> Self {
        let n = model.trees().len();
        Self { asleep: vec![false; n], still: vec![0.0; n], group: vec![0; n], groups: 0 }
    }

    /// Number of trees asleep.
    pub fn count(&self) -> usize {
        self.asleep.iter().filter(|asleep| **asleep).count()
    }

    /// Writes per tree whether it is awake.
    pub fn awake_into(&self, awake: &mut [bool]) {
        awake.iter_mut().zip(&self.asleep).for_each(|(awake, asleep)| *awake = !asleep);
    }

    pub fn wake_all(&mut self) {
        self.asleep.fill(false);
        self.still.fill(0.0);
    }

    /// Wakes the groups that a moving body touches, by pairs of shapes that touch. `waking` is scratch memory.
    pub fn wake_touched(
        &mut self,
        world: &World,
        touching: impl Iterator<Item = [ColliderId; 2]>,
        data: &Data,
        sleep: Sleep,
        waking: &mut Vec<u32>,
    ) {
        waking.clear();
        let tree_of = |geom: usize| world.model.bodies()[world.geoms[geom].body.0].tree;
        for [one, other] in touching {
            let (Some(a), Some(b)) = (tree_of(one.index()), tree_of(other.index())) else {
                continue;
            };
            let (sleeper, geom) = match (self.asleep[a], self.asleep[b]) {
                (true, false) => (a, other.index()),
                (false, true) => (b, one.index()),
                _ => continue,
            };
            let speed = data.velocity[world.geoms[geom].body.0].amax();
            if speed > WAKE_FACTOR * sleep.speed {
                waking.push(self.group[sleeper]);
            }
        }
        self.wake_groups(waking);
    }

    /// Wakes the groups that a soft body touches or is near. `waking` is scratch memory.
    pub fn wake_near_soft(
        &mut self,
        world: &World,
        contacts: &[SoftContact],
        waking: &mut Vec<u32>,
    ) {
        waking.clear();
        for side in contacts.iter().flat_map(|contact| [&contact.a, &contact.b]) {
            let SoftContactSide::Rigid(id) = side else { continue };
            let tree = world.model.bodies()[world.geoms[id.index()].body.0].tree;
            if let Some(tree) = tree.filter(|tree| self.asleep[*tree]) {
                waking.push(self.group[tree]);
            }
        }
        self.wake_groups(waking);
    }

    fn wake_groups(&mut self, waking: &[u32]) {
        if waking.is_empty() {
            return;
        }
        for tree in 0..self.asleep.len() {
            if self.asleep[tree] && waking.contains(&self.group[tree]) {
                self.asleep[tree] = false;
                self.still[tree] = 0.0;
            }
        }
    }

    /// Adds a step of `h` [s] to the times for which trees have been still; a step that was not
    /// solved resets them.
    pub fn measure_rest(&mut self, model: &Model, v: &[f64], h: f64, solved: bool, sleep: Sleep) {
        for (tree, range) in model.trees().iter().enumerate() {
            let slow = v[range.dofs.clone()].iter().all(|v| v.abs() <= sleep.speed);
            self.still[tree] = if slow && solved { self.still[tree] + h } else { 0.0 };
        }
    }

    /// Puts islands to sleep that have been still for long enough: their velocities become zero, in
    /// `v` and in `data`, whose other contents stay.
    pub fn put_to_sleep(
        &mut self,
        model: &Model,
        (problem, assembler): (&Problem, &ProblemAssembler),
        sleep: Sleep,
        v: &mut [f64],
        data: &mut Data,
    ) {
        let islands = problem.islands();
        let of_soft = |soft: usize| islands.of_subsystem()[assembler.subsystem_of_soft(soft)];
        for island in 0..islands.count() as u32 {
            if assembler.softs().iter().any(|part| of_soft(part.0) == island) {
                continue;
            }
            let members = || {
                let own = |tree: &usize| islands.of_subsystem()[assembler.subsystem_of(*tree)];
                assembler.trees().iter().map(|part| part.0).filter(move |tree| own(tree) == island)
            };
            if members().any(|tree| self.still[tree] < sleep.patience) {
                continue;
            }
            self.groups = self.groups.wrapping_add(1);
            for tree in members() {
                self.asleep[tree] = true;
                self.group[tree] = self.groups;
                v[model.trees()[tree].dofs.clone()].fill(0.0);
                tree_velocities(model, tree, v, data);
            }
        }
    }
}
