//! `<flag filterparent="disable"/>`: bodies that touch the body that carries them, as explicit pairs of shapes.

use stiction_mech::BodyId;

use super::body::{GeomDraft, TreeDraft};
use super::build::Build;

/// A shape of a body and one of the body that carries it.
#[derive(Clone, Copy, Debug)]
pub(super) struct ParentPair {
    pub geoms: [usize; 2],
    pub bodies: [BodyId; 2],
}

/// Pairs of shapes of a moving body and of the moving body that carries it whose bits let them touch.
pub(super) fn pairs(draft: &TreeDraft) -> Vec<ParentPair> {
    let link = |geom: &GeomDraft| draft.bodies[geom.geom.body.0].link;
    let mut of_link: Vec<Vec<usize>> = vec![Vec::new(); draft.bodies.len()];
    for (index, geom) in draft.geoms.iter().enumerate() {
        of_link[link(geom)].push(index);
    }
    let mut pairs = Vec::new();
    for (b, child) in draft.geoms.iter().enumerate().filter(|(_, child)| link(child) != 0) {
        let parent = draft.bodies[link(child)].spec.parent.0;
        let carrier = draft.bodies[parent].link;
        for &a in of_link[carrier].iter().filter(|_| carrier != 0) {
            let (one, other) = (&draft.geoms[a].geom, &child.geom);
            let met = one.groups.category & other.groups.mask;
            if met != 0 || other.groups.category & one.groups.mask != 0 {
                pairs.push(ParentPair { geoms: [a, b], bodies: [one.body, other.body] });
            }
        }
    }
    pairs
}

/// Lets bodies touch those that carry them, if the file says so. All exclusions must have been read.
pub(super) fn declare(build: &mut Build) {
    for ParentPair { geoms: [a, b], bodies: [first, second] } in
        std::mem::take(&mut build.parent_pairs)
    {
        if !build.excluded.contains(&(first, second)) {
            build.world.pair(a, b);
        }
    }
}
