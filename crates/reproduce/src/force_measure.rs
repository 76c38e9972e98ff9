//! The force whose error is the accuracy measure of a scene [Lee23, Sec. V-C2].

use stiction_mech::{BodyId, SoftWorkspace};
use stiction_sim::Simulation;
use stiction_study::scenarios::cable_winding;

/// The force whose norm is compared with the reference.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ForceMeasure {
    /// Forces of the elements on the vertices of soft bodies.
    Internal,
    /// Force of the cable on the hand.
    Hand,
    /// Contact forces on the rigid part.
    Part,
}

impl ForceMeasure {
    /// Name of its error in the paper, with the unit.
    pub fn error_heading(self) -> &'static str {
        match self {
            Self::Internal => "IE [mN]",
            Self::Hand | Self::Part => "FE [mN]",
        }
    }

    /// Its norm at the current state [N].
    pub fn norm(self, simulation: &mut Simulation) -> f64 {
        match self {
            Self::Internal => internal(simulation),
            Self::Hand => cable_winding::hand_force(simulation).norm(),
            Self::Part => {
                let part = simulation.world().model().body("part").unwrap_or(BodyId::WORLD).0;
                let on_part = simulation.contacts().iter().filter(|c| c.bodies.contains(&part));
                on_part.map(|contact| contact.force.norm_squared()).sum::<f64>().sqrt()
            }
        }
    }
}

fn internal(simulation: &Simulation) -> f64 {
    let mut sum = 0.0;
    for soft in simulation.world().model().softs() {
        let x = &simulation.state().x[soft.nodes.clone()];
        let mut work = SoftWorkspace::new(soft);
        soft.update_rotations(x, &mut work);
        soft.forces(x, &mut work);
        sum += work.force.iter().map(|f| f.norm_squared()).sum::<f64>();
    }
    sum.sqrt()
}
