//! What a scene claims of its own end: that something rests, stands somewhere, was never deep in
//! anything. Claims are judged on the last state; costs one copy of the state per step.

use std::sync::Arc;

use nalgebra::Vector3;
use stiction_mech::{
    BodyId, Data, SoftId, State, angular_velocity, kinematics, point_velocity, velocities,
};
use stiction_sim::{Simulation, StepReport, World};

use crate::scene::{Check, Verdict};

/// Of what something is claimed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Thing {
    /// A body, which is where its origin is.
    Body(BodyId),
    /// A soft body, which is where its centre of mass is.
    Soft(SoftId),
}

/// Something that must be true of a scene.
#[derive(Clone, Debug, PartialEq)]
pub enum Claim {
    /// A thing is at rest in the end.
    AtRest {
        /// The thing.
        of: Thing,
        /// Largest speed of a body's origin [m/s] and of its rotation [rad/s], or of the vertices of a
        /// soft one [m/s].
        speed: f64,
    },
    /// A thing is at a place in the end.
    Near {
        /// The thing.
        of: Thing,
        /// The place [m].
        position: Vector3<f64>,
        /// Largest distance from it [m].
        within: f64,
    },
    /// A thing is between two heights in the end.
    Height {
        /// The thing.
        of: Thing,
        /// Least height [m].
        lowest: f64,
        /// Largest height [m].
        highest: f64,
    },
    /// The only coordinate of a joint has a value in the end.
    Coordinate {
        /// What the joint is called.
        joint: String,
        /// Place of its coordinate in q.
        q: usize,
        /// The value [m or rad].
        value: f64,
        /// Largest difference from it [m or rad].
        within: f64,
    },
    /// Nothing is ever deeper in anything than this [m].
    Penetration(f64),
}

/// Judges a run by claims. A scene without any passes if every step could be made.
pub struct Judge {
    world: Arc<World>,
    claims: Vec<Claim>,
    last: State,
    steps: usize,
    unconverged: usize,
    deepest: f64,
}

impl Judge {
    /// A judge of these claims.
    pub fn new(world: Arc<World>, claims: Vec<Claim>) -> Self {
        let last = State::new(world.model());
        Self { world, claims, last, steps: 0, unconverged: 0, deepest: 0.0 }
    }

    /// Whether a claim holds, and what was found.
    fn look(&self, claim: &Claim, data: &Data) -> (bool, String) {
        let model = self.world.model();
        let name = |of: &Thing| match of {
            Thing::Body(body) => &model.bodies()[body.0].spec.name,
            Thing::Soft(soft) => &model.softs()[soft.0].spec.name,
        };
        let place = |of: &Thing| match of {
            Thing::Body(body) => data.body_pose[body.0].translation.vector,
            Thing::Soft(soft) => {
                let soft = &model.softs()[soft.0];
                soft.centre_of_mass(&self.last.x[soft.nodes.clone()])
            }
        };
        match claim {
            Claim::AtRest { of: of @ Thing::Soft(soft), speed } => {
                let vertices = &self.last.x_dot[model.softs()[soft.0].nodes.clone()];
                let fastest = vertices.iter().map(|v| v.norm()).fold(0.0, f64::max);
                let text = format!(
                    "{} moves at up to {fastest:.3e} m/s, expected at most {speed}",
                    name(of)
                );
                (fastest <= *speed, text)
            }
            Claim::AtRest { of: of @ Thing::Body(body), speed } => {
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

impl Check for Judge {
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
        let found = self.claims.iter().map(|claim| self.look(claim, &data));
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
