//! Findings in real dumps.

use super::line;
use crate::recorded::dumps::{DUMPS, Dump};
use daemonset_view::lint::{Preflight, Rule, lint};
use insta::assert_snapshot;
use std::collections::BTreeMap;

/// The rules with a finding, by dump and DaemonSet.
fn findings(dump: &str, name: &str) -> Vec<daemonset_view::lint::Finding> {
    let dump = Dump::load(dump);
    let recording = dump.daemon_set(name);
    let others: Vec<_> = dump.daemon_sets().iter().map(|name| dump.daemon_set(name).daemon_set).collect();
    let preflight = Preflight::new(&recording.daemon_set, recording.now)
        .nodes(&recording.nodes)
        .pods(&recording.pods)
        .revisions(&recording.revisions)
        .daemon_sets(&others);
    lint(&preflight)
}

#[test]
fn each_dump_has_its_findings() {
    let mut dumps_by_rules: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for dump in DUMPS {
        for name in Dump::load(dump).daemon_sets() {
            let rules: Vec<String> =
                findings(dump, &name).iter().map(|finding| finding.rule.to_string()).collect();
            dumps_by_rules.entry(format!("{name}: {}", rules.join(" "))).or_default().push(dump.to_owned());
        }
    }
    let lines: Vec<String> =
        dumps_by_rules.iter().map(|(rules, dumps)| format!("{}\n  {rules}", dumps.join(" "))).collect();
    assert_snapshot!(lines.join("\n"), @"
    fresh steady tainted large
      logging/fluent-bit: MinReadyZero NoPriorityClass
    surge
      logging/fluent-bit: MinReadyZero NoPriorityClass SurgeWithHostPath
    fresh steady midrollout tainted undo large
      monitoring/node-exporter: NoReadinessProbe MinReadyZero
    ");
}

#[test]
fn the_findings_about_a_surge_have_their_texts() {
    let dump = Dump::load("surge");
    let lines: Vec<String> =
        dump.daemon_sets().iter().flat_map(|name| findings("surge", name)).map(|f| line(&f)).collect();
    assert_snapshot!(lines.join("\n"), @"
    Advice MinReadyZero spec.minReadySeconds: It is 0: a pod that is Ready for a moment and crashes then has already let the update go on, through all 5 target nodes.
    Advice NoPriorityClass spec.template.spec.priorityClassName: None is named: unless the cluster has a default class, the pod waits on a full node, and is evicted under pressure, like any other.
    Advice SurgeWithHostPath spec.template.spec.volumes[1].hostPath: Two pods of a node may write to /var/log at a time during a surge; if one locks it, the other never gets Ready.
    ");
}

/// The largest supported cluster: ten thousand nodes.
#[test]
fn a_large_dump_is_checked_as_a_whole() {
    let found = findings("large", &Dump::load("large").daemon_sets()[0]);
    assert!(found.iter().all(|finding| finding.rule != Rule::Invalid), "{found:#?}");
}
