//! Splits against one another, against ALM and against the stored motions.
