//! Tendons: gradients, energies, sparsity, limits.

use crate::mechanism::{DIFFERENCE, STEP, Scene, tree};
use nalgebra::{Isometry3, Vector3};
use stiction_math::random::SplitMix64;
use stiction_mech::{
    BodyId, BodySpec, DeadBand, DriveKind, JointId, JointKind, JointSpec, Limit, LimitSource,
    ModelBuilder, SpringSpec, TendonId, TendonPath, TendonRest, TendonSite, TendonSpec, Waypoint,
    WrapShape, WrapSurface, apply_wrench, potential_energy, tendon_energy,
};

const BODIES: usize = 12;

fn site(rng: &mut SplitMix64) -> Waypoint {
    let body = BodyId(rng.below(BODIES + 1));
    Waypoint::Site(TendonSite { body, point: rng.vector3() })
}

fn surface(rng: &mut SplitMix64, shape: WrapShape) -> Waypoint {
    let side = (rng.below(2) == 0).then(|| rng.vector3());
    let (body, pose) = (BodyId(rng.below(BODIES + 1)), rng.pose(1.0));
    let side = side.map(|point| TendonSite { body, point });
    Waypoint::Wrap(WrapSurface { body, pose, shape, radius: 0.6 * rng.uniform(0.5, 1.5), side })
}

/// A string with every kind of waypoint between random bodies.
fn string(rng: &mut SplitMix64) -> TendonPath {
    TendonPath::Spatial(vec![
        site(rng),
        site(rng),
        surface(rng, WrapShape::Sphere),
        site(rng),
        surface(rng, WrapShape::Cylinder),
        site(rng),
        Waypoint::Pulley { divisor: 2.0 },
        site(rng),
        surface(rng, WrapShape::Cylinder),
        site(rng),
    ])
}

fn stringed(seed: u64) -> (SplitMix64, Scene) {
    let mut rng = SplitMix64::new(seed);
    let mut builder = tree(&mut rng, BODIES, false, |_, _| {});
    for k in 0..4 {
        let path = string(&mut rng);
        let (stiffness, rest) =
            (10.0 * rng.uniform(0.5, 1.5), TendonRest::Length(rng.uniform(0.5, 1.5)));
        let spec = TendonSpec { stiffness, rest, ..TendonSpec::new(format!("t{k}"), path) };
        builder.tendon(spec);
    }
    let mut scene = Scene::new(builder);
    scene.shuffle(&mut rng);
    (rng, scene)
}

#[test]
fn the_row_of_a_tendon_is_the_derivative_of_its_length() {
    for seed in 0..20 {
        let (_, mut scene) = stringed(seed);
        scene.evaluate();
        for id in (0..scene.model.tendons().len()).map(TendonId) {
            let mut row = vec![0.0; scene.model.nv()];
            for entry in scene.forces.row(scene.forces.tendon_row(id)) {
                row[entry.dof] = entry.coefficient;
            }
            for dof in 0..scene.model.nv() {
                let along = scene.unit(dof);
                let mut difference = |step: f64| {
                    scene.along(&along, step, |scene| {
                        let tendon = &scene.model.tendons()[id.0];
                        tendon.length(&scene.model, &scene.state.q, &scene.data)
                    })
                };
                // The truncation of order STEP² grows fourfold with twice the step.
                let (found, coarse) = (difference(STEP), difference(2.0 * STEP));
                let (error, truncation) = ((found - row[dof]).abs(), (coarse - found).abs());
                let bound = DIFFERENCE + truncation;
                assert!(error <= bound, "seed {seed}, {id:?}, dof {dof}: {error:e} of {bound:e}");
            }
        }
    }
}

#[test]
fn strings_do_wrap_in_the_random_trees() {
    // Otherwise the test above would not cover wrapping.
    let mut longer = 0;
    for seed in 0..20 {
        let (_, mut scene) = stringed(seed);
        scene.evaluate();
        for (tendon, length) in scene.model.tendons().iter().zip(&scene.forces.tendon_length) {
            let TendonPath::Spatial(path) = &tendon.spec.path else { continue };
            let point = |waypoint: &Waypoint| match waypoint {
                Waypoint::Site(site) => {
                    Some(scene.data.body_pose[site.body.0] * nalgebra::Point3::from(site.point))
                }
                _ => None,
            };
            let p: Vec<_> = path.iter().filter_map(point).collect();
            let straight = (p[1] - p[0]).norm()
                + (p[2] - p[1]).norm()
                + (p[3] - p[2]).norm()
                + (p[5] - p[4]).norm() / 2.0;
            assert!(*length >= straight - 1e-12);
            longer += usize::from(*length > straight + 1e-3);
        }
    }
    assert!(longer > 20, "{longer} of 80");
}

#[test]
fn forces_of_a_string_on_bodies_match_its_row_and_sum_to_zero() {
    for seed in 0..20 {
        let (_, mut scene) = stringed(seed);
        scene.evaluate();
        let Scene { model, data, forces, .. } = &scene;
        for (index, tendon) in model.tendons().iter().enumerate() {
            let mut found = vec![0.0; model.nv()];
            let (mut force, mut moment) = (Vector3::zeros(), Vector3::zeros());
            tendon.for_each_pull(data, |body, point, pull| {
                apply_wrench(model, data, body, point, Vector3::zeros(), pull, &mut found);
                force += pull;
                moment += point.cross(&pull);
            });
            // Round-off of a few dozen products of numbers of order ten.
            assert!(force.norm() <= 1e-12 && moment.norm() <= 1e-12, "seed {seed}");
            for entry in forces.row(forces.tendon_row(TendonId(index))) {
                found[entry.dof] -= entry.coefficient;
            }
            assert!(found.iter().all(|error| error.abs() <= 1e-12), "seed {seed}: {found:?}");
        }
    }
}

#[test]
fn only_velocities_on_the_path_have_coefficients() {
    let (_, mut scene) = stringed(3);
    scene.evaluate();
    for tendon in scene.model.tendons() {
        let mut gradient = vec![f64::NAN; scene.model.nv()];
        tendon.dofs.iter().for_each(|&dof| gradient[dof] = 0.0);
        tendon.measure(&scene.model, &scene.state.q, &scene.data, &mut gradient);
        for dof in 0..scene.model.nv() {
            assert_eq!(gradient[dof].is_finite(), tendon.dofs.contains(&dof));
        }
    }
}

#[test]
fn the_power_of_springs_is_minus_the_rate_of_their_energy() {
    for seed in 0..10 {
        let mut rng = SplitMix64::new(100 + seed);
        let mut builder = tree(&mut rng, BODIES, false, |rng, joint| {
            joint.stiffness = 5.0 * rng.uniform(0.5, 1.5)
        });
        let path = string(&mut rng);
        builder.tendon(TendonSpec { stiffness: 7.0, ..TendonSpec::new("string", path) });
        let mut scene = Scene::new(builder);
        let total = scene.shuffle(&mut rng).total();
        for dof in 0..scene.model.nv() {
            let along = scene.unit(dof);
            let gained = scene.along(&along, STEP, |scene| {
                potential_energy(&scene.model, &scene.data, &scene.state.q)
            });
            let error = (total[dof] + gained).abs();
            // Energies are of the order of a hundred.
            assert!(error <= 100.0 * DIFFERENCE, "seed {seed}, dof {dof}: {error:e}");
        }
    }
}

#[test]
fn the_energy_loss_of_a_spring_damper_is_that_of_its_damper() {
    for seed in 0..10 {
        let mut rng = SplitMix64::new(200 + seed);
        let mut builder = tree(&mut rng, BODIES, false, |_, _| {});
        let (stiffness, damping) = (20.0, 3.0);
        builder.tendon(SpringSpec {
            name: "spring".into(),
            body_a: BodyId(0),
            point_a: rng.vector3(),
            body_b: BodyId(BODIES),
            point_b: rng.vector3(),
            stiffness,
            damping,
            rest_length: 0.4,
        });
        let mut scene = Scene::new(builder);
        scene.shuffle(&mut rng).evaluate();
        let (power, rate) = (scene.forces.power(&scene.state.v), scene.forces.tendon_rate[0]);
        let v = scene.state.v.clone();
        let stored =
            scene.along(&v, STEP, |scene| tendon_energy(&scene.model, &scene.data, &scene.state.q));
        let lost = damping * rate * rate;
        // The energy is of the order of a hundred and so are its derivatives.
        let error = (power + stored + lost).abs();
        assert!(error <= 1e3 * DIFFERENCE, "seed {seed}: {error:e} of {power} W");
    }
}

/// Two slides along x and y, children of the world.
fn two_slides() -> (ModelBuilder, [JointId; 2]) {
    let mut builder = ModelBuilder::new();
    builder.gravity(Vector3::zeros());
    let mut slide = |name: &str, axis| {
        let mass = crate::mechanism::mass();
        let body = builder.body(BodySpec { name: name.into(), mass, ..Default::default() });
        builder.joint(
            body,
            JointSpec { name: name.into(), ..JointSpec::new(JointKind::Slide { axis }) },
        )
    };
    let joints = [slide("x", Vector3::x()), slide("y", Vector3::y())];
    (builder, joints)
}

#[test]
fn a_fixed_tendon_is_a_sum_of_coordinates_with_a_dead_band_and_limits() {
    let (mut builder, [x, y]) = two_slides();
    let path = TendonPath::Fixed(vec![(x, 2.0), (y, -3.0)]);
    let id = builder.tendon(TendonSpec {
        stiffness: 10.0,
        damping: 0.5,
        rest: TendonRest::Band(DeadBand { lower: -1.0, upper: 1.0 }),
        friction_loss: 0.7,
        limit: Some(Limit { lower: -4.0, upper: 2.5, margin: 0.1 }),
        ..TendonSpec::new("sum", path)
    });
    let mut scene = Scene::new(builder);

    // Stretched: length 2·1.0 − 3·(−0.25) = 2.75, rate 2·0.1 − 3·0.2 = −0.4.
    scene.state.q.copy_from_slice(&[1.0, -0.25]);
    scene.state.v.copy_from_slice(&[0.1, 0.2]);
    let forces = scene.evaluate();
    let [spring, friction] = forces.drives[..] else { panic!("{:?}", forces.drives) };
    assert_eq!(spring.kind, DriveKind::TendonSpring(id));
    assert!((spring.rate + 0.4).abs() <= 1e-15);
    assert!((spring.force - (-10.0 * 1.75 + 0.5 * 0.4)).abs() <= 1e-14);
    assert_eq!((spring.stiffness, spring.damping), (10.0, 0.5));
    assert_eq!((spring.lower, spring.upper), (f64::NEG_INFINITY, f64::INFINITY));
    assert!(friction.kind.is_dry_friction());
    assert_eq!((friction.force, friction.lower, friction.upper), (0.0, -0.7, 0.7));
    let coefficients: Vec<_> = forces.row(spring.row).iter().map(|e| e.coefficient).collect();
    assert_eq!(coefficients, [2.0, -3.0]);
    let [limit] = forces.limits[..] else { panic!("{:?}", forces.limits) };
    assert_eq!(limit.source, LimitSource::Tendon(id));
    assert_eq!((limit.gap, limit.sign), (-0.25, -1.0));
    assert!((limit.gap_rate - 0.4).abs() <= 1e-15);

    // Slack: damping remains, the limit is beyond its margin.
    scene.state.q.copy_from_slice(&[0.25, 0.0]);
    let forces = scene.evaluate();
    assert_eq!((forces.drives[0].stiffness, forces.drives[0].damping), (0.0, 0.5));
    assert!((forces.drives[0].force - 0.2).abs() <= 1e-15);
    assert!(forces.limits.is_empty());

    // Within reach: 5 s at a rate of −0.4 is more than the 1.9 left after the margin.
    assert_eq!(scene.evaluate_within(4.9).limits.len(), 1);
}

#[test]
fn a_tendon_of_one_velocity_without_bounds_is_on_the_diagonal() {
    let (mut builder, [x, _]) = two_slides();
    let spec = TendonSpec::new("one", TendonPath::Fixed(vec![(x, 3.0)]));
    builder.tendon(TendonSpec {
        stiffness: 2.0,
        damping: 0.5,
        rest: TendonRest::Length(1.0),
        ..spec
    });
    let mut scene = Scene::new(builder);
    scene.state.q[0] = 1.0;
    scene.state.v[0] = 0.25;
    let forces = scene.evaluate();
    assert!(forces.drives.is_empty());
    // Tension 2·(3 − 1) + 0.5·0.75, three times as strong on the slide.
    assert!((forces.generalized[0] + 3.0 * (4.0 + 0.375)).abs() <= 1e-14);
    assert_eq!((forces.stiffness[0], forces.damping[0]), (18.0, 4.5));
}

#[test]
fn a_tendon_rests_at_its_length_in_the_reference_configuration() {
    let mut rng = SplitMix64::new(7);
    let mut builder = tree(&mut rng, BODIES, false, |_, _| {});
    let path = string(&mut rng);
    builder.tendon(TendonSpec { stiffness: 1e3, ..TendonSpec::new("string", path) });
    let mut scene = Scene::new(builder);
    scene.evaluate();
    assert_eq!(scene.model.tendons()[0].slack, DeadBand::at(scene.forces.tendon_length[0]));
    assert_eq!(tendon_energy(&scene.model, &scene.data, &scene.state.q), 0.0);
}

#[test]
fn a_spring_of_zero_length_has_no_force() {
    let mut builder = ModelBuilder::new();
    let pose = Isometry3::translation(0.3, 0.0, 0.0);
    let body =
        builder.body(BodySpec { pose, mass: crate::mechanism::mass(), ..Default::default() });
    builder.joint(body, JointSpec::new(JointKind::Free));
    builder.tendon(SpringSpec {
        name: "spring".into(),
        body_a: BodyId::WORLD,
        point_a: Vector3::new(0.3, 0.0, 0.0),
        body_b: body,
        point_b: Vector3::zeros(),
        stiffness: 1e4,
        damping: 10.0,
        rest_length: 0.5,
    });
    let mut scene = Scene::new(builder);
    scene.state.v.fill(1.0);
    assert!(scene.total().iter().all(|force| *force == 0.0));
}

#[test]
fn a_tendon_between_fixed_points_gives_no_rows() {
    let (mut builder, _) = two_slides();
    let sites = [Vector3::x(), Vector3::y()].map(|point| TendonSite { body: BodyId(1), point });
    builder.tendon(TendonSpec {
        stiffness: 1.0,
        friction_loss: 1.0,
        rest: TendonRest::Length(0.0),
        limit: Some(Limit { lower: 0.0, upper: 1.0, margin: 0.0 }),
        ..TendonSpec::new("within one body", TendonPath::through(sites))
    });
    let mut scene = Scene::new(builder);
    let forces = scene.evaluate();
    assert!((forces.tendon_length[0] - 2f64.sqrt()).abs() <= f64::EPSILON);
    assert!(forces.drives.is_empty() && forces.limits.is_empty());
}
