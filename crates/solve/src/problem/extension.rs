//! Optional keys of a problem file in addition to A and J: trees, node sizes, ports and terms.
//!
//! | key | per | holds |
//! |---|---|---|
//! | `block_node_size` | subsystem | velocities per node of a sparse subsystem, 0 for others |
//! | `tree_subsystem`, `tree_links` | tree | its subsystem, its number of links |
//! | `tree_parent`, `tree_velocities` | link | parent within the tree (−1: ground), velocities added |
//! | `tree_inertia` | link | mass, moment (3), rotational xx yy zz xy xz yz; world's origin |
//! | `tree_subspace`, `tree_diagonal` | velocity of a tree | 6 numbers, angular first; added to A |
//! | `port_subsystem`, `port_kind` | port | 0 whole, 1 coordinates, 2 link, 3 nodes, 4 matrix |
//! | `port_first`, `port_count` | port | coordinates or nodes: first, count; link: index; matrix: first value, rows |
//! | `port_node`, `port_weight` | entry of a node port | node, weight |
//! | `port_values` | – | row-major values of all matrix ports |
//! | `term_start` | constraint, and one more | its first term |
//! | `term_port` | term | its port |
//! | `term_values` | – | row-major C of all terms, one after another |
//!
//! Subsystems are those of `block_ptr`, and coordinates count within them. A and J are
//! authoritative: keys that contradict them or one another are ignored.

use nalgebra::{Vector3, Vector6};
use stiction_math::spatial::Inertia10;

use super::{Map, Port, PortId, Problem, Structure, SubsystemId, Tree, tree};
use crate::file::{Array, RawProblem, Values};

/// Differences from A and J, relative to the largest entry of a row, that count as round-off.
const ROUND_OFF: f64 = 1e-9;

type Extra = std::collections::BTreeMap<String, Array>;

/// Contents of the optional keys of a file.
#[derive(Debug, Default)]
pub(super) struct Extension {
    /// Velocities per node, for each subsystem; empty if the file does not have the key.
    pub node_sizes: Vec<usize>,
    pub trees: Vec<(usize, Tree)>,
    pub ports: Option<Ports>,
}

/// Ports and terms of a file.
#[derive(Debug)]
pub(super) struct Ports {
    pub ports: Vec<Port>,
    term_start: Vec<usize>,
    term_ports: Vec<usize>,
    value_start: Vec<usize>,
    values: Vec<f64>,
}

impl Ports {
    /// Port and C of each term of a constraint.
    pub fn terms(&self, constraint: usize) -> impl Iterator<Item = (PortId, &[f64])> {
        (self.term_start[constraint]..self.term_start[constraint + 1]).map(|t| {
            let range = self.value_start[t]..self.value_start[t + 1];
            (PortId(self.term_ports[t]), &self.values[range])
        })
    }
}

impl Extension {
    /// Reads the keys that are present and consistent; `None` if there are none. `dims` has the
    /// number of rows of each constraint.
    pub fn read(raw: &RawProblem, dims: &[usize]) -> Option<Self> {
        let subsystems = raw.blocks.as_ref()?.0.len().checked_sub(1)?;
        let node_sizes = indices(&raw.extra, "block_node_size").unwrap_or_default();
        let mut extension = Self { node_sizes, ..Self::default() };
        if extension.node_sizes.len() != subsystems {
            extension.node_sizes.clear();
        }
        extension.trees = read_trees(&raw.extra).unwrap_or_default();
        extension.trees.retain(|(s, _)| *s < subsystems);
        extension.ports = read_ports(raw, dims, &extension);
        let empty = extension.node_sizes.is_empty()
            && extension.trees.is_empty()
            && extension.ports.is_none();
        (!empty).then_some(extension)
    }

    /// The tree of a subsystem.
    pub fn tree(&self, subsystem: usize) -> Option<&Tree> {
        self.trees.iter().find(|(s, _)| *s == subsystem).map(|(_, tree)| tree)
    }
}

fn floats(extra: &Extra, key: &str) -> Option<Vec<f64>> {
    extra.get(key).map(Array::to_f64)
}

fn integers(extra: &Extra, key: &str) -> Option<Vec<i64>> {
    match &extra.get(key)?.values {
        Values::I64(values) => Some(values.clone()),
        Values::F64(_) => None,
    }
}

fn indices(extra: &Extra, key: &str) -> Option<Vec<usize>> {
    integers(extra, key)?.into_iter().map(|i| usize::try_from(i).ok()).collect()
}

fn read_trees(extra: &Extra) -> Option<Vec<(usize, Tree)>> {
    let subsystems = indices(extra, "tree_subsystem")?;
    let links = indices(extra, "tree_links")?;
    let parents = integers(extra, "tree_parent")?;
    let counts = indices(extra, "tree_velocities")?;
    let inertias = floats(extra, "tree_inertia")?;
    let subspaces = floats(extra, "tree_subspace")?;
    let diagonal = floats(extra, "tree_diagonal")?;
    let total = |x: &[usize]| x.iter().try_fold(0usize, |sum, n| sum.checked_add(*n));
    let fits = links.len() == subsystems.len()
        && total(&links)? == parents.len()
        && counts.len() == parents.len()
        && inertias.len() == parents.len().checked_mul(10)?
        && total(&counts)? == diagonal.len()
        && subspaces.len() == diagonal.len().checked_mul(6)?;
    if !fits {
        return None;
    }
    let (mut trees, mut link, mut velocity) = (Vec::new(), 0, 0);
    for (subsystem, links) in subsystems.into_iter().zip(links) {
        let mut tree = Tree::new();
        for _ in 0..links {
            let range = velocity..velocity + counts[link];
            let S: Vec<_> = range
                .clone()
                .map(|k| Vector6::from_column_slice(&subspaces[6 * k..][..6]))
                .collect();
            let inertia = inertia(&inertias[10 * link..][..10]);
            let parent = usize::try_from(parents[link]).ok();
            tree.link(parent, &S, inertia, &diagonal[range.clone()]);
            (link, velocity) = (link + 1, range.end);
        }
        trees.push((subsystem, tree));
    }
    Some(trees)
}

fn inertia(x: &[f64]) -> Inertia10 {
    let mut rotational = [0.0; 6];
    rotational.copy_from_slice(&x[4..10]);
    Inertia10 { mass: x[0], moment: Vector3::new(x[1], x[2], x[3]), rotational }
}

fn read_ports(raw: &RawProblem, dims: &[usize], extension: &Extension) -> Option<Ports> {
    let extra = &raw.extra;
    let block_start = &raw.blocks.as_ref()?.0;
    let subsystems = indices(extra, "port_subsystem")?;
    let kinds = indices(extra, "port_kind")?;
    let firsts = indices(extra, "port_first")?;
    let counts = indices(extra, "port_count")?;
    let nodes = indices(extra, "port_node").unwrap_or_default();
    let weights = floats(extra, "port_weight").unwrap_or_default();
    let matrices = floats(extra, "port_values").unwrap_or_default();
    let same = [kinds.len(), firsts.len(), counts.len()].iter().all(|n| *n == subsystems.len());
    if !same || nodes.len() != weights.len() {
        return None;
    }
    let (mut ports, mut sizes) = (Vec::new(), Vec::new());
    for (k, &s) in subsystems.iter().enumerate() {
        let n = block_start.get(s.checked_add(1)?)?.checked_sub(block_start[s])?;
        let (first, count) = (firsts[k], counts[k]);
        let (map, size) = match kinds[k] {
            0 => (Map::Whole, n),
            1 => (Map::Coordinates { first, count }, count),
            2 => (Map::Link(first), 6),
            3 => {
                let range = first..first.checked_add(count)?;
                let pairs = nodes.get(range.clone())?.iter().zip(weights.get(range)?);
                let size = *extension.node_sizes.get(s)?;
                (Map::Nodes(pairs.map(|(n, w)| (*n, *w)).collect()), size)
            }
            4 => {
                let end = first.checked_add(count.checked_mul(n)?)?;
                let values = matrices.get(first..end)?.to_vec();
                (Map::Matrix { rows: count, values }, count)
            }
            _ => return None,
        };
        ports.push(Port { subsystem: SubsystemId(s), map });
        sizes.push(size);
    }
    let term_start = indices(extra, "term_start")?;
    let term_ports = indices(extra, "term_port")?;
    let values = floats(extra, "term_values")?;
    let ends = (term_start.first()?, term_start.last()?);
    if term_start.len() != dims.len() + 1 || ends != (&0, &term_ports.len()) {
        return None;
    }
    let mut value_start = vec![0usize];
    for (pair, dim) in term_start.windows(2).zip(dims) {
        for port in term_ports.get(pair[0]..pair[1])? {
            let len = dim.checked_mul(*sizes.get(*port)?)?;
            value_start.push(value_start[value_start.len() - 1].checked_add(len)?);
        }
    }
    (value_start.last() == Some(&values.len())).then_some(Ports {
        ports,
        term_start,
        term_ports,
        value_start,
        values,
    })
}

/// Adds the keys of a problem's structure.
pub(super) fn write(problem: &Problem, extra: &mut Extra) {
    let mass = problem.mass();
    let structures: Vec<_> =
        (0..mass.subsystems()).map(|s| mass.structure(SubsystemId(s))).collect();
    let node_sizes: Vec<usize> = structures
        .iter()
        .map(|s| if let Structure::Sparse { node_size } = s { *node_size } else { 0 })
        .collect();
    let mut put = |key: &str, array: Array| extra.insert(key.to_owned(), array);
    put("block_node_size", Array::from_usize(&node_sizes));
    let trees: Vec<(usize, &Tree)> =
        (0..mass.subsystems()).filter_map(|s| Some((s, mass.tree(SubsystemId(s))?))).collect();
    if !trees.is_empty() {
        let per_tree =
            |f: &dyn Fn(&(usize, &Tree)) -> usize| -> Vec<usize> { trees.iter().map(f).collect() };
        put("tree_subsystem", Array::from_usize(&per_tree(&|(s, _)| *s)));
        put("tree_links", Array::from_usize(&per_tree(&|(_, tree)| tree.links())));
        let links = || trees.iter().flat_map(|(_, tree)| (0..tree.links()).map(move |l| (tree, l)));
        let parents: Vec<i64> =
            links().map(|(tree, l)| tree.parent(l).map_or(-1, |p| p as i64)).collect();
        put("tree_parent", Array::from_i64(&parents));
        let counts: Vec<usize> = links().map(|(tree, l)| tree.velocity_range(l).len()).collect();
        put("tree_velocities", Array::from_usize(&counts));
        let inertias: Vec<f64> =
            links().flat_map(|(tree, l)| tree::parameters(tree.inertia(l))).collect();
        put("tree_inertia", matrix(inertias, 10));
        let subspaces = trees.iter().flat_map(|(_, tree)| tree.subspaces());
        put("tree_subspace", matrix(subspaces.flatten().copied().collect(), 6));
        let diagonal: Vec<f64> =
            trees.iter().flat_map(|(_, tree)| tree.diagonal()).copied().collect();
        put("tree_diagonal", Array::from_f64(&diagonal));
    }
    write_ports(problem, put);
}

/// A matrix of `columns` columns.
fn matrix(values: Vec<f64>, columns: usize) -> Array {
    Array { shape: vec![values.len() / columns, columns], values: Values::F64(values) }
}

fn write_ports(problem: &Problem, mut put: impl FnMut(&str, Array) -> Option<Array>) {
    let (mut kinds, mut firsts, mut counts) = (Vec::new(), Vec::new(), Vec::new());
    let (mut nodes, mut weights, mut matrices) = (Vec::new(), Vec::new(), Vec::new());
    for port in problem.ports() {
        let (kind, first, count) = match &port.map {
            Map::Whole => (0, 0, 0),
            Map::Coordinates { first, count } => (1, *first, *count),
            Map::Link(link) => (2, *link, 0),
            Map::Nodes(list) => {
                let first = nodes.len();
                nodes.extend(list.iter().map(|(n, _)| *n));
                weights.extend(list.iter().map(|(_, w)| *w));
                (3, first, list.len())
            }
            Map::Point { nodes: four, weights: theirs } => {
                let first = nodes.len();
                let used = || four.iter().zip(theirs).filter(|(_, w)| **w != 0.0);
                nodes.extend(used().map(|(n, _)| *n as usize));
                weights.extend(used().map(|(_, w)| *w));
                (3, first, nodes.len() - first)
            }
            Map::Matrix { rows, values } => {
                let first = matrices.len();
                matrices.extend_from_slice(values);
                (4, first, *rows)
            }
        };
        kinds.push(kind);
        firsts.push(first);
        counts.push(count);
    }
    let subsystems: Vec<usize> = problem.ports().iter().map(|p| p.subsystem.0).collect();
    put("port_subsystem", Array::from_usize(&subsystems));
    put("port_kind", Array::from_usize(&kinds));
    put("port_first", Array::from_usize(&firsts));
    put("port_count", Array::from_usize(&counts));
    put("port_node", Array::from_usize(&nodes));
    put("port_weight", Array::from_f64(&weights));
    put("port_values", Array::from_f64(&matrices));
    let mut starts = vec![0];
    let (mut ports, mut values) = (Vec::new(), Vec::new());
    for i in 0..problem.constraints().len() {
        for term in problem.terms(i) {
            ports.push(term.port.0);
            values.extend_from_slice(problem.term_values(term));
        }
        starts.push(ports.len());
    }
    put("term_start", Array::from_usize(&starts));
    put("term_port", Array::from_usize(&ports));
    put("term_values", Array::from_f64(&values));
}

/// Whether a problem has the A and J of a file, up to round-off.
pub(super) fn agrees(found: &super::FromFile, raw: &RawProblem) -> bool {
    let super::FromFile { problem, velocity_order, row_order } = found;
    let mut work = vec![0.0; raw.n];
    let mut same_row = |ours: &[(usize, f64)], file: &[(usize, f64)]| {
        let largest = file.iter().fold(0.0, |m: f64, (_, x)| m.max(x.abs()));
        file.iter().for_each(|(c, x)| work[*c] += x);
        ours.iter().for_each(|(c, x)| work[velocity_order[*c]] -= x);
        let touched =
            || file.iter().map(|(c, _)| *c).chain(ours.iter().map(|(c, _)| velocity_order[*c]));
        let same = touched().all(|c| work[c].abs() <= ROUND_OFF * largest);
        touched().for_each(|c| work[c] = 0.0);
        same
    };
    let (A, J) = (problem.mass_to_csr(), problem.jacobian_to_csr());
    let row = |m: &crate::file::Csr, r: usize| m.row(r).collect::<Vec<_>>();
    (0..A.rows).all(|r| same_row(&row(&A, r), &row(&raw.a, velocity_order[r])))
        && (0..J.rows).all(|r| same_row(&row(&J, r), &row(&raw.j, row_order[r])))
}
