//! Changes of the parameters of a simulation.

use std::sync::Arc;

use super::error::ParameterError;
use super::registry::{PARAMETERS, ParameterEntry};
use super::values::ChangedParameter;
use crate::error::SnapshotError;
use crate::simulation::Simulation;
use crate::world::World;

/// Largest number of values of one parameter.
const MOST_WIDTH: usize = 9;

/// What a simulation knows of its changed parameters.
pub(crate) struct ParameterState {
    /// The world as it was given.
    original: Arc<World>,
    /// Which of [`PARAMETERS`] were changed, one bit each.
    changed: u32,
    /// Whether what is computed from them is to be computed again before the next step.
    outdated: bool,
    /// Number of changes.
    version: u64,
}

impl ParameterState {
    pub fn new(original: Arc<World>) -> Self {
        Self { original, changed: 0, outdated: false, version: 0 }
    }

    fn is_changed(&self, entry: &ParameterEntry) -> bool {
        self.changed & (1 << entry.index()) != 0
    }
}

impl Simulation {
    /// Sets a parameter of one body, joint, shape or actuator for this simulation alone; the world that it was made
    /// from never changes. Wakes everything. An error leaves everything as it was.
    ///
    /// # Errors
    /// If a value is out of its range, or there is no such part.
    pub fn set_parameter(
        &mut self,
        entry: &'static ParameterEntry,
        index: usize,
        value: &[f64],
    ) -> Result<(), ParameterError> {
        let (name, count, width) = (entry.name, entry.owner.count(&self.world), entry.width());
        if index >= count {
            return Err(ParameterError::Index { name, index, count });
        }
        if value.len() != width {
            let (found, expected) = (value.len(), width);
            return Err(ParameterError::Length { name, found, expected });
        }
        if self.has_value(entry, index, value) {
            return Ok(());
        }
        (entry.check)(&self.world, index, value)?;
        self.change_value(entry, index, value);
        Ok(())
    }

    /// Sets a parameter of all bodies, joints, shapes or actuators, as [`Simulation::set_parameter`] that of one.
    ///
    /// # Errors
    /// If a value is out of its range, or there are not as many as expected.
    pub fn set_parameters(
        &mut self,
        entry: &'static ParameterEntry,
        values: &[f64],
    ) -> Result<(), ParameterError> {
        self.check_parameters(entry, values)?;
        self.write_parameters(entry, values);
        Ok(())
    }

    /// Sets all parameters back to those of the world that the simulation was made from.
    pub fn reset_parameters(&mut self) {
        if self.parameters.changed != 0 {
            self.world = self.parameters.original.clone();
            self.parameters.changed = 0;
            self.mark_changed();
        }
    }

    /// The value of a parameter of one body, joint, shape or actuator, row by row; `None` if there is no such part.
    pub fn parameter(&self, entry: &ParameterEntry, index: usize) -> Option<Vec<f64>> {
        (index < entry.owner.count(&self.world)).then(|| {
            let mut value = vec![0.0; entry.width()];
            (entry.get)(&self.world, index, &mut value);
            value
        })
    }

    /// The values of a parameter, one after the other.
    pub fn parameters(&self, entry: &ParameterEntry) -> Vec<f64> {
        entry.values(&self.world)
    }

    /// How often parameters were changed: equal numbers mean equal parameters.
    pub fn parameter_version(&self) -> u64 {
        self.parameters.version
    }

    fn check_parameters(
        &self,
        entry: &ParameterEntry,
        values: &[f64],
    ) -> Result<(), ParameterError> {
        let (found, expected) = (values.len(), entry.len(&self.world));
        if found != expected {
            return Err(ParameterError::Length { name: entry.name, found, expected });
        }
        for (index, value) in values.chunks_exact(entry.width()).enumerate() {
            if !self.has_value(entry, index, value) {
                (entry.check)(&self.world, index, value)?;
            }
        }
        Ok(())
    }

    /// Writes checked values where they differ.
    fn write_parameters(&mut self, entry: &'static ParameterEntry, values: &[f64]) {
        for (index, value) in values.chunks_exact(entry.width()).enumerate() {
            if !self.has_value(entry, index, value) {
                self.change_value(entry, index, value);
            }
        }
    }

    /// Whether a parameter has these bits.
    fn has_value(&self, entry: &ParameterEntry, index: usize, value: &[f64]) -> bool {
        let mut now = [0.0; MOST_WIDTH];
        let now = &mut now[..entry.width()];
        (entry.get)(&self.world, index, now);
        now.iter().zip(value).all(|(a, b)| a.to_bits() == b.to_bits())
    }

    fn change_value(&mut self, entry: &'static ParameterEntry, index: usize, value: &[f64]) {
        (entry.set)(Arc::make_mut(&mut self.world), index, value);
        self.parameters.changed |= 1 << entry.index();
        self.mark_changed();
    }

    /// As after a change of the state: what rests may move, and contacts are detected again.
    fn mark_changed(&mut self) {
        self.parameters.version += 1;
        if !std::mem::replace(&mut self.parameters.outdated, true) {
            self.history.sleep.wake_all();
            self.history.detection_is_current = false;
            self.history.yielding.follows = false;
        }
    }

    /// Computes again what memory holds of changed parameters. Allocates nothing after the first change.
    pub(crate) fn update_parameters(&mut self) {
        if !std::mem::take(&mut self.parameters.outdated) {
            return;
        }
        let Self { world, scratch, parts, sensors, .. } = self;
        scratch.update_parameters(&world.model);
        parts.data.update_parameters(&world.model);
        sensors.update_parameters(&world.model);
    }

    /// The parameters that differ from those of the world, for a snapshot.
    pub(crate) fn changed_parameters(&self) -> Vec<ChangedParameter> {
        let changed = PARAMETERS.iter().filter(|entry| self.parameters.is_changed(entry));
        changed.map(|entry| ChangedParameter { entry, values: entry.values(&self.world) }).collect()
    }

    /// Sets the parameters of a snapshot, and all others back, or returns an error and leaves them as they were.
    pub(crate) fn restore_parameters(
        &mut self,
        changed: &[ChangedParameter],
    ) -> Result<(), SnapshotError> {
        for ChangedParameter { entry, values } in changed {
            self.check_parameters(entry, values)?;
        }
        for entry in PARAMETERS {
            let is_kept = changed.iter().any(|other| other.entry.name == entry.name);
            if self.parameters.is_changed(entry) && !is_kept {
                let values = entry.values(&self.parameters.original);
                self.write_parameters(entry, &values);
                self.parameters.changed &= !(1 << entry.index());
            }
        }
        for ChangedParameter { entry, values } in changed {
            self.write_parameters(entry, values);
            self.parameters.changed |= 1 << entry.index();
        }
        Ok(())
    }
}
