//! A steady step takes no memory, nor do readings of sensors.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod common;

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

use common::{cube, on_ground, start};
use nalgebra::{Isometry3, Matrix3, Vector3};
use stiction_mech::{BodyId, BodySpec, JointId, JointKind, JointSpec, Limit, MassProperties};
use stiction_sim::constraint::{Connect, Equality};
use stiction_sim::{SensorFrame, SensorKind, SensorSpec, TouchVolume};

thread_local! {
    static COUNT: Cell<usize> = const { Cell::new(0) };
}

/// The system's allocator, counting the calls of each thread.
struct Counting;

// SAFETY: every call goes on to the system's allocator unchanged.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let _ = COUNT.try_with(|c| c.set(c.get() + 1));
        // SAFETY: the caller's promise is passed on.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: the caller's promise is passed on.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

#[test]
fn a_stack_and_a_closed_loop_step_and_are_read_without_taking_memory() {
    let mut builder = on_ground(0.5);
    for level in 0..3 {
        cube(&mut builder, 0.1, 0.0, 0.1 + 0.2 * f64::from(level), 0.5);
    }
    let mass = MassProperties::new(1.0, Vector3::new(0.1, 0.0, 0.0), Matrix3::identity() * 0.01);
    let (mut parent, mut pose) = (BodyId::WORLD, Isometry3::translation(1.0, 0.0, 2.0));
    for _ in 0..4 {
        let spec = BodySpec { parent, pose, mass: mass.clone().ok(), ..BodySpec::default() };
        parent = builder.mechanism.body(spec);
        let mut joint = JointSpec::new(JointKind::Hinge { axis: Vector3::y() });
        joint.friction_loss = 0.01;
        joint.limit = Some(Limit { lower: -3.0, upper: 3.0, margin: 6.0 });
        builder.mechanism.joint(parent, joint);
        pose = Isometry3::translation(0.2, 0.0, 0.0);
    }
    let connect = Connect {
        body_a: BodyId::WORLD,
        point_a: Vector3::new(1.8, 0.0, 2.0),
        body_b: parent,
        point_b: Vector3::new(0.2, 0.0, 0.0),
    };
    builder.equality("end", Equality::Connect(connect));
    let at = SensorFrame::of(parent);
    for kind in [
        SensorKind::Accelerometer(at),
        SensorKind::Force(at),
        SensorKind::Touch { at: SensorFrame::of(BodyId(1)), volume: TouchVolume::Sphere(1.0) },
        SensorKind::JointActuatorForce(JointId(3)),
        SensorKind::Gyro(at),
    ] {
        builder.sensor(SensorSpec::new(kind.name(), kind));
    }
    let mut simulation = start(builder, 0.01);
    for _ in 0..200 {
        let _ = simulation.step().unwrap();
        let _ = simulation.sensor_data();
    }
    let before = COUNT.get();
    for _ in 0..20 {
        let report = simulation.step().unwrap();
        assert!(report.contacts >= 12);
        assert!(simulation.sensor_data().iter().all(|x| x.is_finite()));
    }
    assert_eq!(COUNT.get() - before, 0);
}
