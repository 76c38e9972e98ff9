//! Mutated files of every format that scenes read: the answer is a model or an error, soon, and
//! with bounded memory. See `stiction_testkit::mutation`.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod common;

use std::path::{Path, PathBuf};

use common::corpus::{
    DAE, EVERYTHING, GMSH_2, GMSH_4, OBJ, ROBOT, STL, VTK, binary_stl, heights, msh, png,
};
use stiction_scene::Files;
use stiction_scene::import::{Options, load_with};
use stiction_scene::mesh_file::{MESH_FORMATS, tetrahedra};
use stiction_testkit::mutation::{PeakAllocator, campaign};

#[global_allocator]
static ALLOCATOR: PeakAllocator = PeakAllocator;

/// Reads mutations of files under one name, among others.
fn models(reader: &'static str, path: &str, others: &[(&str, Vec<u8>)], corpus: &[Vec<u8>]) {
    let mut files = Files::in_memory();
    others.iter().for_each(|(name, bytes)| files.insert(name, bytes.clone()));
    let path = PathBuf::from(path);
    let load = |bytes: &[u8]| {
        let mut files = files.clone();
        files.insert(&path, bytes);
        load_with(files, &path, &Options::default())
    };
    for input in corpus {
        assert!(load(input).is_ok(), "{:?}", load(input).map(drop));
    }
    campaign(
        reader,
        corpus,
        |bytes| bytes,
        |bytes| {
            if let Err(error) = load(bytes) {
                assert!(!error.to_string().is_empty());
            }
        },
    );
}

#[test]
fn mutated_mjcf() {
    let tetra = "v 0 0 0\nv 0.1 0 0\nv 0 0.1 0\nv 0 0 0.1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n";
    let others = [("assets/tetra.obj", tetra.as_bytes().to_vec())];
    models("mjcf", "everything.xml", &others, &[EVERYTHING.as_bytes().to_vec()]);
}

#[test]
fn mutated_urdf() {
    let others = [("/crane/a.stl", binary_stl())];
    models("urdf", "/crane/crane.urdf", &others, &[ROBOT.as_bytes().to_vec()]);
}

#[test]
fn mutated_scenes() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples");
    let mut others = Vec::new();
    let mut corpus = Vec::new();
    for folder in ["scenes", "scenes/models", "models"] {
        let mut found: Vec<PathBuf> = std::fs::read_dir(root.join(folder))
            .unwrap()
            .map(|entry| entry.unwrap().path())
            .collect();
        found.sort();
        for path in found.iter().filter(|path| path.is_file()) {
            let bytes = std::fs::read(path).unwrap();
            if path.extension().is_some_and(|ending| ending == "toml") {
                corpus.push(bytes.clone());
            }
            others
                .push((format!("{folder}/{}", path.file_name().unwrap().to_str().unwrap()), bytes));
        }
    }
    let others: Vec<(&str, Vec<u8>)> =
        others.iter().map(|(name, bytes)| (name.as_str(), bytes.clone())).collect();
    models("scene", "scenes/mutant.toml", &others, &corpus);
}

#[test]
fn mutated_height_fields() {
    let model = |file: &str| {
        format!(
            "<mujoco><asset><hfield name='h' file='{file}' size='1 1 0.2 0.1'/></asset>\
             <worldbody><geom type='hfield' hfield='h'/></worldbody></mujoco>"
        )
    };
    for (reader, name, bytes) in [("png", "h.png", png()), ("heights", "h.bin", heights())] {
        let text = model(name);
        let load = |bytes: &[u8]| {
            let mut files = Files::in_memory();
            files.insert("main.xml", text.as_bytes());
            files.insert(name, bytes);
            load_with(files, Path::new("main.xml"), &Options::default())
        };
        assert!(load(&bytes).is_ok(), "{:?}", load(&bytes).map(drop));
        campaign(reader, &[bytes], |bytes| bytes, |bytes| drop(load(bytes)));
    }
}

#[test]
fn mutated_meshes() {
    for (reader, ending, bytes) in [
        ("obj", "obj", OBJ.as_bytes().to_vec()),
        ("stl-text", "stl", STL.as_bytes().to_vec()),
        ("stl", "stl", binary_stl()),
        ("msh", "msh", msh()),
        ("dae", "dae", DAE.as_bytes().to_vec()),
    ] {
        let path = PathBuf::from(format!("a.{ending}"));
        let format = MESH_FORMATS.iter().find(|f| f.extensions.contains(&ending)).unwrap();
        assert!((format.parse)(&bytes, &path).is_ok());
        campaign(reader, &[bytes], |bytes| bytes, |bytes| drop((format.parse)(bytes, &path)));
    }
}

#[test]
fn mutated_tetrahedra() {
    for (reader, name, text) in
        [("vtk", "a.vtk", VTK), ("gmsh-2", "a.msh", GMSH_2), ("gmsh-4", "a.msh", GMSH_4)]
    {
        let read = |bytes: &[u8]| {
            let mut files = Files::in_memory();
            files.insert(name, bytes);
            tetrahedra(&mut files, Path::new(name))
        };
        assert!(read(text.as_bytes()).is_ok(), "{:?}", read(text.as_bytes()).map(drop));
        let corpus = [text.as_bytes().to_vec()];
        campaign(reader, &corpus, |bytes| bytes, |bytes| drop(read(bytes)));
    }
}
