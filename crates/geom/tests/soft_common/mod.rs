//! Soft bodies in scenes of one array of nodes, for the tests.
#![allow(dead_code, clippy::unwrap_used, non_snake_case)]

use nalgebra::{Isometry3, Vector3};
use stiction_geom::{
    Collider, Colliders, FacePoint, Groups, Shape, SoftContact, SoftContactSide, SoftDetector,
    SoftSurface, SoftSurfaces, TetMesh,
};

/// Soft bodies and rigid shapes, each rigid one in a frame of its own.
pub struct Scene {
    pub colliders: Colliders,
    pub surfaces: SoftSurfaces,
    pub frames: Vec<Isometry3<f64>>,
    pub nodes: Vec<Vector3<f64>>,
    pub detector: SoftDetector,
}

impl Scene {
    /// Rigid shapes at their poses, and soft bodies with a word on whether they touch themselves.
    pub fn new(rigid: Vec<(Shape, Isometry3<f64>)>, soft: &[(&TetMesh, bool)]) -> Self {
        let mut builder = Colliders::builder();
        let mut frames = Vec::new();
        for (shape, pose) in rigid {
            let (frame, groups) = (frames.len() as u32, Groups::default());
            let pose_in_frame = Isometry3::identity();
            builder.add(Collider { shape, frame, pose: pose_in_frame, groups, margin: 0.0 });
            frames.push(pose);
        }
        let colliders = builder.build().unwrap();
        let mut surfaces = SoftSurfaces::builder();
        let mut nodes: Vec<Vector3<f64>> = Vec::new();
        for (mesh, touches_itself) in soft {
            let start = nodes.len();
            let shifted = |t: &[u32; 3]| t.map(|v| v + start as u32);
            nodes.extend(mesh.vertices());
            surfaces.add(SoftSurface {
                nodes: start..nodes.len(),
                triangles: mesh.surface().iter().map(shifted).collect(),
                rest: mesh.vertices().to_vec(),
                groups: Groups::default(),
                margin: 0.0,
                touches_itself: *touches_itself,
                excluded_frames: Vec::new(),
            });
        }
        let surfaces = surfaces.build(&colliders).unwrap();
        let detector = SoftDetector::new(&colliders, &surfaces);
        Self { colliders, surfaces, frames, nodes, detector }
    }

    /// All contacts with gaps up to `reach` [m].
    pub fn contacts(&mut self, reach: f64) -> Vec<SoftContact> {
        let node_reach = vec![reach; self.nodes.len()];
        let Self { colliders, surfaces, frames, nodes, detector } = self;
        detector.detect(colliders, surfaces, frames, nodes, &[], &node_reach).to_vec()
    }

    /// The contact with the least gap.
    pub fn nearest(&mut self, reach: f64) -> Option<SoftContact> {
        self.contacts(reach).into_iter().min_by(|a, b| a.gap.total_cmp(&b.gap))
    }

    /// Moves all nodes from `first` on.
    pub fn shift(&mut self, first: usize, way: Vector3<f64>) {
        self.nodes[first..].iter_mut().for_each(|p| *p += way);
    }
}

/// The point of a soft side.
pub fn soft(side: &SoftContactSide) -> FacePoint {
    match side {
        SoftContactSide::Soft(_, point) => *point,
        SoftContactSide::Rigid(id) => panic!("{id:?} is rigid"),
    }
}

/// Checks what holds for every contact: unit normals, sorted keys, weights that sum to one, and surfaces
/// half a gap to both sides of the point.
pub fn check(contacts: &[SoftContact], nodes: &[Vector3<f64>]) {
    assert!(contacts.is_sorted_by_key(SoftContact::key));
    for c in contacts {
        assert!((c.normal.norm() - 1.0).abs() < 1e-12, "{c:?}");
        for side in [c.a, c.b] {
            let SoftContactSide::Soft(_, point) = side else { continue };
            assert!((point.weights.iter().sum::<f64>() - 1.0).abs() < 1e-12, "{c:?}");
            assert!(point.weights.iter().all(|&w| w >= 0.0), "{c:?}");
            assert!(point.position(nodes).iter().all(|x| x.is_finite()));
        }
    }
}
