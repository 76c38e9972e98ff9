use super::*;
use crate::record::{Geometry, Recorder, Triangles, VisualShape};
use crate::settings::Settings;
use crate::simulation::Simulation;
use crate::status::{StepFlags, StepStatus};
use crate::world::{Geom, WorldBuilder};
use nalgebra::{Isometry3, Vector3};
use stiction_geom::Shape;
use stiction_geom::shape::generate;
use stiction_mech::{BodyId, BodySpec, JointKind, JointSpec, MassProperties};

/// Every kind of shape, two of them sharing their corners.
fn shapes() -> Vec<Shape> {
    let at = |x: f64| Isometry3::translation(x, 0.0, 0.0);
    let ball = Shape::sphere(0.1).unwrap();
    let (vertices, triangles) = generate::torus(0.2, 0.05, 8, 6);
    let hull = Shape::convex(&generate::icosphere(0.1, 1).0).unwrap();
    let compound = Shape::compound(vec![(at(-0.1), ball.clone()), (at(0.1), hull.clone())]);
    vec![
        ball,
        Shape::cuboid(Vector3::new(0.1, 0.2, 0.3)).unwrap(),
        Shape::capsule(0.1, 0.2).unwrap(),
        compound.unwrap(),
        hull.clone(),
        hull,
        Shape::cylinder(0.1, 0.2).unwrap(),
        Shape::ellipsoid(Vector3::new(0.1, 0.2, 0.3)).unwrap(),
        Shape::mesh(&vertices, &triangles).unwrap(),
    ]
}

/// A few frames of everything on a floor.
fn recording() -> Recording {
    let mut builder = WorldBuilder::new();
    builder.geom(Geom::new(BodyId::WORLD, Shape::Plane).named("floor"));
    let field = Shape::height_field(2, 3, vec![0.0, 0.1, 0.0, -0.1, 0.0, 0.2], (1.0, 2.0)).unwrap();
    let far = Isometry3::translation(100.0, 0.0, 0.0);
    builder.geom(Geom::new(BodyId::WORLD, field).at(far));
    for (k, shape) in shapes().into_iter().enumerate() {
        let mass = MassProperties::new(1.0, Vector3::zeros(), nalgebra::Matrix3::identity());
        let body = builder.mechanism.body(BodySpec {
            name: format!("körper {k}"),
            pose: Isometry3::translation(2.0 * k as f64, 0.0, 0.3),
            mass: Some(mass.unwrap()),
            ..BodySpec::default()
        });
        builder.mechanism.joint(body, JointSpec::new(JointKind::Free));
        builder.geom(Geom::new(body, shape).coloured(0.1, 0.2, 0.3));
    }
    let settings = Settings { time_step: 0.01, ..Settings::default() };
    let mut simulation = Simulation::new(builder.build().unwrap(), settings).unwrap();
    let mut recorder = Recorder::new(&simulation, 50.0).unwrap();
    recorder.title("everything");
    let (vertices, triangles) = (vec![[0.0; 3], [1.0; 3], [0.0, 1.0, 0.0]], vec![[0, 1, 2]]);
    recorder.visual(VisualShape {
        name: "sheet".into(),
        body: 1,
        pose: Isometry3::identity(),
        geometry: Geometry::Triangles(Triangles { vertices, triangles }.into()),
        colour: [1.0, 0.5, 0.25, 0.125],
        collides: false,
    });
    for _ in 0..40 {
        let report = simulation.step().unwrap();
        recorder.observe(&simulation, &report);
    }
    let mut recording = recorder.finish();
    recording.softs.push(crate::record::RecordedSoftBody {
        name: "sheet".into(),
        vertices: 3,
        triangles: vec![[0, 1, 2]],
        colour: [1.0; 4],
    });
    recording.frames.soft = (0..3 * recording.len()).map(|k| [k as f32, 0.5, -1.0]).collect();
    recording.check().unwrap();
    recording
}

/// A short one, of shapes that are quickly built anew.
fn short() -> Recording {
    let mut recording = recording();
    recording.keep_until(0.25);
    recording.shapes.truncate(3);
    recording.check().unwrap();
    recording
}

/// The bytes of a recording in chunks of so many frames, and where each chunk ends.
fn in_chunks(recording: &Recording, size: usize) -> (Vec<u8>, Vec<usize>) {
    let mut bytes = Chunk::head(recording, 42).to_bytes();
    let mut ends = vec![bytes.len()];
    for first in (0..recording.len()).step_by(size) {
        let range = first..(first + size).min(recording.len());
        bytes.extend(Chunk::frames(recording, range).to_bytes());
        ends.push(bytes.len());
    }
    bytes.extend(Chunk::end(recording).to_bytes());
    ends.push(bytes.len());
    (bytes, ends)
}

#[test]
fn a_recording_comes_back_to_the_bit_however_it_was_cut_into_chunks() {
    let recording = recording();
    assert!(recording.frames.contacts.gap.len() > 10);
    for size in [1, 4, 1000] {
        let (bytes, _) = in_chunks(&recording, size);
        let found = read(&bytes).unwrap();
        assert!(found.whole && found.sound == bytes.len() && found.run == 42);
        assert_eq!(found.recording.frames, recording.frames);
        let told = |r: &Recording| {
            format!("{:?}", (&r.title, &r.solver, r.time_step, r.tolerance, &r.bodies, &r.moving))
        };
        assert_eq!(told(&found.recording), told(&recording));
        assert_eq!(found.recording.softs, recording.softs);
        assert_eq!(found.recording.rest, recording.rest);
        assert_eq!(found.recording.shapes.len(), recording.shapes.len());
        for (found, expected) in found.recording.shapes.iter().zip(&recording.shapes) {
            assert_eq!((&found.name, found.body), (&expected.name, expected.body));
            assert_eq!((found.pose, found.colour), (expected.pose, expected.colour));
            assert_eq!(found.collides, expected.collides);
            match (&found.geometry, &expected.geometry) {
                (Geometry::Shape(found), Geometry::Shape(expected)) => {
                    assert_eq!(found.name(), expected.name());
                    let (a, b) = (found.bounding_radius(), expected.bounding_radius());
                    assert!(a == b || (a - b).abs() <= 1e-12 * b, "{a} against {b}");
                }
                (Geometry::Triangles(found), Geometry::Triangles(expected)) => {
                    assert_eq!(found, expected);
                }
                other => panic!("{other:?}"),
            }
        }
    }
}

#[test]
fn cut_off_at_any_byte_it_opens_up_to_its_last_complete_chunk() {
    let recording = short();
    let (bytes, ends) = in_chunks(&recording, 5);
    for length in 0..=bytes.len() {
        let found = read(&bytes[..length]);
        if length < ends[0] {
            assert!(found.is_err(), "{length} bytes hold no head");
            continue;
        }
        let found = found.unwrap();
        let complete = ends.iter().filter(|end| **end <= length).count() - 1;
        assert_eq!(found.recording.len(), (5 * complete).min(recording.len()), "{length} bytes");
        assert_eq!((found.whole, found.sound), (length == bytes.len(), ends[complete]));
    }
}

#[test]
fn a_changed_byte_before_the_last_chunk_is_an_error_and_none_goes_unnoticed() {
    let recording = short();
    let (bytes, ends) = in_chunks(&recording, 5);
    let last = ends[ends.len() - 2];
    for place in (0..bytes.len()).step_by(7).chain(last - 40..bytes.len()) {
        let mut changed = bytes.clone();
        changed[place] ^= 0x04;
        match read(&changed) {
            Err(_) => {}
            // A change after the last frames is indistinguishable from a file truncated there.
            Ok(found) => assert!(place >= last && !found.whole, "byte {place}"),
        }
    }
}

#[test]
fn foreign_bytes_and_other_versions_are_named() {
    assert!(matches!(read(b"<html>"), Err(RecordError::Foreign)));
    let (mut bytes, _) = in_chunks(&recording(), 5);
    bytes[MAGIC.len()] = 9;
    assert!(matches!(read(&bytes), Err(RecordError::Version { found: 9, expected: VERSION })));
}

/// Bytes of a recording with these geometries, each as written by the closure.
fn with_geometries(geometries: &[Vec<u8>]) -> Vec<u8> {
    let mut out = Writer::default();
    out.u64(42);
    out.text("title");
    out.text("solver");
    out.numbers(&[0.01, 1e-6]);
    out.list(&["world"], |out, name| out.text(name));
    out.list(&[Isometry3::identity()], Writer::pose);
    out.list(&[0_u32; 0], |out, body| out.u32(*body));
    out.list(geometries, |out, geometry| {
        out.text("shape");
        out.u32(0);
        out.pose(&Isometry3::identity());
        out.0.extend_from_slice(geometry);
        [1.0_f32; 4].iter().for_each(|x| out.f32(*x));
        out.u32(1);
    });
    out.list(&[0_u32; 0], |out, soft| out.u32(*soft));
    Chunk { kind: ChunkKind::Head, body: out.0 }.to_bytes()
}

/// A compound of parts as the closure writes them; the numbers are those of the kinds in files.
fn compound(parts: &[&[u32]]) -> Vec<u8> {
    let mut out = Writer::default();
    out.u32(3);
    out.list(parts, |out, part| {
        out.pose(&Isometry3::identity());
        out.counts(part);
    });
    out.0
}

fn sphere() -> Vec<u8> {
    let mut out = Writer::default();
    out.u32(10);
    out.f64(0.1);
    out.0
}

#[test]
fn a_repeated_sphere_is_read_and_bytes_of_shapes_as_in_files() {
    let same = [0_u32, 0].iter().flat_map(|x| x.to_le_bytes()).collect();
    let found = read(&with_geometries(&[sphere(), same])).unwrap();
    assert_eq!(found.recording.shapes.len(), 2);
}

#[test]
fn a_compound_that_contains_itself_is_refused() {
    assert!(read(&with_geometries(&[compound(&[&[0, 0]])])).is_err());
}

#[test]
fn compounds_that_double_earlier_ones_are_refused() {
    // Sixty of them would have 2^60 parts.
    let mut geometries = vec![sphere()];
    for k in 0..60 {
        geometries.push(compound(&[&[0, k], &[0, k]]));
    }
    assert!(read(&with_geometries(&geometries)).is_err());
}

#[test]
fn compounds_nested_a_hundred_thousand_deep_are_refused() {
    let mut geometries = vec![sphere()];
    for k in 0..100_000 {
        geometries.push(compound(&[&[0, k]]));
    }
    assert!(read(&with_geometries(&geometries)).is_err());
    // Written out, level within level.
    let mut out = Writer::default();
    for _ in 0..100_000 {
        out.u32(3);
        out.u64(1);
        out.pose(&Isometry3::identity());
    }
    out.0.extend(sphere());
    assert!(read(&with_geometries(&[out.0])).is_err());
}

#[test]
fn a_large_compound_repeated_very_often_is_refused() {
    let part: Vec<u32> = {
        let bytes = sphere();
        bytes.as_chunks::<4>().0.iter().map(|b| u32::from_le_bytes(*b)).collect()
    };
    let mut geometries = vec![compound(&vec![&part[..]; 10_000])];
    geometries.extend((0..10_000).map(|_| [[0_u8; 4], [0; 4]].concat()));
    assert!(read(&with_geometries(&geometries)).is_err());
    geometries.truncate(100);
    assert!(read(&with_geometries(&geometries)).is_ok());
}

#[test]
fn a_soft_surface_of_more_vertices_than_its_triangles_have_is_refused() {
    let mut recording = short();
    recording.softs[0].vertices = 1 << 40;
    recording.keep_until(-1.0);
    recording.frames = crate::record::Frames::default();
    assert!(read(&Chunk::head(&recording, 1).to_bytes()).is_err());
}

#[test]
fn a_recording_of_version_1_opens_with_faults_from_its_solver() {
    let mut recording = short();
    let n = recording.len();
    recording.frames.statistics.status = (0..n).map(|k| u8::from(k % 3 == 0)).collect();
    recording.frames.statistics.softened = (0..n).map(|k| k % 2 == 0).collect();
    // Version 1 ends its frames without the column of faults, and has no patches: two counts per frame.
    let mut head = Chunk::head(&recording, 42).to_bytes();
    head[MAGIC.len()..START].copy_from_slice(&1_u32.to_le_bytes());
    let mut frames = Chunk::frames(&recording, 0..n);
    frames.body.truncate(frames.body.len() - n - 8 * n);
    let bytes = [head, frames.to_bytes(), Chunk::end(&recording).to_bytes()].concat();
    let opened = read(&bytes).unwrap();
    assert!(opened.whole && opened.recording.len() == n);
    for (k, bits) in opened.recording.frames.statistics.flags.iter().enumerate() {
        let flags = StepFlags::from_bits(*bits);
        assert_eq!(flags.contains(StepStatus::Softened), k % 2 == 0);
        assert_eq!(flags.contains(StepStatus::ProblemNotSolved), k % 3 == 0);
    }
}

/// A recording with made-up polygons in some of its frames.
fn patched() -> Recording {
    let mut recording = short();
    let patches = &mut recording.frames.patches;
    for frame in 0..recording.frames.time.len() {
        patches.first[frame] = patches.shapes.len();
        patches.first_corner[frame] = patches.corner.len();
        patches.omitted[frame] = frame as u32 % 3;
        for k in 0..frame % 4 {
            patches.shapes.push([0, 1 + k as u32 % 2]);
            patches.pressure.push(1e3 * k as f32);
            patches.corners.push(3 + k as u8);
            patches.corner.extend((0..3 + k).map(|c| [c as f32, frame as f32, -0.25]));
        }
    }
    recording.check().unwrap();
    recording
}

#[test]
fn polygons_of_patches_come_back_to_the_bit() {
    let recording = patched();
    for size in [1, 3, 1000] {
        let found = read(&in_chunks(&recording, size).0).unwrap();
        assert_eq!(found.recording.frames, recording.frames);
    }
}

#[test]
fn a_recording_of_version_2_opens_without_patches() {
    let recording = short();
    let n = recording.len();
    let mut head = Chunk::head(&recording, 42).to_bytes();
    head[MAGIC.len()..START].copy_from_slice(&2_u32.to_le_bytes());
    let mut frames = Chunk::frames(&recording, 0..n);
    frames.body.truncate(frames.body.len() - 8 * n);
    let bytes = [head, frames.to_bytes(), Chunk::end(&recording).to_bytes()].concat();
    let opened = read(&bytes).unwrap();
    assert!(opened.whole);
    assert_eq!(opened.recording.frames, recording.frames);
}

#[test]
fn polygons_of_unknown_shapes_or_with_missing_corners_are_refused() {
    let mut recording = patched();
    recording.frames.patches.shapes[0] = [0, 99];
    let wrong = in_chunks(&recording, 100).0;
    assert!(matches!(read(&wrong), Err(RecordError::Index { found: 99, .. })));
    let mut recording = patched();
    recording.frames.patches.corner.pop();
    assert!(matches!(recording.check(), Err(RecordError::Length { .. })));
}
