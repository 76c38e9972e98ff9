//! A shape on a body, with its surface.

use nalgebra::Isometry3;
use stiction_geom::{Groups, Shape};
use stiction_mech::BodyId;

use crate::surface::Surface;

/// A shape on a body.
#[derive(Clone, Debug)]
pub struct Geom {
    /// Name, empty or different from all others.
    pub name: String,
    /// The body that carries it.
    pub body: BodyId,
    /// Its geometry.
    pub shape: Shape,
    /// Pose in the frame of the body.
    pub pose: Isometry3<f64>,
    /// Its surface.
    pub surface: Surface,
    /// Collision groups: its category, and the mask of those with which it collides.
    pub groups: Groups,
    /// Distance [m] within which its contacts are detected, at any velocity.
    pub margin: f64,
    /// Distance [m] at which its contacts begin to act (MJCF: margin). Those of two shapes in contact
    /// add up.
    pub standoff: f64,
    /// Red, green, blue and opacity, each from 0 to 1; for viewers.
    pub colour: [f32; 4],
    /// Shape that rays meet in its place, such as the triangles whose convex hull collides.
    pub ray_shape: Option<Shape>,
}

impl Geom {
    /// A shape at the origin of a body, with the default surface.
    pub fn new(body: BodyId, shape: Shape) -> Self {
        Self {
            name: String::new(),
            body,
            shape,
            pose: Isometry3::identity(),
            surface: Surface::default(),
            groups: Groups::default(),
            margin: 0.0,
            standoff: 0.0,
            colour: [0.6, 0.6, 0.6, 1.0],
            ray_shape: None,
        }
    }

    /// With a surface.
    pub fn surface(mut self, surface: Surface) -> Self {
        self.surface = surface;
        self
    }

    /// With a pose in the frame of the body.
    pub fn at(mut self, pose: Isometry3<f64>) -> Self {
        self.pose = pose;
        self
    }

    /// With a name.
    pub fn named(mut self, name: impl Into<String>) -> Self {
        self.name = name.into();
        self
    }

    /// With a colour.
    pub fn coloured(mut self, red: f32, green: f32, blue: f32) -> Self {
        self.colour = [red, green, blue, 1.0];
        self
    }
}
