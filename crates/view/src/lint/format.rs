//! Numbers, names and durations in the sentences of findings.

use daemonset::model::NodeName;

/// `1 node`, `2 nodes`.
pub(super) fn count(number: impl Into<u64>, one: &str) -> String {
    match number.into() {
        1 => format!("1 {one}"),
        number => format!("{number} {one}s"),
    }
}

/// The first three names in order, and the number of the others: `a, b, c and 7 more`.
pub(super) fn names<'a>(names: impl IntoIterator<Item = &'a str>) -> String {
    const SHOWN: usize = 3;
    let mut names: Vec<&str> = names.into_iter().collect();
    names.sort_unstable();
    let more = names.len().saturating_sub(SHOWN);
    names.truncate(SHOWN);
    let shown = names.join(", ");
    if more == 0 { shown } else { format!("{shown} and {more} more") }
}

pub(super) fn node_names(nodes: &[NodeName]) -> String {
    names(nodes.iter().map(NodeName::as_str))
}

/// `90 seconds`, `15 minutes`, `27 hours`: rounded down to the larger unit.
pub(super) fn duration(seconds: u64) -> String {
    match seconds {
        0..120 => count(seconds, "second"),
        120..7200 => count(seconds / 60, "minute"),
        7200..172_800 => count(seconds / 3600, "hour"),
        _ => count(seconds / 86_400, "day"),
    }
}
