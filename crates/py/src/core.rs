//! The Rust simulation behind a Python `Simulation`, and the copying between it and the NumPy arrays.

use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

use nalgebra::Vector3;
use pyo3::prelude::*;
use stiction_mech::{Data, Forces, Input, State};
use stiction_scene::Controller;
use stiction_sim::{Forward, Simulation, StepError, StepReport as Report};
use stiction_view::camera_image::CameraMemory;

use crate::error;
use crate::record::StepObserver;
use crate::report::StepReport;
use crate::solver::PendingException;
use crate::views::Layout;

/// Time between two checks for Python signals (Ctrl-C) during several steps.
const SIGNAL_CHECK_INTERVAL: Duration = Duration::from_millis(50);

/// A simulation with its controller and workspaces for queries.
pub struct SimulationCore {
    /// The engine.
    pub engine: Simulation,
    /// Sets inputs before each step.
    pub controller: Option<Box<dyn Controller>>,
    /// Whether the controller is active.
    pub controlled: bool,
    /// Workspace for kinematic and dynamic queries; the engine has its own.
    pub data: Data,
    /// Workspace for queries of forces.
    pub forces: Forces,
    /// Version of the parameters that `data` and `forces` know.
    known_parameters: u64,
    /// Input of the last query of forces, with delayed controls.
    pub acting_input: Input,
    new_state: State,
    /// Velocities at the start of the last step, and whether the present state is that at its end.
    start_velocity: Vec<f64>,
    is_stepped: bool,
    /// What the coming step finds, if it was asked for since the last change.
    pub forward: Option<Box<Forward>>,
    /// Memory of pictures.
    pub pictures: CameraMemory,
    /// Observers of each step, as long as they are held elsewhere.
    observers: Vec<Weak<StepObserver>>,
    /// Exception raised by a Python solver during a step.
    exception: Option<PendingException>,
}

impl SimulationCore {
    /// Wraps a new engine.
    pub fn new(
        engine: Simulation,
        controller: Option<Box<dyn Controller>>,
        exception: Option<PendingException>,
    ) -> Self {
        let model = engine.world().clone();
        let model = model.model();
        Self {
            controlled: controller.is_some(),
            controller,
            data: Data::new(model),
            forces: Forces::new(model),
            known_parameters: engine.parameter_version(),
            acting_input: Input::new(model),
            new_state: State::new(model),
            start_velocity: vec![0.0; model.nv()],
            is_stepped: false,
            forward: None,
            pictures: CameraMemory::default(),
            observers: Vec::new(),
            exception,
            engine,
        }
    }

    /// Forgets the last step, after which the state was changed, and what the coming one finds.
    pub fn forget_step(&mut self) {
        self.is_stepped = false;
        self.forward = None;
    }

    /// Computes what the coming step finds. A Python solver takes part as in a step.
    pub fn compute_forward(&mut self) -> PyResult<Report> {
        self.control();
        let before = self.exception.is_some().then(|| self.engine.snapshot());
        let found = self.engine.forward();
        if let (Some(exception), Some(before)) = (&self.exception, before)
            && let Some(exception) = exception.take()
        {
            self.engine.restore(&before).map_err(error::step_failed)?;
            return Err(exception);
        }
        let found = found.map_err(error::step)?;
        let report = found.report;
        self.forward = Some(Box::new(found));
        Ok(report)
    }

    /// Mean accelerations of the last step, or those that were found for the coming one; zero before the first step.
    pub fn accelerations(&self) -> Vec<f64> {
        if let Some(forward) = &self.forward {
            return forward.acceleration.clone();
        }
        let (v, h) = (&self.engine.state().v, self.engine.settings().time_step);
        let change = v.iter().zip(&self.start_velocity).map(|(next, old)| (next - old) / h);
        change.map(|a| if self.is_stepped { a } else { 0.0 }).collect()
    }

    /// Mean forces of constraints of the last step, or those that were found for the coming one; zero before the first step.
    pub fn constraint_force(&self) -> Vec<f64> {
        if let Some(forward) = &self.forward {
            return forward.constraint_force.clone();
        }
        let mut force = vec![0.0; self.engine.state().v.len()];
        if self.is_stepped {
            self.engine.constraint_force(&mut force);
        }
        force
    }

    /// Takes over changed parameters for queries.
    pub fn update_parameters(&mut self) {
        let version = self.engine.parameter_version();
        if std::mem::replace(&mut self.known_parameters, version) != version {
            let model = self.engine.world().model();
            self.data.update_parameters(model);
            self.forces.update_parameters(model);
            self.forward = None;
        }
    }

    /// Copies the arrays into the engine if they changed. Quaternions are normalised on both sides. An
    /// invalid state is refused and leaves the engine unchanged.
    pub fn pull(&mut self, layout: &Layout, block: &mut [f64]) -> PyResult<()> {
        let state = self.engine.state();
        if block[layout.q.clone()] != state.q[..]
            || block[layout.v.clone()] != state.v[..]
            || block[layout.activation.clone()] != state.activation[..]
            || !equal(&block[layout.x.clone()], &state.x)
            || !equal(&block[layout.x_dot.clone()], &state.x_dot)
        {
            let (time, world) = (state.time, self.engine.world());
            self.new_state.time = time;
            self.new_state.q.copy_from_slice(&block[layout.q.clone()]);
            self.new_state.v.copy_from_slice(&block[layout.v.clone()]);
            self.new_state.activation.copy_from_slice(&block[layout.activation.clone()]);
            copy_to_vectors(&mut self.new_state.x, &block[layout.x.clone()]);
            copy_to_vectors(&mut self.new_state.x_dot, &block[layout.x_dot.clone()]);
            self.new_state.normalise_quaternions(world.model());
            let checked = self.new_state.check(world.model());
            checked.map_err(|source| error::step(StepError::State { time, source }))?;
            block[layout.q.clone()].copy_from_slice(&self.new_state.q);
            self.engine.state_mut().clone_from(&self.new_state);
            self.forget_step();
        }
        let (control, wrench) = (&block[layout.control.clone()], &block[layout.wrench.clone()]);
        let input = self.engine.input();
        let same_wrench = || {
            let rows = input.wrench.iter().zip(wrench.chunks_exact(6));
            rows.into_iter().all(|(held, given)| held.as_slice() == given)
        };
        let force = &block[layout.force.clone()];
        if control != &input.control[..] || !same_wrench() || force != &input.force[..] {
            self.forward = None;
            let input = self.engine.input_mut();
            input.force.copy_from_slice(force);
            input.control.copy_from_slice(control);
            for (held, given) in input.wrench.iter_mut().zip(wrench.chunks_exact(6)) {
                held.copy_from_slice(given);
            }
        }
        Ok(())
    }

    /// Copies the state to the arrays, and the inputs if a controller sets them.
    pub fn push(&self, layout: &Layout, block: &mut [f64]) {
        let state = self.engine.state();
        block[layout.q.clone()].copy_from_slice(&state.q);
        block[layout.v.clone()].copy_from_slice(&state.v);
        block[layout.activation.clone()].copy_from_slice(&state.activation);
        copy_from_vectors(&mut block[layout.x.clone()], &state.x);
        copy_from_vectors(&mut block[layout.x_dot.clone()], &state.x_dot);
        if self.controlled {
            self.push_input(layout, block);
        }
    }

    /// Copies the inputs to the arrays.
    pub fn push_input(&self, layout: &Layout, block: &mut [f64]) {
        let input = self.engine.input();
        block[layout.control.clone()].copy_from_slice(&input.control);
        block[layout.force.clone()].copy_from_slice(&input.force);
        for (shown, held) in block[layout.wrench.clone()].chunks_exact_mut(6).zip(&input.wrench) {
            shown.copy_from_slice(held.as_slice());
        }
    }

    /// Runs the controller if there is one and it is active.
    pub fn control(&mut self) {
        if let Some(controller) = self.controller.as_mut().filter(|_| self.controlled) {
            controller.control(&mut self.engine);
        }
    }

    /// Steps until `left` is zero or it is time to check for signals.
    pub fn run(&mut self, left: &mut usize, report: &mut StepReport) -> PyResult<()> {
        let begin = (*left > 1).then(Instant::now);
        if *left > 0 {
            self.forward = None;
        }
        while *left > 0 {
            self.control();
            self.start_velocity.copy_from_slice(&self.engine.state().v);
            self.is_stepped = false;
            match self.exception.clone() {
                Some(exception) => self.step_with_python_solver(&exception, report)?,
                None => {
                    let step = self.engine.step().map_err(error::step)?;
                    self.note(&step, report);
                }
            }
            self.is_stepped = true;
            *left -= 1;
            if begin.is_some_and(|begin| begin.elapsed() > SIGNAL_CHECK_INTERVAL) {
                break;
            }
        }
        Ok(())
    }

    /// A step with a solver written in Python; it is undone if the solver raises an exception.
    fn step_with_python_solver(
        &mut self,
        exception: &PendingException,
        report: &mut StepReport,
    ) -> PyResult<()> {
        let before = self.engine.snapshot();
        let outcome = self.engine.step();
        if let Some(exception) = exception.take() {
            self.engine.restore(&before).map_err(error::step_failed)?;
            return Err(exception);
        }
        self.note(&outcome.map_err(error::step)?, report);
        Ok(())
    }

    /// Adds an observer of every later step.
    pub fn add_observer(&mut self, observer: &Arc<StepObserver>) {
        self.observers.retain(|held| held.upgrade().is_some_and(|held| held.is_active()));
        self.observers.push(Arc::downgrade(observer));
    }

    /// Adds a step to the report and passes it to the observers.
    fn note(&self, step: &Report, report: &mut StepReport) {
        report.add(step);
        for observer in self.observers.iter().filter_map(Weak::upgrade) {
            observer.observe(&self.engine, step);
        }
    }
}

/// Whether a flat slice holds the components of vectors.
fn equal(numbers: &[f64], vectors: &[Vector3<f64>]) -> bool {
    numbers.chunks_exact(3).zip(vectors).all(|(row, vector)| row == vector.as_slice())
}

/// Copies a flat slice to vectors.
fn copy_to_vectors(vectors: &mut [Vector3<f64>], numbers: &[f64]) {
    for (vector, row) in vectors.iter_mut().zip(numbers.chunks_exact(3)) {
        vector.copy_from_slice(row);
    }
}

/// Copies vectors to a flat slice.
fn copy_from_vectors(numbers: &mut [f64], vectors: &[Vector3<f64>]) {
    for (row, vector) in numbers.chunks_exact_mut(3).zip(vectors) {
        row.copy_from_slice(vector.as_slice());
    }
}
