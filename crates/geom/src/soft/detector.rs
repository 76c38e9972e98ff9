//! Soft contact detection: from the poses of frames and positions of nodes to sorted contacts.
//!
//! Boxes around surfaces and colliders show which pairs may touch; only surfaces with a partner are
//! refitted. The cost is proportional to the number of nodes and of nearby features. Nothing is allocated
//! once the buffers have grown to the motion; the same input gives the same bits.

use super::deformed_surface::DeformedSurface;
use super::rigid_contacts::{self, PosedCollider, RigidScratch, SoftBodySurface};
use super::soft_contacts::{self, SoftPairScratch};
use super::{SoftContact, SoftSurfaceId, SoftSurfaces};
use crate::{Aabb, ColliderId, Colliders};
use nalgebra::{Isometry3, Vector3};

/// Workspace of soft contact detection. It is not part of the state: contacts depend on the given positions
/// alone.
#[derive(Clone, Debug)]
pub struct SoftDetector {
    /// Poses X_WS of the colliders, their bounds [m] (`NONE` without a frame) and detection distances [m].
    poses: Vec<Isometry3<f64>>,
    bounds: Vec<Aabb>,
    contact_distance: Vec<f64>,
    deformed: Vec<DeformedSurface>,
    scratch: RigidScratch,
    pairs: SoftPairScratch,
}

impl SoftDetector {
    /// Detector for a set of colliders and one of soft surfaces.
    pub fn new(colliders: &Colliders, surfaces: &SoftSurfaces) -> Self {
        let most = |count: fn(&super::surface_topology::SurfaceTopology) -> usize| {
            surfaces.topologies.iter().map(count).max().unwrap_or(0)
        };
        Self {
            poses: vec![Isometry3::identity(); colliders.len()],
            bounds: vec![Aabb::NONE; colliders.len()],
            contact_distance: vec![0.0; colliders.len()],
            deformed: surfaces.topologies.iter().map(DeformedSurface::new).collect(),
            scratch: RigidScratch::new(
                most(|topology| topology.vertices.len()),
                most(|topology| topology.edges.len()),
            ),
            pairs: SoftPairScratch::default(),
        }
    }

    /// Finds all contacts whose gap is at most the sum of the reaches [m] and margins of both sides.
    ///
    /// `frames` are the poses X_WF of the frames that carry colliders, `nodes` the positions [m] of the
    /// nodes of all soft bodies, `frame_reach` and `node_reach` the distances [m] within which contacts are
    /// reported: how far each can move in a step. Colliders whose frame is missing are ignored; missing
    /// nodes and reaches are zero. Contacts are sorted by [`SoftContact::key`].
    pub fn detect(
        &mut self,
        colliders: &Colliders,
        surfaces: &SoftSurfaces,
        frames: &[Isometry3<f64>],
        nodes: &[Vector3<f64>],
        frame_reach: &[f64],
        node_reach: &[f64],
    ) -> &[SoftContact] {
        self.scratch.contacts.clear();
        if surfaces.is_empty() {
            return &self.scratch.contacts;
        }
        self.update_poses(colliders, frames, frame_reach);
        for (deformed, topology) in self.deformed.iter_mut().zip(&surfaces.topologies) {
            deformed.measure(topology, nodes, node_reach);
        }
        for index in 0..surfaces.len() {
            self.against_rigid(colliders, surfaces, index);
            self.against_soft(surfaces, index);
        }
        // Contacts with values that are not finite are dropped.
        self.scratch.contacts.retain(|contact| {
            let numbers = contact.normal.iter().chain(contact.point.iter());
            contact.gap.is_finite() && numbers.into_iter().all(|x| x.is_finite())
        });
        self.scratch.contacts.sort_unstable_by_key(SoftContact::key);
        &self.scratch.contacts
    }

    /// The contacts of the last call, sorted by [`SoftContact::key`].
    pub fn contacts(&self) -> &[SoftContact] {
        &self.scratch.contacts
    }

    fn update_poses(
        &mut self,
        colliders: &Colliders,
        frames: &[Isometry3<f64>],
        frame_reach: &[f64],
    ) {
        for (k, collider) in colliders.as_slice().iter().enumerate() {
            let frame = collider.frame as usize;
            let Some(X_WF) = frames.get(frame) else {
                self.bounds[k] = Aabb::NONE;
                continue;
            };
            self.poses[k] = X_WF * collider.pose;
            self.bounds[k] = collider.shape.bounds(&self.poses[k]);
            self.contact_distance[k] =
                collider.margin + frame_reach.get(frame).copied().unwrap_or(0.0).max(0.0);
        }
    }

    fn against_rigid(&mut self, colliders: &Colliders, surfaces: &SoftSurfaces, index: usize) {
        let (topology, margin) = (&surfaces.topologies[index], surfaces.as_slice()[index].margin);
        let id = SoftSurfaceId(index as u32);
        for &k in &surfaces.partners[index] {
            let (k, contact_distance) = (k as usize, self.contact_distance[k as usize] + margin);
            if !rigid_contacts::near(
                SoftBodySurface { id, topology, deformed: &self.deformed[index] },
                &self.bounds[k],
                contact_distance,
            ) {
                continue;
            }
            self.deformed[index].fit(topology);
            let soft = SoftBodySurface { id, topology, deformed: &self.deformed[index] };
            let shape = &colliders.as_slice()[k].shape;
            let collider = ColliderId(k as u32);
            let rigid = PosedCollider { id: collider, shape, X_WS: &self.poses[k], part: 0 };
            rigid_contacts::find(soft, rigid, contact_distance, &mut self.scratch);
        }
    }

    fn against_soft(&mut self, surfaces: &SoftSurfaces, index: usize) {
        let given = surfaces.as_slice();
        let topologies = &surfaces.topologies;
        let id = SoftSurfaceId(index as u32);
        if given[index].touches_itself {
            self.deformed[index].fit(&topologies[index]);
            let soft = SoftBodySurface {
                id,
                topology: &topologies[index],
                deformed: &self.deformed[index],
            };
            let contact_distance = 2.0 * given[index].margin;
            soft_contacts::find_own(
                soft,
                contact_distance,
                &mut self.pairs,
                &mut self.scratch.contacts,
            );
        }
        for other in index + 1..surfaces.len() {
            let other_id = SoftSurfaceId(other as u32);
            let contact_distance = given[index].margin + given[other].margin;
            let reach =
                contact_distance + self.deformed[index].farthest + self.deformed[other].farthest;
            let hull = self.deformed[index].hull.inflated(reach);
            if !surfaces.may_touch(id, other_id) || !hull.overlaps(&self.deformed[other].hull) {
                continue;
            }
            self.deformed[index].fit(&topologies[index]);
            self.deformed[other].fit(&topologies[other]);
            let a = SoftBodySurface {
                id,
                topology: &topologies[index],
                deformed: &self.deformed[index],
            };
            let b = SoftBodySurface {
                id: other_id,
                topology: &topologies[other],
                deformed: &self.deformed[other],
            };
            soft_contacts::find(
                a,
                b,
                contact_distance,
                &mut self.pairs,
                &mut self.scratch.contacts,
            );
        }
    }
}
