//! A tree with its contacts as point masses: `A + Σ β Jᵀ J` in the sparsity of its branches.
//!
//! A contact on a link whose rows are an orthonormal frame of the velocity of a point p,
//! `C = R [−[p]×, 1]`, has `β Cᵀ C` equal to the spatial inertia of a mass β at p, whatever R is
//! [Lee25, Eq. (42), App. A]. The ten parameters of a link absorb it and the composite-rigid-body
//! algorithm does the rest [Lee25, Eq. (41)]. Rows of another form on a link add a 6×6 matrix to
//! its composite. Rows on coordinates are added to the matrix; if they couple branches, the factor
//! becomes dense. Costs ten additions per contact plus the mass matrix of the tree.

use nalgebra::{Matrix3, Matrix6, Vector3, Vector6};
use stiction_math::spatial::{Inertia10, skew};

use super::layout::{AdmmBlock, Layout};
use crate::problem::{Problem, SubsystemId, Tree};
use stiction_math::branch;

/// Distance from an orthonormal frame or a cross product that counts as round-off.
const ROUND_OFF: f64 = 64.0 * f64::EPSILON;

/// The factor of one tree.
#[derive(Debug, Default)]
pub struct Augmented {
    pub subsystem: usize,
    /// Points of the contacts in the order of the subsystem's pieces; `None` for other rows.
    points: Vec<Option<Vector3<f64>>>,
    inertias: Vec<Inertia10>,
    general: Vec<Matrix6<f64>>,
    has_general: bool,
    parents: Vec<Option<u32>>,
    L: Vec<f64>,
}

impl Augmented {
    /// Prepares for a tree of a problem.
    pub fn prepare(&mut self, tree: &Tree, layout: &Layout, subsystem: usize) {
        self.subsystem = subsystem;
        let pieces = layout.subsystem_pieces(subsystem);
        self.points.clear();
        self.points.extend(pieces.iter().map(|p| point_of(p, layout)));
        let mut with_points = pieces.iter().zip(&self.points);
        self.has_general = with_points.any(|(p, point)| p.on_link && point.is_none());
        self.general.clear();
        if self.has_general {
            self.general.resize(tree.links(), Matrix6::zeros());
        }
        self.parents.clear();
        self.parents.extend_from_slice(tree.velocity_parents());
        let mut on_coordinates = pieces.iter().filter(|p| !p.on_link);
        if !on_coordinates.all(|p| follows_branches(layout.values(p), p.range(), tree)) {
            let n = tree.velocities() as u32;
            self.parents.clear();
            self.parents.extend((0..n).map(|k| k.checked_sub(1)));
        }
    }

    /// Assembles and factors at penalties `beta`. False if not positive definite.
    pub fn factor(&mut self, problem: &Problem, layout: &Layout, beta: &[f64]) -> bool {
        let Some(tree) = problem.mass().tree(SubsystemId(self.subsystem)) else { return false };
        self.assemble(tree, layout, beta);
        branch::factor(&mut self.L, &self.parents, |_| 0.0)
    }

    /// `A + Σ β Jᵀ J` into L.
    fn assemble(&mut self, tree: &Tree, layout: &Layout, beta: &[f64]) {
        self.inertias.clear();
        self.inertias.extend((0..tree.links()).map(|l| *tree.inertia(l)));
        self.general.fill(Matrix6::zeros());
        let n = tree.velocities();
        self.L.clear();
        self.L.resize(n * n, 0.0);
        for (p, point) in layout.subsystem_pieces(self.subsystem).iter().zip(&self.points) {
            let (link, beta) = (p.block as usize, beta[p.constraint as usize]);
            match point {
                Some(at) => self.inertias[link] += Inertia10::point_mass(beta, *at),
                None if p.on_link => {
                    for row in layout.values(p).chunks_exact(6) {
                        let c = Vector6::from_column_slice(row);
                        self.general[link] += c * (beta * c.transpose());
                    }
                }
                None => {}
            }
        }
        tree.accumulate(&mut self.inertias);
        tree.accumulate(&mut self.general);
        let (inertias, general) = (&self.inertias, &self.general);
        if self.has_general {
            let momentum = |l: usize, S: &Vector6<f64>| inertias[l].momentum(S) + general[l] * S;
            tree.composite_matrix(momentum, &mut self.L);
        } else {
            tree.composite_matrix(|l, S| inertias[l].momentum(S), &mut self.L);
        }
        for p in layout.subsystem_pieces(self.subsystem).iter().filter(|p| !p.on_link) {
            let (beta, range) = (beta[p.constraint as usize], p.range());
            for row in layout.values(p).chunks_exact(range.len()) {
                for (i, a) in range.clone().zip(row).filter(|(_, a)| **a != 0.0) {
                    let H = &mut self.L[i * n..][range.clone()];
                    H.iter_mut().zip(row).for_each(|(h, b)| *h += beta * a * b);
                }
            }
        }
    }

    /// `x ← (A + Σ β Jᵀ J)⁻¹ x`.
    pub fn solve(&self, x: &mut [f64]) {
        branch::solve(&self.L, &self.parents, x);
    }
}

/// `H += β Jᵀ J` for row-major J of width n.
pub fn add_rows(J: &[f64], n: usize, beta: f64, H: &mut [f64]) {
    for row in J.chunks_exact(n) {
        for (a, H) in row.iter().zip(H.chunks_exact_mut(n)).filter(|(a, _)| **a != 0.0) {
            for (h, b) in H.iter_mut().zip(row) {
                *h += beta * a * b;
            }
        }
    }
}

/// The point whose velocity a piece on a link reads in an orthonormal frame.
fn point_of(piece: &AdmmBlock, layout: &Layout) -> Option<Vector3<f64>> {
    let C = layout.values(piece);
    if !piece.on_link || C.len() != 18 {
        return None;
    }
    let angular = Matrix3::from_fn(|r, c| C[6 * r + c]);
    let R = Matrix3::from_fn(|r, c| C[6 * r + 3 + c]);
    let orthonormal = (R.transpose() * R - Matrix3::identity()).amax() <= ROUND_OFF;
    // −[p]× = Rᵀ (angular part).
    let M = R.transpose() * angular;
    let half = |a: (usize, usize), b: (usize, usize)| 0.5 * (M[a] - M[b]);
    let p = Vector3::new(half((1, 2), (2, 1)), half((2, 0), (0, 2)), half((0, 1), (1, 0)));
    let wrong = (angular + R * skew(p)).amax();
    (orthonormal && wrong <= ROUND_OFF * p.amax().max(angular.amax())).then_some(p)
}

/// Whether rows on a run of velocities couple only those on a common path.
fn follows_branches(J: &[f64], range: std::ops::Range<usize>, tree: &Tree) -> bool {
    let parents = tree.velocity_parents();
    J.chunks_exact(range.len()).all(|row| {
        let at = |k: usize| k.checked_sub(range.start).and_then(|k| row.get(k)).copied();
        let Some(last) = row.iter().rposition(|x| *x != 0.0) else { return true };
        let on_path = branch::ancestors(parents, Some((range.start + last) as u32));
        let touched = row.iter().filter(|x| **x != 0.0).count();
        on_path.filter(|k| at(*k).is_some_and(|x| x != 0.0)).count() == touched
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::law::{Bilateral, Coulomb, Law};
    use crate::problem::{Map, PortId};
    use crate::solver::admm::Split;
    use nalgebra::{DMatrix, Rotation3};
    use stiction_math::random::SplitMix64;

    fn random3(rng: &mut SplitMix64) -> Vector3<f64> {
        Vector3::from_fn(|_, _| rng.normal())
    }

    /// A tree with contacts at points of its links, and other rows if `others`.
    fn problem(rng: &mut SplitMix64, links: usize, others: bool) -> Problem {
        let mut tree = Tree::new();
        for l in 0..links {
            let parent = (l > 0).then(|| rng.below(l));
            let count = if l == 0 { 6 } else { 1 + l % 2 };
            let S: Vec<_> = (0..count).map(|_| Vector6::from_fn(|_, _| rng.normal())).collect();
            let central = Matrix3::identity() * rng.uniform(0.01, 0.1);
            let inertia = Inertia10::from_central(rng.uniform(0.5, 2.0), random3(rng), &central);
            tree.link(parent, &S, inertia, &vec![0.01; count]);
        }
        let n = tree.velocities();
        let mut builder = Problem::builder("augmented");
        let robot = builder.tree(&tree, &vec![0.1; n]);
        let ports: Vec<PortId> = (0..links).map(|l| builder.port(robot, Map::Link(l))).collect();
        let contact = Law::Coulomb(Coulomb::new(0.5).unwrap());
        for _ in 0..3 * links {
            let R = Rotation3::new(random3(rng)).matrix().into_owned();
            let (a, b) = (rng.below(links), rng.below(links));
            let side = |sign: f64, p: Vector3<f64>| {
                let (angular, linear) = (-sign * R * skew(p), sign * R);
                let C = |k: usize| {
                    if k % 6 < 3 { angular[(k / 6, k % 6)] } else { linear[(k / 6, k % 6 - 3)] }
                };
                (0..18).map(C).collect::<Vec<f64>>()
            };
            let p = random3(rng);
            let (one, two) = (side(1.0, p), side(-1.0, p));
            let terms = [(ports[a], one.as_slice()), (ports[b], two.as_slice())];
            let terms = if a == b { &terms[..1] } else { &terms[..] };
            builder.constraint(contact, &[0.0; 3], &[0.0; 3], terms);
        }
        if others {
            let weld = Law::Bilateral(Bilateral);
            let row: Vec<f64> = (0..6).map(|_| rng.normal()).collect();
            builder.constraint(weld, &[0.0], &[0.0], &[(ports[links - 1], &row)]);
            let joints = builder.port(robot, Map::Coordinates { first: n - 3, count: 3 });
            builder.constraint(weld, &[0.0], &[0.0], &[(joints, &[1.0, 0.0, -0.7])]);
        }
        builder.build().unwrap()
    }

    #[test]
    fn contacts_as_point_masses_give_the_dense_matrix() {
        let mut rng = SplitMix64::new(11);
        for (links, others) in [(1, false), (4, false), (15, false), (9, true)] {
            let problem = problem(&mut rng, links, others);
            let tree = problem.mass().tree(SubsystemId(0)).unwrap();
            let mut layout = Layout::default();
            layout.prepare(&problem, Split::Link);
            let beta: Vec<f64> =
                (0..layout.constraints()).map(|_| rng.log_uniform(0.1, 10.0)).collect();
            let mut found = Augmented::default();
            found.prepare(tree, &layout, 0);
            let points = found.points.iter().filter(|p| p.is_some()).count();
            assert_eq!(points, found.points.len() - if others { 2 } else { 0 });
            found.assemble(tree, &layout, &beta);
            // The same sum by dense Jacobians, term by term.
            let n = tree.velocities();
            let mut expected = problem.mass().matrix().to_dense();
            for (i, beta) in beta.iter().enumerate() {
                for term in problem.terms(i) {
                    let C = problem.term_values(term);
                    let dim = problem.row_range(i).len();
                    let C = DMatrix::from_row_slice(dim, C.len() / dim, C);
                    let mut P = DMatrix::zeros(C.ncols(), n);
                    match problem.ports()[term.port.0].map {
                        Map::Link(l) => {
                            for k in tree.path(l) {
                                P.column_mut(k).copy_from(&tree.subspaces()[k]);
                            }
                        }
                        Map::Coordinates { first, count } => {
                            (0..count).for_each(|k| P[(k, first + k)] = 1.0);
                        }
                        _ => panic!("no such port here"),
                    }
                    let J = C * P;
                    expected += *beta * J.transpose() * J;
                }
            }
            let H = DMatrix::from_row_slice(n, n, &found.L);
            assert!((H - &expected).amax() <= 1e-12 * expected.amax(), "{links} {others}");
            assert!(found.factor(&problem, &layout, &beta));
            let x = nalgebra::DVector::from_fn(n, |_, _| rng.normal());
            let mut y = (&expected * &x).as_slice().to_vec();
            found.solve(&mut y);
            let residual = &expected * (nalgebra::DVector::from_vec(y) - &x);
            assert!(residual.norm() <= 1e-12 * expected.norm() * x.norm());
        }
    }
}
