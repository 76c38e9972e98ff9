//! Visual shapes of a world: shapes on bodies, with their colours.

use std::sync::Arc;

use nalgebra::Isometry3;
use stiction_geom::{Groups, Shape};

use crate::world::{Geom, World};

/// Triangles in a frame of their own, counter-clockwise seen from outside.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Triangles {
    /// Corners [m].
    pub vertices: Vec<[f32; 3]>,
    /// Three corners each.
    pub triangles: Vec<[u32; 3]>,
}

/// Geometry of a visual shape.
#[derive(Clone, Debug)]
pub enum Geometry {
    /// A shape of `stiction_geom`.
    Shape(Shape),
    /// A mesh that is visual only.
    Triangles(Arc<Triangles>),
}

/// A visual shape.
#[derive(Clone, Debug)]
pub struct VisualShape {
    /// Name, may be empty.
    pub name: String,
    /// Index of the body that carries it.
    pub body: usize,
    /// Pose in the frame of the body.
    pub pose: Isometry3<f64>,
    /// Its geometry.
    pub geometry: Geometry,
    /// Red, green, blue and opacity, each from 0 to 1.
    pub colour: [f32; 4],
    /// Whether it can collide; false for shapes that are visual only.
    pub collides: bool,
}

impl VisualShape {
    /// The shapes of a world, each with its own index.
    pub(super) fn of_world(world: &World) -> Vec<Self> {
        let pairs = world.colliders.explicit_pairs();
        let of_geom = |(index, geom): (usize, &Geom)| Self {
            name: geom.name.clone(),
            body: geom.body.0,
            pose: geom.pose,
            geometry: Geometry::Shape(geom.shape.clone()),
            colour: geom.colour,
            collides: geom.groups != Groups { category: 0, mask: 0 }
                || pairs.iter().any(|&(a, b)| [a, b].contains(&(index as u32))),
        };
        world.geoms().iter().enumerate().map(of_geom).collect()
    }
}
