//! Scenes and models whose numbers ask for more than can be, or that are large in a way that a slow
//! reader would not survive: each ends with a model, or with an error that has file, line, what was
//! found and what is expected.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::fmt::Write;
use std::path::Path;

use stiction_scene::Files;
use stiction_scene::import::{Imported, Options, load_with};

fn load(name: &str, text: &str) -> Result<Imported, String> {
    let mut files = Files::in_memory();
    files.insert(name, text.as_bytes());
    load_with(files, Path::new(name), &Options::default()).map_err(|error| error.to_string())
}

fn refused(name: &str, text: &str, expected: &str) {
    let message = load(name, text).map(drop).unwrap_err();
    assert!(message.starts_with(&format!("{name}:")), "{message}");
    assert!(message.contains(expected), "{message} lacks {expected}");
}

const BALL: &str = "[[body]]\nname = 'ball'\nshape = 'sphere'\nradius = 0.1\n";

#[test]
fn copies_of_bodies_models_and_soft_bodies_beyond_the_limit() {
    let copies = |n: usize| format!("copies = {{ count = [{n}, 1, 1], spacing = [1, 1, 1] }}\n");
    refused("a.toml", &format!("{BALL}{}", copies(10_000_000)), "not more than a million");
    let twice = format!(
        "{BALL}{0}[[body]]\nname = 'b'\nshape = 'sphere'\nradius = 0.1\n{0}",
        copies(1_000_000)
    );
    refused("a.toml", &twice, "2000001 bodies in all; expected at most");
    let cable =
        "[[cable]]\nname = 'c'\nstart = [0, 0, 1]\nlength = 1\nsegments = 1000\nradius = 1e-3\n";
    refused("a.toml", &format!("{cable}{}", copies(10_000)), "bodies in all; expected at most");
    let soft =
        "[[soft]]\nmesh = 'box'\nedges = [1, 1, 1]\ncells = 20\nyoung = 1e5\npoisson = 0.3\n";
    refused("a.toml", &format!("{soft}{}", copies(1000)), "tetrahedra in all; expected at most");
}

#[test]
fn segments_of_cables_and_cells_of_meshes_beyond_the_limit() {
    for segments in ["4000000000", "200000"] {
        let cable = format!("[[cable]]\nstart = [0, 0, 1]\nlength = 1\nsegments = {segments}\n");
        let message = load("a.toml", &cable).map(drop).unwrap_err();
        assert!(message.contains("bodies in all") || message.contains("1 to 100000"), "{message}");
    }
    for mesh in ["box", "mat", "sphere", "cylinder", "cone", "dome", "shell"] {
        let cells = if ["mat", "cylinder"].contains(&mesh) { "[60000, 60000]" } else { "60000" };
        let soft = format!(
            "[[soft]]\nmesh = '{mesh}'\nedges = [1, 1, 1]\nradius = 1\nlength = 1\n\
             thickness = 0.1\ncells = {cells}\nyoung = 1e5\npoisson = 0.3\n"
        );
        refused("a.toml", &soft, "a.toml:2");
    }
}

#[test]
fn replicas_and_height_fields_beyond_the_limit() {
    let replicate = "<mujoco><worldbody><replicate count='9999999999'><geom size='1'/></replicate>\
                     </worldbody></mujoco>";
    refused("a.xml", replicate, "expected at most");
    let field = "<mujoco><asset><hfield name='h' nrow='100000' ncol='100000' size='1 1 1 1'/></asset>\
                 </mujoco>";
    refused("a.xml", field, "10000000000 heights; expected at most");
}

#[test]
fn a_chain_of_ten_thousand_links_written_child_first() {
    let mut text = String::new();
    for k in 0..10_000 {
        let _ = write!(text, "[[body]]\nname = 'b{k}'\nshape = 'sphere'\nradius = 0.1\n");
        if k < 9_999 {
            let _ = writeln!(text, "parent = 'b{}'", k + 1);
        }
    }
    let found = load("a.toml", &text).unwrap();
    assert_eq!(found.world.model().bodies().len(), 10_001);
}

#[test]
fn twenty_thousand_exclusions_and_checks_by_name() {
    let mut text = format!(
        "{BALL}copies = {{ count = [20000, 1, 1], spacing = [1, 1, 1] }}\n[scene]\ngravity = [0, 0, 0]\n"
    );
    for k in 0..19_999 {
        let _ = write!(text, "[[exclude]]\nbodies = ['ball-{k}', 'ball-{}']\n", k + 1);
    }
    for k in 0..5_000 {
        let _ = write!(text, "[[check]]\nbody = 'ball-{k}'\nspeed-below = 1\n");
    }
    let found = load("a.toml", &text).map(|found| found.world.model().nv());
    assert_eq!(found, Ok(120_000));
}

#[test]
fn patterns_that_mean_too_many_pairs() {
    let text = format!(
        "{BALL}copies = {{ count = [20000, 1, 1], spacing = [1, 1, 1] }}\n\
         [[exclude]]\nbodies = ['ball*', 'ball*']\n"
    );
    refused("a.toml", &text, "patterns of 20000 and 20000 names; expected at most");
}

#[test]
fn twenty_thousand_excluded_and_soft_pairs_of_mjcf() {
    let n = 20_000;
    let mut text = String::from("<mujoco><worldbody>");
    for k in 0..n {
        let _ = write!(
            text,
            "<body name='b{k}' pos='{k} 0 0'><freejoint/><geom name='g{k}' size='0.1'/></body>"
        );
    }
    text += "</worldbody><contact>";
    for k in 1..n {
        let _ = write!(text, "<exclude body1='b{}' body2='b{k}'/>", k - 1);
        let _ =
            write!(text, "<pair geom1='g{}' geom2='g{k}' solref='0.1 1' solimp='0.8 0.8'/>", k - 1);
    }
    text += "</contact></mujoco>";
    let found = load("a.xml", &text).map(|found| found.world.model().nv());
    assert_eq!(found, Ok(6 * n));
}

#[test]
fn twenty_thousand_mocap_bodies_and_keyframes() {
    let mut text = String::from("<mujoco><worldbody>");
    for k in 0..20_000 {
        let _ = write!(text, "<body mocap='true' pos='{k} 0 0'><geom size='0.1'/></body>");
    }
    text += "</worldbody></mujoco>";
    assert!(load("a.xml", &text).is_ok());
    let mut text = String::from("<mujoco><worldbody/><keyframe>");
    for k in 0..50_000 {
        let _ = write!(text, "<key name='k{k}'/>");
    }
    text += "</keyframe></mujoco>";
    assert_eq!(load("a.xml", &text).unwrap().keyframes.len(), 50_000);
}
