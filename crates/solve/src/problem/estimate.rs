//! The free motion v* = A⁻¹ b, estimated for subsystems too large to factor when the problem is built.
//!
//! Residuals are relative to the free velocity. For a large subsystem the estimate is that of one
//! two-level step: the best common motion of all its nodes,
//! `v₀ = P (Pᵀ A P)⁻¹ Pᵀ b` with P the same velocity for every node, in which internal forces
//! cancel; then a diagonal correction per node, `v = v₀ + D (b − A v₀)` with D the node compliances [1/kg].
//! Costs one product with A. Exact for all other subsystems.

use super::{Mass, SubsystemId};
use stiction_math::block;

/// Largest node whose common motion is found by the plain loops here.
const LARGEST_NODE: usize = 6;

/// v* for small subsystems, an estimate of it for large ones.
/// `common` is scratch.
pub(super) fn free_motion(mass: &Mass, momentum: &[f64], v: &mut Vec<f64>, common: &mut Vec<f64>) {
    v.clear();
    v.extend_from_slice(momentum);
    for s in (0..mass.subsystems()).map(SubsystemId) {
        let dofs = mass.dofs(s);
        match mass.part(s).filter(|_| mass.is_lazy(s)) {
            None => mass.solve_subsystem(s, &mut v[dofs]),
            Some(A) => {
                let first = mass.blocks(s).start;
                let node_compliance = |k: usize| mass.node_compliance_of(first + k);
                estimate(A, node_compliance, &momentum[dofs.clone()], &mut v[dofs], common);
            }
        }
    }
}

/// The velocity that all nodes would have in common under momenta b, `(Pᵀ A P)⁻¹ Pᵀ b`.
pub(crate) fn common_motion(A: block::View<'_>, b: &[f64]) -> [f64; LARGEST_NODE] {
    let (pattern, mut common) = (A.pattern(), [0.0; LARGEST_NODE]);
    let Some(size) = pattern.common_size().filter(|size| *size <= LARGEST_NODE) else {
        return common;
    };
    let mut sum = [0.0; LARGEST_NODE * LARGEST_NODE];
    match size {
        3 => sum_of_blocks::<9>(A, &mut sum),
        6 => sum_of_blocks::<36>(A, &mut sum),
        _ => sum.iter_mut().enumerate().for_each(|(k, sum)| {
            *sum = A.values().iter().skip(k).step_by(size * size).sum();
        }),
    }
    // Only the lower triangle is stored: its sum plus the transposed sum counts the diagonal blocks
    // twice.
    let lower = sum;
    for p in 0..size {
        for q in 0..size {
            sum[p * size + q] += lower[q * size + p];
        }
    }
    for k in 0..pattern.n_blocks() {
        for (sum, a) in sum.iter_mut().zip(A.block(pattern.diagonal(k))) {
            *sum -= a;
        }
    }
    for b in b.chunks_exact(size) {
        common.iter_mut().zip(b).for_each(|(c, b)| *c += b);
    }
    if super::mass::cholesky(&mut sum[..size * size], size) {
        super::mass::cholesky_solve(&sum[..size * size], &mut common[..size]);
    } else {
        common.fill(0.0);
    }
    common
}

/// The sum of all stored blocks of N values.
fn sum_of_blocks<const N: usize>(A: block::View<'_>, sum: &mut [f64]) {
    let mut total = [0.0; N];
    for block in A.values().as_chunks::<N>().0 {
        for k in 0..N {
            total[k] += block[k];
        }
    }
    sum[..N].copy_from_slice(&total);
}

/// The two-level estimate of one subsystem.
fn estimate(
    A: block::View<'_>,
    node_compliance: impl Fn(usize) -> Option<f64>,
    b: &[f64],
    v: &mut [f64],
    spread: &mut Vec<f64>,
) {
    let pattern = A.pattern();
    let common = common_motion(A, b);
    // b − A v₀; then D times it, added to v₀.
    spread.clear();
    for k in 0..pattern.n_blocks() {
        spread.extend((0..pattern.size(k)).map(|p| common.get(p).copied().unwrap_or(0.0)));
    }
    A.mul(spread, v);
    v.iter_mut().zip(b).for_each(|(v, b)| *v = b - *v);
    for k in 0..pattern.n_blocks() {
        let D = A.block(pattern.diagonal(k));
        let size = pattern.size(k);
        for (p, v) in v[pattern.range(k)].iter_mut().enumerate() {
            let stiff = 1.0 / D[p * (size + 1)];
            // A scalar compliance applies only to nodes whose velocities have one unit (size ≤ 3).
            let d = node_compliance(k).filter(|_| size <= 3).unwrap_or(stiff);
            *v = common.get(p).copied().unwrap_or(0.0) + d * *v;
        }
    }
}
