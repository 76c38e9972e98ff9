//! Times steps of a cable that hangs free and of one that a hand winds around a cylinder.
//!
//! `cargo run --release -p stiction-sim --example cable_timing [solver ...]`

#![allow(clippy::unwrap_used)] // it is an example: what cannot be built may stop it

use std::f64::consts::{PI, TAU};
use std::time::Instant;

use nalgebra::{Isometry3, Translation3, UnitQuaternion, Vector3};
use stiction_geom::Shape;
use stiction_mech::{BodyId, BodySpec};
use stiction_sim::{
    CableCourse, CableEnd, CableSpec, Geom, PHASES, Settings, Simulation, Surface, WorldBuilder,
};

const TIME_STEP: f64 = 0.01;
const LENGTH: f64 = 1.6;
const DRUM: f64 = 0.06;

fn hose(segments: usize, course: CableCourse, ends: [CableEnd; 2]) -> CableSpec {
    let surface = Surface::with_friction(0.5);
    CableSpec { course, segments, ends, surface, ..CableSpec::default() }
}

fn hanging(segments: usize) -> WorldBuilder {
    let across = UnitQuaternion::from_axis_angle(&Vector3::y_axis(), 0.5 * PI);
    let pose = Isometry3::from_parts(Translation3::identity(), across);
    let course = CableCourse::Straight { pose, length: LENGTH };
    let mut builder = WorldBuilder::new();
    builder.cable(hose(segments, course, [CableEnd::Held(BodyId::WORLD), CableEnd::Free]));
    builder
}

/// A cable between the world and a hand, beside a cylinder.
fn winding(segments: usize) -> (WorldBuilder, Vector3<f64>) {
    let mut builder = WorldBuilder::new();
    let lying = UnitQuaternion::from_axis_angle(&Vector3::x_axis(), 0.5 * PI);
    builder.geom(
        Geom::new(BodyId::WORLD, Shape::cylinder(DRUM, 0.5).unwrap())
            .surface(Surface::with_friction(0.5))
            .at(Isometry3::from_parts(Translation3::identity(), lying)),
    );
    let start = Vector3::new(-0.3, 0.0, DRUM + 0.01);
    let end = start + Vector3::new(LENGTH, 0.0, 0.0);
    let pose = Isometry3::from_parts(Translation3::from(end), UnitQuaternion::identity());
    let hand = builder.mechanism.body(BodySpec { pose, driven: true, ..BodySpec::default() });
    let course = CableCourse::Path(vec![start, end]);
    builder.cable(hose(segments, course, [CableEnd::Held(BodyId::WORLD), CableEnd::Held(hand)]));
    (builder, end)
}

/// The hand's pose after a time [s]: on the involute of the drum, as the cable is wound up.
fn hand(time: f64, end: &Vector3<f64>) -> Isometry3<f64> {
    let angle = (0.6 * time).min(1.75 * TAU);
    let around = DRUM + 0.01;
    let left = (end.x - around * angle).max(0.1) - 0.02 * angle / TAU;
    let turn = UnitQuaternion::from_axis_angle(&Vector3::y_axis(), angle);
    let start = Vector3::new(left, 0.02 * angle, around);
    Isometry3::from_parts(Translation3::from(turn * start), turn)
}

fn main() {
    let named: Vec<String> = std::env::args().skip(1).collect();
    let solvers = if named.is_empty() { vec!["auto".to_owned(), "alm".to_owned()] } else { named };
    for solver in &solvers {
        for segments in [160, 320] {
            let settings =
                Settings { time_step: TIME_STEP, solver: solver.clone(), ..Settings::default() };
            let world = hanging(segments).build().unwrap();
            let simulation = Simulation::new(world, settings.clone()).unwrap();
            run(&format!("{solver} hanging {segments}"), simulation, 300, None);
            let (builder, end) = winding(segments);
            let simulation = Simulation::new(builder.build().unwrap(), settings).unwrap();
            run(&format!("{solver} winding {segments}"), simulation, 2000, Some(end));
        }
    }
}

fn run(name: &str, mut simulation: Simulation, steps: usize, end: Option<Vector3<f64>>) {
    let mut phases = vec![0.0; PHASES.len()];
    let (mut times, mut iterations, mut contacts, mut softened) = (Vec::new(), 0, 0, 0);
    let mut not_converged = 0;
    for k in 1..=steps {
        if let Some(end) = &end {
            simulation.input_mut().driven_pose[0] = hand(TIME_STEP * k as f64, end);
        }
        let clock = Instant::now();
        let report = match simulation.step() {
            Ok(report) => report,
            Err(error) => {
                println!("{name}: step {k}: {error}");
                return;
            }
        };
        times.push(clock.elapsed().as_secs_f64());
        iterations += report.iterations;
        contacts = contacts.max(report.contacts);
        softened += usize::from(report.softened);
        not_converged += usize::from(!report.converged());
        for (sum, phase) in phases.iter_mut().zip(report.phases.all()) {
            *sum += phase.as_secs_f64() / steps as f64;
        }
    }
    times.sort_by(f64::total_cmp);
    let mean = times.iter().sum::<f64>() / steps as f64;
    println!(
        "{name:24} mean {:7.3} ms, median {:7.3}, 99 % {:7.3}; iterations {:5.1}, contacts ≤ {contacts}, \
         softened {softened}, not converged {not_converged}",
        1e3 * mean,
        1e3 * times[steps / 2],
        1e3 * times[steps * 99 / 100],
        iterations as f64 / steps as f64,
    );
    print!("    ");
    for (phase, sum) in PHASES.iter().zip(&phases) {
        print!("{phase} {:.3}, ", 1e3 * sum);
    }
    println!("[ms]");
}
