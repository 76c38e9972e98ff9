//! Settings by name: one declarative table per typed settings struct.
//!
//! A settings struct is a plain Rust struct with `Default`. Its [`SettingTable`] lists for every
//! setting the name, unit, range, documentation and its field; type and default
//! follow from the field. Command line, scene files, Python keywords, error messages and listings
//! all come from this table through [`NamedSettings`], which every such struct has:
//!
//! ```
//! use stiction_solve::setting::{NamedSettings, SettingRange, SettingTable, SettingValue};
//! use stiction_solve::{setting_choices, setting_table};
//!
//! #[derive(Clone, Copy, Debug, PartialEq)]
//! enum Rule { Residual, Paper }
//! setting_choices!(Rule { "residual" => Rule::Residual, "paper" => Rule::Paper });
//!
//! #[derive(Clone, Debug)]
//! struct Example { growth: f64, rule: Rule, max_outer: Option<usize> }
//! impl Default for Example {
//!     fn default() -> Self { Self { growth: 10.0, rule: Rule::Residual, max_outer: None } }
//! }
//! setting_table!(Example, "solver 'example'", [
//!     ("growth", growth, "-", SettingRange::at_least(1.0), "factor by which the penalty grows"),
//!     ("stop", rule, "", SettingRange::ANY, "when the iteration ends"),
//!     ("max-outer", max_outer, "", SettingRange::ANY, "outer iterations"),
//! ]);
//!
//! let mut settings = Example::default();
//! settings.set_text("growth", "3")?;
//! settings.set("max_outer", &SettingValue::Count(7))?; // "_" stands for "-" and "."
//! assert_eq!((settings.growth, settings.max_outer), (3.0, Some(7)));
//! assert_eq!(settings.get("stop")?.to_string(), "residual");
//! assert_eq!(<Example as SettingTable>::specs()[0].default, SettingValue::Number(10.0));
//! let error = settings.set_text("growth", "0.5").unwrap_err();
//! assert_eq!(
//!     error.to_string(),
//!     "setting 'growth' of solver 'example': found '0.5', expected a finite number ≥ 1 [-]"
//! );
//! # Ok::<(), stiction_solve::setting::SettingError>(())
//! ```
//!
//! A field may be nested (`rule.growth`). A setting that is no single field is a
//! [`SettingField`] written out with its own `get` and `set`, in a table written out.

use std::fmt;
use std::ops::Bound;

/// The value of a setting.
#[derive(Clone, Debug, PartialEq)]
pub enum SettingValue {
    /// Nothing: an optional setting that is left to the program.
    None,
    /// True or false.
    Flag(bool),
    /// A whole number, not negative.
    Count(usize),
    /// A number.
    Number(f64),
    /// A name or any other text; read by the kind of the setting that it is given to.
    Text(String),
}

/// Text of an optional setting that has no value.
const NONE: &str = "none";

impl fmt::Display for SettingValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::None => f.write_str(NONE),
            Self::Flag(flag) => write!(f, "{flag}"),
            Self::Count(count) => write!(f, "{count}"),
            Self::Number(x) => write_number(f, *x),
            Self::Text(text) => f.write_str(text),
        }
    }
}

/// Writes the shortest text that reads back as the same number, with an exponent where the plain
/// form would be long.
fn write_number(f: &mut fmt::Formatter<'_>, x: f64) -> fmt::Result {
    if x == 0.0 || (1e-3..1e6).contains(&x.abs()) { write!(f, "{x}") } else { write!(f, "{x:e}") }
}

/// The type of a setting.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SettingKind {
    /// True or false.
    Flag,
    /// A whole number, not negative.
    Count,
    /// A finite number.
    Number,
    /// One of these names.
    Choice(Vec<&'static str>),
    /// Any text.
    Text,
}

impl SettingKind {
    /// Name of the type in listings.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Flag => "flag",
            Self::Count => "count",
            Self::Number => "number",
            Self::Choice(_) => "choice",
            Self::Text => "text",
        }
    }
}

/// Values that a number or a count may take. Whatever the bounds, a number is finite.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SettingRange {
    /// Lower bound.
    pub low: Bound<f64>,
    /// Upper bound.
    pub high: Bound<f64>,
}

impl SettingRange {
    /// No bounds; also for settings that are no numbers.
    pub const ANY: Self = Self { low: Bound::Unbounded, high: Bound::Unbounded };
    /// x > 0.
    pub const POSITIVE: Self = Self { low: Bound::Excluded(0.0), high: Bound::Unbounded };
    /// x ≥ 0.
    pub const NOT_NEGATIVE: Self = Self::at_least(0.0);

    /// x ≥ low.
    pub const fn at_least(low: f64) -> Self {
        Self { low: Bound::Included(low), high: Bound::Unbounded }
    }

    /// x > low.
    pub const fn above(low: f64) -> Self {
        Self { low: Bound::Excluded(low), high: Bound::Unbounded }
    }

    /// The same with x ≤ high.
    pub const fn at_most(self, high: f64) -> Self {
        Self { low: self.low, high: Bound::Included(high) }
    }

    /// The same with x < high.
    pub const fn below(self, high: f64) -> Self {
        Self { low: self.low, high: Bound::Excluded(high) }
    }

    /// Whether a number is finite and within the bounds.
    pub fn contains(&self, x: f64) -> bool {
        use std::ops::RangeBounds;
        x.is_finite() && (self.low, self.high).contains(&x)
    }
}

impl fmt::Display for SettingRange {
    /// "≥ 0 and < 1", or nothing without bounds.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let bound = |sign, x: f64| Some(format!("{sign} {}", SettingValue::Number(x)));
        let low = match self.low {
            Bound::Included(x) => bound('≥', x),
            Bound::Excluded(x) => bound('>', x),
            Bound::Unbounded => None,
        };
        let high = match self.high {
            Bound::Included(x) => bound('≤', x),
            Bound::Excluded(x) => bound('<', x),
            Bound::Unbounded => None,
        };
        f.write_str(&low.into_iter().chain(high).collect::<Vec<_>>().join(" and "))
    }
}

/// Description of one setting: name, type, unit, range, default and meaning.
#[derive(Clone, Debug, PartialEq)]
pub struct SettingSpec {
    /// Name on the command line and in files, in words joined by hyphens, groups by dots.
    pub name: &'static str,
    /// Type.
    pub kind: SettingKind,
    /// Whether it may be left to the program, by the text `none`.
    pub optional: bool,
    /// Unit; `-` of a number without one, empty where units make no sense.
    pub unit: &'static str,
    /// Range of a number or count.
    pub range: SettingRange,
    /// Default.
    pub default: SettingValue,
    /// Meaning, in one line.
    pub doc: &'static str,
}

impl SettingSpec {
    /// Name as a Python keyword.
    pub fn keyword(&self) -> String {
        keyword(self.name)
    }

    /// The values that are accepted, in words.
    pub fn expected(&self) -> String {
        let Self { range, unit, .. } = self;
        let mut text = match &self.kind {
            SettingKind::Flag => "true or false".to_owned(),
            SettingKind::Count => format!("a whole number {range}"),
            SettingKind::Number => format!("a finite number {range}"),
            SettingKind::Choice(names) => any_of(names),
            SettingKind::Text => "a text".to_owned(),
        };
        text.truncate(text.trim_end().len());
        if !unit.is_empty() {
            text.push_str(&format!(" [{unit}]"));
        }
        if self.optional {
            text.push_str(&format!(", or {NONE}"));
        }
        text
    }
}

/// "a, b or c".
fn any_of(names: &[&str]) -> String {
    match names {
        [start @ .., last] if !start.is_empty() => format!("{} or {last}", start.join(", ")),
        _ => names.concat(),
    }
}

fn keyword(name: &str) -> String {
    name.replace(['-', '.'], "_")
}

/// Why a setting was refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SettingError {
    /// No setting of that name.
    #[error("{owner} has no setting '{found}'; expected one of {known}")]
    UnknownKey {
        /// The owner of the setting, such as `solver 'canal'`.
        owner: String,
        /// The name found.
        found: String,
        /// The names there are.
        known: String,
    },
    /// A value of the wrong type or out of range.
    #[error("setting '{key}' of {owner}: found '{found}', expected {expected}")]
    Value {
        /// The owner of the setting.
        owner: String,
        /// The setting.
        key: &'static str,
        /// The value found.
        found: String,
        /// The values that are accepted.
        expected: String,
    },
}

impl SettingError {
    /// The same error of another owner, for one table that serves several.
    pub fn of(mut self, name: impl Into<String>) -> Self {
        match &mut self {
            Self::UnknownKey { owner, .. } | Self::Value { owner, .. } => *owner = name.into(),
        }
        self
    }
}

/// The type of a field that can be a setting.
pub trait SettingType: Sized {
    /// Whether `none` is a value.
    const OPTIONAL: bool = false;
    /// Its kind.
    fn kind() -> SettingKind;
    /// Its value.
    fn to_value(&self) -> SettingValue;
    /// Converts a value, which may be text; `None` if it is of another type.
    fn from_value(value: &SettingValue) -> Option<Self>;
}

impl SettingType for bool {
    fn kind() -> SettingKind {
        SettingKind::Flag
    }
    fn to_value(&self) -> SettingValue {
        SettingValue::Flag(*self)
    }
    fn from_value(value: &SettingValue) -> Option<Self> {
        match value {
            SettingValue::Flag(flag) => Some(*flag),
            SettingValue::Text(text) => text.parse().ok(),
            _ => None,
        }
    }
}

impl SettingType for usize {
    fn kind() -> SettingKind {
        SettingKind::Count
    }
    fn to_value(&self) -> SettingValue {
        SettingValue::Count(*self)
    }
    fn from_value(value: &SettingValue) -> Option<Self> {
        match value {
            SettingValue::Count(count) => Some(*count),
            SettingValue::Text(text) => text.parse().ok(),
            _ => None,
        }
    }
}

impl SettingType for f64 {
    fn kind() -> SettingKind {
        SettingKind::Number
    }
    fn to_value(&self) -> SettingValue {
        SettingValue::Number(*self)
    }
    fn from_value(value: &SettingValue) -> Option<Self> {
        match value {
            SettingValue::Number(x) => Some(*x),
            SettingValue::Count(count) => Some(*count as Self),
            SettingValue::Text(text) => text.parse().ok(),
            _ => None,
        }
    }
}

impl SettingType for String {
    fn kind() -> SettingKind {
        SettingKind::Text
    }
    fn to_value(&self) -> SettingValue {
        SettingValue::Text(self.clone())
    }
    fn from_value(value: &SettingValue) -> Option<Self> {
        match value {
            SettingValue::Text(text) => Some(text.clone()),
            _ => None,
        }
    }
}

impl<T: SettingType> SettingType for Option<T> {
    const OPTIONAL: bool = true;
    fn kind() -> SettingKind {
        T::kind()
    }
    fn to_value(&self) -> SettingValue {
        self.as_ref().map_or(SettingValue::None, T::to_value)
    }
    fn from_value(value: &SettingValue) -> Option<Self> {
        match value {
            SettingValue::None => Some(None),
            SettingValue::Text(text) if text == NONE => Some(None),
            other => T::from_value(other).map(Some),
        }
    }
}

/// Makes an enum a setting by the names of its variants. Names after a semicolon are aliases that
/// are read but not listed.
#[macro_export]
macro_rules! setting_choices {
    ($type:ty { $($name:literal => $value:expr),+ $(,)? $(; $($alias:literal => $same:expr),+)? }) => {
        impl $crate::setting::SettingType for $type {
            fn kind() -> $crate::setting::SettingKind {
                $crate::setting::SettingKind::Choice(vec![$($name),+])
            }
            fn to_value(&self) -> $crate::setting::SettingValue {
                let named: &[(&str, $type)] = &[$(($name, $value)),+];
                let name = named.iter().find(|(_, value)| value == self).map_or("", |(name, _)| name);
                $crate::setting::SettingValue::Text(name.to_owned())
            }
            fn from_value(value: &$crate::setting::SettingValue) -> Option<Self> {
                match value {
                    $crate::setting::SettingValue::Text(text) => match text.as_str() {
                        $($name => Some($value),)+
                        $($($alias => Some($same),)+)?
                        _ => None,
                    },
                    _ => None,
                }
            }
        }
    };
}

/// One line of a [`SettingTable`]: a setting and its access in the settings struct `S`.
pub struct SettingField<S> {
    /// Name, as in [`SettingSpec::name`].
    pub name: &'static str,
    /// Type.
    pub kind: fn() -> SettingKind,
    /// Whether `none` is a value.
    pub optional: bool,
    /// Unit, as in [`SettingSpec::unit`].
    pub unit: &'static str,
    /// Range of a number or count.
    pub range: SettingRange,
    /// Meaning, in one line.
    pub doc: &'static str,
    /// Reads it.
    pub get: fn(&S) -> SettingValue,
    /// Writes it; `None` if the value is of another type. The range is checked afterwards, and the
    /// old value is restored if it is violated.
    pub set: fn(&mut S, &SettingValue) -> Option<()>,
}

/// The table of a settings struct, as declared by [`setting_table!`](crate::setting_table).
pub trait SettingTable: Default + Clone + 'static {
    /// The owner of the setting, for error messages.
    const OWNER: &'static str;
    /// The settings.
    const FIELDS: &'static [SettingField<Self>];

    /// The settings with their defaults.
    fn specs() -> Vec<SettingSpec> {
        let default = Self::default();
        Self::FIELDS.iter().map(|field| spec(field, &default)).collect()
    }
}

/// Declares the [`SettingTable`] of a struct: its owner, then per setting name, field, unit, range
/// and documentation.
#[macro_export]
macro_rules! setting_table {
    ($type:ty, $owner:literal, [$(($name:literal, $($field:ident).+, $unit:literal, $range:expr, $doc:literal)),* $(,)?]) => {
        impl $crate::setting::SettingTable for $type {
            const OWNER: &'static str = $owner;
            const FIELDS: &'static [$crate::setting::SettingField<Self>] =
                &[$($crate::setting_field!($name, $($field).+, $unit, $range, $doc)),*];
        }
    };
}

/// One [`SettingField`](crate::setting::SettingField) for a field of a struct.
#[macro_export]
macro_rules! setting_field {
    ($name:literal, $($field:ident).+, $unit:literal, $range:expr, $doc:literal) => {{
        use $crate::setting::{SettingField, SettingKind, SettingType, SettingValue};
        // The kind of a field's type, found by inference.
        const fn bind<S, T: SettingType>(
            _field: fn(&S) -> &T,
            get: fn(&S) -> SettingValue,
            set: fn(&mut S, &SettingValue) -> Option<()>,
            (name, unit, range, doc): (
                &'static str,
                &'static str,
                $crate::setting::SettingRange,
                &'static str,
            ),
        ) -> SettingField<S> {
            let kind: fn() -> SettingKind = T::kind;
            SettingField { name, kind, optional: T::OPTIONAL, unit, range, doc, get, set }
        }
        bind(
            |s: &Self| &s.$($field).+,
            |s: &Self| SettingType::to_value(&s.$($field).+),
            |s: &mut Self, value: &SettingValue| {
                s.$($field).+ = SettingType::from_value(value)?;
                Some(())
            },
            ($name, $unit, $range, $doc),
        )
    }};
}

fn spec<S>(field: &SettingField<S>, default: &S) -> SettingSpec {
    SettingSpec {
        name: field.name,
        kind: (field.kind)(),
        optional: field.optional,
        unit: field.unit,
        range: field.range,
        default: (field.get)(default),
        doc: field.doc,
    }
}

/// Whether a value is within the range of its field; values that are no numbers are.
fn in_range(range: &SettingRange, value: &SettingValue) -> bool {
    match value {
        SettingValue::Number(x) => range.contains(*x),
        SettingValue::Count(count) => range.contains(*count as f64),
        _ => true,
    }
}

/// Settings that are read and written by name. Names may have underscores in place of hyphens and
/// dots.
pub trait NamedSettings {
    /// The settings with their defaults.
    fn specs(&self) -> Vec<SettingSpec>;

    /// The value of a setting.
    fn get(&self, name: &str) -> Result<SettingValue, SettingError>;

    /// Sets a value. On an error nothing has changed.
    fn set(&mut self, name: &str, value: &SettingValue) -> Result<(), SettingError>;

    /// Sets a value from text.
    fn set_text(&mut self, name: &str, text: &str) -> Result<(), SettingError> {
        self.set(name, &SettingValue::Text(text.to_owned()))
    }

    /// Checks all ranges, for a struct whose fields were set directly.
    fn check(&self) -> Result<(), SettingError>;
}

impl<S: SettingTable> NamedSettings for S {
    fn specs(&self) -> Vec<SettingSpec> {
        <S as SettingTable>::specs()
    }

    fn get(&self, name: &str) -> Result<SettingValue, SettingError> {
        find::<S>(name).map(|field| (field.get)(self))
    }

    fn set(&mut self, name: &str, value: &SettingValue) -> Result<(), SettingError> {
        let field = find::<S>(name)?;
        let mut changed = self.clone();
        let fits = (field.set)(&mut changed, value).is_some()
            && in_range(&field.range, &(field.get)(&changed));
        if !fits {
            return Err(refused(field, value));
        }
        *self = changed;
        Ok(())
    }

    fn check(&self) -> Result<(), SettingError> {
        for field in S::FIELDS {
            let value = (field.get)(self);
            if !in_range(&field.range, &value) {
                return Err(refused(field, &value));
            }
        }
        Ok(())
    }
}

fn find<S: SettingTable>(name: &str) -> Result<&'static SettingField<S>, SettingError> {
    let exact = S::FIELDS.iter().find(|field| field.name == name);
    let alike = || S::FIELDS.iter().find(|field| keyword(field.name) == keyword(name));
    exact.or_else(alike).ok_or_else(|| SettingError::UnknownKey {
        owner: S::OWNER.to_owned(),
        found: name.to_owned(),
        known: S::FIELDS.iter().map(|field| field.name).collect::<Vec<_>>().join(", "),
    })
}

fn refused<S: SettingTable>(field: &SettingField<S>, value: &SettingValue) -> SettingError {
    SettingError::Value {
        owner: S::OWNER.to_owned(),
        key: field.name,
        found: value.to_string(),
        expected: spec(field, &S::default()).expected(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Clone, Copy, Debug, PartialEq)]
    enum Rule {
        Residual,
        Paper,
    }
    setting_choices!(Rule { "residual" => Rule::Residual, "paper" => Rule::Paper; "honest" => Rule::Residual });

    #[derive(Clone, Debug, Default, PartialEq)]
    struct Inner {
        share: f64,
    }

    #[derive(Clone, Debug, PartialEq)]
    struct Outer {
        flag: bool,
        count: usize,
        limit: Option<usize>,
        rule: Rule,
        inner: Inner,
    }

    impl Default for Outer {
        fn default() -> Self {
            Self {
                flag: true,
                count: 3,
                limit: None,
                rule: Rule::Paper,
                inner: Inner { share: 0.5 },
            }
        }
    }

    setting_table!(
        Outer,
        "the test",
        [
            ("flag", flag, "", SettingRange::ANY, "a flag"),
            ("count", count, "", SettingRange::at_least(1.0), "a count"),
            ("limit", limit, "", SettingRange::at_least(1.0), "a limit"),
            ("rule", rule, "", SettingRange::ANY, "a rule"),
            ("inner.share", inner.share, "-", SettingRange::POSITIVE.below(1.0), "a share"),
        ]
    );

    #[test]
    fn every_setting_is_read_back_as_it_was_written() {
        let mut settings = Outer::default();
        for (name, text) in [
            ("flag", "false"),
            ("count", "7"),
            ("limit", "9"),
            ("limit", "none"),
            ("rule", "residual"),
            ("inner.share", "0.25"),
        ] {
            settings.set_text(name, text).unwrap();
            assert_eq!(settings.get(name).unwrap().to_string(), text);
        }
        settings.set("inner_share", &SettingValue::Number(0.75)).unwrap();
        settings.set_text("rule", "honest").unwrap();
        assert_eq!((settings.inner.share, settings.rule), (0.75, Rule::Residual));
    }

    #[test]
    fn a_refused_value_says_what_was_found_and_expected_and_changes_nothing() {
        let mut settings = Outer::default();
        for (name, text, expected) in [
            ("flag", "1", "true or false"),
            ("count", "0", "a whole number ≥ 1"),
            ("count", "-1", "a whole number ≥ 1"),
            ("limit", "0", "a whole number ≥ 1, or none"),
            ("rule", "best", "residual or paper"),
            ("inner.share", "NaN", "a finite number > 0 and < 1 [-]"),
            ("inner.share", "1", "a finite number > 0 and < 1 [-]"),
        ] {
            let error = settings.set_text(name, text).unwrap_err().to_string();
            assert_eq!(
                error,
                format!("setting '{name}' of the test: found '{text}', expected {expected}")
            );
        }
        assert_eq!(settings, Outer::default());
        let error = settings.set_text("speed", "1").unwrap_err().of("solver 'x'").to_string();
        assert_eq!(
            error,
            "solver 'x' has no setting 'speed'; \
             expected one of flag, count, limit, rule, inner.share"
        );
    }

    #[test]
    fn fields_that_were_set_directly_can_be_checked() {
        let mut settings = Outer::default();
        assert_eq!(settings.check(), Ok(()));
        settings.inner.share = f64::INFINITY;
        assert!(settings.check().is_err());
    }

    #[test]
    fn numbers_read_back_as_the_same_bits() {
        for x in [0.0, 0.1, 1e-9, 1.0 / 3.0, 1e300, 123_456.0, 1e6] {
            assert_eq!(SettingValue::Number(x).to_string().parse(), Ok(x));
        }
    }
}
