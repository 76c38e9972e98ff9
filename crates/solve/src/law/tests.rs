//! Properties that every law has.

use super::*;
use stiction_math::random::SplitMix64;

fn samples() -> Vec<Law> {
    let coulomb = |mu| Law::Coulomb(Coulomb::new(mu).unwrap());
    let elliptic = |a, b| Law::Elliptic(Elliptic::new(a, b).unwrap());
    vec![
        Law::Bilateral(Bilateral),
        Law::Bounded(Bounded::new(-0.3, 0.8).unwrap()),
        coulomb(0.0),
        coulomb(0.3),
        coulomb(2.0),
        elliptic(0.2, 0.4),
        elliptic(1.5, 0.1),
        elliptic(0.5, 0.5),
        Law::Soft(Soft::new(2.5).unwrap()),
        Law::Unilateral(Unilateral),
    ]
}

/// Random local problems: (law, c0, r) with one compliance for the normal and one for the tangents.
fn local_problems(per_law: usize) -> Vec<(Law, Vec<f64>, Vec<f64>)> {
    let mut random = SplitMix64::new(7);
    let mut out = Vec::new();
    for law in samples() {
        for _ in 0..per_law {
            let c0: Vec<f64> = (0..law.dim()).map(|_| random.normal()).collect();
            let (r_n, r_t) = (random.log_uniform(0.05, 20.0), random.log_uniform(0.05, 20.0));
            let r =
                if law.dim() == 1 { vec![r_n] } else { crate::contact::rows(r_n, r_t).to_vec() };
            out.push((law, c0, r));
        }
    }
    out
}

fn solution(law: &Law, model: FrictionModel, c0: &[f64], r: &[f64]) -> Vec<f64> {
    let mut lambda = vec![0.0; law.dim()];
    law.relation().respond(model, c0, r, &mut lambda);
    lambda
}

const MODELS: [FrictionModel; 2] = [FrictionModel::Coulomb, FrictionModel::Convex];

#[test]
fn the_slope_is_the_derivative_of_the_impulse() {
    let h = 1e-6;
    for (law, c0, r) in local_problems(200) {
        for model in MODELS {
            let d = law.dim();
            let mut slope = vec![0.0; d * d];
            law.relation().slope(model, &c0, &r, &mut slope);
            let scale: f64 = r.iter().map(|r| 1.0 / r).fold(0.0, f64::max);
            for j in 0..d {
                let shifted = |s: f64| {
                    let mut c = c0.clone();
                    c[j] += s;
                    solution(&law, model, &c, &r)
                };
                let (plus, minus, wide) = (shifted(h), shifted(-h), shifted(-2.0 * h));
                let near = shifted(2.0 * h);
                for i in 0..d {
                    let central = -(plus[i] - minus[i]) / (2.0 * h);
                    let coarse = -(near[i] - wide[i]) / (4.0 * h);
                    // At a kink the two differences disagree: no derivative to compare with.
                    if (central - coarse).abs() > 1e-5 * scale {
                        continue;
                    }
                    let found = slope[i * d + j];
                    assert!(
                        (central - found).abs() <= 1e-4 * scale,
                        "{law:?} {model:?} c0 {c0:?} r {r:?} [{i},{j}]: {found} against {central}"
                    );
                }
            }
        }
    }
}

#[test]
fn the_convex_slope_is_symmetric_and_positive_semidefinite() {
    for (law, c0, r) in local_problems(200) {
        let d = law.dim();
        let mut slope = vec![0.0; d * d];
        law.relation().slope(FrictionModel::Convex, &c0, &r, &mut slope);
        let S = nalgebra::DMatrix::from_row_slice(d, d, &slope);
        let scale = S.norm().max(1e-300);
        assert!((&S - S.transpose()).norm() <= 1e-10 * scale, "{law:?} {S}");
        let smallest = S.symmetric_eigenvalues().min();
        assert!(smallest >= -1e-10 * scale, "{law:?} {S}");
    }
}

#[test]
fn the_potential_decreases_by_the_impulse() {
    let h = 1e-6;
    for (law, c0, r) in local_problems(100) {
        let lambda = solution(&law, FrictionModel::Convex, &c0, &r);
        for j in 0..law.dim() {
            let at = |s: f64| {
                let mut c = c0.clone();
                c[j] += s;
                law.relation().potential(&c, &r)
            };
            let by_difference = -(at(h) - at(-h)) / (2.0 * h);
            let scale = 1.0 + lambda[j].abs() + r.iter().map(|r| 1.0 / r).fold(0.0, f64::max);
            assert!((by_difference - lambda[j]).abs() <= 1e-5 * scale, "{law:?} {c0:?} {r:?}");
        }
    }
}

#[test]
fn the_convex_answer_is_monotone() {
    let all = local_problems(100);
    for pair in all.windows(2) {
        let ((law, a, r), (other, b, _)) = (&pair[0], &pair[1]);
        if law != other {
            continue;
        }
        let (x, y) = (
            solution(law, FrictionModel::Convex, a, r),
            solution(law, FrictionModel::Convex, b, r),
        );
        let product: f64 = (0..law.dim()).map(|i| (x[i] - y[i]) * (a[i] - b[i])).sum();
        assert!(product <= 1e-12, "{law:?}: {product}");
    }
}

/// Checks (c, λ) against the words of the law, written out independently of `respond`.
fn violation(law: &Law, model: FrictionModel, c: &[f64], lambda: &[f64]) -> f64 {
    let complementary = |a: f64, b: f64| a.min(b).abs();
    let cone = |mu1: f64, mu2: f64| {
        let (c, l) =
            (crate::contact::ContactVec::load(c), crate::contact::ContactVec::load(lambda));
        let rate = (mu1 * c.t.x).hypot(mu2 * c.t.y);
        let c_n = if model == FrictionModel::Coulomb { c.n + rate } else { c.n };
        // In the cone, in its dual, and orthogonal.
        let outside = ((l.t.x / mu1.max(1e-300)).hypot(l.t.y / mu2.max(1e-300)) - l.n).max(0.0);
        let outside = if mu1 == 0.0 { l.t.norm() } else { outside };
        outside.max(rate - c_n).max((l.n * c_n + l.t.dot(&c.t)).abs())
    };
    match law {
        Law::Bilateral(_) => c[0].abs(),
        Law::Unilateral(_) => complementary(lambda[0], c[0]),
        Law::Soft(s) => (c[0] + s.compliance() * lambda[0]).abs(),
        Law::Bounded(b) => {
            let (lower, upper) = b.limits();
            complementary(upper - lambda[0], (-c[0]).max(0.0))
                .max(complementary(lambda[0] - lower, c[0].max(0.0)))
        }
        Law::Coulomb(k) => cone(k.friction(), k.friction()),
        Law::Elliptic(k) => cone(k.friction().0, k.friction().1),
    }
}

#[test]
fn the_solution_satisfies_the_law() {
    for (law, c0, r) in local_problems(300) {
        for model in MODELS {
            let lambda = solution(&law, model, &c0, &r);
            let c: Vec<f64> = (0..law.dim()).map(|i| c0[i] + r[i] * lambda[i]).collect();
            let scale = 1.0 + lambda.iter().map(|l| l * l).sum::<f64>();
            // Round-off of a few operations, amplified by the spread of the local compliances.
            let bound = 1e-11 * scale * 400.0;
            assert!(violation(&law, model, &c, &lambda) <= bound, "{law:?} {model:?} {c0:?} {r:?}");
        }
    }
}

#[test]
fn contacts_never_create_energy() {
    for (law, c0, r) in local_problems(200) {
        if !law.is_contact() {
            continue;
        }
        for model in MODELS {
            let lambda = solution(&law, model, &c0, &r);
            let power: f64 = (0..3).map(|i| lambda[i] * (c0[i] + r[i] * lambda[i])).sum();
            assert!(power <= 1e-10 * (1.0 + lambda.iter().map(|l| l * l).sum::<f64>()));
        }
    }
}

#[test]
fn a_circle_is_an_ellipse_with_equal_axes() {
    let (circle, ellipse) = (Coulomb::new(0.7).unwrap(), Elliptic::new(0.7, 0.7).unwrap());
    for (law, c0, r) in local_problems(100) {
        if law.dim() != 3 {
            continue;
        }
        for model in MODELS {
            let (mut x, mut y) = ([0.0; 3], [0.0; 3]);
            circle.respond(model, &c0, &r, &mut x);
            ellipse.respond(model, &c0, &r, &mut y);
            for i in 0..3 {
                // Newton's root is good to round-off times the spread of the local compliances.
                assert!((x[i] - y[i]).abs() <= 1e-11 * (1.0 + x[i].abs()), "{x:?} {y:?}");
            }
        }
    }
}

#[test]
fn a_frictionless_contact_at_rest_does_not_pull() {
    // −0.0 compares equal to 0.0: the stick test alone would let a negative impulse through.
    let law = Coulomb::new(0.0).unwrap();
    let mut lambda = [f64::NAN; 3];
    for model in MODELS {
        law.respond(model, &[1.0, 0.0, 0.0], &[1.0; 3], &mut lambda);
        assert_eq!(lambda, [0.0; 3]);
    }
}

#[test]
fn the_list_is_sorted_and_described() {
    assert!(LAWS.is_sorted_by(|a, b| a.name < b.name));
    assert!(LAWS.iter().all(|e| !e.about.is_empty() && !e.cite.is_empty()));
}
