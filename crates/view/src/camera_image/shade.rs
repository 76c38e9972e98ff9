//! Nearest surfaces and colours of the pixels of a camera.
//!
//! Opaque triangles are depth-tested at the samples. A pixel in which one shape is seen is shaded once, in its middle; one with
//! several, per sample. Transparent triangles are blended from far to near; for depth and segmentation they are like others.

use nalgebra::Vector3;

use super::{ImageSize, Seen};
use crate::raster::camera::Camera;
use crate::raster::ground::{COLOUR, Ground, Hit};
use crate::raster::light::Light;
use crate::raster::scan::Region;
use crate::raster::surface::{Surface, Triangle};
use crate::raster::tile::{ALBEDO, mixed, perspective_shares};

/// Difference of inverse depths below which a plane may cut a surface within a pixel, relative [-].
const MEETING: f64 = 0.02;
/// No triangle.
const NONE: u32 = u32::MAX;

/// What pixels are shaded with.
pub struct Shading<'a> {
    pub camera: &'a Camera,
    /// The middle of the scene, to which places are relative [m].
    pub centre: Vector3<f64>,
    pub light: &'a Light,
    pub grounds: &'a [Ground],
    pub surface: &'a Surface,
    pub size: ImageSize,
}

/// Nearest triangles and their inverse depths [1/m], per sample.
#[derive(Debug, Default)]
pub struct Depths {
    inverse: Vec<f64>,
    /// The nearest opaque one.
    opaque: Vec<u32>,
    /// The nearest of all, if some are transparent.
    all: Vec<u32>,
}

/// Linear colours, depths and what is seen, per pixel.
pub struct Pixels {
    pub light: Vec<[f32; 3]>,
    pub depth: Vec<f32>,
    pub what: Vec<Seen>,
}

/// The nearest thing at a point of the picture.
#[derive(Clone, Copy)]
struct Nearest {
    what: Seen,
    inverse: f64,
    hit: Option<Hit>,
    triangle: u32,
}

impl Shading<'_> {
    /// All pixels.
    pub fn pixels(&self, depths: &mut Depths) -> Pixels {
        let ImageSize { width, height, samples } = self.size;
        self.find_nearest(depths);
        let (nearest, any_clear) = (&depths.opaque, !depths.all.is_empty());
        let clear = self.transparent_triangles();
        let mut pixels = Pixels {
            light: Vec::with_capacity(width * height),
            depth: Vec::with_capacity(width * height),
            what: Vec::with_capacity(width * height),
        };
        let middle = 0.5 * (samples as f64 - 1.0);
        let mut found = Vec::with_capacity(samples * samples);
        for y in 0..height {
            for x in 0..width {
                let (left, top) = (x * samples, y * samples);
                found.clear();
                for row in top..top + samples {
                    found.extend_from_slice(&nearest[row * width * samples + left..][..samples]);
                }
                let centre = (left as f64 + middle, top as f64 + middle);
                let first = self.at(found[0], centre);
                let colour_of = |index: u32| match index {
                    NONE => NONE,
                    index => self.surface.triangles[index as usize].colour,
                };
                let is_one = found.iter().all(|&index| colour_of(index) == colour_of(found[0]));
                let light = if is_one && !self.is_near_plane(&first, found[0], centre) {
                    self.colour(&first, centre)
                } else {
                    let mut sum = Vector3::zeros();
                    for (k, &index) in found.iter().enumerate() {
                        let at = ((left + k % samples) as f64, (top + k / samples) as f64);
                        sum += Vector3::from(self.colour(&self.at(index, at), at));
                    }
                    (sum / found.len() as f32).into()
                };
                pixels.light.push(light);
                let seen = if any_clear {
                    self.at(depths.all[top * width * samples + left], centre)
                } else {
                    first
                };
                let is_any = seen.inverse > 0.0;
                pixels.depth.push(if is_any { (1.0 / seen.inverse) as f32 } else { f32::INFINITY });
                pixels.what.push(seen.what);
            }
        }
        self.blend(&clear, nearest, &mut pixels.light);
        pixels
    }

    /// Finds the nearest triangle of each sample.
    fn find_nearest(&self, depths: &mut Depths) {
        let ImageSize { width, height, samples } = self.size;
        let count = width * height * samples * samples;
        let Depths { inverse, opaque, all } = depths;
        inverse.clear();
        inverse.resize(count, 0.0);
        opaque.clear();
        opaque.resize(count, NONE);
        all.clear();
        self.scan_where(|opacity| opacity >= 1.0, opaque, inverse);
        if self.surface.colours.iter().any(|colour| colour[3] < 1.0) {
            all.extend_from_slice(opaque);
            self.scan_where(|opacity| opacity > 0.0 && opacity < 1.0, all, inverse);
        }
    }

    /// Depth-tests the triangles of some opacities.
    fn scan_where(
        &self,
        is_tested: impl Fn(f32) -> bool,
        nearest: &mut [u32],
        inverse: &mut [f64],
    ) {
        let wide = self.size.width * self.size.samples;
        for (index, triangle) in self.surface.triangles.iter().enumerate() {
            if !is_tested(self.surface.colours[triangle.colour as usize][3]) {
                continue;
            }
            let [first, per_column, per_row] = triangle.edges.linear(triangle.inverse);
            triangle.edges.scan(self.whole(), |x, y| {
                let at = y as usize * wide + x as usize;
                let depth = first + per_column * x as f64 + per_row * y as f64;
                if depth > inverse[at] {
                    (inverse[at], nearest[at]) = (depth, index as u32);
                }
            });
        }
    }

    /// Transparent triangles that face the camera, from far to near.
    fn transparent_triangles(&self) -> Vec<u32> {
        let triangles = &self.surface.triangles;
        let is_clear = |index: &u32| {
            let triangle = &triangles[*index as usize];
            let opacity = self.surface.colours[triangle.colour as usize][3];
            opacity > 0.0 && opacity < 1.0 && !triangle.edges.clockwise
        };
        let far = |index: u32| triangles[index as usize].inverse.iter().sum::<f64>();
        let mut clear: Vec<u32> = (0..triangles.len() as u32).filter(is_clear).collect();
        clear.sort_by(|&a, &b| far(a).total_cmp(&far(b)).then(a.cmp(&b)));
        clear
    }

    /// The whole picture, in samples.
    fn whole(&self) -> Region {
        let ImageSize { width, height, samples } = self.size;
        Region {
            left: 0,
            top: 0,
            right: (width * samples) as i64,
            bottom: (height * samples) as i64,
        }
    }

    /// What is nearest at a point of the picture in samples, where `index` is the nearest triangle.
    fn at(&self, index: u32, (x, y): (f64, f64)) -> Nearest {
        let mut nearest = Nearest { what: Seen::Nothing, inverse: 0.0, hit: None, triangle: index };
        if index != NONE {
            nearest.inverse = self.at_surface(index, (x, y));
            nearest.what = Seen::Surface(self.surface.triangles[index as usize].colour);
        }
        for (k, ground) in self.grounds.iter().enumerate() {
            if ground.height(&self.camera.eye) <= 0.0 {
                continue;
            }
            if let Some(hit) = self.hit(ground, (x, y)).filter(|hit| hit.inverse > nearest.inverse)
            {
                nearest = Nearest {
                    what: Seen::Plane(k as u32),
                    inverse: hit.inverse,
                    hit: Some(hit),
                    triangle: NONE,
                };
            }
        }
        nearest
    }

    /// Inverse depth of a triangle at a point of the picture [1/m].
    fn at_surface(&self, index: u32, (x, y): (f64, f64)) -> f64 {
        let triangle = &self.surface.triangles[index as usize];
        let [first, per_column, per_row] = triangle.edges.linear(triangle.inverse);
        let [a, b, c] = triangle.inverse;
        // The middle of a pixel may lie beside a triangle that is seen in a part of it.
        (first + per_column * x + per_row * y).clamp(a.min(b).min(c), a.max(b).max(c))
    }

    /// Whether a plane may cut a surface within a pixel.
    fn is_near_plane(&self, first: &Nearest, index: u32, (x, y): (f64, f64)) -> bool {
        if index == NONE {
            return false;
        }
        let surface = self.at_surface(index, (x, y));
        let meets = |ground: &Ground| {
            let plane = self.hit(ground, (x, y)).map_or(0.0, |hit| hit.inverse);
            (plane - surface).abs() <= MEETING * surface
        };
        if !self.grounds.iter().any(meets) {
            return false;
        }
        let reach = 0.5 * self.size.samples as f64;
        let is_plane = |nearest: &Nearest| nearest.hit.is_some();
        [(-reach, -reach), (reach, reach), (-reach, reach), (reach, -reach)]
            .iter()
            .any(|(dx, dy)| is_plane(&self.at(index, (x + dx, y + dy))) != is_plane(first))
    }

    fn hit(&self, ground: &Ground, (x, y): (f64, f64)) -> Option<Hit> {
        let camera = self.camera;
        let ImageSize { width, height, samples } = self.size;
        let step = 2.0 / ((height * samples) as f64 * camera.focal);
        let pixel = step * samples as f64;
        let (across, up) =
            (x + 0.5 - 0.5 * (width * samples) as f64, 0.5 * (height * samples) as f64 - y - 0.5);
        let ray = camera.right * (across * step) + camera.up * (up * step) - camera.backward;
        ground.hit(&camera.eye, &ray, &(camera.right * pixel), &(camera.up * -pixel))
    }

    /// The linear colour of what is nearest at a point.
    fn colour(&self, nearest: &Nearest, at: (f64, f64)) -> [f32; 3] {
        if let (Seen::Plane(k), Some(hit)) = (nearest.what, &nearest.hit) {
            let ground = &self.grounds[k as usize];
            let (place, normal) = (ground.place(hit, &self.centre), ground.normal());
            let lit = self.light.lamp_and_sky(&place, &normal) / self.light.open(&normal).max(1e-3);
            let (shade, opacity) = ground.shade(hit, &self.camera.eye, lit);
            return mixed(COLOUR, shade, opacity);
        }
        match nearest.triangle {
            NONE => COLOUR,
            index => self.lit(&self.surface.triangles[index as usize], at),
        }
    }

    /// The linear colour of a triangle at a point.
    fn lit(&self, triangle: &Triangle, (x, y): (f64, f64)) -> [f32; 3] {
        let shares = perspective_shares(triangle, x, y).map(|share| share.clamp(0.0, 1.0));
        let sum = (shares[0] + shares[1] + shares[2]).max(f32::MIN_POSITIVE);
        let corners = triangle.corners.map(|c| &self.surface.corners[c as usize]);
        let mut place = Vector3::zeros();
        let mut normal = Vector3::zeros();
        for (corner, share) in corners.iter().zip(shares) {
            place += corner.place * (share / sum);
            normal += corner.normal * share;
        }
        let mut normal = normal.try_normalize(0.0).unwrap_or_else(Vector3::z);
        let eye = (self.camera.eye - self.centre).cast::<f32>();
        // Rows count downwards, so clockwise triangles face away.
        if triangle.edges.clockwise && normal.dot(&(eye - place)) < 0.0 {
            normal = -normal;
        }
        let light = self.light.lamp_and_sky(&place, &normal) * ALBEDO;
        let [r, g, b, _] = self.surface.colours[triangle.colour as usize];
        [r * light, g * light, b * light]
    }

    /// Blends transparent triangles over the pixels whose nearest surface is behind them.
    fn blend(&self, clear: &[u32], nearest: &[u32], light: &mut [[f32; 3]]) {
        let ImageSize { width, samples, .. } = self.size;
        let share = 1.0 / (samples * samples) as f32;
        for &index in clear {
            let triangle = &self.surface.triangles[index as usize];
            let opacity = self.surface.colours[triangle.colour as usize][3];
            let [first, per_column, per_row] = triangle.edges.linear(triangle.inverse);
            triangle.edges.scan(self.whole(), |x, y| {
                let sample = y as usize * width * samples + x as usize;
                let at = (x as f64, y as f64);
                let inverse = first + per_column * at.0 + per_row * at.1;
                if inverse > self.at(nearest[sample], at).inverse {
                    let pixel = &mut light[y as usize / samples * width + x as usize / samples];
                    *pixel = mixed(*pixel, self.lit(triangle, at), opacity * share);
                }
            });
        }
    }
}
