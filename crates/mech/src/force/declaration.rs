//! Declarations of actuators, tendons and drag in the builder, and their access in the model.

use super::drag::DragSpec;
use super::error::{ForceError, SpecCheck};
use crate::actuator::{Actuator, ActuatorId, ActuatorSpec};
use crate::builder::ModelBuilder;
use crate::data::Data;
use crate::model::Model;
use crate::tendon::{Tendon, TendonId, TendonSpec, compile};
use std::collections::HashMap;

/// Declarations of tendons, actuators and drag.
#[derive(Clone, Debug, Default)]
pub(crate) struct ForceDeclarations {
    pub(crate) tendons: Vec<TendonSpec>,
    pub(crate) actuators: Vec<ActuatorSpec>,
    pub(crate) drags: Vec<DragSpec>,
}

/// Tendons, actuators and drag of a model.
#[derive(Clone, Debug, Default)]
pub(crate) struct CompiledForces {
    pub(crate) tendons: Vec<Tendon>,
    pub(crate) actuators: Vec<Actuator>,
    pub(crate) drags: Vec<DragSpec>,
    /// Number of controls.
    pub(crate) controls: usize,
    /// Number of activations.
    pub(crate) activations: usize,
    /// Whether an activation integrates a position error.
    pub(crate) integrates_errors: bool,
}

impl ModelBuilder {
    /// Declares a tendon, or a [`SpringSpec`](crate::SpringSpec) between two points.
    pub fn tendon(&mut self, spec: impl Into<TendonSpec>) -> TendonId {
        self.declared.tendons.push(spec.into());
        TendonId(self.declared.tendons.len() - 1)
    }

    /// A tendon that was declared, to change it.
    pub fn tendon_mut(&mut self, tendon: TendonId) -> Option<&mut TendonSpec> {
        self.declared.tendons.get_mut(tendon.0)
    }

    /// Declares an actuator.
    pub fn actuator(&mut self, spec: ActuatorSpec) -> ActuatorId {
        self.declared.actuators.push(spec);
        ActuatorId(self.declared.actuators.len() - 1)
    }

    /// Declares the drag of a medium on a body.
    pub fn drag(&mut self, spec: DragSpec) -> &mut Self {
        self.declared.drags.push(spec);
        self
    }
}

impl ForceDeclarations {
    /// Checks every declaration against a model of bodies and joints.
    pub(crate) fn compile(self, model: &Model) -> Result<CompiledForces, ForceError> {
        check_names("tendon", self.tendons.iter().map(|spec| spec.name.as_str()))?;
        check_names("actuator", self.actuators.iter().map(|spec| spec.name.as_str()))?;
        let mut compiled = CompiledForces::default();
        if !self.tendons.is_empty() {
            // `Data::new` fills the position stage at the reference configuration.
            let reference = Data::new(model);
            for spec in self.tendons {
                compiled.tendons.push(compile::compile(model, spec, &reference)?);
            }
        }
        for spec in self.actuators {
            let check = SpecCheck { what: "actuator", name: &spec.name.clone() };
            let n_tendons = compiled.tendons.len();
            let mut actuator = Actuator::compile(model, spec, &check, n_tendons)?;
            let (first, controls) = (compiled.controls, actuator.spec.control_count());
            actuator.controls = first..first + controls;
            compiled.controls += controls;
            let (first, activations) = (compiled.activations, actuator.spec.activation_count());
            actuator.activations = first..first + activations;
            compiled.activations += activations;
            let pid = actuator.spec.pid;
            compiled.integrates_errors |= pid.is_some_and(|pid| pid.has_integral());
            compiled.actuators.push(actuator);
        }
        for spec in self.drags {
            let drag = spec.compile(model)?;
            // Drag has no effect on bodies that are fixed to the world.
            if model.link(drag.body).is_some() {
                compiled.drags.push(drag);
            }
        }
        Ok(compiled)
    }
}

fn check_names<'a>(
    what: &'static str,
    names: impl Iterator<Item = &'a str>,
) -> Result<(), ForceError> {
    let mut seen = HashMap::new();
    for (second, name) in names.enumerate().filter(|(_, name)| !name.is_empty()) {
        if let Some(first) = seen.insert(name, second) {
            return Err(ForceError::DuplicateName { what, name: name.into(), first, second });
        }
    }
    Ok(())
}

impl Model {
    /// Tendons in the order of their declaration.
    pub fn tendons(&self) -> &[Tendon] {
        &self.compiled.tendons
    }

    /// Actuators in the order of their declaration.
    pub fn actuators(&self) -> &[Actuator] {
        &self.compiled.actuators
    }

    /// Drag of a medium on moving bodies.
    pub fn drags(&self) -> &[DragSpec] {
        &self.compiled.drags
    }

    /// Number of controls: one per actuator, but for PID servos, which have one per input.
    pub fn nu(&self) -> usize {
        self.compiled.controls
    }

    /// The tendon of this name.
    pub fn tendon(&self, name: &str) -> Option<TendonId> {
        let found = self.tendons().iter().position(|tendon| tendon.spec.name == name);
        found.filter(|_| !name.is_empty()).map(TendonId)
    }

    /// The actuator of this name.
    pub fn actuator(&self, name: &str) -> Option<ActuatorId> {
        let found = self.actuators().iter().position(|actuator| actuator.spec.name == name);
        found.filter(|_| !name.is_empty()).map(ActuatorId)
    }
}
