//! Detection of soft contacts does not allocate once its buffers have grown to the motion.
#![allow(clippy::unwrap_used, clippy::panic, non_snake_case)]

mod common;
mod soft_common;

use common::{Random, convex_shapes};
use nalgebra::{Isometry3, Vector3};
use soft_common::Scene;
use stiction_geom::shape::generate;
use stiction_geom::{Shape, TetMesh};
use stiction_testkit::{CountingAllocator, allocations};

#[global_allocator]
static ALLOCATOR: CountingAllocator = CountingAllocator;

#[test]
fn a_motion_seen_before_is_detected_without_allocating() {
    let mut random = Random(40);
    let mut rigid = vec![(Shape::Plane, Isometry3::translation(0.0, 0.0, -0.8))];
    for shape in convex_shapes(&mut random) {
        rigid.push((shape, random.pose(0.6)));
    }
    let (vertices, triangles) = generate::icosphere(0.4, 2);
    rigid.push((Shape::mesh(&vertices, &triangles).unwrap(), random.pose(0.6)));
    let heights = (0..64).map(|k| 0.1 * (k as f64).sin()).collect();
    rigid.push((Shape::height_field(8, 8, heights, (2.0, 2.0)).unwrap(), random.pose(0.3)));
    let mat = TetMesh::mat(Vector3::new(1.0, 1.0, 0.05), [8, 8], 1).unwrap();
    let ball = TetMesh::sphere(0.3, 4).unwrap();
    let mut scene = Scene::new(rigid, &[(&mat, true), (&ball, true)]);
    let reach = vec![0.02; scene.nodes.len()];
    let cycle = |scene: &mut Scene| {
        let mut found = 0;
        for k in 0..20 {
            let way = Vector3::new(0.0, 0.01, if k < 10 { 0.03 } else { -0.03 });
            scene.shift(0, if k < 10 { way } else { way - 2.0 * Vector3::y() * 0.01 });
            let Scene { colliders, surfaces, frames, nodes, detector } = scene;
            found += detector.detect(colliders, surfaces, frames, nodes, &[], &reach).len();
        }
        found
    };
    for _ in 0..2 {
        assert!(cycle(&mut scene) > 100);
    }
    let before = allocations();
    cycle(&mut scene);
    assert_eq!(allocations() - before, 0);
}
