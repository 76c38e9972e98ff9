//! Sweeps over contacts between rigid bodies: the loop of [`super::sweep`], specialised for speed.
//!
//! With A = L Lᵀ and x = Lᵀ v, a contact reads and writes x through one matrix, Ĵ = J L⁻ᵀ:
//! `c = Ĵ x + e + R∘λ` and `x += Ĵᵀ Δλ`. The data of a contact are contiguous, in the order of
//! the sweep. For problems in which every constraint is a contact with isotropic friction and
//! touches at most two dense subsystems of six velocities.

use stiction_math::simd;

use super::sweep::{Direction, StepRule, at};
use crate::contact::DIM;
use crate::law::{Coulomb, FrictionModel, Law, Relation};
use crate::problem::{Problem, SubsystemId};

const BODY: usize = 6;
type Block = [[f64; BODY]; DIM];

/// The data of one contact that a sweep reads.
#[derive(Clone, Copy, Debug)]
struct Contact {
    /// Ĵ on each side; zero where there is none.
    blocks: [Block; 2],
    bias: [f64; DIM],
    compliance: [f64; DIM],
    /// `1/(ω η)` [1/kg].
    local_compliance: f64,
    law: Coulomb,
    /// Offsets of the two sides in x.
    sides: [u32; 2],
}

/// Contacts in the order of their rows, and x.
#[derive(Clone, Debug, Default)]
pub(super) struct ContactSweep {
    contacts: Vec<Contact>,
    /// x of each body, and one more for the ground.
    x: Vec<[f64; BODY]>,
}

impl ContactSweep {
    /// Prepares for a problem, with over-relaxation ω; false if the problem is of another kind.
    pub(super) fn prepare(&mut self, problem: &Problem, rule: StepRule, omega: f64) -> bool {
        let (mass, jacobian) = (problem.mass(), problem.jacobian());
        self.contacts.clear();
        let ground = mass.subsystems() as u32;
        for i in 0..problem.constraints().len() {
            let Law::Coulomb(law) = *problem.law(i) else { return false };
            let entries = jacobian.constraint_entries(i);
            if entries.len() > 2 {
                return false;
            }
            let rows = problem.row_range(i);
            let (mut blocks, mut sides) = ([[[0.0; BODY]; DIM]; 2], [ground; 2]);
            for (k, entry) in entries.iter().enumerate() {
                let subsystem = mass.subsystem_of(entry.block as usize);
                let Some(factor) = mass.small_factor(subsystem) else { return false };
                for (row, j) in blocks[k].iter_mut().zip(jacobian.block(entry).as_chunks().0) {
                    *row = *j;
                    factor.divide(row);
                }
                sides[k] = subsystem.0 as u32;
            }
            let mut compliance = [0.0; DIM];
            compliance.copy_from_slice(&problem.compliance()[rows.clone()]);
            let mut bias = [0.0; DIM];
            bias.copy_from_slice(&problem.bias()[rows]);
            let mut g = [0.0; DIM * DIM];
            g.copy_from_slice(problem.delassus().block(i));
            for k in 0..DIM {
                g[k * (DIM + 1)] += compliance[k];
            }
            let local_compliance = rule.inverse_step(&g) / omega;
            self.contacts.push(Contact { blocks, bias, compliance, local_compliance, law, sides });
        }
        true
    }

    /// Sets x from a velocity.
    pub(super) fn start(&mut self, problem: &Problem, v: &[f64]) {
        let mass = problem.mass();
        self.x.clear();
        for s in (0..mass.subsystems()).map(SubsystemId) {
            let mut x = [0.0; BODY];
            if let (Some(factor), Ok(v)) = (mass.small_factor(s), v[mass.dofs(s)].try_into()) {
                x = v;
                factor.multiply_transposed(&mut x);
            }
            self.x.push(x);
        }
        self.x.push([0.0; BODY]);
    }

    /// Numbers kept per problem.
    #[cfg(test)]
    pub(super) fn stored_numbers(&self) -> usize {
        self.contacts.len() * size_of::<Contact>() / size_of::<f64>() + BODY * self.x.len()
    }

    /// One sweep: `λ_i ← λ Π(λ_i − ω η_i u_i) + (1 − λ) λ_i` [Tasora, Algorithm, line 5]; λ is the
    /// `sharpness`. Returns the largest change, as a velocity [m/s].
    pub(super) fn pass(
        &mut self,
        model: FrictionModel,
        direction: Direction,
        sharpness: f64,
        impulse: &mut [f64],
    ) -> f64 {
        simd::dispatch(Pass { sweep: self, model, direction, sharpness, impulse })
    }
}

struct Pass<'a> {
    sweep: &'a mut ContactSweep,
    model: FrictionModel,
    direction: Direction,
    sharpness: f64,
    impulse: &'a mut [f64],
}

impl simd::Job for Pass<'_> {
    type Output = f64;

    #[inline(always)]
    fn run(self) -> f64 {
        let Self { sweep: ContactSweep { contacts, x }, model, direction, sharpness, impulse } =
            self;
        let impulses = impulse.as_chunks_mut::<DIM>().0;
        let count = contacts.len();
        let mut largest: f64 = 0.0;
        for place in 0..count {
            let i = at(direction, place, count);
            let (contact, lambda) = (&contacts[i], &mut impulses[i]);
            let [a, b] = contact.sides.map(|s| s as usize);
            let (mut x_a, mut x_b) = (x[a], x[b]);
            let r = contact.local_compliance;
            let mut c0 = [0.0; DIM];
            for d in 0..DIM {
                let (row_a, row_b) = (&contact.blocks[0][d], &contact.blocks[1][d]);
                let mut lanes = [0.0; BODY];
                for k in 0..BODY {
                    lanes[k] = row_a[k].mul_add(x_a[k], row_b[k] * x_b[k]);
                }
                let moved = (lanes[0] + lanes[3]) + (lanes[1] + lanes[4]) + (lanes[2] + lanes[5]);
                c0[d] = moved + contact.bias[d] + (contact.compliance[d] - r) * lambda[d];
            }
            let mut nearest = [0.0; DIM];
            contact.law.respond(model, &c0, &[r; DIM], &mut nearest);
            let mut change = [0.0; DIM];
            for d in 0..DIM {
                change[d] = sharpness * (nearest[d] - lambda[d]);
                lambda[d] += change[d];
                let size = r * change[d].abs();
                // `max` would drop a NaN; report it as infinite.
                largest = if size.is_nan() { f64::INFINITY } else { largest.max(size) };
            }
            if change == [0.0; DIM] {
                continue;
            }
            for d in 0..DIM {
                for k in 0..BODY {
                    x_a[k] = contact.blocks[0][d][k].mul_add(change[d], x_a[k]);
                    x_b[k] = contact.blocks[1][d][k].mul_add(change[d], x_b[k]);
                }
            }
            // A missing side has zero blocks; its x does not change.
            x[a] = x_a;
            x[b] = x_b;
        }
        largest
    }
}
