//! Multibody simulation of robots and objects that touch, stick and slide: the facade.
//!
//! | module | holds |
//! |---|---|
//! | [`sim`] | worlds, settings, the step and its report |
//! | [`scene`] | models and scenes from files (MJCF, URDF, TOML) |
//! | [`study`] | scenarios with physical checks, runs summed up in figures, comparisons of solvers |
//! | [`mech`] | bodies, joints, tendons, actuators, dynamics |
//! | [`geom`] | shapes, distances, contact manifolds |
//! | [`solve`] | contact problems, laws, solvers, residuals; usable alone |
//! | [`math`] | spatial algebra, block-sparse matrices |
//! | [`nalgebra`] | vectors, rotations and poses, in which all of them speak |
//!
//! A box falls onto the ground and comes to rest on its four lower corners, which carry its weight:
//!
//! ```
//! use stiction::geom::Shape;
//! use stiction::mech::{BodyId, BodySpec, JointKind, JointSpec, MassProperties};
//! use stiction::nalgebra::{Isometry3, Vector3};
//! use stiction::sim::{Geom, Settings, Simulation, Surface, WorldBuilder};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let mut builder = WorldBuilder::new();
//! let surface = Surface::with_friction(0.5);
//! builder.geom(Geom::new(BodyId::WORLD, Shape::Plane).surface(surface));
//!
//! let shape = Shape::cuboid(Vector3::new(0.1, 0.1, 0.1))?; // half its edges [m]
//! let (mass, centre, inertia) = shape.mass_properties(1000.0); // of a density [kg/m³]
//! let body = builder.mechanism.body(BodySpec {
//!     name: "box".into(),
//!     pose: Isometry3::translation(0.0, 0.0, 0.15),
//!     mass: Some(MassProperties::new(mass, centre, inertia)?),
//!     ..BodySpec::default()
//! });
//! builder.mechanism.joint(body, JointSpec::new(JointKind::Free));
//! builder.geom(Geom::new(body, shape).surface(surface));
//!
//! let settings = Settings { time_step: 0.01, ..Settings::default() };
//! let mut simulation = Simulation::new(builder.build()?, settings)?;
//! for _ in 0..100 {
//!     let report = simulation.step()?;
//!     assert!(report.converged());
//! }
//!
//! assert_eq!(simulation.contacts().len(), 4);
//! let carried: f64 = simulation.contacts().iter().map(|contact| contact.force.z).sum();
//! assert!((carried - mass * 9.81).abs() < 1e-4 * mass * 9.81);
//! # Ok(())
//! # }
//! ```
//!
//! A model from a file, with its own start, controllers and checks; [`scene::load`] reads it from disk:
//!
//! ```
//! use stiction::scene::{Files, import::Options, load_with};
//!
//! let mut files = Files::in_memory();
//! files.insert("swing.xml", *br#"<mujoco model="swing"><worldbody><body>
//!   <joint name="hinge" axis="0 1 0"/><geom type="capsule" size="0.02 0.2" pos="0 0 -0.2"/>
//! </body></worldbody><keyframe><key name="raised" qpos="1"/></keyframe></mujoco>"#);
//! let model = load_with(files, "swing.xml".as_ref(), &Options::default())?;
//! assert!(model.unsupported.is_empty());
//!
//! let mut scene_run = model.scene_from("raised")?.start()?;
//! while scene_run.simulation.state().q[0] > 0.0 {
//!     let _ = scene_run.step()?;
//! }
//! // A swing of one radian takes a fifteenth longer than a small one, 2π √(I / m g l) = 1.055 s.
//! assert!((scene_run.simulation.state().time - 1.125 / 4.0).abs() < 0.005);
//! # Ok::<(), stiction::scene::SceneError>(())
//! ```
//!
//! A scenario, with one of its parameters changed, judged by its own check:
//!
//! ```
//! let set = [("bodies".to_owned(), "2".to_owned())];
//! let mut scene_run = stiction::study::scenario("clutter", &set)?.start()?;
//! let summary = stiction::study::run("clutter", &mut scene_run, 5, |_step, _report| ())?;
//! assert_eq!(summary.unconverged_steps, 0);
//! assert!(summary.check.passed, "{}", summary.check.detail);
//! # Ok::<(), stiction::study::StudyError>(())
//! ```

#![forbid(unsafe_code)]

pub use nalgebra;
pub use stiction_geom as geom;
pub use stiction_math as math;
pub use stiction_mech as mech;
pub use stiction_scene as scene;
pub use stiction_sim as sim;
pub use stiction_solve as solve;
pub use stiction_study as study;
