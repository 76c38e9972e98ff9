//! Soft bodies and cables from text: what they become, and what is refused where.

use std::path::Path;

use nalgebra::Vector3;
use stiction_mech::{Lumping, Material};

use crate::error::SceneError;
use crate::files::Files;
use crate::import::{Imported, Options, load_with};

/// A VTK file of tetrahedra.
fn vtk(points: &[[f64; 3]], tetrahedra: &[[usize; 4]]) -> String {
    let mut text =
        "# vtk DataFile Version 2.0\nmesh\nASCII\nDATASET UNSTRUCTURED_GRID\n".to_owned();
    text += &format!("POINTS {} double\n", points.len());
    points.iter().for_each(|[x, y, z]| text += &format!("{x} {y} {z}\n"));
    text += &format!("CELLS {} {}\n", tetrahedra.len(), 5 * tetrahedra.len());
    tetrahedra.iter().for_each(|[a, b, c, d]| text += &format!("4 {a} {b} {c} {d}\n"));
    text + &format!("CELL_TYPES {}\n{}", tetrahedra.len(), "10\n".repeat(tetrahedra.len()))
}

const CORNERS: [[f64; 3]; 6] = [
    [0.0, 0.0, 0.0],
    [1.0, 0.0, 0.0],
    [0.0, 1.0, 0.0],
    [0.0, 0.0, 1.0],
    [0.0, -1.0, 0.0],
    [0.0, 0.0, -1.0],
];

/// A scene in memory, beside some meshes.
fn read(text: &str) -> Result<Imported, SceneError> {
    let mut files = Files::in_memory();
    files.insert("s/scene.toml", text.as_bytes());
    files.insert("s/good.vtk", vtk(&CORNERS[..4], &[[0, 1, 2, 3]]).into_bytes());
    files.insert("s/inverted.vtk", vtk(&CORNERS[..4], &[[1, 0, 2, 3]]).into_bytes());
    let flat = [[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [1.0, 1.0, 0.0]];
    files.insert("s/flat.vtk", vtk(&flat, &[[0, 1, 2, 3]]).into_bytes());
    // Two tetrahedra that share an edge and no face.
    let edge = vtk(&CORNERS, &[[0, 1, 2, 3], [0, 1, 4, 5]]);
    files.insert("s/edge.vtk", edge.into_bytes());
    load_with(files, Path::new("s/scene.toml"), &Options::default())
}

fn message(text: &str) -> String {
    read(text).map(|scene| scene.name).unwrap_err().to_string()
}

/// A cube without damping; more keys may follow.
const CUBE: &str = "[[soft]]\nname = 'cube'\nmesh = 'box'\nedges = [0.2, 0.2, 0.2]\ncells = 2\nyoung = 1e4\npoisson = 0.3\n";

#[test]
fn a_soft_body_is_as_its_table_says() {
    let scene = read(&format!(
        "{CUBE}density = 500\nposition = [0, 0, 1]\nmass-damping = 0.5\nstiffness-damping = 0.01\n\
         lumping = 'lumped'\nmaterial = 'linear-corotated'\ntouches-itself = true\n\
         colour = [1, 0, 0]\nsurface = {{ friction = 0.3 }}\nfixed = {{ below = -0.1 }}"
    ))
    .unwrap();
    let object = &scene.world.softs()[0];
    let spec = &object.spec;
    assert_eq!(spec.material, Material::LinearCorotated { young: 1e4, poisson: 0.3 });
    assert_eq!((spec.density, spec.mass_damping, spec.stiffness_damping), (500.0, 0.5, 0.01));
    assert_eq!((spec.lumping, spec.vertices.len()), (Lumping::Lumped, 27));
    assert_eq!((object.surface.friction, object.colour), (0.3, [1.0, 0.0, 0.0, 1.0]));
    assert!(object.touches_itself);
    // The lowest layer of three by three, in the frame of the mesh.
    let body = &scene.world.model().softs()[0];
    assert_eq!(body.spec.fixed.len(), 9);
    assert!(body.spec.fixed.iter().all(|k| (spec.vertices[*k as usize].z - 0.9).abs() < 1e-12));
    // Exact but for round-off: the mesh fills the cube.
    assert!((body.total_mass() - 500.0 * 0.008).abs() < 1e-12);
}

#[test]
fn every_generated_mesh_can_be_asked_for() {
    for (keys, vertices) in [
        ("mesh = 'box'\nedges = [1, 1, 1]\ncells = [1, 2, 3]", 2 * 3 * 4),
        ("mesh = 'mat'\nedges = [1, 1, 0.1]\ncells = [4, 3]", 5 * 4 * 2),
        ("mesh = 'mat'\nedges = [1, 1, 0.1]\ncells = [4, 3]\nlayers = 2", 5 * 4 * 3),
        ("mesh = 'sphere'\nradius = 1\ncells = 1", 13),
        ("mesh = 'cylinder'\nradius = 1\nlength = 2\ncells = [6, 2]", 3 * 7),
        ("mesh = 'cone'\nradius = 1\nlength = 2\ncells = 1", 8),
        ("mesh = 'dome'\nradius = 1\nthickness = 0.1\ncells = 3", 0),
        ("mesh = 'shell'\nradius = 1\nthickness = 0.1\ncells = 2", 0),
        ("file = 'good.vtk'", 4),
        ("mesh = 'file'\nfile = 'good.vtk'\nscale = 0.5", 4),
    ] {
        let scene = read(&format!("[[soft]]\n{keys}\nyoung = 1e4\npoisson = 0.3")).unwrap();
        let found = scene.world.model().nodes();
        assert!(found == vertices || vertices == 0 && found > 10, "{keys}: {found} vertices");
    }
}

#[test]
fn a_tetrahedron_that_is_inside_out_is_turned_over() {
    let volume = |file: &str| {
        let text = format!("[[soft]]\nfile = '{file}'\nyoung = 1e4\npoisson = 0.3");
        read(&text).unwrap().world.model().softs()[0].volume()
    };
    assert_eq!(volume("inverted.vtk"), volume("good.vtk"));
}

#[test]
fn a_thrown_soft_body_flies_as_a_body_does() {
    let text = format!(
        "[scene]\nduration = 0.1\n[step]\ntime-step = 0.01\n\
         {CUBE}velocity = [1, 0, 2]\ncopies = {{ count = [2, 1, 1], spacing = [1, 0, 0] }}\n\
         [[check]]\nsoft = 'cube-1'\nposition = [1.1, 0, 0.15]\nwithin = 6e-3\n\
         [[check]]\nsoft = 'cube-*'\nspeed-below = 3\n[[check]]\nsoft = 'cube-0'\nlowest = 0.1"
    );
    let scene = read(&text).unwrap();
    // ½ g t² = 0.049 m; a step of first order misses it by at most ½ g t h = 4.9 mm.
    let run = scene.scene().unwrap().start().unwrap().run().unwrap();
    assert!(run.passed, "{}", run.detail);
    let rest = text.replace("speed-below = 3", "speed-below = 0.1");
    let run = read(&rest).unwrap().scene().unwrap().start().unwrap().run().unwrap();
    assert!(!run.passed && run.detail.contains("cube-0 moves"), "{}", run.detail);
}

#[test]
fn a_soft_body_hangs_by_what_it_is_attached_to() {
    let text = format!(
        "[scene]\nduration = 0.5\n[step]\ntime-step = 0.01\n{CUBE}stiffness-damping = 0.05\n\
         [[soft.attach]]\nbody = 'hook'\nwhere = {{ above = 0.1 }}\n\
         [[body]]\nname = 'hook'\nshape = 'box'\nedges = [0.2, 0.2, 0.1]\nposition = [0, 0, 0.15]\nfixed = true\n\
         [[check]]\nsoft = 'cube'\nlowest = -0.05\nhighest = 0.0"
    );
    let run = read(&text).unwrap().scene().unwrap().start().unwrap().run().unwrap();
    assert!(run.passed, "{}", run.detail);
}

#[test]
fn a_cable_is_as_its_table_says() {
    let scene = read(
        "[[body]]\nname = 'hand'\nshape = 'sphere'\nradius = 0.05\nposition = [0, 0, 2]\nfixed = true\n\
         [[cable]]\nname = 'rope'\nstart = [0, 0, 1.95]\nlength = 1\nsegments = 10\nradius = 0.01\n\
         density = 1000\nyoung = 1e6\npoisson = 0.4\ndamping = 0.1\nfirst = 'hand'\n\
         [[cable]]\nname = 'bow'\npath = [[0, 0, 0], [1, 0, 0], [1, 1, 0]]\nrest = 'as-laid'\n\
         first = 'world'\nlast = { body = 'hand', position = [0, 0, 0.05] }",
    )
    .unwrap();
    let model = scene.world.model();
    let rope = &scene.world.cables()[0];
    assert_eq!((rope.spec.segments, rope.bodies.len()), (10, 10));
    assert!((rope.segment_length - 0.1).abs() < 1e-12);
    let mass: f64 =
        rope.bodies.iter().map(|body| model.bodies()[body.0].spec.mass.unwrap().mass()).sum();
    assert!((mass - 1000.0 * std::f64::consts::PI * 1e-4).abs() < 1e-12);
    // It hangs down from its start by default.
    let last = &model.bodies()[rope.bodies[9].0];
    assert_eq!(last.spec.name, "rope/9");
    let end = last.spec.pose.translation.vector;
    assert!((end - Vector3::new(0.0, 0.0, 1.0)).norm() < 1e-12, "{end}");
}

#[test]
fn errors_of_a_soft_body_name_the_line_and_the_expected_value() {
    let cube = |more: &str| format!("{CUBE}{more}");
    let file = |name: &str| format!("[[soft]]\nfile = '{name}'\nyoung = 1e4\npoisson = 0.3");
    for (text, place, expected) in [
        ("[[soft]]\nmesh = 'torus'".to_owned(), "scene.toml:2", "\"shell\", \"sphere\""),
        ("[[soft]]\nyoung = 1".to_owned(), "scene.toml:1", "the name of a mesh, or a file"),
        (CUBE.replace("cells = 2", "cells = 0"), "scene.toml:5", "above zero"),
        (CUBE.replace("cells = 2", "cells = [2, 2]"), "scene.toml:5", "one for each edge"),
        (CUBE.replace("0.2, 0.2, 0.2", "0.2, 0.2, 0"), "scene.toml:3", "height"),
        (CUBE.replace("poisson = 0.3", "poisson = 0.5"), "scene.toml:7", "< 0.5"),
        (CUBE.replace("young = 1e4", "young = 0"), "scene.toml:6", "> 0"),
        (CUBE.replace("young = 1e4", ""), "scene.toml:1", "no young"),
        (cube("density = 0"), "scene.toml:8", "above zero"),
        (cube("stiffness-damping = -1"), "scene.toml:8", "not negative"),
        (cube("material = 'jelly'"), "scene.toml:8", "\"corotational\", \"linear\""),
        (cube("material = 'mooney-rivlin'"), "scene.toml:1", "c1, c2, bulk"),
        (cube("c1 = 3"), "scene.toml:8", "\"c1\""),
        (cube("lumping = 'all'"), "scene.toml:8", "\"lumped\""),
        (cube("fixed = { below = -1 }"), "scene.toml:8", "no vertex lies there"),
        (cube("fixed = { }"), "scene.toml:8", "below, above"),
        (cube("fixed = [0, 27]"), "scene.toml:8", "0 to 26"),
        (cube("[[soft.attach]]\nbody = 'hand'\nwhere = [0]"), "scene.toml:9", "world"),
        (cube("[[soft.attach]]\nbody = 'world'"), "scene.toml:8", "no where"),
        (cube("scale = [1, 1, 0]"), "scene.toml:8", "scale"),
        (
            cube("surface = { grain = { along = [1, 0, 0], across-friction = 1 } }"),
            "scene.toml:8",
            "expected none",
        ),
        (cube("[[soft]]\nname = 'cube'"), "scene.toml:8", "mesh"),
        (file("flat.vtk"), "flat.vtk:11", "volume"),
        (file("edge.vtk"), "edge.vtk", "manifold"),
        (file("none.vtk"), "none.vtk", ""),
        (file("scene.toml"), "scene.toml", ".vtk"),
        ("[[check]]\nsoft = 'x'\nlowest = 1".to_owned(), "scene.toml:2", "nothing of that kind"),
    ] {
        let found = message(&text);
        assert!(found.contains(place) && found.contains(expected), "{text}\n-> {found}");
    }
}

#[test]
fn errors_of_a_cable_name_the_line_and_the_expected_value() {
    let straight = |more: &str| format!("[[cable]]\nstart = [0, 0, 0]\nlength = 1\n{more}");
    for (text, line, expected) in [
        ("[[cable]]\nlength = 1".to_owned(), 1, "no start"),
        ("[[cable]]\nstart = [0, 0, 0]".to_owned(), 1, "no length"),
        ("[[cable]]\npath = [[0, 0, 0]]".to_owned(), 2, "two points"),
        ("[[cable]]\npath = [[0, 0, 0], [0, 0, 0]]".to_owned(), 2, "path"),
        (straight("direction = [0, 0, 0]"), 4, "a direction"),
        (straight("segments = 0"), 4, "above zero"),
        (straight("radius = -1"), 4, "above zero"),
        (straight("density = 0"), 4, "above zero"),
        (straight("poisson = 0.6"), 4, "0.5"),
        (straight("rest = 'curly'"), 4, "\"as-laid\""),
        (straight("first = 'hand'"), 4, "world"),
        (straight("first = 3"), 4, "the name of a body"),
        (straight("middle = 3"), 4, "segments, start"),
    ] {
        let found = message(&text);
        let place = format!("scene.toml:{line}:");
        assert!(found.contains(&place) && found.contains(expected), "{text}\n-> {found}");
    }
}
