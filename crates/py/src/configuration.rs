//! Functions of coordinates alone: integration, differences, inverse kinematics.

use nalgebra::{Isometry3, UnitQuaternion};
use numpy::{AllowTypeChange, PyArray1, PyArrayDyn, PyArrayLikeDyn, PyArrayMethods};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::PyType;
use stiction_mech::{BodyId, InverseKinematics, JointId, JointKind, difference, integrate};

use crate::model::Model;
use crate::{error, memory};

/// Rows of numbers, each of a width, with the shape that they had.
struct Rows {
    numbers: Vec<f64>,
    width: usize,
    is_flat: bool,
}

impl Rows {
    fn read(what: &str, given: &Bound<'_, PyAny>, width: usize) -> PyResult<Self> {
        memory::check_given(what, given)?;
        let array: PyArrayLikeDyn<'_, f64, AllowTypeChange> = given
            .extract()
            .map_err(|refused| error::state(format!("{what}: expected numbers; {refused}")))?;
        let view = array.as_array();
        let fits = matches!(view.shape(), [n] | [_, n] if *n == width);
        if !fits {
            let found = view.shape();
            return Err(error::state(format!(
                "{what} has shape {found:?}; expected ({width},) or (n, {width})"
            )));
        }
        let numbers: Vec<f64> = view.iter().copied().collect();
        if let Some(index) = numbers.iter().position(|x| !x.is_finite()) {
            let found = numbers[index];
            return Err(error::state(format!("{what} has {found}; expected finite numbers")));
        }
        Ok(Self { numbers, width, is_flat: view.ndim() == 1 })
    }

    fn len(&self) -> usize {
        if self.is_flat { 1 } else { self.numbers.len() / self.width.max(1) }
    }

    /// Row `k`, or the only one.
    fn row(&self, k: usize) -> &[f64] {
        &self.numbers[if self.len() == 1 { 0 } else { k * self.width }..][..self.width]
    }
}

/// Applies a function to each pair of rows; a single row goes with all of the other.
fn by_rows<'py>(
    py: Python<'py>,
    (a, b): (&Rows, &Rows),
    names: [&str; 2],
    width: usize,
    apply: impl Fn(&[f64], &[f64], &mut [f64]),
) -> PyResult<Bound<'py, PyArrayDyn<f64>>> {
    let n = a.len().max(b.len());
    for (what, rows) in names.into_iter().zip([a, b]) {
        if rows.len() != n && rows.len() != 1 {
            let found = rows.len();
            return Err(error::state(format!("{what} has {found} rows; expected {n}, or one")));
        }
    }
    let mut out = vec![0.0; n * width];
    for (k, out) in out.chunks_exact_mut(width.max(1)).enumerate() {
        apply(a.row(k), b.row(k), out);
    }
    let shape = if a.is_flat && b.is_flat { vec![width] } else { vec![n, width] };
    PyArray1::from_vec(py, out).reshape(shape)
}

impl Model {
    /// q ⊕ dt v.
    pub fn integrated<'py>(
        &self,
        q: &Bound<'py, PyAny>,
        v: &Bound<'py, PyAny>,
        dt: f64,
    ) -> PyResult<Bound<'py, PyArrayDyn<f64>>> {
        if !dt.is_finite() {
            return Err(error::state(format!("dt = {dt}; expected a finite number")));
        }
        let model = self.mechanism();
        let rows = (Rows::read("qpos", q, model.nq())?, Rows::read("qvel", v, model.nv())?);
        by_rows(q.py(), (&rows.0, &rows.1), ["qpos", "qvel"], model.nq(), |q, v, out| {
            integrate(model, q, v, dt, out);
        })
    }

    /// to ⊖ from.
    pub fn differences<'py>(
        &self,
        from: &Bound<'py, PyAny>,
        to: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyArrayDyn<f64>>> {
        let model = self.mechanism();
        let rows = (Rows::read("qpos1", from, model.nq())?, Rows::read("qpos2", to, model.nq())?);
        let names = ["qpos1", "qpos2"];
        by_rows(from.py(), (&rows.0, &rows.1), names, model.nv(), |from, to, out| {
            difference(model, from, to, out);
        })
    }

    /// The joints of inverse kinematics: those given, or all hinges and slides between a body and the root.
    fn chain(&self, body: usize, joints: Option<Vec<Bound<'_, PyAny>>>) -> PyResult<Vec<JointId>> {
        if let Some(given) = joints {
            return given.iter().map(|joint| Ok(JointId(self.joint_index(joint)?))).collect();
        }
        let model = self.mechanism();
        let mut found = Vec::new();
        let mut at = body;
        while at != 0 {
            for index in model.bodies()[at].joints.clone().rev() {
                let kind = &model.joints()[index].spec.kind;
                if matches!(kind, JointKind::Hinge { .. } | JointKind::Slide { .. }) {
                    found.push(JointId(index));
                }
            }
            at = model.bodies()[at].spec.parent.0;
        }
        found.reverse();
        Ok(found)
    }
}

/// A problem of inverse kinematics as Python gives it.
pub struct InverseKinematicsCall<'a, 'py> {
    pub body: usize,
    /// Frame in the body.
    pub frame: Isometry3<f64>,
    pub position: nalgebra::Vector3<f64>,
    pub rotation: Option<UnitQuaternion<f64>>,
    pub qpos: Option<&'a Bound<'py, PyAny>>,
    pub joints: Option<Vec<Bound<'py, PyAny>>>,
    pub iterations: usize,
    pub tolerance: f64,
    pub damping: f64,
    pub posture_gain: f64,
}

impl InverseKinematicsCall<'_, '_> {
    /// Iterates until the pose is reached, or as often as is permitted.
    pub fn solve<'py>(self, py: Python<'py>, model: &Model) -> PyResult<Bound<'py, PyAny>> {
        static CLASS: PyOnceLock<Py<PyType>> = PyOnceLock::new();
        let fits = |x: f64| x > 0.0 && x.is_finite();
        for (what, found) in [("tolerance", self.tolerance), ("damping", self.damping)] {
            if !fits(found) {
                let expected = "a finite number > 0";
                return Err(error::setting(format!("{what} = {found}; expected {expected}")));
            }
        }
        if !(0.0..=1.0).contains(&self.posture_gain) {
            let found = self.posture_gain;
            return Err(error::setting(format!(
                "posture_gain = {found}; expected a number from 0 to 1"
            )));
        }
        let mechanism = model.mechanism();
        let mut q = match self.qpos {
            None => mechanism.q0().to_vec(),
            Some(given) => Rows::read("qpos", given, mechanism.nq())?.numbers,
        };
        if q.len() != mechanism.nq() {
            let (found, nq) = (q.len() / mechanism.nq().max(1), mechanism.nq());
            return Err(error::state(format!("qpos has {found} rows; expected shape ({nq},)")));
        }
        let joints = model.chain(self.body, self.joints)?;
        let body = BodyId(self.body);
        let solver = InverseKinematics::new(mechanism, &joints, body, self.frame);
        let mut solver = solver.map_err(error::model)?;
        let posture: Vec<f64> = solver.coordinates().map(|index| q[index]).collect();
        solver.set_posture(&posture);
        (solver.settings.damping, solver.settings.posture_gain) = (self.damping, self.posture_gain);
        let lever = solver.settings.lever;
        if self.rotation.is_none() {
            // Angles do not count.
            solver.settings.lever = 0.0;
        }
        let turn = self.rotation.unwrap_or_else(UnitQuaternion::identity);
        let target = Isometry3::from_parts(self.position.into(), turn);
        let has_turn = self.rotation.is_some();
        let (mut left, mut iterations) = (solver.error(mechanism, &q, &target), 0);
        let size = |left: &stiction_mech::PoseError| {
            left.distance.max(if has_turn { lever * left.angle } else { 0.0 })
        };
        while size(&left) > self.tolerance && iterations < self.iterations {
            solver.improve(mechanism, &mut q, &target);
            left = solver.error(mechanism, &q, &target);
            iterations += 1;
        }
        let converged = size(&left) <= self.tolerance;
        let angle = if has_turn { left.angle } else { f64::NAN };
        let class = CLASS.import(py, "stiction.types", "InverseKinematicsResult")?;
        class.call1((PyArray1::from_vec(py, q), left.distance, angle, iterations, converged))
    }
}
