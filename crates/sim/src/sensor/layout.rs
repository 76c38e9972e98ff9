//! Layout of the array of sensor readings, in the order of declaration.

use std::collections::HashMap;
use std::ops::Range;
use stiction_mech::{BodyId, Model};

use super::{SensorKind, SensorSpec};
use crate::error::WorldError;
use crate::world::{Renumber, World, WorldBuilder};

/// The sensors of a world.
#[derive(Clone, Debug, Default)]
pub(crate) struct Layout {
    pub specs: Vec<SensorSpec>,
    /// Index of the first number of each sensor.
    first: Vec<usize>,
    /// Length of all readings together.
    pub len: usize,
    /// Whether some sensor reads results of the last step.
    pub read_last_step: bool,
    /// Per body: one past the last body of its subtree.
    subtree_end: Vec<usize>,
}

impl Layout {
    /// Checks the sensors and assigns their ranges.
    pub fn new(
        mut specs: Vec<SensorSpec>,
        geoms: usize,
        renumber: &Renumber,
    ) -> Result<Self, WorldError> {
        let model = renumber.model;
        let mut seen = HashMap::new();
        for (second, spec) in specs.iter().enumerate().filter(|(_, spec)| !spec.name.is_empty()) {
            if let Some(first) = seen.insert(spec.name.as_str(), second) {
                return Err(WorldError::Sensor {
                    name: spec.name.clone(),
                    what: format!("sensors {first} and {second} have this name"),
                    expected: "a name of its own",
                });
            }
        }
        let (mut first, mut len) = (Vec::with_capacity(specs.len()), 0);
        for spec in &mut specs {
            spec.renumber(renumber)?;
            spec.check(model, geoms)?;
            first.push(len);
            len += spec.kind.dim();
        }
        let read_last_step = specs.iter().any(|spec| spec.kind.reads_last_step());
        Ok(Self { specs, first, len, read_last_step, subtree_end: subtree_ends(model) })
    }

    /// Whether the kind of some sensor satisfies `is`.
    pub fn any(&self, is: impl Fn(&SensorKind) -> bool) -> bool {
        self.specs.iter().any(|spec| is(&spec.kind))
    }

    /// Indices of the bodies of a subtree.
    pub fn subtree(&self, body: BodyId) -> Range<usize> {
        body.0..self.subtree_end[body.0]
    }

    fn range(&self, index: usize) -> Range<usize> {
        self.first[index]..self.first[index] + self.specs[index].kind.dim()
    }
}

/// Per body: one past the last body of its subtree; bodies are numbered depth first.
fn subtree_ends(model: &Model) -> Vec<usize> {
    let bodies = model.bodies();
    let mut end: Vec<usize> = (1..=bodies.len()).collect();
    for body in (1..bodies.len()).rev() {
        let parent = bodies[body].spec.parent.0;
        end[parent] = end[parent].max(end[body]);
    }
    end
}

impl WorldBuilder {
    /// Adds a sensor. Its reading follows those of the sensors added before it.
    pub fn sensor(&mut self, spec: SensorSpec) {
        self.sensors.push(spec);
    }
}

impl World {
    /// The sensors, with bodies and joints in the model's numbering.
    pub fn sensors(&self) -> &[SensorSpec] {
        &self.sensors.specs
    }

    /// Range of the reading of the sensor of this name in
    /// [`Simulation::sensor_data`](crate::Simulation::sensor_data).
    pub fn sensor_range(&self, name: &str) -> Option<Range<usize>> {
        let found = self.sensors.specs.iter().position(|spec| spec.name == name);
        found.filter(|_| !name.is_empty()).map(|index| self.sensors.range(index))
    }

    /// Range of each reading, in the order of the sensors.
    pub fn sensor_ranges(&self) -> impl Iterator<Item = Range<usize>> + '_ {
        (0..self.sensors.specs.len()).map(|index| self.sensors.range(index))
    }

    /// Length of all readings together.
    pub fn sensor_len(&self) -> usize {
        self.sensors.len
    }
}
