//! Forces and stiffness of a whole rod, summed over its bonds.
//!
//! `K = Σ Jᵀ K J` is positive semi-definite whatever the shape. Of the geometric term E of
//! [Lee23, Eq. (8)] that of tension T is kept, by which a taut rod is stiff as a string: to second
//! order a turn of the two frames by θ_i and θ_j across the rod d stretches a bond by
//!
//! ```text
//! a_i θ_i²/2 + a_j θ_j²/2 + (θ_m × d)·γ
//! ```
//!
//! with the shear γ and the turn θ_m of frame m. Both terms are kept semi-definite: the second by
//! completing the square of the shear energy, `k |γ + (T/k) θ_m × d|²/2`, which adds T²/k to the
//! stiffness of turns, of the order of the strain against T a.
//! Deviation: pressure, which has the other sign, and all parts of E that are of the order of the
//! strains against K, are left out.
//!
//! In a step that ends in the next velocity, E costs a turning rod angular momentum, as in implicit
//! Euler; so much tension as a step bears explicitly, [`Rod::explicit_tension`], can be spared.

use super::{Bond, Rod};
use crate::data::Data;
use nalgebra::{Matrix3, Vector3, Vector6};
use stiction_math::block;
use stiction_math::spatial::skew;

/// Stretch [-] beyond which the series behind the stiffness of tension means nothing.
const LARGEST_STRAIN: f64 = 0.2;

/// The bonds of one rod at one configuration; memory without truth.
#[derive(Clone, Debug)]
pub struct RodWorkspace {
    /// Per bond; those of clamps only where they are the rod's own affair.
    bonds: Vec<Option<Bond>>,
}

impl RodWorkspace {
    /// Memory for a rod.
    pub fn new(rod: &Rod) -> Self {
        Self { bonds: vec![None; rod.len() + 1] }
    }
}

impl Rod {
    /// Finds strains and rates at a configuration. Needs the position stage of `data`.
    pub fn evaluate(&self, data: &Data, work: &mut RodWorkspace) {
        let n = self.len();
        for (place, bond) in work.bonds.iter_mut().enumerate() {
            let foreign = match place {
                0 => self.clamps[0].is_none_or(|clamp| !clamp.grounded),
                _ if place == n => self.clamps[1].is_none_or(|clamp| !clamp.grounded),
                _ => false,
            };
            *bond = if foreign { None } else { self.bond(data, place) };
        }
    }

    /// Bonds with the segments that they pull, each `None` at a clamp.
    fn bonds<'a>(
        &self,
        work: &'a RodWorkspace,
    ) -> impl Iterator<Item = (&'a Bond, [Option<usize>; 2])> + use<'a> {
        let n = self.len();
        work.bonds.iter().enumerate().filter_map(move |(place, bond)| {
            let sides = [place.checked_sub(1), (place < n).then_some(place)];
            bond.as_ref().map(|bond| (bond, sides))
        })
    }

    /// Adds `weight` times the elastic forces −Jᵀ K (e − e₀) to `out`, six numbers per segment.
    pub fn add_forces(&self, work: &RodWorkspace, weight: f64, out: &mut [f64]) {
        for (bond, sides) in self.bonds(work) {
            add_pull(bond, sides, &(-weight * bond.force), out);
        }
    }

    /// Adds `elastic` times Σ Jᵀ K J v and `geometric` times the stiffness of tension beyond `spared`
    /// [N] times v to `out`: both have six numbers per segment.
    pub fn add_product(
        &self,
        work: &RodWorkspace,
        elastic: f64,
        (geometric, spared): (f64, f64),
        v: &[f64],
        out: &mut [f64],
    ) {
        const STILL: [f64; 6] = [0.0; 6];
        for (bond, sides) in self.bonds(work) {
            let (bond, tension) = taut(bond, elastic, (geometric, spared));
            let [first, second] =
                sides.map(|side| side.map_or(&STILL[..], |k| &v[6 * k..6 * k + 6]));
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

    /// Tension [N] that is stable without E in steps of `h` [s] in which K is implicit, with a margin.
    /// In symplectic steps a transverse wave of number k is stable if `T k² ≤ 4 ρA/h² + EI k⁴`, for the
    /// least favourable one `T ≤ max(ρA l²/h², 4 √(ρA EI)/h)` or better. In steps by the `mean`
    /// velocity bending does not help: `T k² ≤ 4 ρA/h²`, with k up to 2/l.
    pub fn explicit_tension(&self, h: f64, mean: bool) -> f64 {
        const MARGIN: f64 = 0.5;
        let (m, l, k) = (self.least_mass, self.spec.segment_length, self.stiffness[3]);
        let shortest = m * l / (h * h);
        MARGIN * if mean { shortest } else { shortest.max(4.0 * (m * k).sqrt() / h) }
    }

    /// Adds `elastic` times Σ Jᵀ K J and `geometric` times the stiffness of tension beyond `spared` [N]
    /// to a matrix of this rod's [`Rod::pattern`].
    pub fn add_stiffness(
        &self,
        work: &RodWorkspace,
        elastic: f64,
        (geometric, spared): (f64, f64),
        out: &mut block::Symmetric,
    ) {
        for (bond, sides) in self.bonds(work) {
            let (bond, tension) = taut(bond, elastic, (geometric, spared));
            let blocks = Blocks::new(&bond, elastic);
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

/// A bond whose shears turn with its frames as tension makes them, and that tension times its weight.
fn taut(bond: &Bond, elastic: f64, (geometric, spared): (f64, f64)) -> (Bond, f64) {
    let most = LARGEST_STRAIN * 2.0 * bond.stiffness[2] * (bond.arm[0] + bond.arm[1]);
    let tension = geometric * (bond.force[2].min(most) - spared).max(0.0);
    let mut taut = *bond;
    if tension > 0.0 {
        // θ_m × d = −[e₃]× (P θ_j + Pᵀ θ_i) in frame m; the two shears have one stiffness.
        let turn = -tension / (elastic * bond.stiffness[0]) * skew(Vector3::z());
        taut.turn[0] += turn * bond.share.transpose();
        taut.turn[1] += turn * bond.share;
    }
    (taut, tension)
}

/// The factors of Jᵀ K J of one bond.
struct Blocks<'a> {
    bond: &'a Bond,
    /// R_m K_t R_mᵀ.
    linear: Matrix3<f64>,
    /// K_t times the rates with ω_i and ω_j.
    tugged: [Matrix3<f64>; 2],
    /// R_m times those.
    mixed: [Matrix3<f64>; 2],
    /// K_r.
    bending: Matrix3<f64>,
}

impl<'a> Blocks<'a> {
    fn new(bond: &'a Bond, weight: f64) -> Self {
        let K = weight * bond.stiffness;
        let K_t = Matrix3::from_diagonal(&K.fixed_rows::<3>(0));
        let tugged = bond.turn.map(|T| scale_rows(&T, &K));
        Self {
            bond,
            linear: bond.mean * K_t * bond.mean.transpose(),
            mixed: tugged.map(|T| bond.mean * T),
            tugged,
            bending: Matrix3::from_diagonal(&K.fixed_rows::<3>(3)),
        }
    }

    /// Adds J_sᵀ K J_s of the first or second side, row-major.
    fn add_diagonal(&self, side: usize, out: &mut [f64]) {
        let (Q, K_r, sign) = (&self.bond.bend, &self.bending, [-1.0, 1.0][side]);
        let bent = if side == 0 { Q * K_r * Q.transpose() } else { Q.transpose() * K_r * Q };
        let turned = self.bond.turn[side].tr_mul(&self.tugged[side]) + bent;
        let mixed = &self.mixed[side];
        for r in 0..3 {
            for c in 0..3 {
                out[6 * r + c] += self.linear[(r, c)];
                out[6 * r + 3 + c] += sign * mixed[(r, c)];
                out[6 * (3 + r) + c] += sign * mixed[(c, r)];
                // Round-off must not make the two triangles differ.
                out[6 * (3 + r) + 3 + c] += 0.5 * (turned[(r, c)] + turned[(c, r)]);
            }
        }
    }

    /// Adds J_jᵀ K J_i, row-major.
    fn add_coupling(&self, out: &mut [f64]) {
        let Q_t = self.bond.bend.transpose();
        let turned = self.bond.turn[1].tr_mul(&self.tugged[0]) - Q_t * self.bending * Q_t;
        for r in 0..3 {
            for c in 0..3 {
                out[6 * r + c] -= self.linear[(r, c)];
                out[6 * r + 3 + c] += self.mixed[0][(r, c)];
                out[6 * (3 + r) + c] -= self.mixed[1][(c, r)];
                out[6 * (3 + r) + 3 + c] += turned[(r, c)];
            }
        }
    }
}

/// Rows of a matrix times the first three entries of K.
fn scale_rows(T: &Matrix3<f64>, K: &Vector6<f64>) -> Matrix3<f64> {
    Matrix3::from_fn(|r, c| K[r] * T[(r, c)])
}
