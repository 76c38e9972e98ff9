//! Linear algebra and numerics shared by every room of Stiction.
