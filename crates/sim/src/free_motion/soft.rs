//! Free motion of soft bodies: A and b of each from its elements.
//!
//! The unknown u is the velocity on which the laws act. With x₀ and v₀ at the start of the step,
//!
//! ```text
//! m(u) = M (u − v₀)/α − h [f(x₀ + h (κ u + κ₀ v₀)) − (a M + β K₀)(δ u + δ₀ v₀) + M g],
//! A    = ∂m/∂u = M/α + h² κ K + h δ (a M + β K₀),    b = A u − m(u),
//! ```
//!
//! with the damping of Rayleigh, a and β, and the stiffness K₀ of the step's start. θ = θ_vq = 1 gives
//! κ = δ = 1 [Han23, Eqs. (8)–(11)], θ = θ_vq = ½ gives κ = κ₀ = ¼ and δ = δ₀ = ½, and the mid-velocity
//! convention α = κ = ½, δ = 1 [Lee23, Eqs. (4)–(9)]. Elastic forces are implicit in every other scheme as
//! well: taken where the step begins they are unstable at any step of interest. Rows and columns of
//! fixed vertices are left out.
//!
//! Materials whose forces are linear within a step are done at once. The others are linearised where
//! the step begins, and again where it leads, with [`SoftMotion::linearise`]: with their exact stiffness
//! if A is positive definite with it, else with as much of the clamped one of each element as it takes. In
//! a body under pressure the clamped one is far too stiff, and Newton's method slow.
//!
//! Cost: one pass over the elements and one over A; a factorization where nothing touches the body.

use nalgebra::Vector3;
use stiction_math::block::{Cholesky, Pattern, SelectedInverse, Symmetric};
use stiction_mech::{Model, SoftBody, SoftWorkspace, State};

use crate::scheme::Scheme;

/// Newton steps of free motion, the relative change at which they end, and how often one is halved.
const NEWTON_STEPS: usize = 40;
const NEWTON_TOLERANCE: f64 = 1e-10;
const HALVINGS: usize = 6;

/// Parts of the way from the exact stiffness to the clamped one that are tried: each as a multiple of the
/// one before, an eighth, a half, and all of it.
const CLAMPED: [f64; 3] = [0.125, 4.0, 2.0];

/// Vertices up to which the yield of each is computed; for more, that of a sample.
const FEW_VERTICES: usize = 2500;
const SAMPLE: usize = 48;

/// Part of an element's size by which its vertices may move against one another within a step.
const RESOLVED: f64 = 0.5;

/// How a scheme weighs old and next velocities of soft bodies.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Weights {
    /// α: the next velocity in the unknown.
    pub alpha: f64,
    /// κ and κ₀: the unknown and the old velocity in the position at which forces are taken.
    pub ahead: f64,
    pub ahead_old: f64,
    /// δ and δ₀: the same in the velocity that is damped.
    pub damped: f64,
    pub damped_old: f64,
    /// The unknown in the velocity with which positions move; the old one has the rest.
    pub moving: f64,
}

impl Weights {
    /// The weights of a scheme.
    pub fn of(scheme: Scheme) -> Self {
        let implicit = Self {
            alpha: 1.0,
            ahead: 1.0,
            ahead_old: 0.0,
            damped: 1.0,
            damped_old: 0.0,
            moving: 1.0,
        };
        match scheme {
            Scheme::MidVelocity => Self { alpha: 0.5, ahead: 0.5, ..implicit },
            Scheme::Midpoint => Self {
                ahead: 0.25,
                ahead_old: 0.25,
                damped: 0.5,
                damped_old: 0.5,
                moving: 0.5,
                ..implicit
            },
            _ => implicit,
        }
    }
}

/// A, b and v* of all soft bodies.
pub(crate) struct SoftMotion {
    bodies: Vec<Motion>,
    weights: Weights,
    time_step: f64,
    /// Whether a body moved farther than the step resolves, or its equations were not solved.
    unresolved: bool,
    inverted: usize,
}

/// One soft body.
struct Motion {
    work: SoftWorkspace,
    /// Vertices that are not fixed.
    free: Vec<u32>,
    held: Held,
    A: Symmetric,
    b: Vec<f64>,
    /// Estimates of trace((A⁻¹)ᵢᵢ)/3 [1/kg].
    yields: Vec<f64>,
    /// Per block of A the block of K, where vertices are fixed.
    blocks: Option<Vec<u32>>,
    /// K₀, if it does not stay for the step.
    damping: Option<Symmetric>,
    /// Scratch: an exact stiffness.
    exact: Vec<f64>,
    /// M g [N].
    weight: Vec<f64>,
    /// What of b does not depend on the point of linearisation.
    base: Vec<f64>,
    /// Scratch over all vertices: a position, a velocity and a product.
    x: Vec<Vector3<f64>>,
    flat: Vec<f64>,
    product: Vec<f64>,
    trial: Vec<f64>,
    next: Vec<f64>,
    factor: Option<Cholesky>,
    /// Whether the factor belongs to A.
    factored: bool,
}

impl SoftMotion {
    /// Takes memory, and estimates how much each vertex yields at rest: it follows from the model, the
    /// scheme and the time step alone.
    pub fn new(model: &Model, scheme: Scheme, h: f64) -> Self {
        let weights = Weights::of(scheme);
        let make = |body: &SoftBody| Motion::new(body, &model.gravity(), &weights, h);
        Self {
            bodies: model.softs().iter().map(make).collect(),
            weights,
            time_step: h,
            unresolved: false,
            inverted: 0,
        }
    }

    /// How the scheme weighs velocities.
    pub fn weights(&self) -> Weights {
        self.weights
    }

    /// A of a soft body, without its fixed vertices [kg].
    pub fn matrix(&self, soft: usize) -> &Symmetric {
        &self.bodies[soft].A
    }

    /// b of a soft body [N·s].
    pub fn momentum(&self, soft: usize) -> &[f64] {
        &self.bodies[soft].b
    }

    /// Per vertex that is not fixed, the yield [1/kg] at rest, about.
    pub fn yields(&self, soft: usize) -> &[f64] {
        &self.bodies[soft].yields
    }

    /// Vertices of a soft body that are not fixed, ascending.
    pub fn free_vertices(&self, soft: usize) -> &[u32] {
        &self.bodies[soft].free
    }

    /// Whether a body moved farther than the step resolves, or its equations were not solved.
    pub fn is_unresolved(&self) -> bool {
        self.unresolved
    }

    /// Says that equations were not solved.
    pub fn set_unresolved(&mut self) {
        self.unresolved = true;
    }

    /// Elements that the last step left inside out.
    pub fn inverted(&self) -> usize {
        self.inverted
    }

    /// Whether forces of a body are more than linear within a step.
    pub fn is_nonlinear(&self, soft: usize) -> bool {
        self.bodies[soft].damping.is_some()
    }

    /// A and b from the state at the start of a step.
    pub fn compute(&mut self, model: &Model, state: &State) {
        self.unresolved = false;
        for (body, motion) in model.softs().iter().zip(&mut self.bodies) {
            motion.begin(&Start::of(body, state, self.weights, self.time_step));
        }
    }

    /// Linearises a body again, where the unknown is `u`. False if there it is not finite: then
    /// everything stays as it was, but for A and b.
    pub fn linearise(&mut self, model: &Model, soft: usize, state: &State, u: &[f64]) -> bool {
        let start = Start::of(&model.softs()[soft], state, self.weights, self.time_step);
        self.bodies[soft].linearise(&start, u)
    }

    /// How the work of a body's imbalance of momentum, against the impulses on it that an `answer` implies,
    /// changes along the way there from `at`, where it is linearised: at its beginning, which is minus the
    /// product of A with the way twice, and after a `share` of it [J]. Not finite where it has no forces.
    pub fn slope(
        &mut self,
        model: &Model,
        soft: usize,
        state: &State,
        (at, answer): (&[f64], &[f64]),
        share: f64,
    ) -> [f64; 2] {
        let start = Start::of(&model.softs()[soft], state, self.weights, self.time_step);
        self.bodies[soft].slope(&start, &Way { at, answer, share })
    }

    /// The motion of a body that nothing touches, into `out`. False if A is not positive definite.
    pub fn solve(&mut self, model: &Model, soft: usize, state: &State, out: &mut [f64]) -> bool {
        let motion = &mut self.bodies[soft];
        if motion.damping.is_none() {
            out.copy_from_slice(&motion.b);
            return motion.apply_inverse(out);
        }
        let start = Start::of(&model.softs()[soft], state, self.weights, self.time_step);
        let solved = motion.newton(&start, out);
        self.unresolved |= solved == Newton::Unfinished;
        solved != Newton::Singular
    }

    /// Newton's method on the free motion of all nonlinear bodies: A and b where it leads.
    pub fn iterate(&mut self, model: &Model, state: &State) -> Option<usize> {
        for soft in 0..self.bodies.len() {
            if !self.is_nonlinear(soft) {
                continue;
            }
            let mut u = std::mem::take(&mut self.bodies[soft].trial);
            let fine = self.solve(model, soft, state, &mut u);
            let fine = fine && self.linearise(model, soft, state, &u);
            self.bodies[soft].trial = u;
            if !fine {
                return Some(soft);
            }
        }
        None
    }

    /// Looks at a step from `old` to `next`: counts elements inside out and those whose vertices moved
    /// against one another by more than a step resolves.
    pub fn inspect(&mut self, model: &Model, old: &State, next: &State) {
        self.inverted = 0;
        let mut fast = false;
        for body in model.softs() {
            let (before, after) = (&old.x[body.nodes.clone()], &next.x[body.nodes.clone()]);
            for tetrahedron in &body.spec.tetrahedra {
                let corner = tetrahedron.map(|v| after[v as usize]);
                let edges = [1, 2, 3].map(|k| corner[k] - corner[0]);
                self.inverted += usize::from(!(edges[0].cross(&edges[1]).dot(&edges[2]) > 0.0));
                let rest = tetrahedron.map(|v| body.spec.vertices[v as usize]);
                let size = (1..4).map(|k| (rest[k] - rest[0]).norm_squared()).fold(0.0, f64::max);
                let moved = tetrahedron.map(|v| after[v as usize] - before[v as usize]);
                let most = (1..4).map(|k| (moved[k] - moved[0]).norm_squared()).fold(0.0, f64::max);
                fast |= !(most <= RESOLVED * RESOLVED * size);
            }
        }
        self.unresolved |= fast || self.inverted > 0;
    }
}

/// A step of a body as it begins, at x₀ and v₀.
#[derive(Clone, Copy)]
struct Start<'a> {
    body: &'a SoftBody,
    x0: &'a [Vector3<f64>],
    v0: &'a [Vector3<f64>],
    weights: Weights,
    h: f64,
}

impl<'a> Start<'a> {
    fn of(body: &'a SoftBody, state: &'a State, weights: Weights, h: f64) -> Self {
        let (x0, v0) = (&state.x[body.nodes.clone()], &state.x_dot[body.nodes.clone()]);
        Self { body, x0, v0, weights, h }
    }

    /// h² κ: that of K in A.
    fn elastic(&self) -> f64 {
        self.h * self.h * self.weights.ahead
    }

    /// 1/α + h δ a and h δ β: those of M and K₀ in A.
    fn scales(&self) -> (f64, f64) {
        let (weights, spec, h) = (&self.weights, &self.body.spec, self.h);
        let mass = 1.0 / weights.alpha + h * weights.damped * spec.mass_damping;
        (mass, h * weights.damped * spec.stiffness_damping)
    }
}

/// From a point of linearisation to an answer.
#[derive(Clone, Copy)]
struct Way<'a> {
    at: &'a [f64],
    answer: &'a [f64],
    share: f64,
}

/// How Newton's method ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Newton {
    Solved,
    Unfinished,
    Singular,
}

impl Motion {
    fn new(body: &SoftBody, gravity: &Vector3<f64>, weights: &Weights, h: f64) -> Self {
        let (n, pattern) = (body.nodes.len(), body.pattern());
        let is_fixed = |vertex: &u32| body.is_fixed()[*vertex as usize];
        let free: Vec<u32> = (0..n as u32).filter(|vertex| !is_fixed(vertex)).collect();
        let (own, blocks) = without_fixed(pattern, &free);
        let held = Held::new(body.fixed_axes(), &free, own.as_ref().unwrap_or(pattern));
        let mut weight = vec![0.0; 3 * n];
        let everywhere: Vec<f64> = (0..3 * n).map(|k| gravity[k % 3]).collect();
        body.mass().mul(&everywhere, &mut weight);
        let nonlinear = !body.spec.material.entry().linear;
        let mut motion = Self {
            work: SoftWorkspace::new(body),
            A: Symmetric::zeros(own.as_ref().unwrap_or(pattern)),
            b: vec![0.0; 3 * free.len()],
            yields: vec![0.0; free.len()],
            blocks,
            damping: nonlinear.then(|| Symmetric::zeros(pattern)),
            exact: vec![0.0; if nonlinear { body.mass().values().len() } else { 0 }],
            weight,
            base: vec![0.0; 3 * n],
            x: vec![Vector3::zeros(); n],
            flat: vec![0.0; 3 * n],
            product: vec![0.0; 3 * n],
            trial: vec![0.0; 3 * free.len()],
            next: vec![0.0; if nonlinear { 3 * free.len() } else { 0 }],
            free,
            held,
            factor: None,
            factored: false,
        };
        let still = vec![Vector3::zeros(); n];
        motion.begin(&Start { body, x0: &body.spec.vertices, v0: &still, weights: *weights, h });
        motion.estimate_yields(FEW_VERTICES);
        motion
    }

    /// A and b at the start of a step, linearised where u = 0.
    fn begin(&mut self, start: &Start) {
        let Start { body, x0, v0, weights, h } = *start;
        body.update_rotations(x0, &mut self.work);
        for (x, (x0, v0)) in self.x.iter_mut().zip(x0.iter().zip(v0)) {
            *x = x0 + h * weights.ahead_old * v0;
        }
        body.forces(&self.x, &mut self.work);
        body.stiffness(&self.x, &mut self.work);
        if let Some(damping) = &mut self.damping {
            damping.values_mut().copy_from_slice(self.work.stiffness.values());
        }
        self.begin_base(start);
        for (vertex, b) in self.free.iter().zip(self.b.chunks_exact_mut(3)) {
            let force = &self.work.force[*vertex as usize];
            for k in 0..3 {
                b[k] = self.base[3 * *vertex as usize + k] + h * force[k];
            }
        }
        self.held.clear(&mut self.b);
        self.assemble(start);
    }

    /// `M v₀/α + h M g − h δ₀ (a M + β K₀) v₀`.
    fn begin_base(&mut self, start: &Start) {
        let Start { body, v0, weights, h, .. } = *start;
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
    fn assemble(&mut self, start: &Start) {
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
        self.held.uncouple(out);
    }

    /// A and b where the unknown is `u`: `b = base + h f(x) + h² κ K u`.
    fn linearise(&mut self, start: &Start, u: &[f64]) -> bool {
        let Start { body, h, .. } = *start;
        self.place(start, u.iter().copied());
        body.forces(&self.x, &mut self.work);
        body.exact_stiffness(&self.x, &mut self.work);
        self.assemble(start);
        if self.damping.is_some() && !self.factors() {
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
        self.held.clear(&mut self.b);
        finite && self.A.values().iter().all(|a| a.is_finite())
    }

    /// Replaces an exact stiffness with which A is not positive definite: by the part of the way to the
    /// clamped one that is enough.
    fn make_definite(&mut self, start: &Start) {
        self.exact.copy_from_slice(self.work.stiffness.values());
        start.body.stiffness(&self.x, &mut self.work);
        for factor in CLAMPED {
            let K = self.work.stiffness.values_mut();
            K.iter_mut().zip(&self.exact).for_each(|(K, exact)| *K = exact + factor * (*K - exact));
            self.assemble(start);
            if self.factors() {
                return;
            }
        }
    }

    /// Where forces are taken if the unknown is `u`, and `u` over all vertices.
    fn place(&mut self, start: &Start, u: impl IntoIterator<Item = f64>) {
        let Start { x0, v0, weights, h, .. } = *start;
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

    /// With the way d and the impulses Jᵀ λ = A u − b of the answer u: `−dᵀ A d` and, after a share t of
    /// it, `dᵀ (m(u₀ + t d) − Jᵀ λ)`.
    fn slope(&mut self, start: &Start, way: &Way) -> [f64; 2] {
        let (Start { body, h, .. }, Way { at, answer, share }) = (*start, *way);
        let d = || answer.iter().zip(at).map(|(u, at)| u - at);
        let mut scratch = std::mem::take(&mut self.trial);
        let mut along_impulses = 0.0;
        self.A.mul(answer, &mut scratch);
        for ((d, impulse), b) in d().zip(&scratch).zip(&self.b) {
            along_impulses += d * (impulse - b);
        }
        self.next.iter_mut().zip(d()).for_each(|(next, d)| *next = d);
        self.A.mul(&self.next, &mut scratch);
        let first = -d().zip(&scratch).map(|(d, product)| d * product).sum::<f64>();
        self.trial = scratch;

        self.place(start, at.iter().zip(d()).map(|(at, d)| at + share * d));
        body.forces(&self.x, &mut self.work);
        body.mass().mul(&self.flat, &mut self.product);
        let ((mass_scale, damped), x) = (start.scales(), &mut self.x);
        for (x, product) in x.iter_mut().zip(self.product.chunks_exact(3)) {
            *x = mass_scale * Vector3::from_column_slice(product);
        }
        if let (Some(K0), true) = (&self.damping, damped != 0.0) {
            K0.mul(&self.flat, &mut self.product);
            for (x, product) in x.iter_mut().zip(self.product.chunks_exact(3)) {
                *x += damped * Vector3::from_column_slice(product);
            }
        }
        let mut along_imbalance = 0.0;
        for (vertex, d) in self.free.iter().zip(self.next.chunks_exact(3)) {
            let k = *vertex as usize;
            let base = Vector3::from_column_slice(&self.base[3 * k..3 * k + 3]);
            let m = self.x[k] - base - h * self.work.force[k];
            // What is held does not move, and so does no work.
            along_imbalance += Vector3::from_column_slice(d).dot(&m);
        }
        [first, along_imbalance - along_impulses]
    }

    /// Solves m(u) = 0; A and b belong to the last point of linearisation.
    fn newton(&mut self, start: &Start, u: &mut [f64]) -> Newton {
        let mut next = std::mem::take(&mut self.next);
        let ended = self.newton_from(start, u, &mut next);
        self.next = next;
        ended
    }

    fn newton_from(&mut self, start: &Start, u: &mut [f64], next: &mut [f64]) -> Newton {
        u.fill(0.0);
        for _ in 0..NEWTON_STEPS {
            next.copy_from_slice(&self.b);
            if !self.apply_inverse(next) {
                return Newton::Singular;
            }
            let mut change = 0.0_f64;
            let mut size = 0.0_f64;
            for (next, u) in next.iter_mut().zip(&*u) {
                change = change.max((*next - u).abs());
                size = size.max(next.abs());
            }
            let mut halvings = 0;
            while !self.linearise(start, next) {
                halvings += 1;
                if halvings > HALVINGS {
                    return Newton::Unfinished;
                }
                next.iter_mut().zip(&*u).for_each(|(next, u)| *next = 0.5 * (*next + u));
            }
            u.copy_from_slice(next);
            if halvings == 0 && !(change > NEWTON_TOLERANCE * size.max(1.0)) {
                return Newton::Solved;
            }
        }
        Newton::Unfinished
    }

    /// `x ← A⁻¹ x`. False if A is not positive definite.
    fn apply_inverse(&mut self, x: &mut [f64]) -> bool {
        let fine = self.factored || self.factors();
        if let (Some(factor), true) = (&mut self.factor, fine) {
            factor.solve_in_place(x);
        }
        fine
    }

    /// Factors A. False if it is not positive definite.
    fn factors(&mut self) -> bool {
        let factor = self.factor.get_or_insert_with(|| Cholesky::analyse(self.A.pattern()));
        self.factored = factor.factor(&self.A).is_ok();
        self.factored
    }

    /// `trace((A⁻¹)ᵢᵢ)/3` of all vertices, if they are no more than a few. For many, a sample says how much softer a
    /// vertex is than its own block of A alone, and all others follow from their blocks.
    fn estimate_yields(&mut self, few: usize) {
        let (n, pattern) = (self.free.len(), self.A.pattern());
        let trace = |block: &[f64]| (block[0] + block[4] + block[8]) / 3.0;
        if n <= few {
            let mut inverse = SelectedInverse::analyse(pattern);
            if inverse.compute(&self.A).is_ok() {
                for (k, out) in self.yields.iter_mut().enumerate() {
                    *out = trace(inverse.diagonal_block(k));
                }
                return;
            }
        }
        for (k, out) in self.yields.iter_mut().enumerate() {
            *out = 1.0 / trace(self.A.block(pattern.diagonal(k)));
        }
        let mut factor = Cholesky::analyse(pattern);
        if n == 0 || factor.factor(&self.A).is_err() {
            return;
        }
        let (mut logarithms, mut column) = (0.0, vec![0.0; 3 * n]);
        for k in 0..SAMPLE {
            let vertex = k * n / SAMPLE;
            let mut own = 0.0;
            for axis in 0..3 {
                column.fill(0.0);
                column[3 * vertex + axis] = 1.0;
                factor.solve_in_place(&mut column);
                own += column[3 * vertex + axis] / 3.0;
            }
            logarithms += (own / self.yields[vertex]).ln();
        }
        let softer = (logarithms / SAMPLE as f64).exp();
        self.yields.iter_mut().for_each(|out| *out *= softer);
    }
}

/// Coordinates of vertices that never move although others of the same vertex do. They stay among the
/// unknowns, coupled to nothing; no constraint acts on them.
struct Held {
    /// Places of the coordinates among the unknowns.
    places: Vec<u32>,
    /// Places in A of what couples them to others.
    coupling: Vec<u32>,
}

impl Held {
    /// From the axes of all vertices; `pattern` is over the `free` ones.
    fn new(axes: &[[bool; 3]], free: &[u32], pattern: &Pattern) -> Self {
        let is_held = |place: usize, axis: usize| axes[free[place] as usize][axis];
        let coordinates = (0..3 * free.len()).filter(|c| is_held(c / 3, c % 3));
        let places: Vec<u32> = coordinates.map(|c| c as u32).collect();
        let mut coupling = Vec::new();
        for (block, entry) in pattern.entries().enumerate().filter(|_| !places.is_empty()) {
            for k in 0..9 {
                let (i, j) = (k / 3, k % 3);
                if is_held(entry.row, i) || is_held(entry.col, j) {
                    let is_own = entry.row == entry.col && i == j;
                    if !is_own {
                        coupling.push((9 * block + k) as u32);
                    }
                }
            }
        }
        Self { places, coupling }
    }

    /// Uncouples them in A.
    fn uncouple(&self, A: &mut [f64]) {
        self.coupling.iter().for_each(|at| A[*at as usize] = 0.0);
    }

    /// Sets them to zero.
    fn clear(&self, x: &mut [f64]) {
        self.places.iter().for_each(|at| x[*at as usize] = 0.0);
    }
}

fn flatten(vectors: &[Vector3<f64>], out: &mut [f64]) {
    for (out, vector) in out.chunks_exact_mut(3).zip(vectors) {
        out.copy_from_slice(vector.as_slice());
    }
}

/// The pattern over the vertices that are not fixed, and for each of its blocks the one it is in the
/// whole; nothing if none is fixed.
fn without_fixed(pattern: &Pattern, free: &[u32]) -> (Option<Pattern>, Option<Vec<u32>>) {
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

#[cfg(test)]
mod tests {
    use super::*;
    use stiction_math::random::SplitMix64;
    use stiction_mech::{Lumping, Material, ModelBuilder, SoftSpec};

    /// A box of 2×2×2 cubes of 10 cm, cut into tetrahedra, its lowest vertices fixed.
    fn model(material: &str) -> Model {
        let mesh = stiction_geom::TetMesh::cuboid(Vector3::repeat(0.2), [2; 3]).unwrap();
        let material = Material::from_name(material, &[1e4, 0.3]).unwrap();
        let fixed = (0..27).filter(|v| mesh.vertices()[*v as usize].z < -0.05).collect();
        let spec = SoftSpec {
            mass_damping: 0.5,
            stiffness_damping: 0.02,
            lumping: Lumping::Consistent,
            fixed,
            ..SoftSpec::new(mesh.vertices().to_vec(), mesh.tetrahedra().to_vec(), material, 1e3)
        };
        let mut builder = ModelBuilder::new();
        builder.soft(spec);
        builder.build().unwrap()
    }

    /// Pulled and shaken: under tension no stiffness has to be clamped to stay positive.
    fn state(model: &Model, rng: &mut SplitMix64) -> State {
        let mut state = State::new(model);
        let still = |v: usize| model.softs()[0].is_fixed()[v];
        for v in (0..model.nodes()).filter(|v| !still(*v)) {
            let pull = Vector3::z() * (0.2 * (state.x[v].z + 0.1));
            state.x[v] += pull + Vector3::from_fn(|_, _| rng.uniform(-2e-3, 2e-3));
            state.x_dot[v] = Vector3::from_fn(|_, _| rng.uniform(-0.2, 0.2));
        }
        state
    }

    /// m(u) = A u − b where it is linearised at u.
    fn imbalance(motion: &mut SoftMotion, model: &Model, state: &State, u: &[f64]) -> Vec<f64> {
        assert!(motion.linearise(model, 0, state, u));
        let mut m = vec![0.0; u.len()];
        motion.matrix(0).mul(u, &mut m);
        m.iter_mut().zip(motion.momentum(0)).for_each(|(m, b)| *m -= b);
        m
    }

    #[test]
    fn the_matrix_is_the_slope_of_the_imbalance_of_momentum() {
        let mut rng = SplitMix64::new(5);
        for material in ["linear", "linear-corotated", "corotational", "neo-hookean"] {
            for scheme in [Scheme::Refined, Scheme::Midpoint, Scheme::MidVelocity] {
                let model = model(material);
                let state = state(&model, &mut rng);
                let mut motion = SoftMotion::new(&model, scheme, 0.01);
                motion.compute(&model, &state);
                let n = motion.momentum(0).len();
                assert_eq!(n, 3 * 18);
                let u: Vec<f64> = (0..n).map(|_| rng.uniform(-0.2, 0.2)).collect();
                let d: Vec<f64> = (0..n).map(|_| rng.uniform(-1.0, 1.0)).collect();
                // Central differences: truncation of order ε², round-off of order 1/ε.
                let epsilon = 1e-5;
                let mut at = |sign: f64| {
                    let u: Vec<f64> =
                        u.iter().zip(&d).map(|(u, d)| u + sign * epsilon * d).collect();
                    imbalance(&mut motion, &model, &state, &u)
                };
                let (plus, minus) = (at(1.0), at(-1.0));
                imbalance(&mut motion, &model, &state, &u);
                let mut slope = vec![0.0; n];
                motion.matrix(0).mul(&d, &mut slope);
                let size = slope.iter().fold(0.0_f64, |most, x| most.max(x.abs()));
                for k in 0..n {
                    let found = (plus[k] - minus[k]) / (2.0 * epsilon);
                    let error = (found - slope[k]).abs();
                    assert!(error <= 1e-6 * size, "{material} {scheme:?}: {found} {}", slope[k]);
                }
            }
        }
    }

    #[test]
    fn free_motion_balances_momentum_also_where_forces_are_not_linear() {
        let mut rng = SplitMix64::new(6);
        for material in ["linear-corotated", "corotational", "neo-hookean"] {
            let model = model(material);
            let state = state(&model, &mut rng);
            let mut motion = SoftMotion::new(&model, Scheme::Implicit, 0.01);
            motion.compute(&model, &state);
            let mut u = vec![0.0; motion.momentum(0).len()];
            assert!(motion.solve(&model, 0, &state, &mut u) && !motion.is_unresolved());
            let left = imbalance(&mut motion, &model, &state, &u);
            let size = motion.momentum(0).iter().fold(0.0_f64, |most, b| most.max(b.abs()));
            assert!(left.iter().all(|m| m.abs() <= 1e-9 * size), "{material}");
        }
    }

    /// [Han23, Eq. (8)], with forces asked for anew at q^θ(v), against the linear system.
    #[test]
    fn a_step_leaves_no_residual_of_momentum_in_every_scheme() {
        let (mut rng, h) = (SplitMix64::new(7), 0.01);
        let gravity = ModelBuilder::new().build().unwrap().gravity();
        for (scheme, theta, mean) in [
            (Scheme::Implicit, 1.0, false),
            (Scheme::Midpoint, 0.5, false),
            (Scheme::MidVelocity, 0.5, true),
        ] {
            let model = model("linear-corotated");
            let (body, state) = (&model.softs()[0], state(&model, &mut rng));
            let mut motion = SoftMotion::new(&model, scheme, h);
            motion.compute(&model, &state);
            let mut u = vec![0.0; motion.momentum(0).len()];
            assert!(motion.solve(&model, 0, &state, &mut u));
            // The velocity at the end, of all vertices.
            let mut v = vec![Vector3::zeros(); model.nodes()];
            for (vertex, u) in motion.free_vertices(0).iter().zip(u.chunks_exact(3)) {
                let (k, u) = (*vertex as usize, Vector3::from_column_slice(u));
                v[k] = if mean { 2.0 * u - state.x_dot[k] } else { u };
            }
            let at = |k: usize| theta * v[k] + (1.0 - theta) * state.x_dot[k];
            let mut work = SoftWorkspace::new(body);
            body.update_rotations(&state.x, &mut work);
            body.stiffness(&state.x, &mut work);
            let q: Vec<_> = (0..v.len()).map(|k| state.x[k] + theta * h * at(k)).collect();
            body.forces(&q, &mut work);
            let times = |matrix: &Symmetric, x: &dyn Fn(usize) -> Vector3<f64>| {
                let x: Vec<f64> = (0..v.len()).flat_map(|k| x(k).data.0[0]).collect();
                let mut out = vec![0.0; x.len()];
                matrix.mul(&x, &mut out);
                out
            };
            let change = times(body.mass(), &|k| v[k] - state.x_dot[k]);
            let pull = times(body.mass(), &|k| gravity - body.spec.mass_damping * at(k));
            let damping = times(&work.stiffness, &|k| body.spec.stiffness_damping * at(k));
            for k in motion.free_vertices(0).iter().flat_map(|v| 3 * v..3 * v + 3) {
                let k = k as usize;
                let impulse = h * (work.force[k / 3][k % 3] + pull[k] - damping[k]);
                // Round-off of a factorization, times impulses of 0.1 N·s that cancel.
                let error = change[k] - impulse;
                assert!(error.abs() <= 1e-12, "{scheme:?}: {error}");
            }
        }
    }

    #[test]
    fn the_mid_velocity_and_the_midpoint_rule_are_one_motion() {
        let mut rng = SplitMix64::new(8);
        let model = model("linear-corotated");
        let state = state(&model, &mut rng);
        let [end, mean] = [Scheme::Midpoint, Scheme::MidVelocity].map(|scheme| {
            let mut motion = SoftMotion::new(&model, scheme, 0.01);
            motion.compute(&model, &state);
            let mut u = vec![0.0; motion.momentum(0).len()];
            assert!(motion.solve(&model, 0, &state, &mut u));
            let vertices = motion.free_vertices(0).to_vec();
            (vertices, u)
        });
        let size = end.1.iter().fold(0.0_f64, |most, u| most.max(u.abs()));
        for (k, vertex) in end.0.iter().enumerate() {
            let v0 = state.x_dot[*vertex as usize];
            for axis in 0..3 {
                let (end, mean) = (end.1[3 * k + axis], mean.1[3 * k + axis]);
                assert!((2.0 * mean - v0[axis] - end).abs() <= 1e-12 * size);
            }
        }
    }

    #[test]
    fn the_slope_along_a_way_is_that_of_the_imbalance_of_momentum() {
        let mut rng = SplitMix64::new(9);
        let model = model("neo-hookean");
        let state = state(&model, &mut rng);
        let mut motion = SoftMotion::new(&model, Scheme::Implicit, 0.01);
        motion.compute(&model, &state);
        let n = motion.momentum(0).len();
        let mut draw = || (0..n).map(|_| rng.uniform(-0.2, 0.2)).collect::<Vec<f64>>();
        let (at, answer) = (draw(), draw());
        let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
        let way: Vec<f64> = answer.iter().zip(&at).map(|(u, at)| u - at).collect();
        let before = imbalance(&mut motion, &model, &state, &at);
        // A u − b at the answer, linearised where it begins: the impulses that it implies.
        let mut impulses = vec![0.0; n];
        motion.matrix(0).mul(&answer, &mut impulses);
        impulses.iter_mut().zip(motion.momentum(0)).for_each(|(i, b)| *i -= b);
        let [first, last] = motion.slope(&model, 0, &state, (&at, &answer), 0.4);
        let expected = dot(&way, &before) - dot(&way, &impulses);
        assert!((first - expected).abs() <= 1e-10 * expected.abs(), "{first} {expected}");
        let there: Vec<f64> = at.iter().zip(&way).map(|(at, d)| at + 0.4 * d).collect();
        let after = imbalance(&mut motion, &model, &state, &there);
        let expected = dot(&way, &after) - dot(&way, &impulses);
        assert!((last - expected).abs() <= 1e-10 * first.abs(), "{last} {expected}");
    }

    #[test]
    fn a_sample_tells_the_yield_of_all_vertices_about() {
        let model = model("linear-corotated");
        let mut motion = SoftMotion::new(&model, Scheme::Refined, 0.01);
        let exact = motion.yields(0).to_vec();
        motion.bodies[0].estimate_yields(0);
        // Vertices of edges and corners yield more than those within.
        for (found, exact) in motion.yields(0).iter().zip(&exact) {
            assert!((0.3..3.0).contains(&(found / exact)), "{found} against {exact}");
        }
    }
}
