//! Readers of robots and meshes on files that went wrong: cut, garbled, spliced, with absurd numbers.
//! Whatever they hold, the answer is a model or a message, soon, and without much memory.
//!
//! The files are small ones written here; if `STICTION_FUZZ` names a folder, real ones are taken from
//! it too. Mutations follow from a fixed seed.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod common;

use std::path::{Path, PathBuf};

use common::corpus::{DAE, OBJ, ROBOT, STL, binary_stl, msh};
use stiction_math::random::SplitMix64;
use stiction_scene::import::Options;
use stiction_scene::mesh_file::{MESH_FORMATS, mass};
use stiction_scene::{Files, urdf};

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
