//! Light: an area lamp and a sky, each a set of directions with a shadow map of its own.
//!
//! A point that stands for a whole pixel evaluates all directions. In a pixel with several surfaces each
//! sample evaluates some of the directions, and their mean is the light from all of them, so that shadows
//! have soft edges and corners are dark without noise. A map stores the distance of the nearest surface
//! along its direction, and the range of these distances in squares of texels: most of a plane is known
//! to be lit or in shadow without a lookup per point (see [`LightPatch`]).

use nalgebra::{Rotation3, Vector3};
use rayon::prelude::*;

use super::scan::{Edges, Region, snapped};
use super::surface::Corner;
use crate::bounds::Bounds;

/// Direction to the lamp for a camera that looks along −x, and the spread of its directions.
const LAMP: [f64; 3] = [0.168, -0.797, 1.05];
const SPREAD: f64 = 0.075;
/// Intensity of the lamp, of the sky, and of the light reflected by the ground.
const KEY: f32 = 1.25;
const SKY: f32 = 0.95;
const BOUNCE: f32 = 0.42;
/// Least height of the sky's directions; lower ones graze the ground and are left out.
const HORIZON: f64 = 0.03;
/// A map covers the bounds enlarged by this factor.
const COVER: f64 = 1.35;
/// Depth bias against self-shadowing [texels].
const OFFSET: f32 = 1.2;
const BIAS: f32 = 1.2;

/// Texels along a side of the squares whose range of distances is kept.
const SQUARE: usize = 16;

/// Triangles that cast shadows.
#[derive(Clone, Copy, Debug)]
pub struct ShadowCasters<'a> {
    /// Corners in the world, relative to the middle of the bounds [m].
    pub corners: &'a [Corner],
    /// Three corners each, and the colour.
    pub faces: &'a [([u32; 3], u32)],
}

/// One direction of light.
struct LightDirection {
    direction: Vector3<f32>,
    x: Vector3<f32>,
    y: Vector3<f32>,
    /// Intensity on a surface that faces it.
    weight: f32,
    size: usize,
    /// Texels per metre.
    scale: f32,
    /// Largest distance along the direction, per texel.
    depth: Vec<f32>,
    /// Least and largest distance in each square of texels, and squares per row.
    ranges: Vec<[f32; 2]>,
    squares: usize,
    /// Range of texels with content: first column and row, and the last.
    range: [f32; 4],
}

/// All light of a picture.
pub struct Light {
    keys: Vec<LightDirection>,
    skies: Vec<LightDirection>,
    /// Samples per pixel.
    samples: usize,
    /// Direction to the middle of the lamp.
    pub toward: Vector3<f32>,
}

/// Number of directions and resolution of their maps.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LightQuality {
    /// Directions of the lamp.
    pub keys: usize,
    /// Directions of the sky.
    pub skies: usize,
    /// Texels along a side of the lamp's maps.
    pub key_size: usize,
    /// Texels along a side of the sky's maps.
    pub sky_size: usize,
}

/// Low-discrepancy points in the unit square [Roberts18].
fn evenly(k: f64) -> [f64; 2] {
    [(0.5 + k * 0.754_877_666_246_692_7).fract(), (0.5 + k * 0.569_840_290_998_053_2).fract()]
}

impl Light {
    /// Light on a scene for a number of samples per pixel. The lamp turns with the camera's `yaw` [rad].
    pub fn new(
        bounds: &Bounds,
        fineness: &LightQuality,
        yaw: f64,
        samples: usize,
        casters: ShadowCasters,
    ) -> Self {
        let radius = (COVER * bounds.radius()) as f32;
        let turn = Rotation3::from_axis_angle(&Vector3::z_axis(), yaw);
        let toward = turn * Vector3::from(LAMP).normalize();
        let across = toward.cross(&Vector3::z()).normalize();
        let along = toward.cross(&across);
        // Every sample gets the same number of directions.
        let whole = |count: usize| count.max(1).next_multiple_of(samples);
        let (keys, skies) = (whole(fineness.keys), whole(fineness.skies));
        let key = |k: usize| {
            let [c, d] = evenly(k as f64 + 0.5);
            let (sin, cos) = (std::f64::consts::TAU * d).sin_cos();
            let r = if keys == 1 { 0.0 } else { SPREAD * c.sqrt() };
            (toward + (across * cos + along * sin) * r).normalize()
        };
        let sky = |k: usize| {
            let [a, b] = evenly(k as f64);
            // Importance sampling: more directions from above, with smaller weights.
            let z = a.powf(2.0 / 3.0).max(HORIZON);
            let (sin, cos) = (std::f64::consts::TAU * b).sin_cos();
            let ring = (1.0 - z * z).sqrt();
            (Vector3::new(ring * cos, ring * sin, z), 1.0 / z.sqrt())
        };
        // Normalised: an unshadowed surface that faces up gets all of the sky.
        let total: f64 = (0..skies).map(sky).map(|(d, weight)| d.z * weight).sum();
        let share = skies as f64 / total.max(f64::MIN_POSITIVE);
        let lamps = (0..keys).map(|k| (key(k), f64::from(KEY), fineness.key_size));
        let domes = (0..skies).map(|k| {
            let (direction, weight) = sky(k);
            (direction, f64::from(SKY) * weight * share, fineness.sky_size)
        });
        let all: Vec<_> = lamps.chain(domes).collect();
        let make = |(direction, weight, size): (Vector3<f64>, f64, usize)| {
            LightDirection::new(direction.cast(), weight as f32, size, radius, casters)
        };
        let mut all: Vec<LightDirection> = all.into_par_iter().map(make).collect();
        let skies = all.split_off(keys);
        Self { keys: all, skies, samples, toward: toward.cast() }
    }

    /// Light of one direction with a shadow, and of a sky that nothing hides. The lamp stands at a `yaw` [rad].
    pub fn lamp(bounds: &Bounds, size: usize, yaw: f64, casters: ShadowCasters) -> Self {
        let radius = (COVER * bounds.radius()) as f32;
        let turn = Rotation3::from_axis_angle(&Vector3::z_axis(), yaw);
        let toward = (turn * Vector3::from(LAMP).normalize()).cast();
        let key = LightDirection::new(toward, KEY, size, radius, casters);
        Self { keys: vec![key], skies: Vec::new(), samples: 1, toward }
    }

    /// Light at a point with a normal from the lamps and from all of the sky.
    pub fn lamp_and_sky(&self, place: &Vector3<f32>, normal: &Vector3<f32>) -> f32 {
        let key = mean(self.keys.iter(), self.keys.len(), place, normal);
        key + SKY * (0.5 + 0.5 * normal.z) + BOUNCE * (0.5 - 0.5 * normal.z)
    }

    /// Light at a point with a normal from one sample's directions; also the part directly from the
    /// lamp.
    pub fn at(&self, place: &Vector3<f32>, normal: &Vector3<f32>, sample: usize) -> (f32, f32) {
        let own = |lamps: &[LightDirection]| {
            let turns = lamps.iter().skip(sample).step_by(self.samples);
            mean(turns, lamps.len() / self.samples, place, normal)
        };
        self.with_bounce(own(&self.keys), own(&self.skies), normal)
    }

    /// Light at a point with a normal from all directions; also the part directly from the lamp.
    pub fn all(&self, place: &Vector3<f32>, normal: &Vector3<f32>) -> (f32, f32) {
        let whole = |lamps: &[LightDirection]| mean(lamps.iter(), lamps.len(), place, normal);
        self.with_bounce(whole(&self.keys), whole(&self.skies), normal)
    }

    fn with_bounce(&self, key: f32, sky: f32, normal: &Vector3<f32>) -> (f32, f32) {
        (key + sky + BOUNCE * (0.5 - 0.5 * normal.z), key)
    }

    /// Light on a flat patch with these corners, as far as it is constant over the patch.
    pub fn patch(&self, corners: &[Vector3<f32>; 4], normal: &Vector3<f32>) -> LightPatch<'_> {
        let known = self.with_bounce(0.0, 0.0, normal).0;
        let mut patch = LightPatch { known, unknown: Vec::new(), is_lit: true };
        for lamps in [&self.keys, &self.skies] {
            let Some(first) = lamps.first() else { continue };
            let above = normal * (OFFSET / first.scale);
            let places = corners.map(|corner| corner + above);
            let share = 1.0 / lamps.len() as f32;
            for lamp in lamps {
                match lamp.over(&places, normal) {
                    Some(light) => {
                        patch.known += light * share;
                        patch.is_lit &= light > 0.0 || lamp.direction.dot(normal) <= 0.0;
                    }
                    None => {
                        patch.unknown.push((lamp, share, above));
                        patch.is_lit = false;
                    }
                }
            }
        }
        patch
    }

    /// Light at a point without shadow.
    pub fn open(&self, normal: &Vector3<f32>) -> f32 {
        let key = KEY * normal.dot(&self.toward).max(0.0);
        key + SKY * (0.5 + 0.5 * normal.z) + BOUNCE * (0.5 - 0.5 * normal.z)
    }
}

/// Mean light of some directions.
fn mean<'a>(
    lamps: impl Iterator<Item = &'a LightDirection>,
    count: usize,
    place: &Vector3<f32>,
    normal: &Vector3<f32>,
) -> f32 {
    let mut lamps = lamps.peekable();
    let Some(first) = lamps.peek() else { return 0.0 };
    let place = place + normal * (OFFSET / first.scale);
    lamps.map(|lamp| lamp.on(&place, normal)).sum::<f32>() / count as f32
}

/// Light on a flat patch: the sum over the directions that are constant on it, and the directions that
/// must be evaluated per point, with their weights and the offset above the surface.
pub struct LightPatch<'a> {
    known: f32,
    unknown: Vec<(&'a LightDirection, f32, Vector3<f32>)>,
    /// Whether the whole patch is free of shadows.
    pub is_lit: bool,
}

impl LightPatch<'_> {
    /// Light at a point of the patch.
    pub fn at(&self, place: &Vector3<f32>, normal: &Vector3<f32>) -> f32 {
        let on = |(lamp, share, above): &(&LightDirection, f32, Vector3<f32>)| {
            share * lamp.on(&(place + above), normal)
        };
        self.known + self.unknown.iter().map(on).sum::<f32>()
    }
}

impl LightDirection {
    fn new(
        direction: Vector3<f32>,
        weight: f32,
        size: usize,
        radius: f32,
        casters: ShadowCasters,
    ) -> Self {
        let x = Vector3::new(-direction.y, direction.x, 0.0)
            .try_normalize(1e-6)
            .unwrap_or_else(Vector3::x);
        let y = direction.cross(&x);
        let scale = size as f32 / (2.0 * radius);
        let depth = vec![f32::NEG_INFINITY; size * size];
        let range = [f32::INFINITY, f32::INFINITY, f32::NEG_INFINITY, f32::NEG_INFINITY];
        let squares = size.div_ceil(SQUARE);
        let ranges = vec![[f32::INFINITY, f32::NEG_INFINITY]; squares * squares];
        let mut lamp = Self { direction, x, y, weight, size, scale, depth, ranges, squares, range };
        let places: Vec<_> = casters.corners.iter().map(|c| lamp.place(&c.place)).collect();
        for (corners, _) in casters.faces {
            lamp.cast(corners.map(|corner| places[corner as usize]));
        }
        // Bilinear lookup needs the texel before and the one after a point.
        let [left, top, right, bottom] = lamp.range;
        let last = (size - 1) as f32;
        lamp.range = [
            (left - 2.0).max(0.0),
            (top - 2.0).max(0.0),
            (right + 2.0).min(last),
            (bottom + 2.0).min(last),
        ];
        let row = |place: f32| (place.max(0.0) as usize).min(size);
        let (first, last) = (row(lamp.range[1]), row(lamp.range[3] + 2.0));
        let texels = lamp.depth.chunks(size).enumerate();
        for (row, texels) in texels.take(last).skip(first) {
            let ranges = &mut lamp.ranges[row / SQUARE * squares..][..squares];
            for (square, range) in texels.chunks(SQUARE).zip(ranges) {
                for &depth in square {
                    *range = [range[0].min(depth), range[1].max(depth)];
                }
            }
        }
        lamp
    }

    /// Coordinates in the map [texels] and distance along the direction [m].
    fn place(&self, p: &Vector3<f32>) -> [f32; 3] {
        let middle = 0.5 * self.size as f32;
        [
            middle + p.dot(&self.x) * self.scale,
            middle + p.dot(&self.y) * self.scale,
            p.dot(&self.direction),
        ]
    }

    fn cast(&mut self, places: [[f32; 3]; 3]) {
        let grid = places.map(|[u, v, _]| [snapped(f64::from(u)), snapped(f64::from(v))]);
        let Some(edges) = Edges::new(grid) else { return };
        for [u, v, _] in places {
            let [left, top, right, bottom] = self.range;
            self.range = [left.min(u), top.min(v), right.max(u), bottom.max(v)];
        }
        let size = self.size as i64;
        let within = Region { left: 0, top: 0, right: size, bottom: size };
        let [first, per_column, per_row] = edges.linear(places.map(|p| f64::from(p[2])));
        edges.scan(within, |x, y| {
            let depth = (first + per_column * x as f64 + per_row * y as f64) as f32;
            let texel = &mut self.depth[(y * size + x) as usize];
            *texel = texel.max(depth);
        });
    }

    /// Light from this direction on a flat patch with corners a little above it, if it is constant.
    fn over(&self, places: &[Vector3<f32>; 4], normal: &Vector3<f32>) -> Option<f32> {
        let facing = normal.dot(&self.direction);
        if facing <= 0.0 {
            return Some(0.0);
        }
        let seen = places.each_ref().map(|place| self.place(place));
        let of = |k: usize| seen.map(|place| place[k]);
        let least = |values: [f32; 4]| values.into_iter().fold(f32::INFINITY, f32::min);
        let largest = |values: [f32; 4]| values.into_iter().fold(f32::NEG_INFINITY, f32::max);
        let [from_left, from_top, right, bottom] = self.range;
        let [u_low, u_high, v_low, v_high] =
            [least(of(0)) - 0.5, largest(of(0)) - 0.5, least(of(1)) - 0.5, largest(of(1)) - 0.5];
        let lit = Some(self.weight * facing);
        if u_high < from_left || v_high < from_top || u_low >= right || v_low >= bottom {
            return lit;
        }
        // All texels that points of the patch may read.
        let squares = |low: f32, high: f32| {
            let last = self.size - 1;
            (low.max(0.0) as usize).min(last) / SQUARE
                ..=(high.max(0.0) as usize + 1).min(last) / SQUARE
        };
        let (mut low, mut high) = (f32::INFINITY, f32::NEG_INFINITY);
        for row in squares(v_low, v_high) {
            for column in squares(u_low, u_high) {
                let [least, largest] = self.ranges[row * self.squares + column];
                (low, high) = (low.min(least), high.max(largest));
            }
        }
        let bias = BIAS / self.scale;
        if high <= least(of(2)) + bias {
            return lit;
        }
        let inside = u_low >= from_left && v_low >= from_top && u_high < right && v_high < bottom;
        (inside && low > largest(of(2)) + bias).then_some(0.0)
    }

    /// Light from this direction on a surface, at a point a little above it.
    #[inline]
    fn on(&self, place: &Vector3<f32>, normal: &Vector3<f32>) -> f32 {
        let facing = normal.dot(&self.direction);
        if facing <= 0.0 {
            return 0.0;
        }
        let [u, v, depth] = self.place(place);
        self.weight * facing * self.visibility(u - 0.5, v - 0.5, depth + BIAS / self.scale)
    }

    /// Visible fraction of the light, interpolated between four texels; one outside the map.
    #[inline]
    fn visibility(&self, u: f32, v: f32, depth: f32) -> f32 {
        let [from_left, from_top, right, bottom] = self.range;
        if !(u >= from_left && v >= from_top && u < right && v < bottom) {
            return 1.0;
        }
        let (left, top) = (u as u32, v as u32);
        let first = top as usize * self.size + left as usize;
        let Some(upper) = self.depth.get(first..first + 2) else { return 1.0 };
        let Some(lower) = self.depth.get(first + self.size..first + self.size + 2) else {
            return 1.0;
        };
        let open = |texel: f32| if texel > depth { 0.0 } else { 1.0 };
        let [a, b, c, d] = [open(upper[0]), open(upper[1]), open(lower[0]), open(lower[1])];
        let (part_u, part_v) = (u - left as f32, v - top as f32);
        let (upper, lower) = (a + (b - a) * part_u, c + (d - c) * part_u);
        upper + (lower - upper) * part_v
    }
}
