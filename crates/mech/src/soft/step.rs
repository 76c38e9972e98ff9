//! The linear system of one implicit step of a soft body.
//!
//! A step asks for one velocity u: that at its end, or the mean one. Forces are taken at
//! z(u) = x₀ + h (a_u u + a_0 v₀), damping at d_u u + d_0 v₀, and momentum changes by
//! M (m_u u − m_0 v₀). Linearised at a guess ũ, with f and K at z(ũ):
//!
//! A = (m_u + h α d_u) M + h (h a_u + β d_u) K
//! b = (m_0 − h α d_0) M v₀ + h (f + m g) + K (h² a_u ũ − h β d_0 v₀)
//!
//! so that A u = b + Jᵀ λ. [Han23, Eqs. (8)-(11)] for the θ-method, [Lee23, Eq. (9)] times the time step
//! for the mean velocity. For linear materials one linearisation is exact, whatever the guess.

use super::SoftBody;
use super::work::SoftWork;
use nalgebra::Vector3;
use stiction_math::block::Symmetric;
use stiction_math::par::for_each_chunk;

/// How a step of a soft body weighs its beginning and its unknown velocity.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct SoftScheme {
    /// Time step h [s].
    pub time_step: f64,
    /// m_u and m_0: M (m_u u − m_0 v₀) is the change of momentum [-].
    pub inertia: [f64; 2],
    /// a_u and a_0: forces are taken at x₀ + h (a_u u + a_0 v₀) [-].
    pub position: [f64; 2],
    /// d_u and d_0: damping is taken at d_u u + d_0 v₀ [-].
    pub damping: [f64; 2],
}

impl SoftScheme {
    /// The θ-method, whose unknown is the velocity at the end: forces at x₀ + θ h v^{θ_vq}, damping at
    /// v^θ, where θ weighs the end [Han23, Eqs. (1), (6)]. Both one: implicit Euler.
    pub fn theta(time_step: f64, theta: f64, theta_vq: f64) -> Self {
        Self {
            time_step,
            inertia: [1.0, 1.0],
            position: [theta * theta_vq, theta * (1.0 - theta_vq)],
            damping: [theta, 1.0 - theta],
        }
    }

    /// The unknown is the mean velocity v̂ = (1 − w) v₀ + w v₁, with which positions move; forces at
    /// x₀ + w h v̂. A half: the mid-velocity scheme of [Lee23, Eqs. (4)-(9)]; one: implicit Euler.
    pub fn mean_velocity(time_step: f64, w: f64) -> Self {
        Self { time_step, inertia: [1.0 / w, 1.0 / w], position: [w, 0.0], damping: [1.0, 0.0] }
    }

    /// Where forces are taken for a guess of the unknown: z(ũ) [m] of each vertex.
    ///
    /// # Panics
    /// If the slices differ in length.
    pub fn positions(
        &self,
        x0: &[Vector3<f64>],
        v0: &[Vector3<f64>],
        guess: &[Vector3<f64>],
        out: &mut [Vector3<f64>],
    ) {
        assert!(x0.len() == out.len() && v0.len() == out.len() && guess.len() == out.len());
        let [a_u, a_0] = self.position.map(|a| a * self.time_step);
        for (i, out) in out.iter_mut().enumerate() {
            *out = x0[i] + a_u * guess[i] + a_0 * v0[i];
        }
    }
}

/// Blocks that one thread takes at a time, and how many make a second thread pay.
const BLOCKS: usize = 2048;
const PARALLEL_FROM: usize = 16384;

impl SoftBody {
    /// Factors of M and K in A: m_u + h α d_u and h (h a_u + β d_u).
    pub fn step_factors(&self, scheme: &SoftScheme) -> [f64; 2] {
        let (h, [a_u, _], [d_u, _]) = (scheme.time_step, scheme.position, scheme.damping);
        let (alpha, beta) = (self.spec.mass_damping, self.spec.stiffness_damping);
        [scheme.inertia[0] + h * alpha * d_u, h * (h * a_u + beta * d_u)]
    }

    /// A [kg] of a step, from [`SoftWork::stiffness`], symmetric and positive definite. Fixed vertices
    /// are uncoupled from all others and keep their mass on the diagonal.
    ///
    /// `A` takes this body's pattern if it has another one.
    pub fn step_matrix(&self, scheme: &SoftScheme, work: &SoftWork, A: &mut Symmetric) {
        let topology = &self.topology;
        if A.values().len() != work.stiffness.values().len() || A.pattern() != &topology.pattern {
            A.reshape(&topology.pattern);
        }
        let [of_mass, of_stiffness] = self.step_factors(scheme);
        let K = work.stiffness.values().as_chunks::<9>().0;
        for_each_chunk(A.values_mut(), 9 * BLOCKS, 9 * PARALLEL_FROM, |first, out| {
            let first = first / 9;
            for (k, out) in out.as_chunks_mut::<9>().0.iter_mut().enumerate() {
                let mass = of_mass * self.mass.scalar[first + k];
                for (out, K) in out.iter_mut().zip(&K[first + k]) {
                    *out = of_stiffness * K;
                }
                for i in 0..3 {
                    out[4 * i] += mass;
                }
            }
        });
        if self.has_held {
            self.uncouple_held(of_mass, A.values_mut().as_chunks_mut::<9>().0);
        }
    }

    fn uncouple_held(&self, of_mass: f64, blocks: &mut [[f64; 9]]) {
        for (block, &[row, column]) in blocks.iter_mut().zip(&self.topology.places) {
            let (row, column) = (row as usize, column as usize);
            for (k, entry) in block.iter_mut().enumerate() {
                let (i, j) = (k / 3, k % 3);
                if self.held[row][i] || self.held[column][j] {
                    let is_diagonal = row == column && i == j;
                    *entry = if is_diagonal { of_mass * self.mass.of_vertex[row] } else { 0.0 };
                }
            }
        }
    }

    /// b [N·s] of a step, three numbers per vertex, from [`SoftWork::force`] and, unless its factors
    /// vanish, [`SoftWork::stiffness`], both at [`SoftScheme::positions`] of the guess. Zero where
    /// a vertex is held. For linear materials a guess of zero is exact and spares a product with K.
    ///
    /// Other forces on vertices enter by adding their impulses to `out`.
    ///
    /// # Panics
    /// If the slices do not belong to this body's vertices.
    pub fn free_momentum(
        &self,
        scheme: &SoftScheme,
        v0: &[Vector3<f64>],
        guess: Option<&[Vector3<f64>]>,
        gravity: Vector3<f64>,
        work: &mut SoftWork,
        out: &mut [f64],
    ) {
        let n = self.nodes.len();
        assert!(v0.len() == n && out.len() == 3 * n && guess.is_none_or(|guess| guess.len() == n));
        let (h, [a_u, _], [_, d_0]) = (scheme.time_step, scheme.position, scheme.damping);
        let of_mass = scheme.inertia[1] - h * self.spec.mass_damping * d_0;
        let of_guess = h * h * a_u;
        let of_start = -h * self.spec.stiffness_damping * d_0;
        let (out3, SoftWork { force, stiffness, flat: [input, product], .. }) =
            (out.as_chunks_mut::<3>().0, work);
        if of_start == 0.0 && (guess.is_none() || of_guess == 0.0) {
            product.fill(0.0);
        } else {
            for (i, input) in input.as_chunks_mut::<3>().0.iter_mut().enumerate() {
                let guess = guess.map_or(Vector3::zeros(), |guess| guess[i]);
                *input = (of_guess * guess + of_start * v0[i]).into();
            }
            stiffness.mul(input, product);
        }
        self.momenta(v0, out3);
        for (i, (out, product)) in out3.iter_mut().zip(product.as_chunks::<3>().0).enumerate() {
            let weight = h * (force[i] + self.mass.of_vertex[i] * gravity);
            for k in 0..3 {
                let free = of_mass * out[k] + weight[k] + product[k];
                out[k] = if self.held[i][k] { 0.0 } else { free };
            }
        }
    }

    /// M v [N·s] of each vertex.
    pub(super) fn momenta(&self, v: &[Vector3<f64>], out: &mut [[f64; 3]]) {
        for (out, (&block, v)) in out.iter_mut().zip(self.topology.diagonal.iter().zip(v)) {
            *out = (self.mass.scalar[block as usize] * v).into();
        }
        if self.spec.lumping == super::Lumping::Lumped {
            return;
        }
        for (&mass, &[row, column]) in self.mass.scalar.iter().zip(&self.topology.places) {
            let (row, column) = (row as usize, column as usize);
            if row != column {
                for k in 0..3 {
                    out[row][k] += mass * v[column][k];
                    out[column][k] += mass * v[row][k];
                }
            }
        }
    }
}
