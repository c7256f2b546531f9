//! Hashes in names and labels: the same on every run and in every build.

use crate::words::canonical_json;
use serde_json::Value;
use sha2::{Digest, Sha256};
use std::hash::{BuildHasher, Hash};

/// For maps that are only used for lookups: the same hashes on every run.
pub type Hasher = foldhash::quality::FixedState;

/// A key's hash, for lookups.
#[inline]
pub fn lookup_hash(key: &impl Hash) -> u64 {
    Hasher::default().hash_one(key)
}

/// Consonants and digits without those that make words or look alike (v1.36 `util/rand.SafeEncodeString`).
const SAFE_ALPHABET: &[u8; 27] = b"bcdfghjklmnpqrstvwxz2456789";
const HASH_LENGTH: u32 = 10;

/// The hash in the name and label of a revision: SHA-256 over the template's canonical JSON and the collision count, then
/// over the canonical JSON of the inputs if there are any, shortened to ten letters.
pub fn content_hash(template: &Value, inputs: &Value, collision_count: i32) -> String {
    let text = canonical_json::to_string;
    let mut digest = Sha256::new().chain_update(text(template)).chain_update(collision_count.to_le_bytes());
    if !inputs.is_null() {
        digest.update(text(inputs));
    }
    safe_text(&digest.finalize())
}

/// Ten letters of the safe alphabet for a key, for names that must be the same on every run.
pub fn name_hash<'a>(parts: impl IntoIterator<Item = &'a str>) -> String {
    let digest =
        parts.into_iter().fold(Sha256::new(), |hash, part| hash.chain_update(part).chain_update([0]));
    safe_text(&digest.finalize())
}

/// The first eight hexadecimal digits of the SHA-256 of a text.
pub fn first_hex_digits(text: &str) -> String {
    Sha256::digest(text).iter().take(4).map(|byte| format!("{byte:02x}")).collect()
}

fn safe_text(digest: &[u8]) -> String {
    let mut rest = digest.iter().take(8).fold(0_u64, |number, byte| number << 8 | u64::from(*byte));
    (0..HASH_LENGTH)
        .filter_map(|_| {
            let letter = SAFE_ALPHABET.get((rest % 27) as usize);
            rest /= 27;
            letter.map(|letter| char::from(*letter))
        })
        .collect()
}
