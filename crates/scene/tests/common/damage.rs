//! Damage to the text of a model.

use stiction_math::random::SplitMix64;

/// Values that replace the value of an attribute.
const WRECKAGE: [&str; 16] = [
    "nan",
    "inf",
    "-1",
    "0",
    "1e308",
    "-1e-320",
    "99999999999999999999",
    "0 0 0",
    "",
    "x",
    "\"",
    "<",
    "1 2 3 4 5 6 7",
    "&#0;",
    "true",
    "mesh",
];

/// The text with one defect: something is cut, doubled or overwritten.
pub fn broken(text: &str, rng: &mut SplitMix64) -> String {
    let place = |rng: &mut SplitMix64, text: &str| {
        let mut at = rng.below(text.len());
        while !text.is_char_boundary(at) {
            at -= 1;
        }
        at
    };
    let (from, to) = (place(rng, text), place(rng, text));
    let (from, to) = (from.min(to), from.max(to).min(from.min(to) + 80));
    let to = (to..=text.len()).find(|at| text.is_char_boundary(*at)).unwrap_or(text.len());
    match rng.below(5) {
        0 => text[..from].to_owned(),
        1 => format!("{}{}", &text[..from], &text[to..]),
        2 => format!("{}{}", &text[..to], &text[from..]),
        _ => {
            // The value of an attribute, if there is one behind the place.
            let Some(open) = text[from..].find('"').map(|at| from + at + 1) else {
                return text[..from].to_owned();
            };
            let close = text[open..].find('"').map_or(text.len(), |at| open + at);
            let wreck = WRECKAGE[rng.below(WRECKAGE.len())];
            format!("{}{wreck}{}", &text[..open], &text[close..])
        }
    }
}
