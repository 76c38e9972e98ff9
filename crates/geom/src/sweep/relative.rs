//! Motion of a body in the frame of another one.
//!
//! Links of one mechanism move and turn together, and hardly approach each other. In the frame of the large body L, with
//! w the place of a point p of the small one S from the centre of L's motion, p moves by `d(s) = R_Lᵀ(s) w(s) − w(0)`: to
//! first order by the difference of the velocities of both bodies at p, and besides by no more than
//!
//! ```text
//! s² (½ θ_S² ρ_S + θ_L m + ½ θ_L² (ρ_L + m))
//! ```
//!
//! with the turns θ, the distances ρ of p from the centres of the motions and `m ≥ |w(1) − w(0)|`.

use nalgebra::Vector3;

use super::Motion;

/// A bound of the motion of a small body in the frame of a large one.
#[derive(Clone, Copy, Debug)]
pub struct RelativeMotion {
    /// Velocity of the middle of the small body at the start [m per unit interval].
    velocity: Vector3<f64>,
    /// Angular velocity at the start [rad per unit interval].
    turn: Vector3<f64>,
    /// Radius of the small body about its middle [m].
    radius: f64,
    /// Bound of the way of its points besides [m].
    second: f64,
}

impl RelativeMotion {
    /// The motion of a body with a middle [m] and a radius about it [m] in the frame of another one.
    pub fn new(small: &Motion, (middle, radius): (Vector3<f64>, f64), large: &Motion) -> Self {
        let [from_S, from_L] = [middle - small.centre, middle - large.centre];
        let shift = small.shift - large.shift;
        let velocity = shift + small.turn.cross(&from_S) - large.turn.cross(&from_L);
        let (theta_S, theta_L) = (small.turn.norm(), large.turn.norm());
        let [rho_S, rho_L] = [from_S, from_L].map(|from| from.norm() + radius);
        let moved = shift.norm() + theta_S * rho_S;
        let second = 0.5 * theta_S * theta_S * rho_S
            + theta_L * moved
            + 0.5 * theta_L * theta_L * (rho_L + moved);
        Self { velocity, turn: small.turn - large.turn, radius, second }
    }

    /// Upper bound of the way of points of the small body within the unit interval [m], along the unit vector `n` if there is
    /// one, which is fixed in the frame of the large one.
    pub fn way(&self, n: Option<&Vector3<f64>>) -> f64 {
        self.first(n) + self.second
    }

    /// Upper bound of their speed at any time of the interval [m per unit interval].
    pub fn speed(&self, n: Option<&Vector3<f64>>) -> f64 {
        self.first(n) + 2.0 * self.second
    }

    fn first(&self, n: Option<&Vector3<f64>>) -> f64 {
        match n {
            Some(n) => self.velocity.dot(n) + self.turn.cross(n).norm() * self.radius,
            None => self.velocity.norm() + self.turn.norm() * self.radius,
        }
    }
}
