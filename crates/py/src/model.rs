//! The Python class `Model`: everything that is constant during a simulation.

use std::collections::BTreeMap;
use std::ops::Range;
use std::path::PathBuf;
use std::sync::Arc;

use nalgebra::Isometry3;
use numpy::{PyArray1, PyArray2, PyArrayDyn, PyArrayMethods};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyBytes, PyDict, PyTuple, PyType};
use stiction_mech::{Body, InverseWeights, MassProperties};
use stiction_scene::import::{Camera, Options};
use stiction_study::SceneSource;

use crate::configuration::InverseKinematicsCall;
use crate::joint::Joint;
use crate::model_source::{ModelContent, unpack};
use crate::parameters::read_only;
use crate::{arrays, error, lookup};

/// Name of the world body if the file gives none.
const WORLD_NAME: &str = "world";

/// A mechanism with its shapes, surfaces, sensors and settings. It never changes, so that any number
/// of simulations and threads can share it. Made by load, loads and scenario.
///
/// Bodies are numbered depth first; the first is the world. Coordinates follow MuJoCo's layout.
#[pyclass(frozen, module = "stiction._native")]
pub struct Model {
    pub content: Arc<ModelContent>,
}

impl Model {
    /// The mechanism.
    pub fn mechanism(&self) -> &stiction_mech::Model {
        self.content.world.model()
    }

    /// Names of the bodies.
    pub fn names_of_bodies(&self) -> impl Iterator<Item = &str> + Clone {
        self.mechanism().bodies().iter().enumerate().map(|(index, _)| self.name_of_body(index))
    }

    /// Name of a body.
    pub fn name_of_body(&self, index: usize) -> &str {
        let name = &self.mechanism().bodies()[index].spec.name;
        if index == 0 && name.is_empty() { WORLD_NAME } else { name }
    }

    /// Number of a body.
    pub fn body_index(&self, given: &Bound<'_, PyAny>) -> PyResult<usize> {
        lookup::find("body", given, self.names_of_bodies())
    }

    /// Number of a joint.
    pub fn joint_index(&self, given: &Bound<'_, PyAny>) -> PyResult<usize> {
        let joints = self.mechanism().joints();
        lookup::find("joint", given, joints.iter().map(|joint| joint.spec.name.as_str()))
    }

    /// Number of an actuator.
    pub fn actuator_index(&self, given: &Bound<'_, PyAny>) -> PyResult<usize> {
        let actuators = self.mechanism().actuators();
        lookup::find("actuator", given, actuators.iter().map(|a| a.spec.name.as_str()))
    }

    /// Number of a shape.
    pub fn geom_index(&self, given: &Bound<'_, PyAny>) -> PyResult<usize> {
        let geoms = self.content.world.geoms();
        lookup::find("geom", given, geoms.iter().map(|geom| geom.name.as_str()))
    }

    /// Number of a soft body.
    pub fn soft_index(&self, given: &Bound<'_, PyAny>) -> PyResult<usize> {
        lookup::find("soft body", given, self.soft_names().into_iter())
    }

    /// Number of a cable.
    pub fn cable_index(&self, given: &Bound<'_, PyAny>) -> PyResult<usize> {
        lookup::find("cable", given, self.cable_names().into_iter())
    }

    /// Number of an equality.
    pub fn equality_index(&self, given: &Bound<'_, PyAny>) -> PyResult<usize> {
        let names = self.content.world.equality_names().iter().map(String::as_str);
        lookup::find("equality", given, names)
    }

    /// Number of a site.
    pub fn site_index(&self, given: &Bound<'_, PyAny>) -> PyResult<usize> {
        lookup::find("site", given, self.content.sites.iter().map(|site| site.name.as_str()))
    }

    /// Range of a sensor in the readings of all sensors.
    pub fn sensor_range(&self, given: &Bound<'_, PyAny>) -> PyResult<Range<usize>> {
        let world = &self.content.world;
        let index = lookup::find("sensor", given, world.sensors().iter().map(|s| s.name.as_str()))?;
        Ok(world.sensor_ranges().nth(index).unwrap_or(0..0))
    }

    /// Number of a keyframe.
    pub fn keyframe_index(&self, given: &Bound<'_, PyAny>) -> PyResult<usize> {
        let keyframes = &self.content.keyframes;
        lookup::find("keyframe", given, keyframes.iter().map(|frame| frame.name.as_str()))
    }

    /// A joint by number.
    pub fn joint_at(&self, index: usize) -> Joint {
        let joint = &self.mechanism().joints()[index];
        Joint {
            name: joint.spec.name.clone(),
            r#type: joint.spec.kind.entry().name,
            body: self.name_of_body(joint.body).to_owned(),
            range: joint.spec.limit.map(|limit| (limit.lower, limit.upper)),
            q: joint.q.clone(),
            v: joint.dofs.clone(),
        }
    }

    fn mass_of(&self, given: &Bound<'_, PyAny>) -> PyResult<Option<&MassProperties>> {
        let index = self.body_index(given)?;
        Ok(self.mechanism().bodies()[index].spec.mass.as_ref())
    }
}

/// Inverse weights as arrays.
pub fn weights<'py>(py: Python<'py>, weights: &InverseWeights) -> PyResult<Bound<'py, PyDict>> {
    let bodies: Vec<Vec<f64>> = weights.body.iter().map(|pair| pair.to_vec()).collect();
    let found = PyDict::new(py);
    found.set_item("body", read_only(PyArray2::from_vec2(py, &bodies)?)?)?;
    found.set_item("dof", read_only(PyArray1::from_slice(py, &weights.dof))?)?;
    found.set_item("tendon", read_only(PyArray1::from_slice(py, &weights.tendon))?)?;
    Ok(found)
}

fn mass(body: &Body) -> f64 {
    body.spec.mass.as_ref().map_or(0.0, MassProperties::mass)
}

#[pymethods]
impl Model {
    /// Name of the model in the file, or the name of the file or scenario.
    #[getter]
    fn name(&self) -> &str {
        &self.content.name
    }

    /// Format that it was read from: `mjcf`, `urdf`, `native`, or `scenario`.
    #[getter]
    fn format(&self) -> &str {
        self.content.format
    }

    /// Number of coordinates.
    #[getter]
    fn nq(&self) -> usize {
        self.mechanism().nq()
    }

    /// Number of velocities.
    #[getter]
    fn nv(&self) -> usize {
        self.mechanism().nv()
    }

    /// Number of controls.
    #[getter]
    fn nu(&self) -> usize {
        self.mechanism().nu()
    }

    /// Number of activations of actuators.
    #[getter]
    fn na(&self) -> usize {
        self.mechanism().na()
    }

    /// Number of bodies, the world among them.
    #[getter]
    fn nbody(&self) -> usize {
        self.mechanism().bodies().len()
    }

    /// Number of joints.
    #[getter]
    fn njnt(&self) -> usize {
        self.mechanism().joints().len()
    }

    /// Number of shapes that can touch.
    #[getter]
    fn ngeom(&self) -> usize {
        self.content.world.geoms().len()
    }

    /// Names of the bodies, in their order; empty for those without.
    #[getter]
    fn body_names(&self) -> Vec<&str> {
        self.names_of_bodies().collect()
    }

    /// Names of the joints.
    #[getter]
    fn joint_names(&self) -> Vec<&str> {
        self.mechanism().joints().iter().map(|joint| joint.spec.name.as_str()).collect()
    }

    /// Names of the shapes that can touch.
    #[getter]
    fn geom_names(&self) -> Vec<&str> {
        self.content.world.geoms().iter().map(|geom| geom.name.as_str()).collect()
    }

    /// Names of the actuators.
    #[getter]
    fn actuator_names(&self) -> Vec<&str> {
        self.mechanism().actuators().iter().map(|a| a.spec.name.as_str()).collect()
    }

    /// Names of the sensors.
    #[getter]
    fn sensor_names(&self) -> Vec<&str> {
        self.content.world.sensors().iter().map(|sensor| sensor.name.as_str()).collect()
    }

    /// Names of the equalities.
    #[getter]
    fn equality_names(&self) -> Vec<&str> {
        self.content.world.equality_names().iter().map(String::as_str).collect()
    }

    /// Number of vertices of all soft bodies.
    #[getter]
    fn nvertex(&self) -> usize {
        self.mechanism().nodes()
    }

    /// Names of the soft bodies.
    #[getter]
    fn soft_names(&self) -> Vec<&str> {
        self.mechanism().softs().iter().map(|soft| soft.spec.name.as_str()).collect()
    }

    /// Names of the cables.
    #[getter]
    fn cable_names(&self) -> Vec<&str> {
        self.content.world.cables().iter().map(|cable| cable.spec.name.as_str()).collect()
    }

    /// Length of the readings of all sensors.
    #[getter]
    fn nsensordata(&self) -> usize {
        self.content.world.sensor_len()
    }

    /// Names of the sites.
    #[getter]
    fn site_names(&self) -> Vec<&str> {
        self.content.sites.iter().map(|site| site.name.as_str()).collect()
    }

    /// Names of the cameras.
    #[getter]
    fn camera_names(&self) -> Vec<&str> {
        self.content.cameras.iter().map(|camera| camera.name.as_str()).collect()
    }

    /// The cameras: name, body, position (3,) and orientation (w, x, y, z) in the frame of the body, and vertical field of view
    /// [rad]. A camera looks along −z of its frame, and y is up.
    #[getter]
    fn cameras<'py>(&self, py: Python<'py>) -> PyResult<Vec<Bound<'py, PyAny>>> {
        static CLASS: PyOnceLock<Py<PyType>> = PyOnceLock::new();
        let class = CLASS.import(py, "stiction.types", "Camera")?;
        let one = |camera: &Camera| {
            let Isometry3 { translation, rotation } = camera.pose;
            let position = PyArray1::from_slice(py, translation.vector.as_slice());
            let turn = [rotation.w, rotation.i, rotation.j, rotation.k];
            let orientation = PyArray1::from_slice(py, &turn);
            let body = self.name_of_body(camera.body.0);
            class.call1((&camera.name, body, position, orientation, camera.field_of_view))
        };
        self.content.cameras.iter().map(one).collect()
    }

    /// Names of the keyframes.
    #[getter]
    fn keyframe_names(&self) -> Vec<&str> {
        self.content.keyframes.iter().map(|frame| frame.name.as_str()).collect()
    }

    /// Masses of the bodies [kg], shape (nbody,).
    #[getter]
    fn masses<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray1<f64>>> {
        read_only(PyArray1::from_iter(py, self.mechanism().bodies().iter().map(mass)))
    }

    /// Inverse inertias at the reference configuration, by which soft constraints are scaled: "body" [1/kg] and
    /// [1/(kg·m²)] of translation and rotation, shape (nbody, 2), "dof", shape (nv,), and "tendon".
    fn inverse_weights<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        weights(py, self.content.world.inverse_weights())
    }

    /// Acceleration of gravity [m/s²], shape (3,).
    #[getter]
    fn gravity<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray1<f64>>> {
        read_only(PyArray1::from_slice(py, self.mechanism().gravity().as_slice()))
    }

    /// Coordinates of the reference configuration, shape (nq,).
    #[getter]
    fn qpos0<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray1<f64>>> {
        read_only(PyArray1::from_slice(py, self.mechanism().q0()))
    }

    /// Time step of the model [s].
    #[getter]
    fn time_step(&self) -> f64 {
        self.content.settings.time_step
    }

    /// Range of each control, shape (nu, 2); infinite without a range.
    #[getter]
    fn ctrl_range<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let actuators = self.mechanism().actuators().iter();
        let ranges = actuators.flat_map(|actuator| actuator.spec.control_ranges());
        let ends = ranges.flat_map(|range| {
            let (lower, upper) = range.unwrap_or((f64::NEG_INFINITY, f64::INFINITY));
            [lower, upper]
        });
        read_only(PyArray1::from_iter(py, ends).reshape([self.nu(), 2])?)
    }

    /// Unsupported features of the file: where (file and line), what, and whether they change the
    /// motion.
    #[getter]
    fn unsupported<'py>(&self, py: Python<'py>) -> PyResult<Vec<Bound<'py, PyAny>>> {
        static CLASS: PyOnceLock<Py<PyType>> = PyOnceLock::new();
        let class = CLASS.import(py, "stiction.types", "Unsupported")?;
        let list = self.content.unsupported.iter();
        list.map(|entry| class.call1((entry.place.to_string(), &entry.what, entry.physical)))
            .collect()
    }

    /// Notes of the importer.
    #[getter]
    fn notes(&self) -> Vec<String> {
        self.content.notes.clone()
    }

    /// Whether the model has a controller that sets inputs before each step.
    #[getter]
    fn has_controller(&self) -> bool {
        self.content.has_controller
    }

    /// Recording options of the scene's table [record]: files, frames per second and picture options;
    /// None without such a table.
    #[getter]
    fn record_wishes<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        static CLASS: PyOnceLock<Py<PyType>> = PyOnceLock::new();
        let Some(wishes) = &self.content.record else { return Ok(None) };
        let class = CLASS.import(py, "stiction.types", "RecordWishes")?;
        let (files, fps, picture) = (wishes.files.clone(), wishes.fps, wishes.picture.as_deref());
        class.call1((files, fps, picture)).map(Some)
    }

    /// Mass of a body [kg], by name or number.
    fn body_mass(&self, body: &Bound<'_, PyAny>) -> PyResult<f64> {
        Ok(self.mass_of(body)?.map_or(0.0, MassProperties::mass))
    }

    /// Rotational inertia of a body about its centre of mass [kg·m²], body axes, shape (3, 3).
    fn body_inertia<'py>(&self, body: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let inertia = self.mass_of(body)?.map(MassProperties::inertia).unwrap_or_default();
        // Symmetric: columns are rows.
        read_only(PyArray1::from_slice(body.py(), inertia.as_slice()).reshape([3, 3])?)
    }

    /// Centre of mass of a body [m], body frame, shape (3,).
    fn body_com<'py>(&self, body: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyArray1<f64>>> {
        let com = self.mass_of(body)?.map(MassProperties::com).unwrap_or_default();
        read_only(PyArray1::from_slice(body.py(), com.as_slice()))
    }

    /// Number of the parent of a body; that of the world is itself.
    fn body_parent(&self, body: &Bound<'_, PyAny>) -> PyResult<usize> {
        Ok(self.mechanism().bodies()[self.body_index(body)?].spec.parent.0)
    }

    /// Coordinates after a motion at constant velocities for a time dt [s], q ⊕ dt v: qpos (nq,) or (n, nq), qvel (nv,) or
    /// (n, nv).
    #[pyo3(signature = (qpos, qvel, dt=1.0))]
    fn integrate<'py>(
        &self,
        qpos: &Bound<'py, PyAny>,
        qvel: &Bound<'py, PyAny>,
        dt: f64,
    ) -> PyResult<Bound<'py, PyArrayDyn<f64>>> {
        self.integrated(qpos, qvel, dt)
    }

    /// The velocities that lead from qpos1 to qpos2 in unit time, qpos2 ⊖ qpos1: (nq,) or (n, nq) each.
    fn difference<'py>(
        &self,
        qpos1: &Bound<'py, PyAny>,
        qpos2: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyArrayDyn<f64>>> {
        self.differences(qpos1, qpos2)
    }

    /// Coordinates at which a body, or a site with site=, is at a position [m] and, if it is given, has an orientation
    /// (w, x, y, z): damped least squares from qpos on, within the ranges of the joints.
    #[pyo3(signature = (body=None, position=None, quaternion=None, *, site=None, qpos=None, joints=None, iterations=200, tolerance=1e-6, damping=2e-3, posture_gain=0.0))]
    #[allow(clippy::too_many_arguments)] // keyword arguments of Python
    fn inverse_kinematics<'py>(
        &self,
        py: Python<'py>,
        body: Option<&Bound<'py, PyAny>>,
        position: Option<&Bound<'py, PyAny>>,
        quaternion: Option<&Bound<'py, PyAny>>,
        site: Option<&Bound<'py, PyAny>>,
        qpos: Option<&Bound<'py, PyAny>>,
        joints: Option<Vec<Bound<'py, PyAny>>>,
        iterations: usize,
        tolerance: f64,
        damping: f64,
        posture_gain: f64,
    ) -> PyResult<Bound<'py, PyAny>> {
        let (body, frame) = match (body, site) {
            (Some(body), None) => (self.body_index(body)?, Isometry3::identity()),
            (None, Some(site)) => {
                let site = &self.content.sites[self.site_index(site)?];
                (site.body.0, site.pose)
            }
            _ => return Err(error::model("inverse_kinematics: expected a body or a site")),
        };
        let Some(position) = position else {
            return Err(error::state("inverse_kinematics: expected a position"));
        };
        let rotation = quaternion.map(arrays::rotation).transpose()?;
        let position = arrays::vector("position", position)?;
        let call = InverseKinematicsCall {
            body,
            frame,
            position,
            rotation,
            qpos,
            joints,
            iterations,
            tolerance,
            damping,
            posture_gain,
        };
        call.solve(py, self)
    }

    /// Number of a body.
    fn body_id(&self, name: &Bound<'_, PyAny>) -> PyResult<usize> {
        self.body_index(name)
    }

    /// A joint by name or number.
    fn joint(&self, joint: &Bound<'_, PyAny>) -> PyResult<Joint> {
        Ok(self.joint_at(self.joint_index(joint)?))
    }

    fn __repr__(&self) -> String {
        format!(
            "Model(\"{}\", {}, nq={}, nv={}, nu={}, nbody={})",
            self.content.name,
            self.content.format,
            self.nq(),
            self.nv(),
            self.nu(),
            self.nbody()
        )
    }

    fn __eq__(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.content, &other.content) || self.content.source == other.content.source
    }

    fn __hash__(&self) -> u64 {
        // Equal models agree in these numbers.
        (self.nq() as u64) << 32 | self.ngeom() as u64
    }

    fn __copy__(slf: Py<Self>) -> Py<Self> {
        slf
    }

    fn __deepcopy__(slf: Py<Self>, _memo: &Bound<'_, PyAny>) -> Py<Self> {
        slf
    }

    fn __reduce__<'py>(
        &self,
        py: Python<'py>,
    ) -> PyResult<(Bound<'py, PyAny>, Bound<'py, PyTuple>)> {
        let module = py.import("stiction._native")?;
        match &self.content.source {
            SceneSource::Scenario { name, set } => {
                let arguments = (name, set.clone()).into_pyobject(py)?;
                Ok((module.getattr("_make_scenario")?, arguments))
            }
            SceneSource::Files { files, path, options, .. } => {
                let held = PyDict::new(py);
                for (path, bytes) in files.held() {
                    held.set_item(path.to_string_lossy(), PyBytes::new(py, bytes))?;
                }
                let Options {
                    floating_base,
                    merge_fixed,
                    package_paths,
                    soft_contact,
                    soft_defaults,
                } = options;
                let packages: Vec<_> = package_paths.iter().map(|p| p.to_string_lossy()).collect();
                let arguments = (
                    held,
                    path.to_string_lossy(),
                    (*floating_base, *merge_fixed, packages, *soft_contact, *soft_defaults),
                );
                Ok((module.getattr("_make_from_files")?, arguments.into_pyobject(py)?))
            }
        }
    }
}

/// The scenario of this name, with settings as pairs of text.
#[pyfunction]
pub fn _make_scenario(py: Python<'_>, name: &str, set: Vec<(String, String)>) -> PyResult<Model> {
    let content = py.detach(|| ModelContent::of_scenario(name, set)).map_err(error::study)?;
    Ok(Model { content: Arc::new(content) })
}

/// Options in the order of a packed model: floating base, merge fixed, packages, soft contact, soft
/// defaults.
type Packed = (bool, bool, Vec<PathBuf>, bool, bool);

/// The model in these files.
#[pyfunction]
pub fn _make_from_files(
    py: Python<'_>,
    files: BTreeMap<String, Vec<u8>>,
    path: PathBuf,
    options: Packed,
) -> PyResult<Model> {
    let (floating_base, merge_fixed, package_paths, soft_contact, soft_defaults) = options;
    let options =
        Options { floating_base, merge_fixed, package_paths, soft_contact, soft_defaults };
    let made = py.detach(|| ModelContent::of_files(unpack(files), &path, options));
    Ok(Model { content: Arc::new(made.map_err(error::study)?) })
}
