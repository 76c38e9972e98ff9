//! Checks of a run of the clutter under one solver, with bounds derived from the residuals of each step.

use stiction_study::scenarios::clutter::{self, ClutterItem};

const GRAVITY: f64 = 9.81;
/// Radius of the spheres and half edge of the cubes, and half width of the bin's inside [m].
const RADIUS: f64 = 0.05;
const INSIDE: f64 = 0.4;
/// Circumradius of a cube [m].
const REACH: f64 = 1.733 * RADIUS;

/// Mass [kg] and moment of inertia [kg·m²] of an object; both kinds are isotropic.
fn inertia(item: &ClutterItem) -> (f64, f64) {
    let (mass, factor) = if item.is_cube { (1.0, 4.0 / 6.0) } else { (0.524, 2.0 / 5.0) };
    (mass, factor * mass * RADIUS * RADIUS)
}

/// Least share of the steps with constraints in which a solver must converge within 100 iterations: all
/// for the globally convergent Newton methods; half for CANAL, whose outer loop converges linearly, and
/// for IPM, which may stall at round-off just above the tolerance; none for first-order methods and for
/// Newton's method without globalisation.
fn least_converged(solver: &str) -> f64 {
    match solver {
        "alm" | "auto" | "sap" => 1.0,
        "canal" | "ipm" => 0.5,
        _ => 0.0,
    }
}

/// Largest violation of the laws [m/s] at the iteration limit. An error below g h moves a contact by
/// less than gravity does in a step. Newton's method without globalisation only has to be better than
/// zero impulses, whose violation is the reference velocity.
fn largest_violation(solver: &str, time_step: f64, reference_velocity: f64) -> f64 {
    if is_plain_newton(solver) { reference_velocity } else { GRAVITY * time_step }
}

/// Whether a solver is Newton's method on the exact equations without globalisation.
fn is_plain_newton(solver: &str) -> bool {
    matches!(solver, "newton-damped" | "newton-dogleg")
}

/// Runs the clutter and checks every step: violation, penetration, positions and energy; at the end the
/// share of converged steps and the scenario's own check.
pub fn check_clutter(items: &[ClutterItem], solver: &str, duration: f64) {
    let who = format!("{} bodies, {solver}", items.len());
    let mut scene = clutter::scene(items, true, 1.0).unwrap();
    scene.settings.solver = solver.to_owned();
    scene.settings.max_iterations = Some(100);
    scene.duration = duration;
    let (h, slop) = (scene.settings.time_step, scene.settings.stabilisation.slop);
    let mut run = scene.start().unwrap();
    let mass: f64 = items.iter().map(|item| inertia(item).0).sum();
    let (mut energy, mut kinetic) = (run.simulation.energy(), 0.0_f64);
    let (mut constrained, mut unconverged) = (0, 0);
    for step in 0..run.steps() {
        let report = run.step().unwrap();
        constrained += usize::from(report.rows > 0);
        unconverged += usize::from(!report.converged());
        let (violation, error) =
            (report.residuals.of(report.friction_model), report.residuals.momentum);
        let most = largest_violation(solver, h, report.residuals.reference_velocity);
        assert!(violation <= most, "{who}, step {step}: violation {violation} m/s, at most {most}");

        // The laws hold to first order in the step: a contact penetrates by the violation over a step,
        // and by the arcs ½ r (ω h)² of both bodies. The correction leaves the slop.
        let state = run.simulation.state().clone();
        let spin = |v: &[f64]| (v[3] * v[3] + v[4] * v[4] + v[5] * v[5]).sqrt();
        let fastest = state.v.chunks_exact(6).map(spin).fold(0.0, f64::max);
        let deepest = slop + h * violation + REACH * (fastest * h).powi(2);
        let depth = report.penetration;
        assert!(depth <= deepest, "{who}, step {step}: depth {depth} m, at most {deepest}");

        // Every object contains a ball of this radius about its centre.
        for (body, q) in state.q.chunks_exact(7).enumerate() {
            let aside = q[0].abs().max(q[1].abs());
            assert!(
                aside <= INSIDE - RADIUS + deepest && q[2] >= RADIUS - deepest,
                "{who}, step {step}: body {body} is at {:?}",
                &q[..3]
            );
        }

        // With r = A v⁺ − b − Jᵀλ and A diagonal, the kinetic energy changes by λᵀc̄ + v̄ᵀr beside the work
        // of gravity, c̄ and v̄ means over the step. λᵀc⁺ ≤ ε Σ|λ| for a violation ε, and c̄ differs from
        // c⁺ by at most ½ g h where λᵀW λ does not dissipate. |D r| ≤ e max(|D A v⁺|, |D Jᵀλ|) for a
        // relative error e of momentum, |D A v|² = 2 K and |D Jᵀλ| ≤ |D A v⁺| + |D b| + |D r|. The
        // position correction lifts by at most the penetration that it removes.
        let contacts = run.simulation.contacts();
        let impulse: f64 = contacts.iter().map(|contact| contact.force.norm() * h).sum();
        let square = |v: &[f64]| v.iter().map(|x| x * x).sum::<f64>();
        let own = items.iter().zip(state.v.chunks_exact(6)).map(|(item, v)| {
            let (m, i) = inertia(item);
            0.5 * m * square(&v[..3]) + 0.5 * i * square(&v[3..])
        });
        let after: f64 = own.sum();
        let free = (2.0 * kinetic).sqrt() + mass.sqrt() * GRAVITY * h;
        let speed = (2.0 * after).sqrt().max(free);
        let momentum = error / (1.0 - error).max(f64::EPSILON) * speed * 2.0 * speed;
        let most = (violation + 0.5 * GRAVITY * h) * impulse + momentum + mass * GRAVITY * deepest;
        let now = run.simulation.energy();
        // Round-off of a sum over all bodies.
        let round_off = 1e-13 * energy.abs();
        assert!(
            now - energy <= most + round_off,
            "{who}, step {step}: energy rises by {} J, at most {most}",
            now - energy
        );
        (energy, kinetic) = (now, after);
    }
    let share = 1.0 - unconverged as f64 / constrained as f64;
    assert!(share >= least_converged(solver), "{who}: converged in {share} of {constrained} steps");
    // Newton's method without globalisation returns velocities with an error of momentum, which may add
    // energy over the run; the bound of each step is all that holds for it.
    if !is_plain_newton(solver) {
        let verdict = run.check.verdict();
        assert!(verdict.passed, "{who}: {}", verdict.detail);
    }
}
