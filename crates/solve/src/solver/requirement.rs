//! The problems that a solver must solve: part of its registration, checked by the conformance
//! tests.
//!
//! A requirement lists which problems converge, in which friction model, to which tolerance, within
//! the solver's default iterations. Convergence is measured by the residual of the problem, not by
//! the solver. Problems that are not listed may stop short; their reports must still be true.

use crate::law::FrictionModel;

/// Problems that a solver must solve.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Requirement {
    /// Friction model.
    pub model: FrictionModel,
    /// Largest violation of the laws relative to the reference velocity, and relative error of
    /// momentum [-].
    pub tolerance: f64,
    /// Family of problems.
    pub family: ProblemFamily,
    /// Those of the family that must converge.
    pub problems: ProblemSelection,
    /// Why these and not others.
    pub reason: &'static str,
}

/// Families of problems in requirements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProblemFamily {
    /// The problem catalogue at small sizes, with several seeds, from the cold start.
    Catalogue,
    /// The catalogue with a coefficient of friction so large that nothing can slide.
    UnboundedFriction,
    /// The catalogue from a guess that is far away.
    FarGuess,
    /// Problems of the catalogue with meshes and rods, at larger sizes.
    Meshes,
    /// The problem files with independent reference solutions.
    Golden,
}

/// A choice of problems of a family, by name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProblemSelection {
    /// All.
    All,
    /// All but these.
    Except(&'static [&'static str]),
    /// These.
    Only(&'static [&'static str]),
}

impl ProblemSelection {
    /// Whether a problem is chosen.
    pub fn contains(&self, name: &str) -> bool {
        match self {
            Self::All => true,
            Self::Except(names) => !names.contains(&name),
            Self::Only(names) => names.contains(&name),
        }
    }

    /// The names that are listed, which must exist.
    pub fn names(&self) -> &'static [&'static str] {
        match self {
            Self::All => &[],
            Self::Except(names) | Self::Only(names) => names,
        }
    }
}

impl Requirement {
    const fn new(
        model: FrictionModel,
        tolerance: f64,
        family: ProblemFamily,
        problems: ProblemSelection,
        reason: &'static str,
    ) -> Self {
        Self { model, tolerance, family, problems, reason }
    }
}

use FrictionModel::{Convex, Coulomb};
use ProblemFamily::{Catalogue, FarGuess, Golden, Meshes, UnboundedFriction};
use ProblemSelection::{All, Except, Only};

// Tolerances. Newton's method converges quadratically, so that any tolerance above round-off costs
// one or two more iterations: it is held to three digits more than the default goal. First-order
// methods gain digits at a constant rate: they are held to the default goal, and on meshes, whose
// stiffness slows them down, to two digits less. An interior-point method with a duality gap of
// 1e-12 has an error of its square root in the velocity.
const NEWTON: f64 = 1e-9;
const FIRST_ORDER: f64 = 1e-6;
const INTERIOR_POINT: f64 = 1e-6;
const NEWTON_MESHES: f64 = 1e-7;
const FIRST_ORDER_MESHES: f64 = 1e-4;

const GOLDEN: f64 = 1e-8;
const GOLDEN_INTERIOR_POINT: f64 = 1e-7;
const GOLDEN_FIRST_ORDER: f64 = 1e-6;

const BOX: &str = "g01_box_slide";
const STACK: &str = "g02_stack_heavy_on_light";
const CHAIN: &str = "g03_chain_mixed";
const FEM: &str = "g04_fem_block";
const CLUTTER: &str = "g05_clutter20";
const NUT: &str = "g06_boltnut60";

const NEWTON_REACHES: &str = "quadratic convergence near the solution, globalised";
const MESH_STIFFNESS: &str = "the rate depends on the stiffness of the mesh";
const NO_PROOF: &str =
    "exact friction is not monotone: no proof of convergence where surfaces face each other";
const NEARLY_FLAT: &str =
    "the convex model of wedged bricks has nearly no interior, where a constant rate is slow";
const CROSSING: &str = "impulses cross one contact per sweep: slow through stacks, joints and \
                        bodies with many contacts";
const SPLIT_JOINTS: &str = "a chain of joints that is split loses its stiff coupling";

/// ALM, and AUTO, which falls back to other methods.
pub(super) const ACCURATE: &[Requirement] = &[
    Requirement::new(Coulomb, NEWTON, Catalogue, All, "Newton with fallbacks and restarts"),
    Requirement::new(Convex, NEWTON, Catalogue, All, NEWTON_REACHES),
    Requirement::new(
        Coulomb,
        FIRST_ORDER,
        UnboundedFriction,
        Only(&["arch", "box-slide", "fem-block", "quadrupeds", "stack"]),
        "between surfaces that face each other the solution jumps where a contact opens",
    ),
    Requirement::new(Coulomb, FIRST_ORDER, FarGuess, Only(&["chain"]), "restarts"),
    Requirement::new(Convex, FIRST_ORDER, FarGuess, Only(&["chain"]), "one convex minimum"),
    Requirement::new(Coulomb, NEWTON_MESHES, Meshes, All, NEWTON_REACHES),
    Requirement::new(Convex, NEWTON_MESHES, Meshes, All, NEWTON_REACHES),
    Requirement::new(Coulomb, GOLDEN, Golden, All, NEWTON_REACHES),
    Requirement::new(Convex, GOLDEN, Golden, All, NEWTON_REACHES),
];

/// CANAL.
pub(super) const CANAL: &[Requirement] = &[
    Requirement::new(
        Coulomb,
        NEWTON,
        Catalogue,
        Except(&["bolt-nut", "chain"]),
        "the slip iteration need not contract where contacts or limits face each other",
    ),
    Requirement::new(Convex, NEWTON, Catalogue, All, NEWTON_REACHES),
    Requirement::new(Coulomb, NEWTON_MESHES, Meshes, All, NEWTON_REACHES),
    Requirement::new(Convex, NEWTON_MESHES, Meshes, All, NEWTON_REACHES),
    Requirement::new(Coulomb, GOLDEN, Golden, Except(&[CHAIN]), NO_PROOF),
    Requirement::new(Convex, GOLDEN, Golden, All, NEWTON_REACHES),
];

/// SAP.
pub(super) const SAP: &[Requirement] = &[
    Requirement::new(Convex, NEWTON, Catalogue, All, NEWTON_REACHES),
    Requirement::new(Convex, NEWTON_MESHES, Meshes, All, NEWTON_REACHES),
    Requirement::new(Convex, GOLDEN, Golden, All, NEWTON_REACHES),
];

/// The Newton baselines.
pub(super) const NEWTON_BASELINE: &[Requirement] = &[
    Requirement::new(
        Coulomb,
        NEWTON,
        Catalogue,
        Except(&["bolt-nut"]),
        "nothing follows a failed inner solve, which flanks that face each other provoke",
    ),
    Requirement::new(Coulomb, NEWTON_MESHES, Meshes, All, NEWTON_REACHES),
    Requirement::new(Coulomb, GOLDEN, Golden, All, NEWTON_REACHES),
];

/// ADMM without a split.
pub(super) const ADMM: &[Requirement] = &[
    Requirement::new(Coulomb, FIRST_ORDER, Catalogue, Except(&["box-wall", "dishes"]), NO_PROOF),
    Requirement::new(Convex, FIRST_ORDER, Catalogue, Except(&["box-wall"]), NEARLY_FLAT),
    Requirement::new(Coulomb, FIRST_ORDER_MESHES, Meshes, All, MESH_STIFFNESS),
    Requirement::new(Convex, FIRST_ORDER_MESHES, Meshes, All, MESH_STIFFNESS),
    Requirement::new(Coulomb, GOLDEN, Golden, All, "one factorization of everything"),
    Requirement::new(Convex, GOLDEN, Golden, Only(&[BOX, STACK, CHAIN, FEM]), NEARLY_FLAT),
    Requirement::new(Convex, GOLDEN_FIRST_ORDER, Golden, Only(&[CLUTTER]), NEARLY_FLAT),
];

/// ADMM with a split.
pub(super) const SPLIT_ADMM: &[Requirement] = &[
    Requirement::new(
        Coulomb,
        FIRST_ORDER,
        Catalogue,
        Except(&["box-wall", "chain", "dishes"]),
        NO_PROOF,
    ),
    Requirement::new(Convex, FIRST_ORDER, Catalogue, Except(&["box-wall"]), NEARLY_FLAT),
    Requirement::new(Coulomb, FIRST_ORDER_MESHES, Meshes, All, MESH_STIFFNESS),
    Requirement::new(Convex, FIRST_ORDER_MESHES, Meshes, All, MESH_STIFFNESS),
    Requirement::new(Coulomb, GOLDEN, Golden, Except(&[CHAIN]), SPLIT_JOINTS),
    Requirement::new(Coulomb, GOLDEN_FIRST_ORDER, Golden, Only(&[CHAIN]), SPLIT_JOINTS),
    Requirement::new(Convex, GOLDEN_FIRST_ORDER, Golden, Except(&[NUT]), NEARLY_FLAT),
];

/// COND.
pub(super) const COND: &[Requirement] = &[
    Requirement::new(Coulomb, FIRST_ORDER, Catalogue, Except(&["bolt-nut"]), NO_PROOF),
    Requirement::new(Convex, FIRST_ORDER, Catalogue, Except(&["box-wall"]), NEARLY_FLAT),
    Requirement::new(Coulomb, FIRST_ORDER_MESHES, Meshes, All, MESH_STIFFNESS),
    Requirement::new(Convex, FIRST_ORDER_MESHES, Meshes, All, MESH_STIFFNESS),
    Requirement::new(Coulomb, GOLDEN, Golden, Except(&[CHAIN]), NO_PROOF),
    Requirement::new(Convex, GOLDEN, Golden, Only(&[BOX, STACK, CHAIN, FEM]), NEARLY_FLAT),
    Requirement::new(Convex, GOLDEN_FIRST_ORDER, Golden, Only(&[CLUTTER]), NEARLY_FLAT),
];

/// APGD.
pub(super) const APGD: &[Requirement] = &[
    Requirement::new(Convex, FIRST_ORDER, Catalogue, Except(&["box-wall"]), NEARLY_FLAT),
    Requirement::new(Convex, FIRST_ORDER_MESHES, Meshes, All, MESH_STIFFNESS),
    Requirement::new(Convex, GOLDEN, Golden, Only(&[BOX, STACK, CHAIN, FEM]), NEARLY_FLAT),
    Requirement::new(Convex, GOLDEN_FIRST_ORDER, Golden, Only(&[CLUTTER]), NEARLY_FLAT),
];

/// IPM.
pub(super) const IPM: &[Requirement] = &[
    Requirement::new(Convex, INTERIOR_POINT, Catalogue, All, "polynomial convergence"),
    Requirement::new(Convex, NEWTON_MESHES, Meshes, All, "polynomial convergence"),
    Requirement::new(Convex, GOLDEN_INTERIOR_POINT, Golden, All, "polynomial convergence"),
];

/// Problems of the catalogue with stacks, joints or many contacts per body.
const SLOW_SWEEPS: ProblemSelection =
    Except(&["arch", "bolt-nut", "box-wall", "chain", "dishes", "stack"]);

/// PGS, PSOR and SSOR.
pub(super) const SWEEPS: &[Requirement] = &[
    Requirement::new(Coulomb, FIRST_ORDER, Catalogue, SLOW_SWEEPS, CROSSING),
    Requirement::new(Convex, FIRST_ORDER, Catalogue, SLOW_SWEEPS, CROSSING),
    Requirement::new(Coulomb, FIRST_ORDER_MESHES, Meshes, All, MESH_STIFFNESS),
    Requirement::new(Convex, FIRST_ORDER_MESHES, Meshes, All, MESH_STIFFNESS),
    Requirement::new(Coulomb, GOLDEN, Golden, Only(&[BOX, FEM, CLUTTER]), CROSSING),
    Requirement::new(Convex, GOLDEN, Golden, Only(&[BOX, FEM]), CROSSING),
];
