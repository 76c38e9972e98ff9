//! Pictures of the present state from a camera, as arrays.

use std::sync::OnceLock;

use nalgebra::Isometry3;
use numpy::{Element, PyArray1, PyArray2, PyArray3, PyArrayMethods};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyString, PyType};
use stiction_sim::record::{Recorder, Recording, append_soft_vertices};
use stiction_view::camera_image::{
    CameraImage, CameraRenderer, ImageSize, MOST_SAMPLES, PlacedCamera,
};

use crate::arrays::{rotation, vector};
use crate::core::SimulationCore;
use crate::model::Model;
use crate::{error, lookup};

/// The shapes of a model as a renderer has them, made when the first picture is asked for.
#[derive(Default)]
pub struct DrawnModel(OnceLock<Drawn>);

struct Drawn {
    renderer: CameraRenderer,
    /// The start of the model.
    recording: Recording,
}

/// A camera that a picture is asked from.
pub enum CameraChoice {
    /// One that shows the scene as it was at the first picture.
    Overview,
    /// One that a body carries: the body, the pose in its frame and the vertical field of view [rad].
    Carried(usize, Isometry3<f64>, f64),
}

impl CameraChoice {
    /// None, the name or number of a camera of the model, or a `stiction.types.Camera`.
    pub fn from_python(model: &Model, given: Option<&Bound<'_, PyAny>>) -> PyResult<Self> {
        let Some(given) = given else { return Ok(Self::Overview) };
        if given.is_instance_of::<PyString>() || given.extract::<usize>().is_ok() {
            let cameras = &model.content.cameras;
            let names = cameras.iter().map(|camera| camera.name.as_str());
            let camera = &cameras[lookup::find("camera", given, names)?];
            return Ok(Self::Carried(camera.body.0, camera.pose, camera.field_of_view));
        }
        let body = model.body_index(&given.getattr("body")?)?;
        let position = vector("camera.position", &given.getattr("position")?)?;
        let turn = rotation(&given.getattr("orientation")?)?;
        let field_of_view: f64 = given.getattr("field_of_view")?.extract()?;
        Ok(Self::Carried(body, Isometry3::from_parts(position.into(), turn), field_of_view))
    }
}

impl SimulationCore {
    /// What a camera sees at the present state, as a `stiction.types.Image`.
    pub fn render<'py>(
        &mut self,
        py: Python<'py>,
        model: &Model,
        choice: &CameraChoice,
        size: ImageSize,
    ) -> PyResult<Bound<'py, PyAny>> {
        static CLASS: PyOnceLock<Py<PyType>> = PyOnceLock::new();
        if !size.is_valid() {
            let ImageSize { width, height, samples } = size;
            return Err(error::state(format!(
                "a picture of {width} by {height} pixels with {samples} samples along each; expected sides from 1 to 4096, at \
                 most {MOST_SAMPLES} samples, and 2^26 samples in all"
            )));
        }
        if let CameraChoice::Carried(_, pose, field_of_view) = choice {
            let finite = pose.translation.vector.iter().all(|x| x.is_finite());
            if !(*field_of_view > 0.0 && *field_of_view < std::f64::consts::PI && finite) {
                return Err(error::state(format!(
                    "a camera with the field of view {field_of_view} at {:?}; expected one between 0 and pi at a finite position",
                    pose.translation.vector.as_slice()
                )));
            }
        }
        self.update_positions();
        let drawn = model.content.drawn.of(py, model, self)?;
        let (world, x, poses) = (self.engine.world(), &self.engine.state().x, &self.data.body_pose);
        let memory = &mut self.pictures;
        let image = py.detach(|| {
            let Drawn { renderer, recording } = drawn;
            let placed = match choice {
                CameraChoice::Overview => {
                    renderer.overview(recording, size.width as f64 / size.height as f64)
                }
                CameraChoice::Carried(body, pose, field_of_view) => {
                    PlacedCamera { pose: poses[*body] * pose, field_of_view: *field_of_view }
                }
            };
            let mut softs = Vec::new();
            append_soft_vertices(world, x, &mut softs);
            renderer.render(&placed, size, (poses, &softs), memory)
        });
        let CameraImage { width, height, rgb, depth, body, shape } = image;
        let rgb: Bound<'py, PyArray3<u8>> =
            PyArray1::from_vec(py, rgb).reshape([height, width, 3])?;
        CLASS.import(py, "stiction.types", "Image")?.call1((
            rgb,
            plane(py, depth, [height, width])?,
            plane(py, body, [height, width])?,
            plane(py, shape, [height, width])?,
        ))
    }
}

fn plane<T: Element>(
    py: Python<'_>,
    values: Vec<T>,
    size: [usize; 2],
) -> PyResult<Bound<'_, PyArray2<T>>> {
    PyArray1::from_vec(py, values).reshape(size)
}

impl DrawnModel {
    fn of(&self, py: Python<'_>, model: &Model, core: &SimulationCore) -> PyResult<&Drawn> {
        if let Some(drawn) = self.0.get() {
            return Ok(drawn);
        }
        let visual = py.detach(|| model.content.visual_shapes());
        let mut recorder = Recorder::new(&core.engine, f64::INFINITY).map_err(error::setting)?;
        visual.shapes.iter().for_each(|shape| recorder.visual(shape.clone()));
        let recording = recorder.finish();
        let renderer = py.detach(|| CameraRenderer::new(&recording));
        Ok(self.0.get_or_init(|| Drawn { renderer, recording }))
    }
}
