//! The order in which bodies are declared: parents before their children, otherwise as in the file.

use std::collections::HashMap;

/// Places of the things in an order in which each comes after all that have the name of its parent.
/// Things in a circle of parents are left out. Parents that are not among the things count for
/// nothing. `of` gives the name and the parent.
///
/// The order is that of repeated passes over the file, each of which takes what has no parent left;
/// it is found in linear time, but for the sorting, by the number of the pass.
pub(super) fn parents_first<'t, T>(
    things: &'t [T],
    of: impl Fn(&'t T) -> (&'t str, Option<&'t str>),
) -> Vec<usize> {
    let mut named: HashMap<&str, Vec<usize>> = HashMap::new();
    for (place, thing) in things.iter().enumerate() {
        let (name, _) = of(thing);
        if !name.is_empty() {
            named.entry(name).or_default().push(place);
        }
    }
    // Per parent's name: how many things of that name are not in the order yet.
    let mut open: HashMap<&str, usize> =
        named.iter().map(|(name, all)| (*name, all.len())).collect();
    let mut children: HashMap<&str, Vec<usize>> = HashMap::new();
    let mut pass = vec![0_usize; things.len()];
    let mut ready = Vec::new();
    for (place, thing) in things.iter().enumerate() {
        match of(thing).1.filter(|parent| named.contains_key(parent)) {
            Some(parent) => children.entry(parent).or_default().push(place),
            None => ready.push(place),
        }
    }
    let mut order = Vec::with_capacity(things.len());
    while let Some(place) = ready.pop() {
        order.push(place);
        let (name, _) = of(&things[place]);
        let Some(left) = open.get_mut(name) else { continue };
        *left -= 1;
        if *left > 0 {
            continue;
        }
        for child in children.remove(name).unwrap_or_default() {
            // A parent that stands later in the file is taken one pass earlier.
            let after = named[name].iter().map(|&p| pass[p] + usize::from(p > child));
            pass[child] = after.max().unwrap_or(0);
            ready.push(child);
        }
    }
    order.sort_unstable_by_key(|&place| (pass[place], place));
    order
}

#[cfg(test)]
mod tests {
    use super::*;

    fn order(things: &[(&str, Option<&str>)]) -> Vec<usize> {
        parents_first(things, |(name, parent)| (name, *parent))
    }

    #[test]
    fn parents_come_first_and_the_rest_stays_in_order() {
        assert_eq!(order(&[("a", None), ("", None), ("b", Some("a"))]), [0, 1, 2]);
        assert_eq!(
            order(&[("c", Some("b")), ("b", Some("a")), ("a", None), ("d", None)]),
            [2, 3, 1, 0]
        );
        assert_eq!(order(&[("b", Some("elsewhere"))]), [0]);
    }

    #[test]
    fn circles_are_left_out() {
        assert_eq!(
            order(&[("a", Some("b")), ("b", Some("a")), ("c", None), ("d", Some("d"))]),
            [2]
        );
    }

    #[test]
    fn a_chain_of_a_hundred_thousand_bodies_in_reverse_is_ordered() {
        let names: Vec<String> = (0..100_000).map(|k| format!("b{k}")).collect();
        let things: Vec<(&str, Option<&str>)> = names
            .iter()
            .enumerate()
            .map(|(k, name)| (name.as_str(), names.get(k + 1).map(String::as_str)))
            .collect();
        let found = order(&things);
        assert_eq!((found.len(), found[0], found[99_999]), (100_000, 99_999, 0));
    }
}
