//! Topology spread constraints and tolerations.

use super::selector;
use crate::kubectl::text::Page;
use daemonset_apiserver::json::{member, number, text};
use serde_json::Value;

/// By topology key (v1.36 kubectl `describe.go describeTopologySpreadConstraints`).
pub(super) fn topology_spread(page: &mut Page, constraints: &[Value]) {
    let mut sorted: Vec<_> = constraints.iter().collect();
    sorted.sort_by_key(|constraint| text(constraint, "topologyKey"));
    for (index, constraint) in sorted.into_iter().enumerate() {
        page.write(0, if index == 0 { "  Topology Spread Constraints:\t" } else { "  \t" });
        let selector = member(constraint, "labelSelector")
            .map_or_else(String::new, |selector| format!(" for selector {}", selector::formatted(selector)));
        let (key, when) = (text(constraint, "topologyKey"), text(constraint, "whenUnsatisfiable"));
        let skew = number(constraint, "maxSkew");
        page.write(0, &format!("{key}:{when} when max skew {skew} is exceeded{selector}\n"));
    }
}

/// By key (v1.36 kubectl `describe.go printPodTolerationsMultiline`).
pub(super) fn tolerations(page: &mut Page, tolerations: &[Value]) {
    page.write(0, "  Tolerations:\t");
    if tolerations.is_empty() {
        page.end_line("<none>");
    }
    let mut sorted: Vec<_> = tolerations.iter().collect();
    sorted.sort_by_key(|toleration| text(toleration, "key"));
    for (index, toleration) in sorted.into_iter().enumerate() {
        let gap = if index > 0 { "\t" } else { "" };
        page.write(0, &format!("{gap}{}\n", formatted(toleration)));
    }
}

/// `key=value:effect op=Exists for 300s`.
fn formatted(toleration: &Value) -> String {
    let (key, value, effect) =
        (text(toleration, "key"), text(toleration, "value"), text(toleration, "effect"));
    let mut line = key.to_owned();
    if !value.is_empty() {
        line += &format!("={value}");
    }
    if !effect.is_empty() {
        line += &format!(":{effect}");
    }
    if text(toleration, "operator") == "Exists" && value.is_empty() {
        line += if line.is_empty() { "op=Exists" } else { " op=Exists" };
    }
    if let Some(seconds) = member(toleration, "tolerationSeconds").and_then(Value::as_i64) {
        line += &format!(" for {seconds}s");
    }
    line
}
