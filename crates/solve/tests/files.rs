//! Problem files: round trips, files that other programs wrote, and files that are damaged.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod common;

use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use common::raw::{damage, damaged, dense, gram};
use proptest::prelude::*;
use stiction_solve::file::fclib::{self, Fclib, Global, Local};
use stiction_solve::file::{
    Array, Csr, FileError, LoadOptions, NpzFile, RawProblem, Values, embed, load, load_bytes, npz,
    write_arrays,
};

const AS_IS: LoadOptions = LoadOptions { symmetrise: false };
const SYMMETRISED: LoadOptions = LoadOptions { symmetrise: true };

/// A directory of its own for each test, removed at the end.
struct Scratch(PathBuf);

impl Scratch {
    fn new(test: &str) -> Self {
        let path = std::env::temp_dir().join(format!("stiction-{test}-{}", std::process::id()));
        std::fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    fn file(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn csr(rows: usize, cols: usize, dense: &[f64]) -> Csr {
    let mut matrix = Csr::zeros(rows, cols);
    for row in 0..rows {
        for col in 0..cols {
            if dense[row * cols + col] != 0.0 {
                matrix.indices.push(col);
                matrix.data.push(dense[row * cols + col]);
            }
        }
        matrix.indptr[row + 1] = matrix.indices.len();
    }
    matrix
}

/// One contact, one limit and one joint row between two subsystems.
fn example() -> RawProblem {
    let extra = BTreeMap::from([
        ("dt".to_string(), Array::scalar_f64(0.01)),
        ("tree_parent".to_string(), Array::from_i64(&[-1, 0])),
        (
            "table".to_string(),
            Array {
                shape: vec![2, 2],
                values: Values::F64(vec![1.0, f64::MIN_POSITIVE, -0.0, 1e300]),
            },
        ),
        ("nothing".to_string(), Array::from_f64(&[])),
    ]);
    RawProblem {
        name: "example".into(),
        n: 3,
        m: 5,
        a: csr(3, 3, &[2.0, 0.1, 0.0, 0.1, 3.0, 0.0, 0.0, 0.0, 1.0 / 3.0]),
        j: csr(5, 3, &[1., 0., -1., 0., 1., 0., 0.5, 0., 0., 0., 0., 1., 0., 0., 0.]),
        b: vec![0.1, -9.81, 1e-17],
        kinds: vec![2, 1, 0],
        row_start: vec![0, 3, 4],
        mu: vec![0.7, 0.0, 0.0],
        e: vec![0.0, 1.0, 2.0, 3.0, 4.0],
        r: vec![0.0, 0.0, 0.0, 0.0, 1e-3],
        blocks: Some((vec![0, 2, 3], vec![0, 1, 2])),
        extra,
    }
}

#[test]
fn a_problem_survives_its_file_bit_for_bit() {
    let scratch = Scratch::new("round-trip");
    let path = scratch.file("example.npz");
    let problem = example();
    npz::write(&path, &problem).unwrap();
    assert_eq!(npz::read(&path).unwrap(), problem);
    assert_eq!(load(&path, AS_IS).unwrap(), problem);
    // The same content gives the same bytes, and nothing else is left in the directory.
    let bytes = std::fs::read(&path).unwrap();
    npz::write(&path, &problem).unwrap();
    assert_eq!(std::fs::read(&path).unwrap(), bytes);
    assert_eq!(std::fs::read_dir(&scratch.0).unwrap().count(), 1);
}

#[test]
fn a_problem_without_constraints_survives() {
    let scratch = Scratch::new("unconstrained");
    let path = scratch.file("free.npz");
    let problem = RawProblem {
        name: "free".into(),
        n: 1,
        m: 0,
        a: Csr::identity(1),
        j: Csr::zeros(0, 1),
        b: vec![1.0],
        kinds: vec![],
        row_start: vec![],
        mu: vec![],
        e: vec![],
        r: vec![],
        blocks: None,
        extra: BTreeMap::new(),
    };
    npz::write(&path, &problem).unwrap();
    assert_eq!(npz::read(&path).unwrap(), problem);
}

#[test]
fn unsorted_and_repeated_columns_are_sorted_and_summed() {
    let matrix =
        Csr::from_parts(2, 3, vec![0, 3, 4], vec![2, 0, 2, 1], vec![1.0, 5.0, 2.0, 7.0]).unwrap();
    assert_eq!(matrix, csr(2, 3, &[5.0, 0.0, 3.0, 0.0, 7.0, 0.0]));
    assert_eq!(dense(&matrix.transposed()), [5.0, 0.0, 0.0, 7.0, 3.0, 0.0]);
}

#[test]
fn asymmetry_is_the_relative_frobenius_norm_of_the_skew_part() {
    // X − Xᵀ = [[0, 2], [−2, 0]] has norm √8, X has norm √(1 + 9 + 1 + 1).
    let matrix = csr(2, 2, &[1.0, 3.0, 1.0, 1.0]);
    assert!((matrix.asymmetry() - (8.0f64 / 12.0).sqrt()).abs() < 1e-15);
    assert_eq!(dense(&matrix.symmetrised()), [1.0, 2.0, 2.0, 1.0]);
    assert_eq!(matrix.symmetrised().asymmetry(), 0.0);
    // Entries whose squares overflow, and a pattern that is not symmetric.
    let large = csr(2, 2, &[0.0, 1e200, 0.0, 0.0]);
    assert!((large.asymmetry() - 2.0f64.sqrt()).abs() < 1e-15);
    assert_eq!(Csr::zeros(4, 4).asymmetry(), 0.0);
}

/// Writes an altered copy of the example and returns the complaint about it.
fn complaint(alter: impl Fn(&mut Vec<(String, Array)>)) -> String {
    let problem = example();
    let mut arrays: Vec<(String, Array)> = vec![
        ("n".into(), Array::scalar_i64(3)),
        ("m".into(), Array::scalar_i64(5)),
        ("A_data".into(), Array::from_f64(&problem.a.data)),
        ("A_indices".into(), Array::from_usize(&problem.a.indices)),
        ("A_indptr".into(), Array::from_usize(&problem.a.indptr)),
        ("J_data".into(), Array::from_f64(&problem.j.data)),
        ("J_indices".into(), Array::from_usize(&problem.j.indices)),
        ("J_indptr".into(), Array::from_usize(&problem.j.indptr)),
        ("b".into(), Array::from_f64(&problem.b)),
        ("kinds".into(), Array::from_i64(&problem.kinds)),
        ("row_start".into(), Array::from_usize(&problem.row_start)),
        ("mu".into(), Array::from_f64(&problem.mu)),
        ("e".into(), Array::from_f64(&problem.e)),
        ("R".into(), Array::from_f64(&problem.r)),
        ("block_ptr".into(), Array::from_i64(&[0, 2, 3])),
        ("block_dofs".into(), Array::from_i64(&[0, 1, 2])),
    ];
    alter(&mut arrays);
    let scratch = Scratch::new(&format!("complaint-{:?}", std::thread::current().id()));
    let path = scratch.file("bad.npz");
    let borrowed: Vec<(&str, Array)> =
        arrays.iter().map(|(key, array)| (key.as_str(), array.clone())).collect();
    write_arrays(&path, &borrowed).unwrap();
    match npz::read(&path) {
        Ok(_) => String::new(),
        Err(error) => error.to_string(),
    }
}

fn put(key: &'static str, array: Array) -> impl Fn(&mut Vec<(String, Array)>) {
    move |arrays| {
        for (name, slot) in arrays.iter_mut().filter(|(name, _)| name == key) {
            assert_eq!(name, key);
            *slot = array.clone();
        }
    }
}

#[test]
fn each_misfit_is_named_with_what_was_expected() {
    assert_eq!(complaint(|_| {}), "");
    let misfits: Vec<(&str, Array, &str)> = vec![
        ("n", Array::scalar_i64(-1), "`n`: found -1"),
        ("n", Array::scalar_i64(i64::MAX), "`A_indptr`: found 4 numbers"),
        ("n", Array::scalar_f64(3.0), "`n`: found floating-point elements; expected integers"),
        ("n", Array::from_i64(&[3, 3]), "`n`: found shape [2]; expected one number"),
        ("m", Array::scalar_i64(4), "`J_indptr`"),
        ("A_indptr", Array::from_i64(&[0, 3, 2, 5]), "`A_indptr`: found 3 before 2 at 1"),
        ("A_indptr", Array::from_i64(&[1, 2, 4, 5]), "`A_indptr`: found first 1"),
        ("A_indptr", Array::from_i64(&[0, 2, 4, 9]), "`A_indices`: found 5 entries"),
        (
            "A_indices",
            Array::from_i64(&[0, 1, 0, 1, 3]),
            "`A_indices`: found index 3 at position 4",
        ),
        ("A_indices", Array::from_i64(&[0, 1, 0, 1, -2]), "`A_indices`: found -2 at position 4"),
        ("A_data", Array::from_f64(&[1.0; 4]), "`A_data`: found 4 entries"),
        ("A_data", Array::from_f64(&[1.0, 0.0, 0.0, f64::NAN, 1.0]), "found NaN at position 3"),
        ("b", Array::from_f64(&[0.0; 4]), "`b`: found 4 elements; expected 3"),
        (
            "b",
            Array { shape: vec![3, 1], values: Values::F64(vec![0.0; 3]) },
            "`b`: found shape [3, 1]; expected a vector",
        ),
        ("kinds", Array::from_i64(&[2, 1, 7]), "`kinds`: found 7 at position 2"),
        ("row_start", Array::from_i64(&[0, 2, 4]), "row 2 in constraints 0 and 1"),
        ("row_start", Array::from_i64(&[0, 3, 5]), "`row_start`: found 5 at position 2"),
        ("row_start", Array::from_i64(&[0, 3, i64::MAX]), "`row_start`"),
        ("row_start", Array::from_i64(&[0, 3]), "`row_start`: found 2 elements; expected 3"),
        ("kinds", Array::from_i64(&[1, 1, 0]), "no constraint with row 1"),
        ("mu", Array::from_f64(&[0.5]), "`mu`"),
        ("e", Array::from_f64(&[0.5]), "`e`"),
        ("R", Array::from_f64(&[f64::INFINITY; 5]), "`R`: found inf"),
        ("block_ptr", Array::from_i64(&[0, 4, 3]), "`block_ptr`"),
        ("block_ptr", Array::from_i64(&[]), "`block_ptr`"),
        ("block_ptr", Array::from_i64(&[0, 1, 3]), "A[0, 1] = 1e-1 between two subsystems"),
        ("block_dofs", Array::from_i64(&[0, 1, 3]), "`block_dofs`: found 3"),
        ("block_dofs", Array::from_i64(&[0, 1, 1]), "`block_dofs`: found 1 twice"),
    ];
    for (key, array, expected) in misfits {
        let found = complaint(put(key, array));
        assert!(found.contains("bad.npz") && found.contains(expected), "{key}: {found}");
    }
}

#[test]
fn a_missing_key_is_named_beside_those_that_are_required() {
    for key in npz::REQUIRED_KEYS {
        let found = complaint(|arrays| arrays.retain(|(name, _)| name != key));
        assert!(found.contains(&format!("`{key}` is missing")), "{found}");
        assert!(found.contains("required are n, m, A_data"), "{found}");
    }
    let half = complaint(|arrays| arrays.retain(|(name, _)| name != "block_dofs"));
    assert!(half.contains("`block_dofs` is missing"), "{half}");
}

#[test]
fn files_without_a_problem_are_refused_with_a_description() {
    let scratch = Scratch::new("no-problem");
    let complaint = |name: &str, content: &[u8]| {
        let path = scratch.file(name);
        std::fs::File::create(&path).unwrap().write_all(content).unwrap();
        load(&path, AS_IS).unwrap_err().to_string()
    };
    assert!(complaint("empty.npz", b"").contains("the file is empty"));
    assert!(complaint("text.h5", b"hello there").contains("text that starts with \"hello there\""));
    assert!(complaint("x.npz", &[0, 159, 3]).contains("[00, 9f, 03]"));
    assert!(complaint("x.npy", b"\x93NUMPY\x01\x00").contains("a single NumPy array"));
    assert!(complaint("zip.npz", b"PK\x03\x04 and no more").contains("damaged zip archive"));
    assert!(complaint("hdf.h5", b"\x89HDF\r\n\x1a\n and no more").contains("HDF5"));
    let missing = load(scratch.file("absent.npz"), AS_IS).unwrap_err();
    assert!(matches!(missing, FileError::Io { .. }) && missing.to_string().contains("absent.npz"));
    assert!(matches!(load(&scratch.0, AS_IS), Err(FileError::NotAFile { .. })));
    write_arrays(scratch.file("other.npz"), &[("x", Array::scalar_f64(1.0))]).unwrap();
    let other = load(scratch.file("other.npz"), AS_IS).unwrap_err().to_string();
    assert!(other.contains("`n` is missing; found x; required are n, m,"), "{other}");
    // Nowhere to write to, and a key that would hide another.
    assert!(matches!(
        npz::write(scratch.file("no/dir.npz"), &example()),
        Err(FileError::Io { .. })
    ));
    let mut double = example();
    double.extra.insert("b".into(), Array::scalar_f64(0.0));
    let double = npz::write(scratch.file("double.npz"), &double).unwrap_err().to_string();
    assert!(double.contains("`b`: found the key twice"), "{double}");
}

#[test]
fn deflated_members_are_read_and_text_is_passed_over() {
    let scratch = Scratch::new("deflated");
    npz::write(scratch.file("stored.npz"), &example()).unwrap();
    let stored = std::fs::read(scratch.file("stored.npz")).unwrap();
    let mut source = zip::ZipArchive::new(std::io::Cursor::new(&stored)).unwrap();
    let mut deflated = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
    let options = zip::write::SimpleFileOptions::default()
        .compression_method(zip::CompressionMethod::Deflated);
    for index in 0..source.len() {
        let mut member = source.by_index(index).unwrap();
        deflated.start_file(member.name().unwrap().to_string(), options).unwrap();
        std::io::copy(&mut member, &mut deflated).unwrap();
    }
    let header = "{'descr': '<U2', 'fortran_order': False, 'shape': (), }\n";
    deflated.start_file("title.npy", options).unwrap();
    deflated.write_all(b"\x93NUMPY\x01\x00").unwrap();
    deflated.write_all(&(header.len() as u16).to_le_bytes()).unwrap();
    deflated.write_all(header.as_bytes()).unwrap();
    deflated.write_all(b"h\0\0\0i\0\0\0").unwrap();
    deflated.start_file("readme.txt", options).unwrap();
    let bytes = deflated.finish().unwrap().into_inner();
    assert!(bytes.len() < stored.len());
    assert_eq!(npz::read_bytes("example.npz", &bytes).unwrap(), example());
    let archive = NpzFile::from_bytes("example.npz", &bytes).unwrap();
    assert_eq!(archive.ignored().collect::<Vec<_>>(), ["readme.txt", "title.npy"]);
}

fn local(w: Csr, contacts: usize) -> Local {
    Local {
        path: "made.h5".into(),
        title: None,
        description: None,
        q: vec![-1.0; w.rows],
        w,
        mu: vec![0.5; contacts],
        solution: None,
        solution_ccp: None,
    }
}

#[test]
fn a_local_problem_gets_one_subsystem_per_component_and_no_velocity_without_eigenvalue() {
    // Contacts 0 and 2 are coupled through one direction of rank 1, contact 1 stands alone with full
    // rank on another scale, contact 3 cannot move at all.
    let direction = [1.0, 0.0, 2.0, 0.0, 0.0, 0.0, -1.0, 3.0, 0.0, 0.0, 0.0, 0.0];
    let mut w = vec![0.0; 144];
    for i in 0..12 {
        for k in 0..12 {
            w[12 * i + k] = direction[i] * direction[k];
        }
    }
    for i in 3..6 {
        w[12 * i + i] = 1e9;
    }
    let raw = embed::local_to_raw(&local(csr(12, 12, &w), 4)).unwrap();
    assert_eq!((raw.n, raw.m), (4, 12));
    assert_eq!(raw.blocks, Some((vec![0, 1, 4], vec![0, 1, 2, 3])));
    assert_eq!(raw.row_start, [0, 3, 6, 9]);
    for (found, expected) in gram(&raw.j).iter().zip(&w) {
        // Each entry of J has a relative error of a few units of the rank-revealing round-off.
        assert!((found - expected).abs() <= 1e-14 * 12.0 * expected.abs().max(1.0));
    }
}

#[test]
fn light_and_heavy_contacts_in_one_component_are_both_exact() {
    // Two coupled contacts whose mobilities differ by 10¹²; coupling 0.3 of the geometric mean.
    let (heavy, light): (f64, f64) = (1e-6, 1e6);
    let mut w = vec![0.0; 36];
    for i in 0..3 {
        w[6 * i + i] = heavy;
        w[6 * (i + 3) + i + 3] = light;
        w[6 * i + i + 3] = 0.3 * (heavy * light).sqrt();
        w[6 * (i + 3) + i] = 0.3 * (heavy * light).sqrt();
    }
    let raw = embed::local_to_raw(&local(csr(6, 6, &w), 2)).unwrap();
    assert_eq!(raw.n, 6);
    for (found, expected) in gram(&raw.j).iter().zip(&w) {
        // Without scaling, the heavy contact would carry the light one's round-off, 1e-10.
        let own = if *expected == 0.0 { 1.0 } else { *expected };
        assert!((found - expected).abs() <= 1e-14 * own, "{found} against {expected}");
    }
}

#[test]
fn a_matrix_that_is_no_delassus_matrix_is_refused_with_its_defect() {
    let skew = csr(3, 3, &[1.0, 1e-3, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0]);
    let error = embed::local_to_raw(&local(skew.clone(), 1)).unwrap_err().to_string();
    assert!(error.contains("`W` is not symmetric") && error.contains("--symmetrise"), "{error}");
    assert!(error.contains("8.16e-4"), "‖X − Xᵀ‖/‖X‖ = √2·10⁻³/√3: {error}");
    let mut made = Fclib::Local(local(skew, 1));
    made.symmetrise();
    assert_eq!(embed::to_raw(&made).unwrap().n, 3);

    let negative = csr(3, 3, &[1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, -1e-3]);
    let error = embed::local_to_raw(&local(negative, 1)).unwrap_err().to_string();
    assert!(error.contains("not positive semi-definite") && error.contains("-1.00e-3"), "{error}");
    let hollow = csr(3, 3, &[0.0, 1.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0]);
    assert!(matches!(embed::local_to_raw(&local(hollow, 1)), Err(FileError::Indefinite { .. })));
    let infinite = csr(3, 3, &[f64::INFINITY, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0]);
    assert!(matches!(embed::local_to_raw(&local(infinite, 1)), Err(FileError::Array { .. })));
    assert!(matches!(
        embed::local_to_raw(&local(Csr::identity(6), 1)),
        Err(FileError::Array { .. })
    ));
    assert_eq!(embed::local_to_raw(&local(Csr::zeros(3, 3), 1)).unwrap().n, 0);
}

#[test]
fn a_global_problem_keeps_its_matrices() {
    let global = Global {
        path: "made.h5".into(),
        title: None,
        description: None,
        m: csr(3, 3, &[2.0, 0.0, 0.5, 0.0, 1.0, 0.0, 0.5, 0.0, 2.0]),
        h: csr(3, 3, &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0]),
        f: vec![1.0, 2.0, 3.0],
        w: vec![4.0, 5.0, 6.0],
        mu: vec![0.5],
        solution: None,
        solution_ccp: None,
    };
    let raw = embed::global_to_raw(&global).unwrap();
    assert_eq!(raw.a, global.m);
    assert_eq!(dense(&raw.j), [1.0, 4.0, 7.0, 2.0, 5.0, 8.0, 3.0, 6.0, 9.0]);
    assert_eq!((raw.b, raw.e), (global.f, global.w));
    assert_eq!(raw.blocks, None, "the mass matrix alone says where a problem splits");
}

/// Writes a local FCLIB file of one contact whose W has the given encoding.
fn hdf5_of(nz: i32, p: &[i32], i: &[i32], x: &[f64]) -> Vec<u8> {
    let mut builder = hdf5_pure::FileBuilder::new();
    let mut root = builder.create_group("fclib_local");
    root.create_dataset("spacedim").with_i32_data(&[3]);
    let mut w = root.create_group("W");
    for (name, value) in [("m", 3), ("n", 3), ("nz", nz), ("nzmax", i.len() as i32)] {
        w.create_dataset(name).with_i32_data(&[value]);
    }
    w.create_dataset("p").with_i32_data(p);
    w.create_dataset("i").with_i32_data(i);
    w.create_dataset("x").with_f64_data(x);
    root.add_group(w.finish());
    let mut vectors = root.create_group("vectors");
    vectors.create_dataset("q").with_f64_data(&[-1.0, 0.5, 0.25]);
    vectors.create_dataset("mu").with_f64_data(&[0.5]);
    root.add_group(vectors.finish());
    builder.add_group(root.finish());
    builder.finish().unwrap()
}

#[test]
fn all_three_matrix_encodings_hold_the_same_matrix() {
    // [[1, 2, 0], [0, 3, 0], [4, 0, 5]], not symmetric, so that rows and columns cannot be confused.
    let expected = [1.0, 2.0, 0.0, 0.0, 3.0, 0.0, 4.0, 0.0, 5.0];
    for (nz, p, i, x) in [
        (-2, vec![0, 2, 3, 5], vec![0, 1, 1, 0, 2], vec![1.0, 2.0, 3.0, 4.0, 5.0]),
        (-1, vec![0, 2, 4, 5], vec![0, 2, 0, 1, 2], vec![1.0, 4.0, 2.0, 3.0, 5.0]),
        (5, vec![1, 0, 2, 0, 1], vec![1, 2, 2, 0, 0], vec![3.0, 4.0, 5.0, 1.0, 2.0]),
        // Room for more entries than there are, and an entry in two summands.
        (-2, vec![0, 2, 3, 5], vec![0, 1, 1, 0, 2, 9], vec![1.0, 2.0, 3.0, 4.0, 5.0, 9.0]),
        (
            6,
            vec![1, 0, 2, 0, 1, 1, 9],
            vec![1, 2, 2, 0, 0, 0, 9],
            vec![3., 4., 5., 1., 0.5, 1.5, 9.],
        ),
    ] {
        let Fclib::Local(found) = fclib::read_bytes("w.h5", hdf5_of(nz, &p, &i, &x)).unwrap()
        else {
            panic!("a local problem");
        };
        assert_eq!(dense(&found.w), expected, "nz = {nz}");
        assert_eq!((found.q, found.mu), (vec![-1.0, 0.5, 0.25], vec![0.5]));
        assert_eq!((found.solution, found.title), (None, None));
    }
    for (nz, p, i, x, complaint) in [
        (-2, vec![0, 2, 3], vec![0, 1, 1], vec![1.0; 3], "fclib_local/W/p"),
        (-2, vec![0, 2, 1, 3], vec![0, 1, 1], vec![1.0; 3], "never decrease"),
        (-2, vec![0, 2, 3, 5], vec![0, 1, 1], vec![1.0; 3], "`fclib_local/W/i`: found 3 elements"),
        (-1, vec![0, 1, 2, 3], vec![0, 1, 3], vec![1.0; 3], "`fclib_local/W/i`: found index 3"),
        (3, vec![0, 1, 3], vec![0, 1, 2], vec![1.0; 3], "`fclib_local/W/p`: found index 3"),
        (3, vec![0, 1, 2], vec![0, 1, 3], vec![1.0; 3], "`fclib_local/W/i`: found index 3"),
        (3, vec![0, 1, -2], vec![0, 1, 2], vec![1.0; 3], "found -2 at position 2"),
        (4, vec![0, 1, 2], vec![0, 1, 2], vec![1.0; 3], "at least 4"),
        (-3, vec![0, 1, 2], vec![0, 1, 2], vec![1.0; 3], "`fclib_local/W/nz`: found -3"),
    ] {
        let error = fclib::read_bytes("w.h5", hdf5_of(nz, &p, &i, &x)).unwrap_err().to_string();
        assert!(error.contains(complaint), "nz = {nz}: {error}");
    }
}

#[test]
fn an_hdf5_file_of_another_kind_is_named_with_what_it_holds() {
    let mut builder = hdf5_pure::FileBuilder::new();
    let mut group = builder.create_group("robots");
    group.create_dataset("x").with_f64_data(&[1.0]);
    builder.add_group(group.finish());
    let error = load_bytes("x.h5", builder.finish().unwrap(), AS_IS).unwrap_err().to_string();
    assert!(error.contains("found /robots; required are either /fclib_local or"), "{error}");
}

/// The example problem's archive, in memory.
static EXAMPLE: LazyLock<Vec<u8>> = LazyLock::new(|| {
    let scratch = Scratch::new("example-bytes");
    npz::write(scratch.file("example.npz"), &example()).unwrap();
    std::fs::read(scratch.file("example.npz")).unwrap()
});

/// The example's archive with one member's bytes replaced, checksums correct.
fn example_with(index: usize, alter: impl Fn(&[u8]) -> Vec<u8>) -> Vec<u8> {
    let mut source = zip::ZipArchive::new(std::io::Cursor::new(EXAMPLE.as_slice())).unwrap();
    let mut altered = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
    let options =
        zip::write::SimpleFileOptions::default().compression_method(zip::CompressionMethod::Stored);
    for member in 0..source.len() {
        let mut file = source.by_index(member).unwrap();
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes).unwrap();
        altered.start_file(file.name().unwrap().to_string(), options).unwrap();
        altered.write_all(&if member == index { alter(&bytes) } else { bytes }).unwrap();
    }
    altered.finish().unwrap().into_inner()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, failure_persistence: None, ..Default::default() })]

    #[test]
    fn a_damaged_archive_gives_a_problem_or_an_error((flips, keep) in damage()) {
        let bytes = damaged(&EXAMPLE, &flips, keep);
        if let Ok(problem) = load_bytes("damaged.npz", bytes, AS_IS) {
            prop_assert!(problem.check(Path::new("damaged.npz")).is_ok());
        }
    }

    #[test]
    fn a_wrong_array_in_a_sound_archive_gives_a_problem_or_an_error(
        (flips, keep) in damage(),
        member in 0..20usize,
    ) {
        let bytes = example_with(member, |bytes| damaged(bytes, &flips, keep));
        if let Ok(problem) = load_bytes("damaged.npz", bytes, AS_IS) {
            prop_assert!(problem.check(Path::new("damaged.npz")).is_ok());
        }
    }

    #[test]
    fn a_damaged_hdf5_file_gives_a_problem_or_an_error((flips, keep) in damage()) {
        let whole = hdf5_of(-2, &[0, 2, 4, 5], &[0, 1, 0, 1, 2], &[2.0, 1.0, 1.0, 2.0, 3.0]);
        let bytes = damaged(&whole, &flips, keep);
        if let Ok(problem) = load_bytes("damaged.h5", bytes, SYMMETRISED) {
            prop_assert!(problem.check(Path::new("damaged.h5")).is_ok());
        }
    }
}
