//! Signed distance fields in scenes and in MJCF: what they become, and what is refused where.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::path::Path;

use stiction_geom::Shape;
use stiction_scene::import::Options;
use stiction_scene::{Files, Imported, SceneError, load_with};

/// A closed box and one without a face, as files.
const BOX: &str = "v -1 -1 -1\nv 1 -1 -1\nv -1 1 -1\nv 1 1 -1\nv -1 -1 1\nv 1 -1 1\nv -1 1 1\nv 1 1 1\n\
                   f 1 3 4 2\nf 5 6 8 7\nf 1 2 6 5\nf 3 7 8 4\nf 1 5 7 3\n";

fn read(sdf: &str) -> Result<Imported, SceneError> {
    let mut files = Files::in_memory();
    let text = format!("[[body]]\nname = 'a'\nshape = 'sdf'\nsdf = {sdf}\n");
    files.insert("s/scene.toml", text.as_bytes());
    files.insert("s/box.obj", format!("{BOX}f 2 4 8 6\n").as_bytes());
    files.insert("s/open.obj", BOX.as_bytes());
    load_with(files, Path::new("s/scene.toml"), &Options::default())
}

fn volume(sdf: &str) -> f64 {
    let scene = read(sdf).unwrap();
    let shape = &scene.world.geoms()[0].shape;
    assert!(matches!(shape, Shape::Field(_)), "{sdf}");
    shape.volume()
}

#[test]
fn every_kind_of_field_has_the_volume_of_its_solid() {
    let close = |found: f64, exact: f64, tolerance: f64| (found / exact - 1.0).abs() < tolerance;
    let pi = std::f64::consts::PI;
    // Surfaces of 64 chords around: 2π²/3·64² = 0.2 % of the area; marching cells cut edges by a part of a cell.
    assert!(close(volume("{ sphere = 0.1 }"), 4.0 / 3.0 * pi * 1e-3, 0.01));
    assert!(close(volume("{ box = [0.1, 0.2, 0.3] }"), 6e-3, 1e-12));
    assert!(close(volume("{ cylinder = [0.1, 0.2] }"), pi * 2e-3, 0.01));
    assert!(close(volume("{ torus = [0.1, 0.02] }"), 2.0 * pi * pi * 0.1 * 4e-4, 0.03));
    let solid = "{ revolve = [[0.0, 0.0], [0.1, 0.0], [0.1, 0.2], [0.0, 0.2]] }";
    assert!(close(volume(solid), pi * 2e-3, 0.01));
    assert!(close(volume("{ mesh = 'box.obj', scale = 0.1, cell = 0.02 }"), 8e-3, 1e-12));
    let cut =
        "{ difference = [{ box = [0.2, 0.2, 0.2] }, { box = [0.1, 0.1, 1.0] }], width = 0.01 }";
    assert!(close(volume(cut), 6e-3, 0.05));
    let both = "{ union = [{ box = [0.2, 0.2, 0.2] }, { box = [0.2, 0.2, 0.2], position = [0.1, 0, 0] }] }";
    assert!(close(volume(both), 12e-3, 0.05));
    assert!(
        volume("{ revolve = [[0.0, 0.0], [0.05, 0.0], [0.08, 0.04]], thickness = 0.004 }") > 0.0
    );
    assert!(
        volume("{ thread = 'bolt', length = 0.03 }") > volume("{ thread = 'nut', length = 0.01 }")
    );
}

#[test]
fn wrong_fields_are_refused_with_their_place() {
    let message = |sdf: &str| read(sdf).map(|scene| scene.name).unwrap_err().to_string();
    let cases = [
        ("3", "expected"),
        ("{ }", "no kind of solid"),
        ("{ sphere = -1.0 }", "sphere"),
        ("{ sphere = 1.0, radius = 2.0 }", "radius"),
        ("{ revolve = [[0.0, 0.0, 1.0]] }", "[r, z]"),
        ("{ revolve = [[0.0, 0.0], [-1.0, 0.0]], thickness = 0.1 }", "point 1 of the profile"),
        ("{ thread = 'nut', length = 0.02, clearance = 0.0 }", "clearance"),
        ("{ mesh = 'open.obj' }", "closed mesh"),
        ("{ mesh = 'box.obj', cell = 1e-7 }", "bytes"),
        ("{ difference = [{ sphere = 1.0 }] }", "cut away"),
    ];
    for (sdf, expected) in cases {
        let found = message(sdf);
        assert!(found.contains(expected), "{sdf}: {found}");
        assert!(found.contains("scene.toml:"), "{sdf}: {found}");
    }
}

#[test]
fn a_geom_of_type_sdf_with_a_closed_mesh_is_a_sampled_field() {
    let model = |file: &str| {
        let mut files = Files::in_memory();
        let text = format!(
            "<mujoco><asset><mesh name='m' file='{file}'/></asset><worldbody><body>\
             <freejoint/><geom type='sdf' mesh='m' mass='1'/></body></worldbody></mujoco>"
        );
        files.insert("m.xml", text.as_bytes());
        files.insert("box.obj", format!("{BOX}f 2 4 8 6\n").as_bytes());
        files.insert("open.obj", BOX.as_bytes());
        load_with(files, Path::new("m.xml"), &Options::default())
    };
    let closed = model("box.obj").unwrap();
    assert!(matches!(closed.world.geoms()[0].shape, Shape::Field(_)));
}

fn with_plugin(name: &str, config: &str) -> Result<Imported, SceneError> {
    let mut files = Files::in_memory();
    let text = format!(
        "<mujoco><extension><plugin plugin='{name}'><instance name='i'>{config}</instance></plugin>\
         </extension><asset><mesh name='m'><plugin instance='i'/></mesh></asset><worldbody><body>\
         <freejoint/><geom type='sdf' mesh='m'><plugin instance='i'/></geom>\
         <geom size='0.1' pos='5 0 0'/></body></worldbody></mujoco>"
    );
    files.insert("m/model.xml", text.as_bytes());
    load_with(files, Path::new("m/model.xml"), &Options::default())
}

#[test]
fn plugins_of_signed_distances_become_fields_of_the_same_extent() {
    let radii = "<config key='radius1' value='0.4'/><config key='radius2' value='0.1'/>";
    let corner = 1.0 / 3.0_f64.sqrt();
    let tip = 1.4 + 2.8 / 25.0;
    for (name, config, low, high) in [
        ("torus", radii, [-0.5, -0.5, -0.1], [0.5, 0.5, 0.1]),
        ("bowl", "", [-1.02, -1.02, -1.02], [1.02, 1.02, 0.42]),
        ("bolt", "<config key='radius' value='0.255'/>", [-0.5, -corner, -1.0], [0.5, corner, 0.0]),
        ("nut", "", [-0.5, -corner, -0.5], [0.5, corner, 0.0]),
        ("gear", "", [-tip, -tip, -0.1], [tip, tip, 0.1]),
    ] {
        let found = with_plugin(&format!("mujoco.sdf.{name}"), config).unwrap();
        assert!(found.unsupported.is_empty(), "{name}: {:?}", found.unsupported);
        let Shape::Field(field) = &found.world.geoms()[0].shape else { panic!("{name}") };
        let bounds = field.surface().local_bounds();
        // Triangles cut corners by less than their edges.
        for axis in 0..3 {
            assert!((bounds.min[axis] - low[axis]).abs() < 0.03, "{name}: {bounds:?}");
            assert!((bounds.max[axis] - high[axis]).abs() < 0.03, "{name}: {bounds:?}");
        }
    }
}

#[test]
fn a_mesh_of_an_unknown_plugin_is_left_out_and_listed() {
    let found = with_plugin("somebody.else", "").unwrap();
    let told: Vec<_> = found.unsupported.iter().filter(|entry| entry.physical).collect();
    assert!(told[0].what.contains("somebody.else"), "{told:?}");
    let wrong = with_plugin("mujoco.sdf.torus", "<config key='radius1' value='wide'/>");
    let Err(error) = wrong else { panic!("a radius that is no number") };
    let message = error.to_string();
    assert!(message.contains("radius1") && message.contains("a number"), "{message}");
}
