//! Separated pairs are skipped, and the contacts are the same as without skipping.
#![allow(non_snake_case, clippy::unwrap_used)]

mod common;

use common::{collider, convex_shapes, touches};
use nalgebra::{Isometry3, UnitQuaternion, Vector3};
use stiction_geom::{ColliderId, Colliders, Contact, Detector, Shape};
use stiction_math::random::SplitMix64;

/// Hulls of many vertices and other shapes above a plane, close to one another.
fn crowd(random: &mut SplitMix64, n: usize) -> (Colliders, Vec<Isometry3<f64>>) {
    let mut builder = Colliders::builder();
    builder.fixed(0);
    builder.add(collider(Shape::Plane, 0));
    let mut frames = vec![Isometry3::translation(0.0, 0.0, -2.5)];
    for k in 0..n {
        let shape = match k % 3 {
            0 => convex_shapes(random).swap_remove(k % 6),
            _ => {
                let size = Vector3::from_fn(|_, _| random.uniform(0.2, 0.8));
                let points: Vec<_> =
                    (0..200).map(|_| random.direction().component_mul(&size)).collect();
                Shape::convex(&points).unwrap()
            }
        };
        builder.add(collider(shape, k as u32 + 1));
        frames.push(random.pose(2.5));
    }
    (builder.build().unwrap(), frames)
}

/// A velocity [m] and a rotation vector [rad] per step for each frame, bounced off the walls of a room.
struct Motion(Vec<(Vector3<f64>, Vector3<f64>)>);

impl Motion {
    fn new(random: &mut SplitMix64, frames: usize, speed: f64) -> Self {
        Self(
            (0..frames)
                .map(|_| (speed * random.vector3(), 2.0 * speed * random.vector3()))
                .collect(),
        )
    }

    fn advance(&mut self, frames: &mut [Isometry3<f64>]) {
        for (frame, (shift, turn)) in frames.iter_mut().zip(&mut self.0).skip(1) {
            frame.translation.vector += *shift;
            frame.rotation = UnitQuaternion::from_scaled_axis(*turn) * frame.rotation;
            for axis in 0..3 {
                if frame.translation.vector[axis].abs() > 2.5 {
                    shift[axis] = -shift[axis];
                }
            }
        }
    }
}

/// Everything of the contacts but their names, by pair, from all pairs one by one.
fn without_memory(set: &Colliders, frames: &[Isometry3<f64>], reach: f64) -> Vec<[u64; 9]> {
    let mut found = Vec::new();
    for a in 0..set.len() as u32 {
        for b in a + 1..set.len() as u32 {
            let place = |k: u32| {
                let collider = set.get(ColliderId(k));
                (&collider.shape, frames[collider.frame as usize] * collider.pose)
            };
            let ((one, X_WA), (two, X_WB)) = (place(a), place(b));
            if set.may_touch(a, b) {
                for touch in touches((one, &X_WA), (two, &X_WB), 2.0 * reach) {
                    found.push(bits((a, b), touch.point, touch.normal, touch.gap));
                }
            }
        }
    }
    found.sort_unstable();
    found
}

fn bits(pair: (u32, u32), point: Vector3<f64>, normal: Vector3<f64>, gap: f64) -> [u64; 9] {
    let [p, n] = [point, normal].map(|v| v.map(f64::to_bits));
    [pair.0.into(), pair.1.into(), p.x, p.y, p.z, n.x, n.y, n.z, gap.to_bits()]
}

fn with_memory(contacts: &[Contact]) -> Vec<[u64; 9]> {
    let of = |c: &Contact| bits((c.a.0, c.b.0), c.point, c.normal, c.gap);
    let mut found: Vec<_> = contacts.iter().map(of).collect();
    found.sort_unstable();
    found
}

#[test]
fn contacts_have_the_same_bits_with_memory_of_the_motion_and_without() {
    let mut random = SplitMix64::new(50);
    for (speed, steps) in [(1e-4, 60), (3e-3, 60), (0.1, 40)] {
        let (set, mut frames) = crowd(&mut random, 30);
        let mut motion = Motion::new(&mut random, frames.len(), speed);
        let (reach, awake) = (vec![0.004; frames.len()], vec![false; frames.len()]);
        let mut detector = Detector::new(&set);
        let mut all = 0;
        for step in 0..steps {
            motion.advance(&mut frames);
            let found = with_memory(detector.detect(&set, &frames, &reach, &awake));
            let expected = without_memory(&set, &frames, 0.004);
            assert_eq!(found, expected, "speed {speed}, step {step}");
            all += found.len();
        }
        assert!(all > 20 * steps);
    }
}

#[test]
fn a_detector_with_restored_contacts_finds_the_same_contacts_with_the_same_feature_ids() {
    let mut random = SplitMix64::new(51);
    let (set, mut frames) = crowd(&mut random, 24);
    let mut motion = Motion::new(&mut random, frames.len(), 2e-3);
    let (reach, awake) = (vec![0.002; frames.len()], vec![false; frames.len()]);
    let mut detector = Detector::new(&set);
    for step in 0..80 {
        let mut other = Detector::new(&set);
        if step > 0 {
            other.restore_contacts(&set, &frames, &reach, detector.contacts());
        }
        motion.advance(&mut frames);
        let found = detector.detect(&set, &frames, &reach, &awake);
        assert_eq!(found, other.detect(&set, &frames, &reach, &awake), "step {step}");
    }
}

#[test]
fn pairs_that_stay_apart_call_the_narrow_phase_once() {
    let mut random = SplitMix64::new(52);
    let flat = Vector3::new(1.0, 1.0, 0.2);
    // Tilted in the frame of their shape: the boxes and balls of a row of discs overlap, they do not.
    let tilt = UnitQuaternion::from_euler_angles(0.8, 0.0, 0.0);
    let along = tilt * Vector3::z();
    let points: Vec<_> = (0..500).map(|_| tilt * random.direction().component_mul(&flat)).collect();
    let disc = Shape::convex(&points).unwrap();
    let mut builder = Colliders::builder();
    let mut frames = Vec::new();
    for k in 0..6 {
        builder.add(collider(disc.clone(), k as u32));
        frames.push(Isometry3::translation(
            0.5 * k as f64 * along.x,
            0.5 * k as f64 * along.y,
            0.5 * k as f64 * along.z,
        ));
    }
    let set = builder.build().unwrap();
    let (reach, awake) = (vec![0.001; 6], vec![false; 6]);
    let mut detector = Detector::new(&set);
    assert!(detector.detect(&set, &frames, &reach, &awake).is_empty());
    let calls = detector.narrow_calls();
    assert!(calls >= 5);
    for _ in 0..500 {
        // All of them go the same way, and turn by a twentieth together.
        for frame in &mut frames {
            frame.translation.vector += Vector3::new(1e-3, 0.0, 2e-3);
            frame.rotation = UnitQuaternion::from_euler_angles(0.0, 1e-4, 0.0) * frame.rotation;
        }
        assert!(detector.detect(&set, &frames, &reach, &awake).is_empty());
    }
    assert_eq!(detector.narrow_calls(), calls);
    // One jumps onto its neighbour.
    frames[0].translation.vector = frames[1].translation.vector - 0.3 * along;
    assert!(!detector.detect(&set, &frames, &reach, &awake).is_empty());
}

#[test]
fn pairs_that_may_not_touch_never_reach_the_narrow_phase() {
    let mut random = SplitMix64::new(53);
    let points: Vec<_> = (0..100).map(|_| random.direction()).collect();
    let ball = Shape::convex(&points).unwrap();
    let mut builder = Colliders::builder();
    // Frames 0 and 1 are excluded, 2 has another category, 3 and 4 are fixed, and 5 carries two.
    for frame in [0, 1, 2, 3, 4, 5, 5] {
        let mut part = collider(ball.clone(), frame);
        let bit = if frame < 2 { 1 } else { 1 << frame };
        (part.groups.category, part.groups.mask) = (bit, bit);
        if frame == 4 {
            (part.groups.category, part.groups.mask) = (1 << 3, 1 << 3);
        }
        builder.add(part);
    }
    builder.exclude(1, 0);
    builder.fixed(3);
    builder.fixed(4);
    let set = builder.build().unwrap();
    let frames = vec![Isometry3::identity(); 6];
    let mut detector = Detector::new(&set);
    assert!(detector.detect(&set, &frames, &[], &[]).is_empty());
    assert_eq!(detector.narrow_calls(), 0);
}
