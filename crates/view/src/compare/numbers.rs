//! Number formatting for the page: few digits, exponents as superscripts.

/// Placeholder for a missing number.
pub const NOTHING: &str = "–";

/// Formats a number in `digits` digits, very large and very small ones with a power of ten.
pub fn figure(x: f64, digits: usize) -> String {
    if !x.is_finite() {
        return NOTHING.to_owned();
    }
    if x == 0.0 {
        return "0".to_owned();
    }
    let size = x.abs();
    if !(1e-3..1e5).contains(&size) {
        return power(x, digits);
    }
    let behind = (digits as f64 - 1.0 - size.log10().floor()).max(0.0) as usize;
    minus(&format!("{x:.behind$}"))
}

/// Formats a number with a power of ten and a superscript exponent.
fn power(x: f64, digits: usize) -> String {
    let text = format!("{x:.*e}", digits.saturating_sub(1));
    match text.split_once('e') {
        Some((mantissa, exponent)) => {
            format!("{}·10<sup>{}</sup>", minus(mantissa), minus(exponent))
        }
        None => text,
    }
}

/// Formats a residual in two digits, small ones with a power of ten.
pub fn residual(x: f64) -> String {
    if !x.is_finite() {
        NOTHING.to_owned()
    } else if x == 0.0 {
        "0".to_owned()
    } else if (0.01..1e3).contains(&x) {
        figure(x, 2)
    } else {
        power(x, 2)
    }
}

/// Formats a time of `seconds` in three digits with a fitting unit.
pub fn duration(seconds: f64) -> String {
    let (value, unit) = match seconds {
        s if !s.is_finite() => return NOTHING.to_owned(),
        s if s < 1e-3 => (s * 1e6, "µs"),
        s if s < 1.0 => (s * 1e3, "ms"),
        s => (s, "s"),
    };
    format!("{} {unit}", figure(value, 3))
}

/// Formats a count with its noun, in the plural unless it is one.
pub fn count(n: usize, what: &str) -> String {
    format!("{n} {what}{}", if n == 1 { "" } else { "s" })
}

fn minus(text: &str) -> String {
    text.replace('-', "\u{2212}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_short_and_tell_their_size() {
        let found = [0.0, 1.0, 12.345, 43210.0, 1.5e-7, -0.02, f64::NAN].map(|x| figure(x, 3));
        let expected =
            ["0", "1.00", "12.3", "43210", "1.50·10<sup>\u{2212}7</sup>", "\u{2212}0.0200", "–"];
        assert_eq!(found, expected);
        assert_eq!([2e-6, 0.0123, 3.0].map(duration), ["2.00 µs", "12.3 ms", "3.00 s"]);
    }
}
