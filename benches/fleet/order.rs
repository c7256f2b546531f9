//! Pseudo-random numbers, the same on every run.

/// The finalizer of SplitMix64: neighbouring inputs give distant outputs.
pub(super) fn scatter(number: u64) -> u64 {
    let mut z = number.wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// The Fisher–Yates shuffle.
pub(super) fn shuffle<T>(items: &mut [T]) {
    for last in (1..items.len()).rev() {
        let other = scatter(last as u64) % (last as u64 + 1);
        items.swap(last, other as usize);
    }
}

/// Five letters, as in the names that the API server generates from a `generateName`.
pub(super) fn suffix(number: u64) -> String {
    const ALPHABET: &[u8; 27] = b"bcdfghjklmnpqrstvwxz2456789";
    let mut rest = scatter(number);
    let mut letter = || {
        let letter = ALPHABET[(rest % 27) as usize];
        rest /= 27;
        char::from(letter)
    };
    (0..5).map(|_| letter()).collect()
}
