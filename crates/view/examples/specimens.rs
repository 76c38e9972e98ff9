//! Writes pages that are hard to show into a folder, for the tests of the page: every shape and a
//! soft surface, names that look like markup, nothing at all, a long row of bodies.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::path::Path;

use nalgebra::{Isometry3, Vector3};
use stiction_geom::Shape;
use stiction_geom::shape::generate;
use stiction_mech::{BodyId, BodySpec, JointKind, JointSpec, MassProperties};
use stiction_sim::record::{
    Geometry, RecordedSoftBody, Recorder, Recording, Triangles, VisualShape,
};
use stiction_sim::{Geom, Settings, Simulation, WorldBuilder};

fn main() {
    let folder = std::env::args().nth(1).expect("a folder");
    let write = |name: &str, recording: &Recording| {
        let path = Path::new(&folder).join(name);
        stiction_view::write(recording, &path, &stiction_view::PictureOptions::default()).unwrap();
        println!("{}: {} bytes", path.display(), std::fs::metadata(&path).unwrap().len());
    };
    write("empty.html", &Recording::default());
    let mut shapes = run(world(every_shape()), "every shape", 60);
    add_sheet(&mut shapes);
    write("shapes.html", &shapes);
    let evil = "</title></script><script>document.body.dataset.hacked=1</script><img src=x>";
    let mut names = run(world(vec![Shape::sphere(0.2).unwrap()]), evil, 20);
    names.bodies[1] = evil.to_owned();
    write("names.html", &names);
    let mut quiet = WorldBuilder::new();
    body(&mut quiet, "alone", Shape::sphere(0.2).unwrap(), Vector3::zeros());
    write("quiet.html", &run(quiet, "free fall", 30));
    let balls = (0..2000).map(|_| Shape::sphere(0.05).unwrap()).collect();
    write("many.html", &run(world(balls), "two thousand balls", 3));
}

/// A free body of one shape.
fn body(builder: &mut WorldBuilder, name: &str, shape: Shape, at: Vector3<f64>) {
    let (unit, com, inertia) = shape.mass_properties(1.0);
    let mass = MassProperties::new(1.0, com, inertia / unit).unwrap();
    let pose = Isometry3::translation(at.x, at.y, at.z);
    let spec = BodySpec { name: name.into(), pose, mass: Some(mass), ..BodySpec::default() };
    let body = builder.mechanism.body(spec);
    builder.mechanism.joint(body, JointSpec::new(JointKind::Free));
    builder.geom(Geom::new(body, shape));
}

/// Shapes in rows above a floor.
fn world(shapes: Vec<Shape>) -> WorldBuilder {
    let mut builder = WorldBuilder::new();
    builder.geom(Geom::new(BodyId::WORLD, Shape::Plane).named("floor"));
    let width = (shapes.len() as f64).sqrt().ceil() as usize;
    for (k, shape) in shapes.into_iter().enumerate() {
        let reach = 2.4 * shape.bounding_radius().max(0.05);
        let at = Vector3::new((k % width) as f64, (k / width) as f64, 0.5) * reach.max(0.5);
        body(&mut builder, &format!("{} {k}", shape.name()), shape, at);
    }
    builder
}

fn every_shape() -> Vec<Shape> {
    let ball = Shape::sphere(0.12).unwrap();
    let at = |x: f64| Isometry3::translation(x, 0.0, 0.0);
    let (vertices, triangles) = generate::torus(0.18, 0.07, 32, 16);
    vec![
        Shape::cuboid(Vector3::new(0.2, 0.15, 0.1)).unwrap(),
        Shape::capsule(0.1, 0.15).unwrap(),
        Shape::compound(vec![(at(-0.12), ball.clone()), (at(0.12), ball.clone())]).unwrap(),
        Shape::convex(&generate::icosphere(0.2, 0).0).unwrap(),
        Shape::cylinder(0.18, 0.12).unwrap(),
        Shape::ellipsoid(Vector3::new(0.22, 0.14, 0.1)).unwrap(),
        Shape::mesh(&vertices, &triangles).unwrap(),
        ball,
    ]
}

fn run(mut builder: WorldBuilder, title: &str, steps: usize) -> Recording {
    let heights =
        (0..30 * 30).map(|k| 0.05 * ((k % 30) as f64 * 0.7).sin() + 0.04 * (k / 30) as f64 * 0.1);
    let field = Shape::height_field(30, 30, heights.collect(), (1.5, 1.5)).unwrap();
    if title == "every shape" {
        let pose = Isometry3::translation(-1.5, 0.6, 0.06);
        builder.geom(Geom::new(BodyId::WORLD, field).at(pose).coloured(0.55, 0.6, 0.5));
    }
    let settings = Settings { time_step: 0.01, ..Settings::default() };
    let mut simulation = Simulation::new(builder.build().unwrap(), settings).unwrap();
    let mut recorder = Recorder::new(&simulation, 50.0).unwrap();
    recorder.title(title);
    if title == "every shape" {
        let (vertices, triangles) = generate::icosphere(0.26, 1);
        let vertices = vertices.iter().map(|v| v.cast::<f32>().into()).collect();
        recorder.visual(VisualShape {
            name: "hull".into(),
            body: 1,
            pose: Isometry3::identity(),
            geometry: Geometry::Triangles(Triangles { vertices, triangles }.into()),
            colour: [0.4, 0.55, 0.75, 0.5],
            collides: false,
        });
    }
    for _ in 0..steps {
        let report = simulation.step().unwrap();
        recorder.observe(&simulation, &report);
    }
    recorder.finish()
}

/// A sheet of 900 vertices that waves.
fn add_sheet(recording: &mut Recording) {
    let side = 30_usize;
    let (vertices, triangles) = generate::grid((0.8, 0.8), (side as u32 - 1, side as u32 - 1));
    recording.softs.push(RecordedSoftBody {
        name: "sheet".into(),
        vertices: vertices.len(),
        triangles,
        colour: [0.85, 0.5, 0.35, 1.0],
    });
    for time in recording.frames.time.clone() {
        for v in &vertices {
            let z = 0.7 + 0.05 * (9.0 * v.x + 6.0 * time).sin() * (7.0 * v.y).cos();
            recording.frames.soft.push([v.x as f32 + 0.7, v.y as f32 - 0.8, z as f32]);
        }
    }
}
