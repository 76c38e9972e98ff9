//! One square tile of the picture: depth test and shading of its samples.
//!
//! First the nearest opaque triangle of each sample is found. A pixel with one smooth surface, or with
//! planes alone, is shaded once, in its middle; a pixel with several surfaces is shaded per sample. Then
//! transparent triangles are blended from far to near, and arrows over everything. A pixel is the mean of
//! its samples in linear colours.

use std::cell::OnceCell;

use nalgebra::Vector3;

use super::camera::Camera;
use super::ground::{COLOUR, Ground, Hit};
use super::light::{Light, LightPatch};
use super::scan::Region;
use super::surface::{Surface, Triangle};

/// Pixels along a side of a tile.
pub const SIDE: usize = 32;
/// Pixels along a side of the blocks that evaluate planes together.
const BLOCK: usize = 8;
/// A surface is smooth within a pixel if its normals and inverse depths differ by less: the least
/// cosine, and relative.
const SMOOTH: f32 = 0.97;
const CLOSE: f64 = 0.01;
/// Distance between a surface and a plane [px] below which they may intersect within a pixel.
const MEETING: f64 = 2.0;
/// Largest number of blended planes.
const STACKED: usize = 8;
/// No triangle.
const NOTHING: u32 = u32::MAX;
/// Reflectance of a white surface.
pub(crate) const ALBEDO: f32 = 0.57;
const GLOSS: f32 = 0.16;
const RIM: f32 = 0.05;
/// Light on arrows: the least, and what facing the eye adds.
const ARROW: [f32; 2] = [0.62, 0.38];

/// Inputs of shading.
pub struct ShadingContext<'a> {
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
    /// Colours of all pixels without bodies and shadows, row by row, if they are known.
    pub bare: Option<&'a [[f32; 3]]>,
}

/// Indices of the triangles that may be visible in a tile.
#[derive(Clone, Debug, Default)]
pub struct TileTriangles {
    /// Opaque ones.
    pub opaque: Vec<u32>,
    /// Transparent ones.
    pub transparent: Vec<u32>,
    /// Those of arrows.
    pub arrows: Vec<u32>,
}

impl ShadingContext<'_> {
    /// Linear colours of the pixels of a tile, row by row.
    pub fn shade(&self, column: usize, row: usize, bin: &TileTriangles) -> Vec<[f32; 3]> {
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
        let block = (BLOCK * self.samples) as i64;
        for top in (region.top..region.bottom).step_by(block as usize) {
            for left in (region.left..region.right).step_by(block as usize) {
                let (right, bottom) =
                    ((left + block).min(region.right), (top + block).min(region.bottom));
                self.block(Region { left, top, right, bottom }, &depths, &mut colours);
            }
        }
        self.blend_transparent(&depths, bin, &mut colours);
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

    /// Shades the samples of a block of pixels.
    fn block(&self, region: Region, depths: &Depths, colours: &mut [[f32; 3]]) {
        let planes = OnceCell::new();
        let planes = || planes.get_or_init(|| self.planes(region));
        let n = self.samples as i64;
        let row_length = self.size[0] / self.samples;
        for top in (region.top..region.bottom).step_by(self.samples) {
            for left in (region.left..region.right).step_by(self.samples) {
                let (x, y) =
                    (left as f64 + 0.5 * (n - 1) as f64, top as f64 + 0.5 * (n - 1) as f64);
                let whole = match self.content(left, top, depths) {
                    PixelContent::Nothing if planes().in_order => match self.bare {
                        Some(bare) if planes().lit => {
                            Some(bare[(top / n) as usize * row_length + (left / n) as usize])
                        }
                        _ => Some(self.behind_planes(
                            COLOUR,
                            0.0,
                            (x, y),
                            LightSampling::Pixel(planes()),
                        )),
                    },
                    PixelContent::Smooth(index) => self.smooth(index, (x, y), &planes),
                    _ => None,
                };
                for row in top..top + n {
                    for column in left..left + n {
                        let at = depths.index(column, row);
                        colours[at] = whole.unwrap_or_else(|| {
                            self.sample(column, row, depths.nearest[at], depths.inverse[at])
                        });
                    }
                }
            }
        }
    }

    /// Content of a pixel.
    fn content(&self, left: i64, top: i64, depths: &Depths) -> PixelContent {
        let n = self.samples as i64;
        let triangle = |x: i64, y: i64| depths.nearest[depths.index(x, y)];
        let first = triangle(left, top);
        let inverse = depths.inverse[depths.index(left, top)];
        let colour = |index: u32| self.bodies.triangles[index as usize].colour;
        let mut same = true;
        for y in top..top + n {
            for x in left..left + n {
                let other = triangle(x, y);
                if other == first {
                    continue;
                }
                same = false;
                let away = (depths.inverse[depths.index(x, y)] - inverse).abs();
                let smooth = [first, other].iter().all(|index| *index != NOTHING)
                    && colour(first) == colour(other)
                    && away < CLOSE * inverse;
                if !smooth {
                    return PixelContent::Mixed;
                }
            }
        }
        let (right, bottom) = (left + n - 1, top + n - 1);
        let normal = |x: i64, y: i64| {
            let triangle = &self.bodies.triangles[triangle(x, y) as usize];
            self.place(triangle, x as f64, y as f64).1
        };
        if first == NOTHING {
            return PixelContent::Nothing;
        }
        if !same {
            let one = normal(left, top);
            let corners = [(right, top), (left, bottom), (right, bottom)];
            if corners.iter().any(|&(x, y)| !(normal(x, y).dot(&one) > SMOOTH)) {
                return PixelContent::Mixed;
            }
        }
        PixelContent::Smooth(triangle(left + n / 2, top + n / 2))
    }

    /// The colour of a pixel that shows one smooth surface, unless a plane cuts it there.
    fn smooth<'a>(
        &self,
        index: u32,
        (x, y): (f64, f64),
        planes: &dyn Fn() -> &'a Planes<'a>,
    ) -> Option<[f32; 3]> {
        let triangle = &self.bodies.triangles[index as usize];
        let (place, _) = self.place(triangle, x, y);
        let place = place.cast::<f64>() + self.centre;
        let depth = (self.camera.eye - place).dot(&self.camera.backward);
        let near = MEETING * self.pixel() * depth;
        let mut hidden = false;
        for ground in self.grounds {
            let height = ground.height(&place);
            if !(height.abs() > near) {
                return None;
            }
            hidden |= (height < 0.0) != (ground.height(&self.camera.eye) < 0.0);
        }
        let (colour, _) = self.body(triangle, x, y, None);
        if !hidden {
            return Some(colour);
        }
        Some(self.behind_planes(colour, 1.0 / depth, (x, y), LightSampling::Pixel(planes())))
    }

    /// The planes of a block.
    fn planes(&self, region: Region) -> Planes<'_> {
        let (left, top) = (region.left as f64 - 0.5, region.top as f64 - 0.5);
        let (right, bottom) = (region.right as f64 - 0.5, region.bottom as f64 - 0.5);
        let corners = [(left, top), (right, top), (left, bottom), (right, bottom)];
        let hits: Vec<[Option<Hit>; 4]> = self
            .grounds
            .iter()
            .map(|ground| corners.map(|corner| self.hit(ground, corner)))
            .collect();
        let order = |corner: usize| {
            let mut order: Vec<(usize, f64)> = Vec::with_capacity(hits.len());
            let seen = hits.iter().enumerate();
            order.extend(seen.filter_map(|(k, hit)| Some((k, hit[corner]?.inverse))));
            order.sort_by(|a, b| a.1.total_cmp(&b.1));
            order
        };
        let first = order(0);
        let alike =
            |other: Vec<(usize, f64)>| first.iter().map(|a| a.0).eq(other.iter().map(|a| a.0));
        let in_order = (1..4).all(|corner| alike(order(corner)));
        let patch = |(ground, hits): (&Ground, &[Option<Hit>; 4])| {
            let [Some(a), Some(b), Some(c), Some(d)] = hits else { return None };
            let places = [a, b, c, d].map(|hit| ground.place(hit, &self.centre));
            Some(self.light.patch(&places, &ground.normal()))
        };
        let patches: Vec<_> = self.grounds.iter().zip(&hits).map(patch).collect();
        let is_lit = |(patch, hits): (&Option<LightPatch>, &[Option<Hit>; 4])| match patch {
            Some(patch) => patch.is_lit,
            None => hits.iter().all(Option::is_none),
        };
        let lit = patches.iter().zip(&hits).all(is_lit);
        Planes { in_order, lit, patches }
    }

    /// Width of a pixel at unit depth.
    fn pixel(&self) -> f64 {
        2.0 * self.samples as f64 / (self.size[1] as f64 * self.camera.focal)
    }

    /// Intersection of a plane with the ray through a point of the picture, in samples from the middle
    /// of the first one.
    fn hit(&self, ground: &Ground, (x, y): (f64, f64)) -> Option<Hit> {
        let camera = self.camera;
        let [width, height] = self.size.map(|n| n as f64);
        let pixel = self.pixel();
        let step = pixel / self.samples as f64;
        let (across, up) = (x + 0.5 - 0.5 * width, 0.5 * height - y - 0.5);
        let ray = camera.right * (across * step) + camera.up * (up * step) - camera.backward;
        ground.hit(&camera.eye, &ray, &(camera.right * pixel), &(camera.up * -pixel))
    }

    fn sample(&self, x: i64, y: i64, nearest: u32, inverse: f64) -> [f32; 3] {
        let (turn, at) = (self.turn(x, y), (x as f64, y as f64));
        let colour = match nearest {
            NOTHING => COLOUR,
            index => self.body(&self.bodies.triangles[index as usize], at.0, at.1, Some(turn)).0,
        };
        self.behind_planes(colour, inverse, at, LightSampling::Sample(turn))
    }

    /// Blends the planes between a surface and the camera over its colour, from far to near.
    fn behind_planes(
        &self,
        mut colour: [f32; 3],
        inverse: f64,
        at: (f64, f64),
        sampling: LightSampling,
    ) -> [f32; 3] {
        // From far to near; if there are too many, the farthest are left out.
        let (mut hits, mut count) = ([None::<(usize, Hit)>; STACKED], 0);
        for (k, ground) in self.grounds.iter().enumerate() {
            let Some(hit) = self.hit(ground, at).filter(|hit| hit.inverse > inverse) else {
                continue;
            };
            if count == STACKED {
                hits.rotate_left(1);
                count -= 1;
            }
            hits[count] = Some((k, hit));
            count += 1;
            let depth = |hit: &Option<(usize, Hit)>| hit.map_or(f64::INFINITY, |hit| hit.1.inverse);
            for place in (1..count).rev() {
                if depth(&hits[place - 1]) > depth(&hits[place]) {
                    hits.swap(place - 1, place);
                }
            }
        }
        for (k, hit) in hits.into_iter().flatten() {
            let ground = &self.grounds[k];
            let (place, normal) = (ground.place(&hit, &self.centre), ground.normal());
            let light = match sampling {
                LightSampling::Sample(turn) => self.light.at(&place, &normal, turn).0,
                LightSampling::Pixel(planes) => match &planes.patches[k] {
                    Some(patch) => patch.at(&place, &normal),
                    None => self.light.all(&place, &normal).0,
                },
            };
            let lit = light / self.light.open(&normal).max(1e-3);
            let (shade, opacity) = ground.shade(&hit, &self.camera.eye, lit);
            colour = mixed(colour, shade, opacity);
        }
        colour
    }

    /// Position and unit normal of a triangle at a point of the picture, in samples.
    fn place(&self, triangle: &Triangle, x: f64, y: f64) -> (Vector3<f32>, Vector3<f32>) {
        let shares = perspective_shares(triangle, x, y);
        let corners = triangle.corners.map(|c| &self.bodies.corners[c as usize]);
        let sum = |pick: fn(&super::surface::Corner) -> Vector3<f32>| {
            pick(corners[0]) * shares[0]
                + pick(corners[1]) * shares[1]
                + pick(corners[2]) * shares[2]
        };
        (sum(|corner| corner.place), sum(|corner| corner.normal).normalize())
    }

    /// Colour and opacity of a triangle at a point of the picture, lit by one sample's directions or by
    /// all.
    fn body(&self, triangle: &Triangle, x: f64, y: f64, turn: Option<usize>) -> ([f32; 3], f32) {
        let (place, mut normal) = self.place(triangle, x, y);
        let eye = (self.camera.eye - self.centre).cast::<f32>();
        let view = (eye - place).normalize();
        // Rows count downwards, so clockwise triangles face away.
        if triangle.edges.clockwise && normal.dot(&view) < 0.0 {
            normal = -normal;
        }
        let (light, key) = match turn {
            Some(turn) => self.light.at(&place, &normal, turn),
            None => self.light.all(&place, &normal),
        };
        let halfway = (view + self.light.toward).normalize();
        let gloss = if key > 0.0 { normal.dot(&halfway).max(0.0).powi(48) * GLOSS } else { 0.0 };
        let rim = (1.0 - normal.dot(&view).max(0.0)).powi(4) * RIM;
        let [r, g, b, opacity] = self.bodies.colours[triangle.colour as usize];
        ([r, g, b].map(|c| c * light * ALBEDO + gloss + rim), opacity)
    }

    fn arrow(&self, nearest: u32, x: i64, y: i64) -> [f32; 3] {
        let triangle = &self.arrows.triangles[nearest as usize];
        let shares = perspective_shares(triangle, x as f64, y as f64);
        let normals = triangle.corners.map(|c| self.arrows.corners[c as usize].normal);
        let normal = normals[0] * shares[0] + normals[1] * shares[1] + normals[2] * shares[2];
        let toward = self.camera.backward.cast::<f32>();
        let facing = normal.try_normalize(0.0).map_or(0.0, |n| n.dot(&toward).abs());
        let [r, g, b, _] = self.arrows.colours[triangle.colour as usize];
        [r, g, b].map(|c| c * (ARROW[0] + ARROW[1] * facing))
    }

    /// Blends transparent triangles over the surfaces behind them.
    fn blend_transparent(&self, depths: &Depths, bin: &TileTriangles, colours: &mut [[f32; 3]]) {
        let triangles = &self.bodies.triangles;
        let far = |index: u32| triangles[index as usize].inverse.iter().sum::<f64>();
        // Back faces are left out: a closed surface is blended once.
        let mut order: Vec<u32> = bin.transparent.clone();
        order.retain(|&index| !triangles[index as usize].edges.clockwise);
        order.sort_by(|&a, &b| far(a).total_cmp(&far(b)).then(a.cmp(&b)));
        for index in order {
            let triangle = &triangles[index as usize];
            let [first, per_column, per_row] = triangle.edges.linear(triangle.inverse);
            triangle.edges.scan(depths.region, |x, y| {
                let at = depths.index(x, y);
                let inverse = first + per_column * x as f64 + per_row * y as f64;
                if inverse > depths.inverse[at] {
                    let turn = self.turn(x, y);
                    let (shade, opacity) = self.body(triangle, x as f64, y as f64, Some(turn));
                    colours[at] = mixed(colours[at], shade, opacity);
                }
            });
        }
    }
}

/// Content of a pixel's samples.
enum PixelContent {
    /// No body.
    Nothing,
    /// One smooth surface: the triangle in the middle.
    Smooth(u32),
    /// Several things.
    Mixed,
}

/// The planes of a block of pixels.
struct Planes<'a> {
    /// Whether the same planes are visible on the whole block, in the same order.
    in_order: bool,
    /// Whether they are free of shadows.
    lit: bool,
    /// The light on each plane that is visible on the whole block.
    patches: Vec<Option<LightPatch<'a>>>,
}

/// Directions that light a point.
#[derive(Clone, Copy)]
enum LightSampling<'a> {
    /// Those of one sample, by its index.
    Sample(usize),
    /// All, for a point that stands for a pixel.
    Pixel(&'a Planes<'a>),
}

/// Perspective-correct barycentric coordinates of a sample: those on the picture weighted by inverse
/// depth.
pub(crate) fn perspective_shares(triangle: &Triangle, x: f64, y: f64) -> [f32; 3] {
    let on_picture = triangle.edges.shares(x, y);
    let near: [f64; 3] = std::array::from_fn(|k| on_picture[k] * triangle.inverse[k]);
    let sum = near[0] + near[1] + near[2];
    near.map(|share| (share / sum) as f32)
}

pub(crate) fn mixed(below: [f32; 3], above: [f32; 3], opacity: f32) -> [f32; 3] {
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
