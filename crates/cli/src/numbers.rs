//! Formatting of numbers for text output: few digits, a suitable unit.

/// A count with its noun, in the plural where needed.
pub fn count(n: usize, what: &str) -> String {
    format!("{n} {what}{}", if n == 1 { "" } else { "s" })
}

/// A residual with two digits.
pub fn small(x: f64) -> String {
    if x == 0.0 { "0".to_owned() } else { format!("{x:.1e}") }
}

/// A number with three digits, and an exponent only if it is far from one.
pub fn significant(x: f64) -> String {
    if !(1e-3..1e4).contains(&x) {
        return format!("{x:.2e}");
    }
    let digits = (2.0 - x.log10().floor()).max(0.0) as usize;
    format!("{x:.digits$}")
}

/// A time with three digits and a suitable unit.
pub fn duration(seconds: f64) -> String {
    let (value, unit) = match seconds {
        s if s < 1e-3 => (s * 1e6, "µs"),
        s if s < 1.0 => (s * 1e3, "ms"),
        s => (s, "s"),
    };
    let digits = if value < 9.995 { 2 } else { usize::from(value < 99.95) };
    format!("{value:.digits$} {unit}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_three_digits_and_no_needless_exponent() {
        let found = [0.040_875, 1.0, 12.345, 4321.0, 1.5e-7].map(significant);
        assert_eq!(found, ["0.0409", "1.00", "12.3", "4321", "1.50e-7"]);
    }

    #[test]
    fn times_have_three_digits() {
        let found = [1.234e-6, 4.5678e-4, 0.0123456, 1.5, 123.456].map(duration);
        assert_eq!(found, ["1.23 µs", "457 µs", "12.3 ms", "1.50 s", "123 s"]);
    }
}
