//! Rangefinders: where a ray first meets a shape.
//!
//! Rays meet the shapes that collide, or what stands for them ([`Geom::ray_shape`](crate::Geom)), and the
//! [`Scenery`]; not what is on the body of the sensor, and nothing that is fully transparent. Cost: one query
//! per shape.

use nalgebra::{Isometry3, Vector3};
use stiction_geom::{Ray, RayHit, Shape};
use stiction_mech::{BodyId, Data};

use crate::error::WorldError;
use crate::world::{Renumber, World, WorldBuilder};

/// A shape that rays meet and that touches nothing.
#[derive(Clone, Debug)]
pub struct Scenery {
    /// The body that carries it.
    pub body: BodyId,
    /// Pose in the frame of the body.
    pub pose: Isometry3<f64>,
    /// Its geometry.
    pub shape: Shape,
}

impl Scenery {
    pub(crate) fn renumber(&mut self, to: &Renumber) -> Result<(), WorldError> {
        self.body = to.body(self.body, || "scenery".to_owned())?;
        Ok(())
    }
}

impl WorldBuilder {
    /// Adds a shape that rays meet and that touches nothing.
    pub fn scenery(&mut self, scenery: Scenery) {
        self.scenery.push(scenery);
    }
}

/// The quantities that a rangefinder reads, in this order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RayReadings {
    /// Distance from the start of the ray [m]; −1 if it meets nothing.
    pub distance: bool,
    /// Direction of the ray in the world; zero if it meets nothing.
    pub direction: bool,
    /// Start of the ray in the world [m].
    pub origin: bool,
    /// The point in the world [m]; zero if there is none.
    pub point: bool,
    /// Outward normal of the surface, world axes; zero if there is none.
    pub normal: bool,
    /// Distance from the plane across the ray at its start [m]; −1 if it meets nothing.
    pub depth: bool,
}

impl RayReadings {
    /// Numbers in a reading.
    pub fn dim(&self) -> usize {
        let vectors = [self.direction, self.origin, self.point, self.normal];
        let scalars = [self.distance, self.depth];
        3 * vectors.iter().filter(|read| **read).count()
            + scalars.iter().filter(|read| **read).count()
    }

    fn write(&self, ray: &Ray, hit: Option<RayHit>, out: &mut [f64]) {
        let distance = hit.map_or(-1.0, |hit| hit.distance);
        let of_hit = |vector: fn(&Ray, RayHit) -> Vector3<f64>| {
            hit.map_or_else(Vector3::zeros, |hit| vector(ray, hit))
        };
        let mut rest = out;
        let mut put = |read: bool, numbers: &[f64]| {
            if read {
                let (now, later) = std::mem::take(&mut rest).split_at_mut(numbers.len());
                now.copy_from_slice(numbers);
                rest = later;
            }
        };
        put(self.distance, &[distance]);
        put(self.direction, of_hit(|ray, _| ray.direction).as_slice());
        put(self.origin, ray.origin.as_slice());
        put(self.point, of_hit(|ray, hit| ray.at(hit.distance)).as_slice());
        put(self.normal, of_hit(|_, hit| hit.normal).as_slice());
        put(self.depth, &[distance]);
    }
}

/// Reads the ray along the z-axis of the frame `X_WF` on a body.
pub(super) fn read(
    world: &World,
    data: &Data,
    (body, X_WF): (BodyId, &Isometry3<f64>),
    reads: RayReadings,
    out: &mut [f64],
) {
    let direction = X_WF.rotation * Vector3::z();
    let ray = Ray { origin: X_WF.translation.vector, direction };
    let nearest = world.cast_ray(data, &ray, |carrier| carrier != body);
    reads.write(&ray, nearest.map(|(hit, _)| hit), out);
}

impl World {
    /// Where a ray first meets a shape at the poses in `data`, and the index of that shape unless it is [`Scenery`].
    /// Fully transparent shapes, and those of bodies that do not count, are passed through.
    pub fn cast_ray(
        &self,
        data: &Data,
        ray: &Ray,
        counts: impl Fn(BodyId) -> bool,
    ) -> Option<(RayHit, Option<usize>)> {
        let world = self;
        let geoms = world.geoms.iter().enumerate().filter(|(_, geom)| geom.colour[3] > 0.0).map(
            |(index, geom)| {
                (Some(index), geom.body, &geom.pose, geom.ray_shape.as_ref().unwrap_or(&geom.shape))
            },
        );
        let scenery =
            world.scenery.iter().map(|other| (None, other.body, &other.pose, &other.shape));
        let mut nearest: Option<(RayHit, Option<usize>)> = None;
        for (index, carrier, pose, shape) in geoms.chain(scenery) {
            if !counts(carrier) {
                continue;
            }
            let X_WS = data.body_pose[carrier.0] * pose;
            let limit = nearest.map_or(f64::MAX, |(hit, _)| hit.distance);
            if let Some(hit) = shape.cast(&ray.in_frame(&X_WS), limit)
                && hit.distance < limit
            {
                nearest = Some((RayHit { normal: X_WS.rotation * hit.normal, ..hit }, index));
            }
        }
        nearest
    }
}
