//! Pictures of a recording, drawn without graphics processor and without display.
//!
//! A camera looks at what is seen; light comes from a lamp with an extent and from the sky, with
//! shadows of both ([`light`]); bodies are triangles with depth ([`tile`]), planes are exact
//! ([`ground`]). The same recording gives the same bytes for any number of threads. Cost: one pass
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
use crate::crease::Creased;
use crate::scenery::{Part, Scenery, creases, nearest, poses_at, soft_colour, softs_at};
use camera::{Camera, View};
use ground::Ground;
use light::{Casters, Fineness, Light};
use surface::{Surface, Triangle};
use tile::{Bin, SIDE, Stage};

/// Shadows are those of round shapes drawn as coarsely as if there were so many times more shapes.
const SHADOW_COARSENESS: usize = 10;
/// What moves by less than this part of a pixel is where it was.
const STILL: f64 = 0.1;
/// Opacity of walls around what moves.
const WALL: f32 = 0.1;
/// The largest width and height [px]: places on a picture must stay exact.
pub const LARGEST: usize = 16_384;

/// How a picture looks.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Look {
    /// Width [px].
    pub width: usize,
    /// Height [px].
    pub height: usize,
    /// Samples along a side of a pixel.
    pub samples: usize,
    /// How fine light is.
    pub light: Fineness,
    /// Where the camera stands.
    pub view: View,
    /// Whether contact forces are drawn.
    pub forces: bool,
    /// Round shapes are drawn as coarsely as if there were so many times more shapes.
    pub coarseness: usize,
}

impl Look {
    /// For a figure.
    pub fn still() -> Self {
        Self {
            width: 1600,
            height: 1000,
            samples: 3,
            light: Fineness { keys: 18, skies: 54, key_size: 1024, sky_size: 256 },
            view: View::default(),
            forces: false,
            coarseness: 1,
        }
    }

    /// For one of many pictures.
    pub fn moving(width: usize, height: usize) -> Self {
        Self {
            width,
            height,
            samples: 2,
            light: Fineness { keys: 8, skies: 16, key_size: 384, sky_size: 160 },
            coarseness: 10,
            ..Self::still()
        }
    }
}

/// Times [s] of the pictures of a film at so many per second, at least one.
pub fn film(recording: &Recording, rate: f64) -> Vec<f64> {
    let time = &recording.frames.time;
    let (Some(&begin), Some(&end)) = (time.first(), time.last()) else { return vec![0.0] };
    // The last picture may come a little late, so that round-off loses none.
    let count = ((end - begin) * rate + 0.01).max(0.0) as usize;
    (0..=count).map(|k| begin + k as f64 / rate).collect()
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

/// Draws a recording that fits together.
pub struct Painter<'a> {
    recording: &'a Recording,
    scenery: Scenery,
    /// What throws shadows.
    shadows: Scenery,
    /// The soft surfaces.
    creases: Vec<Creased>,
    look: Look,
    bounds: Bounds,
    camera: Camera,
    contained: bool,
    usual_force: f64,
    /// Bytes of light, for light in steps.
    encoded: Vec<u8>,
}

impl<'a> Painter<'a> {
    /// A painter whose camera sees what happens between two times [s].
    pub fn new(recording: &'a Recording, look: &Look, from: f64, to: f64) -> Self {
        let mut look = *look;
        look.width = look.width.clamp(1, LARGEST);
        look.height = look.height.clamp(1, LARGEST);
        look.samples = look.samples.clamp(1, 8);
        let expected = recording.shapes.len().saturating_mul(look.coarseness.max(1));
        let scenery = Scenery::new(recording, expected);
        let shadows = Scenery::new(recording, expected.saturating_mul(SHADOW_COARSENESS));
        let boxes = boxes(recording, &scenery, from, to);
        let bounds = Bounds::about(&boxes);
        let aspect = look.width as f64 / look.height as f64;
        let camera = Camera::fitting(&bounds, &boxes, &look.view, aspect);
        let contained = is_contained(recording, &scenery);
        let usual_force = if look.forces { arrows::usual_force(recording) } else { 1.0 };
        let encoded = (0..=ENCODED).map(|k| encode(k as f32 / ENCODED as f32)).collect();
        let creases = creases(recording);
        Self {
            recording,
            scenery,
            shadows,
            creases,
            look,
            bounds,
            camera,
            contained,
            usual_force,
            encoded,
        }
    }

    /// Width and height of the pictures [px].
    pub fn size(&self) -> [usize; 2] {
        [self.look.width, self.look.height]
    }

    /// The camera.
    pub fn camera(&self) -> &Camera {
        &self.camera
    }

    /// The picture of a time [s].
    pub fn paint(&self, time: f64) -> Picture {
        self.paint_over(time, None)
    }

    /// The picture of a time [s], over what is known of one without bodies.
    fn paint_over(&self, time: f64, bare: Option<&[[f32; 3]]>) -> Picture {
        let Self { recording, bounds, look, camera, .. } = self;
        let poses = poses_at(recording, time);
        let centre = bounds.centre();
        let softs = softs_at(recording, time);
        let light = {
            let shadows = self.solid(&self.shadows, &poses, &softs);
            let casters = Casters { corners: &shadows.corners, faces: &shadows.faces };
            let samples = look.samples * look.samples;
            Light::new(bounds, &look.light, look.view.yaw, samples, casters)
        };
        let mut bodies = self.solid(&self.scenery, &poses, &softs);
        self.add_walls(&mut bodies, &poses);
        let grounds = self.grounds(&poses);
        let size = [look.width * look.samples, look.height * look.samples];
        let [width, height] = size.map(|n| n as f64);
        bodies.see(camera, &centre, width, height);
        let mut arrows = match nearest(recording, time) {
            Some(frame) if look.forces => {
                arrows::of_frame(recording, frame, bounds, self.usual_force)
            }
            _ => Surface::default(),
        };
        arrows.see(camera, &centre, width, height);
        let stage = Stage {
            camera,
            centre,
            light: &light,
            grounds: &grounds,
            bodies: &bodies,
            arrows: &arrows,
            size,
            samples: look.samples,
            bare,
        };
        self.encode(&self.assemble(&stage))
    }

    /// Colours of all pixels without bodies; `None` if a plane moves.
    fn bare(&self) -> Option<Vec<[f32; 3]>> {
        let moves = |(body, _): &(usize, Isometry3<f64>)| self.recording.moving.contains(body);
        if self.scenery.planes.iter().any(moves) {
            return None;
        }
        let Self { bounds, look, camera, .. } = self;
        let nothing = Surface::default();
        let casters = Casters { corners: &[], faces: &[] };
        let samples = look.samples * look.samples;
        let light = Light::new(bounds, &look.light, look.view.yaw, samples, casters);
        let size = [look.width * look.samples, look.height * look.samples];
        let stage = Stage {
            camera,
            centre: bounds.centre(),
            light: &light,
            grounds: &self.grounds(&self.recording.rest),
            bodies: &nothing,
            arrows: &nothing,
            size,
            samples: look.samples,
            bare: None,
        };
        Some(self.assemble(&stage))
    }

    /// Triangles of a moment, without walls.
    fn solid(&self, scenery: &Scenery, poses: &[Isometry3<f64>], softs: &[[f32; 3]]) -> Surface {
        let mut surface = Surface::default();
        for part in scenery.parts.iter().filter(|part| !self.is_wall(part)) {
            let mesh = &scenery.meshes[part.mesh];
            surface.add_part(mesh, part, &poses[part.body], part.colour, &self.bounds);
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

    /// Whether a part stands around what moves; then it throws no shadow.
    fn is_wall(&self, part: &Part) -> bool {
        self.contained && part.still
    }

    fn add_walls(&self, surface: &mut Surface, poses: &[Isometry3<f64>]) {
        for part in self.scenery.parts.iter().filter(|part| self.is_wall(part)) {
            // Walls between the eye and what moves would only veil it.
            let place = poses[part.body] * part.pose.translation.vector;
            if (place - self.bounds.centre()).dot(&self.camera.backward) > 0.0 {
                continue;
            }
            let mesh = &self.scenery.meshes[part.mesh];
            let [r, g, b, opacity] = part.colour;
            let colour = [r, g, b, opacity.min(WALL)];
            surface.add_part(mesh, part, &poses[part.body], colour, &self.bounds);
        }
    }

    /// The pictures of some times [s] in their order. What has not moved since the last picture is
    /// not drawn again.
    pub fn film(&self, times: &[f64]) -> impl Iterator<Item = Rc<Picture>> {
        let bare = if times.len() > 1 { self.bare() } else { None };
        let mut last: Option<(f64, Rc<Picture>)> = None;
        times.iter().map(move |&time| match &last {
            Some((then, picture)) if !self.moved(*then, time) => picture.clone(),
            _ => {
                let picture = Rc::new(self.paint_over(time, bare.as_deref()));
                last = Some((time, picture.clone()));
                picture
            }
        })
    }

    /// Whether anything looks otherwise at another time.
    fn moved(&self, then: f64, now: f64) -> bool {
        let depth = (self.camera.eye - self.bounds.centre()).norm() - self.bounds.radius();
        let pixel =
            2.0 * depth.max(self.camera.near) / (self.look.height as f64 * self.camera.focal);
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
            self.look.forces && nearest(self.recording, then) != nearest(self.recording, now);
        forces
            || before.iter().zip(&after).any(turned)
            || softs_at(self.recording, then).iter().zip(&softs_at(self.recording, now)).any(bent)
    }

    fn grounds(&self, poses: &[Isometry3<f64>]) -> Vec<Ground> {
        let planes = self.scenery.planes.iter();
        let mut grounds: Vec<Ground> =
            planes.map(|(body, pose)| Ground::new(&(poses[*body] * pose), &self.bounds)).collect();
        if grounds.is_empty() {
            grounds.push(Ground::below(&self.bounds));
        }
        grounds
    }

    /// Paints all tiles and puts them together, as light.
    fn assemble(&self, stage: &Stage) -> Vec<[f32; 3]> {
        let Look { width, height, .. } = self.look;
        let columns = width.div_ceil(SIDE);
        let bins = bins(stage, columns, height.div_ceil(SIDE));
        let mut light = vec![[0.0; 3]; width * height];
        light.par_chunks_mut(width * SIDE).enumerate().for_each(|(row, band)| {
            for column in 0..columns {
                let pixels = stage.paint(column, row, &bins[row * columns + column]);
                let wide = SIDE.min(width - column * SIDE);
                for (y, line) in band.chunks_mut(width).enumerate() {
                    line[column * SIDE..][..wide].copy_from_slice(&pixels[y * SIDE..][..wide]);
                }
            }
        });
        light
    }

    /// A picture from the light of its pixels.
    fn encode(&self, light: &[[f32; 3]]) -> Picture {
        let Look { width, height, .. } = self.look;
        let byte = |c: &f32| self.encoded[(c.clamp(0.0, 1.0) * ENCODED as f32) as usize];
        Picture { width, height, rgb: light.as_flattened().iter().map(byte).collect() }
    }
}

/// Which triangles may be seen in which tile.
fn bins(stage: &Stage, columns: usize, rows: usize) -> Vec<Bin> {
    let mut bins = vec![Bin::default(); columns * rows];
    let side = (SIDE * stage.samples) as i64;
    let mut put = |triangle: &Triangle, add: &mut dyn FnMut(&mut Bin)| {
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
    for (index, triangle) in stage.bodies.triangles.iter().enumerate() {
        if stage.bodies.colours[triangle.colour as usize][3] < 1.0 {
            put(triangle, &mut |bin| bin.clear.push(index as u32));
        } else {
            put(triangle, &mut |bin| bin.opaque.push(index as u32));
        }
    }
    for (index, triangle) in stage.arrows.triangles.iter().enumerate() {
        put(triangle, &mut |bin| bin.arrows.push(index as u32));
    }
    bins
}

/// Steps of light that are told apart before they become bytes.
const ENCODED: usize = 1 << 14;

/// From light to a byte of a picture [IEC 61966-2-1].
fn encode(light: f32) -> u8 {
    let c =
        if light <= 0.003_130_8 { 12.92 * light } else { 1.055 * light.powf(1.0 / 2.4) - 0.055 };
    (c * 255.0).round() as u8
}
