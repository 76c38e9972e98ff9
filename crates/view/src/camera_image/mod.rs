//! What a camera in a simulation sees: colour, depth and segmentation, without graphics processor and without display.
//!
//! For pictures that policies and videos are made of, where [`crate::raster`] makes those for people to look at: one lamp with a
//! shadow and an even sky, meshes no finer than pixels (`detail`), no planes that end. O(triangles + pixels).

mod detail;
mod shade;

use nalgebra::{Isometry3, Vector3};
use stiction_sim::record::Recording;

use crate::bounds::{Bounds, boxes};
use crate::crease::CreasedSurface;
use crate::draw_list::{DrawList, MeshInstance, creases, soft_colour};
use crate::raster::camera::{Camera, CameraView};
use crate::raster::ground::Ground;
use crate::raster::light::{Light, ShadowCasters};
use crate::raster::surface::Surface;
use crate::raster::{LARGEST, MOST_PIXELS, encoding_table};
use detail::DetailLevels;
use shade::{Depths, Shading};

/// Cells of a mesh per pixel: coarser meshes show their cells, finer ones cost time.
const CELLS_PER_PIXEL: f64 = 0.7;
/// Depth of the near plane, relative to the radius of the scene [-].
const NEAR: f64 = 2e-3;
/// Texels of the map of shadows per pixel of the picture, and the least and the largest number along its side.
const SHADOW_TEXELS: usize = 1;
const LEAST_TEXELS: usize = 192;
const MOST_TEXELS: usize = 1024;
/// Most samples along a side of a pixel.
pub const MOST_SAMPLES: usize = 4;
/// What segmentation says where there is nothing.
pub const NOTHING: i32 = -1;

/// A camera that looks along −z of its pose, with y up.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PlacedCamera {
    /// Pose in the world.
    pub pose: Isometry3<f64>,
    /// Vertical field of view [rad], between 0 and π.
    pub field_of_view: f64,
}

/// A picture with its depths and with what is seen, row by row from the top.
#[derive(Clone, Debug, PartialEq)]
pub struct CameraImage {
    /// Width [px].
    pub width: usize,
    /// Height [px].
    pub height: usize,
    /// Red, green and blue of each pixel, encoded as sRGB.
    pub rgb: Vec<u8>,
    /// Distance along the axis of the camera [m]; infinite where nothing is seen.
    pub depth: Vec<f32>,
    /// Index of the body, of the soft body plus the number of bodies, or [`NOTHING`].
    pub body: Vec<i32>,
    /// Index of the shape in the recording, of the soft body plus the number of shapes, or [`NOTHING`].
    pub shape: Vec<i32>,
}

/// Number of pixels and of samples along the side of each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ImageSize {
    /// Width [px].
    pub width: usize,
    /// Height [px].
    pub height: usize,
    /// Samples along a side of a pixel.
    pub samples: usize,
}

impl ImageSize {
    /// Whether such pictures can be made.
    pub fn is_valid(&self) -> bool {
        let side = |n: usize| (1..=LARGEST / MOST_SAMPLES).contains(&n);
        side(self.width)
            && side(self.height)
            && (1..=MOST_SAMPLES).contains(&self.samples)
            && self.width * self.height * self.samples * self.samples <= MOST_PIXELS
    }
}

/// Memory of pictures that are made one after the other.
#[derive(Debug, Default)]
pub struct CameraMemory {
    surface: Surface,
    depths: Depths,
}

/// Renders the shapes of a recording at any poses.
#[derive(Debug)]
pub struct CameraRenderer {
    draw_list: DrawList,
    details: Vec<DetailLevels>,
    /// Per instance: the middle of its mesh in the frame of the body and its radius [m].
    balls: Vec<(Vector3<f64>, f64)>,
    /// Per instance: the longest side of its mesh [m].
    sides: Vec<f64>,
    softs: Vec<(CreasedSurface, [f32; 4], usize)>,
    bodies: usize,
    shapes: usize,
    /// Half the size of the scene at the start [m].
    radius: f64,
    encoding: Vec<u8>,
}

impl CameraRenderer {
    /// A renderer of the shapes of a recording with one frame at least.
    pub fn new(recording: &Recording) -> Self {
        let draw_list = DrawList::new(recording, recording.shapes.len());
        let extents = |instance: &MeshInstance| {
            let mesh = &draw_list.meshes[instance.mesh];
            let points = || mesh.positions.iter().map(|p| Vector3::from(*p).cast::<f64>());
            let low = points().fold(Vector3::repeat(f64::INFINITY), |a, b| a.inf(&b));
            let high = points().fold(Vector3::repeat(f64::NEG_INFINITY), |a, b| a.sup(&b));
            let size = (high - low).component_mul(&instance.scale).abs();
            let middle = (0.5 * (low + high)).component_mul(&instance.scale);
            let finite = size.iter().all(|x| x.is_finite());
            let middle = (instance.pose * nalgebra::Point3::from(middle)).coords;
            if finite {
                (middle, 0.5 * size.norm(), size.max())
            } else {
                (Vector3::zeros(), 0.0, 0.0)
            }
        };
        let extents: Vec<_> = draw_list.instances.iter().map(extents).collect();
        let with_colour = |(k, creased): (usize, CreasedSurface)| {
            let soft = &recording.softs[k];
            (creased, soft_colour(soft.colour, k), soft.vertices)
        };
        let bounds = Bounds::about(&boxes(recording, &draw_list, f64::NEG_INFINITY, f64::INFINITY));
        Self {
            details: draw_list.meshes.iter().map(|_| DetailLevels::default()).collect(),
            balls: extents.iter().map(|(middle, radius, _)| (*middle, *radius)).collect(),
            sides: extents.iter().map(|(.., side)| *side).collect(),
            softs: creases(recording).into_iter().enumerate().map(with_colour).collect(),
            bodies: recording.bodies.len(),
            shapes: recording.shapes.len(),
            radius: bounds.radius(),
            encoding: encoding_table(),
            draw_list,
        }
    }

    /// A camera that shows the shapes of a recording, seen from a corner of it as in pictures.
    pub fn overview(&self, recording: &Recording, aspect: f64) -> PlacedCamera {
        let boxes = boxes(recording, &self.draw_list, f64::NEG_INFINITY, f64::INFINITY);
        let bounds = Bounds::about(&boxes);
        let camera = Camera::fitting(&bounds, &boxes, &CameraView::default(), aspect);
        let axes = nalgebra::Matrix3::from_columns(&[camera.right, camera.up, camera.backward]);
        let rotation = nalgebra::UnitQuaternion::from_matrix(&axes);
        let pose = Isometry3::from_parts(camera.eye.into(), rotation);
        PlacedCamera { pose, field_of_view: 2.0 * (1.0 / camera.focal).atan() }
    }

    /// What a camera sees of bodies at these poses and of soft surfaces with these vertices.
    pub fn render(
        &self,
        placed: &PlacedCamera,
        size: ImageSize,
        (poses, softs): (&[Isometry3<f64>], &[[f32; 3]]),
        memory: &mut CameraMemory,
    ) -> CameraImage {
        let axis = |k: usize| placed.pose.rotation * Vector3::ith(k, 1.0);
        let camera = Camera {
            eye: placed.pose.translation.vector,
            right: axis(0),
            up: axis(1),
            backward: axis(2),
            focal: 1.0 / (0.5 * placed.field_of_view).tan(),
            near: NEAR * self.radius,
        };
        let bounds = self.bounds(poses);
        let centre = bounds.centre();
        let CameraMemory { surface, depths } = memory;
        self.fill(surface, (&camera, size), (poses, softs), &bounds);
        let texels = (SHADOW_TEXELS * size.width.max(size.height)).clamp(LEAST_TEXELS, MOST_TEXELS);
        let casters = ShadowCasters { corners: &surface.corners, faces: &surface.faces };
        let light = Light::lamp(&bounds, texels, CameraView::default().yaw, casters);
        let [wide, tall] = [size.width, size.height].map(|n| (n * size.samples) as f64);
        surface.project(&camera, &centre, wide, tall);
        let planes = self.draw_list.planes.iter();
        let scene = Bounds::around(centre, self.radius);
        let grounds: Vec<Ground> =
            planes.map(|plane| Ground::new(&(poses[plane.body] * plane.pose), &scene)).collect();
        let shading =
            Shading { camera: &camera, centre, light: &light, grounds: &grounds, surface, size };
        let seen = shading.pixels(depths);
        let byte = |c: &f32| {
            self.encoding[(c.clamp(0.0, 1.0) * (self.encoding.len() - 1) as f32) as usize]
        };
        let (body, shape) = seen.what.iter().map(|what| self.indices(*what)).unzip();
        CameraImage {
            width: size.width,
            height: size.height,
            rgb: seen.light.as_flattened().iter().map(byte).collect(),
            depth: seen.depth,
            body,
            shape,
        }
    }

    /// Bodies and shapes of the instances, planes and soft surfaces.
    fn indices(&self, what: Seen) -> (i32, i32) {
        match what {
            Seen::Nothing => (NOTHING, NOTHING),
            Seen::Plane(k) => {
                let plane = &self.draw_list.planes[k as usize];
                (plane.body as i32, plane.shape as i32)
            }
            Seen::Surface(k) => match self.draw_list.instances.get(k as usize) {
                Some(instance) => (instance.body as i32, instance.shape as i32),
                None => {
                    let soft = k as usize - self.draw_list.instances.len();
                    ((self.bodies + soft) as i32, (self.shapes + soft) as i32)
                }
            },
        }
    }

    /// Bounds of the moving shapes, or of all if nothing moves, not smaller than at the start: shadows and the grid of planes
    /// follow them.
    fn bounds(&self, poses: &[Isometry3<f64>]) -> Bounds {
        let all = self.draw_list.instances.iter().zip(&self.balls);
        let any_moves = self.draw_list.instances.iter().any(|instance| !instance.still);
        let mut bounds: Option<Bounds> = None;
        for (instance, (middle, radius)) in all {
            if any_moves && instance.still {
                continue;
            }
            let centre = (poses[instance.body] * nalgebra::Point3::from(*middle)).coords;
            let half = Vector3::repeat(*radius);
            let own = Bounds { low: centre - half, high: centre + half };
            bounds =
                Some(bounds.map_or(own, |b| Bounds {
                    low: b.low.inf(&own.low),
                    high: b.high.sup(&own.high),
                }));
        }
        let found = bounds.unwrap_or(Bounds { low: Vector3::zeros(), high: Vector3::zeros() });
        let least = Bounds::around(found.centre(), self.radius);
        Bounds { low: found.low.inf(&least.low), high: found.high.sup(&least.high) }
    }

    /// Writes the triangles in the world; colours have the order of the instances, and after them of the soft surfaces.
    fn fill(
        &self,
        surface: &mut Surface,
        (camera, size): (&Camera, ImageSize),
        (poses, softs): (&[Isometry3<f64>], &[[f32; 3]]),
        bounds: &Bounds,
    ) {
        surface.clear();
        let pixel = 2.0 / (size.height as f64 * camera.focal);
        for (k, instance) in self.draw_list.instances.iter().enumerate() {
            let (middle, radius) = self.balls[k];
            let centre = poses[instance.body] * nalgebra::Point3::from(middle);
            let depth = (camera.to_camera_frame(&centre.coords).norm() - radius).max(camera.near);
            let cells = CELLS_PER_PIXEL * self.sides[k] / (pixel * depth);
            let mesh = &self.draw_list.meshes[instance.mesh];
            let mesh = self.details[instance.mesh].with_cells(mesh, cells);
            surface.add_instance(mesh, instance, &poses[instance.body], instance.colour, bounds);
        }
        let mut rest = softs;
        for (creased, colour, vertices) in &self.softs {
            let Some((own, others)) = rest.split_at_checked(*vertices) else { break };
            rest = others;
            surface.add_soft(own, creased, *colour, bounds);
        }
    }
}

/// What is seen at a pixel, by its number.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Seen {
    Nothing,
    Plane(u32),
    /// An instance, or after these a soft surface.
    Surface(u32),
}

#[cfg(test)]
mod tests;
