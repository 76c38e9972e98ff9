//! Parts that scenarios with soft bodies share: meshes that become bodies, forces, speeds, places.

use nalgebra::Vector3;
use stiction_geom::TetMesh;
use stiction_mech::{Material, SoftId, SoftSpec};
use stiction_sim::Simulation;

/// A soft body of a mesh.
pub fn soft(name: &str, mesh: &TetMesh, material: Material, density: f64) -> SoftSpec {
    let (vertices, tetrahedra) = (mesh.vertices().to_vec(), mesh.tetrahedra().to_vec());
    SoftSpec { name: name.to_owned(), ..SoftSpec::new(vertices, tetrahedra, material, density) }
}

/// The vertices of a soft body for whose places something holds.
pub fn vertices_where(spec: &SoftSpec, holds: impl Fn(&Vector3<f64>) -> bool) -> Vec<u32> {
    let places = spec.vertices.iter().enumerate();
    places.filter(|(_, place)| holds(place)).map(|(vertex, _)| vertex as u32).collect()
}

/// Force [N] of all contacts on a shape.
pub fn force_on(simulation: &Simulation, geom: usize) -> Vector3<f64> {
    let sign = |side: usize| if side == 0 { -1.0 } else { 1.0 };
    let on = |(force, geoms): (Vector3<f64>, [usize; 2])| {
        let side = geoms.iter().position(|other| *other == geom);
        side.map_or(Vector3::zeros(), |side| sign(side) * force)
    };
    simulation.contacts().iter().map(|c| on((c.force, c.geoms))).sum()
}

/// Speed of the fastest vertex of all soft bodies [m/s].
pub fn fastest(simulation: &Simulation) -> f64 {
    simulation.state().x_dot.iter().fold(0.0, |most: f64, v| most.max(v.norm()))
}

/// Centre of mass of a soft body [m].
pub fn centre(simulation: &Simulation, soft: SoftId) -> Vector3<f64> {
    let body = &simulation.world().model().softs()[soft.0];
    body.centre_of_mass(&simulation.state().x[body.nodes.clone()])
}

/// The largest of numbers that are not negative; NaN stays.
pub fn largest(most: f64, x: f64) -> f64 {
    if x.is_nan() || x > most { x } else { most }
}
