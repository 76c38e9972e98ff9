//! The engine behind a simulation, and the copying between it and the numbers that Python sees.

use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

use nalgebra::Vector3;
use pyo3::prelude::*;
use stiction_mech::{Data, Forces, Model, State};
use stiction_scene::Controller;
use stiction_sim::{Simulation, StepError, StepReport as Report};

use crate::error;
use crate::record::Watch;
use crate::report::StepReport;
use crate::solver::Failure;
use crate::views::Layout;

/// How long steps go on before the interpreter is asked whether someone wants to stop them.
const PATIENCE: Duration = Duration::from_millis(50);
/// Squared lengths of quaternions that differ less from one than this are left alone: the round-off
/// of the engine's own products.
const UNIT: f64 = 1e-14;

/// A simulation with what steers it and memory for questions about it.
pub struct Core {
    /// The engine.
    pub engine: Simulation,
    /// Sets inputs before each step.
    pub controller: Option<Box<dyn Controller>>,
    /// Whether the controller acts.
    pub controlled: bool,
    /// Memory for questions; the engine has its own.
    pub data: Data,
    /// Memory for questions about forces.
    pub forces: Forces,
    wanted: State,
    /// What observes each step, as long as someone wants it.
    watches: Vec<Weak<Watch>>,
    /// Where exceptions of a solver from Python wait.
    failure: Option<Failure>,
}

impl Core {
    /// An engine at its start.
    pub fn new(
        engine: Simulation,
        controller: Option<Box<dyn Controller>>,
        failure: Option<Failure>,
    ) -> Self {
        let model = engine.world().clone();
        let model = model.model();
        Self {
            controlled: controller.is_some(),
            controller,
            data: Data::new(model),
            forces: Forces::new(model),
            wanted: State::new(model),
            watches: Vec::new(),
            failure,
            engine,
        }
    }

    /// Takes over what was written into the block. Quaternions near unit length are normalised,
    /// there and here; what is no state is refused, and the engine stays as it was.
    pub fn pull(&mut self, layout: &Layout, block: &mut [f64]) -> PyResult<()> {
        let state = self.engine.state();
        if block[layout.q.clone()] != state.q[..]
            || block[layout.v.clone()] != state.v[..]
            || !same(&block[layout.x.clone()], &state.x)
            || !same(&block[layout.x_dot.clone()], &state.x_dot)
        {
            let (time, world) = (state.time, self.engine.world());
            self.wanted.time = time;
            self.wanted.q.copy_from_slice(&block[layout.q.clone()]);
            self.wanted.v.copy_from_slice(&block[layout.v.clone()]);
            take(&mut self.wanted.x, &block[layout.x.clone()]);
            take(&mut self.wanted.x_dot, &block[layout.x_dot.clone()]);
            let checked = self.wanted.check(world.model());
            checked.map_err(|source| error::step(StepError::State { time, source }))?;
            normalise(world.model(), &mut self.wanted.q);
            block[layout.q.clone()].copy_from_slice(&self.wanted.q);
            self.engine.state_mut().clone_from(&self.wanted);
        }
        let (control, wrench) = (&block[layout.control.clone()], &block[layout.wrench.clone()]);
        let input = self.engine.input();
        let same_wrench = || {
            let rows = input.wrench.iter().zip(wrench.chunks_exact(6));
            rows.into_iter().all(|(held, given)| held.as_slice() == given)
        };
        if control != &input.control[..] || !same_wrench() {
            let input = self.engine.input_mut();
            input.control.copy_from_slice(control);
            for (held, given) in input.wrench.iter_mut().zip(wrench.chunks_exact(6)) {
                held.copy_from_slice(given);
            }
        }
        Ok(())
    }

    /// Shows the state, and the inputs if a controller sets them.
    pub fn push(&self, layout: &Layout, block: &mut [f64]) {
        let state = self.engine.state();
        block[layout.q.clone()].copy_from_slice(&state.q);
        block[layout.v.clone()].copy_from_slice(&state.v);
        show(&mut block[layout.x.clone()], &state.x);
        show(&mut block[layout.x_dot.clone()], &state.x_dot);
        if self.controlled {
            self.push_input(layout, block);
        }
    }

    /// Shows the inputs.
    pub fn push_input(&self, layout: &Layout, block: &mut [f64]) {
        let input = self.engine.input();
        block[layout.control.clone()].copy_from_slice(&input.control);
        for (shown, held) in block[layout.wrench.clone()].chunks_exact_mut(6).zip(&input.wrench) {
            shown.copy_from_slice(held.as_slice());
        }
    }

    /// Lets the controller act, if there is one.
    pub fn control(&mut self) {
        if let Some(controller) = self.controller.as_mut().filter(|_| self.controlled) {
            controller.control(&mut self.engine);
        }
    }

    /// Steps until `left` is none, or until it is time to look up.
    pub fn run(&mut self, left: &mut usize, report: &mut StepReport) -> PyResult<()> {
        let begin = (*left > 1).then(Instant::now);
        while *left > 0 {
            self.control();
            match self.failure.clone() {
                Some(failure) => self.careful_step(&failure, report)?,
                None => {
                    let made = self.engine.step().map_err(error::step)?;
                    self.note(&made, report);
                }
            }
            *left -= 1;
            if begin.is_some_and(|begin| begin.elapsed() > PATIENCE) {
                break;
            }
        }
        Ok(())
    }

    /// A step with a solver from Python, undone if that raises an exception.
    fn careful_step(&mut self, failure: &Failure, report: &mut StepReport) -> PyResult<()> {
        let before = self.engine.snapshot();
        let outcome = self.engine.step();
        if let Some(exception) = failure.take() {
            self.engine.restore(&before).map_err(error::step_failed)?;
            return Err(exception);
        }
        self.note(&outcome.map_err(error::step)?, report);
        Ok(())
    }

    /// Lets each step from now on be observed.
    pub fn watch(&mut self, watch: &Arc<Watch>) {
        self.watches.retain(|held| held.upgrade().is_some_and(|watch| watch.is_wanted()));
        self.watches.push(Arc::downgrade(watch));
    }

    /// Adds a step to the report and lets it be observed.
    fn note(&self, made: &Report, report: &mut StepReport) {
        report.add(made);
        for watch in self.watches.iter().filter_map(Weak::upgrade) {
            watch.observe(&self.engine, made);
        }
    }
}

/// Whether numbers are those of vectors.
fn same(numbers: &[f64], vectors: &[Vector3<f64>]) -> bool {
    numbers.chunks_exact(3).zip(vectors).all(|(row, vector)| row == vector.as_slice())
}

/// Writes numbers into vectors.
fn take(vectors: &mut [Vector3<f64>], numbers: &[f64]) {
    for (vector, row) in vectors.iter_mut().zip(numbers.chunks_exact(3)) {
        vector.copy_from_slice(row);
    }
}

/// Writes vectors into numbers.
fn show(numbers: &mut [f64], vectors: &[Vector3<f64>]) {
    for (row, vector) in numbers.chunks_exact_mut(3).zip(vectors) {
        row.copy_from_slice(vector.as_slice());
    }
}

/// Gives the quaternions of a checked state unit length.
pub fn normalise(model: &Model, q: &mut [f64]) {
    for start in model.joints().iter().filter_map(|joint| joint.quaternion()) {
        let quaternion = &mut q[start..start + 4];
        let square: f64 = quaternion.iter().map(|x| x * x).sum();
        if (square - 1.0).abs() > UNIT {
            let length = square.sqrt();
            quaternion.iter_mut().for_each(|x| *x /= length);
        }
    }
}
