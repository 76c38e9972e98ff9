//! A shaken square pyramid of spheres, each in the hollow of four below.
//!
//! The lattice is stretched by twice the jitter in each direction, so that no two spheres overlap;
//! spheres closer than a margin are in contact, with their gap in the bias. The pile is filled
//! from below, layer by layer, and may end inside of a layer. Densities spread by the mass ratio.

use std::collections::BTreeMap;
use std::f64::consts::PI;

use nalgebra::Vector3;

use super::Variation;
use super::assembly::{Assembly, EntryDefaults, Solid};
use crate::error::ProblemError;
use crate::problem::Problem;

const RADIUS: f64 = 0.05; // [m]
const DENSITY: f64 = 1000.0; // [kg/m³]
const JITTER: f64 = 1e-4; // largest displacement along an axis [m]
const MARGIN: f64 = 2e-3; // largest gap of a contact [m]
const SPEED: f64 = 0.3; // [m/s]
const SPIN: f64 = 6.0; // [rad/s]

/// Places of `count` spheres in a square pyramid, from below.
fn lattice(count: usize, spacing: f64) -> Vec<Vector3<f64>> {
    let mut base = 1;
    while (base * (base + 1) * (2 * base + 1)) / 6 < count {
        base += 1;
    }
    let rise = spacing / std::f64::consts::SQRT_2;
    let places = (0..base).flat_map(|layer| {
        let (side, shift) = (base - layer, 0.5 * spacing * layer as f64);
        let height = RADIUS + JITTER + rise * layer as f64;
        (0..side * side).map(move |k| {
            let (i, j) = ((k / side) as f64, (k % side) as f64);
            Vector3::new(shift + spacing * i, shift + spacing * j, height)
        })
    });
    places.take(count).collect()
}

pub(super) fn build(variation: &Variation) -> Result<Problem, ProblemError> {
    let defaults = EntryDefaults {
        time_step: 0.01,
        friction: 0.5,
        mass_ratio: 1.0,
        size: 29,
        largest_size: 20_000,
    };
    let mut assembly = Assembly::new("sphere-pile", variation, defaults)?;
    let reach = 2.0 * RADIUS + MARGIN;
    // Two jittered centres approach one another by at most 2 √3 times the jitter.
    let spacing = 2.0 * (RADIUS + 3f64.sqrt() * JITTER);
    let volume = 4.0 / 3.0 * PI * RADIUS.powi(3);
    let mut cells = BTreeMap::<[i64; 3], Vec<usize>>::new();
    let (mut centres, mut spheres) = (Vec::new(), Vec::new());
    for place in lattice(assembly.size, spacing) {
        let jitter = Vector3::from_fn(|_, _| assembly.random.uniform(-JITTER, JITTER));
        let centre = place + jitter;
        let mass = DENSITY * volume * assembly.mass_ratio.powf(assembly.random.unit());
        let (linear, angular) = (assembly.normal3() * SPEED, assembly.normal3() * SPIN);
        let solid = Solid::sphere(mass, RADIUS, centre);
        let sphere = assembly.rigid(&solid, linear, angular);
        let gap = centre.z - RADIUS;
        if gap < MARGIN {
            let point = centre - Vector3::z() * (RADIUS + 0.5 * gap);
            assembly.contact(None, &sphere, point, Vector3::z(), gap);
        }
        let cell: [i64; 3] = std::array::from_fn(|k| (centre[k] / reach).floor() as i64);
        for other in neighbours(&cells, cell) {
            let apart: Vector3<f64> = centre - centres[other];
            let gap = apart.norm() - 2.0 * RADIUS;
            if gap < MARGIN {
                let point = centres[other] + 0.5 * apart;
                let normal = apart.normalize();
                assembly.contact(Some(&spheres[other]), &sphere, point, normal, gap);
            }
        }
        cells.entry(cell).or_default().push(centres.len());
        centres.push(centre);
        spheres.push(sphere);
    }
    assembly.build()
}

/// Members of a cell and the 26 around it, in a fixed order.
fn neighbours(
    cells: &BTreeMap<[i64; 3], Vec<usize>>,
    [x, y, z]: [i64; 3],
) -> impl Iterator<Item = usize> {
    let around = (0..27).map(move |k| [x + k / 9 - 1, y + k / 3 % 3 - 1, z + k % 3 - 1]);
    around.filter_map(|cell| cells.get(&cell)).flatten().copied()
}
