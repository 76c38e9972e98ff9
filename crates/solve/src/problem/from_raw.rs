//! From the plain arrays of a file to a checked problem, and back.
//!
//! Subsystems are the blocks that the file names; otherwise groups of six or three coordinates if
//! A couples none of them with another, otherwise the connected components of A. A component that
//! is large and sparse becomes a sparse subsystem of three-velocity nodes. Trees, node sizes and
//! ports come from the keys of `extension.rs` where a file has them. The problem may order
//! velocities and rows differently from the file; [`FromFile`] keeps the permutations.

use super::extension::{self, Extension};
use super::{Map, Problem, SubsystemId};
use crate::error::ProblemError;
use crate::file::{Array, Csr, RawProblem};
use crate::law::{Bilateral, Bounded, Coulomb, Elliptic, Law, Unilateral};

/// A problem with the permutations to the order of its file.
#[derive(Clone, Debug)]
pub struct FromFile {
    /// The problem.
    pub problem: Problem,
    /// Index in the file of each velocity of the problem.
    pub velocity_order: Vec<usize>,
    /// Index in the file of each row of the problem.
    pub row_order: Vec<usize>,
}

impl FromFile {
    /// Velocities in the order of the file.
    pub fn velocities_to_file(&self, v: &[f64]) -> Vec<f64> {
        to_file(&self.velocity_order, v)
    }

    /// Row values in the order of the file.
    pub fn rows_to_file(&self, x: &[f64]) -> Vec<f64> {
        to_file(&self.row_order, x)
    }
}

fn to_file(order: &[usize], x: &[f64]) -> Vec<f64> {
    let mut out = vec![0.0; x.len()];
    for (x, to) in x.iter().zip(order) {
        out[*to] = *x;
    }
    out
}

/// A block at least this large may become sparse.
const SPARSE_FROM: usize = 60;
/// The largest share of entries that still counts as sparse.
const SPARSE_DENSITY: f64 = 0.3;
/// The most velocities of a sparse block that one row reads.
const WIDEST_ROW: usize = 36;
/// Velocities per node of a sparse block.
const NODE: usize = 3;

/// Key of the second friction coefficient of elliptic contacts, per constraint.
const SECOND_FRICTION: &str = "mu2";
/// Keys of the limits of bounded constraints [N·s], per constraint.
const LIMITS: [&str; 2] = ["lambda_min", "lambda_max"];

impl Problem {
    /// Builds a checked problem from the arrays of a file.
    pub fn from_raw(raw: &RawProblem) -> Result<FromFile, ProblemError> {
        let laws: Vec<Law> = raw
            .kinds
            .iter()
            .enumerate()
            .map(|(i, kind)| law(raw, i, *kind))
            .collect::<Result<_, _>>()?;
        let dims: Vec<usize> = laws.iter().map(Law::dim).collect();
        if let Some(extension) = Extension::read(raw, &dims)
            && let Ok(found) = Self::from_parts(raw, &laws, &extension)
            && extension::agrees(&found, raw)
        {
            return Ok(found);
        }
        Self::from_parts(raw, &laws, &Extension::default())
    }

    fn from_parts(
        raw: &RawProblem,
        laws: &[Law],
        extension: &Extension,
    ) -> Result<FromFile, ProblemError> {
        let (starts, velocity_order) = subsystems(raw)?;
        let mut position = vec![(0, 0); raw.n];
        for (s, pair) in starts.windows(2).enumerate() {
            for k in pair[0]..pair[1] {
                position[velocity_order[k]] = (s, k - pair[0]);
            }
        }
        let mut builder = Problem::builder(&raw.name);
        let mut ports = Vec::new();
        for (s, pair) in starts.windows(2).enumerate() {
            let members = &velocity_order[pair[0]..pair[1]];
            let b: Vec<f64> = members.iter().map(|d| raw.b[*d]).collect();
            let id = match extension.tree(s) {
                Some(tree) => builder.tree(tree, &b),
                None => {
                    let node_size = extension.node_sizes.get(s).copied();
                    add_subsystem(&mut builder, raw, s, members, &position, &b, node_size)?
                }
            };
            if extension.ports.is_none() {
                ports.push(builder.port(id, Map::Whole));
            }
        }
        for port in extension.ports.iter().flat_map(|p| &p.ports) {
            builder.port(port.subsystem, port.map.clone());
        }
        let mut row_order = Vec::with_capacity(raw.m);
        for (i, &law) in laws.iter().enumerate() {
            let rows = raw.row_start[i]..raw.row_start[i] + law.dim();
            row_order.extend(rows.clone());
            if let Some(given) = &extension.ports {
                let terms: Vec<_> = given.terms(i).collect();
                builder.constraint(law, &raw.e[rows.clone()], &raw.r[rows], &terms);
                continue;
            }
            let touched = rows.clone().flat_map(|r| raw.j.row(r)).map(|(d, _)| position[d].0);
            let mut touched: Vec<usize> = touched.collect();
            touched.sort_unstable();
            touched.dedup();
            let terms: Vec<_> = touched
                .iter()
                .map(|&s| {
                    let n = starts[s + 1] - starts[s];
                    let mut C = vec![0.0; law.dim() * n];
                    for (d, row) in rows.clone().enumerate() {
                        for (dof, x) in raw.j.row(row).filter(|(dof, _)| position[*dof].0 == s) {
                            C[d * n + position[dof].1] += x;
                        }
                    }
                    (ports[s], C)
                })
                .collect();
            let terms: Vec<_> = terms.iter().map(|(p, C)| (*p, C.as_slice())).collect();
            builder.constraint(law, &raw.e[rows.clone()], &raw.r[rows], &terms);
        }
        Ok(FromFile { problem: builder.build()?, velocity_order, row_order })
    }

    /// The problem as plain arrays, ready to be written.
    pub fn to_raw(&self) -> RawProblem {
        let (n, m) = (self.dofs(), self.rows());
        let mut extra = std::collections::BTreeMap::new();
        let kinds: Vec<i64> = self.constraints().iter().map(|c| kind(&c.law)).collect();
        let per_constraint = |f: &dyn Fn(&Law) -> f64| -> Vec<f64> {
            self.constraints().iter().map(|c| f(&c.law)).collect()
        };
        let friction = |law: &Law| match law {
            Law::Coulomb(k) => (k.friction(), k.friction()),
            Law::Elliptic(k) => k.friction(),
            _ => (0.0, 0.0),
        };
        if self.constraints().iter().any(|c| matches!(c.law, Law::Elliptic(_))) {
            let second = per_constraint(&|law| friction(law).1);
            extra.insert(SECOND_FRICTION.to_owned(), Array::from_f64(&second));
        }
        if self.constraints().iter().any(|c| matches!(c.law, Law::Bounded(_))) {
            for (key, pick) in LIMITS.iter().zip([0, 1]) {
                let limit = per_constraint(&|law| match law {
                    Law::Bounded(b) => [b.limits().0, b.limits().1][pick],
                    _ => 0.0,
                });
                extra.insert((*key).to_owned(), Array::from_f64(&limit));
            }
        }
        let mut compliance = self.compliance().to_vec();
        for (i, c) in self.constraints().iter().enumerate() {
            if let Law::Soft(soft) = &c.law {
                compliance[self.row_range(i).start] += soft.compliance();
            }
        }
        extension::write(self, &mut extra);
        let starts = (0..self.mass.subsystems()).map(|s| self.mass.dofs(SubsystemId(s)).start);
        RawProblem {
            name: self.name.clone(),
            n,
            m,
            a: self.mass_to_csr(),
            j: self.jacobian_to_csr(),
            b: self.momentum.clone(),
            kinds,
            row_start: (0..self.constraints().len()).map(|i| self.row_range(i).start).collect(),
            mu: per_constraint(&|law| friction(law).0),
            e: self.bias().to_vec(),
            r: compliance,
            blocks: Some((starts.chain([n]).collect(), (0..n).collect())),
            extra,
        }
    }

    pub(super) fn mass_to_csr(&self) -> Csr {
        let matrix = self.mass.matrix();
        let pattern = matrix.pattern();
        let mut rows = vec![Vec::new(); self.dofs()];
        for e in pattern.entries() {
            let (i, j) = (pattern.range(e.row), pattern.range(e.col));
            for (k, x) in matrix.block(e.id).iter().enumerate() {
                let (p, q) = (i.start + k / j.len(), j.start + k % j.len());
                if *x != 0.0 {
                    rows[p].push((q, *x));
                    if e.row != e.col {
                        rows[q].push((p, *x));
                    }
                }
            }
        }
        csr(rows, self.dofs())
    }

    pub(super) fn jacobian_to_csr(&self) -> Csr {
        let jacobian = &self.jacobian;
        let mut rows = vec![Vec::new(); self.rows()];
        for e in jacobian.entries() {
            let first = jacobian.row_range(e.constraint as usize).start;
            let columns = jacobian.block_range(e.block as usize);
            for (k, x) in jacobian.block(e).iter().enumerate() {
                if *x != 0.0 {
                    rows[first + k / columns.len()].push((columns.start + k % columns.len(), *x));
                }
            }
        }
        csr(rows, self.dofs())
    }
}

fn csr(mut rows: Vec<Vec<(usize, f64)>>, cols: usize) -> Csr {
    let mut out = Csr { rows: rows.len(), cols, indptr: vec![0], indices: vec![], data: vec![] };
    for row in &mut rows {
        row.sort_unstable_by_key(|(c, _)| *c);
        out.indices.extend(row.iter().map(|(c, _)| *c));
        out.data.extend(row.iter().map(|(_, x)| *x));
        out.indptr.push(out.indices.len());
    }
    out
}

fn kind(law: &Law) -> i64 {
    match law {
        Law::Bilateral(_) | Law::Soft(_) => 0,
        Law::Unilateral(_) => 1,
        Law::Coulomb(_) | Law::Elliptic(_) => 2,
        Law::Bounded(_) => 3,
    }
}

fn law(raw: &RawProblem, i: usize, kind: i64) -> Result<Law, ProblemError> {
    let extra = |key: &'static str| -> Result<Option<f64>, ProblemError> {
        let Some(values) = raw.extra.get(key).map(Array::to_f64) else { return Ok(None) };
        values.get(i).copied().map(Some).ok_or_else(|| ProblemError::Structure {
            what: key,
            found: format!("{} entries", values.len()),
            expected: "one per constraint",
        })
    };
    let refused =
        |what, found, expected| ProblemError::Law { constraint: i, what, found, expected };
    match kind {
        0 => Ok(Law::Bilateral(Bilateral)),
        1 => Ok(Law::Unilateral(Unilateral)),
        2 => {
            let mu = raw.mu[i];
            let expected = "a finite coefficient of friction, not negative";
            match extra(SECOND_FRICTION)? {
                Some(second) if second != mu => Elliptic::new(mu, second)
                    .map(Law::Elliptic)
                    .ok_or_else(|| refused("mu", mu.min(second), expected)),
                _ => Coulomb::new(mu).map(Law::Coulomb).ok_or_else(|| refused("mu", mu, expected)),
            }
        }
        3 => {
            let [lower, upper] = [extra(LIMITS[0])?, extra(LIMITS[1])?];
            let (lower, upper) = (lower.unwrap_or(f64::NAN), upper.unwrap_or(f64::NAN));
            Bounded::new(lower, upper)
                .map(Law::Bounded)
                .ok_or_else(|| refused("limits", lower, "lambda_min ≤ lambda_max"))
        }
        other => Err(refused("kind", other as f64, "0, 1, 2 or 3")),
    }
}

/// Starts of the subsystems and the velocities of each, in order.
pub(crate) fn subsystems(raw: &RawProblem) -> Result<(Vec<usize>, Vec<usize>), ProblemError> {
    if let Some((starts, members)) = &raw.blocks {
        return Ok((starts.clone(), members.clone()));
    }
    let rows = || (0..raw.n).flat_map(|r| raw.a.row(r).map(move |(c, _)| (r, c)));
    for group in [6, 3] {
        if raw.n.is_multiple_of(group) && rows().all(|(r, c)| r / group == c / group) {
            return Ok(((0..=raw.n).step_by(group).collect(), (0..raw.n).collect()));
        }
    }
    let mut sets = stiction_math::sets::DisjointSets::new(raw.n);
    for (r, c) in rows() {
        sets.union(r, c);
    }
    Ok(sets.groups())
}

fn add_subsystem(
    builder: &mut super::Builder,
    raw: &RawProblem,
    s: usize,
    members: &[usize],
    position: &[(usize, usize)],
    b: &[f64],
    node_size: Option<usize>,
) -> Result<SubsystemId, ProblemError> {
    let n = members.len();
    let entries = || {
        let row = |(i, d): (usize, &usize)| raw.a.row(*d).map(move |(c, x)| (i, c, x));
        members.iter().enumerate().flat_map(row)
    };
    if let Some((i, c, _)) = entries().find(|(_, c, x)| position[*c].0 != s && *x != 0.0) {
        return Err(ProblemError::Structure {
            what: "block_dofs",
            found: format!("A couples velocities {} and {c} of different blocks", members[i]),
            expected: "A block diagonal on the blocks",
        });
    }
    let large = n >= SPARSE_FROM && n.is_multiple_of(NODE);
    let filled = || entries().count() as f64 / (n * n) as f64;
    // Sparse storage does not help a subsystem with a row that reads many of its velocities.
    let row_entries = |row: usize| raw.j.row(row).filter(|(c, _)| position[*c].0 == s).count();
    let narrow = || (0..raw.m).all(|row| row_entries(row) <= WIDEST_ROW);
    let sparse = large && filled() <= SPARSE_DENSITY && narrow();
    let size = node_size.unwrap_or(if sparse { NODE } else { 0 });
    if size > 0 && n.is_multiple_of(size) {
        let mut blocks = std::collections::BTreeMap::<(usize, usize), Vec<f64>>::new();
        for (i, c, x) in entries() {
            let j = position[c].1;
            if i / size >= j / size {
                let block =
                    blocks.entry((i / size, j / size)).or_insert_with(|| vec![0.0; size * size]);
                block[(i % size) * size + j % size] += x;
            }
        }
        let list = blocks.iter().map(|((i, j), x)| (*i, *j, x.as_slice()));
        return Ok(builder.sparse(size, list, b));
    }
    let mut A = vec![0.0; n * n];
    for (i, c, x) in entries() {
        A[i * n + position[c].1] += x;
    }
    Ok(builder.dense(&A, b))
}
