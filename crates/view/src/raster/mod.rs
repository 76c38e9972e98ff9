//! A software rasteriser for recordings, without graphics processor and without display.
//!
//! Light comes from an area lamp and from the sky, with shadows of both ([`light`]); bodies are
//! depth-tested triangles ([`tile`]), planes are intersected exactly ([`ground`]). The same recording gives the same bytes for any number of threads. Cost: one pass
//! over the triangles per direction of light, and a lookup per direction and pixel.

pub mod arrows;
pub mod camera;
pub mod ground;
pub mod light;
pub mod scan;
pub mod surface;
pub mod tile;

use std::rc::Rc;

use nalgebra::Isometry3;
use rayon::prelude::*;
use stiction_sim::record::Recording;

use crate::bounds::{Bounds, boxes, is_contained};
use crate::crease::CreasedSurface;
use crate::draw_list::{DrawList, MeshInstance, PlaneInstance, creases, soft_colour};
use crate::error::ViewError;
use crate::interpolation::{nearest, poses_at, softs_at};
use camera::{Camera, CameraView};
use ground::Ground;
use light::{Light, LightQuality, ShadowCasters};
use surface::{Surface, Triangle};
use tile::{SIDE, ShadingContext, TileTriangles};

/// Shadows use coarser meshes, as if there were this many times more shapes.
const SHADOW_COARSENESS: usize = 10;
/// Motion below this fraction of a pixel counts as none.
const STILL: f64 = 0.1;
/// Opacity of walls around moving bodies.
const WALL: f32 = 0.1;
/// Most frames of a video.
const MOST_FRAMES: f64 = 1e6;
/// Most pixels of a picture.
pub const MOST_PIXELS: usize = 1 << 26;
/// The largest width and height [px]; fixed-point coordinates must not overflow.
pub const LARGEST: usize = 16_384;

/// Settings of the renderer.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RenderSettings {
    /// Width [px].
    pub width: usize,
    /// Height [px].
    pub height: usize,
    /// Samples along a side of a pixel.
    pub samples: usize,
    /// Quality of light and shadows.
    pub light: LightQuality,
    /// The camera.
    pub view: CameraView,
    /// Whether contact forces are drawn.
    pub forces: bool,
    /// Factor on the number of shapes that decides how coarse round shapes are drawn.
    pub coarseness: usize,
}

impl RenderSettings {
    /// For a single picture.
    pub fn still() -> Self {
        Self {
            width: 1600,
            height: 1000,
            samples: 3,
            light: LightQuality { keys: 18, skies: 54, key_size: 1024, sky_size: 256 },
            view: CameraView::default(),
            forces: false,
            coarseness: 1,
        }
    }

    /// For a frame of a video.
    pub fn moving(width: usize, height: usize) -> Self {
        Self {
            width,
            height,
            samples: 2,
            light: LightQuality { keys: 8, skies: 16, key_size: 384, sky_size: 160 },
            coarseness: 10,
            ..Self::still()
        }
    }
}

/// Times [s] of the frames of a video at a frame rate [1/s], at least one. A recording whose times
/// would make too many frames is an error.
pub fn film(recording: &Recording, rate: f64) -> Result<Vec<f64>, ViewError> {
    let time = &recording.frames.time;
    let (Some(&begin), Some(&end)) = (time.first(), time.last()) else { return Ok(vec![0.0]) };
    // A little slack, so that round-off does not drop the last frame.
    let count = ((end - begin) * rate + 0.01).max(0.0);
    if !(begin.is_finite() && count <= MOST_FRAMES) {
        return Err(ViewError::PictureOption {
            key: "time".to_owned(),
            found: format!("a recording from {begin} to {end} s"),
            expected: format!("one of at most {MOST_FRAMES} frames of a video"),
        });
    }
    Ok((0..=count as usize).map(|k| begin + k as f64 / rate).collect())
}

/// A picture: red, green and blue of each pixel, row by row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Picture {
    /// Width [px].
    pub width: usize,
    /// Height [px].
    pub height: usize,
    /// Three bytes per pixel, encoded as sRGB.
    pub rgb: Vec<u8>,
}

/// Renders a consistent recording.
pub struct PictureRenderer<'a> {
    recording: &'a Recording,
    draw_list: DrawList,
    /// The coarser draw list for shadows.
    shadows: DrawList,
    /// The soft surfaces.
    creases: Vec<CreasedSurface>,
    settings: RenderSettings,
    bounds: Bounds,
    camera: Camera,
    contained: bool,
    usual_force: f64,
    /// Lookup table from linear light to bytes.
    encoded: Vec<u8>,
}

impl<'a> PictureRenderer<'a> {
    /// A renderer whose camera fits the motion between two times [s].
    pub fn new(recording: &'a Recording, settings: &RenderSettings, from: f64, to: f64) -> Self {
        let mut settings = *settings;
        settings.width = settings.width.clamp(1, LARGEST);
        settings.height = settings.height.clamp(1, LARGEST);
        settings.samples = settings.samples.clamp(1, 8);
        let expected = recording.shapes.len().saturating_mul(settings.coarseness.max(1));
        let draw_list = DrawList::new(recording, expected);
        let shadows = DrawList::new(recording, expected.saturating_mul(SHADOW_COARSENESS));
        let boxes = boxes(recording, &draw_list, from, to);
        let bounds = Bounds::about(&boxes);
        let aspect = settings.width as f64 / settings.height as f64;
        let camera = Camera::fitting(&bounds, &boxes, &settings.view, aspect);
        let contained = is_contained(recording, &draw_list);
        let usual_force = if settings.forces { arrows::usual_force(recording) } else { 1.0 };
        let encoded = encoding_table();
        let creases = creases(recording);
        Self {
            recording,
            draw_list,
            shadows,
            creases,
            settings,
            bounds,
            camera,
            contained,
            usual_force,
            encoded,
        }
    }

    /// Width and height of the pictures [px].
    pub fn size(&self) -> [usize; 2] {
        [self.settings.width, self.settings.height]
    }

    /// The camera.
    pub fn camera(&self) -> &Camera {
        &self.camera
    }

    /// The picture of a time [s].
    pub fn render(&self, time: f64) -> Picture {
        self.render_over(time, None)
    }

    /// The picture of a time [s]; `bare` is the picture without bodies, if known.
    fn render_over(&self, time: f64, bare: Option<&[[f32; 3]]>) -> Picture {
        let Self { recording, bounds, settings, camera, .. } = self;
        let poses = poses_at(recording, time);
        let centre = bounds.centre();
        let softs = softs_at(recording, time);
        let light = {
            let shadows = self.solid(&self.shadows, &poses, &softs);
            let casters = ShadowCasters { corners: &shadows.corners, faces: &shadows.faces };
            let samples = settings.samples * settings.samples;
            Light::new(bounds, &settings.light, settings.view.yaw, samples, casters)
        };
        let mut bodies = self.solid(&self.draw_list, &poses, &softs);
        self.add_walls(&mut bodies, &poses);
        let grounds = self.grounds(&poses);
        let size = [settings.width * settings.samples, settings.height * settings.samples];
        let [width, height] = size.map(|n| n as f64);
        bodies.project(camera, &centre, width, height);
        let mut arrows = match nearest(recording, time) {
            Some(frame) if settings.forces => {
                arrows::of_frame(recording, frame, bounds, self.usual_force)
            }
            _ => Surface::default(),
        };
        arrows.project(camera, &centre, width, height);
        let context = ShadingContext {
            camera,
            centre,
            light: &light,
            grounds: &grounds,
            bodies: &bodies,
            arrows: &arrows,
            size,
            samples: settings.samples,
            bare,
        };
        self.encode(&self.assemble(&context))
    }

    /// Linear colours of all pixels without bodies; `None` if a plane moves.
    fn bare(&self) -> Option<Vec<[f32; 3]>> {
        let moves = |plane: &PlaneInstance| self.recording.moving.contains(&plane.body);
        if self.draw_list.planes.iter().any(moves) {
            return None;
        }
        let Self { bounds, settings, camera, .. } = self;
        let nothing = Surface::default();
        let casters = ShadowCasters { corners: &[], faces: &[] };
        let samples = settings.samples * settings.samples;
        let light = Light::new(bounds, &settings.light, settings.view.yaw, samples, casters);
        let size = [settings.width * settings.samples, settings.height * settings.samples];
        let context = ShadingContext {
            camera,
            centre: bounds.centre(),
            light: &light,
            grounds: &self.grounds(&self.recording.rest),
            bodies: &nothing,
            arrows: &nothing,
            size,
            samples: settings.samples,
            bare: None,
        };
        Some(self.assemble(&context))
    }

    /// Triangles at given poses, without walls.
    fn solid(&self, draw_list: &DrawList, poses: &[Isometry3<f64>], softs: &[[f32; 3]]) -> Surface {
        let mut surface = Surface::default();
        for instance in draw_list.instances.iter().filter(|instance| !self.is_wall(instance)) {
            let mesh = &draw_list.meshes[instance.mesh];
            surface.add_instance(
                mesh,
                instance,
                &poses[instance.body],
                instance.colour,
                &self.bounds,
            );
        }
        let mut rest = softs;
        for (k, soft) in self.recording.softs.iter().enumerate() {
            let Some((own, others)) = rest.split_at_checked(soft.vertices) else { break };
            rest = others;
            let colour = soft_colour(soft.colour, k);
            surface.add_soft(own, &self.creases[k], colour, &self.bounds);
        }
        surface
    }

    /// Whether an instance is a wall around moving bodies; walls cast no shadow.
    fn is_wall(&self, instance: &MeshInstance) -> bool {
        self.contained && instance.still
    }

    fn add_walls(&self, surface: &mut Surface, poses: &[Isometry3<f64>]) {
        for instance in self.draw_list.instances.iter().filter(|instance| self.is_wall(instance)) {
            // Walls between the camera and the moving bodies are left out.
            let place = poses[instance.body] * instance.pose.translation.vector;
            if (place - self.bounds.centre()).dot(&self.camera.backward) > 0.0 {
                continue;
            }
            let mesh = &self.draw_list.meshes[instance.mesh];
            let [r, g, b, opacity] = instance.colour;
            let colour = [r, g, b, opacity.min(WALL)];
            surface.add_instance(mesh, instance, &poses[instance.body], colour, &self.bounds);
        }
    }

    /// The pictures of some times [s] in their order. A picture without visible change is shared.
    pub fn film(&self, times: &[f64]) -> impl Iterator<Item = Rc<Picture>> {
        let bare = if times.len() > 1 { self.bare() } else { None };
        let mut last: Option<(f64, Rc<Picture>)> = None;
        times.iter().map(move |&time| match &last {
            Some((then, picture)) if !self.moved(*then, time) => picture.clone(),
            _ => {
                let picture = Rc::new(self.render_over(time, bare.as_deref()));
                last = Some((time, picture.clone()));
                picture
            }
        })
    }

    /// Whether the picture changes visibly between two times.
    fn moved(&self, then: f64, now: f64) -> bool {
        let depth = (self.camera.eye - self.bounds.centre()).norm() - self.bounds.radius();
        let pixel =
            2.0 * depth.max(self.camera.near) / (self.settings.height as f64 * self.camera.focal);
        let close = STILL * pixel;
        let size = self.bounds.radius();
        let (before, after) = (poses_at(self.recording, then), poses_at(self.recording, now));
        let turned = |(a, b): (&Isometry3<f64>, &Isometry3<f64>)| {
            let shift = (a.translation.vector - b.translation.vector).norm();
            !(shift < close && a.rotation.angle_to(&b.rotation) * size < close)
        };
        let bent = |(a, b): (&[f32; 3], &[f32; 3])| {
            (0..3).any(|k| !(f64::from((a[k] - b[k]).abs()) < close))
        };
        let forces =
            self.settings.forces && nearest(self.recording, then) != nearest(self.recording, now);
        forces
            || before.iter().zip(&after).any(turned)
            || softs_at(self.recording, then).iter().zip(&softs_at(self.recording, now)).any(bent)
    }

    fn grounds(&self, poses: &[Isometry3<f64>]) -> Vec<Ground> {
        let planes = self.draw_list.planes.iter();
        let mut grounds: Vec<Ground> = planes
            .map(|plane| Ground::new(&(poses[plane.body] * plane.pose), &self.bounds))
            .collect();
        if grounds.is_empty() {
            grounds.push(Ground::below(&self.bounds));
        }
        grounds
    }

    /// Shades all tiles and assembles their linear colours.
    fn assemble(&self, context: &ShadingContext) -> Vec<[f32; 3]> {
        let RenderSettings { width, height, .. } = self.settings;
        let columns = width.div_ceil(SIDE);
        let bins = triangles_by_tile(context, columns, height.div_ceil(SIDE));
        let mut light = vec![[0.0; 3]; width * height];
        light.par_chunks_mut(width * SIDE).enumerate().for_each(|(row, band)| {
            for column in 0..columns {
                let pixels = context.shade(column, row, &bins[row * columns + column]);
                let wide = SIDE.min(width - column * SIDE);
                for (y, line) in band.chunks_mut(width).enumerate() {
                    line[column * SIDE..][..wide].copy_from_slice(&pixels[y * SIDE..][..wide]);
                }
            }
        });
        light
    }

    /// A picture from linear colours.
    fn encode(&self, light: &[[f32; 3]]) -> Picture {
        let RenderSettings { width, height, .. } = self.settings;
        let byte = |c: &f32| self.encoded[(c.clamp(0.0, 1.0) * ENCODED as f32) as usize];
        Picture { width, height, rgb: light.as_flattened().iter().map(byte).collect() }
    }
}

/// The triangles that may be visible in each tile.
fn triangles_by_tile(context: &ShadingContext, columns: usize, rows: usize) -> Vec<TileTriangles> {
    let mut bins = vec![TileTriangles::default(); columns * rows];
    let side = (SIDE * context.samples) as i64;
    let mut put = |triangle: &Triangle, add: &mut dyn FnMut(&mut TileTriangles)| {
        let region = &triangle.edges.region;
        let range = |low: i64, high: i64, count: usize| {
            let last = ((high - 1).div_euclid(side) + 1).clamp(0, count as i64);
            low.div_euclid(side).clamp(0, count as i64) as usize..last as usize
        };
        if region.left >= region.right || region.top >= region.bottom {
            return;
        }
        for row in range(region.top, region.bottom, rows) {
            for column in range(region.left, region.right, columns) {
                add(&mut bins[row * columns + column]);
            }
        }
    };
    for (index, triangle) in context.bodies.triangles.iter().enumerate() {
        if context.bodies.colours[triangle.colour as usize][3] < 1.0 {
            put(triangle, &mut |bin| bin.transparent.push(index as u32));
        } else {
            put(triangle, &mut |bin| bin.opaque.push(index as u32));
        }
    }
    for (index, triangle) in context.arrows.triangles.iter().enumerate() {
        put(triangle, &mut |bin| bin.arrows.push(index as u32));
    }
    bins
}

/// Entries of the lookup table from linear light to bytes.
const ENCODED: usize = 1 << 14;

/// sRGB bytes of evenly spaced linear light from zero to one.
pub(crate) fn encoding_table() -> Vec<u8> {
    (0..=ENCODED).map(|k| encode(k as f32 / ENCODED as f32)).collect()
}

/// From linear light to an sRGB byte [IEC 61966-2-1].
fn encode(light: f32) -> u8 {
    let c =
        if light <= 0.003_130_8 { 12.92 * light } else { 1.055 * light.powf(1.0 / 2.4) - 0.055 };
    (c * 255.0).round() as u8
}
