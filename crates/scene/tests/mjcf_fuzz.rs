//! Mutated MJCF: whatever a file says, reading it ends with a model or with an error that names a
//! file; it never panics and never grows without bounds.
//!
//! The corpus is a text that uses every section, and, where the shared data is at hand, models of
//! real robots with a tetrahedron in place of each mesh. Mutations follow from a fixed seed.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};

use stiction_math::random::SplitMix64;
use stiction_scene::Files;
use stiction_scene::import::{Options, load_with};

/// A tetrahedron.
const OBJ: &str = "v 0 0 0\nv 0.1 0 0\nv 0 0.1 0\nv 0 0 0.1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n";

/// A text that uses every section.
const EVERYTHING: &str = r#"<mujoco model="everything">
  <compiler angle="degree" autolimits="true" eulerseq="xyz" meshdir="assets" inertiafromgeom="auto"/>
  <option timestep="0.001" gravity="0 0 -9.81" integrator="implicitfast" cone="elliptic" impratio="10" magnetic="0 0.1 0.2" density="1.2" viscosity="0.01" wind="0 1 0">
    <flag eulerdamp="disable" warmstart="enable" frictionloss="enable"/>
  </option>
  <size memory="10M"/>
  <statistic extent="1"/>
  <visual><global azimuth="120"/></visual>
  <custom><numeric name="n" data="1 2 3"/></custom>
  <default>
    <geom friction="0.8 0.01 0.001" solref="0.01 1" solimp="0.9 0.99 0.001" condim="4"/>
    <joint damping="0.1" armature="0.01"/>
    <general ctrlrange="-1 1"/>
    <tendon stiffness="2" damping="0.1"/>
    <equality solref="0.01 1"/>
    <default class="servo"><position kp="100" dampratio="1" inheritrange="1"/>
      <default class="inner"><position kv="3"/><geom rgba="1 0 0 1" contype="0" conaffinity="0" group="2"/></default>
    </default>
  </default>
  <asset>
    <mesh name="tetra" file="tetra.obj" scale="1 -1 2" refpos="0.1 0 0"/>
    <mesh name="inline" vertex="0 0 0 1 0 0 0 1 0 0 0 1"/>
    <hfield name="hills" nrow="2" ncol="3" size="1 1 0.2 0.1" elevation="0 1 0 1 0 1"/>
    <material name="red" rgba="1 0 0 1"/>
    <texture name="sky" type="skybox" builtin="gradient" width="8" height="8"/>
  </asset>
  <worldbody>
    <light pos="0 0 3"/>
    <geom name="floor" type="plane" size="1 1 0.1"/>
    <geom name="hills" type="hfield" hfield="hills" pos="3 0 0"/>
    <site name="w" pos="1 0 2"/>
    <body name="a" pos="0 0 2" childclass="servo">
      <joint name="j1" axis="0 1 0.2" range="-100 80" stiffness="1.5" springref="10" frictionloss="0.1" actuatorfrcrange="-50 50"/>
      <geom name="ga" type="capsule" size=".05" fromto="0 0 0 .5 0 0"/>
      <geom name="drum" type="cylinder" size=".06 .2" pos=".25 0 0.1" euler="90 0 0" class="inner" mass="0.01"/>
      <site name="sa" pos=".2 .1 .05" xyaxes="1 0 0 0 0 1"/><site name="side" pos=".25 0 .3"/>
      <camera name="cam" pos=".1 0 0" zaxis="0 1 0"/>
      <frame pos="0 0 0.1" axisangle="1 0 0 30">
        <body name="b" pos=".5 0 0" quat="1 0.1 0 0" gravcomp="0.5">
          <inertial pos="0.1 0 0" mass="1" fullinertia="0.02 0.03 0.04 0.001 0 0"/>
          <joint name="j2" type="slide" axis="1 0 0" range="-.3 .2" ref="0.05" limited="true" margin="0.01"/>
          <geom name="gb" type="box" size=".1 .08 .12" priority="1" margin="0.001"/>
          <geom name="ball" size="0.05" pos=".1 0 .12" class="inner"/>
          <site name="sb" pos=".3 0 .1" type="box" size=".2 .2 .2"/>
          <body name="c" pos=".4 0 0"><joint name="j3" type="ball" range="0 100"/><geom type="ellipsoid" size=".1 .05 .2" density="500"/><site name="sc" pos=".05 .02 .1"/></body>
        </body>
      </frame>
    </body>
    <body name="f" pos="0.3 0.4 3" euler="30 20 10"><freejoint name="fj"/><geom name="gf" type="mesh" mesh="tetra"/><geom type="mesh" mesh="inline" mass="1"/><site name="sf"/></body>
    <replicate count="3" offset="0 0.3 0" euler="0 0 20"><body name="r" pos="2 0 1"><joint axis="0 0 1"/><geom name="gr" size="0.1"/></body></replicate>
  </worldbody>
  <contact><exclude body1="a" body2="c"/><pair geom1="gb" geom2="gf" condim="6" friction="0.7 0.7 0.01 0.001 0.001" solref="0.02 1" margin="0.01" gap="0.001"/></contact>
  <tendon>
    <fixed name="t1" range="-1 1" springlength="0.1 0.2" frictionloss="0.3"><joint joint="j1" coef="0.7"/><joint joint="j2" coef="-2"/></fixed>
    <spatial name="t2" limited="true" range="0 5"><site site="w"/><geom geom="drum" sidesite="side"/><site site="sb"/><pulley divisor="2"/><site site="sa"/><geom geom="ball"/><site site="sc"/></spatial>
  </tendon>
  <equality>
    <connect name="e1" body1="b" body2="f" anchor=".1 .2 .3"/><weld name="e2" body1="c" body2="f" relpose="1 2 3 0.8 0.6 0 0" anchor="1 2 3"/>
    <joint joint1="j1" joint2="j2" polycoef="0.1 2 3"/><tendon tendon1="t1" tendon2="t2"/><connect site1="sa" site2="sf" active="false"/>
  </equality>
  <actuator>
    <motor name="m1" joint="j1" gear="3" forcerange="-2 2"/><motor site="sf" gear="1 2 3 0.1 0.2 0.3"/>
    <position class="servo" joint="j1"/><position class="inner" joint="j2" gear="2"/><velocity tendon="t1" kv="9"/>
    <general name="g1" joint="j1" biastype="affine" gainprm="3" biasprm="0.3 -2 -0.1"/><muscle joint="j2"/><intvelocity joint="j2" kp="3" actrange="-1 1"/>
    <adhesion body="b" ctrlrange="0 1" gain="2"/>
  </actuator>
  <sensor>
    <accelerometer name="acc" site="sf" noise="0.1"/><gyro site="sf"/><touch site="sb"/><force site="sb"/><magnetometer site="sc"/><rangefinder site="sc"/>
    <framepos objtype="body" objname="c" reftype="camera" refname="cam"/><framequat objtype="xbody" objname="c"/><framezaxis objtype="geom" objname="gf"/>
    <jointpos joint="j1" cutoff="1"/><ballquat joint="j3"/><actuatorfrc actuator="m1"/><tendonpos tendon="t2"/><subtreecom body="a"/>
  </sensor>
  <keyframe><key name="home" time="1" qpos="0 0 1 0 0 0 0 0 1 1 0 0 0 0 0 0"/><key/></keyframe>
</mujoco>
"#;

/// Numbers, words and other things that do not belong where they are put.
const STRANGERS: [&str; 20] = [
    "NaN",
    "inf",
    "-inf",
    "1e308",
    "-1e308",
    "1e-308",
    "-1",
    "0",
    "",
    " ",
    "1e999",
    "99999999999",
    "-2147483648",
    "true",
    "x",
    "1 2",
    "1 1 1 1 1 1 1 1 1 1 1 1",
    "mesh",
    "&#0;",
    "../../etc",
];

/// Places of what stands between quotes.
fn values(text: &str) -> Vec<(usize, usize)> {
    let quotes: Vec<usize> = text.match_indices('"').map(|(at, _)| at).collect();
    quotes.chunks_exact(2).map(|pair| (pair[0] + 1, pair[1])).collect()
}

/// Places of words: tags, names of attributes, values.
fn words(text: &str) -> Vec<(usize, usize)> {
    let mut found = Vec::new();
    let mut start = None;
    for (at, letter) in text.char_indices() {
        match (letter.is_ascii_alphanumeric() || letter == '_', start) {
            (true, None) => start = Some(at),
            (false, Some(from)) => {
                found.push((from, at));
                start = None;
            }
            _ => {}
        }
    }
    found
}

fn replaced(text: &str, (from, to): (usize, usize), by: &str) -> String {
    format!("{}{by}{}", &text[..from], &text[to..])
}

/// A place between letters.
fn cut(text: &str, rng: &mut SplitMix64) -> usize {
    let mut at = rng.below(text.len() + 1);
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

/// The text with one thing wrong.
fn mutated(text: &str, rng: &mut SplitMix64) -> String {
    let span = |rng: &mut SplitMix64, longest: usize| {
        let from = cut(text, rng);
        let mut to = (from + 1 + rng.below(longest)).min(text.len());
        while !text.is_char_boundary(to) {
            to += 1;
        }
        (from, to)
    };
    let line = |rng: &mut SplitMix64| {
        let starts: Vec<usize> =
            std::iter::once(0).chain(text.match_indices('\n').map(|(at, _)| at + 1)).collect();
        let which = rng.below(starts.len());
        (starts[which], starts.get(which + 1).copied().unwrap_or(text.len()))
    };
    if values(text).is_empty() || words(text).is_empty() {
        return text.to_owned();
    }
    match rng.below(10) {
        0 => text[..cut(text, rng)].to_owned(),
        1 => {
            let span = span(rng, 40);
            replaced(text, span, "")
        }
        2 => {
            let (from, to) = span(rng, 200);
            replaced(text, (to, to), &text[from..to])
        }
        3 => {
            let line = line(rng);
            replaced(text, line, "")
        }
        4 => {
            let (from, to) = line(rng);
            replaced(text, (to, to), &text[from..to])
        }
        5 => {
            let found = values(text);
            let (one, other) = (found[rng.below(found.len())], found[rng.below(found.len())]);
            replaced(text, one, &text[other.0..other.1])
        }
        6 | 7 => {
            let found = values(text);
            let stranger = STRANGERS[rng.below(STRANGERS.len())];
            replaced(text, found[rng.below(found.len())], stranger)
        }
        8 => {
            // One of several numbers.
            let found = values(text);
            let (from, to) = found[rng.below(found.len())];
            let mut parts: Vec<&str> = text[from..to].split(' ').collect();
            let which = rng.below(parts.len());
            parts[which] = STRANGERS[rng.below(STRANGERS.len())];
            replaced(text, (from, to), &parts.join(" "))
        }
        _ => {
            let found = words(text);
            let (one, other) = (found[rng.below(found.len())], found[rng.below(found.len())]);
            replaced(text, one, &text[other.0..other.1])
        }
    }
}

/// Reads a text among files; panics with the text of the mutation if the reader does.
fn read(files: &Files, path: &Path, text: &str) -> bool {
    let mut files = files.clone();
    files.insert(path, text.as_bytes());
    let outcome = catch_unwind(AssertUnwindSafe(|| load_with(files, path, &Options::default())));
    match outcome {
        Ok(Ok(model)) => {
            assert!(model.world.model().q0().iter().all(|q| q.is_finite()), "{text}");
            true
        }
        Ok(Err(error)) => {
            let message = error.to_string();
            let names_a_file = [".xml", ".obj", ".stl", ".png"].iter().any(|e| message.contains(e));
            assert!(names_a_file, "no file in: {message}\n{text}");
            false
        }
        Err(_) => panic!("the reader panicked at\n{text}"),
    }
}

#[test]
fn mutations_of_a_text_that_uses_everything_are_read_or_refused() {
    let mut files = Files::in_memory();
    files.insert("assets/tetra.obj", OBJ.as_bytes());
    let path = Path::new("everything.xml");
    assert!(read(&files, path, EVERYTHING), "the text itself is fine");
    let mut rng = SplitMix64::new(0x9E37_79B9_7F4A_7C15);
    let mut fine = 0;
    for _ in 0..4000 {
        let mut text = mutated(EVERYTHING, &mut rng);
        if rng.below(4) == 0 {
            text = mutated(&text, &mut rng);
        }
        fine += usize::from(read(&files, path, &text));
    }
    // Both outcomes occur: many values may change without harm.
    assert!(fine > 200 && fine < 3800, "{fine}");
}

/// The files of a folder, with a tetrahedron in place of each mesh.
fn collect(folder: &Path, files: &mut Files, models: &mut Vec<PathBuf>) {
    let Ok(entries) = std::fs::read_dir(folder) else { return };
    let mut paths: Vec<_> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
    paths.sort();
    for path in paths {
        let extension = path.extension().and_then(|e| e.to_str()).unwrap_or("").to_lowercase();
        match extension.as_str() {
            _ if path.is_dir() => collect(&path, files, models),
            "obj" => files.insert(&path, OBJ.as_bytes()),
            "stl" => files.insert(&path, stl()),
            "xml" => {
                files.insert(&path, std::fs::read(&path).unwrap());
                models.push(path);
            }
            _ => {}
        }
    }
}

/// The tetrahedron as a binary STL.
fn stl() -> Vec<u8> {
    let corners = [[0.0_f32, 0.0, 0.0], [0.1, 0.0, 0.0], [0.0, 0.1, 0.0], [0.0, 0.0, 0.1]];
    let mut bytes = vec![0; 80];
    bytes.extend(4_u32.to_le_bytes());
    for triangle in [[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]] {
        bytes.extend([0; 12]);
        for corner in triangle {
            corners[corner].iter().for_each(|x| bytes.extend(x.to_le_bytes()));
        }
        bytes.extend([0; 2]);
    }
    bytes
}

#[test]
fn mutations_of_real_robots_are_read_or_refused() {
    let Ok(shared) = std::env::var("STICTION_SHARED") else {
        println!("skipped: STICTION_SHARED is not set");
        return;
    };
    let (mut files, mut models) = (Files::in_memory(), Vec::new());
    collect(&Path::new(&shared).join("models"), &mut files, &mut models);
    let mut rng = SplitMix64::new(0x2545_F491_4F6C_DD1D);
    for path in &models {
        let text = String::from_utf8(files.read(path).unwrap().to_vec()).unwrap();
        for _ in 0..40 {
            read(&files, path, &mutated(&text, &mut rng));
        }
    }
}
