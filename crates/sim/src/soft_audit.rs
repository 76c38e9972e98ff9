//! Energy that soft bodies gain without cause in a step.
//!
//! Elastic forces are implicit and dissipate: kinetic, elastic and potential energy of all soft bodies together do
//! not grow by more than the work of constraints. A material that is linearised at the start of a step in which it
//! is pressed by a large part of its size may store far more. Cost: two evaluations of the elastic energy.

use nalgebra::Vector3;
use stiction_mech::{Model, State, soft_kinetic_energy, soft_momentum, soft_potential_energy};

use crate::constraint_work::SolvedRows;
use crate::free_motion::StepStart;

/// Gain above which a motion is not resolved, relative to the energies exchanged [-].
const RELATIVE: f64 = 0.01;
/// Displacement to which the motion of vertices is solved, relative to the size of the smallest body [-].
const SOLVED_DISPLACEMENT: f64 = 1e-8;
/// Part of the potential energies that round-off may change [-].
const ROUND_OFF: f64 = 1e-12;
/// Work that contacts do to part overlaps, relative to the energies that the soft bodies hold, which has a reason: overlaps
/// that store more energy than the bodies had are no contacts [-].
const PARTING: f64 = 0.2;

/// Energy that soft bodies gained without cause in the parts of a step, and the energies that they exchanged in the largest
/// of them [J].
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct SoftAuditor {
    earlier: [f64; 2],
    present: [f64; 2],
    gain: f64,
    /// Kinetic energy before the motion, and that of one step of free fall.
    moving: f64,
}

/// Energies of all soft bodies in a motion [J].
pub(crate) struct SoftMotion {
    /// Kinetic energy before and after.
    pub kinetic: [f64; 2],
    /// Change of elastic energy and that of weight.
    pub potential: f64,
    /// What free fall and round-off, and sampling without and with its sign explain.
    pub explained: [f64; 3],
}

/// Speed to which the motion of vertices is solved in a step h [m/s].
pub(crate) fn solved_speed(model: &Model, h: f64) -> f64 {
    let volume = model.softs().iter().map(|soft| soft.volume()).fold(f64::INFINITY, f64::min);
    SOLVED_DISPLACEMENT * volume.cbrt() / h
}

impl SoftAuditor {
    /// Forgets the parts of another step.
    pub fn begin_step(&mut self) {
        self.earlier = [0.0; 2];
    }

    /// Keeps the gain of a part of a step for the parts that follow.
    pub fn accept(&mut self) {
        self.earlier[0] += self.present[0];
        self.earlier[1] = self.earlier[1].max(self.present[1]);
    }

    /// Measures the energies of the soft bodies in a step, or in a `fraction` of it. `impulse` is that of the constraints on
    /// the velocities of the problem [N·s].
    pub fn measure(
        &mut self,
        (start, fraction): (&StepStart, f64),
        solved: &SolvedRows,
        impulse: &[f64],
    ) -> SoftMotion {
        let (model, h, [old, next]) = (start.model, start.time_step, solved.states);
        let kinetic = [old, next].map(|s| soft_kinetic_energy(model, &s.x_dot));
        let [potential_0, potential_1] = [old, next].map(|s| soft_potential_energy(model, &s.x));
        let (mut work, mut gross) = (0.0, 0.0);
        for (soft, range) in solved.assembler.softs() {
            let first = model.softs()[*soft].nodes.start;
            let vertices = solved.free.soft.free_vertices(*soft).iter();
            for (vertex, p) in vertices.zip(impulse[range.clone()].chunks_exact(3)) {
                let node = first + *vertex as usize;
                let mean = 0.5 * (old.x_dot[node] + next.x_dot[node]);
                let p = Vector3::from_column_slice(p);
                work += mean.dot(&p);
                gross += p.norm();
            }
        }
        let mass: f64 = model.softs().iter().map(|soft| soft.total_mass()).sum();
        let fall = mass * h * h * model.gravity().norm_squared();
        let change = potential_1 - potential_0;
        let gain = kinetic[1] - kinetic[0] + change - work;
        let exchanged = kinetic[0].max(kinetic[1]) + change.abs() + work.abs() + fall;
        let round_off = ROUND_OFF * (potential_0.abs() + potential_1.abs()) + f64::MIN_POSITIVE;
        // Loaded bodies at rest: their forces do work on what the motion is not solved to.
        let solver = solved_speed(model, h) * gross;
        let explained = fall + round_off + solver;
        // What is explained does not add up over parts.
        let unexplained = gain.signum() * (gain.abs() - explained).max(0.0);
        self.present = [unexplained, exchanged];
        // That of the whole step, for free fall is of second order in its length.
        let whole = explained + fall * (1.0 / (fraction * fraction) - 1.0);
        let allowed = RELATIVE * exchanged.max(self.earlier[1]) + whole;
        self.gain = (self.earlier[0] + gain) / allowed;
        self.moving = kinetic[0] + fall;
        // Weight does work on half of the change of velocity.
        let momentum =
            |state: &State| soft_momentum(model, &state.x, &state.x_dot, Vector3::zeros()).0;
        let sampling = 0.5 * h * model.gravity().dot(&(momentum(next) - momentum(old)));
        let explained = [0.5 * fall + round_off + solver, sampling.abs(), sampling];
        SoftMotion { kinetic, potential: change, explained }
    }

    /// Largest work of contacts that part overlaps which has a reason, in a motion that began with positions [J].
    pub fn most_parting_work(&self, model: &Model, x: &[Vector3<f64>]) -> f64 {
        let elastic = model.softs().iter().map(|soft| soft.energy(&x[soft.nodes.clone()]));
        PARTING * (self.moving + elastic.sum::<f64>())
    }

    /// Energy that the soft bodies gained without cause in the step so far, relative to what is explained: a hundredth of the
    /// energies exchanged [-].
    pub fn gain(&self) -> f64 {
        self.gain
    }
}
