//! Checkpoints: all data to continue a run in another process, as bytes.
//!
//! A checkpoint holds a snapshot, a fingerprint of world and settings, and a recipe, such as the
//! arguments of the command line, from which the caller builds them again. As bytes: a magic word and
//! a version, the fields in their order, little-endian, and a checksum over all of it.

use std::fmt::Write;

use crate::bytes::{Reader, Writer};
use crate::error::CheckpointError;
use crate::hash::Fnv;
use crate::settings::Settings;
use crate::snapshot::Snapshot;
use crate::world::World;

/// The first bytes of every checkpoint.
const MAGIC: &[u8; 8] = b"stictchk";
/// Changes with the layout.
const VERSION: u32 = 2;

/// A run that can be continued.
#[derive(Clone, Debug, PartialEq)]
pub struct Checkpoint {
    /// Identifies the run.
    pub run: u64,
    /// Of world and settings: see [`fingerprint`].
    pub fingerprint: u64,
    /// Steps done.
    pub step: u64,
    /// Recipe from which the caller builds world and settings again.
    pub recipe: Vec<String>,
    /// Present state of the run.
    pub snapshot: Snapshot,
}

impl Checkpoint {
    /// Whether bytes begin with the magic word of a checkpoint, of any version.
    pub fn recognises(bytes: &[u8]) -> bool {
        bytes.starts_with(MAGIC)
    }

    /// As bytes.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut out = Writer(MAGIC.to_vec());
        out.u32(VERSION);
        [self.run, self.fingerprint, self.step].iter().for_each(|x| out.u64(*x));
        out.list(&self.recipe, |out, word| out.text(word));
        let snapshot = self.snapshot.to_bytes();
        out.u64(snapshot.len() as u64);
        out.0.extend_from_slice(&snapshot);
        let sum = Fnv::of(out.0.iter().copied());
        out.u64(sum);
        out.0
    }

    /// From bytes; anything but a whole checkpoint of this version is an error.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, CheckpointError> {
        let Some(rest) = bytes.strip_prefix(MAGIC) else { return Err(CheckpointError::Foreign) };
        let damaged = CheckpointError::Damaged { bytes: bytes.len() };
        let mut from = Reader(rest);
        let Some(version) = from.u32() else { return Err(damaged) };
        if version != VERSION {
            return Err(CheckpointError::Version { found: version, expected: VERSION });
        }
        let (body, sum) = bytes.split_at(bytes.len().saturating_sub(size_of::<u64>()));
        if Fnv::of(body.iter().copied()).to_le_bytes() != sum {
            return Err(damaged);
        }
        let fields = |from: &mut Reader| {
            let (run, fingerprint, step) = (from.u64()?, from.u64()?, from.u64()?);
            let recipe = from.list(Reader::text)?;
            let length = from.length()?;
            let snapshot = from.slice(length)?.to_vec();
            from.u64()?;
            from.done()?;
            Some((run, fingerprint, step, recipe, snapshot))
        };
        let Some((run, fingerprint, step, recipe, snapshot)) = fields(&mut from) else {
            return Err(damaged);
        };
        let snapshot = Snapshot::from_bytes(&snapshot)?;
        Ok(Self { run, fingerprint, step, recipe, snapshot })
    }

    /// Checks that it belongs to the model with this fingerprint.
    pub fn belongs_to(&self, fingerprint: u64) -> Result<(), CheckpointError> {
        let (found, expected) = (self.fingerprint, fingerprint);
        if found == expected {
            return Ok(());
        }
        Err(CheckpointError::OtherModel { found, expected })
    }
}

/// A hash of everything that a world was built from, of settings, and of everything else that
/// later steps depend on. Costs one pass over all numbers of the world, meshes included.
pub fn fingerprint(world: &World, settings: &Settings, others: &dyn std::fmt::Debug) -> u64 {
    let mut text = Fnv::default();
    // Different floating-point numbers are printed differently. Writing never fails.
    let _ = write!(text, "{:?}{settings:?}{others:?}", world.parts);
    text.hash()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simulation::Simulation;
    use crate::world::WorldBuilder;

    fn checkpoint() -> Checkpoint {
        let world = WorldBuilder::new().build().unwrap();
        let settings = Settings::default();
        let fingerprint = fingerprint(&world, &settings, &());
        let snapshot = Simulation::new(world, settings).unwrap().snapshot();
        let recipe = vec!["clutter".to_owned(), "--set".to_owned(), "bodies=4".to_owned()];
        Checkpoint { run: 7, fingerprint, step: 120, recipe, snapshot }
    }

    #[test]
    fn a_checkpoint_comes_back_as_it_was() {
        let found = checkpoint();
        assert_eq!(Checkpoint::from_bytes(&found.to_bytes()), Ok(found));
    }

    #[test]
    fn no_byte_can_be_missing_or_changed() {
        let bytes = checkpoint().to_bytes();
        for length in 0..bytes.len() {
            assert!(Checkpoint::from_bytes(&bytes[..length]).is_err(), "{length} bytes");
        }
        for place in 0..bytes.len() {
            let mut flipped = bytes.clone();
            flipped[place] ^= 0x10;
            assert!(Checkpoint::from_bytes(&flipped).is_err(), "byte {place}");
        }
    }

    #[test]
    fn another_version_is_named_and_not_read() {
        let mut bytes = checkpoint().to_bytes();
        bytes[MAGIC.len()] = 9;
        let expected = CheckpointError::Version { found: 9, expected: VERSION };
        assert_eq!(Checkpoint::from_bytes(&bytes), Err(expected));
        assert_eq!(Checkpoint::from_bytes(b"solid"), Err(CheckpointError::Foreign));
    }

    #[test]
    fn fingerprints_of_different_worlds_settings_and_scripts_differ() {
        let (world, settings) = (WorldBuilder::new().build().unwrap(), Settings::default());
        let of = fingerprint(&world, &settings, &());
        assert_eq!(of, fingerprint(&world, &settings, &()));
        let mut other = settings.clone();
        other.tolerance = f64::from_bits(other.tolerance.to_bits() + 1);
        assert_ne!(of, fingerprint(&world, &other, &()));
        let mut builder = WorldBuilder::new();
        builder.mechanism.body(stiction_mech::BodySpec::default());
        assert_ne!(of, fingerprint(&builder.build().unwrap(), &settings, &()));
        assert_ne!(of, fingerprint(&world, &settings, &1.0));
    }
}
