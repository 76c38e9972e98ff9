//! Rows of contact patches: per polygon one compliant contact at its centre of pressure.
//!
//! A polygon of area a, mean pressure p and pressure gradient g has the stiffness k = a g and the gap φ = −p/g; with the
//! dissipation time τ_d and the time step h its normal row has the compliance R = 1/(h k (h + τ_d)) and the target velocity
//! −φ/(h + τ_d) [Castro22, Eqs. (20), (29); Masterjohn22, Sec. III]. Friction is that of every contact. Nothing removes the
//! depth of a patch: it is what the pressure is made of.

use stiction_geom::{Contact, PatchDetector, PatchPolygon};
use stiction_solve::contact;

use super::contact::{LASTING_APPROACH, PointRows, add_point_rows, frame, friction_law};
use super::{ConstraintClass, ConstraintContext, ConstraintKey, RowBuilder, RowParameters};
use crate::surface::{Pairing, Resistance};
use crate::world::World;

/// Bits of the number of a cell in a key.
const CELL_BITS: u32 = 20;
const _: () = assert!(stiction_geom::pressure::MOST_ELEMENTS <= 1 << CELL_BITS);

/// Adds the rows of all polygons of the patches.
pub(crate) fn add_rows(
    world: &World,
    parameters: &RowParameters,
    detected: &PatchDetector,
    context: &ConstraintContext,
    rows: &mut RowBuilder,
) {
    for patch in detected.patches() {
        let at = |polygon: &PatchPolygon| Contact {
            a: patch.a,
            b: patch.b,
            feature: 0,
            point: polygon.point,
            normal: polygon.normal,
            gap: polygon.gap(),
        };
        let mut pairing: Option<Pairing> = None;
        for polygon in &detected.found().polygons[patch.polygons.clone()] {
            let contact = at(polygon);
            let combined = *pairing.get_or_insert_with(|| pairing_of(world, &contact, parameters));
            let pairing = Pairing { stiffness: polygon.stiffness(), ..combined };
            let Some(law) = friction_law(&pairing) else { continue };
            let R_CW = frame(world, &contact, &pairing, context);
            let [h, tau] = [parameters.time_step, pairing.dissipation];
            let compliance = 1.0 / (h * pairing.stiffness * (h + tau));
            let bodies = world.bodies_of(&contact);
            let [v_A, v_B] = bodies.map(|body| context.point_velocity(body, &contact.point));
            let normal_velocity = contact.normal.dot(&(v_B - v_A));
            let lasts = normal_velocity.abs() <= LASTING_APPROACH * parameters.bounce_threshold;
            add_point_rows(
                &PointRows {
                    key: key(patch.a.0, patch.b.0, polygon.cells),
                    law,
                    contact: &contact,
                    points: [contact.point; 2],
                    position: contact.gap,
                    bias: contact::rows(contact.gap / (h + tau), 0.0),
                    compliance: contact::rows(compliance, 0.0),
                    lasts,
                    area: polygon.area,
                },
                (&R_CW, &pairing),
                (world, context),
                rows,
            );
        }
    }
}

/// The identity of a polygon over time. Numbers of cells in it have the order of the polygons.
fn key(a: u32, b: u32, [first, second]: [u32; 2]) -> ConstraintKey {
    let number = (u64::from(first) << CELL_BITS) | u64::from(second);
    let (feature, row) = ((number >> 8) as u32, (number & 0xff) as u8);
    ConstraintKey { class: ConstraintClass::Patch, a, b, feature, row }
}

/// The combined surface parameters of a patch, but its stiffness. Spinning and rolling are resisted by its extent.
fn pairing_of(world: &World, contact: &Contact, parameters: &RowParameters) -> Pairing {
    let dissipation = |id: stiction_geom::ColliderId| {
        world.geoms[id.index()].surface.compliance.map_or(0.0, |c| c.dissipation)
    };
    let pairing = world.pairing(contact, parameters.combine);
    Pairing {
        restitution: 0.0,
        dissipation: dissipation(contact.a) + dissipation(contact.b),
        soft: None,
        resistance: pairing.resistance.min(Resistance::Sliding),
        spin: 0.0,
        roll: 0.0,
        standoff: 0.0,
        ..pairing
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_of_polygons_differ_and_have_their_order() {
        let most = (1 << CELL_BITS) - 1;
        let cells = [[0, 0], [0, 1], [0, 255], [0, 256], [0, most], [1, 0], [most, most]];
        let keys = cells.map(|cells| key(3, 4, cells));
        assert!(keys.is_sorted_by(|a, b| a < b));
    }
}
