//! A steady step of cables takes no memory: one on the ground, held by a free body, and one that hangs.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod common;

use std::f64::consts::FRAC_PI_2;

use common::{cube, on_ground};
use nalgebra::{Isometry3, Translation3, UnitQuaternion, Vector3};
use stiction_mech::BodyId;
use stiction_sim::{CableCourse, CableEnd, CableSpec, Scheme, Settings, Simulation};
use stiction_testkit::{CountingAllocator, allocations};

#[global_allocator]
static ALLOCATOR: CountingAllocator = CountingAllocator;

#[test]
fn cables_on_the_ground_and_in_the_air_step_without_taking_memory() {
    for (solver, scheme) in
        [("auto", Scheme::Refined), ("alm", Scheme::Midpoint), ("cond", Scheme::MidVelocity)]
    {
        let mut builder = on_ground(0.5);
        let cube = cube(&mut builder, 0.05, -0.05, 0.05, 0.5);
        let along = UnitQuaternion::from_axis_angle(&Vector3::y_axis(), FRAC_PI_2);
        let at = |z: f64| {
            let pose = Isometry3::from_parts(Translation3::new(0.0, 0.0, z), along);
            CableCourse::Straight { pose, length: 0.3 }
        };
        let spec = CableSpec { segments: 15, mass_damping: 20.0, ..CableSpec::default() };
        let held = |body| [CableEnd::Held(body), CableEnd::Free];
        builder.cable(CableSpec { course: at(5e-3), ends: held(cube), ..spec.clone() });
        builder.cable(CableSpec { course: at(1.0), ends: held(BodyId::WORLD), ..spec });
        let solver = solver.to_owned();
        let settings = Settings { solver, scheme, time_step: 0.005, ..Settings::default() };
        let mut simulation = Simulation::new(builder.build().unwrap(), settings).unwrap();
        for _ in 0..400 {
            let _ = simulation.step().unwrap();
        }
        let before = allocations();
        for _ in 0..20 {
            let report = simulation.step().unwrap();
            assert!(report.contacts > 15, "{}", report.contacts);
        }
        assert_eq!(allocations() - before, 0, "{scheme:?}");
    }
}
