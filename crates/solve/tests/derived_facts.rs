//! Facts that follow from the equations by hand, asserted of the solvers: rates of convergence,
//! limits, closed forms, and what must not depend on units, order or axes.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, non_snake_case)]

use nalgebra::{Matrix3, Matrix6, Rotation3, Vector3};
use stiction_math::random::SplitMix64;
use stiction_solve::catalogue::{CATALOGUE, Variation, find};
use stiction_solve::compliance::{Compliance, NearRigid};
use stiction_solve::contact::{ContactVec, frame, rows};
use stiction_solve::law::{Bilateral, Coulomb, Elliptic, Law, Soft};
use stiction_solve::problem::{Map, PortId};
use stiction_solve::solver::SOLVERS;
use stiction_solve::{
    FrictionModel, Goal, Problem, Report, ResidualMeasure, Session, Solution, Status,
};

const GRAVITY: f64 = 9.81; // [m/s²]
const TIME_STEP: f64 = 0.01; // [s]

fn goal(tolerance: f64) -> Goal {
    Goal { tolerance, ..Goal::default() }
}

fn convex(tolerance: f64) -> Goal {
    Goal { friction_model: Some(FrictionModel::Convex), ..goal(tolerance) }
}

/// Solves from the cold start with settings `key=value`; the report, the answer and the notes.
fn solve(
    name: &str,
    settings: &[&str],
    problem: &Problem,
    goal: &Goal,
) -> (Report, Solution, Vec<String>) {
    let mut session = Session::new(name).unwrap();
    for setting in settings {
        let (key, value) = setting.split_once('=').unwrap();
        session.set(key, value).unwrap();
    }
    let mut solution = Solution::cold(problem);
    let report = session.solve(problem, goal, &mut solution).unwrap();
    (report, solution, session.notes())
}

/// The answer of the accurate solver, which must have converged.
fn accurate(problem: &Problem, goal: &Goal) -> Solution {
    let (report, solution, notes) = solve("alm", &[], problem, goal);
    assert_eq!(report.status, Status::Converged, "{}: {report:?} {notes:?}", problem.name());
    solution
}

fn largest_difference(a: &[f64], b: &[f64]) -> f64 {
    assert_eq!(a.len(), b.len());
    a.iter().zip(b).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max)
}

fn coulomb(mu: f64) -> Law {
    Law::Coulomb(Coulomb::new(mu).unwrap())
}

/// `|x|_A` [√J].
fn energy_norm(problem: &Problem, x: &[f64]) -> f64 {
    let mut p = vec![0.0; x.len()];
    problem.mass().mul(x, &mut p);
    x.iter().zip(&p).map(|(x, p)| x * p).sum::<f64>().sqrt()
}

/// A particle of one mass on the ground, with tangents along x and y.
fn particle(mass: f64, velocity: [f64; 3], law: Law, bias: f64, compliance: (f64, f64)) -> Problem {
    let mut builder = Problem::builder("particle");
    let A = Matrix3::from_diagonal_element(mass);
    let body = builder.dense(A.as_slice(), &velocity.map(|v| mass * v));
    let port = builder.port(body, Map::Whole);
    let axes = [0.0, 0.0, 1.0, 1.0, 0.0, 0.0, 0.0, 1.0, 0.0];
    builder.constraint(law, &rows(bias, 0.0), &rows(compliance.0, compliance.1), &[(port, &axes)]);
    builder.build().unwrap()
}

/// A rigid body with its inertia in world axes.
#[derive(Clone)]
struct Body {
    mass: f64,
    inertia: Matrix3<f64>,
    centre: Vector3<f64>,
    velocity: Vector3<f64>,
    spin: Vector3<f64>,
}

impl Body {
    fn sphere(mass: f64, radius: f64, centre: [f64; 3]) -> Self {
        let inertia = Matrix3::from_diagonal_element(0.4 * mass * radius * radius);
        let still = Vector3::zeros();
        Self { mass, inertia, centre: centre.into(), velocity: still, spin: still }
    }

    fn cuboid(mass: f64, size: [f64; 3], centre: [f64; 3]) -> Self {
        let s = size.map(|s| s * s * mass / 12.0);
        let inertia = Vector3::new(s[1] + s[2], s[0] + s[2], s[0] + s[1]);
        let (inertia, still) = (Matrix3::from_diagonal(&inertia), Vector3::zeros());
        Self { mass, inertia, centre: centre.into(), velocity: still, spin: still }
    }

    fn moving(self, velocity: [f64; 3], spin: [f64; 3]) -> Self {
        Self { velocity: velocity.into(), spin: spin.into(), ..self }
    }
}

/// A contact with its normal from A into B; `None` is the ground.
#[derive(Clone)]
struct Touch {
    a: Option<usize>,
    b: Option<usize>,
    point: Vector3<f64>,
    normal: Vector3<f64>,
    gap: f64,
}

/// Rigid bodies and contacts before one step of length [`TIME_STEP`].
#[derive(Clone)]
struct Scene {
    bodies: Vec<Body>,
    touches: Vec<Touch>,
    friction: f64,
    gravity: Vector3<f64>,
}

impl Scene {
    fn new(bodies: Vec<Body>, friction: f64) -> Self {
        let gravity = Vector3::new(0.0, 0.0, -GRAVITY);
        Self { bodies, touches: Vec::new(), friction, gravity }
    }

    /// Adds the four lower corners of a box on the ground.
    fn on_corners(mut self, body: usize, size: [f64; 3]) -> Self {
        let centre = self.bodies[body].centre;
        for (x, y) in [(-0.5, -0.5), (0.5, -0.5), (0.5, 0.5), (-0.5, 0.5)] {
            let point = centre + Vector3::new(x * size[0], y * size[1], -0.5 * size[2]);
            let (a, b, normal) = (None, Some(body), Vector3::z());
            self.touches.push(Touch { a, b, point, normal, gap: 0.0 });
        }
        self
    }

    /// b = M (v + δt g), e = gap/δt; velocities are (v, ω) of each body.
    fn build(&self) -> Problem {
        let mut builder = Problem::builder("scene");
        let ports: Vec<PortId> = self
            .bodies
            .iter()
            .map(|body| {
                let mut A = Matrix6::zeros();
                A.fixed_view_mut::<3, 3>(0, 0).fill_diagonal(body.mass);
                A.fixed_view_mut::<3, 3>(3, 3).copy_from(&body.inertia);
                let p = (body.velocity + self.gravity * TIME_STEP) * body.mass;
                let l = body.inertia * body.spin;
                let id = builder.dense(A.as_slice(), &[p.x, p.y, p.z, l.x, l.y, l.z]);
                builder.port(id, Map::Whole)
            })
            .collect();
        for touch in &self.touches {
            let rotation = frame(touch.normal);
            let terms: Vec<(PortId, Vec<f64>)> = [(touch.a, -1.0), (touch.b, 1.0)]
                .iter()
                .filter_map(|(side, sign)| side.map(|k| (k, *sign)))
                .map(|(k, sign)| {
                    let linear = rotation * sign;
                    let lever = touch.point - self.bodies[k].centre;
                    let angular = -linear * lever.cross_matrix();
                    let entry = |i: usize, j: usize| [&linear, &angular][j / 3][(i, j % 3)];
                    (ports[k], (0..18).map(|k| entry(k / 6, k % 6)).collect())
                })
                .collect();
            let terms: Vec<(PortId, &[f64])> =
                terms.iter().map(|(port, values)| (*port, values.as_slice())).collect();
            let bias = rows(touch.gap / TIME_STEP, 0.0);
            builder.constraint(coulomb(self.friction), &bias, &[0.0; 3], &terms);
        }
        builder.build().unwrap()
    }

    /// Takes over the velocities of an answer.
    fn advance(&mut self, solution: &Solution) {
        for (body, v) in self.bodies.iter_mut().zip(solution.velocity.chunks_exact(6)) {
            body.velocity = Vector3::from_column_slice(&v[..3]);
            body.spin = Vector3::from_column_slice(&v[3..]);
        }
    }
}

/// Three spheres on the ground that touch each other and a fourth that leans on them: nine
/// contacts.
fn four_spheres() -> Scene {
    let radii = [0.05, 0.06, 0.07, 0.1];
    let mut scene = Scene::new(
        vec![
            Body::sphere(0.5, radii[0], [0.0, 0.0, 0.05])
                .moving([0.21, 0.05, -0.11], [0.4, -1.1, 0.3]),
            Body::sphere(1.0, radii[1], [0.10954, 0.0, 0.06])
                .moving([-0.14, 0.08, 0.02], [-0.6, 0.2, 0.9]),
            Body::sphere(1.5, radii[2], [0.04202, 0.11077, 0.07])
                .moving([0.03, -0.17, -0.04], [0.1, 0.5, -0.7]),
            Body::sphere(2.0, radii[3], [0.02763, -0.00097, 0.19758])
                .moving([0.06, 0.12, -0.23], [0.8, -0.3, 0.2]),
        ],
        0.3,
    );
    for b in 0..4 {
        for a in 0..b {
            let between = scene.bodies[b].centre - scene.bodies[a].centre;
            let normal = between.normalize();
            let gap = between.norm() - radii[a] - radii[b];
            let point = scene.bodies[a].centre + normal * (radii[a] + 0.5 * gap);
            scene.touches.push(Touch { a: Some(a), b: Some(b), point, normal, gap });
        }
        let centre = scene.bodies[b].centre;
        let (gap, normal) = (centre.z - radii[b], Vector3::z());
        let point = Vector3::new(centre.x, centre.y, 0.0);
        if gap < 0.01 {
            scene.touches.push(Touch { a: None, b: Some(b), point, normal, gap });
        }
    }
    assert_eq!(scene.touches.len(), 9);
    scene
}

// ---- Rates and limits ------------------------------------------------------------------------

/// Two particles that are joined in all directions, by exact rows and by springs that are stiff, are one: their contact with the
/// ground acts on the sum of their masses.
#[test]
fn joined_particles_slide_as_one_of_their_whole_mass() {
    let (light, heavy, mu) = (0.5, 1.5, 0.3);
    let [a, b] = [[2.0, 0.4, -1.0], [-0.4, 0.8, -3.0]];
    let mean = std::array::from_fn(|k| (light * a[k] + heavy * b[k]) / (light + heavy));
    let one = accurate(&particle(light + heavy, mean, coulomb(mu), 0.0, (0.0, 0.0)), &goal(1e-10));
    // A spring of this gain [kg] lets the particles part by 1e-9 of an impulse of some kg·m/s.
    let spring = Law::Soft(Soft::new(1e9).unwrap());
    for joint in [Law::Bilateral(Bilateral), spring] {
        let mut builder = Problem::builder("joined particles");
        let mut A = Matrix6::identity() * light;
        A.fixed_view_mut::<3, 3>(3, 3).fill_with_identity();
        A.fixed_view_mut::<3, 3>(3, 3).scale_mut(heavy);
        let momentum = [a.map(|v| light * v), b.map(|v| heavy * v)].concat();
        let both = builder.dense(A.as_slice(), &momentum);
        let port = builder.port(both, Map::Whole);
        for k in 0..3 {
            let mut apart = [0.0; 6];
            (apart[k], apart[k + 3]) = (1.0, -1.0);
            builder.constraint(joint, &[0.0], &[0.0], &[(port, &apart)]);
        }
        let mut axes = [0.0; 18];
        (axes[2], axes[6], axes[13]) = (1.0, 1.0, 1.0);
        builder.constraint(coulomb(mu), &rows(0.0, 0.0), &rows(0.0, 0.0), &[(port, &axes)]);
        let problem = builder.build().unwrap();
        let solution = accurate(&problem, &goal(1e-10));
        for part in solution.velocity.chunks_exact(3) {
            assert!(largest_difference(part, &one.velocity) <= 1e-8, "{part:?}: {one:?}");
        }
    }
}

#[test]
fn one_sliding_contact_contracts_by_mu_squared_over_one_plus_mu_squared_per_outer_iteration() {
    // One contact with W = w I whose free velocity is (c_n, c_t). The convex answer with slip term p
    // has u_n + p = μ|u_t| and |u_t| = c_t − w μ λ_n with λ_n = (μ c_t − c_n − p)/(w (1 + μ²)), so
    // that the next slip term is dμ|u_t|/dp = μ²/(1 + μ²) of the error closer.
    for mu in [0.2_f64, 0.5, 1.0, 2.0] {
        let velocity = [1.0, 0.0, -GRAVITY * TIME_STEP];
        let problem = particle(0.5, velocity, coulomb(mu), 0.0, (0.0, 0.0));
        // The multiplier contracts by 1/(1 + c) at penalty c: next to the slip terms it is settled
        // after one iteration.
        let settings = ["paper=true", "paper-penalty=1e4"];
        let goal = Goal { trace: true, ..goal(1e-9) };
        // The published penalty grows without end, and with it what round-off does: the first dozen iterations are looked at.
        let (report, _, _) = solve("canal", &settings, &problem, &goal);
        let expected = mu * mu / (1.0 + mu * mu);
        let residuals: Vec<f64> = report.trace[1..].iter().map(|point| point.residual).collect();
        let large: Vec<f64> = residuals.into_iter().take(12).take_while(|r| *r >= 1e-8).collect();
        let ratios: Vec<f64> = large.windows(2).skip(1).map(|pair| pair[1] / pair[0]).collect();
        println!("μ = {mu}: {} ratios, {ratios:?} against {expected}", ratios.len());
        assert!(!ratios.is_empty());
        for ratio in ratios {
            assert!((ratio / expected - 1.0).abs() <= 0.01, "μ = {mu}: {ratio} and {expected}");
        }
        // The map of the slip terms is affine: a secant finds its fixed point in the third update, but for what the multiplier has
        // left, so that the iterations do not grow with the ratio.
        let settings = ["first-penalty=1e4", "max-penalty=1e4"];
        let (report, _, _) = solve("canal", &settings, &problem, &goal);
        assert_eq!(report.status, Status::Converged);
        assert!(report.trace.len() <= 6, "μ = {mu}: {} iterations", report.trace.len());
    }
}

/// Slopes of `log |v_ε − v_0|_A` over `log ε` between the given compliances R = ε w.
fn slopes(name: &str, epsilons: &[f64]) -> Vec<f64> {
    let raw = (find(name).unwrap().build)(&Variation::default()).unwrap().to_raw();
    let rigid = Problem::from_raw(&raw).unwrap().problem;
    let reference = accurate(&rigid, &convex(1e-10));
    let error = |epsilon: &f64| {
        let mut softer = raw.clone();
        for i in 0..rigid.constraints().len() {
            for k in rigid.row_range(i) {
                softer.r[k] += epsilon * rigid.delassus().scale(i);
            }
        }
        let softer = Problem::from_raw(&softer).unwrap().problem;
        let mut session = Session::new("sap").unwrap();
        // The given compliance and nothing else.
        for (key, value) in [("beta", "0"), ("sigma", "0"), ("refine", "false")] {
            session.set(key, value).unwrap();
        }
        let mut solution = reference.clone();
        let report = session.solve(&softer, &convex(1e-9), &mut solution).unwrap();
        assert_eq!(report.status, Status::Converged, "{name} at {epsilon}");
        let pairs = solution.velocity.iter().zip(&reference.velocity);
        energy_norm(&rigid, &pairs.map(|(a, b)| a - b).collect::<Vec<_>>())
    };
    let errors: Vec<f64> = epsilons.iter().map(error).collect();
    let decades = epsilons.windows(2).map(|w| (w[0] / w[1]).log10());
    let falls = errors.windows(2).map(|w| (w[0] / w[1]).log10());
    let slopes: Vec<f64> = falls.zip(decades).map(|(fall, decade)| fall / decade).collect();
    println!("{name}: errors {errors:?}, slopes {slopes:?}");
    slopes
}

// While every contact sticks, slides or is open as in the rigid motion, v is a smooth function of
// the compliance R = ε w, so that its error is ε (a + O(ε)). As long as the second term is less
// than a tenth of the first, a decade shows as 1 ± log10(1.1), and solves exact to 1e-9 of the
// momentum add less than a hundredth to errors above 2e-7.
const SLOPE_BOUND: f64 = 0.05;

#[test]
fn the_compliant_motion_approaches_the_rigid_one_linearly_in_the_compliance() {
    for entry in CATALOGUE {
        for slope in slopes(entry.name, &[1e-5, 1e-6]) {
            assert!((slope - 1.0).abs() <= SLOPE_BOUND, "{}: {slope}", entry.name);
        }
    }
}

#[test]
fn the_approach_is_linear_over_three_decades_where_no_contact_changes_its_mode() {
    // Left out: bolt-nut, box-wall and dishes, where contacts change between stick, slip and
    // separation within these decades.
    for name in ["arch", "box-slide", "chain", "fem-block", "quadrupeds", "sphere-pile", "stack"] {
        for slope in slopes(name, &[1e-3, 1e-4, 1e-5, 1e-6]) {
            assert!((slope - 1.0).abs() <= SLOPE_BOUND, "{name}: {slope}");
        }
    }
}

#[test]
fn a_near_rigid_particle_rests_at_the_depth_and_creeps_at_the_speed_of_the_closed_form() {
    let (mass, mu, near_rigid) = (0.7, 1.0, NearRigid::default());
    // Pulled along x with less than the limit of friction.
    let pull = 0.999 * mu * mass * GRAVITY;
    let depths = [1.4347e-5, 1.8913e-5, 2.8693e-5];
    let times = [0.0, TIME_STEP / std::f64::consts::PI, TIME_STEP];
    for (dissipation_time, depth) in times.into_iter().zip(depths) {
        let (mut gap, mut velocity) = (0.0, [0.0; 3]);
        // Near rest the state shrinks about eightfold per step; fifty steps leave round-off.
        for _ in 0..50 {
            let free = [
                velocity[0] + pull / mass * TIME_STEP,
                velocity[1],
                velocity[2] - GRAVITY * TIME_STEP,
            ];
            let rigid = particle(mass, free, coulomb(mu), 0.0, (0.0, 0.0));
            let w = rigid.delassus().frobenius_scale(0);
            assert!((w * mass * 3.0_f64.sqrt() - 1.0).abs() <= 1e-14);
            let compliance =
                Compliance { stiffness: 1e12, dissipation_time, gap, time_step: TIME_STEP };
            let (normal, tangential, bias) = compliance.rows(near_rigid, w).unwrap();
            let problem = particle(mass, free, coulomb(mu), bias, (normal, tangential));
            let (report, solution, _) = solve("sap", &["refine=false"], &problem, &goal(1e-10));
            assert_eq!(report.status, Status::Converged);
            velocity.copy_from_slice(&solution.velocity);
            gap += TIME_STEP * velocity[2];
        }
        let w = 1.0 / (3.0_f64.sqrt() * mass);
        // At rest γ_n = m g δt = −φ/((δt + τ_d) R_n), with R_n = β² w/(4π²).
        let compliance = near_rigid.beta.powi(2) * w / (4.0 * std::f64::consts::PI.powi(2));
        let rest = -(TIME_STEP + dissipation_time) * compliance * mass * GRAVITY * TIME_STEP;
        // Sticking, c_t + R_t γ_t = 0 with R_t = σ w and γ_t = −F δt.
        let creep = near_rigid.sigma * w * pull * TIME_STEP;
        println!("τ_d = {dissipation_time:.4}: gap {gap:.5e} ({rest:.5e}), creep {velocity:?}");
        // A violation of 1e-10 g δt in velocity, over at most 2 δt: 2e-13 m of 1.4e-5 m.
        assert!((gap / rest - 1.0).abs() <= 1e-7, "{gap} and {rest}");
        // Four to five digits of the hand calculation.
        assert!((rest + depth).abs() <= 1e-9, "{rest} and {depth}");
        // The same violation, of 5.7e-5 m/s.
        assert!((velocity[0] / creep - 1.0).abs() <= 1e-6, "{velocity:?} and {creep}");
        assert!((creep - 5.658e-5).abs() <= 1e-8, "{creep}");
        assert!(velocity[2].abs() <= 1e-10 * GRAVITY * TIME_STEP, "{velocity:?}");
    }
}

// ---- Closed forms ----------------------------------------------------------------------------

#[test]
fn a_sphere_in_a_corner_pushes_back_with_the_closed_form_or_has_no_solution() {
    // By symmetry v = (a, a, a), |u_t| = √2 a on every plane, and the friction of two planes
    // opposes the normal of the third: m a = λ_n (1 − √2 μ) with a = e₀. Without gravity there
    // is an answer if and only if μ < 1/√2.
    let (mass, e0) = (1.0, 0.01);
    let corner = |mu: f64| {
        let radius = 0.05;
        let mut scene = Scene::new(vec![Body::sphere(mass, radius, [0.0; 3])], mu);
        scene.gravity = Vector3::zeros();
        for normal in [Vector3::x(), Vector3::y(), Vector3::z()] {
            let (a, b, point) = (None, Some(0), -radius * normal);
            scene.touches.push(Touch { a, b, point, normal, gap: -e0 * TIME_STEP });
        }
        scene.build()
    };
    let tolerance = 1e-10;
    for (mu, digits) in [(0.5, 0.034142), (0.6, 0.066019), (0.69, 0.413349)] {
        let solution = accurate(&corner(mu), &goal(tolerance));
        let relief = 1.0 - std::f64::consts::SQRT_2 * mu;
        let expected = mass * e0 / relief;
        // A violation of the laws by τ e₀ shifts a by as much, divided by 1 − √2 μ once for the
        // slip term and once for the impulse; the three contacts may add up.
        let bound = 3.0 * tolerance * e0 / (relief * relief);
        for rows in solution.impulse.chunks_exact(3) {
            let found = ContactVec::load(rows);
            assert!((found.n - expected).abs() <= bound, "μ = {mu}: {found:?}");
            assert!((found.t.norm() - mu * expected).abs() <= bound, "μ = {mu}: {found:?}");
        }
        assert!((expected - digits).abs() <= 5e-7, "μ = {mu}: {expected}");
        println!("μ = {mu}: {} against {expected}", solution.impulse[0]);
    }
    for mu in [0.71, 1.0] {
        let (report, _, notes) = solve("alm", &[], &corner(mu), &goal(tolerance));
        assert_eq!(report.status, Status::Failed, "μ = {mu}");
        assert!(notes.iter().any(|note| note.contains("no solution")), "μ = {mu}: {notes:?}");
    }
}

#[test]
fn a_sliding_box_comes_to_rest_after_the_sum_of_its_speeds() {
    let (mu, size) = (0.3, [0.2; 3]);
    let cube = Body::cuboid(0.5, size, [0.0, 0.0, 0.1]).moving([1.0, 0.0, 0.0], [0.0; 3]);
    let mut scene = Scene::new(vec![cube], mu).on_corners(0, size);
    let (mut way, mut worst) = (0.0, 0.0);
    // v_k = v₀ − k μ g δt for as long as that is positive: 33 steps, then rest.
    for k in 1..=40 {
        let solution = accurate(&scene.build(), &goal(1e-12));
        scene.advance(&solution);
        let speed = (1.0 - f64::from(k) * mu * GRAVITY * TIME_STEP).max(0.0);
        let expected = [speed, 0.0, 0.0, 0.0, 0.0, 0.0];
        worst = f64::max(worst, largest_difference(&solution.velocity, &expected));
        way += TIME_STEP * solution.velocity[0];
    }
    println!("largest error of a velocity {worst:.1e}, way {way}");
    // Forty solves to 1e-12 of at most 1 m/s, whose rotations are ten times their corners.
    assert!(worst <= 40.0 * 1e-11, "{worst}");
    // δt Σ v_k = δt (33 v₀ − ½ 33·34 μ g δt), to seven digits.
    assert!((way - 0.1648977).abs() <= 1e-10, "{way}");
}

#[test]
fn a_box_on_an_incline_sticks_below_the_friction_angle_and_slides_above() {
    let (mu, size) = (0.5, [0.2; 3]);
    // tan 26.5° < 0.5 < tan 26.6°.
    for (degrees, after_half_a_second) in [(26.5_f64, 0.0), (26.6, 0.00334506), (30.0, 0.3285727)] {
        let (sin, cos) = degrees.to_radians().sin_cos();
        let mut scene = Scene::new(vec![Body::cuboid(0.5, size, [0.0, 0.0, 0.1])], mu);
        scene = scene.on_corners(0, size);
        scene.gravity = Vector3::new(GRAVITY * sin, 0.0, -GRAVITY * cos);
        let mut way = 0.0;
        for k in 1..=50 {
            let solution = accurate(&scene.build(), &goal(1e-12));
            scene.advance(&solution);
            way += TIME_STEP * solution.velocity[0];
            let acceleration = (GRAVITY * (sin - mu * cos)).max(0.0);
            let speed = acceleration * f64::from(k) * TIME_STEP;
            let expected = [speed, 0.0, 0.0, 0.0, 0.0, 0.0];
            let error = largest_difference(&solution.velocity, &expected);
            // k solves to 1e-12 of at most 1 m/s, whose rotations are ten times their corners.
            assert!(error <= f64::from(k) * 1e-11, "{degrees}°, step {k}: {error}");
        }
        let found = scene.bodies[0].velocity.x;
        println!("{degrees}°: {found} m/s after {way} m");
        assert!((found - after_half_a_second).abs() <= 1e-7, "{degrees}°: {found}");
        if degrees == 30.0 {
            // ½ a δt² k (k + 1).
            assert!((way - 0.08378604).abs() <= 1e-8, "{way}");
        }
    }
}

#[test]
fn a_tall_box_tips_where_the_vertical_through_its_centre_leaves_its_base() {
    let (mass, size) = (2.0, [0.1, 0.1, 0.4]);
    let (half_base, half_height) = (0.05, 0.2);
    // The threshold is tan α = 0.05/0.2, that is 14.04°.
    for degrees in [14.0_f64, 14.2] {
        let (sin, cos) = degrees.to_radians().sin_cos();
        let mut scene = Scene::new(vec![Body::cuboid(mass, size, [0.0, 0.0, 0.2])], 0.8);
        scene = scene.on_corners(0, size);
        scene.gravity = Vector3::new(GRAVITY * sin, 0.0, -GRAVITY * cos);
        let solution = accurate(&scene.build(), &goal(1e-12));
        // The lower edge sticks and the box turns about it under the moment of its weight:
        // (I + m (h² + l²)) ω = m g δt (h sin α − l cos α).
        let inertia = mass * (0.1 * 0.1 + 0.4 * 0.4) / 12.0;
        let about_edge = inertia + mass * (half_base * half_base + half_height * half_height);
        let moment = mass * GRAVITY * (half_height * sin - half_base * cos);
        let spin = (TIME_STEP * moment / about_edge).max(0.0);
        let expected = [half_height * spin, 0.0, half_base * spin, 0.0, spin, 0.0];
        let error = largest_difference(&solution.velocity, &expected);
        println!("{degrees}°: spin {} against {spin}", solution.velocity[4]);
        assert_eq!(spin > 0.0, degrees > 14.1);
        // Violations of 1e-12 g δt over levers of a few centimetres.
        assert!(error <= 1e-10 * GRAVITY * TIME_STEP, "{degrees}°: {error}");
    }
}

#[test]
fn a_rod_slides_or_jams_as_the_paradox_of_painleve_allows() {
    // A rod of length and mass one at 55°, whose tip slides at −1 m/s into the ground.
    let (sin, cos) = 55_f64.to_radians().sin_cos();
    let (W_nn, W_nt, W_tt) = (1.0 + 3.0 * cos * cos, -3.0 * sin * cos, 1.0 + 3.0 * sin * sin);
    let c = (-GRAVITY * TIME_STEP, -1.0);
    let rod = |mu: f64| {
        let mut builder = Problem::builder("rod");
        let A = Matrix3::from_diagonal(&Vector3::new(1.0, 1.0, 1.0 / 12.0));
        // Velocities (x, z, spin) of the centre; the tip is at −½ (cos, sin) from it.
        let body = builder.dense(A.as_slice(), &[c.1, c.0, 0.0]);
        let port = builder.port(body, Map::Whole);
        let J = [0.0, 1.0, -0.5 * cos, 1.0, 0.0, 0.5 * sin, 0.0, 0.0, 0.0];
        builder.constraint(coulomb(mu), &[0.0; 3], &[0.0; 3], &[(port, &J)]);
        builder.build().unwrap()
    };
    let critical = (1.0 + 3.0 * cos * cos) / (3.0 * sin * cos);
    assert!((critical - 1.40966).abs() <= 5e-6);
    for mu in [1.0, 1.4, 1.45, 2.0] {
        let problem = rod(mu);
        let solution = accurate(&problem, &goal(1e-12));
        // Sliding on: λ_t = μ λ_n and u_n = 0. Jammed: λ = −W⁻¹ c.
        let determinant = W_nn * W_tt - W_nt * W_nt;
        let (n, t) = if mu == 1.0 {
            let n = -c.0 / (W_nn + mu * W_nt);
            assert!((n - 0.16989047).abs() <= 5e-9);
            assert!((c.1 + (W_nt + mu * W_tt) * n + 0.72758211).abs() <= 5e-9);
            (n, mu * n)
        } else {
            let n = -(W_tt * c.0 - W_nt * c.1) / determinant;
            let t = -(W_nn * c.1 - W_nt * c.0) / determinant;
            assert!((n - 0.426279).abs() <= 5e-7 && (t - 0.531311).abs() <= 5e-7);
            (n, t)
        };
        let error = largest_difference(&solution.impulse, &[n, t, 0.0]);
        println!("μ = {mu}: off the closed form by {error:.1e}");
        // Violations of 1e-12 m/s, times the inverse of W_nn + μ W_nt > 0.5 or of W.
        assert!(error <= 1e-11, "μ = {mu}: {:?} against {n}, {t}", solution.impulse);
    }
}

#[test]
fn anisotropic_friction_dissipates_as_much_as_its_ellipse_allows() {
    let (mass, mu) = (0.5, [0.2, 0.4]);
    let law = Law::Elliptic(Elliptic::new(mu[0], mu[1]).unwrap());
    for speed in [[1.0, 1.0], [0.3, -0.9], [-0.7, 0.2], [0.5, 0.0]] {
        let free = [speed[0], speed[1], -GRAVITY * TIME_STEP];
        let problem = particle(mass, free, law, 0.0, (0.0, 0.0));
        for (model, tolerance) in [(FrictionModel::Coulomb, 1e-12), (FrictionModel::Convex, 1e-12)]
        {
            let goal = Goal { friction_model: Some(model), ..goal(tolerance) };
            let solution = accurate(&problem, &goal);
            let (u, l) = (&solution.velocity, ContactVec::load(&solution.impulse));
            // The minimum of λ_t·u over Σ (λ_i/μ_i)² ≤ λ_n² is at λ_i = −λ_n μ_i² u_i/|μ∘u|.
            let reach = f64::hypot(mu[0] * u[0], mu[1] * u[1]);
            let expected = [0, 1].map(|i| -l.n * mu[i] * mu[i] * u[i] / reach);
            let error = largest_difference(l.t.as_slice(), &expected);
            // A violation of 1e-12 m/s moves an impulse by m of that, and its direction by that
            // over the speed, which stays above 0.2 m/s.
            assert!(error <= 1e-11, "{model:?} {speed:?}: {error}");
            let lift = if model == FrictionModel::Convex { reach } else { 0.0 };
            assert!((u[2] - lift).abs() <= 1e-11, "{model:?} {speed:?}: {u:?}");
            // No other impulse of the ellipse takes more.
            let taken = -(l.t.x * u[0] + l.t.y * u[1]);
            for k in 0..360 {
                let (sin, cos) = f64::from(k).to_radians().sin_cos();
                let other = -l.n * (mu[0] * cos * u[0] + mu[1] * sin * u[1]);
                assert!(other <= taken + 1e-11, "{model:?} {speed:?}: {other} > {taken}");
            }
        }
    }
}

#[test]
fn an_anisotropic_slide_bends_along_the_power_law_of_its_coefficients() {
    // v̇_i = −g μ_i² v_i/|μ∘v| gives v_2/v_20 = (v_1/v_10)^((μ_2/μ_1)²).
    let (mass, mu, dt) = (0.5, [0.2_f64, 0.4], 1e-3);
    let law = Law::Elliptic(Elliptic::new(mu[0], mu[1]).unwrap());
    let power = (mu[1] / mu[0]).powi(2);
    let (mut v, mut bound, mut steps) = ([1.0, 1.0], 0.0, 0);
    while v[0] > 0.149 {
        // Midpoint rule: A = 2 M, b = 2 M v + δt f, v⁺ = 2 v̂ − v.
        let free = [v[0], v[1], -0.5 * GRAVITY * dt];
        let problem = particle(2.0 * mass, free, law, 0.0, (0.0, 0.0));
        let solution = accurate(&problem, &goal(1e-12));
        let middle = &solution.velocity;
        // A step multiplies v_i by (1 − x_i/2)/(1 + x_i/2), x_i = δt g μ_i²/|μ∘v̂|, and
        // x ≤ −ln of that ≤ x + x³/11 for x < 0.5: it misses the power law by the larger x³/11.
        let reach = f64::hypot(mu[0] * middle[0], mu[1] * middle[1]);
        let x = dt * GRAVITY * mu[1] * mu[1] / reach;
        assert!(x < 0.5);
        bound += x.powi(3) / 11.0;
        v = [2.0 * middle[0] - v[0], 2.0 * middle[1] - v[1]];
        steps += 1;
    }
    let missed = v[1].ln() - power * v[0].ln();
    println!(
        "after {steps} steps {v:?}, off by {missed:.2e} in the logarithm, at most {bound:.2e}"
    );
    // Solves to 1e-12 m/s add at most `steps` of that, relative to the smallest speed.
    let solved = f64::from(steps) * 1e-12 / v[1];
    assert!(missed.abs() <= bound + solved, "{missed} > {bound}");
    // Six decimals of the hand calculation.
    assert!(largest_difference(&v, &[0.148107, 0.000481]) <= 5e-7, "{v:?}");
}

// ---- What must not matter --------------------------------------------------------------------

impl Scene {
    /// The same scene with units of mass and length so many times smaller.
    fn in_units(&self, mass: f64, length: f64) -> Self {
        let mut scene = self.clone();
        for body in &mut scene.bodies {
            body.mass *= mass;
            body.inertia *= mass * length * length;
            body.centre *= length;
            body.velocity *= length;
        }
        for touch in &mut scene.touches {
            touch.point *= length;
            touch.gap *= length;
        }
        scene.gravity *= length;
        scene
    }

    fn rotated(&self, rotation: &Rotation3<f64>) -> Self {
        let mut scene = self.clone();
        for body in &mut scene.bodies {
            body.inertia = rotation.matrix() * body.inertia * rotation.matrix().transpose();
            for vector in [&mut body.centre, &mut body.velocity, &mut body.spin] {
                *vector = rotation * *vector;
            }
        }
        for touch in &mut scene.touches {
            touch.point = rotation * touch.point;
            touch.normal = rotation * touch.normal;
        }
        scene.gravity = rotation * scene.gravity;
        scene
    }

    /// B for A in every contact: the normal from A into B turns with them.
    fn swapped(&self) -> Self {
        let mut scene = self.clone();
        for touch in &mut scene.touches {
            std::mem::swap(&mut touch.a, &mut touch.b);
            touch.normal = -touch.normal;
        }
        scene
    }

    /// Body k becomes body `order[k]`; contacts are shuffled.
    fn permuted(&self, order: &[usize], rng: &mut SplitMix64) -> Self {
        let mut scene = self.clone();
        for (k, body) in order.iter().zip(&self.bodies) {
            scene.bodies[*k] = body.clone();
        }
        for touch in &mut scene.touches {
            touch.a = touch.a.map(|k| order[k]);
            touch.b = touch.b.map(|k| order[k]);
        }
        for k in (1..scene.touches.len()).rev() {
            scene.touches.swap(k, rng.below(k + 1));
        }
        scene
    }
}

/// Velocities in the old unit of length.
fn in_old_units(v: &[f64], length: f64) -> Vec<f64> {
    v.iter().enumerate().map(|(k, v)| if k % 6 < 3 { v / length } else { *v }).collect()
}

#[test]
fn no_solver_knows_the_units_of_mass_and_length() {
    // Units that differ by powers of two change no mantissa, so that every number of a solve keeps
    // its bits. Only where pivots are chosen among numbers of different units can the order of
    // sums differ; a few hundred iterations then gather some hundred units of round-off.
    let base = four_spheres();
    let problem = base.build();
    let goal = Goal { max_iterations: Some(300), ..goal(1e-8) };
    for entry in SOLVERS {
        let (report, reference, _) = solve(entry.name, &[], &problem, &goal);
        for (mass, length) in [(1024.0, 1024.0), (1.0 / 1024.0, 4.0), (16.0, 1.0 / 256.0)] {
            let (other, found, _) =
                solve(entry.name, &[], &base.in_units(mass, length).build(), &goal);
            let name = entry.name;
            assert_eq!(
                (report.status, report.iterations),
                (other.status, other.iterations),
                "{name}"
            );
            let found = in_old_units(&found.velocity, length);
            let difference = largest_difference(&reference.velocity, &found);
            assert!(difference <= 1e-12, "{name}: {difference}");
        }
    }
}

#[test]
fn residuals_and_iterations_are_the_same_in_grams_and_millimetres() {
    let base = four_spheres();
    let (mass, length) = (1e3, 1e3);
    let (si, small) = (base.build(), base.in_units(mass, length).build());
    // Any velocity and impulse will do to compare residuals.
    let mut rng = SplitMix64::new(1);
    let v: Vec<f64> = (0..si.dofs()).map(|_| rng.normal()).collect();
    let lambda: Vec<f64> = (0..si.rows()).map(|_| rng.normal()).collect();
    let scaled = |v: &f64, k: usize| if k % 6 < 3 { v * length } else { *v };
    let v_small: Vec<f64> = v.iter().enumerate().map(|(k, v)| scaled(v, k)).collect();
    let lambda_small: Vec<f64> = lambda.iter().map(|l| l * mass * length).collect();
    let mut residual_measure = ResidualMeasure::default();
    residual_measure.prepare(&si);
    let a = residual_measure.measure(&si, &v, &lambda);
    residual_measure.prepare(&small);
    let b = residual_measure.measure(&small, &v_small, &lambda_small);
    // Sums of tens of products.
    let same = |x: f64, y: f64| assert!((x - y).abs() <= 1e-13 * x.abs(), "{x} and {y}");
    same(a.momentum, b.momentum);
    same(a.coulomb * length, b.coulomb);
    same(a.convex * length, b.convex);
    same(a.reference_velocity * length, b.reference_velocity);

    let (tolerance, name) = (1e-10, "alm");
    let (first, x, _) = solve(name, &[], &si, &goal(tolerance));
    let (second, y, _) = solve(name, &[], &small, &goal(tolerance));
    assert_eq!((first.status, second.status), (Status::Converged, Status::Converged));
    let difference = largest_difference(&x.velocity, &in_old_units(&y.velocity, length));
    println!("{} and {} iterations, off by {difference:.1e}", first.iterations, second.iterations);
    // A test that round-off decides can cost or save one step.
    assert!(first.iterations.abs_diff(second.iterations) <= 1);
    // Two answers within 1e-10 of the reference velocity, whose spins are twenty times that.
    assert!(difference <= 1e-8, "{difference}");
}

#[test]
fn the_motion_depends_on_neither_order_nor_sides_nor_axes() {
    let base = four_spheres();
    let tolerance = 1e-12;
    let reference = accurate(&base.build(), &goal(tolerance)).velocity;
    // Two answers within 1e-12 of the reference velocity, whose spins are twenty times that; the
    // rest is for the condition of nine contacts.
    let bound = 1e-9;
    let check = |what: &str, found: &[f64]| {
        let difference = largest_difference(&reference, found);
        println!("{what}: {difference:.1e}");
        assert!(difference <= bound, "{what}: {difference}");
    };
    check("sides", &accurate(&base.swapped().build(), &goal(tolerance)).velocity);

    let mut rng = SplitMix64::new(5);
    for order in [[2, 0, 3, 1], [3, 2, 1, 0]] {
        let found = accurate(&base.permuted(&order, &mut rng).build(), &goal(tolerance)).velocity;
        let back: Vec<f64> = order.iter().flat_map(|k| found[6 * k..6 * k + 6].to_vec()).collect();
        check("order", &back);
    }
    for angles in [(0.3, -1.1, 2.0), (0.0, std::f64::consts::FRAC_PI_2, 0.0), (-2.0, 0.4, 0.1)] {
        let rotation = Rotation3::from_euler_angles(angles.0, angles.1, angles.2);
        let found = accurate(&base.rotated(&rotation).build(), &goal(tolerance)).velocity;
        let back: Vec<f64> = found
            .chunks_exact(3)
            .flat_map(|v| {
                let v = rotation.inverse() * Vector3::from_column_slice(v);
                [v.x, v.y, v.z]
            })
            .collect();
        check("axes", &back);
    }
}

#[test]
fn the_impulse_on_velocities_that_a_session_keeps_is_that_of_its_solution() {
    for entry in CATALOGUE {
        let problem = (entry.build)(&Variation::default()).unwrap();
        let mut session = Session::new("auto").unwrap();
        let mut solution = Solution::cold(&problem);
        let _ = session.solve(&problem, &goal(1e-6), &mut solution).unwrap();
        let mut expected = vec![0.0; problem.dofs()];
        problem.jacobian().mul_transposed_add(&solution.impulse, &mut expected);
        // The same sums in another order of instructions.
        let size = expected.iter().fold(0.0, |size: f64, p| size.max(p.abs()));
        let difference = largest_difference(session.constraint_impulse(), &expected);
        assert!(size > 0.0 && difference <= 1e-12 * size, "{}: {difference}", entry.name);
    }
}
