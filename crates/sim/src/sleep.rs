//! Sleeping: islands that have come to rest are left out until something touches them.
//!
//! An island falls asleep when all of it has been slower than a threshold for a while and the last
//! step solved it. It wakes as a whole, when a moving body comes into contact with any part of
//! it, or when a user changes the state or an input. Friction that truly sticks makes this exact:
//! what sleeps would not have moved. Soft bodies never sleep and keep awake what they touch.

use stiction_geom::{Contact, SoftContact, SoftContactSide};
use stiction_mech::{Data, Model, tree_velocities};
use stiction_solve::Problem;

use crate::pose::Poser;
use crate::settings::{Settings, Sleep};
use crate::world::World;

/// A moving body wakes what it touches if it moves faster than this multiple of the speed at which
/// islands fall asleep.
const WAKE_FACTOR: f64 = 2.0;

/// Who sleeps, and since when the others are still.
pub(crate) struct Sleepers {
    asleep: Vec<bool>,
    /// Time for which a tree has been still [s].
    still: Vec<f64>,
    /// Trees with the same number fell asleep together.
    group: Vec<u32>,
    groups: u32,
    waking: Vec<u32>,
}

impl Sleepers {
    pub fn new(model: &Model) -> Self {
        let n = model.trees().len();
        Self {
            asleep: vec![false; n],
            still: vec![0.0; n],
            group: vec![0; n],
            groups: 0,
            waking: Vec::with_capacity(n),
        }
    }

    /// Per tree: whether it sleeps.
    pub fn flags(&self) -> &[bool] {
        &self.asleep
    }

    /// Number of trees asleep.
    pub fn asleep(&self) -> usize {
        self.asleep.iter().filter(|asleep| **asleep).count()
    }

    /// Who sleeps, how long others have been still, who fell asleep with whom, and how often.
    pub fn memory(&self) -> (&[bool], &[f64], &[u32], u32) {
        (&self.asleep, &self.still, &self.group, self.groups)
    }

    /// Takes up what [`Sleepers::memory`] gave.
    pub fn remember(&mut self, (asleep, still, group, groups): (&[bool], &[f64], &[u32], u32)) {
        self.asleep.copy_from_slice(asleep);
        self.still.copy_from_slice(still);
        self.group.copy_from_slice(group);
        self.groups = groups;
    }

    pub fn wake_all(&mut self) {
        self.asleep.fill(false);
        self.still.fill(0.0);
    }

    /// Wakes the groups that a moving body touches.
    pub fn wake_touched(
        &mut self,
        world: &World,
        contacts: &[Contact],
        data: &Data,
        sleep: Option<Sleep>,
    ) {
        let Some(sleep) = sleep else { return };
        self.waking.clear();
        let tree_of = |geom: usize| world.model.bodies()[world.geoms[geom].body.0].tree;
        for contact in contacts {
            let (Some(a), Some(b)) = (tree_of(contact.a.index()), tree_of(contact.b.index()))
            else {
                continue;
            };
            let (sleeper, geom) = match (self.asleep[a], self.asleep[b]) {
                (true, false) => (a, contact.b.index()),
                (false, true) => (b, contact.a.index()),
                _ => continue,
            };
            let speed = data.velocity[world.geoms[geom].body.0].amax();
            if speed > WAKE_FACTOR * sleep.speed {
                self.waking.push(self.group[sleeper]);
            }
        }
        self.wake_groups();
    }

    /// Wakes the groups that a soft body touches or is near.
    pub fn wake_beside_soft(
        &mut self,
        world: &World,
        contacts: &[SoftContact],
        sleep: Option<Sleep>,
    ) {
        if sleep.is_none() {
            return;
        }
        self.waking.clear();
        for side in contacts.iter().flat_map(|contact| [&contact.a, &contact.b]) {
            let SoftContactSide::Rigid(id) = side else { continue };
            let tree = world.model.bodies()[world.geoms[id.index()].body.0].tree;
            if let Some(tree) = tree.filter(|tree| self.asleep[*tree]) {
                self.waking.push(self.group[tree]);
            }
        }
        self.wake_groups();
    }

    fn wake_groups(&mut self) {
        if self.waking.is_empty() {
            return;
        }
        for tree in 0..self.asleep.len() {
            if self.asleep[tree] && self.waking.contains(&self.group[tree]) {
                self.asleep[tree] = false;
                self.still[tree] = 0.0;
            }
        }
    }

    /// Looks at the velocities after a step, and puts to sleep what has been still for long enough:
    /// its velocities become zero, also in `data`, whose other contents stay.
    #[allow(clippy::too_many_arguments)] // each of them is a room's own thing
    pub fn watch(
        &mut self,
        model: &Model,
        v: &mut [f64],
        data: &mut Data,
        problem: &Problem,
        poser: &Poser,
        settled: bool,
        settings: &Settings,
    ) {
        let Some(sleep) = settings.sleep else { return };
        for (tree, range) in model.trees().iter().enumerate() {
            let slow = v[range.dofs.clone()].iter().all(|v| v.abs() <= sleep.speed);
            self.still[tree] =
                if slow && settled { self.still[tree] + settings.time_step } else { 0.0 };
        }
        if !settled || poser.parts().is_empty() {
            return;
        }
        let islands = problem.islands();
        let of_soft = |soft: usize| islands.of_subsystem()[poser.subsystem_of_soft(soft)];
        for island in 0..islands.count() as u32 {
            if poser.soft_parts().iter().any(|part| of_soft(part.0) == island) {
                continue;
            }
            let members = || {
                let own = |tree: &usize| islands.of_subsystem()[poser.subsystem_of(*tree)];
                poser.parts().iter().map(|part| part.0).filter(move |tree| own(tree) == island)
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
