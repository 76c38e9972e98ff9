//! Constraints in the form that a [`Problem`](super::Problem) keeps: a law per constraint, bias and
//! compliance per row, and the terms `C·P` of the Jacobian in flat arrays.
//!
//! [`Builder::exchange_rows`](super::Builder::exchange_rows) swaps rows in this form with those of a
//! builder, without copying values.

use std::ops::Range;

use super::PortId;
use crate::error::ProblemError;
use crate::law::Law;

/// One constraint: a law on a few rows.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Constraint {
    /// The relation between its velocity and its impulse.
    pub law: Law,
    /// First of its rows.
    first_row: u32,
    /// First of its terms.
    first_term: u32,
    /// One past the last of its terms.
    end_term: u32,
}

impl Constraint {
    /// Its rows.
    #[inline]
    pub fn rows(&self) -> Range<usize> {
        self.first_row as usize..self.first_row as usize + self.law.dim()
    }

    /// Its terms.
    #[inline]
    pub fn terms(&self) -> Range<usize> {
        self.first_term as usize..self.end_term as usize
    }
}

/// One summand `C·P` of a constraint's Jacobian.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Term {
    /// The port P.
    pub port: PortId,
    offset: u32,
    len: u32,
}

impl Term {
    fn values(&self) -> Range<usize> {
        self.offset as usize..(self.offset + self.len) as usize
    }
}

/// Constraints with their rows and terms. The last constraint is open: terms can be added to it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ConstraintRows {
    constraints: Vec<Constraint>,
    /// e [m/s], per row.
    bias: Vec<f64>,
    /// R [1/kg], per row.
    compliance: Vec<f64>,
    terms: Vec<Term>,
    /// C of all terms, row-major, one after the other.
    values: Vec<f64>,
}

impl ConstraintRows {
    /// Removes everything; keeps the memory.
    pub fn clear(&mut self) {
        self.constraints.clear();
        self.bias.clear();
        self.compliance.clear();
        self.terms.clear();
        self.values.clear();
    }

    /// Number of constraints.
    pub fn len(&self) -> usize {
        self.constraints.len()
    }

    /// Whether there is no constraint.
    pub fn is_empty(&self) -> bool {
        self.constraints.is_empty()
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.bias.len()
    }

    /// The constraints, in the order of their rows.
    #[inline]
    pub fn constraints(&self) -> &[Constraint] {
        &self.constraints
    }

    /// e [m/s], per row.
    #[inline]
    pub fn bias(&self) -> &[f64] {
        &self.bias
    }

    /// e [m/s], per row, to be changed.
    pub fn bias_mut(&mut self) -> &mut [f64] {
        &mut self.bias
    }

    /// R [1/kg], per row.
    #[inline]
    pub fn compliance(&self) -> &[f64] {
        &self.compliance
    }

    /// R [1/kg], per row, to be changed.
    pub fn compliance_mut(&mut self) -> &mut [f64] {
        &mut self.compliance
    }

    /// The terms of all constraints.
    #[inline]
    pub fn terms(&self) -> &[Term] {
        &self.terms
    }

    /// C of a term, row-major, one row per row of its constraint.
    #[inline]
    pub fn values(&self, term: &Term) -> &[f64] {
        &self.values[term.values()]
    }

    /// Opens a constraint with its bias [m/s] and compliance [1/kg], one entry per row of the law.
    pub fn open(&mut self, law: Law, bias: &[f64], compliance: &[f64]) {
        let (first_row, term) = (self.bias.len() as u32, self.terms.len() as u32);
        self.bias.extend_from_slice(bias);
        self.compliance.extend_from_slice(compliance);
        self.constraints.push(Constraint { law, first_row, first_term: term, end_term: term });
    }

    /// Adds a term of `len` zeros to the open constraint and returns its C, to be filled.
    pub fn push_term(&mut self, port: PortId, len: usize) -> &mut [f64] {
        let offset = self.values.len();
        self.terms.push(Term { port, offset: offset as u32, len: len as u32 });
        if let Some(open) = self.constraints.last_mut() {
            open.end_term = self.terms.len() as u32;
        }
        self.values.resize(offset + len, 0.0);
        &mut self.values[offset..]
    }

    /// Sets the port of every term; `port_of` receives the index of the term. A term without a port
    /// is an error; the terms after it keep theirs.
    pub fn set_ports(
        &mut self,
        mut port_of: impl FnMut(usize) -> Option<PortId>,
    ) -> Result<(), ProblemError> {
        for (index, term) in self.terms.iter_mut().enumerate() {
            let Some(port) = port_of(index) else {
                let reads = |c: &Constraint| c.terms().contains(&index);
                let constraint = self.constraints.iter().position(reads).unwrap_or(0);
                let term = index - self.constraints.get(constraint).map_or(0, |c| c.terms().start);
                return Err(ProblemError::NoPort { constraint, term });
            };
            term.port = port;
        }
        Ok(())
    }

    /// Keeps the first `count` constraints.
    pub fn truncate(&mut self, count: usize) {
        let Some(first) = self.constraints.get(count).copied() else { return };
        let terms = first.first_term as usize;
        let values = self.terms.get(terms).map_or(self.values.len(), |term| term.offset as usize);
        self.constraints.truncate(count);
        self.bias.truncate(first.first_row as usize);
        self.compliance.truncate(first.first_row as usize);
        self.terms.truncate(terms);
        self.values.truncate(values);
    }

    /// Keeps the constraints from `first` on for whose index `keep` returns true, in their order.
    /// Values of terms that go stay in memory until the rows are cleared.
    pub fn retain(&mut self, first: usize, mut keep: impl FnMut(usize) -> bool) {
        let Some(start) = self.constraints.get(first).copied() else { return };
        let (mut to, mut row, mut term) =
            (first, start.first_row as usize, start.first_term as usize);
        for index in first..self.constraints.len() {
            if !keep(index) {
                continue;
            }
            let Constraint { law, .. } = self.constraints[index];
            let (rows, terms) = (self.constraints[index].rows(), self.constraints[index].terms());
            self.bias.copy_within(rows.clone(), row);
            self.compliance.copy_within(rows.clone(), row);
            self.terms.copy_within(terms.clone(), term);
            let (first_row, first_term) = (row as u32, term as u32);
            row += rows.len();
            term += terms.len();
            self.constraints[to] = Constraint { law, first_row, first_term, end_term: term as u32 };
            to += 1;
        }
        self.constraints.truncate(to);
        self.bias.truncate(row);
        self.compliance.truncate(row);
        self.terms.truncate(term);
    }

    /// Copies laws, bias and compliance of some constraints of others, without their terms.
    pub(super) fn copy_laws(&mut self, from: &Self, indices: &[u32]) {
        self.clear();
        for index in indices {
            let constraint = &from.constraints[*index as usize];
            let rows = constraint.rows();
            self.open(constraint.law, &from.bias[rows.clone()], &from.compliance[rows]);
        }
    }

    /// All values of C.
    pub(super) fn all_values(&self) -> &[f64] {
        &self.values
    }

    /// Reserves memory for as many rows and terms as `other` has.
    pub(super) fn reserve_like(&mut self, other: &Self) {
        self.constraints.reserve(other.constraints.len());
        self.bias.reserve(other.bias.len());
        self.compliance.reserve(other.compliance.len());
        self.terms.reserve(other.terms.len());
        self.values.reserve(other.values.len());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::law::{Bilateral, Unilateral};

    fn three() -> ConstraintRows {
        let mut rows = ConstraintRows::default();
        for k in 0..3 {
            let law = if k == 1 { Law::Unilateral(Unilateral) } else { Law::Bilateral(Bilateral) };
            rows.open(law, &[f64::from(k)], &[0.0]);
            for port in 0..=k as usize {
                rows.push_term(PortId(port), 2).fill(f64::from(10 * k) + port as f64);
            }
        }
        rows
    }

    #[test]
    fn retained_constraints_keep_their_laws_rows_and_terms() {
        let (all, mut some) = (three(), three());
        some.retain(0, |index| index != 1);
        assert_eq!((some.len(), some.rows()), (2, 2));
        assert_eq!(some.bias(), &[0.0, 2.0]);
        for (kept, index) in some.constraints().iter().zip([0, 2]) {
            let original = &all.constraints()[index];
            assert_eq!(kept.law, original.law);
            let values = |rows: &ConstraintRows, c: &Constraint| -> Vec<Vec<f64>> {
                rows.terms()[c.terms()].iter().map(|t| rows.values(t).to_vec()).collect()
            };
            assert_eq!(values(&some, kept), values(&all, original));
        }
    }

    #[test]
    fn a_term_without_a_port_is_an_error_that_names_its_constraint() {
        let mut rows = three();
        rows.set_ports(|index| Some(PortId(index + 5))).unwrap();
        assert!(rows.terms().iter().enumerate().all(|(k, term)| term.port == PortId(k + 5)));
        let second = rows.constraints()[1].terms().start;
        let error = rows.set_ports(|index| (index != second).then_some(PortId(0))).unwrap_err();
        assert_eq!(error, ProblemError::NoPort { constraint: 1, term: 0 });
    }

    #[test]
    fn truncated_rows_can_be_written_again() {
        let mut rows = three();
        rows.truncate(2);
        let law = Law::Bilateral(Bilateral);
        rows.open(law, &[2.0], &[0.0]);
        for port in 0..3 {
            rows.push_term(PortId(port), 2).fill(20.0 + port as f64);
        }
        assert_eq!(rows, three());
    }
}
