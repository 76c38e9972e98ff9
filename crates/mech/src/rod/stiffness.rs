//! Forces and stiffness of a whole rod, summed over its bonds.
//!
//! `K = Σ Jᵀ K J` is positive semi-definite for every shape. Of the geometric term E of
//! [Lee23, Eq. (8)], the part due to tension T is kept, the transverse stiffness of a taut string: to
//! second order, rotations of the two frames by θ_i and θ_j across the rod direction d stretch a bond
//! by
//!
//! ```text
//! a_i θ_i²/2 + a_j θ_j²/2 + (θ_m × d)·γ
//! ```
//!
//! with the shear γ and the rotation θ_m of frame m. Both terms are kept semi-definite: the second by
//! completing the square of the shear energy, `k |γ + (T/k) θ_m × d|²/2`, which adds T²/k to the
//! rotational stiffness; relative to T a this is of the order of the strain.
//! Deviation: compression, which has the opposite sign, and all parts of E that are of the order of
//! the strains relative to K, are omitted.
//!
//! In a step with implicit E, a rotating rod loses angular momentum, as in implicit Euler. Tension up
//! to [`Rod::explicit_tension`] is stable in an explicit treatment and can be excluded from E.

use super::{Bond, Rod};
use crate::data::Data;
use nalgebra::{Matrix3, Vector3, Vector6};
use stiction_math::block;
use stiction_math::spatial::skew;

/// Stretch [-] beyond which the second-order expansion of the tension stiffness is not valid.
const MAX_STRAIN: f64 = 0.2;

/// The bonds of one rod at one configuration.
#[derive(Clone, Debug)]
pub struct RodWorkspace {
    /// Per bond; those of clamps only if the clamp is grounded.
    bonds: Vec<Option<Bond>>,
}

impl RodWorkspace {
    /// Allocates the workspace for a rod.
    pub fn new(rod: &Rod) -> Self {
        Self { bonds: vec![None; rod.len() + 1] }
    }
}

impl Rod {
    /// Evaluates strains and Jacobians of the bonds. Needs the position stage of `data`.
    pub fn evaluate(&self, data: &Data, work: &mut RodWorkspace) {
        for (index, bond) in work.bonds.iter_mut().enumerate() {
            *bond = if self.is_internal(index) { self.bond(data, index) } else { None };
        }
    }

    /// Bonds with the two segments that they connect, `None` in place of a clamp.
    fn bonds<'a>(
        &self,
        work: &'a RodWorkspace,
    ) -> impl Iterator<Item = (&'a Bond, [Option<usize>; 2])> + use<'a> {
        let n = self.len();
        work.bonds.iter().enumerate().filter_map(move |(index, bond)| {
            let sides = [index.checked_sub(1), (index < n).then_some(index)];
            bond.as_ref().map(|bond| (bond, sides))
        })
    }

    /// Adds `weight` times the elastic forces −Jᵀ K (e − e₀) [N, N·m] to `out`, six numbers per
    /// segment.
    pub fn add_forces(&self, work: &RodWorkspace, weight: f64, out: &mut [f64]) {
        for (bond, sides) in self.bonds(work) {
            add_pull(bond, sides, &(-weight * bond.force), out);
        }
    }

    /// Adds `elastic` times Σ Jᵀ K J v and `geometric` times the stiffness of tension beyond
    /// `explicit_tension` [N] times v to `out`; `v` and `out` have six numbers per segment.
    pub fn add_product(
        &self,
        work: &RodWorkspace,
        elastic: f64,
        (geometric, explicit_tension): (f64, f64),
        v: &[f64],
        out: &mut [f64],
    ) {
        const AT_REST: [f64; 6] = [0.0; 6];
        for (bond, sides) in self.bonds(work) {
            let (bond, tension) = taut(bond, elastic, (geometric, explicit_tension));
            let [first, second] =
                sides.map(|side| side.map_or(&AT_REST[..], |k| &v[6 * k..6 * k + 6]));
            let lambda = bond.stiffness.component_mul(&bond.rate(first, second));
            add_pull(&bond, sides, &(elastic * lambda), out);
            for (arm, k) in bond.arm.iter().zip(sides) {
                let Some(k) = k else { continue };
                for across in [6 * k + 3, 6 * k + 4] {
                    out[across] += arm * tension * v[across];
                }
            }
        }
    }

    /// Largest tension [N], with a safety factor, that is stable without E in steps of `h` [s] in which
    /// K is implicit. In symplectic steps a transverse wave of wave number k is stable if
    /// `T k² ≤ 4 ρA/h² + EI k⁴`; the bound over all k is at least `T ≤ max(ρA l²/h², 4 √(ρA EI)/h)`. In
    /// steps with the `mean` velocity the bending term is absent: `T k² ≤ 4 ρA/h²`, with k up to 2/l.
    pub fn explicit_tension(&self, h: f64, mean: bool) -> f64 {
        const MARGIN: f64 = 0.5;
        let (m, l, k) = (self.min_mass, self.spec.segment_length, self.stiffness[3]);
        let shortest = m * l / (h * h);
        MARGIN * if mean { shortest } else { shortest.max(4.0 * (m * k).sqrt() / h) }
    }

    /// Adds `elastic` times Σ Jᵀ K J and `geometric` times the stiffness of tension beyond
    /// `explicit_tension` [N] to a matrix of this rod's [`Rod::pattern`].
    pub fn add_stiffness(
        &self,
        work: &RodWorkspace,
        elastic: f64,
        (geometric, explicit_tension): (f64, f64),
        out: &mut block::Symmetric,
    ) {
        for (bond, sides) in self.bonds(work) {
            let (bond, tension) = taut(bond, elastic, (geometric, explicit_tension));
            let blocks = BondStiffness::new(&bond, elastic);
            for (side, k) in sides.into_iter().enumerate() {
                let Some(k) = k else { continue };
                let id = out.pattern().diagonal(k);
                let block = out.block_mut(id);
                blocks.add_diagonal(side, block);
                for across in [3, 4] {
                    block[7 * across] += bond.arm[side] * tension;
                }
            }
            if let [Some(i), Some(j)] = sides
                && let Some(id) = out.pattern().find(j, i)
            {
                blocks.add_coupling(out.block_mut(id));
            }
        }
    }
}

fn add_pull(bond: &Bond, sides: [Option<usize>; 2], lambda: &Vector6<f64>, out: &mut [f64]) {
    for (force, side) in bond.pull_back(lambda).iter().zip(sides) {
        if let Some(k) = side {
            out[6 * k..6 * k + 6].iter_mut().zip(force).for_each(|(out, f)| *out += f);
        }
    }
}

/// The bond with its shear Jacobian modified by tension (see the module documentation), and the
/// tension beyond `explicit_tension` times its weight [N].
fn taut(bond: &Bond, elastic: f64, (geometric, explicit_tension): (f64, f64)) -> (Bond, f64) {
    let most = MAX_STRAIN * 2.0 * bond.stiffness[2] * (bond.arm[0] + bond.arm[1]);
    let tension = geometric * (bond.force[2].min(most) - explicit_tension).max(0.0);
    let mut taut = *bond;
    if tension > 0.0 {
        // θ_m × d = −[e₃]× (P θ_j + Pᵀ θ_i) in frame m; the two shears have the same stiffness.
        let shear = -tension / (elastic * bond.stiffness[0]) * skew(Vector3::z());
        taut.J_w[0] += shear * bond.P.transpose();
        taut.J_w[1] += shear * bond.P;
    }
    (taut, tension)
}

/// Products of which the blocks of Jᵀ K J of one bond are assembled.
struct BondStiffness<'a> {
    bond: &'a Bond,
    /// R_m K_t R_mᵀ.
    linear: Matrix3<f64>,
    /// K_t J_w for ω_i and ω_j.
    K_J_w: [Matrix3<f64>; 2],
    /// R_m K_t J_w.
    R_K_J_w: [Matrix3<f64>; 2],
    /// K_r.
    bending: Matrix3<f64>,
}

impl<'a> BondStiffness<'a> {
    fn new(bond: &'a Bond, weight: f64) -> Self {
        let K = weight * bond.stiffness;
        let K_t = Matrix3::from_diagonal(&K.fixed_rows::<3>(0));
        let K_J_w = bond.J_w.map(|T| scale_rows(&T, &K));
        Self {
            bond,
            linear: bond.R_m * K_t * bond.R_m.transpose(),
            R_K_J_w: K_J_w.map(|T| bond.R_m * T),
            K_J_w,
            bending: Matrix3::from_diagonal(&K.fixed_rows::<3>(3)),
        }
    }

    /// Adds J_sᵀ K J_s of the first or second side, row-major.
    fn add_diagonal(&self, side: usize, out: &mut [f64]) {
        let (Q, K_r, sign) = (&self.bond.Q, &self.bending, [-1.0, 1.0][side]);
        let bent = if side == 0 { Q * K_r * Q.transpose() } else { Q.transpose() * K_r * Q };
        let angular = self.bond.J_w[side].tr_mul(&self.K_J_w[side]) + bent;
        let R_K_J_w = &self.R_K_J_w[side];
        for r in 0..3 {
            for c in 0..3 {
                out[6 * r + c] += self.linear[(r, c)];
                out[6 * r + 3 + c] += sign * R_K_J_w[(r, c)];
                out[6 * (3 + r) + c] += sign * R_K_J_w[(c, r)];
                // The mean keeps the block symmetric in spite of round-off.
                out[6 * (3 + r) + 3 + c] += 0.5 * (angular[(r, c)] + angular[(c, r)]);
            }
        }
    }

    /// Adds J_jᵀ K J_i, row-major.
    fn add_coupling(&self, out: &mut [f64]) {
        let Q_t = self.bond.Q.transpose();
        let angular = self.bond.J_w[1].tr_mul(&self.K_J_w[0]) - Q_t * self.bending * Q_t;
        for r in 0..3 {
            for c in 0..3 {
                out[6 * r + c] -= self.linear[(r, c)];
                out[6 * r + 3 + c] += self.R_K_J_w[0][(r, c)];
                out[6 * (3 + r) + c] -= self.R_K_J_w[1][(c, r)];
                out[6 * (3 + r) + 3 + c] += angular[(r, c)];
            }
        }
    }
}

/// Rows of a matrix times the first three entries of K.
fn scale_rows(T: &Matrix3<f64>, K: &Vector6<f64>) -> Matrix3<f64> {
    Matrix3::from_fn(|r, c| K[r] * T[(r, c)])
}
