//! Impulses and work of the constraints of a step, for the balance of energy.
//!
//! The work of a constraint is `c̄ᵀλ` with c̄ its velocity at the mean of the velocities at the ends of the step.
//! Equalities, limits, contacts and dry friction have no source of energy: what all of an island do together with a positive
//! sign is an error of the step, such as that of a loop that turns far. They are not judged one by one: in a collision, one that
//! was opening when another pushed it shut does work with a positive sign that the other dissipates. Contacts without
//! equalities, limits and restitution do none. Cost: linear in the entries of J of islands with equalities, limits or
//! restitution; in all entries where the work of all constraints without sign is asked for.

use stiction_mech::{BodyId, DriveKind, Model, State};
use stiction_solve::{Problem, contact};

use crate::constraint::Equality;
use crate::free_motion::FreeMotion;
use crate::problem_assembly::ProblemAssembler;
use crate::rows::drive::kind_of;
use crate::rows::{ConstraintClass, ConstraintKey, ContactRow, RowBuilder};
use crate::world::World;

/// The solved problem of a step.
#[derive(Clone, Copy)]
pub(crate) struct SolvedRows<'a> {
    pub world: &'a World,
    pub rows: &'a RowBuilder,
    pub problem: &'a Problem,
    /// Impulses of the rows λ [N·s].
    pub impulse: &'a [f64],
    /// Jᵀλ [N·s].
    pub on_velocities: &'a [f64],
    pub assembler: &'a ProblemAssembler,
    pub free: &'a FreeMotion,
    /// Depth up to which overlaps of soft bodies are not parted at a speed that counts [m].
    pub slop: f64,
    /// The states at both ends of the step.
    pub states: [&'a State; 2],
}

/// Impulses and work of the constraints of a step.
pub(crate) struct ConstraintWork {
    /// Jᵀλ of the problem [N·s].
    pub impulse: Vec<f64>,
    /// Per tree: work of the constraints without a source of energy on its island, if it has equalities, limits or
    /// restitution [J].
    passive: Vec<f64>,
    /// Per island: the same; `None` without.
    islands: Vec<Option<f64>>,
    /// Per tree: sum of the work of its constraints without sign [J], if it was measured.
    gross: Vec<f64>,
    is_gross_measured: bool,
    /// Mean velocities in the order of the problem; empty if not computed.
    mean_velocity: Vec<f64>,
}

impl ConstraintWork {
    pub fn new(model: &Model) -> Self {
        let trees = model.trees().len();
        Self {
            impulse: Vec::new(),
            passive: vec![0.0; trees],
            islands: Vec::new(),
            gross: vec![0.0; trees],
            is_gross_measured: false,
            mean_velocity: Vec::new(),
        }
    }

    /// Takes over the impulses of a step and computes the work of constraints without a source of energy.
    pub fn measure(&mut self, solved: &SolvedRows) {
        let SolvedRows { rows, problem, on_velocities, .. } = *solved;
        self.impulse.clear();
        self.mean_velocity.clear();
        self.is_gross_measured = false;
        self.passive.fill(0.0);
        if rows.is_empty() {
            return;
        }
        self.impulse.extend_from_slice(on_velocities);
        let is_last = |class| class <= ConstraintClass::Limit;
        let last = rows.records().partition_point(|record| is_last(record.key.class));
        let bounces = || rows.contacts().iter().filter(|row| row.rebound != 0.0);
        if last == 0 && bounces().next().is_none() {
            return;
        }
        self.set_mean_velocity(solved);
        let of_constraint = problem.islands().of_constraint();
        self.islands.clear();
        self.islands.resize(problem.islands().count(), None);
        for index in (0..last).chain(bounces().map(|row| row.constraint as usize)) {
            self.islands[of_constraint[index] as usize] = Some(0.0);
        }
        for (index, record) in rows.records().iter().enumerate() {
            let island = of_constraint[index] as usize;
            if let Some(sum) = self.islands[island]
                && is_passive(solved, index, &record.key)
            {
                self.islands[island] = Some(sum + self.work(solved, index));
            }
        }
        for index in 0..rows.records().len() {
            if let Some(sum) = self.islands[of_constraint[index] as usize] {
                trees_of(solved, index).for_each(|tree| self.passive[tree] = sum);
            }
        }
    }

    /// Work with a positive sign of the constraints without a source of energy on the island of a tree [J].
    pub fn passive(&self, tree: usize) -> f64 {
        self.passive[tree].max(0.0)
    }

    /// Sum of the work of the constraints of a tree without sign [J].
    pub fn gross(&mut self, solved: &SolvedRows, tree: usize) -> f64 {
        if !self.is_gross_measured {
            self.is_gross_measured = true;
            self.gross.fill(0.0);
            self.set_mean_velocity(solved);
            for index in 0..solved.rows.records().len() {
                let work = self.work(solved, index).abs();
                trees_of(solved, index).for_each(|tree| self.gross[tree] += work);
            }
        }
        self.gross[tree]
    }

    fn set_mean_velocity(&mut self, solved: &SolvedRows) {
        let SolvedRows { world, problem, assembler, states: [old, next], .. } = *solved;
        if !self.mean_velocity.is_empty() {
            return;
        }
        self.mean_velocity.resize(problem.dofs(), 0.0);
        for (tree, part) in assembler.trees() {
            let dofs = world.model.trees()[*tree].dofs.clone();
            for (mean, dof) in self.mean_velocity[part.clone()].iter_mut().zip(dofs) {
                *mean = 0.5 * (old.v[dof] + next.v[dof]);
            }
        }
        for (soft, part) in assembler.softs() {
            let first = world.model.softs()[*soft].nodes.start;
            let vertices = solved.free.soft.free_vertices(*soft).iter();
            for (mean, vertex) in self.mean_velocity[part.clone()].chunks_exact_mut(3).zip(vertices)
            {
                let node = first + *vertex as usize;
                mean.copy_from_slice((0.5 * (old.x_dot[node] + next.x_dot[node])).as_slice());
            }
        }
    }

    /// Work of the constraints that have a source of energy, and that of rigid contacts which part soft bodies from what they
    /// overlap [J].
    pub fn supplied(&mut self, solved: &SolvedRows) -> [f64; 2] {
        if solved.rows.is_empty() {
            return [0.0; 2];
        }
        self.set_mean_velocity(solved);
        let mut contacts = solved.rows.contacts().iter().peekable();
        let (mut supplied, mut parting) = (0.0, 0.0);
        for (index, record) in solved.rows.records().iter().enumerate() {
            let contact = contacts.next_if(|contact| contact.constraint as usize == index);
            match contact.filter(|_| record.key.class == ConstraintClass::SoftContact) {
                Some(row) if is_rigid_contact(solved, index, row) => {
                    parting += if row.point.gap >= -solved.slop {
                        parting_work(solved, index, row)
                    } else {
                        self.work(solved, index)
                    };
                }
                Some(_) => supplied += self.work(solved, index),
                None if is_passive(solved, index, &record.key) => {}
                None => supplied += self.work(solved, index),
            }
        }
        [supplied, parting]
    }

    /// Work of one constraint [J].
    fn work(&self, solved: &SolvedRows, index: usize) -> f64 {
        let range = solved.problem.row_range(index);
        let mut c = [0.0; contact::DIM];
        let c = &mut c[..range.len()];
        solved.problem.jacobian().mul_constraint(index, &self.mean_velocity, c);
        c.iter().zip(&solved.impulse[range]).map(|(c, p)| c * p).sum()
    }
}

/// The trees that a constraint acts on.
fn trees_of<'a>(solved: &SolvedRows<'a>, index: usize) -> impl Iterator<Item = usize> + 'a {
    let terms = solved.problem.constraints()[index].terms();
    solved.rows.ports()[terms].iter().filter_map(|port| port.tree())
}

/// Whether a contact of a soft body neither yields nor belongs to a driven body.
fn is_rigid_contact(solved: &SolvedRows, index: usize, contact: &ContactRow) -> bool {
    !contact.point.bodies.iter().any(|body| is_driven(solved, BodyId(*body)))
        && is_exact(solved, index)
}

/// Work of a contact of a soft body with the speed at which its overlap is parted [J].
fn parting_work(solved: &SolvedRows, index: usize, contact: &ContactRow) -> f64 {
    if contact.point.gap >= 0.0 {
        return 0.0;
    }
    let range = solved.problem.row_range(index);
    let (bias, impulse) = (&solved.problem.bias()[range.clone()], &solved.impulse[range]);
    let [impulse, bias] = [impulse, bias].map(contact::ContactVec::load);
    impulse.n * (-bias.n).max(0.0)
}

/// Whether no row of a constraint yields.
fn is_exact(solved: &SolvedRows, index: usize) -> bool {
    let range = solved.problem.row_range(index);
    solved.problem.compliance()[range].iter().all(|r| *r == 0.0)
}

fn is_driven(solved: &SolvedRows, body: BodyId) -> bool {
    solved.world.model.driver(body).is_some()
}

/// Whether a constraint has no source of energy: exact equalities and limits, rigid contacts and dry friction. Driven
/// bodies do work on what they hold.
fn is_passive(solved: &SolvedRows, index: usize, key: &ConstraintKey) -> bool {
    let world = solved.world;
    let is_exact = || is_exact(solved, index);
    let driven = |body: &BodyId| is_driven(solved, *body);
    match key.class {
        ConstraintClass::Equality => {
            let is_driven = match &world.equalities[key.a as usize] {
                Equality::Connect(e) => [e.body_a, e.body_b].iter().any(driven),
                Equality::Distance(e) => [e.body_a, e.body_b].iter().any(driven),
                Equality::Weld(e) => [e.body_a, e.body_b].iter().any(driven),
                Equality::Joint(_) | Equality::Tendon(_) => false,
            };
            !is_driven && is_exact()
        }
        ConstraintClass::Contact => {
            let bodies = [key.a, key.b].map(|geom| world.geoms[geom as usize].body);
            !bodies.iter().any(driven) && is_exact()
        }
        ConstraintClass::Drive => kind_of(key).is_some_and(DriveKind::is_dry_friction),
        ConstraintClass::Limit => is_exact(),
        ConstraintClass::Torsion => true,
        _ => false,
    }
}
