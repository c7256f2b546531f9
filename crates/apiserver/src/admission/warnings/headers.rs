//! Warnings on their way to the client.

use std::collections::BTreeSet;

/// Above this many characters in total, each warning is cut (v1.36 `apiserver/pkg/endpoints/filters` warning.go).
const MOST_IN_TOTAL: usize = 4 * 1024;
/// The characters that remain of a warning that is cut.
const MOST_IF_CUT: usize = 256;

/// The warnings as they reach the client: each once. If all of them together are too long, each is cut, and the last ones
/// are left out (v1.36 `apiserver/pkg/endpoints/filters` warning.go `AddWarning`).
pub(in crate::admission) fn as_headers(warnings: Vec<String>) -> Vec<String> {
    let mut seen = BTreeSet::new();
    let once: Vec<String> = warnings.into_iter().filter(|warning| seen.insert(warning.clone())).collect();
    let mut total = 0;
    let too_long = once.iter().position(|warning| {
        total += warning.chars().count();
        total > MOST_IN_TOTAL
    });
    let Some(too_long) = too_long else { return once };
    let (mut written, mut cut) = (0, Vec::new());
    for (position, warning) in once.iter().enumerate() {
        // The server writes all warnings anew, cut, as soon as one of them is too much; then it looks at the limit again.
        if position > too_long && written >= MOST_IN_TOTAL {
            break;
        }
        let short: String = warning.chars().take(MOST_IF_CUT).collect();
        written += short.chars().count();
        cut.push(short);
    }
    cut
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_warning_that_is_too_much_is_written_even_if_those_before_it_fill_the_limit() {
        let warning = |number: usize| format!("{number:0>256}");
        let limit: Vec<String> = (0..16).map(warning).collect();
        assert_eq!(as_headers(limit.clone()), limit);
        let more: Vec<String> = (0..18).map(warning).collect();
        assert_eq!(as_headers(more.clone()), more[..17]);
    }
}
