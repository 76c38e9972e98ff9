//! Small fast bodies do not pass through thin walls.

use super::{campaign, fixed, random_hull, scenes, set_motion, weightless};
use nalgebra::{Isometry3, Vector3};
use stiction_geom::{Shape, shape::generate};
use stiction_math::random::SplitMix64;
use stiction_sim::Surface;

/// Thickness of the walls [m].
const WALL: f64 = 1e-3;

/// A wall across x with its middle at x = 0.
fn wall(random: &mut SplitMix64) -> (&'static str, Shape, Isometry3<f64>) {
    let half = Vector3::new(0.5 * WALL, 5.0, 5.0);
    let home = Isometry3::identity();
    let cuboid = Shape::cuboid(half).unwrap();
    match random.below(5) {
        0 => ("box", cuboid, home),
        1 => {
            let (vertices, triangles) = generate::cuboid(half);
            ("mesh", Shape::mesh(&vertices, &triangles).unwrap(), home)
        }
        2 => {
            let quarter = Shape::cuboid(Vector3::new(half.x, 2.5, 5.0)).unwrap();
            let part = |y: f64| (Isometry3::translation(0.0, y, 0.0), quarter.clone());
            ("compound", Shape::compound(vec![part(-2.5), part(2.5)]).unwrap(), home)
        }
        3 => {
            let (vertices, triangles) = generate::grid((10.0, 10.0), (7, 7));
            let up = nalgebra::UnitQuaternion::from_scaled_axis(
                Vector3::y() * std::f64::consts::FRAC_PI_2,
            );
            (
                "sheet",
                Shape::mesh(&vertices, &triangles).unwrap(),
                Isometry3::from_parts(Vector3::zeros().into(), up),
            )
        }
        _ => {
            // A half space that fills x ≥ 0.
            let back = nalgebra::UnitQuaternion::from_scaled_axis(
                -Vector3::y() * std::f64::consts::FRAC_PI_2,
            );
            ("plane", Shape::Plane, Isometry3::from_parts(Vector3::zeros().into(), back))
        }
    }
}

#[test]
fn bullets_do_not_pass_through_thin_walls() {
    campaign("bullets", 600, |_, random| {
        let shape = match random.below(4) {
            0 => Shape::sphere(2.5e-3).unwrap(),
            1 => Shape::cuboid((1.5e-3 * random.vector3()).map(|x| 2.5e-3 + x)).unwrap(),
            2 => Shape::capsule(2e-3, 4e-3).unwrap(),
            _ => random_hull(random, Vector3::new(4e-3, 3e-3, 2.5e-3)),
        };
        let (name, wall, pose) = wall(random);
        let h = if random.below(2) == 0 { 0.002 } else { 0.01 };
        let speed = random.log_uniform(1.0, 1000.0);
        let spin = if random.below(3) == 0 {
            Vector3::zeros()
        } else {
            random.log_uniform(1.0, 3000.0) * random.direction()
        };
        // Slow enough along the wall not to leave it within the run.
        let slide = (20.0 / speed).min(0.3) * random.vector3();
        let velocity = speed * Vector3::new(1.0, slide.y, slide.z);
        let com = shape.mass_properties(1.0).1;
        let from = -(shape.bounding_radius() + 0.6 * WALL) - speed * h * random.uniform(0.0, 3.0);
        let mut builder = weightless();
        fixed(&mut builder, wall, pose, 0.5);
        // Aimed at the middle of the wall.
        let aim = 0.1 * random.vector3();
        let start = Vector3::new(from, aim.y + from * slide.y, aim.z + from * slide.z);
        let X_WB = Isometry3::from_parts(start.into(), random.rotation());
        let surface = Surface { restitution: 0.5 * random.unit().round(), ..Surface::default() };
        scenes::free(&mut builder, shape.clone(), 1e-3, X_WB, surface);
        let mut simulation = scenes::start(builder, h);
        set_motion(&mut simulation, velocity, spin);
        let mut last = X_WB * nalgebra::Point3::from(com);
        for step in 0..8 {
            let _ = simulation.step().map_err(|error| error.to_string())?;
            let X_WB = simulation.body_pose(1);
            let now = X_WB * nalgebra::Point3::from(com);
            // The centre of mass of a body that is not in the wall is before it.
            if now.x < 0.0 {
                last = now;
                continue;
            }
            // Friction may send a body along the wall and past its end; a plane has none.
            let at = last + (now - last) * (last.x / (last.x - now.x));
            let beside = at.y.abs().max(at.z.abs()) > 5.0 + shape.bounding_radius();
            if beside && name != "plane" {
                return Ok(());
            }
            return Err(format!(
                "{} through {name}: x = {:.2e} m after step {step}, {speed:.1} m/s, spin {:.0}, {h} s",
                shape.name(),
                now.x,
                spin.norm()
            ));
        }
        Ok(())
    });
}
