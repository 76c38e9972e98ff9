//! The list of solvers.

use super::requirement::{self, Requirement};
use super::{
    Solver, admm, alm, apgd, auto, canal, cond, ipm, newton, newton_al, pgs, psor, sap, ssor,
};

/// One line of [`SOLVERS`].
pub struct SolverEntry {
    /// Name on the command line and in files.
    pub name: &'static str,
    /// Source: a key of the references.
    pub cite: &'static str,
    /// Method, in one line.
    pub about: &'static str,
    /// Problems that it must solve within its default iterations.
    pub must_solve: &'static [Requirement],
    /// Whether it allocates in every solve, also of a problem of a known shape.
    pub allocates: bool,
    /// Builds one with default settings.
    pub build: fn() -> Box<dyn Solver>,
}

fn boxed<S: Solver + Default + 'static>() -> Box<dyn Solver> {
    Box::new(S::default())
}

/// Every solver, in alphabetical order.
/// To add one: write `solver/<name>.rs`, then add an entry here with its requirements.
pub static SOLVERS: &[SolverEntry] = &[
    SolverEntry {
        name: "admm",
        cite: "Lee25",
        about: "alternating directions without a split: one factorization of everything",
        must_solve: requirement::ADMM,
        allocates: false,
        build: boxed::<admm::Admm<admm::WholeProblem>>,
    },
    SolverEntry {
        name: "admm-subsystem",
        cite: "Lee25",
        about: "alternating directions, split by subsystem: one dense factorization each",
        must_solve: requirement::SPLIT_ADMM,
        allocates: false,
        build: boxed::<admm::Admm<admm::Subsystems>>,
    },
    SolverEntry {
        name: "alm",
        cite: "Lee25",
        about: "augmented Lagrangian with Newton on exact friction; the accurate default",
        must_solve: requirement::ACCURATE,
        allocates: false,
        build: boxed::<alm::Alm>,
    },
    SolverEntry {
        name: "apgd",
        cite: "Mazhar15",
        about: "accelerated projected gradient descent on the impulses, convex friction",
        must_solve: requirement::APGD,
        allocates: false,
        build: boxed::<apgd::Apgd>,
    },
    SolverEntry {
        name: "auto",
        cite: "Lee25",
        about: "chooses by structure, solves islands apart, falls back to other methods",
        must_solve: requirement::ACCURATE,
        allocates: false,
        build: boxed::<auto::Auto>,
    },
    SolverEntry {
        name: "canal",
        cite: "Lee25",
        about: "cascaded Newton: exact friction as a sequence of convex problems",
        must_solve: requirement::CANAL,
        allocates: false,
        build: boxed::<canal::Canal>,
    },
    SolverEntry {
        name: "cond",
        cite: "Lee23",
        about: "velocity fixed-point iteration on a diagonal surrogate; meshes, no factorization",
        must_solve: requirement::COND,
        allocates: false,
        build: boxed::<cond::Cond>,
    },
    SolverEntry {
        name: "ipm",
        cite: "Castro22",
        about: "interior-point method on second-order cones, convex friction",
        must_solve: requirement::IPM,
        allocates: true, // its library builds a solver per problem
        build: boxed::<ipm::Ipm>,
    },
    SolverEntry {
        name: "newton-damped",
        cite: "Lee25",
        about: "augmented Lagrangian with damped Newton alone, a baseline",
        must_solve: requirement::NEWTON_BASELINE,
        allocates: false,
        build: || Box::new(newton_al::NewtonAl::new(newton::Globalisation::Damped)),
    },
    SolverEntry {
        name: "newton-dogleg",
        cite: "Lee25",
        about: "augmented Lagrangian with trust-region Newton alone, a baseline",
        must_solve: requirement::NEWTON_BASELINE,
        allocates: false,
        build: || Box::new(newton_al::NewtonAl::new(newton::Globalisation::Dogleg)),
    },
    SolverEntry {
        name: "pgs",
        cite: "Lee25",
        about: "projected Gauss-Seidel on the assembled Delassus operator, exact friction",
        must_solve: requirement::SWEEPS,
        allocates: false,
        build: boxed::<pgs::Pgs>,
    },
    SolverEntry {
        name: "psor",
        cite: "Tasora",
        about: "projected over-relaxation without a matrix, sweeps in one direction",
        must_solve: requirement::SWEEPS,
        allocates: false,
        build: boxed::<psor::Psor>,
    },
    SolverEntry {
        name: "sap",
        cite: "Castro22",
        about: "convex compliant contact by Newton in velocities, near-rigid refined to rigid",
        must_solve: requirement::SAP,
        allocates: false,
        build: boxed::<sap::Sap>,
    },
    SolverEntry {
        name: "ssor",
        cite: "Tasora",
        about: "projected over-relaxation without a matrix, sweeps in alternating directions",
        must_solve: requirement::SWEEPS,
        allocates: false,
        build: boxed::<ssor::Ssor>,
    },
    SolverEntry {
        name: "subadmm",
        cite: "Lee25",
        about: "alternating directions, split by subsystem and link: contacts as point masses",
        must_solve: requirement::SPLIT_ADMM,
        allocates: false,
        build: boxed::<admm::Admm<admm::Links>>,
    },
];
