//! Identity of a constraint over time, by which impulses are carried from step to step.

/// Identity of a constraint over time: its class, what it is between, and which of several.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct ConstraintKey {
    pub class: ConstraintClass,
    pub a: u32,
    pub b: u32,
    pub feature: u32,
    /// Which of the torsional rows of a contact, or the last bits of the number of a polygon; zero for all other classes.
    pub row: u8,
}

/// Classes of constraints, in the order of their rows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum ConstraintClass {
    /// One row of an equality.
    #[default]
    Equality,
    /// One axis of a soft-body vertex that is attached to a body.
    Attachment,
    /// A limit of a joint or tendon.
    Limit,
    /// A bounded servo, a tendon spring, or dry friction of a joint or tendon.
    Drive,
    /// A contact of two rigid shapes.
    Contact,
    /// A polygon of a patch between two shapes.
    Patch,
    /// Friction of a rigid contact against spinning or rolling.
    Torsion,
    /// A contact with a soft body.
    SoftContact,
    /// One strain of a cable end that is clamped to a body.
    Clamp,
}

impl ConstraintClass {
    const ALL: [Self; 9] = [
        Self::Equality,
        Self::Attachment,
        Self::Limit,
        Self::Drive,
        Self::Contact,
        Self::Patch,
        Self::Torsion,
        Self::SoftContact,
        Self::Clamp,
    ];

    /// The class whose number `as u32` is `number`.
    pub fn from_number(number: u32) -> Option<Self> {
        Self::ALL.into_iter().find(|class| *class as u32 == number)
    }
}
