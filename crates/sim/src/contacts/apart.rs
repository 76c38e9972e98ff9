//! Pairs of shapes that do not touch, and for which the motion within the step decides whether they meet.

use nalgebra::Vector3;
use stiction_geom::{Contact, Shape};

use super::pairs;
use super::predicted_motion::PredictedMotion;
use crate::rows::{self, ConstraintContext};
use crate::warm_start::WarmStart;
use crate::world::World;

/// Turn of a body within a step up to which its points move on straight lines [rad].
pub(super) const STRAIGHT: f64 = 0.05;

/// Inputs of the test.
#[derive(Clone, Copy)]
pub(crate) struct ApartTest<'a> {
    pub world: &'a World,
    pub context: &'a ConstraintContext<'a>,
    /// Impulses of the last step.
    pub warm_start: &'a WarmStart,
    /// Penetration that is tolerated [m].
    pub slop: f64,
    /// Time step [s].
    pub time_step: f64,
    /// Whether sliding contacts separate, as in the convex model, and act although they are open.
    pub convex_friction: bool,
}

impl ApartTest<'_> {
    /// Asks for the motions of the trees of all pairs that are apart; returns whether there are any.
    pub fn want_motions(&self, contacts: &[Contact], predicted: &mut PredictedMotion) -> bool {
        let mut any = false;
        for pair in pairs(contacts).filter(|pair| self.is_apart(pair)) {
            for body in self.world.bodies_of(&pair[0]) {
                if let Some(tree) = self.world.model.bodies()[body].tree {
                    predicted.want(tree);
                    any = true;
                }
            }
        }
        any
    }

    /// Whether the shapes of a pair do not touch, and are such that the motion decides whether they meet. Convex
    /// shapes that pushed each other in the last step and hardly turn still touch while they are within reach.
    pub fn is_apart(&self, pair: &[Contact]) -> bool {
        let touching = self.slop + self.world.standoff(&pair[0]);
        if pair.iter().any(|contact| contact.gap <= touching)
            || self.meets_along_line(&pair[0])
            || self.are_spheres_side_by_side(&pair[0])
        {
            return false;
        }
        let pushed = |contact| self.warm_start.normal_impulse(rows::contact::key(contact)) > 0.0;
        !pair.iter().any(pushed)
            || !is_convex_pair(self.world, &pair[0])
            || self.world.bodies_of(&pair[0]).into_iter().any(|body| self.turn(body) > STRAIGHT)
    }

    /// Whether a contact is that of two spheres that hardly pass one another within the step: a way s across the line of their
    /// centres, of length l, moves them apart by s²/2l, which must be below the penetration that is tolerated. In a
    /// heap such spheres meet because others push them, and no sweep can tell.
    fn are_spheres_side_by_side(&self, contact: &Contact) -> bool {
        let [a, b] = [contact.a, contact.b].map(|id| self.world.colliders.get(id));
        let (&Shape::Sphere { radius: r_A }, &Shape::Sphere { radius: r_B }) = (&a.shape, &b.shape)
        else {
            return false;
        };
        let bodies = self.world.bodies_of(contact);
        let centres = [contact.point - r_A * contact.normal, contact.point + r_B * contact.normal];
        let relative = self.context.point_velocity(bodies[1], &centres[1])
            - self.context.point_velocity(bodies[0], &centres[0]);
        let across = relative - contact.normal.dot(&relative) * contact.normal;
        let way = self.time_step * across.norm();
        way * way <= 2.0 * (r_A + r_B + contact.gap) * self.slop
    }

    /// Turn of a body within the step [rad].
    fn turn(&self, body: usize) -> f64 {
        self.time_step * self.context.angular_velocity(body).norm()
    }

    /// Whether a contact is that of a plane and a shape whose points move on straight lines.
    fn meets_along_line(&self, contact: &Contact) -> bool {
        let shape = |id| &self.world.colliders.get(id).shape;
        let shapes = [shape(contact.a), shape(contact.b)];
        let is_plane = |shape: &&Shape| matches!(shape, Shape::Plane);
        let is_sphere = |shape: &&Shape| matches!(shape, Shape::Sphere { .. });
        let turns = |body: usize| self.context.angular_velocity(body) != Vector3::zeros();
        shapes.iter().any(is_plane)
            && (self.convex_friction
                || shapes.iter().any(is_sphere)
                || !self.world.bodies_of(contact).into_iter().any(turns))
    }
}

/// Whether both shapes of a contact are convex.
pub(super) fn is_convex_pair(world: &World, contact: &Contact) -> bool {
    [contact.a, contact.b].into_iter().all(|id| world.colliders.get(id).shape.is_convex())
}
