//! A rod by position-based dynamics with substeps [Macklin19; Lee23, Sec. V-E2].
//!
//! Rigid segments, joined by six compliant constraints each (two shears, stretch, two bends, twist),
//! touch the ground and an upright cylinder. A step is divided into substeps; in each, every constraint is
//! corrected once, one after the other: `λ = −C/(w + α̃)` with α̃ = 1/(k h²). Friction undoes the
//! tangential motion of a contact point, bounded by the friction cone of the normal correction. The
//! result does not solve the equations of a step: each correction uses poses that its neighbours have
//! just changed, which gives forces a relative error w/α̃ that falls with the square of the substep.
//! Implicit substeps are the only damping: a Kelvin-Voigt term would multiply this error by τ/h.

use nalgebra::{Isometry3, UnitQuaternion, Vector3, Vector6};

use super::pbd_body::PbdBody;

/// Material and geometry of the rod and its surroundings.
#[derive(Clone, Debug)]
pub struct PbdRodSpec {
    /// Stiffness of a joint over a segment [N/m, N·m/rad]: two shears, stretch, two bends, twist.
    pub stiffness: Vector6<f64>,
    /// Length of a segment [m].
    pub segment_length: f64,
    /// Radius of the rod [m].
    pub radius: f64,
    /// Density [kg/m³].
    pub density: f64,
    /// Friction [-].
    pub friction: f64,
    /// Position of the cylinder's axis in x and y [m].
    pub axis: [f64; 2],
    /// Radius of the cylinder [m].
    pub cylinder: f64,
    /// Gravity [m/s²].
    pub gravity: Vector3<f64>,
}

/// A rod between two driven frames.
#[derive(Clone, Debug)]
pub struct PbdRod {
    spec: PbdRodSpec,
    /// The first frame, the segments, the last frame.
    bodies: Vec<PbdBody>,
    /// Deepest penetration at the end of the last step [m].
    penetration: f64,
    /// Force at the last frame, mean over the last step [N].
    end_force: Vector3<f64>,
}

impl PbdRod {
    /// A rod at rest with its segments at `poses`, z along the rod, between two frames.
    pub fn new(
        spec: PbdRodSpec,
        first: Isometry3<f64>,
        poses: &[Isometry3<f64>],
        last: Isometry3<f64>,
    ) -> Self {
        let area = std::f64::consts::PI * spec.radius * spec.radius;
        let mass = spec.density * area * spec.segment_length;
        let along = 0.5 * mass * spec.radius * spec.radius;
        let across = mass * (3.0 * spec.radius.powi(2) + spec.segment_length.powi(2)) / 12.0;
        let inverse_inertia = Vector3::new(1.0 / across, 1.0 / across, 1.0 / along);
        let mut bodies = vec![PbdBody::driven(first)];
        bodies.extend(poses.iter().map(|pose| PbdBody::new(*pose, 1.0 / mass, inverse_inertia)));
        bodies.push(PbdBody::driven(last));
        Self { spec, bodies, penetration: 0.0, end_force: Vector3::zeros() }
    }

    /// Poses of the segments.
    pub fn poses(&self) -> impl Iterator<Item = &Isometry3<f64>> {
        self.bodies[1..self.bodies.len() - 1].iter().map(|body| &body.pose)
    }

    /// Deepest penetration at the end of the last step [m].
    pub fn penetration(&self) -> f64 {
        self.penetration
    }

    /// Force with which the rod pulls at the last frame, mean over the last step [N].
    pub fn end_force(&self) -> Vector3<f64> {
        self.end_force
    }

    /// One step: the last frame moves evenly to `last`.
    pub fn step(&mut self, last: &Isometry3<f64>, time_step: f64, substeps: usize) {
        let h = time_step / substeps.max(1) as f64;
        let end = self.bodies.len() - 1;
        let from = self.bodies[end].pose;
        self.end_force = Vector3::zeros();
        for k in 1..=substeps.max(1) {
            let gravity = self.spec.gravity;
            self.bodies.iter_mut().for_each(|body| body.predict(&gravity, h));
            self.bodies[end].pose = from.lerp_slerp(last, k as f64 / substeps.max(1) as f64);
            for joint in 0..end {
                let pull = self.solve_joint(joint, h);
                if joint + 1 == end {
                    self.end_force += pull / substeps.max(1) as f64;
                }
            }
            for segment in 1..end {
                self.solve_contacts(segment);
            }
            self.bodies[1..end].iter_mut().for_each(|body| body.update_velocities(h));
        }
        let depth = |k: usize| {
            let gaps = [-0.5, 0.5].map(|part| self.gap(k, part).map_or(0.0, |(_, gap)| -gap));
            gaps.into_iter().fold(0.0, f64::max)
        };
        self.penetration = (1..end).map(depth).fold(0.0, f64::max);
    }

    /// Distances [m] of the two joined ends from the origins of their bodies, and the stiffness.
    fn arms(&self, joint: usize) -> ([f64; 2], Vector6<f64>) {
        let half = 0.5 * self.spec.segment_length;
        let end = self.bodies.len() - 2;
        match joint {
            // Half a segment is twice as stiff as a whole one.
            0 => ([0.0, half], 2.0 * self.spec.stiffness),
            k if k == end => ([half, 0.0], 2.0 * self.spec.stiffness),
            _ => ([half; 2], self.spec.stiffness),
        }
    }

    /// Corrects the six constraints of a joint; returns the force [N] on the second body.
    fn solve_joint(&mut self, joint: usize, h: f64) -> Vector3<f64> {
        let (arms, stiffness) = self.arms(joint);
        let (front, back) = self.bodies.split_at_mut(joint + 1);
        let (first, second) = (&mut front[joint], &mut back[0]);
        let mut force = Vector3::zeros();
        for axis in 0..3 {
            let arm = [
                first.pose.rotation * (arms[0] * Vector3::z()),
                second.pose.rotation * (-arms[1] * Vector3::z()),
            ];
            let n = mean_rotation(&first.pose, &second.pose) * Vector3::ith(axis, 1.0);
            let gap = strain(&first.pose, &second.pose, arms)[axis];
            let soft = 1.0 / (stiffness[axis] * h * h);
            let w = first.inverse_mass_at(&arm[0], &n) + second.inverse_mass_at(&arm[1], &n);
            let push = -gap / (w + soft);
            first.apply_impulse(&(-push * n), &arm[0]);
            second.apply_impulse(&(push * n), &arm[1]);
            force += push / (h * h) * n;
        }
        for axis in 0..3 {
            let n = mean_rotation(&first.pose, &second.pose) * Vector3::ith(axis, 1.0);
            let angle = relative_rotation(&first.pose, &second.pose)[axis];
            let soft = 1.0 / (stiffness[3 + axis] * h * h);
            let w = first.inverse_inertia_about(&n) + second.inverse_inertia_about(&n);
            let push = -angle / (w + soft);
            first.apply_angular_impulse(&(-push * n));
            second.apply_angular_impulse(&(push * n));
        }
        force
    }

    /// Normal and gap [m] of a point on a segment's core, `part` of its length from the middle:
    /// against the cylinder or the ground, whichever is nearer.
    fn gap(&self, segment: usize, part: f64) -> Option<(Vector3<f64>, f64)> {
        let pose = &self.bodies[segment].pose;
        let place = pose * nalgebra::Point3::new(0.0, 0.0, part * self.spec.segment_length);
        let radial = Vector3::new(place.x - self.spec.axis[0], place.y - self.spec.axis[1], 0.0);
        let distance = radial.norm();
        let around = distance - self.spec.cylinder - self.spec.radius;
        let below = place.z - self.spec.radius;
        if below < around {
            Some((Vector3::z(), below))
        } else {
            (distance > 0.0).then(|| (radial / distance, around))
        }
    }

    /// Corrects penetration and sliding at the ends of a segment.
    fn solve_contacts(&mut self, segment: usize) {
        let friction = self.spec.friction;
        for part in [-0.5, 0.5] {
            let Some((n, gap)) = self.gap(segment, part) else { continue };
            if gap >= 0.0 {
                continue;
            }
            let along = part * self.spec.segment_length * Vector3::z();
            let body = &mut self.bodies[segment];
            let arm = body.pose.rotation * along - self.spec.radius * n;
            let push = -gap / body.inverse_mass_at(&arm, &n);
            body.apply_impulse(&(push * n), &arm);
            // Position of the contact point at the start of the substep.
            let local = body.pose.rotation.inverse_transform_vector(&arm);
            let now = body.pose.translation.vector + body.pose.rotation * local;
            let before =
                body.previous_pose.translation.vector + body.previous_pose.rotation * local;
            let slid = now - before;
            let slid = slid - slid.dot(&n) * n;
            let length = slid.norm();
            if length > 0.0 {
                let t = slid / length;
                let hold = (length / body.inverse_mass_at(&arm, &t)).min(friction * push);
                body.apply_impulse(&(-hold * t), &arm);
            }
        }
    }
}

/// The rotation halfway between two frames.
fn mean_rotation(first: &Isometry3<f64>, second: &Isometry3<f64>) -> UnitQuaternion<f64> {
    let turn = first.rotation.inverse() * second.rotation;
    first.rotation * UnitQuaternion::from_scaled_axis(0.5 * turn.scaled_axis())
}

/// Gap between the joined ends [m], in the axes halfway between: two shears and the stretch.
fn strain(first: &Isometry3<f64>, second: &Isometry3<f64>, arms: [f64; 2]) -> Vector3<f64> {
    let ahead = first.translation.vector + first.rotation * (arms[0] * Vector3::z());
    let behind = second.translation.vector - second.rotation * (arms[1] * Vector3::z());
    mean_rotation(first, second).inverse_transform_vector(&(behind - ahead))
}

/// Rotation between two frames [rad]: two bends and the twist.
fn relative_rotation(first: &Isometry3<f64>, second: &Isometry3<f64>) -> Vector3<f64> {
    (first.rotation.inverse() * second.rotation).scaled_axis()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spec(segments: usize) -> PbdRodSpec {
        let (young, radius, length) = (2e6, 2e-3, 0.2 / segments as f64);
        let area = std::f64::consts::PI * radius * radius;
        let (shear, bend) = (young / 3.0 * area, young * 0.25 * area * radius * radius);
        PbdRodSpec {
            stiffness: Vector6::new(shear, shear, young * area, bend, bend, bend) / length,
            segment_length: length,
            radius,
            density: 1000.0,
            friction: 0.5,
            axis: [10.0, 10.0],
            cylinder: 0.02,
            gravity: Vector3::zeros(),
        }
    }

    #[test]
    fn a_stretched_rod_pulls_with_its_stiffness_times_its_strain() {
        // With z along the rod, upright, well above the ground.
        let n = 10;
        let spec = spec(n);
        let l = spec.segment_length;
        let at = |z: f64| Isometry3::translation(0.0, 0.0, 1.0 + z);
        let poses: Vec<_> = (0..n).map(|k| at((k as f64 + 0.5) * l)).collect();
        let stretch = 0.01;
        let last = at(n as f64 * l * (1.0 + stretch));
        let tension = spec.stiffness[2] * l * stretch;
        let mass = spec.density * std::f64::consts::PI * spec.radius.powi(2) * l;
        let (h, substeps) = (0.01, 200);
        let rate = spec.stiffness[2] * (h / f64::from(substeps)).powi(2) / mass;
        let mut rod = PbdRod::new(spec, at(0.0), &poses, at(n as f64 * l));
        // A wave runs along the rod in 4 ms; implicit substeps damp it at a rate of 12/s, until only
        // the error of sequential corrections is left, at most twice w/α̃.
        for _ in 0..100 {
            rod.step(&last, h, substeps as usize);
        }
        let found = rod.end_force();
        assert!((found.z + tension).abs() <= 2.0 * rate * tension, "{found} against {tension}");
        assert!(found.x.abs() + found.y.abs() <= 1e-9 * tension);
    }

    #[test]
    fn a_rod_that_falls_comes_to_rest_on_the_ground() {
        let n = 6;
        let spec = PbdRodSpec { gravity: Vector3::new(0.0, 0.0, -9.81), ..spec(n) };
        let (l, r) = (spec.segment_length, spec.radius);
        let along = UnitQuaternion::from_scaled_axis(Vector3::y() * std::f64::consts::FRAC_PI_2);
        let at = |x: f64| Isometry3::from_parts(nalgebra::Translation3::new(x, 0.0, r), along);
        let poses: Vec<_> = (0..n).map(|k| at((k as f64 + 0.5) * l)).collect();
        let mut rod = PbdRod::new(spec, at(0.0), &poses, at(n as f64 * l));
        for _ in 0..50 {
            rod.step(&at(n as f64 * l), 0.01, 20);
        }
        // A substep of free fall is all that is left: g h² at h = 0.5 ms.
        assert!(rod.penetration() <= 2.0 * 9.81 * 0.0005_f64.powi(2), "{}", rod.penetration());
    }
}
