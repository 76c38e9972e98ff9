//! Medians of factorization, solve and product times, for choosing between the engines.
//!
//! `cargo run --release -p stiction-math --example factor_bench`
#![allow(clippy::unwrap_used, non_snake_case)]

use std::time::Instant;
use stiction_math::block::{Cholesky, Engine, General, Lu, Pattern, SelectedInverse, Symmetric};
use stiction_math::random::SplitMix64;
use stiction_math::schur::Schur;

fn main() {
    println!(
        "{:22} {:>6} {:>9} {:>8} {:>10} {:>10} {:>10} {:>10} {:>10} {:>10}",
        "matrix",
        "dim",
        "work",
        "chosen",
        "analyse",
        "blocks",
        "supernodal",
        "dense",
        "solve",
        "product"
    );
    for n in [10, 40, 100, 300, 500, 1000, 2000] {
        report(&format!("loose pile of {n}"), &pile(n, 6, LOOSE));
    }
    for n in [40, 100, 300, 500, 1000] {
        report(&format!("tight pile of {n}"), &pile(n, 6, TIGHT));
    }
    for n in [8, 12, 16, 24, 32, 64] {
        report(&format!("clique of {n}"), &pile(n, 6, f64::INFINITY));
    }
    for n in [20, 40, 100, 300] {
        report(&format!("pile of {n} trees"), &pile(n, 24, LOOSE));
    }
    for m in [3, 4, 5, 6, 8, 11] {
        report(&format!("mesh {m}³"), &mesh(m));
    }
    for n in [6, 12, 24, 36, 48, 64, 100, 300, 1000] {
        report(&format!("one block of {n}"), &Pattern::new(&[n], []));
    }
    println!("\nLU: {:17} {:>6} {:>10} {:>10}", "matrix", "dim", "factor", "solve");
    for (name, pattern) in [
        ("pile of 40", pile(40, 6, LOOSE)),
        ("pile of 300", pile(300, 6, LOOSE)),
        ("mesh 8³", mesh(8)),
        ("one block of 300", Pattern::new(&[300], [])),
        ("one block of 1500", Pattern::new(&[1500], [])),
    ] {
        report_lu(name, &pattern);
    }
    for (name, pattern) in [("pile of 40", pile(40, 6, LOOSE)), ("mesh 6³", mesh(6))] {
        let (A, mut inverse) = (dominant(&pattern), SelectedInverse::analyse(&pattern));
        let time = microseconds(median(|| inverse.compute(&A).unwrap()));
        println!("Selected inverse of {name}, with factorization: {time}");
    }
    for m in [6, 8, 10] {
        report_schur(m);
    }
    for m in [9, 13, 17] {
        let pattern = mesh(m);
        let (A, x) = (dominant(&pattern), vec![1.0; pattern.dim()]);
        let mut y = x.clone();
        let time = microseconds(median(|| A.mul(&x, &mut y)));
        let (dim, n) = (pattern.dim(), A.values().len());
        println!("product at {dim} DoFs, {n} values: {time}");
    }
}

fn report(name: &str, pattern: &Pattern) {
    let A = dominant(pattern);
    let time = |engine| {
        let mut factor = Cholesky::analyse_for(pattern, engine);
        microseconds(median(|| factor.factor(&A).unwrap()))
    };
    let dense = if pattern.dim() > 2000 { "-".into() } else { time(Engine::Dense) };
    let mut chosen = Cholesky::analyse(pattern);
    chosen.factor(&A).unwrap();
    let mut x = vec![1.0; pattern.dim()];
    let mut y = x.clone();
    let engine = format!("{:?}", chosen.engine());
    let analyse = microseconds(median(|| drop(Cholesky::analyse(pattern))));
    let (blocks, supernodal) = (time(Engine::Blocks), time(Engine::Supernodal));
    let solve = microseconds(median(|| {
        x.fill(1.0);
        chosen.solve_in_place(&mut x);
    }));
    let product = microseconds(median(|| A.mul(&x, &mut y)));
    println!(
        "{name:22} {:>6} {:>9.2e} {:>8.8} {analyse:>10} {blocks:>10} {supernodal:>10} {dense:>10} {solve:>10} {product:>10}",
        pattern.dim(),
        chosen.work(),
        engine
    );
}

fn report_lu(name: &str, pattern: &Pattern) {
    let symmetric = dominant(pattern);
    let mut A = General::zeros(pattern);
    for e in pattern.entries() {
        A.block_mut(e.id).copy_from_slice(symmetric.block(e.id));
        A.upper_mut(e.id).fill(-0.1);
    }
    let mut factor = Lu::analyse(pattern);
    let mut x = vec![1.0; pattern.dim()];
    let time = microseconds(median(|| factor.factor(&A).unwrap()));
    let solve = microseconds(median(|| {
        x.fill(1.0);
        factor.solve_in_place(&mut x);
    }));
    println!("    {name:17} {:>6} {time:>10} {solve:>10}", pattern.dim());
}

/// Complement onto the lowest layer of a mesh.
fn report_schur(m: usize) {
    let pattern = mesh(m);
    let A = dominant(&pattern);
    let keep: Vec<_> = (0..pattern.n_blocks()).map(|k| k < (m + 1) * (m + 1)).collect();
    let mut schur = Schur::analyse(&pattern, &keep);
    let time = microseconds(median(|| schur.factor(&A).unwrap()));
    let (mut b, mut reduced) = (vec![1.0; pattern.dim()], vec![0.0; schur.dim()]);
    let solve = microseconds(median(|| {
        b.fill(1.0);
        schur.reduce_rhs(&b, &mut reduced);
        schur.expand(&reduced, &mut b);
    }));
    let (dim, p) = (pattern.dim(), schur.dim());
    println!("Schur complement of mesh {m}³ ({dim}) onto {p}: {time}; reduce and expand: {solve}");
}

fn microseconds(seconds: f64) -> String {
    format!("{:.1} µs", 1e6 * seconds)
}

/// Median over enough runs to fill a fifth of a second.
fn median(mut f: impl FnMut()) -> f64 {
    let mut times = Vec::new();
    let begin = Instant::now();
    while times.len() < 5 || (begin.elapsed().as_secs_f64() < 0.2 && times.len() < 10_000) {
        let start = Instant::now();
        f();
        times.push(start.elapsed().as_secs_f64());
    }
    times.sort_by(f64::total_cmp);
    times[times.len() / 2]
}

/// Reach, in grid widths, at which about three neighbours on each side touch.
const LOOSE: f64 = 1.1;
/// Reach, in grid widths, at which about nine neighbours on each side touch.
const TIGHT: f64 = 1.45;

/// Balls in a heap: those on a jittered cubic grid that are within reach of each other.
fn pile(n: usize, size: usize, reach: f64) -> Pattern {
    let side = (n as f64).cbrt().ceil() as usize;
    let mut rng = SplitMix64::new(1);
    let mut jitter = || rng.uniform(-0.2, 0.2);
    let at: Vec<_> = (0..n)
        .map(|k| [k % side, k / side % side, k / side / side].map(|x| x as f64 + jitter()))
        .collect();
    let near = |a: &[f64; 3], b: &[f64; 3]| {
        a.iter().zip(b).map(|(a, b)| (a - b) * (a - b)).sum::<f64>() < reach * reach
    };
    let pairs =
        (0..n).flat_map(|i| (0..i).map(move |j| (i, j))).filter(|&(i, j)| near(&at[i], &at[j]));
    Pattern::new(&vec![size; n], pairs)
}

/// Vertices of a cube of m³ cells, each cut into tetrahedra along the same diagonals.
fn mesh(m: usize) -> Pattern {
    let n = m + 1;
    let at = |x: usize, y: usize, z: usize| x + n * (y + n * z);
    let mut pairs = Vec::new();
    for z in 0..n {
        for y in 0..n {
            for x in 0..n {
                for (dx, dy, dz) in
                    [(1, 0, 0), (0, 1, 0), (0, 0, 1), (1, 1, 0), (1, 0, 1), (0, 1, 1), (1, 1, 1)]
                {
                    if x + dx < n && y + dy < n && z + dz < n {
                        pairs.push((at(x, y, z), at(x + dx, y + dy, z + dz)));
                    }
                }
            }
        }
    }
    Pattern::new(&vec![3; n * n * n], pairs)
}

/// Couplings of -0.1 and a diagonal that outweighs those of its row, but not by much: the factor
/// must not fade into numbers too small for full speed.
fn dominant(pattern: &Pattern) -> Symmetric {
    let mut A = Symmetric::zeros(pattern);
    A.values_mut().fill(-0.1);
    let mut y = vec![0.0; pattern.dim()];
    A.mul(&vec![-1.0; pattern.dim()], &mut y);
    for k in 0..pattern.n_blocks() {
        let stride = pattern.size(k) + 1;
        let diagonal = A.block_mut(pattern.diagonal(k)).iter_mut().step_by(stride);
        diagonal.zip(&y[pattern.range(k)]).for_each(|(d, y)| *d = y + 0.1);
    }
    A
}
