//! Invariances of the step on random worlds: pose and orientation of the whole world, order of bodies,
//! geoms and constraints, which geom of a contact is A, and units of mass, length and time.
//!
//! Worlds of a few spheres, capsules and boxes, an arm of two hinges and two pendulums on a floor with
//! friction. Each invariance compares the states of two simulations after some steps.
//!
//! Exact (Coulomb) friction is tested without boxes: a box that slides and spins on four corners may
//! share its weight among them in more than one way, and each is another motion. Convex friction has
//! one motion in every world.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]
#![allow(non_snake_case)] // frames keep the letters of NOTATION.md

use nalgebra::{Isometry3, Translation3, UnitQuaternion, Vector3};
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::RngSeed;
use stiction_geom::Shape;
use stiction_mech::{BodyId, BodySpec, JointId, JointKind, JointSpec, MassProperties};
use stiction_sim::constraint::{Connect, Equality};
use stiction_sim::{Geom, Settings, Simulation, Stabilisation, Surface, WorldBuilder};
use stiction_solve::FrictionModel;

const STEPS: usize = 20;
/// Time step [s].
const H: f64 = 0.005;
/// Tolerance of the solver, relative to the reference velocity, which is of order 1 m/s here.
const SOLVED: f64 = 1e-11;
/// Largest difference of velocities [m/s, rad/s]: the tolerance, times the condition of contacts at a
/// few centimetres from a centre of mass in a chain of bodies (1e3), times the growth of a difference
/// in the few impacts of a run (1e2), times the number of steps.
const VELOCITY: f64 = SOLVED * 1e3 * 1e2 * STEPS as f64;
/// Largest difference of positions [m, rad]: velocities act for the time of the run.
const POSITION: f64 = VELOCITY * STEPS as f64 * H;

#[derive(Clone, Copy, Debug, PartialEq)]
enum Kind {
    Sphere,
    Capsule,
    Box,
}

/// A free body: its kind, size [m], mass [kg], orientation (scaled axis), gap above the floor [m],
/// velocity [m/s] and angular velocity [rad/s].
#[derive(Clone, Debug)]
struct Thing {
    kind: Kind,
    size: f64,
    mass: f64,
    turn: Vector3<f64>,
    gap: f64,
    velocity: Vector3<f64>,
    spin: Vector3<f64>,
}

/// A random world: free bodies side by side, angles and rates of the arm, friction.
#[derive(Clone, Debug)]
struct Recipe {
    things: Vec<Thing>,
    arm: [f64; 4],
    friction: f64,
}

fn vector(most: f64) -> impl Strategy<Value = Vector3<f64>> {
    (-most..most, -most..most, -most..most).prop_map(|(x, y, z)| Vector3::new(x, y, z))
}

fn thing(kinds: &'static [Kind]) -> impl Strategy<Value = Thing> {
    let shape = (prop::sample::select(kinds), 0.03..0.1, 0.2..3.0);
    let motion = (vector(2.0), 0.0..0.004, vector(1.0), vector(3.0));
    (shape, motion).prop_map(|((kind, size, mass), (turn, gap, velocity, spin))| Thing {
        kind,
        size,
        mass,
        turn,
        gap,
        velocity: velocity - 0.5 * Vector3::z(),
        spin,
    })
}

fn recipe(kinds: &'static [Kind]) -> impl Strategy<Value = Recipe> {
    let arm = (0.2..0.6, -1.5..-0.5, -1.0..1.0, -1.0..1.0).prop_map(|(a, b, c, d)| [a, b, c, d]);
    (prop::collection::vec(thing(kinds), 1..4), arm, 0.1..1.0)
        .prop_map(|(things, arm, friction)| Recipe { things, arm, friction })
}

const ROUND: &[Kind] = &[Kind::Sphere, Kind::Capsule];
const ALL: &[Kind] = &[Kind::Sphere, Kind::Capsule, Kind::Box];

/// How a world differs from the one of its recipe.
#[derive(Clone, Copy)]
struct Change {
    /// Pose of the recipe's world in the simulated one.
    X: Isometry3<f64>,
    /// Whether bodies, geoms and constraints are declared in the opposite order. Geoms of a contact are
    /// ordered by their declaration, so that this swaps A and B.
    bodies_reversed: bool,
    geoms_reversed: bool,
    constraints_reversed: bool,
    /// Units of the recipe's mass, length and time in those of the simulation.
    units: [f64; 3],
}

impl Default for Change {
    fn default() -> Self {
        let X = Isometry3::identity();
        let [bodies_reversed, geoms_reversed, constraints_reversed] = [false; 3];
        Self { X, bodies_reversed, geoms_reversed, constraints_reversed, units: [1.0; 3] }
    }
}

/// A simulation, with the joints of the free bodies and of the arm.
struct Run {
    simulation: Simulation,
    free: Vec<JointId>,
    hinges: [JointId; 2],
}

/// Coordinates of the recipe's world: poses and twists of free bodies, angles and rates of the arm.
struct Motion {
    poses: Vec<Isometry3<f64>>,
    velocities: Vec<[Vector3<f64>; 2]>,
    arm: [f64; 4],
}

fn solid(shape: &Shape, mass: f64) -> MassProperties {
    let (unit, com, inertia) = shape.mass_properties(1.0);
    MassProperties::new(mass, com, inertia * (mass / unit)).unwrap()
}

/// Length of the pendulums and of the links of the arm [m].
const LINK: f64 = 0.15;

/// Shape, mass [kg], pose, velocity [m/s] and angular velocity in the body's frame [rad/s] of a free body.
type FreeBody = (Shape, f64, Isometry3<f64>, [Vector3<f64>; 2]);

impl Recipe {
    /// The free bodies; the last two are the pendulums.
    fn bodies(&self, [M, L, T]: [f64; 3]) -> Vec<FreeBody> {
        let mut bodies = Vec::new();
        for (index, thing) in self.things.iter().enumerate() {
            let s = thing.size * L;
            let turn = UnitQuaternion::from_scaled_axis(thing.turn);
            let (shape, reach) = match thing.kind {
                Kind::Sphere => (Shape::sphere(s).unwrap(), s),
                Kind::Capsule => {
                    let tilt = (turn * Vector3::z()).z.abs();
                    (Shape::capsule(0.5 * s, s).unwrap(), 0.5 * s + s * tilt)
                }
                Kind::Box => {
                    let half = Vector3::new(s, 0.8 * s, 0.6 * s);
                    let R = turn.to_rotation_matrix();
                    let down = (0..3).map(|k| R[(2, k)].abs() * half[k]).sum::<f64>();
                    (Shape::cuboid(half).unwrap(), down)
                }
            };
            // Neighbours are close enough to touch when they move.
            let p = Vector3::new(0.21 * L * index as f64, 0.0, reach + thing.gap * L);
            let pose = Isometry3::from_parts(p.into(), turn);
            let twist = [thing.velocity * (L / T), thing.spin / T];
            bodies.push((shape, thing.mass * M, pose, twist));
        }
        for y in [-0.6, 0.6] {
            let pose = Isometry3::translation(LINK * L, y * L, 0.5 * L);
            bodies.push((Shape::sphere(0.05 * L).unwrap(), M, pose, [Vector3::zeros(); 2]));
        }
        bodies
    }

    fn start(&self, model: FrictionModel, change: &Change) -> Run {
        let Change { X, units: [M, L, T], .. } = *change;
        let surface = Surface::with_friction(self.friction);
        let mut builder = WorldBuilder::new();
        let gravity = X.rotation * Vector3::new(0.0, 0.0, -9.81 * L / (T * T));
        builder.mechanism.gravity(gravity);
        let mut geoms = vec![Geom::new(BodyId::WORLD, Shape::Plane).at(X).surface(surface)];
        let bodies = self.bodies(change.units);
        let count = bodies.len();
        // Index `count` stands for the arm.
        let mut order: Vec<usize> = (0..=count).collect();
        if change.bodies_reversed {
            order.reverse();
        }
        let (mut free, mut ids) = (vec![JointId(0); count], vec![BodyId::WORLD; count]);
        let mut hinges = [JointId(0); 2];
        for index in order {
            if index < count {
                let (shape, mass, pose, _) = &bodies[index];
                let mass = Some(solid(shape, *mass));
                let spec = BodySpec { pose: X * pose, mass, ..BodySpec::default() };
                ids[index] = builder.mechanism.body(spec);
                let joint = JointSpec::new(JointKind::Free);
                free[index] = builder.mechanism.joint(ids[index], joint);
                geoms.push(Geom::new(ids[index], shape.clone()).surface(surface));
            } else {
                // Two links from a shoulder above the floor; the tip of the second touches it.
                let shape = Shape::capsule(0.02 * L, 0.4 * LINK * L).unwrap();
                let middle = Isometry3::translation(0.0, 0.0, -0.5 * LINK * L);
                let mut parent = BodyId::WORLD;
                let mut pose = X * Isometry3::translation(-0.4 * L, 0.0, 0.28 * L);
                for hinge in &mut hinges {
                    let com = middle.translation.vector;
                    let inertia = solid(&shape, M).inertia();
                    let mass = Some(MassProperties::new(M, com, inertia).unwrap());
                    let spec = BodySpec { parent, pose, mass, ..BodySpec::default() };
                    parent = builder.mechanism.body(spec);
                    let axis = Vector3::y();
                    *hinge =
                        builder.mechanism.joint(parent, JointSpec::new(JointKind::Hinge { axis }));
                    pose = Isometry3::translation(0.0, 0.0, -LINK * L);
                }
                geoms.push(Geom::new(parent, shape).at(middle).surface(surface));
            }
        }
        if change.geoms_reversed {
            geoms.reverse();
        }
        geoms.into_iter().for_each(|geom| {
            builder.geom(geom);
        });
        let mut pendulums = [count - 2, count - 1];
        if change.constraints_reversed {
            pendulums.reverse();
        }
        for index in pendulums {
            let point_b = Vector3::new(-LINK * L, 0.0, 0.0);
            let pivot = X * bodies[index].2 * nalgebra::Point3::from(point_b);
            let connect = Connect {
                body_a: BodyId::WORLD,
                point_a: pivot.coords,
                body_b: ids[index],
                point_b,
            };
            builder.equality(format!("pivot-{index}"), Equality::Connect(connect));
        }
        let default = Stabilisation::default();
        let stabilisation = Stabilisation {
            slop: default.slop * L,
            max_speed: default.max_speed * L / T,
            closure: default.closure * L,
            ..default
        };
        let settings = Settings {
            time_step: H * T,
            solver: "alm".to_owned(),
            tolerance: SOLVED,
            friction_model: Some(model),
            sleep: None,
            stabilisation,
            ..Settings::default()
        };
        let mut simulation = Simulation::new(builder.build().unwrap(), settings).unwrap();
        let world = simulation.world().clone();
        let joints = world.model().joints();
        let state = simulation.state_mut();
        for (joint, (.., [velocity, spin])) in free.iter().zip(&bodies) {
            let v = &mut state.v[joints[joint.0].dofs.clone()];
            v[..3].copy_from_slice((X.rotation * velocity).as_slice());
            v[3..].copy_from_slice(spin.as_slice());
        }
        for (k, hinge) in hinges.iter().enumerate() {
            state.q[joints[hinge.0].q.start] = self.arm[k];
            state.v[joints[hinge.0].dofs.start] = self.arm[2 + k] / T;
        }
        Run { simulation, free, hinges }
    }

    /// Runs the world and returns its motion in the pose, order and units of the recipe.
    fn run(&self, model: FrictionModel, change: &Change) -> Motion {
        let Run { mut simulation, free, hinges } = self.start(model, change);
        for _ in 0..STEPS {
            let _ = simulation.step().unwrap();
        }
        let [_, L, T] = change.units;
        let back = change.X.inverse();
        let (world, state) = (simulation.world().clone(), simulation.state());
        let joints = world.model().joints();
        let pose = |joint: &JointId| {
            let q = &state.q[joints[joint.0].q.clone()];
            let turn = nalgebra::Quaternion::new(q[3], q[4], q[5], q[6]);
            let at = Translation3::new(q[0], q[1], q[2]);
            let mut pose = back * Isometry3::from_parts(at, UnitQuaternion::new_normalize(turn));
            pose.translation.vector /= L;
            pose
        };
        let twist = |joint: &JointId| {
            let v = &state.v[joints[joint.0].dofs.clone()];
            let linear = back.rotation * Vector3::from_column_slice(&v[..3]);
            [linear * (T / L), Vector3::from_column_slice(&v[3..]) * T]
        };
        let angle = |k: usize| state.q[joints[hinges[k].0].q.start];
        let rate = |k: usize| state.v[joints[hinges[k].0].dofs.start] * T;
        Motion {
            poses: free.iter().map(pose).collect(),
            velocities: free.iter().map(twist).collect(),
            arm: [angle(0), angle(1), rate(0), rate(1)],
        }
    }
}

/// Compares a changed world with the one of the recipe.
fn check(recipe: &Recipe, model: FrictionModel, change: &Change) -> Result<(), TestCaseError> {
    let (one, other) = (recipe.run(model, &Change::default()), recipe.run(model, change));
    for (index, (a, b)) in one.poses.iter().zip(&other.poses).enumerate() {
        let moved = (a.translation.vector - b.translation.vector).norm();
        let turned = a.rotation.angle_to(&b.rotation);
        prop_assert!(moved <= POSITION, "body {index} is {moved:e} m off");
        // The angle of two nearly equal quaternions is exact to the root of the round-off.
        prop_assert!(turned <= POSITION.max(1e-7), "body {index} is turned by {turned:e} rad");
    }
    for (index, (a, b)) in one.velocities.iter().zip(&other.velocities).enumerate() {
        let error = (a[0] - b[0]).norm().max((a[1] - b[1]).norm());
        prop_assert!(error <= VELOCITY, "velocity of body {index} is {error:e} off");
    }
    for (k, (a, b)) in one.arm.iter().zip(&other.arm).enumerate() {
        prop_assert!((a - b).abs() <= VELOCITY, "arm: coordinate {k} is {a}, expected {b}");
    }
    Ok(())
}

/// A friction model with a recipe whose motion is unique in it.
fn unique() -> impl Strategy<Value = (FrictionModel, Recipe)> {
    prop_oneof![
        recipe(ROUND).prop_map(|recipe| (FrictionModel::Coulomb, recipe)),
        recipe(ALL).prop_map(|recipe| (FrictionModel::Convex, recipe)),
    ]
}

fn config() -> ProptestConfig {
    ProptestConfig {
        cases: 32,
        failure_persistence: None,
        rng_seed: RngSeed::Fixed(1),
        ..ProptestConfig::default()
    }
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn a_world_that_is_moved_and_turned_with_its_gravity_moves_alike(
        (model, recipe) in unique(),
        turn in vector(2.0),
        place in vector(3.0),
    ) {
        let X = Isometry3::from_parts(place.into(), UnitQuaternion::from_scaled_axis(turn));
        check(&recipe, model, &Change { X, ..Change::default() })?;
    }

    #[test]
    fn the_order_of_bodies_and_constraints_does_not_matter((model, recipe) in unique()) {
        let change = Change { bodies_reversed: true, constraints_reversed: true, ..Change::default() };
        check(&recipe, model, &change)?;
    }

    #[test]
    fn which_geom_of_a_contact_is_declared_first_does_not_matter((model, recipe) in unique()) {
        check(&recipe, model, &Change { geoms_reversed: true, ..Change::default() })?;
    }

    #[test]
    fn units_of_mass_and_length_and_time_do_not_matter(
        (model, recipe) in unique(),
        mass in 0.1..10.0,
        length in 0.1..10.0,
        time in 0.3..3.0,
    ) {
        check(&recipe, model, &Change { units: [mass, length, time], ..Change::default() })?;
    }
}

#[test]
fn the_worlds_touch_something() {
    // Invariance of free flight would prove little.
    let mut runner = proptest::test_runner::TestRunner::new(config());
    let mut touching = 0;
    for _ in 0..20 {
        let (model, recipe) = unique().new_tree(&mut runner).unwrap().current();
        let mut run = recipe.start(model, &Change::default());
        for _ in 0..STEPS {
            let _ = run.simulation.step().unwrap();
            let loaded = |c: &stiction_sim::ContactPoint| c.force.norm() > 0.0;
            if run.simulation.contacts().iter().any(loaded) {
                touching += 1;
                break;
            }
        }
    }
    assert!(touching >= 15, "{touching} of 20 worlds touch the floor");
}
