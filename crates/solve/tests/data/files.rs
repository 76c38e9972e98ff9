//! Problem files of the collections: sizes, references, embeddings, damage.

use std::path::{Path, PathBuf};

use proptest::strategy::{Strategy, ValueTree};
use stiction_solve::file::fclib::{self, Fclib};
use stiction_solve::file::{Csr, LoadOptions, load, load_bytes};
use stiction_testkit::data::{NamedTest, files_in};
use stiction_testkit::trials;

use crate::common::raw::{damage, damaged, dense, gram};

/// Tests of the golden problems.
pub const GOLDEN: &[NamedTest] =
    trials![golden_files_have_their_documented_size_and_their_references_solve_them,];

/// Tests of the FCLIB collection.
pub const FCLIB: &[NamedTest] = trials![
    every_file_of_the_collection_is_read_with_its_documented_size,
    the_embedding_reproduces_the_delassus_matrices_of_the_collection,
    references_of_the_collection_solve_the_embedded_problems,
    damaged_files_of_the_collection_give_a_problem_or_an_error,
];

const AS_IS: LoadOptions = LoadOptions { symmetrise: false };
const SYMMETRISED: LoadOptions = LoadOptions { symmetrise: true };

fn golden_files_have_their_documented_size_and_their_references_solve_them(folder: &Path) {
    let sizes = [(6, 4), (24, 32), (36, 37), (225, 25), (120, 33), (6, 60)];
    let files = files_in(folder, "npz");
    assert_eq!(files.len(), sizes.len());
    for (path, size) in files.iter().zip(sizes) {
        let problem = load(path, AS_IS).unwrap();
        assert_eq!((problem.n, problem.kinds.len()), size, "{}", problem.name);
        for law in ["ncp", "ccp"] {
            let [v, lambda] = ["v", "lam"].map(|x| problem.extra[&format!("{x}_{law}")].to_f64());
            // Momentum balance: references hold it to round-off, about 1e-15 × size × magnitude.
            let scale = problem.b.iter().fold(1.0f64, |scale, b| scale.max(b.abs()));
            let impulse = problem.j.transpose_times(&lambda);
            for ((av, b), jl) in problem.a.times(&v).iter().zip(&problem.b).zip(&impulse) {
                assert!((av - b - jl).abs() <= 1e-11 * scale, "{} {law}", problem.name);
            }
        }
    }
}

/// `‖r − P_K(r − u − μ‖u_t‖ e_n)‖ / ‖q‖` with the Euclidean projection [Tasora, Eqs. (11)-(12)].
fn natural_map(mu: &[f64], r: &[f64], u: &[f64], q: &[f64]) -> f64 {
    let mut squares = 0.0;
    for ((&mu, r), u) in mu.iter().zip(r.chunks(3)).zip(u.chunks(3)) {
        let slip = u[1].hypot(u[2]);
        let y = [r[0] - u[0] - mu * slip, r[1] - u[1], r[2] - u[2]];
        let y_t = y[1].hypot(y[2]);
        let p = if mu * y_t <= -y[0] {
            [0.0; 3]
        } else if y_t <= mu * y[0] {
            y
        } else {
            let n = (y[0] + mu * y_t) / (1.0 + mu * mu);
            [n, mu * n * y[1] / y_t, mu * n * y[2] / y_t]
        };
        squares += (0..3).map(|k| (r[k] - p[k]).powi(2)).sum::<f64>();
    }
    squares.sqrt() / norm(q)
}

fn norm(x: &[f64]) -> f64 {
    x.iter().map(|x| x * x).sum::<f64>().sqrt()
}

/// Number of contacts and, in global problems, of velocities, for each file of the collection.
fn manifest(folder: &Path) -> Vec<(PathBuf, usize, Option<usize>)> {
    // The manifest has one key per line and a problem's sizes follow its file name.
    let text = std::fs::read_to_string(folder.join("manifest.json")).unwrap();
    let value = |line: &str, key: &str| {
        let rest = line.trim().strip_prefix(&format!("\"{key}\": "))?;
        Some(rest.trim_end_matches(',').trim_matches('"').to_string())
    };
    let mut entries: Vec<(PathBuf, usize, Option<usize>)> = Vec::new();
    let mut global = false;
    for line in text.lines() {
        if let Some(file) = value(line, "file") {
            entries.push((folder.join(file), 0, None));
        } else if let Some(kind) = value(line, "kind") {
            global = kind == "global";
        } else if let (Some(contacts), Some(last)) = (value(line, "n_contacts"), entries.last_mut())
        {
            last.1 = contacts.parse().unwrap();
        } else if let (Some(dofs), Some(last)) = (value(line, "n_dof"), entries.last_mut()) {
            last.2 = dofs.parse().ok().filter(|_| global);
        }
    }
    entries
}

fn every_file_of_the_collection_is_read_with_its_documented_size(folder: &Path) {
    let entries = manifest(folder);
    let mut listed: Vec<_> = entries.iter().map(|(path, ..)| path.clone()).collect();
    listed.sort();
    assert_eq!(listed, files_in(folder, "h5"));
    for (path, contacts, dofs) in entries {
        let problem = fclib::read(&path).unwrap();
        assert_eq!(problem.contacts(), contacts, "{}", problem.name());
        match &problem {
            Fclib::Local(local) => assert!(dofs.is_none() && local.title.is_some()),
            Fclib::Global(global) => assert_eq!(Some(global.f.len()), dofs),
        }
    }
}

fn plus(x: &[f64], y: &[f64]) -> Vec<f64> {
    x.iter().zip(y).map(|(x, y)| x + y).collect()
}

fn distance(x: &[f64], y: &[f64]) -> f64 {
    x.iter().zip(y).map(|(x, y)| (x - y).powi(2)).sum::<f64>().sqrt()
}

/// `A⁻¹ b` by conjugate gradients with the diagonal as preconditioner.
fn solve(a: &Csr, b: &[f64]) -> Vec<f64> {
    let diagonal: Vec<f64> = (0..a.rows)
        .map(|row| a.row(row).find(|&(col, _)| col == row).map_or(1.0, |(_, value)| value))
        .collect();
    let dot = |x: &[f64], y: &[f64]| x.iter().zip(y).map(|(x, y)| x * y).sum::<f64>();
    let precondition = |r: &[f64]| r.iter().zip(&diagonal).map(|(r, d)| r / d).collect::<Vec<_>>();
    let (mut x, mut r) = (vec![0.0; b.len()], b.to_vec());
    let mut p = precondition(&r);
    let mut rz = dot(&r, &p);
    while norm(&r) > 1e-12 * norm(b) {
        let ap = a.times(&p);
        let step = rz / dot(&p, &ap);
        x.iter_mut().zip(&p).for_each(|(x, p)| *x += step * p);
        r.iter_mut().zip(&ap).for_each(|(r, ap)| *r -= step * ap);
        let z = precondition(&r);
        let previous = std::mem::replace(&mut rz, dot(&r, &z));
        p.iter_mut().zip(&z).for_each(|(p, z)| *p = z + rz / previous * *p);
    }
    x
}

fn the_embedding_reproduces_the_delassus_matrices_of_the_collection(folder: &Path) {
    let mut asymmetric = 0;
    for path in files_in(folder, "h5") {
        let Fclib::Local(local) = fclib::read(&path).unwrap() else {
            continue;
        };
        let raw = load(&path, AS_IS).unwrap_or_else(|error| {
            assert!(error.to_string().contains("--symmetrise"), "{error}");
            asymmetric += 1;
            let raw = load(&path, SYMMETRISED).unwrap();
            assert!(raw.extra.is_empty(), "{}: references of another problem", raw.name);
            raw
        });
        let w = dense(&local.w.symmetrised());
        // Round-off of the eigendecomposition, some rows × machine epsilon. One matrix was rounded to
        // eight digits and has an eigenvalue of -1.2e-8 of the largest, which no J can reproduce.
        let rounded = if raw.name == "Confeti-ex03" { 2e-8 } else { 0.0 };
        let error = distance(&gram(&raw.j), &w) / norm(&w);
        assert!(error <= 10.0 * raw.m as f64 * f64::EPSILON + rounded, "{}: {error:e}", raw.name);
    }
    // Each asymmetric file has a twin with the symmetric part of its matrix.
    let is_twin = |path: &&PathBuf| path.to_string_lossy().ends_with("__sym.h5");
    let is_local = |path: &&PathBuf| matches!(fclib::read(path).unwrap(), Fclib::Local(_));
    let twins = files_in(folder, "h5").iter().filter(is_twin).filter(is_local).count();
    assert_eq!(asymmetric, twins);
}

fn references_of_the_collection_solve_the_embedded_problems(folder: &Path) {
    let mut references = 0;
    for path in files_in(folder, "h5") {
        let Ok(raw) = load(&path, AS_IS) else {
            continue;
        };
        let (Some(lambda), Some(v)) = (raw.extra.get("lam_ncp"), raw.extra.get("v_ncp")) else {
            continue;
        };
        references += 1;
        let (lambda, v) = (lambda.to_f64(), v.to_f64());
        let momentum = plus(&raw.b, &raw.j.transpose_times(&lambda));
        let scale = norm(&raw.b) + norm(&momentum);
        assert!(distance(&raw.a.times(&v), &momentum) <= 1e-12 * scale, "{}", raw.name);
        let u = plus(&raw.j.times(&v), &raw.e);
        let q = plus(&raw.j.times(&solve(&raw.a, &raw.b)), &raw.e);
        // The collection stores a reference only if this residual is at most 1e-8.
        let residual = natural_map(&raw.mu, &lambda, &u, &q);
        assert!(residual <= 1e-8, "{}: {residual:e}", raw.name);
    }
    assert!(references > 0, "no file of the collection has a reference");
}

fn damaged_files_of_the_collection_give_a_problem_or_an_error(folder: &Path) {
    let mut runner = proptest::test_runner::TestRunner::deterministic();
    for name in ["FrictionContact3D_1c.h5", "GFC3D_problem-check.h5"] {
        let whole = std::fs::read(folder.join(name)).unwrap();
        for _ in 0..1000 {
            let (flips, keep) = damage().new_tree(&mut runner).unwrap().current();
            if let Ok(problem) = load_bytes(name, damaged(&whole, &flips, keep), SYMMETRISED) {
                assert!(problem.check(Path::new(name)).is_ok());
            }
        }
    }
}
