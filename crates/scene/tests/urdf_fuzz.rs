//! Readers of robots and meshes on files that went wrong: cut, garbled, spliced, with absurd numbers.
//! Whatever they hold, the answer is a model or a message, soon, and without much memory.
//!
//! The files are small ones written here; if `STICTION_FUZZ` names a folder, real ones are taken from
//! it too. Mutations follow from a fixed seed.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::path::{Path, PathBuf};

use stiction_math::random::SplitMix64;
use stiction_scene::import::Options;
use stiction_scene::mesh_file::{MESH_FORMATS, mass};
use stiction_scene::{Files, urdf};

/// A robot that uses all of the language.
const ROBOT: &str = r#"<?xml version="1.0"?>
<robot name="crane">
  <material name="grey"><color rgba="0.5 0.5 0.5 1"/></material>
  <link name="base">
    <inertial><origin xyz="0 0 0.1" rpy="0 0 0.3"/><mass value="4"/>
      <inertia ixx="0.1" ixy="0" ixz="0" iyy="0.1" iyz="0" izz="0.1"/></inertial>
    <visual><origin xyz="0 0 0"/><geometry><mesh filename="package://crane/a.stl" scale="1 1 2"/>
      </geometry><material name="grey"/></visual>
    <collision><geometry><box size="1 1 0.2"/></geometry></collision>
    <contact><lateral_friction value="0.8"/></contact>
  </link>
  <link name="mast"><inertial><mass value="2"/>
      <inertia ixx="0.2" ixy="0.01" ixz="0" iyy="0.2" iyz="0" izz="0.1"/></inertial>
    <collision><geometry><cylinder radius="0.1" length="2"/></geometry></collision></link>
  <link name="boom"><inertial><mass value="1"/>
      <inertia ixx="0.02" ixy="0" ixz="0" iyy="0.02" iyz="0" izz="0.01"/></inertial>
    <collision><geometry><mesh filename="package://crane/a.stl"/></geometry></collision></link>
  <link name="hook"/>
  <link name="load"><inertial><mass value="1"/>
      <inertia ixx="0.02" ixy="0" ixz="0" iyy="0.02" iyz="0" izz="0.01"/></inertial></link>
  <joint name="slew" type="continuous"><parent link="base"/><child link="mast"/>
    <origin xyz="0 0 1"/><axis xyz="0 0 1"/><dynamics damping="0.1" friction="0.01"/></joint>
  <joint name="lift" type="revolute"><parent link="mast"/><child link="boom"/>
    <origin xyz="0 0 1" rpy="0 0.1 0"/><axis xyz="0 1 0"/>
    <limit lower="-1" upper="0.5" effort="100" velocity="1"/><mimic joint="slew" offset="0.1"/></joint>
  <joint name="reach" type="prismatic"><parent link="boom"/><child link="hook"/>
    <limit lower="0" upper="2" effort="10" velocity="1"/></joint>
  <joint name="swing" type="floating"><parent link="hook"/><child link="load"/></joint>
  <transmission name="t"/><gazebo reference="hook"><mu1>1</mu1></gazebo>
</robot>
"#;

const OBJ: &str = "# corner\nv 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1/1 2/1 4/1\n\
                   f 2//1 3//1 4//1\nf -4 -1 -2\n";

const DAE: &str = "<COLLADA><asset><unit meter='0.01'/><up_axis>Z_UP</up_axis></asset>\
    <library_geometries><geometry id='g'><mesh><source id='s'>\
    <float_array id='f' count='12'>0 0 0 1 0 0 1 1 0 0 1 1</float_array>\
    <technique_common><accessor count='4' stride='3'/></technique_common></source>\
    <vertices id='v'><input semantic='POSITION' source='#s'/></vertices>\
    <polylist count='2'><input semantic='VERTEX' source='#v' offset='0'/>\
    <vcount>3 4</vcount><p>0 1 2 0 1 2 3</p></polylist></mesh></geometry></library_geometries>\
    <library_visual_scenes><visual_scene id='w'><node id='n'><rotate>0 0 1 30</rotate>\
    <matrix>1 0 0 1 0 1 0 0 0 0 1 0 0 0 0 1</matrix><instance_geometry url='#g'/></node>\
    <node><instance_node url='#n'/></node></visual_scene></library_visual_scenes>\
    <scene><instance_visual_scene url='#w'/></scene></COLLADA>";

const STL: &str = "solid corner\nfacet normal 0 0 -1\nouter loop\nvertex 0 0 0\nvertex 0 1 0\n\
    vertex 1 0 0\nendloop\nendfacet\nfacet normal 0 0 0\nouter loop\nvertex 0 0 0\nvertex 1 0 0\n\
    vertex 0 0 1\nendloop\nendfacet\nfacet normal 0 0 0\nouter loop\nvertex 0 0 0\nvertex 0 0 1\n\
    vertex 0 1 0\nendloop\nendfacet\nendsolid\n";

fn binary_stl() -> Vec<u8> {
    let mut bytes = vec![b' '; 80];
    bytes.extend(4_u32.to_le_bytes());
    for face in [[0, 2, 1], [0, 1, 3], [1, 2, 3], [0, 3, 2]] {
        bytes.extend([0; 12]);
        for corner in face {
            let at = [[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0_f32]];
            at[corner as usize].iter().for_each(|x| bytes.extend(x.to_le_bytes()));
        }
        bytes.extend([0; 2]);
    }
    bytes
}

fn msh() -> Vec<u8> {
    let counts = [4, 0, 0, 2].iter().flat_map(|n: &i32| n.to_le_bytes());
    let floats = [0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0_f32];
    let faces = [0, 1, 2, 0, 1, 3_i32];
    let floats = floats.iter().flat_map(|x| x.to_le_bytes());
    counts.chain(floats).chain(faces.iter().flat_map(|n| n.to_le_bytes())).collect()
}

/// What stands where something else stood.
const WORDS: &[&str] = &[
    "NaN",
    "inf",
    "-1",
    "0",
    "1e308",
    "-1e-308",
    "4294967295",
    "9223372036854775807",
    "",
    "\"",
    "<",
    ">",
    "/>",
    "&lt;",
    "&x;",
    "]]>",
    "<!--",
    "base",
    "hook",
    "package://",
    "../",
    "type=\"fixed\"",
    "type=\"planar\"",
    "<link name=\"base\"/>",
    "<joint/>",
    "\u{feff}",
    "\u{0}",
    "é",
    "xyz=\"0 0 0\"",
    "#n",
    "#g",
    "#w",
    "vertex",
    "endloop",
    "f 1 2 3 4 5 6",
    "v 1 2 3",
];

fn mutate(original: &[u8], rng: &mut SplitMix64) -> Vec<u8> {
    let mut bytes = original.to_vec();
    for _ in 0..1 + rng.below(4) {
        let n = bytes.len();
        let (a, b) = (rng.below(n + 1), rng.below(n + 1));
        let near = a..(a + rng.below(12)).min(n);
        match rng.below(8) {
            0 => bytes.truncate(a),
            1 => drop(bytes.drain(a.min(b)..a.max(b).min(a.min(b) + 200))),
            2 => {
                let word = WORDS[rng.below(WORDS.len())];
                drop(bytes.splice(near, word.bytes()));
            }
            3 => {
                let piece = bytes[a.min(b)..a.max(b).min(a.min(b) + 300)].to_vec();
                let at = rng.below(n + 1);
                drop(bytes.splice(at..at, piece));
            }
            4 | 5 if n > 0 => {
                let at = rng.below(n);
                bytes[at] ^= 1 << rng.below(8);
            }
            6 if n > 3 => {
                let at = rng.below(n - 3);
                let word = [0, u32::MAX, 0x7fc0_0000, 0x7f80_0000, 1 << 31][rng.below(5)];
                bytes[at..at + 4].copy_from_slice(&word.to_le_bytes());
            }
            _ => {
                // One number becomes another.
                let digit = |byte: &u8| byte.is_ascii_digit() || *byte == b'.';
                let start = bytes[a..].iter().position(digit).map(|k| a + k);
                if let Some(start) = start {
                    let end = bytes[start..].iter().position(|x| !digit(x));
                    let end = end.map_or(bytes.len(), |k| start + k);
                    drop(bytes.splice(start..end, WORDS[rng.below(8)].bytes()));
                }
            }
        }
    }
    bytes
}

/// Files of a folder with one of these endings, small ones first, not above a length.
fn real(endings: &[&str], longest: u64, most: usize) -> Vec<(PathBuf, Vec<u8>)> {
    let Some(folder) = std::env::var_os("STICTION_FUZZ") else {
        println!("STICTION_FUZZ is not set: only files written here");
        return Vec::new();
    };
    let (mut found, mut folders) = (Vec::new(), vec![PathBuf::from(folder)]);
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
            let (path, about) = (entry.path(), entry.metadata());
            let ending = path.extension().and_then(|e| e.to_str()).unwrap_or("").to_lowercase();
            match about {
                Ok(about) if about.is_dir() => folders.push(path),
                Ok(about) if endings.contains(&&*ending) && about.len() <= longest => {
                    found.push((about.len(), path));
                }
                _ => {}
            }
        }
    }
    found.sort();
    let chosen = found.into_iter().take(most);
    chosen.filter_map(|(_, path)| std::fs::read(&path).ok().map(|bytes| (path, bytes))).collect()
}

#[test]
fn mutated_robots_give_a_model_or_a_message() {
    let mut rng = SplitMix64::new(20_240_229);
    let (mut models, mut messages) = (0, 0);
    let mut try_one = |bytes: Vec<u8>, path: &Path, mut files: Files, k: usize| {
        files.insert(path, bytes);
        let options = Options {
            floating_base: k.is_multiple_of(2),
            merge_fixed: k.is_multiple_of(3),
            ..Options::default()
        };
        match urdf::read(&mut files, path, &options) {
            Ok(robot) => {
                models += 1;
                assert!(robot.world.model().nq() < 1_000_000);
            }
            Err(error) => {
                messages += 1;
                let text = error.to_string();
                assert!(!text.is_empty() && text.len() < 20_000, "{text}");
            }
        }
    };
    for k in 0..20_000 {
        let mut files = Files::in_memory();
        let mesh = if k % 4 == 0 { mutate(&binary_stl(), &mut rng) } else { binary_stl() };
        files.insert("/crane/a.stl", mesh);
        let bytes = mutate(ROBOT.as_bytes(), &mut rng);
        try_one(bytes, Path::new("/crane/crane.urdf"), files, k);
    }
    for (path, bytes) in real(&["urdf"], 60_000, 24) {
        for k in 0..3 {
            try_one(mutate(&bytes, &mut rng), &path, Files::on_disk(), k);
        }
    }
    // Both outcomes must be exercised, else the mutations are too mild or too wild.
    assert!(models > 100 && messages > 100, "{models} models, {messages} messages");
}

#[test]
fn mutated_meshes_give_triangles_or_a_message() {
    let mut rng = SplitMix64::new(20_240_301);
    let own = [
        ("obj", OBJ.as_bytes().to_vec()),
        ("stl", STL.as_bytes().to_vec()),
        ("stl", binary_stl()),
        ("msh", msh()),
        ("dae", DAE.as_bytes().to_vec()),
    ];
    let own = own.map(|(ending, bytes)| (PathBuf::from(format!("a.{ending}")), bytes, 10_000));
    let found = real(&["obj", "stl", "dae", "msh"], 40_000, 60).into_iter();
    for (path, bytes, count) in own.into_iter().chain(found.map(|(p, b)| (p, b, 20))) {
        let ending = path.extension().unwrap().to_str().unwrap().to_lowercase();
        let format = MESH_FORMATS.iter().find(|f| f.extensions.contains(&&*ending)).unwrap();
        assert!((format.parse)(&bytes, &path).is_ok(), "{}", path.display());
        for _ in 0..count {
            let mutant = mutate(&bytes, &mut rng);
            let Ok(mesh) = (format.parse)(&mutant, &path) else { continue };
            // A vertex takes three characters at the least, and scenes may show it some times.
            assert!(mesh.vertices.len() <= 16 * mutant.len());
            assert!(mesh.triangles.len() <= 16 * mutant.len());
            let n = mesh.vertices.len() as u32;
            assert!(mesh.triangles.iter().flatten().all(|corner| *corner < n));
            assert!(mesh.vertices.iter().all(|v| v.iter().all(|x| x.is_finite())));
            for rule in [mass::legacy, mass::exact, mass::shell, mass::convex] {
                if let Ok((volume, com, inertia)) = rule(&mesh) {
                    assert!(volume > 0.0 && volume.is_finite());
                    assert!(com.iter().chain(inertia.iter()).all(|x| x.is_finite()));
                }
            }
        }
    }
}
