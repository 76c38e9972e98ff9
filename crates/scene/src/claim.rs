//! Claims of a scene about its motion: a body is at rest, is at a position, never penetrated deeper than
//! a depth. They are evaluated on the last state; costs one copy of the state per step.

use std::sync::Arc;

use nalgebra::Vector3;
use stiction_mech::{
    BodyId, Data, SoftId, State, angular_velocity, kinematics, point_velocity, velocities,
};
use stiction_sim::{Simulation, StepReport, World};

use crate::scene::{Check, Verdict};

/// Subject of a claim.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClaimSubject {
    /// A body, at the position of its origin.
    Body(BodyId),
    /// A soft body, at the position of its centre of mass.
    Soft(SoftId),
}

/// A condition that a run of the scene must satisfy.
#[derive(Clone, Debug, PartialEq)]
pub enum Claim {
    /// The subject is at rest at the end.
    AtRest {
        /// The subject.
        of: ClaimSubject,
        /// Largest speed of a body's origin [m/s] and of its rotation [rad/s], or of the vertices of a
        /// soft one [m/s].
        speed: f64,
    },
    /// The subject is near a position at the end.
    Near {
        /// The subject.
        of: ClaimSubject,
        /// The position [m].
        position: Vector3<f64>,
        /// Largest distance from it [m].
        within: f64,
    },
    /// The subject is between two heights at the end.
    Height {
        /// The subject.
        of: ClaimSubject,
        /// Least height [m].
        lowest: f64,
        /// Largest height [m].
        highest: f64,
    },
    /// The only coordinate of a joint has a value at the end.
    Coordinate {
        /// Name of the joint.
        joint: String,
        /// Index of its coordinate in q.
        q: usize,
        /// The value [m or rad].
        value: f64,
        /// Largest difference from it [m or rad].
        within: f64,
    },
    /// Largest penetration depth of all steps [m].
    Penetration(f64),
}

/// Check of a run by claims. Without claims it passes if every step could be made.
pub struct ClaimCheck {
    world: Arc<World>,
    claims: Vec<Claim>,
    last: State,
    steps: usize,
    unconverged: usize,
    deepest: f64,
}

impl ClaimCheck {
    /// A check of these claims.
    pub fn new(world: Arc<World>, claims: Vec<Claim>) -> Self {
        let last = State::new(world.model());
        Self { world, claims, last, steps: 0, unconverged: 0, deepest: 0.0 }
    }

    /// Whether a claim holds, and the value found.
    fn evaluate(&self, claim: &Claim, data: &Data) -> (bool, String) {
        let model = self.world.model();
        let name = |of: &ClaimSubject| match of {
            ClaimSubject::Body(body) => &model.bodies()[body.0].spec.name,
            ClaimSubject::Soft(soft) => &model.softs()[soft.0].spec.name,
        };
        let place = |of: &ClaimSubject| match of {
            ClaimSubject::Body(body) => data.body_pose[body.0].translation.vector,
            ClaimSubject::Soft(soft) => {
                let soft = &model.softs()[soft.0];
                soft.centre_of_mass(&self.last.x[soft.nodes.clone()])
            }
        };
        match claim {
            Claim::AtRest { of: of @ ClaimSubject::Soft(soft), speed } => {
                let vertices = &self.last.x_dot[model.softs()[soft.0].nodes.clone()];
                let fastest = vertices.iter().map(|v| v.norm()).fold(0.0, f64::max);
                let text = format!(
                    "{} moves at up to {fastest:.3e} m/s, expected at most {speed}",
                    name(of)
                );
                (fastest <= *speed, text)
            }
            Claim::AtRest { of: of @ ClaimSubject::Body(body), speed } => {
                let linear = point_velocity(model, data, *body, place(of)).norm();
                let angular = angular_velocity(data, *body).norm();
                let text = format!(
                    "{} moves at {linear:.3e} m/s and {angular:.3e} rad/s, expected at most {speed}",
                    name(of)
                );
                (linear <= *speed && angular <= *speed, text)
            }
            Claim::Near { of, position, within } => {
                let distance = (place(of) - position).norm();
                let text = format!(
                    "{} is {distance:.3e} m from its place, expected at most {within}",
                    name(of)
                );
                (distance <= *within, text)
            }
            Claim::Height { of, lowest, highest } => {
                let height = place(of).z;
                let text = format!(
                    "{} is at a height of {height:.6} m, expected {lowest} to {highest}",
                    name(of)
                );
                ((*lowest..=*highest).contains(&height), text)
            }
            Claim::Coordinate { joint, q, value, within } => {
                let found = self.last.q[*q];
                let text = format!("{joint} is at {found:.6}, expected {value} ± {within}");
                ((found - value).abs() <= *within, text)
            }
            Claim::Penetration(depth) => {
                let found = self.deepest;
                let text = format!("penetration reached {found:.3e} m, expected at most {depth}");
                (found <= *depth, text)
            }
        }
    }

    fn record(&self) -> String {
        match self.unconverged {
            0 => format!("all {} steps converged", self.steps),
            missed => format!("{missed} of {} steps missed the tolerance", self.steps),
        }
    }
}

impl Check for ClaimCheck {
    fn begin(&mut self, simulation: &mut Simulation) {
        self.last.clone_from(simulation.state());
    }

    fn observe(&mut self, simulation: &mut Simulation, report: &StepReport) {
        self.last.clone_from(simulation.state());
        self.steps += 1;
        self.unconverged += usize::from(!report.converged());
        self.deepest = self.deepest.max(report.penetration);
    }

    fn verdict(&self) -> Verdict {
        let record = self.record();
        if self.claims.is_empty() {
            let detail =
                format!("every step could be made, which is all that is claimed; {record}");
            return Verdict { passed: true, detail };
        }
        let model = self.world.model();
        let mut data = Data::new(model);
        kinematics(model, &self.last.q, &mut data);
        velocities(model, &self.last.v, &mut data);
        let found = self.claims.iter().map(|claim| self.evaluate(claim, &data));
        let failed: Vec<String> = found.filter(|(holds, _)| !holds).map(|(_, text)| text).collect();
        match &failed[..] {
            [] => {
                let claims = match self.claims.len() {
                    1 => "its claim holds".to_owned(),
                    count => format!("all {count} claims hold"),
                };
                Verdict { passed: true, detail: format!("{claims}; {record}") }
            }
            [first, others @ ..] => {
                let more = match others.len() {
                    0 => String::new(),
                    count => format!(" (and {count} more of {} claims)", self.claims.len()),
                };
                Verdict { passed: false, detail: format!("{first}{more}; {record}") }
            }
        }
    }
}
