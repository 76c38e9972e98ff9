//! Random worlds: one plan per seed and index.

use std::collections::BTreeSet;
use std::f64::consts::PI;

use nalgebra::{Isometry3, Translation3, UnitQuaternion, Vector3};
use stiction_geom::Shape;
use stiction_geom::shape::generate;
use stiction_math::random::{SplitMix64, mix64};
use stiction_mech::{ActuatorLaw, JointKind, JointSpec, Limit};
use stiction_sim::Surface;

use super::plan::{
    ActuatorPlan, BodyPlan, CablePlan, EqualityKind, EqualityPlan, Ground, SoftPlan, WorldClass,
    WorldPlan,
};

/// Largest number of bodies, and depth of trees.
const MAX_BODIES: usize = 12;
const MAX_DEPTH: usize = 6;
/// Frequency times step of springs and servos of well-posed worlds, at most [-].
const WELL_POSED_FREQUENCY: f64 = 0.05;
const STANDARD_GRAVITY: f64 = 9.81;

/// The world of a seed and an index.
pub fn generate(seed: u64, index: u64) -> WorldPlan {
    let random = SplitMix64::new(mix64(mix64(seed).wrapping_add(index)));
    let mut generator = Generator { random, class: WorldClass::WellPosed, spheres: Vec::new() };
    generator.world()
}

struct Generator {
    random: SplitMix64,
    class: WorldClass,
    /// Bounding spheres of what was placed: centre and radius [m].
    spheres: Vec<(Vector3<f64>, f64)>,
}

impl Generator {
    fn chance(&mut self, probability: f64) -> bool {
        self.random.unit() < probability
    }

    fn is_harsh(&self) -> bool {
        self.class == WorldClass::Harsh
    }

    fn world(&mut self) -> WorldPlan {
        if self.chance(0.5) {
            self.class = WorldClass::Harsh;
        }
        let time_step = if self.is_harsh() {
            self.random.log_uniform(1e-5, 0.1)
        } else {
            self.random.log_uniform(1e-5, 0.005)
        };
        let isolated = self.chance(0.15);
        let weightless = isolated || self.chance(0.1);
        let strength = if weightless { 0.0 } else { STANDARD_GRAVITY };
        let ground = if isolated { Ground::None } else { self.ground() };
        let ground_surface = self.surface();
        let mut plan = WorldPlan {
            class: self.class,
            time_step,
            gravity: Vector3::new(0.0, 0.0, -strength),
            ground,
            ground_surface,
            bodies: Vec::new(),
            equalities: Vec::new(),
            soft: None,
            cable: None,
            removed: BTreeSet::new(),
        };
        let base_mass = self.random.log_uniform(0.01, 1.0);
        let count = 1 + self.random.below(MAX_BODIES);
        let mut depths: Vec<usize> = Vec::new();
        for k in 0..count {
            let parent = (k > 0 && self.chance(0.5)).then(|| self.random.below(k));
            let parent = parent.filter(|p: &usize| depths[*p] + 1 < MAX_DEPTH);
            depths.push(parent.map_or(0, |p| depths[p] + 1));
            let body = self.body(&plan, parent, base_mass, isolated);
            plan.bodies.push(body);
        }
        if self.chance(0.25) {
            self.equalities(&mut plan, isolated);
        }
        if self.chance(0.08) {
            plan.soft = Some(self.soft());
        }
        if self.chance(0.08) {
            plan.cable = Some(self.cable(isolated));
        }
        plan
    }

    fn surface(&mut self) -> Surface {
        let friction = match self.random.below(5) {
            0 => 0.0,
            1 if self.is_harsh() => self.random.log_uniform(1.0, 1e3),
            _ => self.random.uniform(0.1, 1.0),
        };
        let restitution = match self.random.below(3) {
            0 => self.random.unit(),
            _ => 0.0,
        };
        Surface { restitution, ..Surface::with_friction(friction) }
    }

    fn ground(&mut self) -> Ground {
        let at = |x: f64, y: f64, z: f64| Isometry3::translation(x, y, z);
        match self.random.below(5) {
            0 => Ground::None,
            1 => Ground::Shapes("plane", vec![(Isometry3::identity(), Shape::Plane)]),
            2 => {
                let slab = Shape::Box(Vector3::new(5.0, 5.0, 0.5));
                Ground::Shapes("box", vec![(at(0.0, 0.0, -0.5), slab)])
            }
            3 => {
                let side = self.random.uniform(0.2, 0.6);
                let tile = Shape::Box(Vector3::new(side, side, 0.25));
                let place = |k: i32| 2.0 * side * (f64::from(k) - 2.0);
                let places = (0..25).map(|k| (place(k % 5), place(k / 5)));
                let tiles = places.map(|(x, y)| (at(x, y, -0.25), tile.clone())).collect();
                Ground::Shapes("tiles", tiles)
            }
            _ => {
                let n = 8 + self.random.below(9);
                let rough = self.random.uniform(0.0, 0.1);
                let heights = (0..n * n).map(|_| rough * (self.random.unit() - 1.0)).collect();
                match Shape::height_field(n, n, heights, (6.0, 6.0)) {
                    Ok(field) => {
                        Ground::Shapes("height field", vec![(Isometry3::identity(), field)])
                    }
                    Err(_) => Ground::None,
                }
            }
        }
    }

    /// A shape; `None` if its numbers do not make one.
    fn shape(&mut self) -> Option<Shape> {
        let (low, high) = if self.is_harsh() { (0.01, 0.5) } else { (0.04, 0.15) };
        let scale = self.random.log_uniform(low, high);
        let aspect = if self.is_harsh() { 10.0 } else { 2.5 };
        let mut size = || scale * self.random.log_uniform(1.0 / aspect, 1.0);
        let (a, b, c) = (size(), size(), size());
        let shape = match self.random.below(9) {
            0 | 1 => Shape::sphere(scale),
            2 => Shape::cuboid(Vector3::new(a, b, c)),
            3 => Shape::capsule(a, b),
            4 => Shape::cylinder(a, b),
            5 => Shape::ellipsoid(Vector3::new(a, b, c)),
            6 => {
                let radii = Vector3::new(a, b, c);
                let count = 5 + self.random.below(16);
                let points: Vec<_> =
                    (0..count).map(|_| self.random.direction().component_mul(&radii)).collect();
                Shape::convex(&points)
            }
            7 => {
                let (vertices, triangles) = if self.random.below(2) == 0 {
                    generate::torus(scale, 0.35 * scale, 14, 8)
                } else {
                    generate::dish(scale, 0.6 * scale, 0.15 * scale, 12)
                };
                Shape::mesh(&vertices, &triangles)
            }
            _ => {
                let parts = [Shape::Box(Vector3::new(a, b, c)), Shape::Sphere { radius: b }];
                let places = [Vector3::zeros(), Vector3::new(a, 0.0, c)];
                let poses = places.map(|p| Isometry3::from_parts(p.into(), self.random.rotation()));
                Shape::compound(poses.into_iter().zip(parts).collect())
            }
        };
        shape.ok()
    }

    /// A place for a sphere; `None` if all tries overlap something.
    fn place(
        &mut self,
        radius: f64,
        mut draw: impl FnMut(&mut SplitMix64) -> Vector3<f64>,
    ) -> Option<Vector3<f64>> {
        let overlap_allowed = self.is_harsh() && self.chance(0.3);
        for _ in 0..30 {
            let centre = draw(&mut self.random);
            let free = |(p, r): &(Vector3<f64>, f64)| (p - centre).norm() > 1.02 * (r + radius);
            let above = centre.z > 1.02 * radius;
            if overlap_allowed || above && self.spheres.iter().all(free) {
                self.spheres.push((centre, radius));
                return Some(centre);
            }
        }
        None
    }

    fn body(
        &mut self,
        plan: &WorldPlan,
        parent: Option<usize>,
        base_mass: f64,
        isolated: bool,
    ) -> BodyPlan {
        let shape = self.shape().unwrap_or(Shape::Sphere { radius: 0.1 });
        let radius = shape.bounding_radius();
        let mass = base_mass
            * if self.is_harsh() && self.chance(0.2) {
                self.random.log_uniform(1e-2, 1e4)
            } else {
                self.random.log_uniform(1.0, 1e3)
            };
        let near = parent.map(|p| &plan.bodies[p]);
        let centre = self.place(radius, |random| match near {
            Some(near) => {
                let reach = near.shape.bounding_radius() + radius;
                let at = near.pose_W.translation.vector;
                at + reach * random.uniform(1.05, 1.6) * random.direction()
            }
            None => {
                let (x, y) = (random.signed_unit(), random.signed_unit());
                Vector3::new(1.2 * x, 1.2 * y, radius + random.uniform(0.02, 1.5))
            }
        });
        let collides = centre.is_some();
        let elsewhere =
            || near.map_or(Vector3::new(0.0, 0.0, 3.0), |n| n.pose_W.translation.vector);
        let rotation =
            if self.chance(0.3) { UnitQuaternion::identity() } else { self.random.rotation() };
        let centre = centre.unwrap_or_else(elsewhere);
        let pose_W = Isometry3::from_parts(Translation3::from(centre), rotation);
        let pose = near.map_or(pose_W, |near| near.pose_W.inverse() * pose_W);
        let joint = self.joint(plan, (parent, &pose, &shape, mass), isolated);
        let velocity = self.velocity(&joint.kind, plan.time_step);
        let is_single = joint.kind.nv() == 1;
        let actuator = (is_single && self.chance(0.3))
            .then(|| self.actuator(plan, (parent, &shape, mass), &joint));
        let surface = self.surface();
        BodyPlan { parent, pose, pose_W, joint, mass, shape, collides, surface, velocity, actuator }
    }

    /// Least inertia that a coordinate between a body and its parent can have [kg, kg·m²].
    fn least_inertia(
        plan: &WorldPlan,
        (parent, shape, mass): (Option<usize>, &Shape, f64),
        slides: bool,
    ) -> f64 {
        let of = |shape: &Shape, mass: f64| {
            if slides {
                return mass;
            }
            let (unit, _, inertia) = shape.mass_properties(1.0);
            mass / unit * inertia.symmetric_eigenvalues().min()
        };
        let own = of(shape, mass);
        parent.map_or(own, |p| own.min(of(&plan.bodies[p].shape, plan.bodies[p].mass)))
    }

    fn joint(
        &mut self,
        plan: &WorldPlan,
        (parent, pose, shape, mass): (Option<usize>, &Isometry3<f64>, &Shape, f64),
        isolated: bool,
    ) -> JointSpec {
        if parent.is_none() && (isolated || self.chance(0.7)) {
            return JointSpec::new(JointKind::Free);
        }
        let axis = self.random.direction();
        let kind = match self.random.below(8) {
            0 => JointKind::Ball,
            1 => JointKind::Slide { axis },
            2 => JointKind::Universal { axes: [axis, axis.cross(&self.random.direction())] },
            3 => JointKind::planar(axis),
            4 => JointKind::Screw { axis, pitch: self.random.uniform(-0.1, 0.1) },
            _ => JointKind::Hinge { axis },
        };
        // The anchor lies between the two bodies: in the frame of the body, toward its parent.
        let toward = pose.inverse().translation.vector;
        let anchor = if parent.is_some() { self.random.unit() * toward } else { self.aside(shape) };
        let slides = matches!(kind, JointKind::Slide { .. } | JointKind::Planar { .. });
        let least = Self::least_inertia(plan, (parent, shape, mass), slides);
        let mut joint = JointSpec { anchor, ..JointSpec::new(kind) };
        let frequency = if self.is_harsh() {
            self.random.log_uniform(1.0, 1e4)
        } else {
            self.random.uniform(0.0, 30.0_f64.min(WELL_POSED_FREQUENCY / plan.time_step))
        };
        if slides || self.chance(0.3) {
            joint.stiffness = frequency * frequency * least;
        }
        if self.chance(0.5) {
            joint.damping = self.random.unit() * frequency * least;
        }
        if self.chance(0.1) {
            joint.friction_loss = self.random.unit() * frequency * least;
        }
        if kind.may_be_limited() && self.chance(0.3) {
            let upper = self.random.uniform(0.1, if slides { 0.5 } else { PI });
            let lower = if self.is_harsh() && self.chance(0.2) {
                self.random.uniform(0.0, upper)
            } else {
                -self.random.uniform(0.1, 1.0)
            };
            let lower = if kind == JointKind::Ball { 0.0 } else { lower };
            joint.limit = Some(Limit { lower, upper, margin: 0.0 });
        }
        joint
    }

    /// A point beside the origin of a body [m].
    fn aside(&mut self, shape: &Shape) -> Vector3<f64> {
        let reach = shape.bounding_radius() * self.random.uniform(0.5, 3.0);
        reach * self.random.direction()
    }

    fn velocity(&mut self, kind: &JointKind, h: f64) -> Vec<f64> {
        let speed = match self.random.below(10) {
            0 if self.is_harsh() => self.random.log_uniform(10.0, 1e3),
            1 | 2 => 0.0,
            _ => self.random.log_uniform(0.01, 8.0),
        };
        let turn = if self.is_harsh() {
            speed * self.random.log_uniform(0.1, 10.0)
        } else {
            (0.5 * speed).min(WELL_POSED_FREQUENCY / h)
        };
        let mut part = |size: f64| (self.random.direction() * size).as_slice().to_vec();
        match kind {
            JointKind::Free => [part(speed), part(turn)].concat(),
            JointKind::Ball => part(turn),
            JointKind::Hinge { .. } | JointKind::Screw { .. } => part(turn)[..1].to_vec(),
            JointKind::Universal { .. } => part(turn)[..2].to_vec(),
            JointKind::Slide { .. } => part(speed)[..1].to_vec(),
            JointKind::Planar { .. } => {
                let (shift, angle) = (part(speed), part(turn));
                vec![shift[0], shift[1], angle[0]]
            }
        }
    }

    fn actuator(
        &mut self,
        plan: &WorldPlan,
        (parent, shape, mass): (Option<usize>, &Shape, f64),
        joint: &JointSpec,
    ) -> ActuatorPlan {
        let slides = matches!(joint.kind, JointKind::Slide { .. });
        let least = Self::least_inertia(plan, (parent, shape, mass), slides);
        let frequency = if self.is_harsh() {
            self.random.log_uniform(1.0, 1e4)
        } else {
            self.random.uniform(0.1, 20.0_f64.min(WELL_POSED_FREQUENCY / plan.time_step))
        };
        let (kp, kd) = (frequency * frequency * least, frequency * least);
        let law = match self.random.below(3) {
            0 => ActuatorLaw::Motor,
            1 => ActuatorLaw::Position { kp, kd: self.random.uniform(0.0, 2.0) * kd },
            _ => ActuatorLaw::Velocity { kd },
        };
        let reach = if slides { 0.3 } else { 1.5 };
        let control = match law {
            ActuatorLaw::Motor => 10.0 * least,
            _ => reach,
        } * self.random.signed_unit();
        let bound = self.random.log_uniform(0.1, 10.0) * frequency * frequency * least;
        let force_range = self.chance(0.5).then_some((-bound, bound));
        ActuatorPlan { law, control, force_range }
    }

    /// Closed loops between bodies, and in harsh worlds welds that contradict one another.
    fn equalities(&mut self, plan: &mut WorldPlan, isolated: bool) {
        let count = plan.bodies.len();
        for _ in 0..1 + self.random.below(2) {
            let b = self.random.below(count);
            let a = Some(self.random.below(count)).filter(|a| *a != b);
            if a.is_none() && isolated {
                continue;
            }
            let X_WA = a.map_or(Isometry3::identity(), |a| plan.bodies[a].pose_W);
            let X_WB = plan.bodies[b].pose_W;
            let mut point_B =
                0.5 * plan.bodies[b].shape.bounding_radius() * self.random.direction();
            let mut p_W = (X_WB * nalgebra::Point3::from(point_B)).coords;
            if self.chance(0.5) {
                p_W = 0.5 * (p_W + X_WA.translation.vector);
                point_B = (X_WB.inverse() * nalgebra::Point3::from(p_W)).coords;
            }
            let point_A = (X_WA.inverse() * nalgebra::Point3::from(p_W)).coords;
            let bodies = [a, Some(b)];
            let kind = match self.random.below(3) {
                0 => EqualityKind::Connect(point_A, point_B),
                1 => {
                    let distance = (p_W - X_WA.translation.vector).norm();
                    if distance < 1e-3 {
                        continue;
                    }
                    EqualityKind::Distance(Vector3::zeros(), point_B, distance)
                }
                _ => EqualityKind::Weld(X_WA.inverse() * X_WB),
            };
            plan.equalities.push(EqualityPlan { bodies, kind });
            if self.is_harsh() && self.chance(0.25) {
                let shift = 0.1 * self.random.vector3();
                let pose = Isometry3::translation(shift.x, shift.y, shift.z) * X_WB;
                let kind = EqualityKind::Weld(X_WA.inverse() * pose);
                plan.equalities.push(EqualityPlan { bodies, kind });
            }
        }
    }

    fn soft(&mut self) -> SoftPlan {
        let size = Vector3::from_fn(|_, _| self.random.uniform(0.06, 0.2));
        let cells = [0; 3].map(|_| 1 + self.random.below(2));
        let (x, y) = (self.random.signed_unit(), self.random.signed_unit());
        let radius = 0.5 * size.norm();
        let draw = |random: &mut SplitMix64| {
            Vector3::new(1.5 * x, 1.5 * y, radius + random.uniform(0.02, 3.0))
        };
        let centre = self.place(radius, draw).unwrap_or(Vector3::new(0.0, 0.0, 5.0));
        let pose = Isometry3::from_parts(centre.into(), self.random.rotation());
        let (low, high) = if self.is_harsh() { (1e2, 1e8) } else { (1e4, 1e6) };
        SoftPlan {
            size,
            cells,
            pose,
            young: self.random.log_uniform(low, high),
            density: self.random.log_uniform(100.0, 5000.0),
            damping: if self.chance(0.5) { 0.0 } else { 0.01 },
            friction: self.random.unit(),
            velocity: self.random.uniform(0.0, 3.0) * self.random.direction(),
        }
    }

    fn cable(&mut self, isolated: bool) -> CablePlan {
        let length = self.random.uniform(0.2, 0.6);
        let centre = self.place(0.5 * length + 0.02, |random| {
            Vector3::new(random.signed_unit(), random.signed_unit(), random.uniform(0.5, 3.0))
        });
        let centre = centre.unwrap_or(Vector3::new(0.0, 0.0, 6.0));
        let turned = Isometry3::from_parts(centre.into(), self.random.rotation());
        let (low, high) = if self.is_harsh() { (1e4, 1e9) } else { (1e6, 1e7) };
        CablePlan {
            pose: turned * Translation3::new(0.0, 0.0, -0.5 * length),
            length,
            segments: 3 + self.random.below(6),
            radius: self.random.uniform(3e-3, 0.02),
            young: self.random.log_uniform(low, high),
            friction: self.random.unit(),
            held: !isolated && self.chance(0.5),
        }
    }
}
