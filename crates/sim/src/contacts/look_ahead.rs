//! Selects the contacts that get rows in a step.
//!
//! Shapes that touch get rows at the contacts of the start of the step. Shapes that are apart get rows only
//! if they meet within the step under the predicted motion, with the points and the normal of their meeting:
//! the line between the nearest points at the start of the step may point across the path of a shape that
//! passes by. A plane's normal does not depend on the motion: its contacts with bodies that do not turn need no
//! such test.
//!
//! Where a body runs into something, what follows it may run into it: shapes that would meet if that body
//! stopped get rows as well, and so on along a row of bodies. Other shapes that come to meet only because
//! constraints change their motion are found after the solve, as contacts that penetrate at the next state
//! without a row, and get rows in another solve.

use std::ops::Range;

use stiction_geom::narrow::{self, Manifold};
use stiction_geom::sweep::{self, Motion, MovingShape, RelativeMotion, SweepScratch};
use stiction_geom::{Contact, Shape};
use stiction_mech::Data;

use super::apart::{ApartTest, STRAIGHT, is_convex_pair};
use super::crossing::CrossingGuard;
use super::predicted_motion::PredictedMotion;
use super::{RowContact, pairs, shape_pose};
use crate::rows::{ConstraintContext, RowParameters};
use crate::settings::{Settings, Stabilisation};
use crate::warm_start::WarmStart;
use crate::world::World;

/// Cosine between the normals of contacts of one pair above which they belong to the same face [-].
const SAME_FACE: f64 = 0.99;
/// Cosine between normals above which a contact at the next state is the one that has a row [-].
const SAME_CONTACT: f64 = 0.8;
/// Distance between the points of a row and of a contact at the next state up to which they are the same, as
/// a part of the size of the smaller shape [-].
const SAME_PLACE: f64 = 0.25;
/// Depth from which a contact without a row is added: in multiples of the slop, or as a part of the least half extent of
/// convex shapes and of what the position correction may move in a step [-]. Up to there it begins to act in the next
/// step, after the correction has removed it.
const MISSED_DEPTH: f64 = 10.0;
const MISSED_SHARE: f64 = 0.02;
const MISSED_CORRECTION: f64 = 0.5;
/// Difference of the feature of a missed contact from that of a row of the same shapes in another direction.
const IN_OTHER_DIRECTION: u32 = 0x85eb_ca6b;
/// Distance from the meeting at which it is accepted, in multiples of the slop [-].
const MEETING_TOLERANCE: f64 = 0.1;

/// Places on the path of a point within a step that are looked at.
const PATH_SAMPLES: usize = 16;

/// Memory of the selection.
#[derive(Debug, Default)]
pub(crate) struct LookAhead {
    /// The contacts that get rows, sorted like the detected ones.
    pub selected: Vec<RowContact>,
    /// Contacts that were missed, with their points in the frames of A and B [m].
    missed: Vec<RowContact>,
    /// Pairs that are apart and do not meet so far: their contacts.
    apart: Vec<Range<usize>>,
    /// Per collision frame: whether it runs into something, and may stop.
    stopped: Vec<bool>,
    any_stopped: bool,
    crossing: CrossingGuard,
    manifold: Manifold,
    sweep: SweepScratch,
}

/// Inputs of the selection.
pub(crate) struct LookAheadInput<'a> {
    pub world: &'a World,
    pub parameters: RowParameters,
    pub context: ConstraintContext<'a>,
    pub predicted: &'a PredictedMotion,
    /// Impulses of the last step.
    pub warm_start: &'a WarmStart,
    /// Penetration that is tolerated [m].
    pub slop: f64,
    /// Per body: bound of its way within the step [m].
    pub reach: &'a [f64],
}

impl LookAheadInput<'_> {
    fn apart_test(&self) -> ApartTest<'_> {
        let Self { world, context, warm_start, slop, parameters, .. } = self;
        let RowParameters { time_step, convex_friction, .. } = *parameters;
        ApartTest { world, context, warm_start, slop: *slop, time_step, convex_friction }
    }

    fn moving(&self, shape: usize) -> MovingShape<'_> {
        let Self { world, context, predicted, parameters, .. } = self;
        let collider = &world.colliders.as_slice()[shape];
        let (frame, h) = (collider.frame as usize, parameters.time_step);
        let motion = predicted.of_frame(context.model, frame, context.driven, h, context.data);
        let X_WS = shape_pose(world, context.data, shape);
        MovingShape { shape: &collider.shape, X_WS, motion }
    }
}

impl LookAhead {
    /// Selects the contacts of the step from those at its start.
    pub fn select(&mut self, input: &LookAheadInput, contacts: &[Contact]) {
        self.selected.clear();
        self.missed.clear();
        self.apart.clear();
        self.stopped.clear();
        self.stopped.resize(input.world.colliders.frames(), false);
        self.any_stopped = false;
        self.crossing.clear();
        let apart = input.apart_test();
        let mut end = 0;
        for pair in pairs(contacts) {
            let range = end..end + pair.len();
            end = range.end;
            if !apart.is_apart(pair) {
                self.add_touching(input, pair);
            } else if !self.add_meeting(input, pair, [false; 2]) {
                self.apart.push(range);
            }
        }
        if self.any_stopped && !self.apart.is_empty() {
            self.follow_meetings(input, contacts);
            self.sort();
        }
    }

    /// Adds the pairs that meet if bodies that run into something stop, until there are no more.
    fn follow_meetings(&mut self, input: &LookAheadInput, contacts: &[Contact]) {
        let mut apart = std::mem::take(&mut self.apart);
        loop {
            let before = apart.len();
            apart.retain(|range| {
                let pair = &contacts[range.clone()];
                let frames = [pair[0].a, pair[0].b].map(|id| input.world.colliders.get(id).frame);
                let stops = frames.map(|frame| self.stopped[frame as usize]);
                // Two bodies that both stop do not meet.
                stops[0] == stops[1] || !self.add_meeting(input, pair, stops)
            });
            if apart.len() == before {
                break;
            }
        }
        self.apart = apart;
    }

    /// Marks the bodies of a contact as bodies that may stop in this step.
    fn mark_stopped(&mut self, world: &World, contact: &Contact) {
        for id in [contact.a, contact.b] {
            let frame = world.colliders.get(id).frame;
            let moves = !world.colliders.is_fixed(frame);
            self.stopped[frame as usize] |= moves;
            self.any_stopped |= moves;
        }
    }

    fn sort(&mut self) {
        self.selected.sort_unstable_by_key(RowContact::key);
    }

    /// The contacts of a pair that touches, or of a plane, if they may close within the step.
    fn add_touching(&mut self, input: &LookAheadInput, pair: &[Contact]) {
        let LookAheadInput { world, context, parameters, slop, .. } = input;
        let standoff = world.standoff(&pair[0]);
        let touches = |contact: &Contact| contact.gap <= slop + standoff;
        let one_normal = is_convex_pair(world, &pair[0]);
        for contact in pair {
            // Another face of a surface that is not convex: the motion along the touching one decides.
            let same_face =
                |other: &Contact| touches(other) && other.normal.dot(&contact.normal) > SAME_FACE;
            if !one_normal && !touches(contact) && !pair.iter().any(same_face) {
                continue;
            }
            let bodies = world.bodies_of(contact);
            let found = RowContact::at_start(contact);
            let relative = context.point_velocity(bodies[1], &found.points[1])
                - context.point_velocity(bodies[0], &found.points[0]);
            let friction = match parameters.convex_friction {
                true => world.pairing(contact, parameters.combine).friction,
                false => 0.0,
            };
            let gap = contact.gap - standoff;
            let approach = contact.normal.dot(&relative);
            if parameters.may_close(gap, approach, &relative, friction)
                && (touches(contact) || !stays_open(input, &found))
            {
                self.selected.push(found);
            }
            self.crossing.watch(world, context, (parameters.time_step, input.reach), &found);
            if gap.max(0.0) + parameters.time_step * approach < -slop {
                self.mark_stopped(world, contact);
            }
        }
    }

    /// Adds the contacts of a pair that is apart, at its meeting within the step, if there is one, and returns
    /// whether there is. `stops` tells whether A and B stop instead of moving as predicted.
    fn add_meeting(&mut self, input: &LookAheadInput, pair: &[Contact], stops: [bool; 2]) -> bool {
        let LookAheadInput { world, slop, .. } = input;
        let ids = [pair[0].a, pair[0].b];
        let [mut a, mut b] = ids.map(|id| input.moving(id.index()));
        for (moving, stops) in [&mut a, &mut b].into_iter().zip(stops) {
            if stops {
                moving.motion = Motion::REST;
            }
        }
        let distance = world.standoff(&pair[0]);
        if cannot_meet(&a, &b, pair, distance) {
            return false;
        }
        let tolerance = MEETING_TOLERANCE * slop;
        let met = sweep::meeting(&a, &b, distance, tolerance, &mut self.sweep);
        let Some(s) = met else { return false };
        self.mark_stopped(world, &pair[0]);
        let (X_WA, X_WB) = (a.pose(s), b.pose(s));
        self.manifold.clear();
        let posed = |shape, X_WS| narrow::PosedShape { shape, X_WS };
        let left = (1.0 - s) * speed_bound(&a, &b);
        let reach = distance + 2.0 * tolerance + left;
        narrow::contacts(posed(a.shape, &X_WA), posed(b.shape, &X_WB), reach, &mut self.manifold);
        self.manifold.points_mut().sort_unstable_by_key(|touch| touch.feature);
        let points = self.manifold.points();
        // A search that was not finished ends before the meeting.
        let nearest = points.iter().fold(f64::INFINITY, |least, point| least.min(point.gap));
        let touching = |gap: f64| gap <= nearest.max(distance + 2.0 * tolerance);
        for touch in points {
            let same_face =
                points.iter().any(|p| touching(p.gap) && p.normal.dot(&touch.normal) > SAME_FACE);
            if !touching(touch.gap) && !same_face {
                continue;
            }
            let half = 0.5 * touch.gap * touch.normal;
            let (m_A, m_B) = (&a.motion, &b.motion);
            let points = [touch.point - half - s * m_A.shift, touch.point + half - s * m_B.shift];
            // The way that is left: the share s of the way that the velocities at the meeting would go.
            let turned = m_B.turn.cross(&(points[1] - m_B.centre))
                - m_A.turn.cross(&(points[0] - m_A.centre));
            let gap = touch.normal.dot(&(points[1] - points[0] - s * turned)).max(0.0);
            let point = 0.5 * (points[0] + points[1]);
            let (feature, normal) = (touch.feature, touch.normal);
            let contact = Contact { feature, point, normal, gap, ..pair[0] };
            let row = RowContact { contact, points, away: 0.0 };
            let span = (input.parameters.time_step, input.reach);
            self.crossing.watch(world, &input.context, span, &row);
            self.selected.push(row);
        }
        true
    }

    /// Finds contacts of the next state that penetrate without having a row. `data` holds the kinematics
    /// of the next state. Returns whether there are any.
    pub fn find_missed(
        &mut self,
        world: &World,
        contacts: &[Contact],
        settings: &Settings,
        data: &Data,
    ) -> bool {
        self.missed.clear();
        let crosses = self.crossing.find(world, data);
        let Stabilisation { slop, max_speed, .. } = settings.stabilisation;
        let correctable = MISSED_CORRECTION * max_speed * settings.time_step;
        for contact in contacts {
            let gap = contact.gap - world.standoff(contact);
            if gap >= -MISSED_DEPTH * slop {
                continue;
            }
            let ids = [contact.a, contact.b];
            let is_thick =
                |id| !matches!(world.colliders.get(id).shape, Shape::Field(_) | Shape::Mesh(_));
            let thickness = ids.map(|id| world.thickness[id.index()]);
            let allowed = (MISSED_SHARE * thickness[0].min(thickness[1])).min(correctable);
            if ids.into_iter().all(is_thick) && gap > -allowed || world.rigid_gap(contact).is_none()
            {
                continue;
            }
            // The normal of a shape that passed through may point to the wrong side.
            if self.has_row(world, contact) || crosses && self.crossing.crosses(contact) {
                continue;
            }
            let half = 0.5 * contact.gap * contact.normal;
            let points = [(contact.a, -half), (contact.b, half)].map(|(id, offset)| {
                let X_WS = shape_pose(world, data, id.index());
                X_WS.inverse_transform_point(&(contact.point + offset).into()).coords
            });
            self.missed.push(RowContact { contact: *contact, points, away: 0.0 });
        }
        crosses || !self.missed.is_empty()
    }

    /// Whether a row acts at the feature or the place of a contact of the next state, in its direction.
    fn has_row(&self, world: &World, contact: &Contact) -> bool {
        let key = |contact: &Contact| (contact.a, contact.b);
        let radius = |id| world.colliders.get(id).shape.bounding_radius();
        let near = SAME_PLACE * radius(contact.a).min(radius(contact.b));
        let first = self.selected.partition_point(|row| key(&row.contact) < key(contact));
        let of_pair = |row: &&RowContact| key(&row.contact) == key(contact);
        self.selected[first..].iter().take_while(of_pair).any(|row| {
            let is_near = || row.points.iter().any(|p| (p - contact.point).norm() <= near);
            row.contact.normal.dot(&contact.normal) > SAME_CONTACT
                && (row.contact.feature == contact.feature || is_near())
        })
    }

    /// Adds the missed contacts to those that get rows. `data` holds the kinematics of the start of the step.
    pub fn add_missed(&mut self, world: &World, data: &Data) {
        let sorted = self.selected.len();
        for RowContact { contact, points, away } in self.missed.drain(..) {
            let [p_A, p_B] = [(contact.a, points[0]), (contact.b, points[1])].map(|(id, p)| {
                (shape_pose(world, data, id.index()) * nalgebra::Point3::from(p)).coords
            });
            // Points that touch later are not deep now, even if they have passed each other along the normal.
            let gap = contact.normal.dot(&(p_B - p_A)).max(0.0);
            let mut contact = Contact { point: 0.5 * (p_A + p_B), gap, ..contact };
            let key = (contact.a, contact.b, contact.feature);
            if self.selected[..sorted].binary_search_by_key(&key, RowContact::key).is_ok() {
                contact.feature ^= IN_OTHER_DIRECTION;
            }
            self.selected.push(RowContact { contact, points: [p_A, p_B], away });
        }
        self.selected.extend_from_slice(self.crossing.rows());
        self.sort();
        self.selected.dedup_by_key(|row| row.key());
    }
}

/// Whether the points of a contact that is open do not touch within the step although their velocities lead
/// there: those of a wheel that rolls move on cycloids.
fn stays_open(input: &LookAheadInput, row: &RowContact) -> bool {
    let LookAheadInput { world, context, parameters, slop, .. } = input;
    let (h, bodies) = (parameters.time_step, world.bodies_of(&row.contact));
    let spins = bodies.map(|body| h * context.angular_velocity(body));
    if parameters.convex_friction || spins.iter().all(|spin| spin.norm() < STRAIGHT) {
        return false;
    }
    // The lowest point of a sphere is another one at any time, and moves with the centre.
    let is_ball = |id| matches!(world.colliders.get(id).shape, Shape::Sphere { .. });
    if [row.contact.a, row.contact.b].into_iter().any(is_ball) {
        return false;
    }
    let gap = row.contact.gap - world.standoff(&row.contact);
    let way = |side: usize, s: f64| {
        let centre = context.data.body_pose[bodies[side]].translation.vector;
        let lever = row.points[side] - centre;
        let turned = nalgebra::UnitQuaternion::from_scaled_axis(s * spins[side]) * lever;
        s * h * context.point_velocity(bodies[side], &centre) + turned - lever
    };
    let open = |k: usize| {
        let s = k as f64 / PATH_SAMPLES as f64;
        gap + row.contact.normal.dot(&(way(1, s) - way(0, s))) > -slop
    };
    (1..=PATH_SAMPLES).all(open)
}

/// Bound of the distance by which the turn of a shape moves its points within the step [m], those along the
/// direction `n` if there is one.
fn turned(shape: &MovingShape, n: Option<&nalgebra::Vector3<f64>>) -> f64 {
    let turn = &shape.motion.turn;
    let turn = n.map_or_else(|| turn.norm(), |n| turn.cross(n).norm());
    if turn == 0.0 {
        return 0.0;
    }
    let lever = (shape.X_WS.translation.vector - shape.motion.centre).norm();
    turn * (lever + shape.shape.bounding_radius())
}

/// Bound of the distance by which two shapes approach each other within the step [m].
fn speed_bound(a: &MovingShape, b: &MovingShape) -> f64 {
    (a.motion.shift - b.motion.shift).norm() + turned(a, None) + turned(b, None)
}

/// Whether the contacts at the start prove that two shapes do not come within `distance` [m]: their nearest
/// points are farther apart than they can approach, in all or, for convex shapes, along the normal.
fn cannot_meet(a: &MovingShape, b: &MovingShape, pair: &[Contact], distance: f64) -> bool {
    let least = pair.iter().fold(f64::INFINITY, |least, contact| least.min(contact.gap)) - distance;
    if speed_bound(a, b) < least {
        return true;
    }
    let is_convex = a.shape.is_convex() && b.shape.is_convex();
    let n = &pair[0].normal;
    if is_convex {
        let approach = (a.motion.shift - b.motion.shift).dot(n);
        if approach + turned(a, Some(n)) + turned(b, Some(n)) < least {
            return true;
        }
    }
    // Links of one mechanism that move together hardly approach each other.
    let n = is_convex.then_some(n);
    let relative = |small: &MovingShape, large: &MovingShape| {
        let extent = (small.X_WS.translation.vector, small.shape.bounding_radius());
        RelativeMotion::new(&small.motion, extent, &large.motion)
    };
    if a.shape.bounding_radius() < b.shape.bounding_radius() {
        relative(a, b).way(n) < least
    } else {
        relative(b, a).way(n.map(|n| -n).as_ref()) < least
    }
}
