//! Detection does not allocate once its buffers have grown to the motion.
#![allow(clippy::unwrap_used, non_snake_case)]

mod common;

use common::{Random, collider, convex_shapes};
use nalgebra::{Isometry3, Vector3};
use stiction_geom::{Colliders, Detector, Shape};
use stiction_testkit::{CountingAllocator, allocations};

#[global_allocator]
static ALLOCATOR: CountingAllocator = CountingAllocator;

#[test]
fn a_motion_seen_before_is_detected_without_allocating() {
    let mut random = Random(40);
    let mut builder = Colliders::builder();
    builder.fixed(0);
    builder.add(collider(Shape::Plane, 0));
    let mut frames = vec![Isometry3::translation(0.0, 0.0, -2.0)];
    for _ in 0..8 {
        for shape in convex_shapes(&mut random) {
            builder.add(collider(shape, frames.len() as u32));
            frames.push(random.pose(2.0));
        }
        let points: Vec<_> = (0..300).map(|_| random.unit()).collect();
        builder.add(collider(Shape::convex(&points).unwrap(), frames.len() as u32));
        frames.push(random.pose(2.0));
    }
    let set = builder.build().unwrap();
    let (reach, awake) = (vec![0.01; frames.len()], vec![false; frames.len()]);
    // Some rest by turns, all move far enough to leave their boxes.
    let half_awake: Vec<bool> = (0..frames.len()).map(|k| k % 2 == 0).collect();
    let mut detector = Detector::new(&set);
    let mut cycle = |detector: &mut Detector| {
        let mut found = 0;
        for k in 0..20 {
            let shift = Vector3::new(0.0, 0.0, if k < 10 { 0.05 } else { -0.05 });
            let resting = if k % 2 == 0 { &awake } else { &half_awake };
            for (frame, rests) in frames.iter_mut().zip(resting).skip(1) {
                if !rests {
                    frame.translation.vector += shift * (1.0 + 0.5 * frame.rotation.i);
                }
            }
            found += detector.detect(&set, &frames, &reach, resting).len();
        }
        found
    };
    for _ in 0..3 {
        assert!(cycle(&mut detector) > 100);
    }
    let before = allocations();
    cycle(&mut detector);
    assert_eq!(allocations() - before, 0);
}
