//! Time-stepping schemes: the theta-method in two stages and the mid-velocity convention.
//!
//! Stage 1 finds the motion v* without constraints, `M(q^θ)(v* − v₀) = h k(q^θ, v^θ)`; stage 2
//! adds impulses through `A = M + h² θ θ_vq K + h θ D` [Castro22, Eqs. (6)–(18); the printed
//! θ_qv of Eq. (15) is θ_vq]. Positions move with `v^{θ_vq}`. The mid-velocity convention puts the
//! laws of contact on `(v₀ + v)/2` instead, which also moves the positions [Lee23, Sec. II-A]. Soft
//! bodies and rods are stiff: their elastic forces are implicit in every scheme.

/// How time is discretised.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Scheme {
    /// All forces where the step begins, but the damping of joints where it ends; positions move
    /// with the next velocity: MuJoCo's Euler.
    Euler,
    /// θ = θ_vq = 0.
    Explicit,
    /// θ = θ_vq = 1.
    Implicit,
    /// As `Euler`, but all forces that depend on velocities take part where the step ends, linearised;
    /// of Coriolis forces those of single free bodies only: MuJoCo's implicitfast.
    ImplicitFast,
    /// θ = θ_vq = ½: of second order.
    Midpoint,
    /// Laws and positions use the mean of the old and the next velocity.
    MidVelocity,
    /// Symplectic, but a free body in flight or in lasting contact moves with the mean of its old
    /// and next velocity, which is exact for constant forces such as weight and dry friction. In an
    /// impact it moves with the next one, which leads to the surface and no further.
    #[default]
    Refined,
    /// θ = 0, θ_vq = 1; damping and servos are implicit all the same.
    Symplectic,
}

/// Every scheme, in alphabetical order.
pub static SCHEMES: &[(&str, Scheme)] = &[
    ("euler", Scheme::Euler),
    ("explicit", Scheme::Explicit),
    ("implicit", Scheme::Implicit),
    ("implicit-fast", Scheme::ImplicitFast),
    ("mid-velocity", Scheme::MidVelocity),
    ("midpoint", Scheme::Midpoint),
    ("refined", Scheme::Refined),
    ("symplectic", Scheme::Symplectic),
];

impl Scheme {
    /// The scheme of a name.
    pub fn parse(name: &str) -> Option<Self> {
        SCHEMES.iter().find(|(known, _)| *known == name).map(|(_, scheme)| *scheme)
    }

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Euler => "euler",
            Self::Explicit => "explicit",
            Self::Implicit => "implicit",
            Self::ImplicitFast => "implicit-fast",
            Self::Midpoint => "midpoint",
            Self::MidVelocity => "mid-velocity",
            Self::Refined => "refined",
            Self::Symplectic => "symplectic",
        }
    }

    /// θ: the weight of the next state where forces are evaluated.
    pub fn theta(self) -> f64 {
        match self {
            Self::Euler
            | Self::Explicit
            | Self::ImplicitFast
            | Self::MidVelocity
            | Self::Refined
            | Self::Symplectic => 0.0,
            Self::Midpoint => 0.5,
            Self::Implicit => 1.0,
        }
    }

    /// θ_vq: the weight of the next velocity in the motion of positions, where the unknown of the
    /// contact problem is the next velocity itself.
    pub fn theta_vq(self) -> f64 {
        match self {
            Self::Explicit => 0.0,
            Self::Midpoint => 0.5,
            Self::Euler
            | Self::Implicit
            | Self::ImplicitFast
            | Self::MidVelocity
            | Self::Refined
            | Self::Symplectic => 1.0,
        }
    }

    /// α: the weight of the next velocity in the velocity on which the laws act.
    pub fn alpha(self) -> f64 {
        if self == Self::MidVelocity { 0.5 } else { 1.0 }
    }

    /// Whether it is one of MuJoCo's: servos are forces, taken where the step begins.
    pub fn is_direct(self) -> bool {
        matches!(self, Self::Euler | Self::ImplicitFast)
    }

    /// Weight of the next state in damping and servos: implicit in every scheme.
    pub fn damping_weight(self) -> f64 {
        if self.theta() > 0.0 { self.theta() } else { 1.0 }
    }

    /// Whether stage 1 has to be iterated, because forces are taken at a state to be found.
    pub fn is_iterated(self) -> bool {
        self.theta() > 0.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_scheme_is_found_by_its_name() {
        assert!(SCHEMES.is_sorted_by(|a, b| a.0 < b.0));
        for (name, scheme) in SCHEMES {
            assert_eq!(Scheme::parse(name), Some(*scheme));
            assert_eq!(scheme.name(), *name);
        }
        assert_eq!(Scheme::parse("leapfrog"), None);
    }
}
