//! ALM never fails: random loads, friction and masses on problems with a known geometry.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod common;

use common::variation::check;
use common::{SMALL, build};
use stiction_solve::catalogue::Variation;

#[test]
fn alm_solves_every_variation_of_the_catalogue() {
    let origins: Vec<_> = SMALL
        .iter()
        .map(|(name, size)| {
            build(name, &Variation { size: *size, ..Variation::default() }).to_raw()
        })
        .collect();
    check(&origins, 200);
}
