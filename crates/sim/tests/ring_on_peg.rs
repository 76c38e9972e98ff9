//! A ring of triangles that falls over a peg lies around the peg at the end.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod common;

use common::{free, on_ground, start};
use nalgebra::{Isometry3, Translation3, UnitQuaternion};
use stiction_geom::Shape;
use stiction_geom::shape::generate;
use stiction_mech::BodyId;
use stiction_sim::{Geom, Surface};

#[test]
fn a_ring_dropped_over_a_peg_lies_around_it() {
    let (major, minor, peg_radius, peg_length) = (0.1, 0.02, 0.03, 0.4);
    for time_step in [0.002, 0.01] {
        let mut builder = on_ground(Surface::default().friction);
        let peg = Shape::cylinder(peg_radius, 0.5 * peg_length).unwrap();
        let upright = Isometry3::translation(0.0, 0.0, 0.5 * peg_length);
        builder.geom(Geom::new(BodyId::WORLD, peg).at(upright));
        let (vertices, triangles) = generate::torus(major, minor, 32, 16);
        let ring = Shape::mesh(&vertices, &triangles).unwrap();
        // Tilted, its hole over the peg but not centred.
        let tilt = UnitQuaternion::from_euler_angles(10f64.to_radians(), 5f64.to_radians(), 0.0);
        let pose = Isometry3::from_parts(Translation3::new(0.02, 0.01, 0.45), tilt);
        free(&mut builder, ring, 0.2, pose, Surface::default());
        let mut simulation = start(builder, time_step);
        let mut deepest: f64 = 0.0;
        for _ in 0..(3.0 / time_step) as usize {
            deepest = deepest.max(simulation.step().unwrap().penetration);
        }
        let q = &simulation.state().q;
        // The hole has room for the peg within this distance of the axes; facets of the ring lie inside it.
        let room = major - minor - peg_radius;
        let offset = q[0].hypot(q[1]);
        assert!(offset <= room + 1e-3, "h = {time_step}: {offset} from the axis, {q:?}, {deepest}");
        // It lies on the ground: a ring that leans on the peg or on its top has its centre higher.
        assert!(q[2] < 1.5 * minor, "h = {time_step}: {q:?}, deepest {deepest}");
    }
}
