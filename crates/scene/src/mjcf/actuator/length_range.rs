//! Ranges of lengths of muscles that files do not give, found as MuJoCo finds them: by a simulation.
//!
//! For each muscle and each end of its range, the mechanism starts at its reference configuration and is pulled along
//! the muscle, without gravity, contacts, springs, damping and dry friction. The force gives the coordinates an
//! acceleration of fixed size, and velocities decay with a time constant. Limits and equalities act, as soft as the
//! file says. The range is that of the lengths in the last part of the simulation [MuJoCo, XML reference, lengthrange].

use nalgebra::Vector3;
use stiction_mech::{
    ActuatorLaw, ActuatorSpec, Data, JointSpec, Model, ModelBuilder, SoftLaw, State, TendonSpec,
    Transmission, factor_mass, kinematics, mass_matrix,
};
use stiction_sim::constraint::EqualityOptions;
use stiction_sim::{Scheme, Settings, Simulation, WorldBuilder};

use super::reference::unit_response;
use crate::error::SceneError;
use crate::mjcf::build::Build;
use crate::xml::Element;

/// Least acceleration per force, as in MuJoCo.
const LEAST: f64 = 1e-15;

/// Least time constant of the decay of velocities [s], as in MuJoCo.
const LEAST_TIME: f64 = 0.01;

/// Steps of one simulation, at most.
const MOST_STEPS: f64 = 1e6;

/// `<lengthrange>` of the compiler.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(in crate::mjcf) struct LengthRangeOptions {
    /// Whether ranges that the file gives count.
    pub use_existing: bool,
    /// Whether limits of joints and tendons are taken where there are some.
    pub use_limit: bool,
    /// Size of the acceleration.
    pub acceleration: f64,
    /// Largest size of the generalized force; none if zero.
    pub most_force: f64,
    /// Time constant of the decay of velocities [s].
    pub time_constant: f64,
    /// Time step [s].
    pub time_step: f64,
    /// Duration [s].
    pub total: f64,
    /// Duration of the last part [s].
    pub interval: f64,
    /// Largest change of the length in the last part, relative to the range.
    pub tolerance: f64,
}

impl Default for LengthRangeOptions {
    fn default() -> Self {
        Self {
            use_existing: true,
            use_limit: false,
            acceleration: 20.0,
            most_force: 0.0,
            time_constant: 1.0,
            time_step: 0.01,
            total: 10.0,
            interval: 2.0,
            tolerance: 0.05,
        }
    }
}

impl LengthRangeOptions {
    /// Reads the attributes of an element over those read before.
    pub fn merge(&mut self, element: &Element) -> Result<(), SceneError> {
        element.get("mode");
        self.use_existing = element.boolean("useexisting")?.unwrap_or(self.use_existing);
        self.use_limit = element.boolean("uselimit")?.unwrap_or(self.use_limit);
        for (name, value, may_be_zero) in [
            ("accel", &mut self.acceleration, false),
            ("maxforce", &mut self.most_force, true),
            ("timeconst", &mut self.time_constant, true),
            ("timestep", &mut self.time_step, false),
            ("inttotal", &mut self.total, false),
            ("interval", &mut self.interval, false),
            ("tolrange", &mut self.tolerance, true),
        ] {
            let Some(found) = element.number(name)? else { continue };
            if !(found > 0.0 || may_be_zero && found == 0.0) {
                return Err(element.wrong(name, "a positive number"));
            }
            *value = found;
        }
        if self.total / self.time_step > MOST_STEPS {
            return Err(element.wrong("inttotal", "at most a million time steps"));
        }
        Ok(())
    }
}

/// A mechanism whose muscles are pulled.
pub(super) struct LengthRangeSearch {
    simulation: Simulation,
    data: Data,
    /// The actuators with the ids of the builder.
    actuators: Vec<ActuatorSpec>,
    options: LengthRangeOptions,
}

impl LengthRangeSearch {
    /// The mechanism read so far with motors in place of all actuators; `None` if it cannot be built.
    pub fn new<'a>(
        build: &Build,
        actuators: impl Iterator<Item = &'a ActuatorSpec>,
    ) -> Option<Self> {
        let options =
            build.parts.first().map(|part| part.compiler.length_range).unwrap_or_default();
        let declared = build.world.mechanism.declared();
        let mut mechanism = ModelBuilder::new();
        mechanism.gravity(Vector3::zeros());
        declared.bodies.iter().skip(1).for_each(|body| {
            mechanism.body(body.clone());
        });
        let soft = |law: Option<SoftLaw>| Some(law.unwrap_or_default());
        for (body, joint) in declared.joints {
            let limit_softness = soft(joint.limit_softness);
            let (stiffness, damping, friction_loss) = (0.0, 0.0, 0.0);
            let joint = joint.clone();
            let bare = JointSpec { stiffness, damping, friction_loss, limit_softness, ..joint };
            mechanism.joint(*body, bare);
        }
        for tendon in declared.tendons {
            let limit_softness = soft(tendon.limit_softness);
            let (stiffness, damping, friction_loss) = (0.0, 0.0, 0.0);
            let tendon = tendon.clone();
            let bare = TendonSpec { stiffness, damping, friction_loss, limit_softness, ..tendon };
            mechanism.tendon(bare);
        }
        let motor = |actuator: &ActuatorSpec| {
            let (transmission, gear, law) =
                (actuator.transmission, actuator.gear, ActuatorLaw::Motor);
            ActuatorSpec { gear, law, ..ActuatorSpec::motor("", transmission) }
        };
        let actuators: Vec<ActuatorSpec> = actuators.map(motor).collect();
        for actuator in &actuators {
            mechanism.actuator(actuator.clone());
        }
        let mut world = WorldBuilder::new();
        world.mechanism = mechanism;
        for (name, equality, given) in build.world.equalities() {
            let options = EqualityOptions { softness: soft(given.softness), ..*given };
            world.equality_with(name.clone(), equality.clone(), options);
        }
        let settings = Settings {
            scheme: Scheme::Euler,
            time_step: options.time_step,
            ..build.settings.clone()
        };
        let simulation = Simulation::new(world.build().ok()?, settings).ok()?;
        let data = Data::new(simulation.world().model());
        Some(Self { simulation, data, actuators, options })
    }

    /// The range of the length of an actuator, gear included; `None` if it does not settle.
    pub fn find(&mut self, actuator: usize) -> Option<(f64, f64)> {
        let model = self.simulation.world().clone();
        let model = model.model();
        if let Some(range) = self.limits(model, actuator) {
            return Some(range);
        }
        let [shortest, longest] =
            [self.end(model, actuator, -1.0)?, self.end(model, actuator, 1.0)?];
        let (lower, upper) = (shortest.0, longest.1);
        let unsettled = (shortest.1 - shortest.0).max(longest.1 - longest.0);
        Some((lower, upper))
            .filter(|_| lower < upper && unsettled <= self.options.tolerance * (upper - lower))
    }

    /// The limit of the joint or tendon, where the options ask for it.
    fn limits(&self, model: &Model, actuator: usize) -> Option<(f64, f64)> {
        let limit = match model.actuators()[actuator].spec.transmission {
            _ if !self.options.use_limit => None,
            Transmission::Joint(joint) => model.joints()[joint.0].spec.limit,
            Transmission::Tendon(tendon) => model.tendons()[tendon.0].spec.limit,
            _ => None,
        };
        limit.map(|limit| (limit.lower, limit.upper))
    }

    /// Smallest and largest length in the last part of a simulation with a pull of this sign.
    fn end(&mut self, model: &Model, actuator: usize, sign: f64) -> Option<(f64, f64)> {
        let LengthRangeOptions { total, interval, time_step, .. } = self.options;
        let decay = (-time_step / self.options.time_constant.max(LEAST_TIME)).exp();
        self.simulation.set_state(&State::new(model)).ok()?;
        self.simulation.input_mut().control.fill(0.0);
        let mut range: Option<(f64, f64)> = None;
        while self.simulation.state().time < total {
            self.simulation.state_mut().v.iter_mut().for_each(|v| *v *= decay);
            let length = self.pull(model, actuator, sign)?;
            let _ = self.simulation.step().ok()?;
            if self.simulation.state().time > total - interval {
                let (lower, upper) = range.unwrap_or((length, length));
                range = Some((lower.min(length), upper.max(length)));
            }
        }
        range
    }

    /// Sets the force of the actuator at the present state, and returns its length.
    fn pull(&mut self, model: &Model, actuator: usize, sign: f64) -> Option<f64> {
        let q = &self.simulation.state().q;
        kinematics(model, q, &mut self.data);
        mass_matrix(model, &mut self.data);
        factor_mass(model, &mut self.data).ok()?;
        let spec = &self.actuators[actuator];
        let response = unit_response(model, &self.data, q, spec);
        let mut force = self.options.acceleration / response.acceleration.max(LEAST);
        if self.options.most_force > 0.0 {
            force = force.min(self.options.most_force / response.moment.max(LEAST));
        }
        let length = response.length?;
        self.simulation.input_mut().control[actuator] = sign * force;
        Some(spec.gear * length)
    }
}
