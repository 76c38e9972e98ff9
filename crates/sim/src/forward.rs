//! Dynamics of the present state without a step: accelerations, contacts and forces that the coming step finds.

use crate::contact_point::ContactPoint;
use crate::error::StepError;
use crate::report::StepReport;
use crate::rows::ConstraintClass;
use crate::simulation::Simulation;

/// What the coming step finds.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Forward {
    /// Mean acceleration of the velocities over the step [m/s², rad/s²].
    pub acceleration: Vec<f64>,
    /// Mean forces of contacts, limits, equalities and ends of cables over the step [N, N·m]; per velocity.
    pub constraint_force: Vec<f64>,
    /// The contacts with their forces.
    pub contacts: Vec<ContactPoint>,
    /// Readings of all sensors: positions and velocities of the present state, accelerations and forces of the step.
    pub sensor_data: Vec<f64>,
    /// The report of the step.
    pub report: StepReport,
}

impl Simulation {
    /// Computes what the coming step finds, and leaves everything else as it is. Cost: a step and a restored snapshot.
    ///
    /// # Errors
    /// Those of the step.
    pub fn forward(&mut self) -> Result<Forward, StepError> {
        let (before, report_before) = (self.snapshot(), self.report().copied());
        let start = self.state().v.clone();
        let report = self.step()?;
        let h = self.settings.time_step;
        let velocities = self.state.v.iter().zip(&start);
        let acceleration = velocities.map(|(next, old)| (next - old) / h).collect();
        let mut constraint_force = vec![0.0; start.len()];
        self.constraint_force(&mut constraint_force);
        let contacts = self.contacts().to_vec();
        let mut last_step = std::mem::take(&mut self.history.last_step);
        if let Err(source) = self.restore(&before) {
            // Cannot fail: the snapshot is of this simulation.
            return Err(StepError::Restore { time: before.state.time, source });
        }
        self.report = report_before;
        std::mem::swap(&mut self.history.last_step, &mut last_step);
        let sensor_data = self.sensor_data().to_vec();
        self.history.last_step = last_step;
        Ok(Forward { acceleration, constraint_force, contacts, sensor_data, report })
    }

    /// Adds the mean forces of contacts, limits, equalities and ends of cables in the last step [N, N·m] to `out`, per
    /// velocity; of a step in parts those of its last part. Servos, tendons and dry friction are left out.
    pub fn constraint_force(&self, out: &mut [f64]) {
        let (scratch, model) = (&self.scratch, &self.world.model);
        if scratch.rows.is_empty() {
            return;
        }
        let (jacobian, impulse) = (scratch.problem.jacobian(), &scratch.solution.impulse);
        let mut sum = vec![0.0; scratch.solution.velocity.len()];
        for (index, record) in scratch.rows.records().iter().enumerate() {
            if record.key.class != ConstraintClass::Drive {
                let lambda = &impulse[scratch.problem.row_range(index)];
                jacobian.mul_constraint_transposed_add(index, lambda, &mut sum);
            }
        }
        let h = scratch.solved_time;
        for (tree, range) in scratch.assembler.trees() {
            let dofs = model.trees()[*tree].dofs.clone();
            for (out, sum) in out[dofs].iter_mut().zip(&sum[range.clone()]) {
                *out += sum / h;
            }
        }
    }
}
