//! Time-stepping schemes: the theta-method in two stages and the mid-velocity convention.
//!
//! Stage 1 finds the motion v* without constraints, `M(q^θ)(v* − v₀) = h k(q^θ, v^θ)`; stage 2
//! adds impulses through `A = M + h² θ θ_vq K + h θ D` [Castro22, Eqs. (6)–(18); the printed
//! θ_qv of Eq. (15) is θ_vq]. Positions move with `v^{θ_vq}`. The mid-velocity convention puts the
//! laws of contact on `(v₀ + v)/2` instead, which also moves the positions [Lee23, Sec. II-A]. Soft
//! bodies and rods are stiff: their elastic forces are implicit in every scheme.

use stiction_solve::setting::{SettingKind, SettingType, SettingValue};

/// Time-stepping scheme.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Scheme {
    /// The scheme that the model file asks for: an alias, which a simulation replaces by one of the others.
    File,
    /// All forces at the start of the step, but the damping of joints at its end; positions move
    /// with the next velocity: MuJoCo's Euler.
    Euler,
    /// θ = θ_vq = 0.
    Explicit,
    /// θ = θ_vq = 1.
    Implicit,
    /// As `Euler`, but all forces that depend on velocities are linearised at the end of the step; of
    /// Coriolis forces those of single free bodies only: MuJoCo's implicitfast.
    ImplicitFast,
    /// As `ImplicitFast`, but with the slopes of all Coriolis forces: MuJoCo's implicit.
    ImplicitFull,
    /// θ = θ_vq = ½: of second order.
    Midpoint,
    /// Laws and positions use the mean of the old and the next velocity.
    MidVelocity,
    /// The classical Runge–Kutta method of fourth order for bodies and trees on which no constraint rows act, as
    /// MuJoCo's RK4; with rows they take the step of `Euler`.
    Rk4,
    /// Symplectic, but a free body in flight or in lasting contact moves with the mean of its old
    /// and next velocity, which is exact for constant forces such as weight and dry friction. In an
    /// impact it moves with the next velocity, so that it does not penetrate the surface.
    ///
    /// Free bodies turn by a rule that conserves energy and angular momentum. Trees on which no
    /// constraint rows act advance coordinates and velocities together, by a symmetric rule of second
    /// order with substeps where they move fast; servos on single joints are part of it. Trees with drag, muscles
    /// on tendons or rows, such as contacts and limits within reach, take the symplectic step, of first order.
    #[default]
    Refined,
    /// θ = 0, θ_vq = 1; damping and servos are implicit all the same. Without contact trees move as in
    /// `Refined`, free bodies turn as there, and positions of free bodies follow the next velocity.
    Symplectic,
}

/// The name that stands for the scheme of the model file.
const FILE: &str = "file";

/// One entry of [`SCHEMES`].
#[derive(Clone, Copy, Debug)]
pub struct SchemeEntry {
    /// Name on the command line and in files.
    pub name: &'static str,
    /// Description in one line.
    pub about: &'static str,
    /// The scheme.
    pub scheme: Scheme,
}

/// Every scheme, in alphabetical order.
pub static SCHEMES: &[SchemeEntry] = &[
    SchemeEntry {
        name: "euler",
        about: "MuJoCo's Euler: forces at the start of the step, joint damping at its end",
        scheme: Scheme::Euler,
    },
    SchemeEntry {
        name: "explicit",
        about: "explicit Euler: forces and positions with the state at the start of the step",
        scheme: Scheme::Explicit,
    },
    SchemeEntry {
        name: "implicit",
        about: "implicit Euler: forces and positions with the state at the end of the step",
        scheme: Scheme::Implicit,
    },
    SchemeEntry {
        name: "implicit-fast",
        about: "MuJoCo's implicitfast: forces that depend on velocities linearised at the end of the step",
        scheme: Scheme::ImplicitFast,
    },
    SchemeEntry {
        name: "implicit-full",
        about: "MuJoCo's implicit: as implicit-fast, and Coriolis forces linearised at the end of the step",
        scheme: Scheme::ImplicitFull,
    },
    SchemeEntry {
        name: "mid-velocity",
        about: "contact laws and positions with the mean of old and next velocity",
        scheme: Scheme::MidVelocity,
    },
    SchemeEntry {
        name: "midpoint",
        about: "implicit midpoint rule, of second order",
        scheme: Scheme::Midpoint,
    },
    SchemeEntry {
        name: "refined",
        about: "second order without contact, energy conserved; symplectic Euler in contact",
        scheme: Scheme::Refined,
    },
    SchemeEntry {
        name: "rk4",
        about: "MuJoCo's RK4: fourth order without contact; euler in contact",
        scheme: Scheme::Rk4,
    },
    SchemeEntry {
        name: "symplectic",
        about: "as refined, but positions of free bodies follow the next velocity",
        scheme: Scheme::Symplectic,
    },
];

impl SettingType for Scheme {
    fn kind() -> SettingKind {
        let names = SCHEMES.iter().map(|entry| entry.name);
        let (before, after): (Vec<_>, Vec<_>) = names.partition(|name| *name < FILE);
        SettingKind::Choice(before.into_iter().chain([FILE]).chain(after).collect())
    }

    fn to_value(&self) -> SettingValue {
        SettingValue::Text(self.name().to_owned())
    }

    fn from_value(value: &SettingValue) -> Option<Self> {
        match value {
            SettingValue::Text(name) => Self::parse(name),
            _ => None,
        }
    }
}

impl Scheme {
    /// Finds a scheme by name; `file` is that of the model file.
    pub fn parse(name: &str) -> Option<Self> {
        if name == FILE {
            return Some(Self::File);
        }
        SCHEMES.iter().find(|entry| entry.name == name).map(|entry| entry.scheme)
    }

    /// Name of the scheme.
    pub fn name(self) -> &'static str {
        SCHEMES.iter().find(|entry| entry.scheme == self).map_or(FILE, |entry| entry.name)
    }

    /// θ: the weight of the next state where forces are evaluated.
    pub fn theta(self) -> f64 {
        match self {
            Self::Euler
            | Self::Explicit
            | Self::File
            | Self::ImplicitFast
            | Self::ImplicitFull
            | Self::MidVelocity
            | Self::Rk4
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
            | Self::File
            | Self::Implicit
            | Self::ImplicitFast
            | Self::ImplicitFull
            | Self::MidVelocity
            | Self::Rk4
            | Self::Refined
            | Self::Symplectic => 1.0,
        }
    }

    /// α: the weight of the next velocity in the velocity on which the laws act.
    pub fn alpha(self) -> f64 {
        if self == Self::MidVelocity { 0.5 } else { 1.0 }
    }

    /// Whether it is one of MuJoCo's schemes: servo forces are evaluated at the start of the step.
    pub fn is_direct(self) -> bool {
        matches!(self, Self::Euler | Self::ImplicitFast | Self::ImplicitFull | Self::Rk4)
    }

    /// Weight of the next state in damping and servos: implicit in every scheme.
    pub fn damping_weight(self) -> f64 {
        if self.theta() > 0.0 { self.theta() } else { 1.0 }
    }

    /// Whether trees without constraint rows advance coordinates and velocities together, by a rule of
    /// second order or more.
    pub fn advances_trees(self) -> bool {
        matches!(self, Self::Refined | Self::Rk4 | Self::Symplectic)
    }

    /// Whether stage 1 is iterated, because forces depend on the unknown next state.
    pub fn is_iterated(self) -> bool {
        self.theta() > 0.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_scheme_is_named_once_described_and_found_by_its_name() {
        assert!(SCHEMES.is_sorted_by(|a, b| a.name < b.name));
        for entry in SCHEMES {
            assert_eq!(Scheme::parse(entry.name), Some(entry.scheme));
            assert_eq!(entry.scheme.name(), entry.name);
            assert!(!entry.about.is_empty());
        }
        assert_eq!(Scheme::parse("leapfrog"), None);
        assert_eq!(Scheme::parse("file"), Some(Scheme::File));
        assert_eq!(Scheme::File.name(), "file");
    }
}
