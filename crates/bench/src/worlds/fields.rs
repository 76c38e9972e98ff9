//! Random worlds with solids given by signed distance fields in place of some of their shapes.
//!
//! What is exchanged is drawn apart from the world, so that all else in it is that of the same seed without fields.

use std::f64::consts::FRAC_PI_4;
use std::sync::Arc;

use nalgebra::{Isometry3, Vector3};
use stiction_geom::field::{GridSign, MOST_BYTES, Profile, SampledGrid};
use stiction_geom::shape::{Mesh, generate};
use stiction_geom::{FieldSolid, Shape, ShapeError};
use stiction_math::random::{SplitMix64, mix64};

use super::plan::{Ground, WorldPlan};

/// Part of the bodies and of the grounds that become fields [-].
const BODIES: f64 = 0.5;
const GROUNDS: f64 = 0.4;
/// Distinguishes the draw of the fields from that of the world.
const SALT: u64 = 0x0066_6965_6c64;

/// Exchanges shapes of the world of a seed and an index for fields that fit into the same bounding balls.
pub fn add_fields(plan: &mut WorldPlan, seed: u64, index: u64) {
    let mut random = SplitMix64::new(mix64(mix64(seed ^ SALT).wrapping_add(index)));
    if let Ground::Shapes(name, shapes) = &mut plan.ground
        && random.unit() < GROUNDS
        && let Ok((new_name, pose, shape)) = ground(&mut random)
    {
        (*name, *shapes) = (new_name, vec![(pose, shape)]);
    }
    for body in &mut plan.bodies {
        if random.unit() < BODIES
            && let Ok(shape) = solid(&mut random, body.shape.bounding_radius())
        {
            body.shape = shape;
        }
    }
}

fn ground(random: &mut SplitMix64) -> Result<(&'static str, Isometry3<f64>, Shape), ShapeError> {
    if random.below(2) == 0 {
        let half = Vector3::new(5.0, 5.0, 0.5);
        let slab = FieldSolid::Box { half, rounding: random.uniform(0.0, 0.2) };
        let pose = Isometry3::translation(0.0, 0.0, -0.5);
        return Ok(("slab as a field", pose, Shape::field(slab, None)?));
    }
    // Flat where bodies start, with a rim around.
    let thickness = random.uniform(0.05, 0.3);
    let line = [[0.0, 0.0], [2.5, 0.0], [3.0, random.uniform(0.1, 1.0)]];
    let dish = FieldSolid::Revolve(Arc::new(Profile::line(&line, thickness)?));
    let pose = Isometry3::translation(0.0, 0.0, -0.5 * thickness);
    Ok(("dish as a field", pose, Shape::field(dish, None)?))
}

/// A solid whose bounding radius is at most `most` [m].
fn solid(random: &mut SplitMix64, most: f64) -> Result<Shape, ShapeError> {
    let r = most / 3.0_f64.sqrt();
    let part = |random: &mut SplitMix64, size: f64| size * random.uniform(0.4, 1.0);
    let solid = match random.below(8) {
        0 => FieldSolid::Sphere(most),
        1 => {
            let half = Vector3::from_fn(|_, _| part(random, r));
            FieldSolid::Box { half, rounding: half.min() * random.uniform(0.0, 0.8) }
        }
        2 => {
            let (radius, half_length) = (part(random, r), part(random, r));
            let rounding = radius.min(half_length) * random.uniform(0.0, 0.8);
            FieldSolid::Cylinder { radius, half_length, rounding }
        }
        3 => {
            let minor = most * random.uniform(0.15, 0.35);
            FieldSolid::Torus { major: most - minor, minor }
        }
        4 => {
            let thickness = r * random.uniform(0.15, 0.4);
            let (flat, rim) = (r * random.uniform(0.2, 0.6), r * random.uniform(0.2, 0.7));
            let line = [[0.0, 0.0], [flat, 0.0], [0.9 * r, rim]];
            FieldSolid::Revolve(Arc::new(Profile::line(&line, thickness)?))
        }
        5 => {
            let ball = FieldSolid::Sphere(0.4 * most);
            let moved =
                FieldSolid::Placed(Isometry3::translation(0.0, 0.0, 0.5 * most), Box::new(ball));
            let half = Vector3::from_fn(|_, _| part(random, 0.8 * r));
            let parts = vec![FieldSolid::Box { half, rounding: 0.0 }, moved];
            FieldSolid::Union { parts, smooth: if random.below(2) == 0 { 0.0 } else { 0.1 * r } }
        }
        6 => {
            let half = Vector3::from_fn(|_, _| part(random, r));
            let hole = FieldSolid::Cylinder {
                radius: half.x.min(half.y) * random.uniform(0.3, 0.7),
                half_length: 2.0 * r,
                rounding: 0.0,
            };
            let from = Box::new(FieldSolid::Box { half, rounding: 0.0 });
            FieldSolid::Difference { from, without: Box::new(hole), smooth: 0.0 }
        }
        _ => {
            let minor = most * random.uniform(0.2, 0.35);
            let (vertices, triangles) = generate::torus(0.95 * most - minor, minor, 24, 12);
            let mesh = Mesh::build(&vertices, &triangles)?;
            let grid = SampledGrid::build(mesh, most / 16.0, GridSign::Closed, MOST_BYTES)?;
            FieldSolid::Grid(Arc::new(grid))
        }
    };
    let turned = random.rotation().slerp(&Default::default(), FRAC_PI_4);
    let pose = Isometry3::from_parts(Vector3::zeros().into(), turned);
    let solid =
        if random.below(4) == 0 { FieldSolid::Placed(pose, Box::new(solid)) } else { solid };
    Shape::field(solid, None)
}
