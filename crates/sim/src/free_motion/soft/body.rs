//! A and b of one soft body.

use nalgebra::Vector3;
use stiction_math::block::{Cholesky, Pattern, Symmetric};
use stiction_mech::{SoftBody, SoftWorkspace};

use super::fixed_axes::FixedAxes;
use super::{SoftStepStart, SoftWeights, compliance};

/// Blends from the exact stiffness to the clamped one that are tried: an eighth, a half, and all of it,
/// each as a multiple of the one before [-].
const CLAMPING_STEPS: [f64; 3] = [0.125, 4.0, 2.0];

/// One soft body.
pub(super) struct SoftBodyMotion {
    pub(super) work: SoftWorkspace,
    /// Vertices that are not fixed.
    pub(super) free: Vec<u32>,
    pub(super) fixed_axes: FixedAxes,
    pub(super) A: Symmetric,
    pub(super) b: Vec<f64>,
    /// Estimates of trace((A⁻¹)ᵢᵢ)/3 [1/kg].
    pub(super) node_compliance: Vec<f64>,
    /// Per block of A the block of K, where vertices are fixed.
    pub(super) blocks: Option<Vec<u32>>,
    /// K₀, for materials whose stiffness changes within the step.
    pub(super) damping: Option<Symmetric>,
    /// Scratch: an exact stiffness.
    pub(super) exact: Vec<f64>,
    /// M g [N].
    pub(super) weight: Vec<f64>,
    /// The part of b that does not depend on the point of linearisation.
    pub(super) base: Vec<f64>,
    /// Scratch over all vertices: a position, a velocity and a product.
    pub(super) x: Vec<Vector3<f64>>,
    pub(super) flat: Vec<f64>,
    pub(super) product: Vec<f64>,
    pub(super) trial: Vec<f64>,
    pub(super) next: Vec<f64>,
    pub(super) factor: Option<Cholesky>,
    /// Whether the factor belongs to A.
    pub(super) factored: bool,
}

impl SoftBodyMotion {
    pub(super) fn new(
        body: &SoftBody,
        gravity: &Vector3<f64>,
        weights: &SoftWeights,
        h: f64,
    ) -> Self {
        let (n, pattern) = (body.nodes.len(), body.pattern());
        let is_fixed = |vertex: &u32| body.is_fixed()[*vertex as usize];
        let free: Vec<u32> = (0..n as u32).filter(|vertex| !is_fixed(vertex)).collect();
        let (own, blocks) = free_pattern(pattern, &free);
        let fixed_axes = FixedAxes::new(body.fixed_axes(), &free, own.as_ref().unwrap_or(pattern));
        let nonlinear = !body.spec.material.entry().linear;
        let mut motion = Self {
            work: SoftWorkspace::new(body),
            A: Symmetric::zeros(own.as_ref().unwrap_or(pattern)),
            b: vec![0.0; 3 * free.len()],
            node_compliance: vec![0.0; free.len()],
            blocks,
            damping: nonlinear.then(|| Symmetric::zeros(pattern)),
            exact: vec![0.0; if nonlinear { body.mass().values().len() } else { 0 }],
            weight: vec![0.0; 3 * n],
            base: vec![0.0; 3 * n],
            x: vec![Vector3::zeros(); n],
            flat: vec![0.0; 3 * n],
            product: vec![0.0; 3 * n],
            trial: vec![0.0; 3 * free.len()],
            next: vec![0.0; if nonlinear { 3 * free.len() } else { 0 }],
            free,
            fixed_axes,
            factor: None,
            factored: false,
        };
        motion.set_weight(body, gravity);
        let still = vec![Vector3::zeros(); n];
        motion.start(&SoftStepStart {
            body,
            x0: &body.spec.vertices,
            v0: &still,
            weights: *weights,
            h,
        });
        motion.estimate_node_compliance(compliance::FEW_VERTICES);
        motion
    }

    /// Sets M g.
    pub(super) fn set_weight(&mut self, body: &SoftBody, gravity: &Vector3<f64>) {
        self.flat.iter_mut().enumerate().for_each(|(k, x)| *x = gravity[k % 3]);
        body.mass().mul(&self.flat, &mut self.weight);
    }

    /// A and b at the start of a step, linearised where u = 0.
    pub(super) fn start(&mut self, start: &SoftStepStart) {
        let SoftStepStart { body, x0, v0, weights, h } = *start;
        body.update_rotations(x0, &mut self.work);
        for (x, (x0, v0)) in self.x.iter_mut().zip(x0.iter().zip(v0)) {
            *x = x0 + h * weights.ahead_old * v0;
        }
        body.forces(&self.x, &mut self.work);
        body.stiffness(&self.x, &mut self.work);
        if let Some(damping) = &mut self.damping {
            damping.values_mut().copy_from_slice(self.work.stiffness.values());
        }
        self.compute_base(start);
        for (vertex, b) in self.free.iter().zip(self.b.chunks_exact_mut(3)) {
            let force = &self.work.force[*vertex as usize];
            for k in 0..3 {
                b[k] = self.base[3 * *vertex as usize + k] + h * force[k];
            }
        }
        self.fixed_axes.clear(&mut self.b);
        self.assemble(start);
    }

    /// `M v₀/α + h M g − h δ₀ (a M + β K₀) v₀`.
    pub(super) fn compute_base(&mut self, start: &SoftStepStart) {
        let SoftStepStart { body, v0, weights, h, .. } = *start;
        flatten(v0, &mut self.flat);
        body.mass().mul(&self.flat, &mut self.product);
        let scale = 1.0 / weights.alpha - h * weights.damped_old * body.spec.mass_damping;
        for (base, (p, w)) in self.base.iter_mut().zip(self.product.iter().zip(&self.weight)) {
            *base = scale * p + h * w;
        }
        let damped = h * weights.damped_old * body.spec.stiffness_damping;
        if damped != 0.0 {
            self.work.stiffness.mul(&self.flat, &mut self.product);
            for (base, p) in self.base.iter_mut().zip(&self.product) {
                *base -= damped * p;
            }
        }
    }

    /// `A = (1/α + h δ a) M + h² κ K + h δ β K₀` over the vertices that are not fixed.
    pub(super) fn assemble(&mut self, start: &SoftStepStart) {
        let (body, elastic) = (start.body, start.elastic());
        let (mass_scale, damped) = start.scales();
        self.factored = false;
        let (M, K) = (body.mass().values(), self.work.stiffness.values());
        let K0 = self.damping.as_ref().map_or(K, |damping| damping.values());
        let entry = |k: usize| mass_scale * M[k] + elastic * K[k] + damped * K0[k];
        let out = self.A.values_mut();
        match &self.blocks {
            None => out.iter_mut().enumerate().for_each(|(k, a)| *a = entry(k)),
            Some(blocks) => {
                for (block, from) in out.chunks_exact_mut(9).zip(blocks) {
                    let from = 9 * *from as usize;
                    block.iter_mut().enumerate().for_each(|(k, a)| *a = entry(from + k));
                }
            }
        }
        self.fixed_axes.uncouple(out);
    }

    /// A and b where the unknown is `u`: `b = base + h f(x) + h² κ K u`.
    pub(super) fn linearise(&mut self, start: &SoftStepStart, u: &[f64]) -> bool {
        let SoftStepStart { body, h, .. } = *start;
        self.set_iterate(start, u.iter().copied());
        body.forces(&self.x, &mut self.work);
        body.exact_stiffness(&self.x, &mut self.work);
        self.assemble(start);
        if self.damping.is_some() && !self.factorise() {
            self.make_definite(start);
        }
        self.work.stiffness.mul(&self.flat, &mut self.product);
        let elastic = start.elastic();
        let mut finite = true;
        for (vertex, b) in self.free.iter().zip(self.b.chunks_exact_mut(3)) {
            let force = &self.work.force[*vertex as usize];
            for k in 0..3 {
                let at = 3 * *vertex as usize + k;
                b[k] = self.base[at] + h * force[k] + elastic * self.product[at];
                finite &= b[k].is_finite();
            }
        }
        self.fixed_axes.clear(&mut self.b);
        finite && self.A.values().iter().all(|a| a.is_finite())
    }

    /// Replaces an exact stiffness with which A is not positive definite by the first blend with the
    /// clamped one that makes it so.
    pub(super) fn make_definite(&mut self, start: &SoftStepStart) {
        self.exact.copy_from_slice(self.work.stiffness.values());
        start.body.stiffness(&self.x, &mut self.work);
        for factor in CLAMPING_STEPS {
            let K = self.work.stiffness.values_mut();
            K.iter_mut().zip(&self.exact).for_each(|(K, exact)| *K = exact + factor * (*K - exact));
            self.assemble(start);
            if self.factorise() {
                return;
            }
        }
    }

    /// Positions at which forces are evaluated if the unknown is `u`, and `u` over all vertices.
    pub(super) fn set_iterate(&mut self, start: &SoftStepStart, u: impl IntoIterator<Item = f64>) {
        let SoftStepStart { x0, v0, weights, h, .. } = *start;
        self.flat.fill(0.0);
        let mut u = u.into_iter();
        for vertex in &self.free {
            let own = &mut self.flat[3 * *vertex as usize..][..3];
            own.iter_mut().zip(&mut u).for_each(|(own, u)| *own = u);
        }
        for (k, x) in self.x.iter_mut().enumerate() {
            let u = Vector3::from_column_slice(&self.flat[3 * k..3 * k + 3]);
            *x = x0[k] + h * (weights.ahead * u + weights.ahead_old * v0[k]);
        }
    }

    /// `x ← A⁻¹ x`. False if A is not positive definite.
    pub(super) fn apply_inverse(&mut self, x: &mut [f64]) -> bool {
        let fine = self.factored || self.factorise();
        if let (Some(factor), true) = (&mut self.factor, fine) {
            factor.solve_in_place(x);
        }
        fine
    }

    /// Factors A. False if it is not positive definite.
    pub(super) fn factorise(&mut self) -> bool {
        let factor = self.factor.get_or_insert_with(|| Cholesky::analyse(self.A.pattern()));
        self.factored = factor.factor(&self.A).is_ok();
        self.factored
    }
}

fn flatten(vectors: &[Vector3<f64>], out: &mut [f64]) {
    for (out, vector) in out.chunks_exact_mut(3).zip(vectors) {
        out.copy_from_slice(vector.as_slice());
    }
}

/// The pattern over the vertices that are not fixed, and for each of its blocks the index in the pattern
/// over all vertices; nothing if no vertex is fixed.
fn free_pattern(pattern: &Pattern, free: &[u32]) -> (Option<Pattern>, Option<Vec<u32>>) {
    if free.len() == pattern.n_blocks() {
        return (None, None);
    }
    let mut place = vec![None; pattern.n_blocks()];
    for (k, vertex) in free.iter().enumerate() {
        place[*vertex as usize] = Some(k);
    }
    let pairs = pattern.entries().filter_map(|e| Some((place[e.row]?, place[e.col]?)));
    let own = Pattern::new(&vec![3; free.len()], pairs);
    let whole = |i: usize, j: usize| pattern.find(free[i] as usize, free[j] as usize);
    let blocks = own.entries().filter_map(|e| whole(e.row, e.col)).map(|id| id.0 as u32).collect();
    (Some(own), Some(blocks))
}
