//! Parameters of a simulation as arrays, and as properties of models, simulations and their parts. The properties are
//! made from the list of parameters when the module is loaded.

use numpy::{PyArray1, PyArrayDyn, PyArrayMethods, PyUntypedArrayMethods};
use pyo3::PyClass;
use pyo3::prelude::*;
use pyo3::types::{PyCFunction, PyDict, PyTuple, PyType};
use stiction_sim::{PARAMETERS, ParameterEntry, ParameterOwner, Simulation as Engine};

use crate::handles::{ActuatorHandle, BodyHandle, GeomHandle, JointHandle};
use crate::model::Model;
use crate::simulation::{Simulation, assign};
use crate::{error, memory};

type Entry = &'static ParameterEntry;

/// An array that Python has, and the values that the engine knows of it.
struct HeldArray {
    entry: Entry,
    array: Py<PyArrayDyn<f64>>,
    known: Vec<f64>,
}

/// The arrays of parameters that Python has asked for.
#[derive(Default)]
pub struct ParameterArrays(Vec<HeldArray>);

impl ParameterArrays {
    /// The array of a parameter, if there is one.
    fn find(&self, py: Python<'_>, entry: Entry) -> Option<Py<PyArrayDyn<f64>>> {
        let held = self.0.iter().find(|held| held.entry.name == entry.name);
        held.map(|held| held.array.clone_ref(py))
    }

    /// A new array of a parameter with the present values.
    fn add(
        &mut self,
        py: Python<'_>,
        entry: Entry,
        engine: &Engine,
    ) -> PyResult<Py<PyArrayDyn<f64>>> {
        let known = engine.parameters(entry);
        let count = entry.owner.count(engine.world());
        let array = shaped(py, entry, Some(count), &known)?.unbind();
        self.0.push(HeldArray { entry, array: array.clone_ref(py), known });
        Ok(array)
    }

    /// Sets the parameters whose arrays were written.
    pub fn pull(&mut self, py: Python<'_>, engine: &mut Engine) -> PyResult<()> {
        for HeldArray { entry, array, known } in &mut self.0 {
            let array = array.bind(py).try_readonly()?;
            let values = array.as_slice()?;
            if !same_bits(values, known) {
                engine.set_parameters(entry, values).map_err(error::state)?;
                known.copy_from_slice(values);
            }
        }
        Ok(())
    }

    /// Writes the present values to the arrays.
    pub fn push(&mut self, py: Python<'_>, engine: &Engine) -> PyResult<()> {
        for HeldArray { entry, array, known } in &mut self.0 {
            known.copy_from_slice(&engine.parameters(entry));
            array.bind(py).try_readwrite()?.as_slice_mut()?.copy_from_slice(known);
        }
        Ok(())
    }
}

fn same_bits(a: &[f64], b: &[f64]) -> bool {
    a.iter().zip(b).all(|(x, y)| x.to_bits() == y.to_bits())
}

/// Values of a parameter as an array: one value, or `count` of them.
fn shaped<'py>(
    py: Python<'py>,
    entry: Entry,
    count: Option<usize>,
    values: &[f64],
) -> PyResult<Bound<'py, PyArrayDyn<f64>>> {
    let is_counted = entry.owner != ParameterOwner::World;
    let shape: Vec<usize> =
        count.filter(|_| is_counted).into_iter().chain(entry.shape.iter().copied()).collect();
    PyArray1::from_slice(py, values).reshape(shape)
}

/// Makes an array read-only: writing to it would have no effect.
pub fn read_only<'py, T>(array: Bound<'py, T>) -> PyResult<Bound<'py, T>> {
    array.as_any().call_method1("setflags", (false,))?;
    Ok(array)
}

/// Numbers of an array-like of a shape.
fn numbers(what: &str, given: &Bound<'_, PyAny>, shape: &[usize]) -> PyResult<Vec<f64>> {
    memory::check_given(what, given)?;
    let array: numpy::PyArrayLikeDyn<'_, f64, numpy::AllowTypeChange> = given
        .extract()
        .map_err(|refused| error::state(format!("{what}: expected numbers; {refused}")))?;
    if array.shape() != shape {
        let found = array.shape();
        return Err(error::state(format!(
            "{what} has shape {}; expected {}",
            tuple(found),
            tuple(shape)
        )));
    }
    Ok(array.as_array().iter().copied().collect())
}

/// A shape as Python writes it.
fn tuple(shape: &[usize]) -> String {
    match shape {
        [one] => format!("({one},)"),
        _ => format!("({})", shape.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")),
    }
}

/// Values of a parameter for each simulation of a batch.
pub struct BatchParameter {
    entry: Entry,
    values: Vec<f64>,
    width: usize,
}

impl BatchParameter {
    /// Reads the parameters of a batch of simulations of a world.
    pub fn read(
        given: &Bound<'_, PyDict>,
        world: &stiction_sim::World,
        batch: usize,
    ) -> PyResult<Vec<Self>> {
        let mut found = Vec::with_capacity(given.len());
        for (name, values) in given {
            let name: String = name.extract()?;
            let entry = find(&name)?;
            let count =
                Some(entry.owner.count(world)).filter(|_| entry.owner != ParameterOwner::World);
            let shape: Vec<usize> =
                std::iter::once(batch).chain(count).chain(entry.shape.iter().copied()).collect();
            let values = numbers(&format!("parameters[\"{name}\"]"), &values, &shape)?;
            found.push(Self { entry, values, width: entry.len(world) });
        }
        Ok(found)
    }

    /// Sets the parameter of one simulation.
    pub fn set(&self, item: usize, engine: &mut Engine) -> PyResult<()> {
        let values = &self.values[item * self.width..][..self.width];
        engine.set_parameters(self.entry, values).map_err(|refused| {
            error::state(format!("parameters[\"{}\"][{item}]: {refused}", self.entry.name))
        })
    }
}

/// A parameter by the name of a value, of its array, or without its owner if one alone has it.
fn find(name: &str) -> PyResult<Entry> {
    let short = |entry: &&ParameterEntry| short_name(entry) == name;
    let mut short = PARAMETERS.iter().filter(short);
    match (short.next(), short.next()) {
        (Some(entry), None) => Ok(entry),
        _ => ParameterEntry::find(name).map_err(error::state),
    }
}

/// Name of a parameter as an attribute of its owner.
fn short_name(entry: &ParameterEntry) -> &'static str {
    match entry.owner {
        ParameterOwner::World => entry.name,
        _ => entry.name.split_once('_').map_or(entry.name, |(_, rest)| rest),
    }
}

/// The changed parameters of a snapshot.
pub fn changed<'py>(
    py: Python<'py>,
    snapshot: &stiction_sim::Snapshot,
) -> PyResult<Bound<'py, PyDict>> {
    let found = PyDict::new(py);
    for (entry, values) in snapshot.parameters() {
        let count = values.len() / entry.width();
        found.set_item(entry.name, read_only(shaped(py, entry, Some(count), values)?)?)?;
    }
    Ok(found)
}

/// Names of the parameters that can be changed while a model is simulated, each with its description and unit.
#[pyfunction]
pub fn parameters() -> std::collections::BTreeMap<&'static str, String> {
    PARAMETERS
        .iter()
        .map(|entry| (entry.name, format!("{} [{}]", entry.about, entry.unit)))
        .collect()
}

impl Simulation {
    /// The array of a parameter.
    fn parameter_array(&self, py: Python<'_>, entry: Entry) -> PyResult<Py<PyArrayDyn<f64>>> {
        let found = self.parameter_arrays().find(py, entry);
        found.map_or_else(|| self.parameter_arrays().add(py, entry, &self.lock()?.engine), Ok)
    }

    /// Assigns to all values of a parameter. An error leaves them as they were.
    fn assign_parameter(
        &self,
        py: Python<'_>,
        entry: Entry,
        value: &Bound<'_, PyAny>,
    ) -> PyResult<()> {
        let array = self.parameter_array(py, entry)?;
        assign(array.bind(py).as_any(), value)?;
        if let Err(refused) = self.synchronised(py) {
            self.parameter_arrays().push(py, &self.lock()?.engine)?;
            return Err(refused);
        }
        Ok(())
    }

    /// A parameter of one part: a number, or an array that cannot be written.
    pub fn parameter_of<'py>(
        &self,
        py: Python<'py>,
        entry: Entry,
        index: usize,
    ) -> PyResult<Bound<'py, PyAny>> {
        let value = self.synchronised(py)?.engine.parameter(entry, index).unwrap_or_default();
        match value[..] {
            [number] if entry.shape.is_empty() => Ok(number.into_pyobject(py)?.into_any()),
            _ => Ok(read_only(shaped(py, entry, None, &value)?)?.into_any()),
        }
    }

    /// Sets a parameter of one part.
    pub fn set_parameter_of(
        &self,
        py: Python<'_>,
        entry: Entry,
        index: usize,
        value: &Bound<'_, PyAny>,
    ) -> PyResult<()> {
        let value = numbers(short_name(entry), value, entry.shape)?;
        let mut core = self.synchronised(py)?;
        core.engine.set_parameter(entry, index, &value).map_err(error::state)?;
        self.parameter_arrays().push(py, &core.engine)
    }

    /// Sets all parameters back to those of the model.
    pub fn take_back_parameters(&self, py: Python<'_>) -> PyResult<()> {
        let mut core = self.lock()?;
        core.engine.reset_parameters();
        self.parameter_arrays().push(py, &core.engine)
    }
}

/// A part of a simulation that has parameters.
trait PartWithParameters: PyClass + Sync {
    fn part(&self) -> (&Simulation, usize);
}

macro_rules! parts_with_parameters {
    ($($handle:ident),*) => {
        $(impl PartWithParameters for $handle {
            fn part(&self) -> (&Simulation, usize) {
                (self.simulation.get(), self.index)
            }
        })*
    };
}

parts_with_parameters!(ActuatorHandle, BodyHandle, GeomHandle, JointHandle);

/// Adds the properties of all parameters to the classes.
pub fn add_properties(py: Python<'_>) -> PyResult<()> {
    for entry in PARAMETERS {
        add_array_properties(py, entry)?;
        match entry.owner {
            ParameterOwner::Actuator => add_part_property::<ActuatorHandle>(py, entry)?,
            ParameterOwner::Body => add_part_property::<BodyHandle>(py, entry)?,
            ParameterOwner::Geom => add_part_property::<GeomHandle>(py, entry)?,
            // The range of a joint is a pair, or nothing.
            ParameterOwner::Joint if entry.name == "joint_range" => {}
            ParameterOwner::Joint => add_part_property::<JointHandle>(py, entry)?,
            ParameterOwner::World => {}
        }
    }
    Ok(())
}

/// Adds the arrays of a parameter to simulations, and to models, where they cannot be written.
fn add_array_properties(py: Python<'_>, entry: Entry) -> PyResult<()> {
    let get = function(py, move |arguments| {
        let simulation = arguments.get_item(0)?;
        let array =
            simulation.cast::<Simulation>()?.get().parameter_array(arguments.py(), entry)?;
        Ok(array.into_any())
    })?;
    let set = function(py, move |arguments| {
        let simulation = arguments.get_item(0)?;
        let value = arguments.get_item(1)?;
        simulation.cast::<Simulation>()?.get().assign_parameter(arguments.py(), entry, &value)?;
        Ok(arguments.py().None())
    })?;
    add_property(py, &py.get_type::<Simulation>(), entry.array, (get, Some(set)), entry)?;
    if entry.owner == ParameterOwner::World {
        return Ok(());
    }
    let get = function(py, move |arguments| {
        let model = arguments.get_item(0)?;
        let world = &model.cast::<Model>()?.get().content.world;
        let count = entry.owner.count(world);
        let array = shaped(arguments.py(), entry, Some(count), &entry.values(world))?;
        Ok(read_only(array)?.into_any().unbind())
    })?;
    add_property(py, &py.get_type::<Model>(), entry.array, (get, None), entry)
}

/// Adds a parameter to the class of its owners.
fn add_part_property<T: PartWithParameters<Frozen = pyo3::pyclass::boolean_struct::True>>(
    py: Python<'_>,
    entry: Entry,
) -> PyResult<()> {
    let get = function(py, move |arguments| {
        let part = arguments.get_item(0)?;
        let (simulation, index) = part.cast::<T>()?.get().part();
        Ok(simulation.parameter_of(arguments.py(), entry, index)?.unbind())
    })?;
    let set = function(py, move |arguments| {
        let (part, value) = (arguments.get_item(0)?, arguments.get_item(1)?);
        let (simulation, index) = part.cast::<T>()?.get().part();
        simulation.set_parameter_of(arguments.py(), entry, index, &value)?;
        Ok(arguments.py().None())
    })?;
    add_property(py, &py.get_type::<T>(), short_name(entry), (get, Some(set)), entry)
}

fn function<'py>(
    py: Python<'py>,
    body: impl Fn(&Bound<'_, PyTuple>) -> PyResult<Py<PyAny>> + Send + Sync + 'static,
) -> PyResult<Bound<'py, PyCFunction>> {
    PyCFunction::new_closure(
        py,
        None,
        None,
        move |arguments: &Bound<'_, PyTuple>, _: Option<&Bound<'_, PyDict>>| body(arguments),
    )
}

fn add_property(
    py: Python<'_>,
    class: &Bound<'_, PyType>,
    name: &str,
    (get, set): (Bound<'_, PyCFunction>, Option<Bound<'_, PyCFunction>>),
    entry: Entry,
) -> PyResult<()> {
    let about = format!("{} [{}].", entry.about, entry.unit);
    let property = py.import("builtins")?.getattr("property")?;
    class.setattr(name, property.call1((get, set, py.None(), about))?)
}
