//! Detection over a whole set: the broad phase loses nothing, rules hold, rest costs nothing.
#![allow(non_snake_case, clippy::unwrap_used)]

mod common;

use common::{Random, collider, convex_shapes, touches};
use nalgebra::{Isometry3, Translation3, Vector3};
use stiction_geom::{ColliderError, ColliderId, Colliders, Contact, Detector, Groups, Shape};

/// A plane and shapes of sizes between a tenth and ten, at random in a room.
fn scene(random: &mut Random, n: usize) -> (Colliders, Vec<Isometry3<f64>>) {
    let mut builder = Colliders::builder();
    builder.fixed(0);
    builder.add(collider(Shape::Plane, 0));
    let mut frames = vec![Isometry3::translation(0.0, 0.0, -3.0)];
    for k in 0..n {
        let shape = match k % 7 {
            6 => Shape::sphere(random.between(0.02, 0.1)).unwrap(),
            5 if k < 10 => Shape::cuboid(Vector3::new(4.0, 3.0, 0.1)).unwrap(),
            kind => convex_shapes(random).swap_remove(kind.min(5)),
        };
        builder.add(collider(shape, k as u32 + 1));
        frames.push(random.pose(3.0));
    }
    (builder.build().unwrap(), frames)
}

/// Pairs with contacts, from all pairs one by one.
fn brute_force(set: &Colliders, frames: &[Isometry3<f64>], reach: f64) -> Vec<(u32, u32, usize)> {
    let mut found = Vec::new();
    let place = |k: u32| {
        let collider = set.get(ColliderId(k));
        (&collider.shape, frames[collider.frame as usize] * collider.pose)
    };
    for a in 0..set.len() as u32 {
        for b in a + 1..set.len() as u32 {
            if set.may_touch(a, b) {
                let ((one, X_WA), (two, X_WB)) = (place(a), place(b));
                let n = touches((one, &X_WA), (two, &X_WB), 2.0 * reach).len();
                if n > 0 {
                    found.push((a, b, n));
                }
            }
        }
    }
    found
}

fn pairs(contacts: &[Contact]) -> Vec<(u32, u32, usize)> {
    let mut found: Vec<(u32, u32, usize)> = Vec::new();
    for contact in contacts {
        match found.last_mut() {
            Some((a, b, n)) if (*a, *b) == (contact.a.0, contact.b.0) => *n += 1,
            _ => found.push((contact.a.0, contact.b.0, 1)),
        }
    }
    found
}

#[test]
fn detection_finds_what_testing_all_pairs_finds_while_things_move() {
    let mut random = Random(30);
    for n in [5, 40, 120] {
        let (set, mut frames) = scene(&mut random, n);
        let mut detector = Detector::new(&set);
        let reach = vec![0.01; frames.len()];
        for step in 0..12 {
            // A third of the frames moves, by little or by much; the others rest.
            let moves = |k: usize| k > 0 && (step == 0 || k % 3 == step % 3);
            for (k, frame) in frames.iter_mut().enumerate() {
                if moves(k) {
                    let size = if k % 2 == 0 { 0.005 } else { 0.5 };
                    frame.append_translation_mut(&Translation3::from(random.vector(size)));
                }
            }
            let resting: Vec<bool> = (0..frames.len()).map(|k| !moves(k)).collect();
            let contacts = detector.detect(&set, &frames, &reach, &resting);
            assert!(contacts.is_sorted_by(|p, q| (p.a, p.b, p.feature) < (q.a, q.b, q.feature)));
            assert_eq!(pairs(contacts), brute_force(&set, &frames, 0.01), "n = {n}, step {step}");
        }
    }
}

#[test]
fn a_fresh_detector_finds_the_same_contacts_as_one_with_a_past() {
    let mut random = Random(31);
    let (set, mut frames) = scene(&mut random, 60);
    let (reach, awake) = (vec![0.01; frames.len()], vec![false; frames.len()]);
    let mut detector = Detector::new(&set);
    for _ in 0..5 {
        for frame in &mut frames[1..] {
            frame.append_translation_mut(&Translation3::from(random.vector(0.3)));
        }
        detector.detect(&set, &frames, &reach, &awake);
    }
    let mut fresh = Detector::new(&set);
    let fresh = fresh.detect(&set, &frames, &reach, &awake);
    let places = |contacts: &[Contact]| {
        let mut places: Vec<_> =
            contacts.iter().map(|c| (c.a, c.b, c.gap.to_bits(), c.point.x.to_bits())).collect();
        places.sort_unstable();
        places
    };
    assert_eq!(places(detector.contacts()), places(fresh));
}

#[test]
fn resting_pairs_keep_their_contacts_and_cost_nothing() {
    let mut random = Random(32);
    let (set, mut frames) = scene(&mut random, 60);
    let reach = vec![0.01; frames.len()];
    let mut detector = Detector::new(&set);
    detector.detect(&set, &frames, &reach, &vec![false; frames.len()]);
    let (contacts, calls) = (detector.contacts().to_vec(), detector.narrow_calls());
    assert!(!contacts.is_empty() && calls > 0);
    // Poison: poses of resting frames must not be read.
    let poisoned = vec![Isometry3::translation(f64::NAN, f64::NAN, f64::NAN); frames.len()];
    let found = detector.detect(&set, &poisoned, &reach, &vec![true; frames.len()]);
    assert_eq!(found, contacts);
    assert_eq!(detector.narrow_calls(), calls);

    // One wakes: only its pairs are tested, the others stay bit for bit.
    let one = contacts[contacts.len() / 2].b;
    let frame = set.get(one).frame as usize;
    frames[frame].append_translation_mut(&Translation3::new(1e-6, 0.0, 0.0));
    let resting: Vec<bool> = (0..frames.len()).map(|k| k != frame).collect();
    let found = detector.detect(&set, &frames, &reach, &resting).to_vec();
    let others = |contacts: &[Contact]| -> Vec<Contact> {
        contacts.iter().filter(|c| c.a != one && c.b != one).copied().collect()
    };
    assert_eq!(others(&found), others(&contacts));
    assert!(detector.narrow_calls() - calls < 60);
}

#[test]
fn feature_ids_persist_where_corners_coincide() {
    let mut builder = Colliders::builder();
    for frame in 0..2 {
        builder.add(collider(Shape::cuboid(Vector3::repeat(0.05)).unwrap(), frame));
    }
    let set = builder.build().unwrap();
    let mut random = Random(33);
    let mut detector = Detector::new(&set);
    let mut names: Option<Vec<u32>> = None;
    for _ in 0..50 {
        // Round-off of a resting stack: a hundred times the slack of coincidence.
        let noise = Translation3::from(random.vector(1e-5));
        let turn = nalgebra::UnitQuaternion::new(random.vector(1e-4));
        let upper = Isometry3::from_parts(noise * Translation3::new(0.0, 0.0, 0.0999), turn);
        let frames = [Isometry3::identity(), upper];
        let contacts = detector.detect(&set, &frames, &[1e-3; 2], &[false; 2]);
        let now: Vec<u32> = contacts.iter().map(|contact| contact.feature).collect();
        assert!(now.len() >= 4, "{contacts:?}");
        if let Some(names) = &names {
            let kept = names.iter().filter(|name| now.contains(name)).count();
            assert!(kept >= 4, "{names:?} {now:?}");
        }
        names = Some(now);
    }
}

#[test]
fn groups_excludes_pairs_and_fixed_frames_filter_contacts() {
    let ball = |frame: u32, category: u32, mask: u32| {
        let mut ball = collider(Shape::sphere(1.0).unwrap(), frame);
        ball.groups = Groups { category, mask };
        ball
    };
    let mut builder = Colliders::builder();
    let ids = [
        builder.add(ball(0, 1, 1)), // fixed
        builder.add(ball(1, 1, 1)), // fixed
        builder.add(ball(2, 1, 2)), // touched by whatever touches 1; itself touches 2
        builder.add(ball(3, 4, 0)), // of a category that none touches, and touches none
        builder.add(ball(4, 1, 1)), // excluded from 2
        builder.add(ball(4, 1, 1)), // the same frame
    ];
    builder.fixed(0);
    builder.fixed(1);
    builder.exclude(4, 2);
    builder.pair(ids[3], ids[0]);
    let set = builder.build().unwrap();
    let frames: Vec<_> =
        (0..5).map(|k| Isometry3::translation(0.01 * k as f64, 0.0, 0.0)).collect();
    let mut detector = Detector::new(&set);
    let contacts = detector.detect(&set, &frames, &[0.0; 5], &[false; 5]);
    let found: Vec<(u32, u32)> = contacts.iter().map(|c| (c.a.0, c.b.0)).collect();
    assert_eq!(found, [(0, 2), (0, 3), (0, 4), (0, 5), (1, 2), (1, 4), (1, 5)]);
}

#[test]
fn invalid_sets_are_rejected() {
    let mut builder = Colliders::builder();
    builder.add(collider(Shape::Sphere { radius: -1.0 }, 0));
    assert!(matches!(builder.build(), Err(ColliderError::Shape { collider: 0, .. })));
    let mut builder = Colliders::builder();
    let mut ball = collider(Shape::sphere(1.0).unwrap(), 0);
    ball.margin = f64::NAN;
    builder.add(ball);
    assert!(matches!(builder.build(), Err(ColliderError::Margin { collider: 0, .. })));
    let mut builder = Colliders::builder();
    let id = builder.add(collider(Shape::sphere(1.0).unwrap(), 0));
    builder.pair(id, ColliderId(7));
    assert!(matches!(builder.build(), Err(ColliderError::Pair { b: 7, colliders: 1, .. })));
}

#[test]
fn a_state_that_is_not_finite_yields_no_contact_and_no_panic() {
    let mut random = Random(34);
    let (set, mut frames) = scene(&mut random, 20);
    for frame in &mut frames {
        frame.translation.vector.y = f64::NAN;
    }
    frames[3].translation.vector = Vector3::repeat(1e300);
    let mut detector = Detector::new(&set);
    let (reach, awake) = (vec![0.1; frames.len()], vec![false; frames.len()]);
    assert!(detector.detect(&set, &frames, &reach, &awake).is_empty());
}

#[test]
fn margins_and_reaches_add_up() {
    let mut builder = Colliders::builder();
    let mut ball = collider(Shape::sphere(1.0).unwrap(), 0);
    ball.margin = 0.02;
    builder.add(ball.clone());
    ball.frame = 1;
    builder.add(ball);
    let set = builder.build().unwrap();
    let gap_at = |distance: f64, reach: [f64; 2]| {
        let frames = [Isometry3::identity(), Isometry3::translation(2.0 + distance, 0.0, 0.0)];
        Detector::new(&set).detect(&set, &frames, &reach, &[false; 2]).len()
    };
    assert_eq!(gap_at(0.0999, [0.03, 0.03]), 1);
    assert_eq!(gap_at(0.1001, [0.03, 0.03]), 0);
    assert_eq!(gap_at(0.0399, [0.0, 0.0]), 1);
    assert_eq!(gap_at(0.0401, [0.0, 0.0]), 0);
}
