//! Text output: escaped characters, short numbers, estimated widths.

use std::fmt::Write;

/// `text` with the characters of the markup escaped, and those that XML forbids replaced.
pub fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            '\t' | '\n' | '\r' => out.push(' '),
            '\u{0}'..='\u{1f}' | '\u{fffe}' | '\u{ffff}' => out.push('\u{fffd}'),
            _ => out.push(c),
        }
    }
    out
}

/// `value` [px] to a hundredth, without trailing zeros.
pub(crate) fn number(value: f64) -> String {
    let mut text = String::new();
    let _ = write!(text, "{value:.2}"); // writing to a string cannot fail
    let trimmed = text.trim_end_matches('0').trim_end_matches('.');
    if trimmed == "-0" { "0".to_owned() } else { trimmed.to_owned() }
}

/// Estimated width of `text` in a sans-serif font of the given size [px].
pub(crate) fn width(text: &str, size: f64) -> f64 {
    let advance = |c: char| match c {
        'i' | 'j' | 'l' | '.' | ',' | ':' | ';' | '\'' | '|' | '!' => 0.3,
        ' ' | 'f' | 't' | 'r' | '(' | ')' | '[' | ']' | '-' | '/' => 0.37,
        'm' | 'w' | 'M' | 'W' | '@' | '%' => 0.9,
        c if c.is_ascii_uppercase() => 0.68,
        c if c.is_ascii() => 0.58,
        _ => 0.7,
    };
    size * text.chars().map(advance).sum::<f64>()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn markup_in_a_name_stays_text() {
        assert_eq!(escape("a<b & \"c\">'d'"), "a&lt;b &amp; &quot;c&quot;&gt;&#39;d&#39;");
        assert_eq!(escape("\u{1}\u{7f}λ"), "\u{fffd}\u{7f}λ");
    }

    #[test]
    fn numbers_are_short() {
        let found = [0.0, -0.001, 1.0, 100.0, 1.25, -2.5, 1.0 / 3.0].map(number);
        assert_eq!(found, ["0", "0", "1", "100", "1.25", "-2.5", "0.33"]);
    }
}
