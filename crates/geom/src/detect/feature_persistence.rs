//! Persistent feature ids: points of a manifold take over the ids of earlier points nearby.
//!
//! Where features coincide, as the corners of equal cubes in a stack, round-off determines the id of a
//! point. A point whose id is not among the old ones takes that of an old point close by, so that the warm
//! start of a solver finds its impulse. The contact of shapes that are apart is not exact, and keeps its own id.

use crate::Contact;
use crate::narrow::{ManifoldPoint, feature_id};

/// Distance, as a part of the smaller shape's size, within which two points are the same [-].
const SAME_PLACE: f64 = 0.02;

/// Replaces new ids of a manifold by those of old contacts of the pair nearby; `size` is that of the
/// smaller shape [m].
pub fn inherit_ids(touches: &mut [ManifoldPoint], old: &[Contact], size: f64) {
    let known =
        |touches: &[ManifoldPoint], name: u32| touches.iter().any(|touch| touch.feature == name);
    let is_apart = |feature: u32| feature == feature_id::apart();
    if touches.iter().all(|touch| {
        is_apart(touch.feature) || old.iter().any(|contact| contact.feature == touch.feature)
    }) {
        return;
    }
    let most = (SAME_PLACE * size) * (SAME_PLACE * size);
    for k in 0..touches.len() {
        if old.iter().any(|contact| contact.feature == touches[k].feature) {
            continue;
        }
        let mut best: Option<(f64, u32)> = None;
        for contact in old.iter().filter(|contact| !is_apart(contact.feature)) {
            let square = (contact.point - touches[k].point).norm_squared();
            if square <= most
                && best.is_none_or(|(least, _)| square < least)
                && !known(touches, contact.feature)
            {
                best = Some((square, contact.feature));
            }
        }
        if let Some((_, name)) = best {
            touches[k].feature = name;
        }
    }
}
