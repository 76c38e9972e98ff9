//! Removes position errors after the velocities are known, as displacements of least kinetic metric.
//!
//! `min ½ δᵀ A δ` such that equalities close, and contacts and limits end no deeper than they may.
//! Positions change, velocities do not: no energy enters, and friction never has to balance a push
//! that it could forbid. Only islands with an error take part; one in which nothing is wrong costs
//! nothing. Errors of equalities are measured again where the displacement leads, until they
//! are closed.

use stiction_mech::{Data, State, integrate, kinematics};
use stiction_solve::law::Law;
use stiction_solve::solver::SettingError;
use stiction_solve::{Goal, Problem, Session, Solution, contact};

use crate::constraint::{MOST_ROWS, Place};
use crate::free::FreeMotion;
use crate::pose::{Poser, Question};
use crate::rows::{Class, Rows};
use crate::settings::Stabilisation;
use crate::world::World;

/// How often errors of equalities are measured and corrected in one step.
const CORRECTIONS: usize = 6;
/// Rows from which on a few sweeps replace an exact answer.
const MANY_ROWS: usize = 3000;
const SWEEPS: usize = 10;
/// Accuracy of a correction relative to the largest error.
const TOLERANCE: f64 = 1e-4;

/// Memory for the removal of position errors.
pub(crate) struct Stabiliser {
    poser: Poser,
    problem: Problem,
    exact: Session,
    sweeps: Session,
    solution: Solution,
    wanted: Vec<Option<f64>>,
    island_is_wrong: Vec<bool>,
    data: Data,
    q: Vec<f64>,
    speed: Vec<f64>,
    /// Displacement found, per velocity of the model.
    displacement: Vec<f64>,
    moved: bool,
}

/// What the velocities of a step are, for those who look at positions.
pub(crate) struct Motion<'a> {
    pub world: &'a World,
    pub state: &'a State,
    pub data: &'a Data,
    pub free: &'a FreeMotion,
    pub rows: &'a Rows,
    pub problem: &'a Problem,
    /// Velocities of the problem.
    pub answer: &'a [f64],
    /// Velocities with which positions move, per velocity of the model.
    pub speed: &'a [f64],
    pub time_step: f64,
}

impl Stabiliser {
    pub fn new(world: &World) -> Result<Self, SettingError> {
        let model = &world.model;
        Ok(Self {
            poser: Poser::new(model),
            problem: Problem::default(),
            exact: Session::new("alm")?,
            sweeps: Session::new("psor")?,
            solution: Solution::default(),
            wanted: Vec::new(),
            island_is_wrong: Vec::new(),
            data: Data::new(model),
            q: vec![0.0; model.nq()],
            speed: vec![0.0; model.nv()],
            displacement: vec![0.0; model.nv()],
            moved: false,
        })
    }

    /// The displacement of the last step [m, rad], if there was one.
    pub fn displacement(&self) -> Option<&[f64]> {
        self.moved.then_some(&self.displacement)
    }

    /// Finds the displacement; returns the largest error of an equality that is left [m, rad].
    pub fn run(&mut self, motion: &Motion, settings: &Stabilisation) -> f64 {
        self.moved = false;
        self.displacement.fill(0.0);
        let mut left = 0.0;
        for round in 0..CORRECTIONS {
            left = self.want_equalities(motion);
            let gaps = round == 0 && self.want_gaps(motion, settings);
            let open = left > settings.closure;
            if !(gaps || open) || !self.keep_wrong_islands(motion, settings) {
                break;
            }
            if !self.correct(motion) {
                break;
            }
        }
        left
    }

    /// Errors of equalities where the motion leads; returns the largest.
    fn want_equalities(&mut self, motion: &Motion) -> f64 {
        let rows = motion.rows.constraints();
        self.wanted.clear();
        self.wanted.resize(rows.len(), None);
        if motion.world.equalities.is_empty() {
            return 0.0;
        }
        let (model, h) = (&motion.world.model, motion.time_step);
        for (speed, (v, d)) in
            self.speed.iter_mut().zip(motion.speed.iter().zip(&self.displacement))
        {
            *speed = v + d / h;
        }
        integrate(model, &motion.state.q, &self.speed, h, &mut self.q);
        kinematics(model, &self.q, &mut self.data);
        let place = Place { model, q: &self.q, data: &self.data };
        let mut error = [0.0; MOST_ROWS];
        let (mut last, mut largest) = (u32::MAX, 0.0_f64);
        for (constraint, wanted) in rows.iter().zip(&mut self.wanted) {
            if constraint.key.class != Class::Equality {
                break;
            }
            if constraint.key.a != last {
                last = constraint.key.a;
                motion.world.equalities[last as usize].error(&place, &mut error);
            }
            let found = error[constraint.key.b as usize];
            *wanted = Some(found);
            largest = largest.max(found.abs());
        }
        largest
    }

    /// What contacts and limits may be short of after the step; true if any is too deep.
    fn want_gaps(&mut self, motion: &Motion, settings: &Stabilisation) -> bool {
        let h = motion.time_step;
        let mut found = false;
        let mut c = [0.0; contact::DIM];
        for (index, constraint) in motion.rows.constraints().iter().enumerate() {
            let is_rigid = motion.rows.compliance(constraint).iter().all(|r| *r == 0.0);
            if !matches!(constraint.key.class, Class::Limit | Class::Contact) || !is_rigid {
                continue;
            }
            let c = &mut c[..constraint.rows().len()];
            motion.problem.jacobian().mul_constraint(index, motion.answer, c);
            let normal =
                if c.len() == contact::DIM { contact::ContactVec::load(c).n } else { c[0] };
            let excess = (-constraint.position - settings.slop).max(0.0);
            let removed = (settings.fraction * excess).min(settings.max_speed * h);
            let allowed = settings.slop + excess - removed;
            let short = constraint.position + h * normal + allowed;
            self.wanted[index] = Some(short);
            found |= short < -0.1 * settings.slop;
        }
        found
    }

    /// Leaves out islands without an error; false if none is left.
    fn keep_wrong_islands(&mut self, motion: &Motion, settings: &Stabilisation) -> bool {
        let islands = motion.problem.islands();
        self.island_is_wrong.clear();
        self.island_is_wrong.resize(islands.count(), false);
        let rows = motion.rows.constraints();
        for (index, wanted) in self.wanted.iter().enumerate() {
            let Some(error) = wanted else { continue };
            let wrong = match rows[index].law {
                Law::Bilateral(_) => error.abs() > settings.closure,
                _ => *error < -0.1 * settings.slop,
            };
            self.island_is_wrong[islands.of_constraint()[index] as usize] |= wrong;
        }
        for (wanted, island) in self.wanted.iter_mut().zip(islands.of_constraint()) {
            if !self.island_is_wrong[*island as usize] {
                *wanted = None;
            }
        }
        self.wanted.iter().any(Option::is_some)
    }

    fn correct(&mut self, motion: &Motion) -> bool {
        let question = Question::Displacements(&self.wanted);
        let Motion { world, data, free, rows, .. } = *motion;
        if self.poser.pose(world, data, free, rows, question, &mut self.problem).is_err() {
            return false;
        }
        self.solution.reset(&self.problem);
        let many = self.problem.rows() > MANY_ROWS;
        let goal = Goal {
            tolerance: TOLERANCE,
            max_iterations: many.then_some(SWEEPS),
            ..Goal::default()
        };
        let session = if many { &mut self.sweeps } else { &mut self.exact };
        let Ok(_) = session.solve(&self.problem, &goal, &mut self.solution) else { return false };
        if !self.solution.velocity.iter().all(|x| x.is_finite()) {
            return false;
        }
        for (tree, part) in self.poser.parts() {
            let dofs = world.model.trees()[*tree].dofs.clone();
            for (sum, d) in
                self.displacement[dofs].iter_mut().zip(&self.solution.velocity[part.clone()])
            {
                *sum += d;
            }
        }
        self.moved = true;
        true
    }
}
