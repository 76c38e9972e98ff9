//! Newton's method on a step whose soft bodies have forces that are more than linear.
//!
//! Forces are linearised where the last answer leads, contacts of soft bodies looked at again there, and
//! the problem solved again, until the answer stays:
//!
//! ```text
//! m(u) = Jᵀ λ,   m ≈ A (u − u_k) + m(u_k),   gap ≈ gap_k + h J_k (u − u_k).
//! ```
//!
//! Of the way d from u_k to an answer u with impulses λ a share t is gone: the whole of it, unless on it
//! the imbalance of momentum along d, `dᵀ (m(u_k + t d) − Jᵀ λ)`, rises from `−dᵀ A d` to far above zero. That
//! is the slope of the energy that a step minimises, with the impulses given: where it rises the energy
//! has a minimum before the answer. It needs no energy of friction, and forces only.
//!
//! Contacts are looked at again in schemes whose positions move with the velocity on which the laws act;
//! in others, and once constraints had to yield, those of the step's start stay.

use stiction_mech::{Model, State, integrate, set_driven_poses};

use super::{Simulation, Workspace, not_posed, rules, singular, soft_singular};
use crate::assemble::{FORESIGHT, Rules};
use crate::cable;
use crate::effort::{self, Next, Outcome};
use crate::error::StepError;
use crate::rows::{Class, Sight};
use crate::settings::Settings;
use crate::soft;
use crate::world::World;

/// Change of velocities at which soft bodies need not be linearised again, relative to the fastest.
const RELINEARISED: f64 = 1e-4;
/// How often the way to an answer is shortened, and to how much of it at least.
const SHORTENINGS: usize = 6;
const SHORTEST: f64 = 0.1;
/// Slope at the end of the way, in parts of that at its beginning, up to which it is gone.
const UPHILL: f64 = 0.5;

impl Simulation {
    /// Solves again, linearised where the last answer leads, until the answer stays. The report says if
    /// it did not.
    pub(super) fn relinearise(&mut self, outcome: &mut Outcome) -> Result<(), StepError> {
        let (world, settings, state) = (&*self.world, &self.settings, &self.state);
        let (model, work) = (&world.model, &mut self.work);
        let nonlinear = |work: &Workspace, part: &(usize, _)| work.free.soft.is_nonlinear(part.0);
        let rounds = settings.relinearisations;
        if rounds == 0 || !work.poser.soft_parts().iter().any(|part| nonlinear(work, part)) {
            return Ok(());
        }
        let weights = work.free.soft.weights();
        let looks = !outcome.softened && weights.alpha == 1.0 && weights.moving == 1.0;
        let rules = rules(model, settings, &self.session, &self.goal);
        if looks {
            work.note_contacts(world, &rules, state);
        }
        work.linearised.clear();
        work.linearised.resize(work.solution.velocity.len(), 0.0);
        let least = model.gravity().norm() * settings.time_step;
        let mut reach = 0.0_f64;
        for _ in 0..rounds {
            let Some(moved) = work.approach_answer(model, state) else { break };
            if looks {
                // What pressed on the way must be found again, also where less of the way is gone.
                reach = reach.max(FORESIGHT * settings.time_step * moved);
                work.look_again(world, settings, &rules, state, reach)?;
                if work.rows.is_empty() {
                    work.poser.nothing();
                    return Ok(());
                }
            }
            work.pose(world).map_err(|source| not_posed(world, &work.poser, state.time, source))?;
            if looks {
                work.guess(model);
                work.linearised.clone_from(&work.solution.velocity);
            }
            let Workspace { problem, solution, .. } = work;
            let (again, next) = effort::solve(&mut self.session, problem, &self.goal, solution)?;
            outcome.repeat(&again);
            if next == Next::YieldFromCold {
                break;
            }
            let (mut change, mut size) = (0.0_f64, least);
            for part in work.poser.soft_parts().iter().filter(|part| nonlinear(work, part)) {
                let range = part.1.clone();
                let at = &work.linearised[range.clone()];
                for (u, at) in work.solution.velocity[range].iter().zip(at) {
                    change = change.max((u - at).abs());
                    size = size.max(u.abs());
                }
            }
            if change <= RELINEARISED * size {
                return Ok(());
            }
        }
        work.free.soft.set_unresolved();
        Ok(())
    }
}

impl Workspace {
    /// Goes from where soft bodies are linearised towards the last answer, and linearises them there.
    /// Returns the largest change of a velocity, or nothing if there are no forces so near.
    fn approach_answer(&mut self, model: &Model, state: &State) -> Option<f64> {
        let mut share = 1.0;
        for _ in 0..SHORTENINGS {
            let Self { poser, free, solution, linearised, .. } = self;
            let (mut first, mut last) = (0.0, 0.0);
            for (soft, part) in poser.soft_parts() {
                if free.soft.is_nonlinear(*soft) {
                    let way = (&linearised[part.clone()], &solution.velocity[part.clone()]);
                    let slope = free.soft.slope(model, *soft, state, way, share);
                    first += slope[0];
                    last += slope[1];
                }
            }
            if last <= UPHILL * -first {
                break;
            }
            // Where a straight line between the two slopes meets zero.
            let flat = first / (first - last);
            share *= if flat.is_finite() { flat.clamp(SHORTEST, 0.5) } else { SHORTEST };
        }
        let Self { poser, free, solution, linearised, .. } = self;
        let mut moved = 0.0_f64;
        for (at, u) in linearised.iter_mut().zip(&solution.velocity) {
            let step = share * (u - *at);
            *at += step;
            moved = moved.max(step.abs());
        }
        let finite = poser.soft_parts().iter().all(|(soft, part)| {
            !free.soft.is_nonlinear(*soft)
                || free.soft.linearise(model, *soft, state, &linearised[part.clone()])
        });
        finite.then_some(moved)
    }

    /// Remembers the contacts of soft bodies where the step begins.
    fn note_contacts(&mut self, world: &World, rules: &Rules, state: &State) {
        let Self { data, free, sleepers, driven, soft_detector, begun, .. } = self;
        let (whole, asleep) = (free.whole(), sleepers.flags());
        let sight = Sight { model: &world.model, data, whole, asleep, driven };
        soft::begun(world, rules, soft_detector.contacts(), &state.x_dot, &sight, begun);
    }

    /// Looks at the contacts of soft bodies where the step leads with the velocities at which they are
    /// linearised, from a distance `reach` [m] on, and writes their rows again.
    fn look_again(
        &mut self,
        world: &World,
        settings: &Settings,
        rules: &Rules,
        state: &State,
        reach: f64,
    ) -> Result<(), StepError> {
        let (model, h) = (&world.model, settings.time_step);
        self.tried.store(&self.rows, &self.solution.impulse);
        self.solution.velocity.clone_from(&self.linearised);
        if let Some(tree) = self.collect_velocities(model) {
            return Err(singular(world, state.time, tree));
        }
        if let Some(soft) = self.move_softs(model, settings.scheme, state, h) {
            return Err(soft_singular(world, state.time, soft));
        }
        integrate(model, &state.q, &self.lawful, h, &mut self.corrected);
        let (q, v) = (std::mem::take(&mut self.corrected), std::mem::take(&mut self.lawful));
        set_driven_poses(model, &self.driven.next, &mut self.data);
        self.pose_trees(model, &q, &v);
        (self.corrected, self.lawful) = (q, v);
        self.node_reach.fill(reach);
        let (colliders, surfaces) = (&world.colliders, &world.softs.surfaces);
        let poses = &self.data.body_pose;
        self.soft_detector.detect(colliders, surfaces, poses, &self.spare.x, &[], &self.node_reach);
        self.rows.truncate(Class::SoftContact);
        let sight = Sight {
            model,
            data: &self.data,
            whole: self.free.whole(),
            asleep: self.sleepers.flags(),
            driven: &self.driven,
        };
        let (touching, fastest) = (self.soft_detector.contacts(), settings.stabilisation.max_speed);
        let (u, begun, rows) = (&self.soft_lawful, Some(&self.begun[..]), &mut self.rows);
        soft::contact_rows(world, rules, touching, u, begun, fastest, &sight, rows);
        set_driven_poses(model, &self.driven.now, &mut self.data);
        self.pose_trees(model, &state.q, &state.v);
        let sight = Sight {
            model,
            data: &self.data,
            whole: self.free.whole(),
            asleep: self.sleepers.flags(),
            driven: &self.driven,
        };
        cable::clamp::rows(settings.scheme, h, &sight, &state.v, &mut self.rows);
        self.tried.recall(&self.rows, &mut self.solution.impulse);
        Ok(())
    }
}
