//! Another DaemonSet whose controller has turns, too: its annotations on nodes, as its controller writes and ends them.

use super::commands::{node_name, turn_key};
use daemonset::Action;
use daemonset::model::DaemonSet;
use daemonset::turns;
use daemonset_sim::Cluster;
use serde_json::json;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Command {
    Begins {
        node: u8,
        cordons: bool,
    },
    Ends {
        node: u8,
    },
    /// The DaemonSet is deleted: its turns are left over.
    IsDeleted,
}

pub struct Other {
    daemon_set: DaemonSet,
    /// How many of them there have been.
    number: u8,
}

impl Other {
    pub fn new(cluster: &mut Cluster) -> Self {
        let daemon_set = numbered(0);
        cluster.add_other_daemon_set(daemon_set.clone());
        Other { daemon_set, number: 0 }
    }

    pub fn perform(&mut self, command: Command, cluster: &mut Cluster) {
        match command {
            Command::Begins { node, cordons } => {
                if let Some(name) = node_name(cluster, node) {
                    self.begin(cluster, &name, cordons);
                }
            }
            Command::Ends { node } => {
                let name = node_name(cluster, node);
                end(cluster, |node| name.as_deref() == Some(node));
            }
            Command::IsDeleted => {
                cluster.remove_other_daemon_set(&self.daemon_set.metadata.uid);
                self.number += 1;
                self.daemon_set = numbered(self.number);
                cluster.add_other_daemon_set(self.daemon_set.clone());
            }
        }
    }

    fn begin(&self, cluster: &mut Cluster, name: &str, cordons: bool) {
        let key = format!("turn.daemonset/{}", turn_key(&self.daemon_set));
        let Some(node) = cluster.nodes().find(|node| node.metadata.name.as_str() == name) else { return };
        if node.metadata.annotations.contains_key(&key) {
            return;
        }
        let cordons = cordons && !node.spec.unschedulable;
        let word = if cordons { " cordoned" } else { "" };
        let value = format!("1 {}{word}", cluster.now());
        if cordons {
            cluster.cordon(name);
        }
        cluster.annotate_node(name, &key, Some(&value));
    }
}

/// Ends the turns of all other DaemonSets on these nodes.
pub fn end(cluster: &mut Cluster, is_meant: impl Fn(&str) -> bool) {
    let own = cluster.daemon_set().cloned().into_iter().collect::<Vec<_>>();
    let ends = turns::abandoned_turns(cluster.nodes(), &own);
    for action in ends {
        if let Action::PatchNode { node, .. } = &action
            && is_meant(&node.name)
        {
            assert!(cluster.execute(&action).is_some(), "nobody else writes in this instant");
        }
    }
}

fn numbered(number: u8) -> DaemonSet {
    let metadata = json!({"name": "other", "namespace": "ns", "uid": format!("other-{number}")});
    serde_json::from_value(json!({"metadata": metadata, "spec": {
        "selector": {"matchLabels": {"app": "other"}},
        "template": {"metadata": {"labels": {"app": "other"}}}}}))
    .unwrap()
}
