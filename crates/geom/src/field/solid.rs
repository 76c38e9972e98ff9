//! Description of a solid by fields: primitives and their combinations, and the queries on them.
//!
//! Values are exact distances for primitives, polygons of revolution and outside unions; elsewhere they are bounds of the
//! distance that never change faster than [`FieldSolid::lipschitz`] times the way. O(parts).

use super::{FieldSample, MachinePart, Profile, SampledGrid, Thread, blend, primitive};
use crate::{Aabb, ShapeError};
use nalgebra::{Isometry3, Point3, Vector3};
use std::sync::Arc;

/// Most solids in one description, and how deep they may be nested.
const MOST_PARTS: usize = 1024;
const DEEPEST: usize = 32;

/// A solid described by fields, in its own frame, axes along z.
#[derive(Clone, Debug)]
pub enum FieldSolid {
    /// A ball by its radius [m].
    Sphere(f64),
    /// A box.
    Box {
        /// Half its edges [m].
        half: Vector3<f64>,
        /// Radius of its edges [m]; its extent stays.
        rounding: f64,
    },
    /// A cylinder.
    Cylinder {
        /// Radius [m].
        radius: f64,
        /// Half the length [m].
        half_length: f64,
        /// Radius of its edges [m]; its extent stays.
        rounding: f64,
    },
    /// All points within a radius of a segment.
    Capsule {
        /// Radius [m].
        radius: f64,
        /// Half the length of the segment [m].
        half_length: f64,
    },
    /// A ring.
    Torus {
        /// Radius of the circle in its middle [m].
        major: f64,
        /// Radius of its section [m].
        minor: f64,
    },
    /// A profile turned about z.
    Revolve(Arc<Profile>),
    /// The thread of a bolt or a nut.
    Thread(Thread),
    /// A bolt, a nut or a gear.
    MachinePart(MachinePart),
    /// A sampled closed mesh.
    Grid(Arc<SampledGrid>),
    /// A solid at a pose.
    Placed(Isometry3<f64>, Box<FieldSolid>),
    /// All points of any part.
    Union {
        /// The parts.
        parts: Vec<FieldSolid>,
        /// Width over which they merge [m].
        smooth: f64,
    },
    /// The points that all parts share.
    Intersection {
        /// The parts.
        parts: Vec<FieldSolid>,
        /// Width over which edges are rounded [m].
        smooth: f64,
    },
    /// The first solid without the second.
    Difference {
        /// The solid.
        from: Box<FieldSolid>,
        /// What is cut away.
        without: Box<FieldSolid>,
        /// Width over which edges are rounded [m].
        smooth: f64,
    },
}

impl FieldSolid {
    /// Value and gradient at the point `p` [m].
    pub fn sample(&self, p: &Vector3<f64>) -> FieldSample {
        match self {
            Self::Sphere(radius) => primitive::sphere(*radius, p),
            Self::Box { half, rounding } => primitive::cuboid(half, *rounding, p),
            Self::Cylinder { radius, half_length, rounding } => {
                primitive::cylinder(*radius, *half_length, *rounding, p)
            }
            Self::Capsule { radius, half_length } => primitive::capsule(*radius, *half_length, p),
            Self::Torus { major, minor } => primitive::torus(*major, *minor, p),
            Self::Revolve(profile) => profile.sample(p),
            Self::Thread(thread) => thread.sample(p),
            Self::MachinePart(part) => part.sample(p),
            Self::Grid(grid) => grid.sample(p),
            Self::Placed(pose, solid) => {
                let found = solid.sample(&pose.inverse_transform_point(&Point3::from(*p)).coords);
                FieldSample { gradient: pose.rotation * found.gradient, ..found }
            }
            Self::Union { parts, smooth } => fold(parts, p, |a, b| blend::union(a, b, *smooth)),
            Self::Intersection { parts, smooth } => {
                fold(parts, p, |a, b| blend::intersection(a, b, *smooth))
            }
            Self::Difference { from, without, smooth } => {
                let cut = blend::complement(without.sample(p));
                blend::intersection(from.sample(p), cut, *smooth)
            }
        }
    }

    /// Bound of the change of the value per length [-]: minima, maxima and their smooth forms do not exceed that of their
    /// parts.
    pub fn lipschitz(&self) -> f64 {
        match self {
            Self::MachinePart(_) => MachinePart::LIPSCHITZ,
            Self::Grid(grid) => grid.lipschitz(),
            _ => self.children().map(Self::lipschitz).fold(1.0, f64::max),
        }
    }

    /// Bound of the difference between the value and the exact distance near the surface, of sampled parts [m].
    pub fn error_bound(&self) -> f64 {
        match self {
            Self::Grid(grid) => grid.error_bound(),
            _ => self.children().map(Self::error_bound).fold(0.0, f64::max),
        }
    }

    /// Bounds [m]; a smooth union may exceed those of its parts by a quarter of its width.
    pub fn bounds(&self) -> Aabb {
        let around = |half: Vector3<f64>| Aabb::around(Vector3::zeros(), half);
        match self {
            Self::Sphere(radius) => around(Vector3::repeat(*radius)),
            Self::Box { half, .. } => around(*half),
            Self::Cylinder { radius, half_length, .. } => {
                around(Vector3::new(*radius, *radius, *half_length))
            }
            Self::Capsule { radius, half_length } => {
                around(Vector3::new(*radius, *radius, radius + half_length))
            }
            Self::Torus { major, minor } => {
                around(Vector3::new(major + minor, major + minor, *minor))
            }
            Self::Revolve(profile) => {
                let (radius, low, high) = profile.extent();
                Aabb {
                    min: Vector3::new(-radius, -radius, low),
                    max: Vector3::new(radius, radius, high),
                }
            }
            Self::Thread(thread) => thread.bounds(),
            Self::MachinePart(part) => part.bounds(),
            Self::Grid(grid) => grid.solid_bounds(),
            Self::Placed(pose, solid) => {
                let bounds = solid.bounds();
                Aabb::of_box(pose, bounds.centre(), 0.5 * bounds.size())
            }
            Self::Union { parts, smooth } => parts
                .iter()
                .map(Self::bounds)
                .fold(Aabb::NONE, |sum, part| sum.union(&part))
                .inflated(0.25 * smooth * parts.len() as f64),
            Self::Intersection { parts, .. } => {
                parts.iter().map(Self::bounds).fold(Aabb::ALL, |sum, part| Aabb {
                    min: sum.min.sup(&part.min),
                    max: sum.max.inf(&part.max),
                })
            }
            Self::Difference { from, .. } => from.bounds(),
        }
    }

    /// Bounding radius about the origin [m].
    pub fn radius(&self) -> f64 {
        match self {
            Self::Sphere(radius) => *radius,
            Self::Capsule { radius, half_length } => radius + half_length,
            Self::Torus { major, minor } => major + minor,
            Self::Revolve(profile) => {
                let reach = |p: &[f64; 2]| p[0].hypot(p[1]);
                profile.points().iter().map(reach).fold(0.0, f64::max) + profile.rounding()
            }
            Self::Difference { from, .. } => from.radius(),
            Self::Cylinder { radius, half_length, .. } => radius.hypot(*half_length),
            _ => {
                let bounds = self.bounds();
                bounds.min.abs().sup(&bounds.max.abs()).norm()
            }
        }
    }

    /// Checks lengths, poses and the number of parts.
    pub fn check(&self) -> Result<(), ShapeError> {
        let mut parts = 0;
        self.check_parts(0, &mut parts)
    }

    fn check_parts(&self, depth: usize, count: &mut usize) -> Result<(), ShapeError> {
        let (shape, element) = ("sdf", "nested or combined solids");
        *count += 1;
        if *count > MOST_PARTS || depth > DEEPEST {
            let found = (*count).max(depth);
            return Err(ShapeError::TooMany { shape, element, found, expected: MOST_PARTS });
        }
        let length = |parameter, found: f64, least: bool| {
            let good = if least { found >= 0.0 } else { found > 0.0 };
            if good && found.is_finite() {
                Ok(())
            } else {
                Err(ShapeError::Length { shape, parameter, found })
            }
        };
        let round = |rounding: f64, most: f64| {
            length("rounding", rounding, true)?;
            if rounding <= most {
                Ok(())
            } else {
                Err(ShapeError::Rounding { found: rounding, most })
            }
        };
        match self {
            Self::Sphere(radius) => length("radius", *radius, false)?,
            Self::Box { half, rounding } => {
                for x in half.iter() {
                    length("half extent", *x, false)?;
                }
                round(*rounding, half.min())?;
            }
            Self::Cylinder { radius, half_length, rounding } => {
                length("radius", *radius, false)?;
                length("half length", *half_length, false)?;
                round(*rounding, radius.min(*half_length))?;
            }
            Self::Capsule { radius, half_length } => {
                length("radius", *radius, false)?;
                length("half length", *half_length, false)?;
            }
            Self::Torus { major, minor } => {
                length("major radius", *major, false)?;
                length("minor radius", *minor, false)?;
                if !(minor < major) {
                    return Err(ShapeError::Rounding { found: *minor, most: *major });
                }
            }
            Self::Thread(thread) => thread.check()?,
            Self::MachinePart(part) => part.check()?,
            Self::Placed(pose, _) => {
                let numbers = pose.translation.vector.iter().chain(pose.rotation.coords.iter());
                if !numbers.clone().all(|x| x.is_finite()) {
                    let p = pose.translation.vector;
                    return Err(ShapeError::Vertex { shape, index: 0, found: [p.x, p.y, p.z] });
                }
            }
            Self::Union { parts, smooth } | Self::Intersection { parts, smooth } => {
                if parts.is_empty() {
                    return Err(ShapeError::TooFew {
                        shape,
                        element: "parts",
                        found: 0,
                        expected: 1,
                    });
                }
                length("smooth", *smooth, true)?;
            }
            Self::Difference { smooth, .. } => length("smooth", *smooth, true)?,
            Self::Revolve(_) | Self::Grid(_) => {}
        }
        self.children().try_for_each(|child| child.check_parts(depth + 1, count))
    }

    /// The solids of which this one is composed.
    fn children(&self) -> impl Iterator<Item = &Self> {
        let (list, pair): (&[Self], [Option<&Self>; 2]) = match self {
            Self::Union { parts, .. } | Self::Intersection { parts, .. } => (parts, [None, None]),
            Self::Placed(_, solid) => (&[], [Some(solid), None]),
            Self::Difference { from, without, .. } => (&[], [Some(from), Some(without)]),
            _ => (&[], [None, None]),
        };
        list.iter().chain(pair.into_iter().flatten())
    }
}

fn fold(
    parts: &[FieldSolid],
    p: &Vector3<f64>,
    combine: impl Fn(FieldSample, FieldSample) -> FieldSample,
) -> FieldSample {
    let nowhere = FieldSample { value: f64::INFINITY, gradient: Vector3::zeros() };
    parts.iter().map(|part| part.sample(p)).reduce(combine).unwrap_or(nowhere)
}
