//! Impulses and work of the constraints of a step, for the balance of energy.
//!
//! The work of a constraint is `c̄ᵀλ` with c̄ its velocity at the mean of the velocities at the ends of the step.
//! Equalities have no source of energy: what all equalities of a tree do with a positive sign is an error of the step,
//! such as that of a loop that turns far. Single rows that depend on one another may do work that others take back.
//! Contacts are not judged one by one: in a collision, one that was opening when another pushed it shut does work
//! with a positive sign that the other dissipates. Cost: linear in the number of entries of J.

use stiction_mech::{BodyId, Model, State};
use stiction_solve::{Problem, contact};

use crate::constraint::Equality;
use crate::problem_assembly::ProblemAssembler;
use crate::rows::{ConstraintClass, ConstraintKey, RowBuilder};
use crate::world::World;

/// Impulses and work of the constraints of a step.
pub(crate) struct ConstraintWork {
    /// Jᵀλ of the problem [N·s].
    pub impulse: Vec<f64>,
    /// Per tree: sum of the work of its constraints without sign, and work of its equalities that have no source of
    /// energy [J].
    work: Vec<[f64; 2]>,
    /// Mean velocities in the order of the problem.
    mean_velocity: Vec<f64>,
}

impl ConstraintWork {
    pub fn new(model: &Model) -> Self {
        let work = vec![[0.0; 2]; model.trees().len()];
        Self { impulse: Vec::new(), work, mean_velocity: Vec::new() }
    }

    /// Computes them for impulses of the rows of a problem, and the states at both ends of the step.
    pub fn measure(
        &mut self,
        world: &World,
        (rows, problem, impulse): (&RowBuilder, &Problem, &[f64]),
        assembler: &ProblemAssembler,
        [old, next]: [&State; 2],
    ) {
        self.work.fill([0.0; 2]);
        if rows.is_empty() {
            self.impulse.clear();
            return;
        }
        let Self { impulse: on_velocities, work: works, mean_velocity } = self;
        on_velocities.clear();
        on_velocities.resize(problem.dofs(), 0.0);
        problem.jacobian().mul_transposed_add(impulse, on_velocities);
        mean_velocity.clear();
        mean_velocity.resize(problem.dofs(), 0.0);
        for (tree, part) in assembler.trees() {
            let dofs = world.model.trees()[*tree].dofs.clone();
            for (mean, dof) in mean_velocity[part.clone()].iter_mut().zip(dofs) {
                *mean = 0.5 * (old.v[dof] + next.v[dof]);
            }
        }
        for (index, record) in rows.records().iter().enumerate() {
            let range = problem.row_range(index);
            let mut c = [0.0; contact::DIM];
            let c = &mut c[..range.len()];
            problem.jacobian().mul_constraint(index, mean_velocity, c);
            let work: f64 = c.iter().zip(&impulse[range.clone()]).map(|(c, p)| c * p).sum();
            let is_passive = problem.compliance()[range].iter().all(|r| *r == 0.0)
                && is_passive(world, &record.key);
            let terms = problem.constraints()[index].terms();
            for tree in rows.ports()[terms].iter().filter_map(|port| port.tree()) {
                works[tree][0] += work.abs();
                works[tree][1] += if is_passive { work } else { 0.0 };
            }
        }
    }

    /// Sum of the work of the constraints of a tree without sign, and work without a source of energy [J].
    pub fn of_tree(&self, tree: usize) -> (f64, f64) {
        let [gross, equalities] = self.work[tree];
        (gross, equalities.max(0.0))
    }
}

/// Whether a constraint is an equality without a source of energy: work that it does with a positive sign is an error.
/// Driven bodies do work on what they hold.
fn is_passive(world: &World, key: &ConstraintKey) -> bool {
    if key.class != ConstraintClass::Equality {
        return false;
    }
    let driven = |body: &BodyId| world.model.driven().contains(body);
    match &world.equalities[key.a as usize] {
        Equality::Connect(e) => ![e.body_a, e.body_b].iter().any(driven),
        Equality::Distance(e) => ![e.body_a, e.body_b].iter().any(driven),
        Equality::Weld(e) => ![e.body_a, e.body_b].iter().any(driven),
        Equality::Joint(_) | Equality::Tendon(_) => true,
    }
}
