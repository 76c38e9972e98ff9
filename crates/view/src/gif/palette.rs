//! The palette of an animation.
//!
//! Boxes of colours are cut in two, the one with the largest error first, across its longest spread
//! at its mean, until there are enough; their means are the palette (after the median cut of
//! [Heckbert82]). Steps between neighbouring colours are dithered by a fixed, fine
//! pattern.

use crate::raster::Picture;

/// Colours of a palette.
pub const COLOURS: usize = 255;
/// Bits per channel of the colour histogram.
const BITS: u32 = 6;
/// Amplitude of the dither pattern [steps of a byte].
const PATTERN: i32 = 6;
/// Thresholds of the ordered dither, from 0 to 15.
const ORDER: [[i32; 4]; 4] = [[0, 8, 2, 10], [12, 4, 14, 6], [3, 11, 1, 9], [15, 7, 13, 5]];

/// A palette, and for every histogram bin the nearest colour of it.
pub struct Palette {
    colours: Vec<[u8; 3]>,
    nearest: Vec<u8>,
}

/// A colour and its count.
#[derive(Clone, Copy)]
struct Weighted {
    colour: [f64; 3],
    count: f64,
}

fn bin(colour: [u8; 3]) -> usize {
    colour.iter().fold(0, |index, &c| index << BITS | usize::from(c) >> (8 - BITS))
}

impl Palette {
    /// The palette of some pictures.
    pub fn of(pictures: &[Picture]) -> Self {
        let mut counts = vec![0_u32; 1 << (3 * BITS)];
        for pixel in pictures.iter().flat_map(|picture| picture.rgb.as_chunks::<3>().0) {
            counts[bin(*pixel)] += 1;
        }
        // Rare colours are more visible than their count suggests.
        let found: Vec<Weighted> = (0..counts.len())
            .filter(|&k| counts[k] > 0)
            .map(|k| Weighted {
                colour: middle(k).map(f64::from),
                count: f64::from(counts[k]).sqrt(),
            })
            .collect();
        let colours = cut(found);
        let nearest = (0..counts.len()).map(|k| nearest(&colours, middle(k))).collect();
        Self { colours, nearest }
    }

    /// The colours.
    pub fn colours(&self) -> &[[u8; 3]] {
        &self.colours
    }

    /// A picture in these colours.
    pub fn indices(&self, picture: &Picture) -> Vec<u8> {
        let pixels = picture.rgb.as_chunks::<3>().0.iter().enumerate();
        let index = |(k, pixel): (usize, &[u8; 3])| {
            let (x, y) = (k % picture.width, k / picture.width);
            let shift = (ORDER[y % 4][x % 4] * 2 - 15) * PATTERN / 32;
            self.nearest[bin(pixel.map(|c| (i32::from(c) + shift).clamp(0, 255) as u8))]
        };
        pixels.map(index).collect()
    }
}

/// The colour in the middle of a bin.
fn middle(bin: usize) -> [u8; 3] {
    let channel = |k: u32| (bin >> (k * BITS) & ((1 << BITS) - 1)) << (8 - BITS) | 1 << (7 - BITS);
    [channel(2) as u8, channel(1) as u8, channel(0) as u8]
}

fn nearest(colours: &[[u8; 3]], wanted: [u8; 3]) -> u8 {
    let away = |colour: &[u8; 3]| -> i32 {
        (0..3).map(|k| (i32::from(colour[k]) - i32::from(wanted[k])).pow(2)).sum()
    };
    let best = (0..colours.len()).min_by_key(|&k| away(&colours[k]));
    best.unwrap_or(0) as u8
}

/// Sum of counts, mean, and the axis of the largest squared error with that error.
fn spread(colours: &[Weighted]) -> ([f64; 3], usize, f64) {
    let total: f64 = colours.iter().map(|c| c.count).sum();
    let mean: [f64; 3] =
        std::array::from_fn(|k| colours.iter().map(|c| c.count * c.colour[k]).sum::<f64>() / total);
    let error = |k: usize| -> f64 {
        colours.iter().map(|c| c.count * (c.colour[k] - mean[k]).powi(2)).sum()
    };
    let errors = [error(0), error(1), error(2)];
    let axis = (0..3).fold(0, |best, k| if errors[k] > errors[best] { k } else { best });
    (mean, axis, errors[axis])
}

fn cut(colours: Vec<Weighted>) -> Vec<[u8; 3]> {
    if colours.is_empty() {
        return vec![[0; 3]];
    }
    let mut boxes = vec![(spread(&colours), colours)];
    while boxes.len() < COLOURS {
        let error = |k: usize| boxes[k].0.2;
        let worst =
            (0..boxes.len()).fold(0, |best, k| if error(k) > error(best) { k } else { best });
        let ((mean, axis, error), colours) = boxes.swap_remove(worst);
        let (low, high): (Vec<_>, Vec<_>) =
            colours.iter().partition(|c| c.colour[axis] < mean[axis]);
        if error <= 0.0 || low.is_empty() || high.is_empty() {
            boxes.push(((mean, axis, 0.0), colours));
            break;
        }
        boxes.extend([low, high].map(|part| (spread(&part), part)));
    }
    boxes.iter().map(|((mean, ..), _)| mean.map(|c| c.round() as u8)).collect()
}
