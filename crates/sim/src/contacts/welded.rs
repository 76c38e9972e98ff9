//! Contacts of bodies that an exact weld holds together: they are left out.
//!
//! Such bodies do not move relative to one another, whatever their contacts are. The weld follows the arc of a turning pair,
//! contacts bound straight velocities: together they have no solution. How the weld and the contacts would share a
//! force is not determined. A weld that is switched off or soft changes nothing.

use stiction_geom::Contact;
use stiction_mech::{BodyId, Model};

use crate::constraint::{Equality, EqualityOptions};
use crate::world::World;

/// An exact weld: its index among the equalities, and the links that it joins; none for the world.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ExactWeld {
    equality: usize,
    links: [Option<usize>; 2],
}

/// The exact welds of a world.
pub(crate) fn exact_welds(
    model: &Model,
    equalities: &[Equality],
    options: &[EqualityOptions],
) -> Vec<ExactWeld> {
    let mut welds = Vec::new();
    for (equality, (relation, options)) in equalities.iter().zip(options).enumerate() {
        if let (Equality::Weld(weld), None) = (relation, options.softness) {
            let links = [weld.body_a, weld.body_b].map(|body| model.link(body));
            welds.push(ExactWeld { equality, links });
        }
    }
    welds
}

/// Removes the contacts of bodies that active exact welds join.
pub(crate) fn remove_contacts(world: &World, active: &[bool], contacts: &mut Vec<Contact>) {
    let is_active = |weld: &&ExactWeld| active.get(weld.equality).copied().unwrap_or(true);
    if world.exact_welds.iter().filter(is_active).count() == 0 {
        return;
    }
    contacts.retain(|contact| {
        let [a, b] = world.bodies_of(contact).map(|body| world.model.link(BodyId(body)));
        let mut welds = world.exact_welds.iter().filter(is_active);
        !welds.any(|weld| weld.links == [a, b] || weld.links == [b, a])
    });
}
