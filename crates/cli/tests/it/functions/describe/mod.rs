//! The description of a pod template, line by line. Tabs are shown as `→`.

mod containers;
mod environment;
mod probes;
mod template;
mod volumes;

use kubectl_daemonset::kubectl::describe_template;
use serde_json::{Value, json};

/// The description of a pod spec, with visible tabs.
fn described(spec: Value) -> String {
    describe_template(&json!({"spec": spec})).replace('\t', "→")
}

/// The description of one container, without its name and two levels of indentation.
fn container(container: Value) -> Vec<String> {
    let printed = described(json!({"containers": [container]}));
    let lines = printed.lines().skip_while(|line| !line.starts_with("   "));
    let lines = lines.skip(1).take_while(|line| line.starts_with("    "));
    lines.map(|line| line[4..].to_owned()).collect()
}

/// The lines of one container that begin with a label.
fn labelled(printed: &[String], label: &str) -> Vec<String> {
    let start = printed.iter().position(|line| line.starts_with(label));
    let Some(start) = start else { return Vec::new() };
    let more = printed[start + 1..].iter().take_while(|line| line.starts_with("  "));
    std::iter::once(&printed[start]).chain(more).cloned().collect()
}
