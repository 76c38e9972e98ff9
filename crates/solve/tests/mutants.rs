//! Mutated files of contact problems: the answer is a problem or an error, soon, and with bounded
//! memory. See `stiction_testkit::mutation`.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::io::{Cursor, Read, Write};
use std::path::Path;

use stiction_solve::file::{FileError, LoadOptions, load_bytes};
use stiction_testkit::mutation::{PeakAllocator, Sequence, campaign, mutated};

#[global_allocator]
static ALLOCATOR: PeakAllocator = PeakAllocator;

fn load(name: &str, bytes: &[u8]) -> Result<(), FileError> {
    load_bytes(name, bytes.to_vec(), LoadOptions { symmetrise: true }).map(drop)
}

fn problems() -> Vec<Vec<u8>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../data/problems");
    ["box-slide.npz", "chain.npz"].map(|name| std::fs::read(folder.join(name)).unwrap()).to_vec()
}

#[test]
fn mutated_archives() {
    for bytes in problems() {
        assert!(load("a.npz", &bytes).is_ok());
    }
    campaign("npz", &problems(), |bytes| bytes, |bytes| drop(load("a.npz", bytes)));
}

/// Members of archives are mutated and packed again, so that their checksums are right.
#[test]
fn mutated_arrays() {
    let packed = |seed: Vec<u8>| {
        let mut sequence =
            Sequence::new(seed.iter().fold(0, |sum, byte| sum * 31 + u64::from(*byte)));
        let original = &problems()[0];
        let mut archive = zip::ZipArchive::new(Cursor::new(original.as_slice())).unwrap();
        let mut out = zip::ZipWriter::new(Cursor::new(Vec::new()));
        let which = sequence.below(archive.len());
        for index in 0..archive.len() {
            let mut member = archive.by_index(index).unwrap();
            let name = member.name().unwrap().into_owned();
            let mut bytes = Vec::new();
            member.read_to_end(&mut bytes).unwrap();
            if index == which {
                bytes = mutated(&bytes, &mut sequence);
            }
            out.start_file(name, zip::write::SimpleFileOptions::default()).unwrap();
            out.write_all(&bytes).unwrap();
        }
        out.finish().unwrap().into_inner()
    };
    // The corpus is a seed; each mutation of it is another archive.
    campaign("npy", &[vec![7; 64]], packed, |bytes| drop(load("a.npz", bytes)));
}

/// A local FCLIB problem.
fn fclib() -> Vec<u8> {
    let mut builder = hdf5_pure::FileBuilder::new();
    let mut root = builder.create_group("fclib_local");
    root.create_dataset("spacedim").with_i32_data(&[3]);
    let mut w = root.create_group("W");
    for (name, value) in [("m", 3), ("n", 3), ("nz", -2), ("nzmax", 5)] {
        w.create_dataset(name).with_i32_data(&[value]);
    }
    w.create_dataset("p").with_i32_data(&[0, 2, 4, 5]);
    w.create_dataset("i").with_i32_data(&[0, 1, 0, 1, 2]);
    w.create_dataset("x").with_f64_data(&[2.0, 1.0, 1.0, 2.0, 3.0]);
    root.add_group(w.finish());
    let mut vectors = root.create_group("vectors");
    vectors.create_dataset("q").with_f64_data(&[-1.0, 0.5, 0.25]);
    vectors.create_dataset("mu").with_f64_data(&[0.5]);
    root.add_group(vectors.finish());
    builder.add_group(root.finish());
    builder.finish().unwrap()
}

#[test]
fn mutated_fclib() {
    assert!(load("a.h5", &fclib()).is_ok(), "{:?}", load("a.h5", &fclib()));
    campaign("fclib", &[fclib()], |bytes| bytes, |bytes| drop(load("a.h5", bytes)));
}

/// A gigabyte of zeros in a megabyte.
#[test]
fn an_archive_that_inflates_to_a_thousand_times_its_length_is_refused() {
    let mut out = zip::ZipWriter::new(Cursor::new(Vec::new()));
    let deflated = zip::write::SimpleFileOptions::default()
        .compression_method(zip::CompressionMethod::Deflated);
    out.start_file("n.npy", deflated).unwrap();
    let mut header = b"\x93NUMPY\x01\x00\x76\x00".to_vec();
    let text = "{'descr': '<f8', 'fortran_order': False, 'shape': (134217728,), }";
    header.extend(format!("{text:<117}\n").bytes());
    out.write_all(&header).unwrap();
    let zeros = vec![0_u8; 1 << 20];
    for _ in 0..1024 {
        out.write_all(&zeros).unwrap();
    }
    let bytes = out.finish().unwrap().into_inner();
    assert!(bytes.len() < 2 << 20, "{}", bytes.len());
    let error = load("bomb.npz", &bytes).unwrap_err();
    assert!(matches!(error, FileError::TooLarge { .. }), "{error}");
}
