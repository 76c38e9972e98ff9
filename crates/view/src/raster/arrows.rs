//! Contact forces as arrows: the normal component and friction.

use nalgebra::Vector3;
use stiction_sim::record::Recording;

use super::surface::{Corner, Surface};
use crate::bounds::Bounds;
use crate::draw_list::linear;

/// Corners around an arrow.
const AROUND: u32 = 14;
/// Radius of shaft and head, and length of the head, in units of the width.
const SHAFT: f32 = 0.6;
const HEAD: f32 = 1.7;
const TIP: f32 = 4.5;
/// Width, and length of the usual and of the longest arrow, in units of the scene's radius.
const WIDTH: f64 = 0.0065;
const USUAL: f64 = 0.22;
const LONGEST: f64 = 0.4;
/// The usual force is this quantile of all forces.
const MOST: f64 = 0.9;
/// Arrows shorter than this many widths are left out.
const SHORTEST: f64 = 0.25;
const NORMAL: [u8; 3] = [0x1f, 0x6f, 0xd6];
const FRICTION: [u8; 3] = [0xe4, 0x57, 0x2e];

/// The usual contact force [N] of a recording, a high quantile.
pub fn usual_force(recording: &Recording) -> f64 {
    let force = recording.frames.contacts.force.iter().map(|f| Vector3::from(*f).norm());
    let mut forces: Vec<f64> = force.filter(|f| *f > 0.0).collect();
    if forces.is_empty() {
        return 1.0;
    }
    let at = (MOST * (forces.len() - 1) as f64) as usize;
    *forces.select_nth_unstable_by(at, f64::total_cmp).1
}

/// The arrows of a frame. `usual` is the force of an arrow of usual length [N].
pub fn of_frame(recording: &Recording, frame: usize, bounds: &Bounds, usual: f64) -> Surface {
    let mut surface = Surface::default();
    let (contacts, radius) = (&recording.frames.contacts, bounds.radius());
    let per_newton = USUAL * radius / usual;
    for k in contacts.of(frame) {
        let [point, normal, force] =
            [contacts.point[k], contacts.normal[k], contacts.force[k]].map(Vector3::from);
        let along = normal * force.dot(&normal);
        for (part, colour) in [(along, NORMAL), (force - along, FRICTION)] {
            let arrow = part * per_newton;
            let length = arrow.norm();
            if length > SHORTEST * WIDTH * radius {
                let arrow = arrow * (LONGEST * radius / length).min(1.0);
                let at = (point - bounds.centre()).cast();
                add(&mut surface, at, arrow.cast(), (WIDTH * radius) as f32, colour);
            }
        }
    }
    surface
}

fn add(surface: &mut Surface, at: Vector3<f32>, along: Vector3<f32>, width: f32, colour: [u8; 3]) {
    let length = along.norm();
    let z = along / length;
    let side = if z.z.abs() < 0.9 { Vector3::z() } else { Vector3::y() };
    let x = side.cross(&z).normalize();
    let y = z.cross(&x);
    let head = (TIP * width).min(length);
    let width = width * (length / (TIP * width)).min(1.0);
    // Rings of radius, height and rise of the normal; between pairs of them, a band.
    let rings = [
        (SHAFT * width, 0.0, 0.0),
        (SHAFT * width, length - head, 0.0),
        (SHAFT * width, length - head, -1.0),
        (HEAD * width, length - head, -1.0),
        (HEAD * width, length - head, 0.35),
        (0.0, length, 0.35_f32),
    ];
    let corner = |k: u32, (radius, height, rise): (f32, f32, f32)| {
        let (sin, cos) = (std::f32::consts::TAU * k as f32 / AROUND as f32).sin_cos();
        let out = x * cos + y * sin;
        let normal = out * (1.0 - rise * rise).sqrt() + z * rise;
        Corner { place: at + out * radius + z * height, normal }
    };
    let corners = rings.into_iter().flat_map(|ring| (0..AROUND).map(move |k| corner(k, ring)));
    let mut triangles = Vec::new();
    for band in [0, 2, 4] {
        let (low, high) = (band * AROUND, (band + 1) * AROUND);
        for k in 0..AROUND {
            let next = (k + 1) % AROUND;
            triangles.push([low + k, low + next, high + next]);
            triangles.push([low + k, high + next, high + k]);
        }
    }
    let [r, g, b] = colour.map(|c| linear(f32::from(c) / 255.0));
    surface.add(corners, &triangles, [r, g, b, 1.0]);
}
