//! Every random choice is derived from (seed, purpose, number). No generator is shared, so nothing depends on earlier
//! draws and a run can resume anywhere.

use rand::SeedableRng;
use rand_chacha::ChaCha12Rng;
use sha2::{Digest, Sha256};

/// 32 bytes that depend on the seed, the purpose and the number.
fn digest(seed: u64, purpose: &str, number: u64) -> [u8; 32] {
    let mut hash = Sha256::new();
    hash.update(seed.to_le_bytes());
    hash.update(number.to_le_bytes());
    hash.update(purpose.as_bytes());
    hash.finalize().into()
}

/// A separate generator for one purpose, e.g. `(seed, "shuffle", epoch)`.
pub fn rng(seed: u64, purpose: &str, number: u64) -> ChaCha12Rng {
    ChaCha12Rng::from_seed(digest(seed, purpose, number))
}

/// 64 bits for one purpose, e.g. the key of a step's dropout.
pub fn key(seed: u64, purpose: &str, number: u64) -> u64 {
    let [a, b, c, d, e, f, g, h, ..] = digest(seed, purpose, number);
    u64::from_le_bytes([a, b, c, d, e, f, g, h])
}
