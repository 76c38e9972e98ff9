//! Worlds of one body on a ground, and how they are run.

use nalgebra::{Isometry3, UnitQuaternion, Vector3};
use stiction_geom::Shape;
use stiction_mech::{BodyId, BodySpec, JointKind, JointSpec, State};
use stiction_sim::{Geom, Scheme, Settings, Simulation, Surface, World, WorldBuilder};
use stiction_study::scenarios::parts;

/// Standard gravity [m/s²].
pub const G: f64 = 9.81;

/// Settings whose solver errs by round-off only.
pub fn tight(time_step: f64, scheme: Scheme) -> Settings {
    Settings { time_step, scheme, tolerance: 1e-12, ..Settings::default() }
}

/// One free body on a ground that is tilted by `angle` about y; x points downhill.
pub struct OnGround {
    pub shape: Shape,
    pub mass: f64,
    /// Distance of the origin from the ground [m].
    pub height: f64,
    pub angle: f64,
    pub surface: Surface,
    /// Distance [m] from which contacts are wanted.
    pub margin: f64,
}

impl OnGround {
    pub fn new(shape: Shape, mass: f64, height: f64, friction: f64) -> Self {
        let surface = Surface::with_friction(friction);
        Self { shape, mass, height, angle: 0.0, surface, margin: 0.0 }
    }

    /// A cube with an edge of 0.2 m and half a kilogram.
    pub fn cube(friction: f64) -> Self {
        Self::new(cuboid(0.1, 0.1, 0.1), 0.5, 0.1, friction)
    }

    pub fn sphere(radius: f64, friction: f64) -> Self {
        Self::new(Shape::sphere(radius).unwrap(), 0.5, radius, friction)
    }

    pub fn tilted(mut self, degrees: f64) -> Self {
        self.angle = degrees.to_radians();
        self
    }

    fn tilt(&self) -> UnitQuaternion<f64> {
        UnitQuaternion::from_axis_angle(&Vector3::y_axis(), self.angle)
    }

    pub fn downhill(&self) -> Vector3<f64> {
        self.tilt() * Vector3::x()
    }

    pub fn world(&self) -> World {
        let mut builder = WorldBuilder::new();
        let tilt = self.tilt();
        let plane = Geom::new(BodyId::WORLD, Shape::Plane).surface(self.surface);
        builder.geom(plane.at(Isometry3::from_parts(Vector3::zeros().into(), tilt)));
        let pose = Isometry3::from_parts((self.height * (tilt * Vector3::z())).into(), tilt);
        let body = parts::mass_of(&mut builder, "body", &self.shape, self.mass, pose).unwrap();
        let mut geom = Geom::new(body, self.shape.clone()).surface(self.surface);
        geom.margin = self.margin;
        builder.geom(geom);
        builder.build().unwrap()
    }

    /// The simulation, with a velocity [m/s] at the start.
    pub fn start(&self, settings: Settings, velocity: Vector3<f64>) -> Simulation {
        let world = self.world();
        let state = parts::moving(&world, BODY, velocity, Vector3::zeros());
        simulate(world, settings, &state)
    }
}

/// The first body of a world.
pub const BODY: BodyId = BodyId(1);

pub fn cuboid(x: f64, y: f64, z: f64) -> Shape {
    Shape::cuboid(Vector3::new(x, y, z)).unwrap()
}

pub fn simulate(world: World, settings: Settings, state: &State) -> Simulation {
    let mut sim = Simulation::new(world, settings).unwrap();
    sim.set_state(state).unwrap();
    sim
}

/// A shape that can move along x, y and z and does not turn, on a level ground that it touches.
pub fn particle(shape: Shape, mass: f64, height: f64, surface: Surface) -> World {
    let mut builder = WorldBuilder::new();
    parts::ground(&mut builder, surface);
    let spec = BodySpec {
        name: "particle".to_owned(),
        pose: Isometry3::translation(0.0, 0.0, height),
        mass: Some(parts::isotropic(mass, Vector3::zeros(), mass * height * height).unwrap()),
        ..BodySpec::default()
    };
    let body = builder.mechanism.body(spec);
    for axis in [Vector3::x(), Vector3::y(), Vector3::z()] {
        builder.mechanism.joint(body, JointSpec::new(JointKind::Slide { axis }));
    }
    builder.geom(Geom::new(body, shape).surface(surface));
    builder.build().unwrap()
}

/// Steps that must converge.
pub fn run(sim: &mut Simulation, steps: usize) {
    for k in 0..steps {
        let report = sim.step().unwrap();
        assert!(report.converged(), "step {k}: {:?} {:?}", report.solver_status, report.residuals);
    }
}

pub fn position(sim: &Simulation) -> Vector3<f64> {
    parts::position(sim.world(), sim.state(), BODY)
}

/// Velocity in the world and angular velocity in the body.
pub fn velocity(sim: &Simulation) -> (Vector3<f64>, Vector3<f64>) {
    parts::velocity(sim.world(), sim.state(), BODY)
}

/// Asserts `|found − expected| ≤ tolerance` and says so otherwise.
#[track_caller]
pub fn near(what: &str, found: f64, expected: f64, tolerance: f64) {
    let error = (found - expected).abs();
    assert!(error <= tolerance, "{what}: {found:.12e} against {expected:.12e}, off by {error:.1e}");
}
