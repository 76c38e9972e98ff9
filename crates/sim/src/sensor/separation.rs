//! The shortest segment between the surfaces of shapes, whether or not they collide.
//!
//! The narrow phase finds it: its deepest contact within the cutoff. Of the shapes of a body, the nearest
//! counts. In penetration the distance is negative and the segment runs against the normal of the contact, as in
//! MuJoCo. Cost: one query of the narrow phase per pair of shapes.

use nalgebra::Vector3;
use stiction_geom::narrow::{self, Manifold, PosedShape};
use stiction_mech::{BodyId, Data};

use crate::world::World;

/// Shapes on one side of a distance.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum SensedShapes {
    /// One shape, by its index.
    Geom(usize),
    /// All shapes of a body.
    Body(BodyId),
}

/// What is read of the shortest segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SeparationReading {
    /// Its signed length [m]; the cutoff if there is none.
    Distance,
    /// Its direction from the first side to the second; zero if there is none.
    Normal,
    /// Its ends in the world, on the first side and on the second [m]; zeros if there is none.
    Segment,
}

impl SensedShapes {
    fn of(self, world: &World) -> impl Iterator<Item = usize> {
        let (range, body) = match self {
            Self::Geom(index) => (index..index + 1, None),
            Self::Body(body) => (0..world.geoms.len(), Some(body)),
        };
        range.filter(move |index| body.is_none_or(|body| world.geoms[*index].body == body))
    }
}

/// Reads the shortest segment within `cutoff` [m] between two sides.
pub(super) fn read(
    world: &World,
    data: &Data,
    between: &[SensedShapes; 2],
    reads: SeparationReading,
    cutoff: f64,
    manifold: &mut Manifold,
    out: &mut [f64],
) {
    let Some(Separation { gap, point, normal }) = world.separation(data, between, cutoff, manifold)
    else {
        out.fill(if reads == SeparationReading::Distance { cutoff } else { 0.0 });
        return;
    };
    match reads {
        SeparationReading::Distance => out[0] = gap,
        SeparationReading::Normal => out.copy_from_slice((gap.signum() * normal).as_slice()),
        SeparationReading::Segment => {
            let half = 0.5 * gap * normal;
            out[..3].copy_from_slice((point - half).as_slice());
            out[3..].copy_from_slice((point + half).as_slice());
        }
    }
}

/// The shortest segment between two sides.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Separation {
    /// Its signed length [m], negative in penetration.
    pub gap: f64,
    /// Its middle in the world [m].
    pub point: Vector3<f64>,
    /// Normal from the first side to the second, world axes.
    pub normal: Vector3<f64>,
}

impl World {
    /// The shortest segment within `cutoff` [m] between two sides at the poses in `data`; `None` if there is none.
    pub fn separation(
        &self,
        data: &Data,
        between: &[SensedShapes; 2],
        cutoff: f64,
        manifold: &mut Manifold,
    ) -> Option<Separation> {
        let world = self;
        let pose =
            |index: usize| data.body_pose[world.geoms[index].body.0] * world.geoms[index].pose;
        let mut nearest: Option<Separation> = None;
        for a in between[0].of(world) {
            for b in between[1].of(world) {
                let (X_WA, X_WB) = (pose(a), pose(b));
                let (first, second) = (&world.geoms[a].shape, &world.geoms[b].shape);
                manifold.clear();
                narrow::contacts(
                    PosedShape { shape: first, X_WS: &X_WA },
                    PosedShape { shape: second, X_WS: &X_WB },
                    cutoff,
                    manifold,
                );
                for touch in manifold.points() {
                    if touch.gap <= cutoff && nearest.is_none_or(|found| touch.gap < found.gap) {
                        let (gap, point, normal) = (touch.gap, touch.point, touch.normal);
                        nearest = Some(Separation { gap, point, normal });
                    }
                }
            }
        }
        nearest
    }
}
