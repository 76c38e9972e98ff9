//! Invariances of every solver on small random contact problems: the order of constraints and
//! subsystems, the units of mass and length, the roles of A and B in a contact, and the frame of
//! the world do not matter.
//!
//! Each body touches the ground once and its predecessor once, so that J has full row rank and the
//! velocity is unique in both friction models.
//!
//! ```text
//!    ●───●───●      one contact between neighbours
//!   ─┴───┴───┴─     one contact of each body with the ground
//! ```

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, non_snake_case)]

mod common;

use common::{goal, largest, models};
use nalgebra::{Matrix3, Matrix6, Rotation3, Unit, Vector3, Vector6};
use proptest::prelude::*;
use proptest::test_runner::RngSeed;
use stiction_solve::law::{Coulomb, Law};
use stiction_solve::problem::Map;
use stiction_solve::solver::{ProblemFamily, Requirement, SOLVERS};
use stiction_solve::{FrictionModel, Problem, Session, Solution, Status, Yardstick};

/// A free rigid body; its velocity is (ω_WB, v_WB), in the world frame.
#[derive(Clone, Debug)]
struct Body {
    /// Mass [kg].
    mass: f64,
    /// Inertia about the centre of mass, in the world frame [kg·m²].
    I_B_W: Matrix3<f64>,
    /// Centre of mass [m].
    p_WB: Vector3<f64>,
    /// Free velocity [rad/s, m/s].
    V_WB: Vector6<f64>,
}

/// A contact of body B with body A, or with the ground if there is none.
#[derive(Clone, Debug)]
struct Contact {
    A: Option<usize>,
    B: usize,
    /// Point [m].
    p_WC: Vector3<f64>,
    /// Frame: columns are the normal from A into B and the two tangents.
    R_WC: Matrix3<f64>,
    friction: f64,
    /// Bias velocity of the normal [m/s].
    bias: f64,
    /// Whether the Jacobian is written for the contact seen from the other side: A and B swapped,
    /// the normal reversed.
    swapped: bool,
}

/// A contact problem in the terms of mechanics.
#[derive(Clone, Debug)]
struct Scene {
    bodies: Vec<Body>,
    contacts: Vec<Contact>,
}

impl Body {
    fn inertia(&self) -> Matrix6<f64> {
        let mut A = Matrix6::zeros();
        A.fixed_view_mut::<3, 3>(0, 0).copy_from(&self.I_B_W);
        A.fixed_view_mut::<3, 3>(3, 3).copy_from(&(Matrix3::identity() * self.mass));
        A
    }
}

impl Contact {
    /// Rows of J that read the velocity of the contact's point on a body, row-major: `R_CW (v + ω × r)`.
    fn rows(&self, body: &Body, sign: f64) -> Vec<f64> {
        let r = self.p_WC - body.p_WB;
        let mut axes = self.R_WC;
        if self.swapped {
            // A frame for the reversed normal, right-handed again: (−n, t1, −t2).
            axes.column_mut(0).neg_mut();
            axes.column_mut(2).neg_mut();
        }
        let sign = if self.swapped { -sign } else { sign };
        let mut rows = Vec::new();
        for axis in axes.column_iter() {
            let axis: Vector3<f64> = axis.into();
            let angular = r.cross(&axis);
            rows.extend(angular.iter().chain(axis.iter()).map(|x| sign * x));
        }
        rows
    }
}

impl Scene {
    fn problem(&self) -> Problem {
        let mut builder = Problem::builder("scene");
        let ports: Vec<_> = self
            .bodies
            .iter()
            .map(|body| {
                let A = body.inertia();
                let subsystem = builder.dense(A.as_slice(), (A * body.V_WB).as_slice());
                builder.port(subsystem, Map::Whole)
            })
            .collect();
        for contact in &self.contacts {
            let law = Law::Coulomb(Coulomb::new(contact.friction).unwrap());
            let on_B = contact.rows(&self.bodies[contact.B], 1.0);
            let on_A = contact.A.map(|a| (ports[a], contact.rows(&self.bodies[a], -1.0)));
            let mut terms = vec![(ports[contact.B], on_B.as_slice())];
            terms.extend(on_A.iter().map(|(port, rows)| (*port, rows.as_slice())));
            builder.constraint(law, &[contact.bias, 0.0, 0.0], &[0.0; 3], &terms);
        }
        builder.build().unwrap()
    }
}

fn vector(size: f64) -> impl Strategy<Value = Vector3<f64>> {
    [-size..size, -size..size, -size..size].prop_map(Vector3::from)
}

fn rotation() -> impl Strategy<Value = Rotation3<f64>> {
    (vector(1.0), 0.0..3.0)
        .prop_filter("an axis", |(axis, _)| axis.norm() > 0.1)
        .prop_map(|(axis, angle)| Rotation3::from_axis_angle(&Unit::new_normalize(axis), angle))
}

/// A body of half a kilogram to two, some decimetres in size, that falls.
fn body(index: usize) -> impl Strategy<Value = Body> {
    let sizes = [0.1..0.3, 0.1..0.3, 0.1..0.3];
    (0.5..2.0, sizes, rotation(), vector(0.5), vector(0.5)).prop_map(
        move |(mass, size, R_WB, w, v)| {
            let square = Vector3::from(size).map(|x| x * x);
            let moments = Vector3::repeat(square.sum()) - square; // of a box, per m/12
            let I_B_B = Matrix3::from_diagonal(&(moments * mass / 3.0));
            let v = v - Vector3::z();
            Body {
                mass,
                I_B_W: R_WB.matrix() * I_B_B * R_WB.matrix().transpose(),
                p_WB: Vector3::new(0.5 * index as f64, 0.0, 0.2),
                V_WB: Vector6::new(w.x, w.y, w.z, v.x, v.y, v.z),
            }
        },
    )
}

/// The frame of a contact with this normal.
fn frame(normal: Vector3<f64>) -> Matrix3<f64> {
    let n = normal.normalize();
    let other = if n.z.abs() < 0.9 { Vector3::z() } else { Vector3::x() };
    let t1 = n.cross(&other).normalize();
    Matrix3::from_columns(&[n, t1, n.cross(&t1)])
}

fn contact(A: Option<usize>, B: usize) -> impl Strategy<Value = Contact> {
    (vector(0.1), vector(0.2), 0.1..0.6, -0.1..0.1).prop_map(
        move |(offset, tilt, friction, bias)| {
            let (axis, at) = match A {
                None => (Vector3::z(), Vector3::new(0.5 * B as f64, 0.0, 0.0)),
                Some(a) => (Vector3::x(), Vector3::new(0.5 * a as f64 + 0.25, 0.0, 0.2)),
            };
            let R_WC = frame(axis + tilt);
            Contact { A, B, p_WC: at + offset, R_WC, friction, bias, swapped: false }
        },
    )
}

fn scene() -> impl Strategy<Value = Scene> {
    (2..5_usize).prop_flat_map(|count| {
        let bodies: Vec<_> = (0..count).map(body).collect();
        let ground = (0..count).map(|k| contact(None, k).boxed());
        let between = (1..count).map(|k| contact(Some(k - 1), k).boxed());
        let contacts: Vec<_> = ground.chain(between).collect();
        (bodies, contacts).prop_map(|(bodies, contacts)| Scene { bodies, contacts })
    })
}

/// How a transformed scene is compared with the original: the original's velocity and impulse in
/// the order and the units of the transformed scene.
struct Image {
    scene: Scene,
    carry: Box<dyn Fn(&Solution) -> Solution>,
}

/// Reverses the order of bodies and moves the contacts around.
fn permuted(scene: &Scene) -> Image {
    let (n, m) = (scene.bodies.len(), scene.contacts.len());
    let body = move |k: usize| n - 1 - k;
    // m = 2n − 1 is odd, so that doubling modulo m is a permutation.
    let order: Vec<usize> = (0..m).map(|i| (2 * i + 1) % m).collect();
    let contacts = order
        .iter()
        .map(|i| {
            let contact = scene.contacts[*i].clone();
            Contact { A: contact.A.map(body), B: body(contact.B), ..contact }
        })
        .collect();
    let bodies = (0..n).map(|k| scene.bodies[body(k)].clone()).collect();
    let carry = move |x: &Solution| Solution {
        velocity: (0..n).flat_map(|k| x.velocity[6 * body(k)..][..6].to_vec()).collect(),
        impulse: order.iter().flat_map(|i| x.impulse[3 * i..][..3].to_vec()).collect(),
    };
    Image { scene: Scene { bodies, contacts }, carry: Box::new(carry) }
}

/// Measures mass in another unit: A, b and λ are multiplied.
fn with_mass_unit(scene: &Scene, factor: f64) -> Image {
    let mut scene = scene.clone();
    for body in &mut scene.bodies {
        body.mass *= factor;
        body.I_B_W *= factor;
    }
    let carry = move |x: &Solution| Solution {
        velocity: x.velocity.clone(),
        impulse: x.impulse.iter().map(|l| factor * l).collect(),
    };
    Image { scene, carry: Box::new(carry) }
}

/// Measures length in another unit: places, velocities and impulses are multiplied, angular
/// velocities are not.
fn with_length_unit(scene: &Scene, factor: f64) -> Image {
    let mut scene = scene.clone();
    for body in &mut scene.bodies {
        body.I_B_W *= factor * factor;
        body.p_WB *= factor;
        body.V_WB.fixed_rows_mut::<3>(3).scale_mut(factor);
    }
    for contact in &mut scene.contacts {
        contact.p_WC *= factor;
        contact.bias *= factor;
    }
    let carry = move |x: &Solution| Solution {
        velocity: x
            .velocity
            .iter()
            .enumerate()
            .map(|(k, v)| if k % 6 < 3 { *v } else { factor * v })
            .collect(),
        impulse: x.impulse.iter().map(|l| factor * l).collect(),
    };
    Image { scene, carry: Box::new(carry) }
}

/// Swaps A and B of every contact: the relative velocity and the normal are reversed, so that only
/// the first tangential component changes its sign.
fn swapped(scene: &Scene) -> Image {
    let mut scene = scene.clone();
    scene.contacts.iter_mut().for_each(|contact| contact.swapped = true);
    let carry = |x: &Solution| Solution {
        velocity: x.velocity.clone(),
        impulse: x
            .impulse
            .iter()
            .enumerate()
            .map(|(k, l)| if k % 3 == 1 { -l } else { *l })
            .collect(),
    };
    Image { scene, carry: Box::new(carry) }
}

/// Turns the frame of the world: `p_VB = R_VW p_WB`.
fn rotated(scene: &Scene, R_VW: Rotation3<f64>) -> Image {
    let mut scene = scene.clone();
    let R = *R_VW.matrix();
    let turn = move |V: Vector6<f64>| {
        let (w, v) = (R * V.fixed_rows::<3>(0), R * V.fixed_rows::<3>(3));
        Vector6::new(w.x, w.y, w.z, v.x, v.y, v.z)
    };
    for body in &mut scene.bodies {
        body.I_B_W = R * body.I_B_W * R.transpose();
        // Exactly symmetric again, as A must be.
        body.I_B_W = 0.5 * (body.I_B_W + body.I_B_W.transpose());
        body.p_WB = R * body.p_WB;
        body.V_WB = turn(body.V_WB);
    }
    for contact in &mut scene.contacts {
        contact.p_WC = R * contact.p_WC;
        contact.R_WC = R * contact.R_WC;
    }
    let carry = move |x: &Solution| Solution {
        velocity: x
            .velocity
            .chunks_exact(6)
            .flat_map(|V| turn(Vector6::from_column_slice(V)).as_slice().to_vec())
            .collect(),
        impulse: x.impulse.clone(),
    };
    Image { scene, carry: Box::new(carry) }
}

/// Largest gain from a violation to the velocity that it moves: an angular velocity follows a
/// sliding u by u/r with r of a decimetre, masses differ by four, inertias by nine, and near the
/// edge of a cone exact friction adds a digit.
const CONDITION: f64 = 1e3;

/// The tolerance that the registration requires of a solver on the catalogue, of whose kind these
/// problems are.
fn tolerance(must_solve: &[Requirement], model: FrictionModel) -> f64 {
    let on_catalogue = |r: &&Requirement| r.model == model && r.family == ProblemFamily::Catalogue;
    must_solve.iter().find(on_catalogue).expect("every solver is held to the catalogue").tolerance
}

/// Every solver solves the scene and its image, and the two solutions correspond.
fn check(scene: &Scene, image: &Image) -> Result<(), TestCaseError> {
    let (one, two) = (scene.problem(), image.scene.problem());
    let mut yardstick = Yardstick::default();
    for entry in SOLVERS {
        for &model in models(entry.name) {
            let goal = goal(model, tolerance(entry.must_solve, model));
            let who = format!("{} ({})", entry.name, model.name());
            let solve = |problem: &Problem| {
                let mut solution = Solution::cold(problem);
                let mut session = Session::new(entry.name).unwrap();
                let report = session.solve(problem, &goal, &mut solution).unwrap();
                (report, solution)
            };
            let ((report, solution), (other_report, other)) = (solve(&one), solve(&two));
            prop_assert_eq!(report.status, Status::Converged, "{}: {:?}", &who, report);
            prop_assert_eq!(other_report.status, Status::Converged, "{}: {:?}", &who, other_report);
            let expected = (image.carry)(&solution);
            // The carried solution solves the image as well as the solution solves the scene.
            yardstick.prepare(&two);
            let found = yardstick.measure(&two, &expected.velocity, &expected.impulse);
            let allowed = 1.001 * goal.tolerance * two.reference_velocity();
            prop_assert!(found.of(model) <= allowed, "{}: {:?}", &who, found);
            // Velocities, angular ones at the scale of the reference velocity and a decimetre.
            let scale = two.reference_velocity().max(largest(&expected.velocity));
            let apart = common::distance(&expected.velocity, &other.velocity);
            prop_assert!(
                apart <= CONDITION * goal.tolerance * scale,
                "{}: velocities differ by {:e} at the scale {:e}",
                &who,
                apart,
                scale
            );
        }
    }
    Ok(())
}

fn config() -> ProptestConfig {
    ProptestConfig {
        failure_persistence: None,
        rng_seed: RngSeed::Fixed(1),
        ..ProptestConfig::with_cases(8)
    }
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn the_order_of_constraints_and_subsystems_does_not_matter(scene in scene()) {
        check(&scene, &permuted(&scene))?;
    }

    #[test]
    fn impulses_scale_with_the_unit_of_mass(scene in scene(), exponent in -3.0..3.0) {
        check(&scene, &with_mass_unit(&scene, f64::powf(10.0, exponent)))?;
    }

    #[test]
    fn velocities_and_impulses_scale_with_the_unit_of_length(scene in scene(), exponent in -2.0..2.0) {
        check(&scene, &with_length_unit(&scene, f64::powf(10.0, exponent)))?;
    }

    #[test]
    fn swapping_the_sides_of_contacts_mirrors_impulses(scene in scene()) {
        check(&scene, &swapped(&scene))?;
    }

    #[test]
    fn the_frame_of_the_world_does_not_matter(scene in scene(), R_VW in rotation()) {
        check(&scene, &rotated(&scene, R_VW))?;
    }
}
