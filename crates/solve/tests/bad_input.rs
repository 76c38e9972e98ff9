//! Whatever is handed to the builder, the answer is a problem or an error that helps, never a
//! panic; and whatever problem results, solvers end with finite numbers.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, non_snake_case)]

mod common;

use common::{build, goal};
use nalgebra::{Matrix3, Vector3, Vector6};
use proptest::prelude::*;
use proptest::test_runner::RngSeed;
use stiction_math::random::SplitMix64;
use stiction_math::spatial::Inertia10;
use stiction_solve::catalogue::Variation;
use stiction_solve::law::{Bilateral, Bounded, Coulomb, Elliptic, Law, Soft, Unilateral};
use stiction_solve::problem::{Builder, Map, PortId, SubsystemId, Tree};
use stiction_solve::{FrictionModel, Goal, Problem, ProblemError, Session, Solution};

/// Numbers that nobody should hand over, and some that are only extreme.
const ODD: [f64; 14] = [
    f64::NAN,
    f64::INFINITY,
    f64::NEG_INFINITY,
    0.0,
    -0.0,
    -1.0,
    1e300,
    -1e300,
    1e-300,
    1e160,
    1e-160,
    f64::MAX,
    f64::MIN_POSITIVE,
    5e-324,
];

/// What a port can read of a subsystem.
#[derive(Clone, Copy, Default)]
struct Size {
    velocities: usize,
    links: usize,
    node: usize,
}

/// A generator of parts: mostly sound, odd with some probability.
struct Parts {
    random: SplitMix64,
    odd: f64,
    scale: f64,
}

impl Parts {
    fn chance(&mut self, probability: f64) -> bool {
        self.random.unit() < probability
    }

    fn number(&mut self) -> f64 {
        if self.chance(self.odd) {
            return ODD[self.random.below(ODD.len())];
        }
        self.scale * self.random.uniform(-2.0, 2.0)
    }

    fn numbers(&mut self, count: usize) -> Vec<f64> {
        let wrong = self.chance(self.odd);
        (0..if wrong { self.random.below(20) } else { count }).map(|_| self.number()).collect()
    }

    /// A sound matrix in general: `B Bᵀ` plus a diagonal.
    fn matrix(&mut self, n: usize) -> Vec<f64> {
        if self.chance(self.odd) {
            return self.numbers(n * n);
        }
        let b: Vec<f64> = (0..n * n).map(|_| self.random.uniform(-1.0, 1.0)).collect();
        let mut A = vec![0.0; n * n];
        for i in 0..n {
            for j in 0..n {
                let dot: f64 = (0..n).map(|k| b[i * n + k] * b[j * n + k]).sum();
                A[i * n + j] = self.scale.abs() * (dot + if i == j { 0.5 } else { 0.0 });
            }
        }
        A
    }

    /// Adds a subsystem; its velocities, links and node size as far as it has them.
    fn subsystem(&mut self, builder: &mut Builder) -> Size {
        match self.random.below(3) {
            0 => {
                let n = 1 + self.random.below(5);
                let (A, b) = (self.matrix(n), self.numbers(n));
                builder.dense(&A, &b);
                Size { velocities: n, links: 0, node: 0 }
            }
            1 => {
                let size = if self.chance(self.odd) { 0 } else { 1 + self.random.below(3) };
                let nodes = 1 + self.random.below(3);
                let mut blocks: Vec<(usize, usize, Vec<f64>)> =
                    (0..nodes).map(|k| (k, k, self.matrix(size))).collect();
                if self.chance(2.0 * self.odd) {
                    let pair = (self.random.below(5), self.random.below(5));
                    blocks.push((pair.0, pair.1, self.numbers(size * size)));
                }
                let b = self.numbers(size * nodes);
                builder.sparse(size, blocks.iter().map(|(i, j, x)| (*i, *j, &x[..])), &b);
                Size { velocities: size * nodes, links: 0, node: size }
            }
            _ => {
                let mut tree = Tree::new();
                for link in 0..1 + self.random.below(3) {
                    let parent = match self.random.below(3) {
                        0 => None,
                        _ if self.chance(self.odd) => Some(link + self.random.below(3)),
                        _ => link.checked_sub(1),
                    };
                    let axis = Vector6::from_fn(|_, _| self.number());
                    let mass = self.number().abs();
                    let central = Matrix3::from_diagonal_element(self.number().abs());
                    let com = Vector3::from_fn(|_, _| self.random.uniform(-1.0, 1.0));
                    let inertia = Inertia10::from_central(mass, com, &central);
                    tree.link(parent, &[axis], inertia, &self.numbers(1));
                }
                let b = self.numbers(tree.velocities());
                let size = Size { velocities: b.len(), links: tree.links(), node: 0 };
                builder.tree(&tree, &b);
                size
            }
        }
    }

    /// Adds a port, sound in general; how many velocities it hands out.
    fn port(&mut self, builder: &mut Builder, sizes: &[Size]) -> (PortId, usize) {
        let at = self.random.below(sizes.len().max(1));
        let size = sizes.get(at).copied().unwrap_or_default();
        let (map, width) = match self.random.below(4) {
            _ if self.chance(self.odd) => match self.random.below(4) {
                0 => (Map::Link(self.random.below(4)), 6),
                1 => (Map::Nodes(vec![(self.random.below(4), self.number())]), 3),
                2 => (Map::Coordinates { first: usize::MAX, count: usize::MAX }, 1),
                _ => (Map::Matrix { rows: usize::MAX, values: self.numbers(4) }, 1),
            },
            0 if size.links > 0 => (Map::Link(self.random.below(size.links)), 6),
            0 if size.node > 0 => {
                let node = self.random.below(size.velocities / size.node);
                (Map::Nodes(vec![(node, self.number())]), size.node)
            }
            1 => {
                let first = self.random.below(size.velocities);
                let count = 1 + self.random.below(size.velocities.saturating_sub(first));
                (Map::Coordinates { first, count }, count)
            }
            2 => {
                let rows = 1 + self.random.below(3);
                (Map::Matrix { rows, values: self.numbers(rows * size.velocities) }, rows)
            }
            _ => (Map::Whole, size.velocities),
        };
        let beyond = if self.chance(self.odd) { self.random.below(3) } else { 0 };
        (builder.port(SubsystemId(at + beyond), map), width)
    }

    fn law(&mut self) -> Option<Law> {
        match self.random.below(7) {
            0 => Some(Law::Bilateral(Bilateral)),
            1 => Some(Law::Unilateral(Unilateral)),
            2 => Bounded::new(-self.number().abs(), self.number().abs()).map(Law::Bounded),
            3 => Soft::new(self.number()).map(Law::Soft),
            4 => Elliptic::new(self.number(), self.number()).map(Law::Elliptic),
            _ => Coulomb::new(self.number().abs()).map(Law::Coulomb),
        }
    }
}

/// A builder with random contents; nothing promises that they make sense.
fn random_builder(seed: u64, odd: f64, exponent: i32) -> Builder {
    let random = SplitMix64::new(seed);
    let mut parts = Parts { random, odd, scale: 10f64.powi(exponent) };
    let mut builder = Problem::builder("random");
    let subsystems = parts.random.below(4) + usize::from(!parts.chance(odd));
    let sizes: Vec<Size> = (0..subsystems).map(|_| parts.subsystem(&mut builder)).collect();
    for _ in 0..parts.random.below(6) {
        let Some(law) = parts.law() else { continue };
        let dim = law.dim();
        let mut ports = vec![parts.port(&mut builder, &sizes)];
        if parts.chance(0.4) {
            ports.push(parts.port(&mut builder, &sizes));
        }
        let mut terms = Vec::new();
        for (port, width) in ports {
            let beyond = if parts.chance(odd) { parts.random.below(3) } else { 0 };
            terms.push((PortId(port.0 + beyond), parts.numbers(dim.saturating_mul(width))));
        }
        let terms: Vec<(PortId, &[f64])> = terms.iter().map(|(p, C)| (*p, &C[..])).collect();
        let R = if parts.chance(0.3) { parts.number() } else { 0.0 };
        let R = if parts.chance(odd) { parts.numbers(dim) } else { vec![R.abs(); dim] };
        builder.constraint(law, &parts.numbers(dim), &R, &terms);
    }
    builder
}

/// Solves in a few iterations; every number that comes back is one.
fn check_solvers(problem: &Problem) {
    for solver in ["alm", "auto"] {
        for model in [FrictionModel::Coulomb, FrictionModel::Convex] {
            let goal = Goal { max_iterations: Some(10), ..goal(model, 1e-6) };
            let mut solution = Solution::cold(problem);
            let mut session = Session::new(solver).unwrap();
            let report = session.solve(problem, &goal, &mut solution).unwrap();
            assert!(solution.fits(problem), "{solver}: {solution:?}");
            let r = report.residuals;
            for x in [r.momentum, r.coulomb, r.convex, r.natural_map, r.reference_velocity] {
                assert!(!x.is_nan(), "{solver} ({}): {r:?}", model.name());
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig {
        failure_persistence: None,
        rng_seed: RngSeed::Fixed(1),
        ..ProptestConfig::with_cases(3000)
    })]

    #[test]
    fn random_parts_give_a_problem_or_an_error(
        seed: u64,
        odd in prop_oneof![Just(0.0), Just(0.01), Just(0.1)],
        exponent in prop_oneof![4 => -2..3i32, 1 => Just(-150), 1 => Just(150), 1 => -300..300i32],
    ) {
        match random_builder(seed, odd, exponent).build() {
            Ok(problem) => check_solvers(&problem),
            Err(error) => prop_assert!(!error.to_string().is_empty()),
        }
    }
}

#[test]
fn a_fair_share_of_random_parts_are_problems() {
    // Otherwise the test above would only test the builder.
    for exponent in [0, -150, 150] {
        let problem = |seed| random_builder(seed, 0.01, exponent).build().ok();
        let constrained = |problem: &Problem| problem.rows() > 0;
        let sound = (0..1000).filter_map(problem).filter(constrained).count();
        assert!(sound >= 50, "{sound} at magnitudes of 1e{exponent}");
    }
}

#[test]
fn parameters_that_a_law_does_not_admit_make_no_law() {
    for wrong in [f64::NAN, f64::INFINITY, -0.1] {
        assert!(Coulomb::new(wrong).is_none());
        assert!(Elliptic::new(wrong, 0.5).is_none());
        assert!(Elliptic::new(0.5, wrong).is_none());
        assert!(Soft::new(wrong).is_none());
    }
    assert!(Bounded::new(1.0, -1.0).is_none());
    assert!(Bounded::new(f64::NAN, 1.0).is_none());
}

/// The error of a builder, and that its message holds what it must.
fn refused(fill: impl FnOnce(&mut Builder), holds: &[&str]) -> ProblemError {
    let mut builder = Problem::builder("wrong");
    fill(&mut builder);
    let error = builder.build().unwrap_err();
    for part in holds {
        assert!(error.to_string().contains(part), "{error}: no {part:?}");
    }
    error
}

const UNIT: [f64; 4] = [1.0, 0.0, 0.0, 1.0];
const BILATERAL: Law = Law::Bilateral(Bilateral);

/// A sound subsystem of two velocities and a port that reads both.
fn sound(builder: &mut Builder) -> PortId {
    let subsystem = builder.dense(&UNIT, &[0.0, 0.0]);
    builder.port(subsystem, Map::Whole)
}

#[test]
fn a_problem_without_velocities_is_refused() {
    let error = refused(|_| {}, &["no degree of freedom", "expected at least one subsystem"]);
    assert_eq!(error, ProblemError::Empty);
}

#[test]
fn a_wrong_length_is_said_with_both_lengths() {
    let error = refused(
        |b| {
            sound(b);
            b.dense(&UNIT[..3], &[0.0, 0.0]);
        },
        &["A of subsystem 1", "3 entries", "expected 4"],
    );
    assert!(matches!(error, ProblemError::Length { .. }));
    let bias = |b: &mut Builder| {
        let port = sound(b);
        b.constraint(BILATERAL, &[0.0, 0.0], &[0.0], &[(port, &[1.0, 0.0])]);
    };
    refused(bias, &["bias of constraint 0", "2 entries", "expected 1"]);
    let term = |b: &mut Builder| {
        let port = sound(b);
        b.constraint(BILATERAL, &[0.0], &[0.0], &[(port, &[1.0])]);
    };
    refused(term, &["term of constraint 0", "1 entries", "expected 2"]);
}

#[test]
fn a_number_that_is_none_is_said_with_its_place() {
    let error = refused(
        |b| {
            b.dense(&UNIT, &[0.0, f64::NAN]);
        },
        &["b of subsystem 0", "NaN", "entry 1", "expected a finite number"],
    );
    assert!(matches!(error, ProblemError::NotFinite { .. }));
    let overflow = |b: &mut Builder| {
        b.dense(&[1e-300], &[1e300]);
    };
    refused(overflow, &["A⁻¹ b", "expected a finite number"]);
}

#[test]
fn an_asymmetric_matrix_is_said_with_both_entries() {
    let error = refused(
        |b| {
            b.dense(&[1.0, 0.25, 0.5, 1.0], &[0.0, 0.0]);
        },
        &["A of subsystem 0", "not symmetric", "(1, 0)", "0.5 and 0.25"],
    );
    assert!(matches!(error, ProblemError::NotSymmetric { .. }));
}

#[test]
fn an_indefinite_matrix_is_said_with_what_is_expected() {
    let error = refused(
        |b| {
            sound(b);
            b.dense(&[1.0, 2.0, 2.0, 1.0], &[0.0, 0.0]);
        },
        &["A of subsystem 1", "not positive definite", "expected a mass matrix"],
    );
    assert_eq!(error, ProblemError::NotPositiveDefinite { subsystem: 1 });
}

#[test]
fn an_unknown_index_is_refused_with_the_count() {
    let error = refused(
        |b| {
            sound(b);
            b.port(SubsystemId(7), Map::Whole);
        },
        &["port 1", "subsystem 7", "there are 1"],
    );
    assert!(matches!(error, ProblemError::Unknown { .. }));
    let port = |b: &mut Builder| {
        sound(b);
        b.constraint(BILATERAL, &[0.0], &[0.0], &[(PortId(5), &[1.0, 0.0])]);
    };
    refused(port, &["constraint 0", "port 5", "there are 1"]);
    let coordinates = |b: &mut Builder| {
        sound(b);
        b.port(SubsystemId(0), Map::Coordinates { first: usize::MAX, count: 2 });
    };
    refused(coordinates, &["port 1", "coordinate", "there are 2"]);
}

#[test]
fn a_port_that_does_not_suit_its_subsystem_is_said() {
    let error = refused(
        |b| {
            sound(b);
            b.port(SubsystemId(0), Map::Link(0));
        },
        &["port 1", "subsystem 0", "link", "dense"],
    );
    assert!(matches!(error, ProblemError::WrongPort { .. }));
    let nodes = |b: &mut Builder| {
        sound(b);
        b.port(SubsystemId(0), Map::Nodes(vec![(0, 1.0)]));
    };
    refused(nodes, &["node", "dense"]);
}

#[test]
fn a_compliance_that_no_contact_has_is_said() {
    let error = refused(
        |b| {
            let port = sound(b);
            b.constraint(BILATERAL, &[0.0], &[-1.0], &[(port, &[1.0, 0.0])]);
        },
        &["constraint 0", "[-1.0]", "no negative entry"],
    );
    assert!(matches!(error, ProblemError::Compliance { .. }));
    let uneven = |b: &mut Builder| {
        let port = sound(b);
        let law = Law::Coulomb(Coulomb::new(0.5).unwrap());
        b.constraint(law, &[0.0; 3], &[0.1, 0.2, 0.3], &[(port, &[1.0; 6])]);
    };
    refused(uneven, &["constraint 0", "the same value for both tangents"]);
}

#[test]
fn a_constraint_that_nothing_can_satisfy_is_said_with_a_way_out() {
    let error = refused(
        |b| {
            let port = sound(b);
            b.constraint(BILATERAL, &[0.0], &[0.0], &[(port, &[0.0, 0.0])]);
        },
        &["constraint 0", "acts on no velocity", "remove it or connect it"],
    );
    assert_eq!(error, ProblemError::NoEffect { constraint: 0 });
}

#[test]
fn a_parent_that_comes_later_is_said() {
    let error = refused(
        |b| {
            let mut tree = Tree::new();
            let inertia = Inertia10::from_central(1.0, Vector3::zeros(), &Matrix3::identity());
            tree.link(Some(1), &[Vector6::x()], inertia, &[0.0]);
            b.tree(&tree, &[0.0]);
        },
        &["link 0 of subsystem 0", "parent 1", "expected an earlier link"],
    );
    assert_eq!(error, ProblemError::Parent { subsystem: 0, link: 0, parent: 1 });
}

#[test]
fn a_file_with_a_law_that_does_not_exist_is_said() {
    let raw = build("box-slide", &Variation::default()).to_raw();
    let complaint = |alter: &dyn Fn(&mut stiction_solve::file::RawProblem)| {
        let mut wrong = raw.clone();
        alter(&mut wrong);
        Problem::from_raw(&wrong).unwrap_err()
    };
    let error = complaint(&|raw| raw.mu[2] = -0.5);
    assert!(matches!(error, ProblemError::Law { .. }));
    let message = error.to_string();
    for part in ["constraint 2", "-0.5", "expected a finite coefficient of friction"] {
        assert!(message.contains(part), "{message}");
    }
    let message = complaint(&|raw| raw.kinds[1] = 9).to_string();
    assert!(message.contains("constraint 1") && message.contains('9'), "{message}");
}

#[test]
fn a_file_whose_blocks_contradict_its_matrix_is_said() {
    let mut raw = build("chain", &Variation { size: 2, ..Variation::default() }).to_raw();
    raw.extra.clear();
    raw.blocks = Some((vec![0, 4, 12], (0..12).collect()));
    // Every velocity coupled with every other.
    raw.a = {
        let mut dense = stiction_solve::file::Csr::zeros(12, 12);
        for row in 0..12 {
            for column in 0..12 {
                let x = if row == column { 1.0 } else { 0.01 };
                dense.indices.push(column);
                dense.data.push(x);
            }
            dense.indptr[row + 1] = dense.indices.len();
        }
        dense
    };
    let message = Problem::from_raw(&raw).unwrap_err().to_string();
    for part in ["block_dofs", "couples velocities", "expected A block diagonal"] {
        assert!(message.contains(part), "{message}");
    }
}
