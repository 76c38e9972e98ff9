//! Solvers: one file each, one line each in [`SOLVERS`].
//!
//! A solver improves a [`Solution`] until the [`Monitor`] says stop. It reads a checked problem,
//! keeps its memory between solves, and judges nothing itself.

mod admm;
mod alm;
mod apgd;
mod auto;
mod canal;
pub mod cond;
mod contact_sweep;
mod dual;
mod infeasibility;
mod ipm;
mod islands;
mod local;
mod multiplier;
pub mod newton;
mod newton_al;
mod pgs;
mod psor;
mod reduced;
mod sap;
mod setting;
mod ssor;
mod sweep;

pub use canal::Canal;
pub use sap::Sap;
pub use setting::{Setting, SettingError, Value};

use crate::law::FrictionModel;
use crate::monitor::{Goal, Monitor, Status};
use crate::problem::Problem;
use crate::solution::{Report, Solution};
use reduced::Reduced;

/// A method for contact problems.
pub trait Solver: Send {
    /// The friction models it can solve for; the first is its own.
    fn models(&self) -> &'static [FrictionModel];

    /// Improves `solution`, which holds a guess of the right size, until `monitor` says stop.
    fn improve(
        &mut self,
        problem: &Problem,
        monitor: &mut Monitor,
        solution: &mut Solution,
    ) -> Status;

    /// Up to what work of factoring the matrix of the velocities that take part, relative to that
    /// of factoring A, it is better off with a problem reduced to them [-]; zero: never. `far` says
    /// that the guess is far from the answer, so that there is much to do.
    fn worth_reducing(&self, _far: bool) -> f64 {
        0.0
    }

    /// Parameters that can be set by name.
    fn settings(&mut self) -> Vec<Setting<'_>> {
        Vec::new()
    }

    /// What the last solve has to say: a choice made, a fallback taken.
    fn notes(&self) -> Vec<String> {
        Vec::new()
    }
}

/// One line of [`SOLVERS`].
pub struct Entry {
    /// Name on the command line and in files.
    pub name: &'static str,
    /// Where it comes from: a key of the references.
    pub cite: &'static str,
    /// What it does, in one line.
    pub about: &'static str,
    /// Makes one with default settings.
    pub build: fn() -> Box<dyn Solver>,
}

fn boxed<S: Solver + Default + 'static>() -> Box<dyn Solver> {
    Box::new(S::default())
}

/// Every solver of the house, in alphabetical order.
/// To add one: write `solver/<name>.rs`, then add an entry here.
pub static SOLVERS: &[Entry] = &[
    Entry {
        name: "admm",
        cite: "Lee25",
        about: "alternating directions without a split: one factorization of everything",
        build: boxed::<admm::Admm<admm::Everything>>,
    },
    Entry {
        name: "admm-subsystem",
        cite: "Lee25",
        about: "alternating directions, split by subsystem: one dense factorization each",
        build: boxed::<admm::Admm<admm::Subsystems>>,
    },
    Entry {
        name: "alm",
        cite: "Lee25",
        about: "augmented Lagrangian with Newton on exact friction; the accurate default",
        build: boxed::<alm::Alm>,
    },
    Entry {
        name: "apgd",
        cite: "Mazhar15",
        about: "accelerated projected gradient descent on the impulses, convex friction",
        build: boxed::<apgd::Apgd>,
    },
    Entry {
        name: "auto",
        cite: "Lee25",
        about: "picks by structure, solves islands apart, falls back and says so",
        build: boxed::<auto::Auto>,
    },
    Entry {
        name: "canal",
        cite: "Lee25",
        about: "cascaded Newton: exact friction as a sequence of convex problems",
        build: boxed::<canal::Canal>,
    },
    Entry {
        name: "cond",
        cite: "Lee23",
        about: "velocity fixed-point iteration on a diagonal surrogate; meshes, no factorization",
        build: boxed::<cond::Cond>,
    },
    Entry {
        name: "ipm",
        cite: "Castro22",
        about: "interior-point method on second-order cones, convex friction",
        build: boxed::<ipm::Ipm>,
    },
    Entry {
        name: "newton-damped",
        cite: "Lee25",
        about: "augmented Lagrangian with damped Newton alone, a baseline",
        build: || Box::new(newton_al::NewtonAl::new(newton::Globalisation::Damped)),
    },
    Entry {
        name: "newton-dogleg",
        cite: "Lee25",
        about: "augmented Lagrangian with trust-region Newton alone, a baseline",
        build: || Box::new(newton_al::NewtonAl::new(newton::Globalisation::Dogleg)),
    },
    Entry {
        name: "pgs",
        cite: "Lee25",
        about: "projected Gauss-Seidel on the assembled Delassus operator, exact friction",
        build: boxed::<pgs::Pgs>,
    },
    Entry {
        name: "psor",
        cite: "Tasora",
        about: "projected over-relaxation without a matrix, sweeps in one direction",
        build: boxed::<psor::Psor>,
    },
    Entry {
        name: "sap",
        cite: "Castro22",
        about: "convex compliant contact by Newton in velocities, near-rigid refined to rigid",
        build: boxed::<sap::Sap>,
    },
    Entry {
        name: "ssor",
        cite: "Tasora",
        about: "projected over-relaxation without a matrix, sweeps in alternating directions",
        build: boxed::<ssor::Ssor>,
    },
    Entry {
        name: "subadmm",
        cite: "Lee25",
        about: "alternating directions, split by subsystem and link: contacts as point masses",
        build: boxed::<admm::Admm<admm::Links>>,
    },
];

/// A solver, the monitor that watches it, and their memory.
pub struct Session {
    name: &'static str,
    solver: Box<dyn Solver>,
    monitor: Monitor,
    reduced: Reduced,
    when: Reduce,
}

/// When a problem is reduced to the velocities that take part.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Reduce {
    /// Where that pays for the solver.
    #[default]
    WherePays,
    /// Wherever a mesh is touched by something and the solver factors matrices at all.
    Always,
    /// Never.
    Never,
}

impl Session {
    /// Finds a solver by name.
    pub fn new(name: &str) -> Result<Self, SettingError> {
        let entry = SOLVERS.iter().find(|e| e.name == name).ok_or_else(|| {
            let known = SOLVERS.iter().map(|e| e.name).collect::<Vec<_>>().join(", ");
            SettingError::UnknownSolver { found: name.to_owned(), known }
        })?;
        Ok(Self::with(entry.name, (entry.build)()))
    }

    /// A session with a solver that is not in the list.
    pub fn with(name: &'static str, solver: Box<dyn Solver>) -> Self {
        let (monitor, reduced) = (Monitor::default(), Reduced::default());
        Self { name, solver, monitor, reduced, when: Reduce::default() }
    }

    /// Decides when problems are reduced to the velocities that take part.
    pub fn reduce(&mut self, when: Reduce) {
        self.when = when;
    }

    /// The solver's name.
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// Sets a parameter of the solver by name.
    pub fn set(&mut self, key: &str, value: &str) -> Result<(), SettingError> {
        setting::set(self.name, self.solver.settings(), key, value)
    }

    /// What the last solve has to say: a choice made, a fallback taken. Empty if nothing.
    pub fn notes(&self) -> Vec<String> {
        self.solver.notes()
    }

    /// The solver.
    pub fn solver(&mut self) -> &mut dyn Solver {
        &mut *self.solver
    }

    /// The friction model of a goal: what it asks for, or the solver's own.
    pub fn friction_model(&self, goal: &Goal) -> FrictionModel {
        goal.friction_model.unwrap_or(self.solver.models()[0])
    }

    /// Improves a guess and measures the answer. A guess that does not fit is replaced by the
    /// cold start. Asking for a friction model that the solver does not know is an error.
    pub fn solve(
        &mut self,
        problem: &Problem,
        goal: &Goal,
        solution: &mut Solution,
    ) -> Result<Report, SettingError> {
        let model = self.friction_model(goal);
        if !self.solver.models().contains(&model) {
            return Err(SettingError::FrictionModel { solver: self.name, found: model.name() });
        }
        if problem.rows() == 0 {
            // Without a constraint there is nothing to solve for.
            solution.set_free(problem);
        } else if !solution.fits(problem) {
            solution.reset(problem);
        }
        self.monitor.start(problem, goal, model, &solution.velocity);
        let Self { solver, monitor, reduced, .. } = self;
        let far = reduced::is_far(problem, monitor, solution);
        let worth = match (self.when, solver.worth_reducing(far)) {
            (Reduce::Never, _) => 0.0,
            (Reduce::Always, worth) if worth > 0.0 => f64::INFINITY,
            (_, worth) => worth,
        };
        let claimed = if reduced.pays(problem, worth) {
            reduced.improve_with(&mut **solver, problem, monitor, solution)
        } else {
            solver.improve(problem, monitor, solution)
        };
        let seconds = self.monitor.elapsed().as_secs_f64();
        if !solution.fits(problem) {
            solution.reset(problem);
        }
        let (status, residuals) =
            self.monitor.finish(problem, claimed, &solution.velocity, &solution.impulse);
        Ok(Report {
            solver: self.name,
            friction_model: model,
            status,
            iterations: self.monitor.iterations(),
            residuals,
            seconds,
            trace: self.monitor.trace().to_vec(),
        })
    }
}
