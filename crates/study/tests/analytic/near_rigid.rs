//! The near-rigid limit of the semi-analytic primal solver [Castro22, Sec. V-B]: how deep a particle
//! rests, and how fast it creeps.

use crate::common::*;
use nalgebra::Vector6;
use stiction_geom::Shape;
use stiction_mech::{BodyId, State};
use stiction_sim::{ContactModel, Scheme, Settings, Simulation, Surface};
use stiction_study::scenarios::{parts, scenario};

const MASS: f64 = 0.5;
const STEP: f64 = 0.01;
const RADIUS: f64 = 0.01;

fn resting(dissipation: f64, push: f64) -> Simulation {
    let surface = Surface { friction: 1.0, stiffness: 2e12, ..Surface::default() };
    let surface = Surface { dissipation: 0.5 * dissipation, ..surface };
    let world = particle(Shape::sphere(RADIUS).unwrap(), MASS, RADIUS, surface);
    // Touching, and a little more: it settles from there.
    let mut state = State::new(world.model());
    state.q[2] = -1e-6;
    let mut settings = Settings { solver: "sap".to_owned(), ..tight(STEP, Scheme::Symplectic) };
    settings.set("solver.refine", "false").unwrap();
    let mut sim = simulate(world, settings, &state);
    sim.input_mut().wrench[1] = Vector6::new(0.0, 0.0, 0.0, push, 0.0, 0.0);
    for _ in 0..200 {
        let _ = sim.step().unwrap();
    }
    sim
}

#[test]
fn a_particle_rests_as_deep_as_the_regularisation_says() {
    // φ = −(h + τ) β²/(4π²) w m g h with w = ‖W‖/3 = √3/(3 m).
    let w = 3.0_f64.sqrt() / (3.0 * MASS);
    let pi = std::f64::consts::PI;
    for (tau, tabulated) in [(0.0, -1.4347e-5), (STEP / pi, -1.8913e-5), (STEP, -2.8693e-5)] {
        let sim = resting(tau, 0.0);
        let exact = -(STEP + tau) / (4.0 * pi * pi) * w * MASS * G * STEP;
        near("depth", sim.state().q[2], exact, 1e-12);
        near("depth, derived by hand", sim.state().q[2], tabulated, 1e-9);
        near("speed", sim.state().v[2], 0.0, 1e-10);
    }
}

#[test]
fn a_particle_creeps_as_fast_as_the_regularisation_says() {
    let push = 0.999 * MASS * G;
    let sim = resting(STEP, push);
    let w = 3.0_f64.sqrt() / (3.0 * MASS);
    near("creep", sim.state().v[0], 1e-3 * w * push * STEP, 1e-12);
    near("creep, derived by hand", sim.state().v[0], 5.658e-5, 1e-8);
}

/// Solvers that reach round-off, of both models of friction.
const SOLVERS: [&str; 5] = ["alm", "canal", "ipm", "newton-damped", "sap"];

#[test]
fn under_the_near_rigid_model_a_particle_rests_and_creeps_alike_with_every_solver() {
    let w = 3.0_f64.sqrt() / (3.0 * MASS);
    let (pi, sigma, push) = (std::f64::consts::PI, 1e-2, 0.9 * MASS * G);
    for solver in SOLVERS {
        let surface = Surface::with_friction(1.0);
        let world = particle(Shape::sphere(RADIUS).unwrap(), MASS, RADIUS, surface);
        let mut state = State::new(world.model());
        state.q[2] = -1e-6;
        let mut settings =
            Settings { solver: solver.to_owned(), ..tight(STEP, Scheme::Symplectic) };
        settings.contact = ContactModel::Sap;
        settings.near_rigid.sigma = sigma;
        let mut sim = simulate(world, settings, &state);
        sim.input_mut().wrench[1] = Vector6::new(0.0, 0.0, 0.0, push, 0.0, 0.0);
        for _ in 0..200 {
            let report = sim.step().unwrap();
            assert!(report.converged(), "{solver}");
        }
        // Rigid surfaces have the dissipation time of a step: φ = −2 h β²/(4π²) w m g h. Nothing else lifts it. Solvers leave
        // 1e-12 of the velocity of free fall in a step, over 1e-7 m/s of creeping out of the depth.
        let depth = -2.0 * STEP / (4.0 * pi * pi) * w * MASS * G * STEP;
        near("depth", sim.state().q[2], depth, 1e-10);
        // v_t = σ w γ_t.
        near("creep", sim.state().v[0], sigma * w * push * STEP, 1e-9);
    }
}

#[test]
fn joints_of_an_arch_creep_by_the_tangential_compliance_and_no_more() {
    let h = 0.04;
    let mut scene = scenario("arch", &[]).unwrap();
    scene.settings.contact = ContactModel::Sap;
    scene.settings.time_step = h;
    scene.settings.select_solver("sap");
    let mut sim = scene.start().unwrap().simulation;
    let (mut holding, mut all) = (0, 0);
    for _ in 0..100 {
        let problem = sim.problem().unwrap().unwrap();
        let count = problem.constraints().len();
        let compliance: Vec<_> =
            (0..count).map(|i| problem.compliance()[problem.row_range(i)][1]).collect();
        let reference = problem.reference_velocity();
        let report = sim.step().unwrap();
        assert!(report.converged());
        assert_eq!(sim.contacts().len(), count);
        all += count;
        for (contact, compliance) in sim.contacts().iter().zip(&compliance) {
            let tangential =
                |x: &nalgebra::Vector3<f64>| x - contact.normal * contact.normal.dot(x);
            let slip = tangential(&contact.velocity).norm();
            let impulse = h * tangential(&contact.force).norm();
            // A point at the border of its cone, with the friction of one, slides: those at which a joint opens.
            let normal = h * contact.force.dot(&contact.normal);
            if impulse >= (1.0 - 1e-6) * normal {
                continue;
            }
            holding += 1;
            // The residual of the laws is 1e-6 of the reference velocity at most.
            assert!(slip <= compliance * impulse + 1e-6 * reference, "{slip}");
        }
    }
    assert!(2 * holding > all, "{holding} of {all}");
}

/// The arch with near-rigid joints in steps of 40 ms: whether its check is passed, and how far its keystone moved [m].
fn creeping_arch(friction: f64, sigma: f64, duration: f64) -> (bool, f64) {
    let mut scene = scenario("arch", &[("friction".to_owned(), friction.to_string())]).unwrap();
    scene.settings.contact = ContactModel::Sap;
    scene.settings.near_rigid.sigma = sigma;
    scene.settings.time_step = 0.04;
    scene.settings.select_solver("sap");
    scene.duration = duration;
    let mut run = scene.start().unwrap();
    // The middle of seven wedges.
    let keystone = BodyId(4);
    let place = |sim: &Simulation| parts::position(sim.world(), sim.state(), keystone);
    let start = place(&run.simulation);
    for _ in 0..run.steps() {
        assert!(run.step().unwrap().converged());
    }
    (run.check.verdict().passed, (place(&run.simulation) - start).norm())
}

#[test]
fn an_arch_of_creeping_joints_stands_ten_minutes_and_sags_by_the_product_of_sigma_and_time() {
    let (stands, slow) = creeping_arch(1.0, 1e-4, 600.0);
    assert!(stands);
    // Creep at the joints is σ w |γ_t| per step, and the weight changes nothing else: ten times the σ sags as far in a tenth of
    // the time. The depth of the contacts builds up in the first ten of 1500 steps.
    let (stands, fast) = creeping_arch(1.0, 1e-3, 60.0);
    assert!(stands);
    near("sag", fast, slow, 0.01 * slow);
    // It sags at all, and by less than half its thickness.
    assert!(slow > 0.01 && slow < 0.1, "{slow}");
}

#[test]
fn an_arch_of_creeping_joints_falls_without_a_thrust_line_and_when_it_has_crept_too_far() {
    // Friction of 0.2 admits no thrust line, and the check expects a fall.
    let (falls, moved) = creeping_arch(0.2, 1e-4, 10.0);
    assert!(falls && moved > 0.5, "{moved}");
    // Statics alone lets it stand with a friction of one.
    let (stands, moved) = creeping_arch(1.0, 1e-3, 600.0);
    assert!(!stands && moved > 0.5, "{moved}");
}
