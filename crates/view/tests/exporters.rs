//! Every exporter on the same recordings, down to empty ones: written files are read back.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::f64::consts::PI;
use std::io::Read;
use std::path::PathBuf;
use std::process::Command;

use nalgebra::{Isometry3, UnitQuaternion, Vector3, Vector4};
use serde_json::Value;
use stiction_geom::Shape;
use stiction_sim::record::{Geometry, RecordedSoftBody, Recording, VisualShape};
use stiction_view::raster::light::LightQuality;
use stiction_view::raster::{PictureRenderer, RenderSettings, film};
use stiction_view::{EXPORTERS, gif, glb, mp4, npz, parquet, png};

const RADIUS: f64 = 0.1;

/// A red ball that flies and turns over a floor, with one contact in every second frame.
fn flight(frames: usize) -> Recording {
    let seen = |body, name: &str, shape, colour| VisualShape {
        name: name.into(),
        body,
        pose: Isometry3::identity(),
        geometry: Geometry::Shape(shape),
        colour,
        collides: true,
    };
    let grey = [0.6, 0.6, 0.6, 1.0];
    let mut recording = Recording {
        title: "flight ✈".into(),
        solver: "none".into(),
        time_step: 0.01,
        bodies: vec!["world".into(), "ball \"é\"".into(), "box".into()],
        rest: vec![Isometry3::identity(); 3],
        moving: vec![1, 2],
        shapes: vec![
            seen(0, "floor", Shape::Plane, grey),
            seen(1, "ball", Shape::sphere(RADIUS).unwrap(), [1.0, 0.0, 0.0, 1.0]),
            seen(2, "", Shape::cuboid(Vector3::new(0.1, 0.2, 0.05)).unwrap(), grey),
        ],
        ..Recording::default()
    };
    let columns = &mut recording.frames;
    for k in 0..frames {
        let time = k as f64 / 60.0;
        columns.time.push(time);
        columns.position.push([time, 0.5 - time, 0.3 + time * (1.0 - time)]);
        columns.position.push([-0.3, 0.1, 0.1]);
        // More than a full turn, with the sign that makes w positive: it jumps on the way.
        let turn = UnitQuaternion::from_euler_angles(0.2, 7.0 * time, 0.0);
        let q = turn.quaternion();
        let q = if q.w < 0.0 { -q } else { *q };
        columns.rotation.push([q.w, q.i, q.j, q.k]);
        columns.rotation.push([1.0, 0.0, 0.0, 0.0]);
        let contacts = &mut columns.contacts;
        contacts.first.push(contacts.gap.len());
        if k % 2 == 1 {
            contacts.bodies.push([0, 2]);
            contacts.shapes.push([0, 2]);
            contacts.point.push([-0.3, 0.1, 0.05]);
            contacts.normal.push([0.0, 0.0, 1.0]);
            contacts.force.push([0.1, 0.0, 9.0 + time]);
            contacts.gap.push(-1e-4 * time);
        }
        let figures = &mut columns.statistics;
        figures.steps.push(k as u32);
        figures.momentum.push(1e-9 * time);
        figures.coulomb.push(1e-6);
        figures.convex.push(1e-7);
        figures.iterations.push(3);
        figures.status.push((k % 3) as u8);
        figures.flags.push((k % 5) as u8);
        figures.softened.push(k % 4 == 0);
        figures.penetration.push(0.0);
        figures.equality_error.push(0.0);
        figures.kinetic.push(1.0 + time);
        figures.potential.push(2.0 - time);
        figures.phases.push([1e-3; 6]);
        figures.contacts.push((k % 2) as u32);
        figures.asleep.push(0);
    }
    if let Some(&[x, y, z]) = columns.position.first() {
        recording.rest[1] = Isometry3::translation(x, y, z);
    }
    recording.check().unwrap();
    recording
}

/// The flight with a soft triangle.
fn with_soft(frames: usize) -> Recording {
    let mut recording = flight(frames);
    recording.softs.push(RecordedSoftBody {
        name: "sheet".into(),
        vertices: 3,
        triangles: vec![[0, 1, 2]],
        colour: [0.2, 0.4, 0.8, 0.7],
    });
    for k in 0..frames {
        let z = 0.2 + 0.01 * k as f32;
        recording.frames.soft.extend([[0.0, 0.0, z], [0.3, 0.0, z], [0.0, 0.3, z]]);
    }
    recording.check().unwrap();
    recording
}

/// Settings that render quickly.
fn small(samples: usize) -> RenderSettings {
    let light = LightQuality { keys: 1, skies: 2, key_size: 128, sky_size: 64 };
    RenderSettings { width: 96, height: 70, samples, light, ..RenderSettings::still() }
}

fn folder(name: &str) -> PathBuf {
    let folder =
        std::env::temp_dir().join(format!("stiction-exporters-{name}-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    folder
}

/// An array of an archive: its header and its bytes.
fn array(archive: &[u8], name: &str) -> (String, Vec<u8>) {
    let mut archive = zip::ZipArchive::new(std::io::Cursor::new(archive)).unwrap();
    let mut bytes = Vec::new();
    archive.by_name(&format!("{name}.npy")).unwrap().read_to_end(&mut bytes).unwrap();
    assert_eq!(&bytes[..8], b"\x93NUMPY\x01\x00");
    let header = usize::from(u16::from_le_bytes([bytes[8], bytes[9]]));
    assert_eq!((10 + header) % 64, 0);
    (String::from_utf8(bytes[10..10 + header].to_vec()).unwrap(), bytes[10 + header..].to_vec())
}

fn doubles(bytes: &[u8]) -> Vec<f64> {
    bytes.as_chunks::<8>().0.iter().map(|b| f64::from_le_bytes(*b)).collect()
}

#[test]
fn a_numpy_archive_holds_every_bit_of_every_column() {
    let recording = with_soft(7);
    let archive = npz::archive(&recording).unwrap();
    let frames = &recording.frames;
    for (name, shape, values) in [
        ("time", "(7,)", frames.time.clone()),
        ("position", "(7, 2, 3)", frames.position.as_flattened().to_vec()),
        ("rotation", "(7, 2, 4)", frames.rotation.as_flattened().to_vec()),
        ("contact_force", "(3, 3)", frames.contacts.force.as_flattened().to_vec()),
        ("contact_gap", "(3,)", frames.contacts.gap.clone()),
        ("energy_kinetic", "(7,)", frames.statistics.kinetic.clone()),
        ("phase_time", "(7, 6)", frames.statistics.phases.as_flattened().to_vec()),
        ("time_step", "()", vec![recording.time_step]),
    ] {
        let (header, bytes) = array(&archive, name);
        assert!(header.contains("'<f8'") && header.contains(shape), "{name}: {header}");
        assert_eq!(doubles(&bytes), values, "{name}");
    }
    let (header, bytes) = array(&archive, "contact_start");
    assert!(header.contains("(8,)"));
    let starts: Vec<i64> = bytes.as_chunks().0.iter().map(|b| i64::from_le_bytes(*b)).collect();
    assert_eq!(starts, [0, 0, 1, 1, 2, 2, 3, 3]);
    let (header, bytes) = array(&archive, "body_names");
    assert!(header.contains("'<U8'"), "{header}");
    let letters = bytes.as_chunks().0.iter().map(|b| u32::from_le_bytes(*b));
    let text: String = letters.map(|c| char::from_u32(c).unwrap()).collect();
    let names: Vec<&str> =
        [&text[..8], &text[8..17], &text[17..]].map(|name| name.trim_end_matches('\0')).into();
    assert_eq!(names, recording.bodies);
    assert_eq!(array(&archive, "soft_position").1.len(), 7 * 3 * 3 * 4);
    assert_eq!(array(&archive, "softened").1, [1, 0, 0, 0, 1, 0, 0]);
}

/// The two parts of a binary glTF.
fn parts(file: &[u8]) -> (Value, Vec<u8>) {
    let word = |at: usize| u32::from_le_bytes(file[at..at + 4].try_into().unwrap()) as usize;
    assert_eq!((&file[..4], word(4), word(8)), (b"glTF".as_slice(), 2, file.len()));
    let length = word(12);
    let json = serde_json::from_slice(&file[20..20 + length]).unwrap();
    let bytes = file.get(28 + length..).unwrap_or_default().to_vec();
    (json, bytes)
}

fn floats(json: &Value, bytes: &[u8], accessor: &Value) -> Vec<f32> {
    let accessor = &json["accessors"][accessor.as_u64().unwrap() as usize];
    let view = &json["bufferViews"][accessor["bufferView"].as_u64().unwrap() as usize];
    let [at, length] = ["byteOffset", "byteLength"].map(|k| view[k].as_u64().unwrap() as usize);
    bytes[at..at + length].as_chunks().0.iter().map(|b| f32::from_le_bytes(*b)).collect()
}

#[test]
fn nodes_of_a_gltf_stand_where_the_bodies_of_the_recording_do() {
    let recording = flight(120);
    let (json, bytes) = parts(&glb::binary(&recording).unwrap());
    let animation = &json["animations"][0];
    let mut seen = 0;
    for channel in animation["channels"].as_array().unwrap() {
        let sampler = &animation["samplers"][channel["sampler"].as_u64().unwrap() as usize];
        let times = floats(&json, &bytes, &sampler["input"]);
        assert_eq!(times.len(), recording.len());
        let values = floats(&json, &bytes, &sampler["output"]);
        let node = &json["nodes"][channel["target"]["node"].as_u64().unwrap() as usize];
        let name = node["name"].as_str().unwrap();
        let body = recording.bodies.iter().position(|body| body == name).unwrap();
        for k in 0..recording.len() {
            assert_eq!(times[k], recording.frames.time[k] as f32);
            let entry = 2 * k + body - 1;
            if channel["target"]["path"] == "translation" {
                let wanted = recording.frames.position[entry].map(|x| x as f32);
                assert_eq!(values[3 * k..3 * k + 3], wanted);
            } else {
                let q = |k: usize| Vector4::from_column_slice(&values[4 * k..4 * k + 4]);
                let [w, x, y, z] = recording.frames.rotation[entry];
                let wanted = Vector4::new(x, y, z, w).cast::<f32>();
                // The same orientation, of either sign, to the last bits of a short float.
                assert!((q(k).dot(&wanted).abs() - 1.0).abs() < 4.0 * f32::EPSILON);
                assert!(k == 0 || q(k).dot(&q(k - 1)) > 0.0, "a jump between keys");
            }
        }
        seen += 1;
    }
    assert_eq!(seen, 4);
}

#[test]
fn gltf_passes_the_validator_of_the_khronos_group() {
    let folder = folder("glb");
    let mut broken = flight(5);
    broken.frames.position[4] = [f64::NAN; 3];
    broken.frames.rotation[6] = [f64::NAN; 4];
    let cases = [
        ("empty", Recording::default()),
        ("rest", flight(0)),
        ("one", with_soft(1)),
        ("flight", with_soft(60)),
        ("broken", broken),
    ];
    let mut command = Command::new("node");
    command.arg(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/glb_validator.mjs"));
    for (name, recording) in cases {
        let path = folder.join(format!("{name}.glb"));
        glb::write(&recording, &path).unwrap();
        command.arg(path);
    }
    let needed = std::env::var("CI").is_ok_and(|value| value == "true");
    match command.output() {
        Err(error) if !needed => println!("skipped: node: {error}"),
        Err(error) => panic!("CI=true, but node: {error}"),
        Ok(output) => {
            let said = String::from_utf8_lossy(&output.stdout);
            println!("{said}");
            let code = output.status.code();
            assert!(code == Some(0) || code == Some(77) && !needed, "{said}");
        }
    }
    std::fs::remove_dir_all(folder).unwrap();
}

#[test]
fn a_parquet_table_has_a_row_per_frame_and_lists_of_bodies_and_contacts() {
    use ::parquet::file::reader::{FileReader, SerializedFileReader};
    use ::parquet::record::{Field, RowAccessor};
    let recording = flight(6);
    let path = folder("parquet").join("run.parquet");
    parquet::write(&recording, &path).unwrap();
    let reader = SerializedFileReader::new(std::fs::File::open(&path).unwrap()).unwrap();
    let mut rows = 0;
    for (k, row) in reader.get_row_iter(None).unwrap().enumerate() {
        let row = row.unwrap();
        let place = |name: &str| row.get_column_iter().position(|(n, _)| n == name).unwrap();
        assert_eq!(row.get_double(place("time")).unwrap(), recording.frames.time[k]);
        let numbers = |name: &str| -> Vec<f64> {
            let list = row.get_list(place(name)).unwrap().elements();
            let number = |field: &Field| match field {
                Field::Double(x) => *x,
                other => panic!("{other}"),
            };
            list.iter().map(number).collect()
        };
        let wanted = &recording.frames.position[2 * k..2 * k + 2];
        assert_eq!(numbers("position_z"), [wanted[0][2], wanted[1][2]]);
        let contacts = recording.frames.contacts.of(k);
        assert_eq!(numbers("contact_gap"), recording.frames.contacts.gap[contacts]);
        rows += 1;
    }
    assert_eq!(rows, 6);
    let about = reader.metadata().file_metadata().key_value_metadata().unwrap();
    assert!(about.iter().any(|entry| entry.key == parquet::KEY));
    std::fs::remove_dir_all(path.parent().unwrap()).unwrap();
}

#[test]
fn a_balls_silhouette_has_the_area_of_its_cone_of_view() {
    let mut recording = flight(1);
    recording.shapes.truncate(2);
    let settings = RenderSettings { width: 400, height: 400, ..small(1) };
    let renderer = PictureRenderer::new(&recording, &settings, 0.0, 0.0);
    let camera = renderer.camera();
    let [x, y, z] = recording.frames.position[0];
    let p = camera.to_camera_frame(&Vector3::new(x, y, z));
    // A cone of half angle a about a line at the angle b to the axis cuts the picture at unit
    // distance in an ellipse with the half axes sin a cos a / (cos² b − sin² a) and
    // sin a / √(cos² b − sin² a).
    let sin = RADIUS / p.norm();
    let (cos, slant) = ((1.0 - sin * sin).sqrt(), p.z / p.norm());
    let d = slant * slant - sin * sin;
    let pixels = 0.5 * 400.0 * camera.focal;
    let (a, b) = (pixels * sin * cos / d, pixels * sin / d.sqrt());
    let area = PI * a * b;
    let picture = renderer.render(0.0);
    let red = |pixel: &&[u8; 3]| i32::from(pixel[0]) > i32::from(pixel[2]) + 12;
    let found = picture.rgb.as_chunks::<3>().0.iter().filter(red).count() as f64;
    // Pixels on the rim are counted or not; the ball is a polyhedron with angles of about 0.07
    // between its corners, and lacks up to 0.07² / 6 of its area.
    let bound = PI * (a + b) + 0.07_f64.powi(2) / 6.0 * area;
    assert!(a > 100.0, "{a}");
    assert!((found - area).abs() < bound, "{found} pixels, expected {area} ± {bound}");
}

#[test]
fn bodies_shade_the_floor() {
    let recording = flight(1);
    let settings = RenderSettings { width: 200, height: 150, ..small(2) };
    let bare = {
        let mut recording = flight(1);
        recording.shapes.truncate(1);
        PictureRenderer::new(&recording, &settings, 0.0, 0.0).render(0.0)
    };
    let picture = PictureRenderer::new(&recording, &settings, 0.0, 0.0).render(0.0);
    let darkest = |rgb: &[u8]| rgb.as_chunks::<3>().0.iter().map(|p| p[1]).min().unwrap();
    assert!(darkest(&bare.rgb) > 180, "an open floor is bright");
    let is_grey = |p: &&[u8; 3]| p[0].abs_diff(p[2]) < 12;
    let shaded = picture.rgb.as_chunks::<3>().0.iter().filter(is_grey).map(|p| p[1]).min().unwrap();
    assert!(shaded < 180, "a floor below bodies is in their shadow: {shaded}");
}

#[test]
fn a_picture_is_the_same_for_every_number_of_threads() {
    let recording = with_soft(30);
    let settings = RenderSettings { forces: true, ..small(2) };
    let paint = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| PictureRenderer::new(&recording, &settings, 0.0, 0.5).render(0.31))
    };
    let one = paint(1);
    assert_eq!(one, paint(2));
    assert_eq!(one, paint(5));
    assert_eq!(one.rgb.len(), 3 * 96 * 70);
}

#[test]
fn a_png_holds_the_pixels_of_the_picture() {
    let picture = PictureRenderer::new(&flight(3), &small(1), 0.0, 0.0).render(0.0);
    let file = png::encode(&picture).unwrap();
    // Chunks: length, kind, content, checksum.
    let (mut at, mut packed) = (8, Vec::new());
    while at < file.len() {
        let length = u32::from_be_bytes(file[at..at + 4].try_into().unwrap()) as usize;
        if &file[at + 4..at + 8] == b"IDAT" {
            packed.extend(&file[at + 8..at + 8 + length]);
        }
        at += 12 + length;
    }
    let mut rows = Vec::new();
    flate2::read::ZlibDecoder::new(packed.as_slice()).read_to_end(&mut rows).unwrap();
    let stride = 3 * picture.width;
    let mut above = vec![0_u8; stride];
    for (row, wanted) in rows.chunks(stride + 1).zip(picture.rgb.chunks(stride)) {
        let mut line = vec![0_u8; stride];
        for k in 0..stride {
            let left = if k < 3 { 0 } else { line[k - 3] };
            let corner = if k < 3 { 0 } else { above[k - 3] };
            let guess = i32::from(left) + i32::from(above[k]) - i32::from(corner);
            let away = |v: u8| (guess - i32::from(v)).abs();
            let paeth = [left, above[k], corner].into_iter().min_by_key(|&v| away(v)).unwrap();
            let predicted = [0, left, above[k], 0, paeth][usize::from(row[0])];
            line[k] = row[k + 1].wrapping_add(predicted);
        }
        assert_eq!(line, wanted);
        above = line;
    }
}

#[test]
fn a_video_keeps_real_time_and_has_at_least_one_picture() {
    assert_eq!(film(&Recording::default(), 20.0).unwrap(), [0.0]);
    assert_eq!(film(&flight(1), 20.0).unwrap(), [0.0]);
    // 60 frames per second: 61 of them are a second, and 21 pictures.
    assert_eq!(film(&flight(61), 20.0).unwrap().len(), 21);
}

#[test]
fn recordings_of_nothing_and_of_one_frame_are_written_by_every_exporter() {
    let folder = folder("small");
    for (name, recording) in
        [("empty", Recording::default()), ("rest", flight(0)), ("one", with_soft(1))]
    {
        for exporter in
            EXPORTERS.iter().filter(|exporter| !["gif", "mp4", "png"].contains(&exporter.name))
        {
            let path = folder.join(format!("{name}.{}", exporter.endings[0]));
            (exporter.write)(&recording, &path, &stiction_view::PictureOptions::default()).unwrap();
            assert!(std::fs::metadata(&path).unwrap().len() > 0);
        }
        let path = folder.join(format!("{name}.png"));
        png::write_with(&recording, &path, &small(1), f64::INFINITY).unwrap();
        let path = folder.join(format!("{name}.gif"));
        gif::write_with(&recording, &path, &small(1)).unwrap();
        let file = std::fs::read(&path).unwrap();
        assert!(file.starts_with(b"GIF89a\x60\x00\x46\x00") && file.ends_with(b"\x00;"));
    }
    std::fs::remove_dir_all(folder).unwrap();
}

#[test]
fn an_inconsistent_recording_is_refused_by_every_exporter() {
    let folder = folder("unfit");
    let mut recording = flight(3);
    recording.frames.position.pop();
    for exporter in EXPORTERS {
        let path = folder.join(format!("run.{}", exporter.endings[0]));
        let message =
            (exporter.write)(&recording, &path, &stiction_view::PictureOptions::default())
                .err()
                .unwrap()
                .to_string();
        assert!(message.contains("position"), "{}: {message}", exporter.name);
        assert!(!path.exists());
    }
    std::fs::remove_dir_all(folder).unwrap();
}

#[test]
fn an_absent_video_program_is_named_in_the_error() {
    let path = folder("absent").join("run.mp4");
    let program = std::ffi::OsStr::new("no-such-program");
    let error = mp4::write_with(&flight(2), &path, &small(1), program).err().unwrap().to_string();
    assert!(error.contains("no-such-program") && error.contains("PATH"), "{error}");
    std::fs::remove_dir_all(path.parent().unwrap()).unwrap();
}

#[cfg(unix)]
#[test]
fn every_picture_reaches_the_video_program_and_its_failure_leaves_nothing() {
    use std::os::unix::fs::PermissionsExt;
    let folder = folder("film");
    let script = |name: &str, rest: &str| {
        let path = folder.join(name);
        let text = format!(
            "#!/bin/sh\ncase \"$*\" in *-encoders*) echo ' V mpeg4 film'; exit 0;; esac\n\
             for last in \"$@\"; do :; done\n{rest}\n"
        );
        std::fs::write(&path, text).unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
        path
    };
    let (keeps, fails) =
        (script("keeps", "cat > \"$last\""), script("fails", "echo no room >&2; exit 3"));
    let (path, recording) = (folder.join("run.mp4"), flight(61));
    mp4::write_with(&recording, &path, &small(1), keeps.as_os_str()).unwrap();
    assert_eq!(std::fs::metadata(&path).unwrap().len(), 31 * 3 * 96 * 70);
    let other = folder.join("other.mp4");
    let error = mp4::write_with(&recording, &other, &small(1), fails.as_os_str()).err().unwrap();
    assert!(error.to_string().contains("no room"), "{error}");
    assert_eq!(std::fs::read_dir(&folder).unwrap().count(), 3);
    std::fs::remove_dir_all(folder).unwrap();
}

#[test]
fn poses_between_frames_turn_the_short_way() {
    let mut recording = flight(2);
    let q = UnitQuaternion::from_euler_angles(0.0, 0.0, 0.4);
    recording.frames.rotation[0] = [1.0, 0.0, 0.0, 0.0];
    recording.frames.rotation[2] = [-q.w, -q.i, -q.j, -q.k];
    let pose = stiction_view::interpolation::poses_at(&recording, 0.5 / 60.0)[1];
    let wanted = UnitQuaternion::from_euler_angles(0.0, 0.0, 0.2);
    assert!(pose.rotation.angle_to(&wanted) < 1e-12);
}

/// Recordings with numbers that no run has: every exporter writes a file, or says what is wrong.
#[test]
fn numbers_that_cannot_be_are_written_or_refused_by_every_exporter() {
    let place = folder("odd");
    let odd = [f64::NAN, f64::INFINITY, 1e300, -5.0];
    let options = "size=32x24".parse().unwrap();
    for (k, x) in odd.into_iter().enumerate() {
        for column in 0..7 {
            let mut recording = with_soft(4);
            let frames = &mut recording.frames;
            match column {
                0 => frames.time[3] = x,
                1 => frames.time[0] = x,
                2 => frames.position[3] = [x, 0.0, x],
                3 => frames.rotation[2] = [x; 4],
                4 => frames.soft[5] = [x as f32, 0.0, 1.0],
                5 => (frames.contacts.point[0], frames.contacts.force[0]) = ([x; 3], [x; 3]),
                _ => recording.shapes[1].pose.translation.vector.x = x,
            }
            for exporter in EXPORTERS.iter().filter(|exporter| exporter.name != "mp4") {
                let path = place.join(format!("{k}-{column}.{}", exporter.endings[0]));
                if let Err(error) = (exporter.write)(&recording, &path, &options) {
                    assert!(!error.to_string().is_empty());
                }
            }
        }
    }
    std::fs::remove_dir_all(place).unwrap();
}

#[test]
fn a_film_of_too_many_frames_is_refused() {
    for end in [1e300, 1e9, f64::INFINITY, f64::NAN] {
        let mut recording = flight(3);
        recording.frames.time[2] = end;
        let found = film(&recording, 25.0);
        assert!(found.is_err() || end.is_nan(), "{end}");
    }
}
