//! Laws: relations S between the velocity c of a constraint and its impulse λ.
//!
//! A law solves the local problem of one constraint: given the velocity `c0` without its impulse and
//! the change `r` of velocity per unit of impulse (the local compliance), find λ such that
//! `(c0 + r∘λ, λ) ∈ S`. Compliance and stabilisation are not laws of their own: they enter as a
//! larger `r` and a shifted `c0`, so that they wrap any law ([`crate::compliance`]).
//!
//! To add a law: write `law/<name>.rs`, then add a line to `Law`, `Law::relation` and `LAWS`.

mod bilateral;
mod bounded;
mod coulomb;
mod elliptic;
mod soft;
mod unilateral;

pub use bilateral::Bilateral;
pub use bounded::Bounded;
pub use coulomb::Coulomb;
pub use elliptic::Elliptic;
pub use soft::Soft;
pub use unilateral::Unilateral;

/// The model of friction that a solver solves for.
///
/// The two agree in stick, in separation and without friction; in slip the convex relaxation
/// separates at `μ |c_t|`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FrictionModel {
    /// Signorini-Coulomb, exact: `K ∋ λ ⊥ c + μ|c_t| n ∈ K*` [Lee25, Eq. (5)].
    Coulomb,
    /// Its convex relaxation: `K ∋ λ ⊥ c ∈ K*` [Tasora, Eq. (7)].
    Convex,
}

impl FrictionModel {
    /// The name used on the command line and in reports.
    pub fn name(self) -> &'static str {
        match self {
            Self::Coulomb => "coulomb",
            Self::Convex => "convex",
        }
    }
}

/// The local problem of a relation between velocity and impulse. Slices have `dim()` entries.
pub trait Relation {
    /// Number of rows.
    fn dim(&self) -> usize;

    /// Solves the local problem: finds λ [N·s] such that `(c0 + r∘λ, λ) ∈ S`, for `c0` [m/s] and local
    /// compliances `r > 0` [1/kg].
    fn respond(&self, model: FrictionModel, c0: &[f64], r: &[f64], lambda: &mut [f64]);

    /// `−∂λ/∂c0` [kg] of that solution, row-major. Symmetric and positive semi-definite for the
    /// convex model; for exact friction one element of the generalized Jacobian.
    fn slope(&self, model: FrictionModel, c0: &[f64], r: &[f64], slope: &mut [f64]);

    /// The convex potential ψ(c0) [J] with `∂ψ/∂c0 = −λ` of the convex solution.
    fn potential(&self, c0: &[f64], r: &[f64]) -> f64;

    /// The slip speed term `μ|c_t|` [m/s] by which exact friction shifts the normal velocity
    /// [Lee25, Eq. (21)]; zero for laws that are convex without it.
    fn shift(&self, _c: &[f64]) -> f64 {
        0.0
    }
}

/// The law of a constraint.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Law {
    /// No relative motion.
    Bilateral(Bilateral),
    /// No relative motion within force limits.
    Bounded(Bounded),
    /// Contact with isotropic dry friction.
    Coulomb(Coulomb),
    /// Contact with a friction ellipse.
    Elliptic(Elliptic),
    /// A linear spring-damper.
    Soft(Soft),
    /// A one-sided stop.
    Unilateral(Unilateral),
}

impl Law {
    /// The relation of the law.
    #[inline]
    pub fn relation(&self) -> &dyn Relation {
        match self {
            Self::Bilateral(law) => law,
            Self::Bounded(law) => law,
            Self::Coulomb(law) => law,
            Self::Elliptic(law) => law,
            Self::Soft(law) => law,
            Self::Unilateral(law) => law,
        }
    }

    /// Number of rows.
    #[inline]
    pub fn dim(&self) -> usize {
        match self {
            Self::Bilateral(law) => law.dim(),
            Self::Bounded(law) => law.dim(),
            Self::Coulomb(law) => law.dim(),
            Self::Elliptic(law) => law.dim(),
            Self::Soft(law) => law.dim(),
            Self::Unilateral(law) => law.dim(),
        }
    }

    /// [`Relation::respond`], without dynamic dispatch for the most frequent laws.
    #[inline(always)] // inside loops that are compiled for a wider instruction set
    pub fn respond(&self, model: FrictionModel, c0: &[f64], r: &[f64], lambda: &mut [f64]) {
        match self {
            Self::Bounded(law) => law.respond(model, c0, r, lambda),
            Self::Coulomb(law) => law.respond(model, c0, r, lambda),
            other => other.relation().respond(model, c0, r, lambda),
        }
    }

    /// [`Relation::slope`], without dynamic dispatch for the most frequent law.
    #[inline]
    pub fn slope(&self, model: FrictionModel, c0: &[f64], r: &[f64], slope: &mut [f64]) {
        match self {
            Self::Coulomb(law) => law.slope(model, c0, r, slope),
            other => other.relation().slope(model, c0, r, slope),
        }
    }

    /// [`Relation::shift`], without dynamic dispatch for the most frequent law.
    #[inline]
    pub fn shift(&self, c: &[f64]) -> f64 {
        match self {
            Self::Coulomb(law) => law.shift(c),
            other => other.relation().shift(c),
        }
    }

    /// Whether the law is a contact with friction, isotropic or not.
    #[inline]
    pub fn is_contact(&self) -> bool {
        matches!(self, Self::Coulomb(_) | Self::Elliptic(_))
    }
}

/// One line of [`LAWS`].
pub struct LawEntry {
    /// Name on the command line and in files.
    pub name: &'static str,
    /// Where it comes from: a key of the references.
    pub cite: &'static str,
    /// Description in one line.
    pub about: &'static str,
}

/// Every law, in alphabetical order.
pub static LAWS: &[LawEntry] = &[
    LawEntry { name: "bilateral", cite: "Tasora", about: "c = 0, any impulse: joints, welds" },
    LawEntry {
        name: "bounded",
        cite: "Tasora",
        about: "c = 0 within limits of the impulse: dry joint friction, motors",
    },
    LawEntry {
        name: "coulomb",
        cite: "Lee25",
        about: "contact with isotropic dry friction, exact or relaxed to a cone",
    },
    LawEntry {
        name: "elliptic",
        cite: "Lee23",
        about: "contact with different friction along two tangents, of maximal dissipation",
    },
    LawEntry { name: "soft", cite: "Lee25", about: "linear spring-damper, implicit in the step" },
    LawEntry {
        name: "unilateral", cite: "Lee25", about: "0 ≤ λ ⊥ c ≥ 0: stops, joint limits"
    },
];

#[cfg(test)]
mod tests;
