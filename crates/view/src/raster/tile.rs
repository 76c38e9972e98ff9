//! One square of the picture: what is nearest in each sample, and how it looks.
//!
//! First the nearest opaque triangle of each sample is found, then each sample is shaded once, then
//! see-through triangles are laid over from far to near, and arrows over everything. A pixel is the
//! mean of its samples, as light.

use nalgebra::Vector3;

use super::camera::Camera;
use super::ground::{COLOUR, Ground};
use super::light::Light;
use super::scan::Region;
use super::surface::{Surface, Triangle};

/// Pixels along a side of a tile.
pub const SIDE: usize = 32;
/// No triangle.
const NOTHING: u32 = u32::MAX;
/// Part of the light that a white surface throws back.
const ALBEDO: f32 = 0.57;
const GLOSS: f32 = 0.16;
const RIM: f32 = 0.05;
/// Light on arrows: the least, and what facing the eye adds.
const ARROW: [f32; 2] = [0.62, 0.38];

/// All that is needed to shade.
pub struct Stage<'a> {
    /// The camera.
    pub camera: &'a Camera,
    /// The middle of the bounds [m].
    pub centre: Vector3<f64>,
    /// The light.
    pub light: &'a Light,
    /// Planes.
    pub grounds: &'a [Ground],
    /// Bodies.
    pub bodies: &'a Surface,
    /// Arrows.
    pub arrows: &'a Surface,
    /// Size of the picture in samples.
    pub size: [usize; 2],
    /// Samples along a side of a pixel.
    pub samples: usize,
}

/// Indices of the triangles that may be seen in a tile.
#[derive(Clone, Debug, Default)]
pub struct Bin {
    /// Opaque ones.
    pub opaque: Vec<u32>,
    /// See-through ones.
    pub clear: Vec<u32>,
    /// Those of arrows.
    pub arrows: Vec<u32>,
}

impl Stage<'_> {
    /// Colours of the pixels of a tile as light, row by row.
    pub fn paint(&self, column: usize, row: usize, bin: &Bin) -> Vec<[f32; 3]> {
        let side = SIDE * self.samples;
        let region = Region {
            left: (column * side) as i64,
            top: (row * side) as i64,
            right: ((column + 1) * side).min(self.size[0]) as i64,
            bottom: ((row + 1) * side).min(self.size[1]) as i64,
        };
        let mut depths = Depths::new(region, side);
        depths.add(&self.bodies.triangles, &bin.opaque);
        let mut colours = vec![[0.0; 3]; side * side];
        for y in region.top..region.bottom {
            for x in region.left..region.right {
                let at = depths.index(x, y);
                colours[at] = self.sample(x, y, depths.nearest[at], depths.inverse[at]);
            }
        }
        self.lay_over(&depths, bin, &mut colours);
        if !bin.arrows.is_empty() {
            let mut depths = Depths::new(region, side);
            depths.add(&self.arrows.triangles, &bin.arrows);
            for y in region.top..region.bottom {
                for x in region.left..region.right {
                    let at = depths.index(x, y);
                    if depths.nearest[at] != NOTHING {
                        colours[at] = self.arrow(depths.nearest[at], x, y);
                    }
                }
            }
        }
        self.pixels(&colours, side)
    }

    /// Means over the samples of each pixel.
    fn pixels(&self, colours: &[[f32; 3]], side: usize) -> Vec<[f32; 3]> {
        let n = self.samples;
        let mut pixels = Vec::with_capacity(SIDE * SIDE);
        for row in 0..SIDE {
            for column in 0..SIDE {
                let mut sum = [0.0; 3];
                for y in row * n..(row + 1) * n {
                    for colour in &colours[y * side + column * n..][..n] {
                        (0..3).for_each(|k| sum[k] += colour[k].min(1.0));
                    }
                }
                pixels.push(sum.map(|c| c / (n * n) as f32));
            }
        }
        pixels
    }

    /// Number of a sample within its pixel.
    fn turn(&self, x: i64, y: i64) -> usize {
        (y as usize % self.samples) * self.samples + x as usize % self.samples
    }

    /// The ray through a sample, with unit depth, and its change from pixel to pixel.
    fn ray(&self, x: i64, y: i64) -> [Vector3<f64>; 3] {
        let camera = self.camera;
        let [width, height] = self.size.map(|n| n as f64);
        let step = 2.0 / (height * camera.focal);
        let (across, up) = (x as f64 + 0.5 - 0.5 * width, 0.5 * height - y as f64 - 0.5);
        let ray = camera.right * (across * step) + camera.up * (up * step) - camera.backward;
        let pixel = step * self.samples as f64;
        [ray, camera.right * pixel, camera.up * -pixel]
    }

    fn sample(&self, x: i64, y: i64, nearest: u32, inverse: f64) -> [f32; 3] {
        let mut colour = match nearest {
            NOTHING => COLOUR,
            index => self.body(&self.bodies.triangles[index as usize], x, y).0,
        };
        let [ray, columns, rows] = self.ray(x, y);
        let eye = &self.camera.eye;
        // Planes between the eye and what was found, from far to near.
        let mut last = inverse;
        for _ in 0..self.grounds.len() {
            let hits = self.grounds.iter().filter_map(|ground| {
                let hit = ground.hit(eye, &ray, &columns, &rows)?;
                (hit.inverse > last).then_some((ground, hit))
            });
            let next = hits.min_by(|a, b| a.1.inverse.total_cmp(&b.1.inverse));
            let Some((ground, hit)) = next else { break };
            last = hit.inverse;
            let (shade, opacity) =
                ground.shade(&hit, eye, self.light, &self.centre, self.turn(x, y));
            colour = mixed(colour, shade, opacity);
        }
        colour
    }

    /// Colour and opacity of a triangle in a sample.
    fn body(&self, triangle: &Triangle, x: i64, y: i64) -> ([f32; 3], f32) {
        let shares = seen_shares(triangle, x, y);
        let corners = triangle.corners.map(|c| &self.bodies.corners[c as usize]);
        let sum = |pick: fn(&super::surface::Corner) -> Vector3<f32>| {
            pick(corners[0]) * shares[0]
                + pick(corners[1]) * shares[1]
                + pick(corners[2]) * shares[2]
        };
        let place = sum(|corner| corner.place);
        let eye = (self.camera.eye - self.centre).cast::<f32>();
        let view = (eye - place).normalize();
        let mut normal = sum(|corner| corner.normal).normalize();
        // Rows go down, so that what goes clockwise in them faces away.
        if triangle.edges.clockwise && normal.dot(&view) < 0.0 {
            normal = -normal;
        }
        let (light, key) = self.light.at(&place, &normal, self.turn(x, y));
        let halfway = (view + self.light.toward).normalize();
        let gloss = if key > 0.0 { normal.dot(&halfway).max(0.0).powi(48) * GLOSS } else { 0.0 };
        let rim = (1.0 - normal.dot(&view).max(0.0)).powi(4) * RIM;
        let [r, g, b, opacity] = self.bodies.colours[triangle.colour as usize];
        ([r, g, b].map(|c| c * light * ALBEDO + gloss + rim), opacity)
    }

    fn arrow(&self, nearest: u32, x: i64, y: i64) -> [f32; 3] {
        let triangle = &self.arrows.triangles[nearest as usize];
        let shares = seen_shares(triangle, x, y);
        let normals = triangle.corners.map(|c| self.arrows.corners[c as usize].normal);
        let normal = normals[0] * shares[0] + normals[1] * shares[1] + normals[2] * shares[2];
        let toward = self.camera.backward.cast::<f32>();
        let facing = normal.try_normalize(0.0).map_or(0.0, |n| n.dot(&toward).abs());
        let [r, g, b, _] = self.arrows.colours[triangle.colour as usize];
        [r, g, b].map(|c| c * (ARROW[0] + ARROW[1] * facing))
    }

    /// Lays see-through triangles over what is behind them.
    fn lay_over(&self, depths: &Depths, bin: &Bin, colours: &mut [[f32; 3]]) {
        let triangles = &self.bodies.triangles;
        let far = |index: u32| triangles[index as usize].inverse.iter().sum::<f64>();
        // Backs are left out: a closed surface is laid over once.
        let mut order: Vec<u32> = bin.clear.clone();
        order.retain(|&index| !triangles[index as usize].edges.clockwise);
        order.sort_by(|&a, &b| far(a).total_cmp(&far(b)).then(a.cmp(&b)));
        for index in order {
            let triangle = &triangles[index as usize];
            let [first, per_column, per_row] = triangle.edges.linear(triangle.inverse);
            triangle.edges.scan(depths.region, |x, y| {
                let at = depths.index(x, y);
                let inverse = first + per_column * x as f64 + per_row * y as f64;
                if inverse > depths.inverse[at] {
                    let (shade, opacity) = self.body(triangle, x, y);
                    colours[at] = mixed(colours[at], shade, opacity);
                }
            });
        }
    }
}

/// Shares of the corners in a sample as they are in the world: shares on the picture count by the
/// inverse of their depth.
fn seen_shares(triangle: &Triangle, x: i64, y: i64) -> [f32; 3] {
    let on_picture = triangle.edges.shares(x, y);
    let near: [f64; 3] = std::array::from_fn(|k| on_picture[k] * triangle.inverse[k]);
    let sum = near[0] + near[1] + near[2];
    near.map(|share| (share / sum) as f32)
}

fn mixed(below: [f32; 3], above: [f32; 3], opacity: f32) -> [f32; 3] {
    std::array::from_fn(|k| below[k] + (above[k] - below[k]) * opacity)
}

/// The nearest triangle of each sample of a region.
struct Depths {
    region: Region,
    side: usize,
    /// Inverse depth [1/m]; zero is infinitely far.
    inverse: Vec<f64>,
    nearest: Vec<u32>,
}

impl Depths {
    fn new(region: Region, side: usize) -> Self {
        Self { region, side, inverse: vec![0.0; side * side], nearest: vec![NOTHING; side * side] }
    }

    fn index(&self, x: i64, y: i64) -> usize {
        (y - self.region.top) as usize * self.side + (x - self.region.left) as usize
    }

    fn add(&mut self, triangles: &[Triangle], indices: &[u32]) {
        let Self { region, side, inverse, nearest } = self;
        for &index in indices {
            let triangle = &triangles[index as usize];
            let [first, per_column, per_row] = triangle.edges.linear(triangle.inverse);
            triangle.edges.scan(*region, |x, y| {
                let at = (y - region.top) as usize * *side + (x - region.left) as usize;
                let depth = first + per_column * x as f64 + per_row * y as f64;
                if depth > inverse[at] {
                    (inverse[at], nearest[at]) = (depth, index);
                }
            });
        }
    }
}
