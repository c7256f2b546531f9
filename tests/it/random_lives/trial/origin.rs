//! Where a run begins: in an empty cluster, or with the objects of a running one, as a server names and numbers them.

use super::super::commands::{Command, Limits};
use super::Beginning;
use daemonset::Recording;
use daemonset_sim::{Cluster, Settings};
use jiff::SignedDuration;
use serde_json::{Value, json};

/// Where a run begins.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Origin {
    /// The DaemonSet is created in an empty cluster.
    #[default]
    Empty,
    /// The objects of a cluster that has run for a while.
    Recorded(Versions),
}

/// The resource versions of recorded objects.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Versions {
    /// Large numbers, as a server gives them.
    Numbers,
    /// Texts that are no numbers, which servers before v1.35 may give.
    Opaque,
    /// None: the recording has lost them.
    Absent,
}

impl Beginning {
    /// The DaemonSet's own strategy.
    fn written(self) -> Limits {
        if self.policy.drives { Limits::OnDelete } else { self.limits }
    }

    /// Its cluster, without a planner of the test's own.
    pub(super) fn cluster(self, settings: Settings) -> Cluster {
        let now = "2026-01-01T12:00:00Z".parse().unwrap();
        let mut cluster = Cluster::with_settings(settings.clone(), self.seed, now);
        cluster.keep_log();
        for _ in 0..self.nodes {
            Command::AddNode.perform(&mut cluster);
        }
        // Written out: the fuzz target `transitions` has this file without the words of the other tests.
        let template = json!({"metadata": {"labels": {"app": "agent"}}, "spec": {
            "containers": [{"name": "c", "image": "v0"}], "terminationGracePeriodSeconds": 10}});
        let daemon_set = json!({"metadata": {"name": "agent", "namespace": "ns"}, "spec": {
            "selector": {"matchLabels": {"app": "agent"}}, "template": template,
            "updateStrategy": self.written().strategy(), "minReadySeconds": self.min_ready}});
        cluster.create_daemon_set(serde_json::from_value(daemon_set).unwrap());
        let Origin::Recorded(versions) = self.origin else { return cluster };
        cluster.run_for(SignedDuration::from_secs(30));
        let recording = versions.of_a_server(&recorded(&cluster, &settings));
        let mut cluster = Cluster::from_recording(settings, self.seed, &recording);
        cluster.keep_log();
        cluster
    }
}

/// The objects of a cluster. Its memory is lost, as that of another process is.
fn recorded(cluster: &Cluster, settings: &Settings) -> Recording {
    let mut recording = Recording::new(cluster.daemon_set().unwrap().clone(), cluster.now());
    recording.nodes = cluster.nodes().cloned().collect();
    recording.pods = cluster.pods().cloned().collect();
    recording.revisions = cluster.revisions().cloned().collect();
    recording.policy = settings.controller.policy.clone();
    recording
}

impl Versions {
    /// The recording with uids and versions as a server gives them.
    fn of_a_server(self, recording: &Recording) -> Recording {
        let mut value = serde_json::to_value(recording).unwrap();
        self.rename(&mut value);
        serde_json::from_value(value).unwrap()
    }

    fn rename(self, value: &mut Value) {
        match value {
            Value::Object(members) => {
                for (key, member) in members {
                    match (key.as_str(), member.as_str()) {
                        ("uid", Some(uid)) => *member = uuid(uid).into(),
                        ("resourceVersion", Some(version)) => *member = self.version(version).into(),
                        _ => self.rename(member),
                    }
                }
            }
            Value::Array(items) => items.iter_mut().for_each(|item| self.rename(item)),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
        }
    }

    fn version(self, version: &str) -> String {
        match self {
            // Other objects of a server take most of the numbers.
            Versions::Numbers => (40_000 + 17 * version.parse::<u64>().unwrap_or_default()).to_string(),
            Versions::Opaque => format!("v{version}"),
            Versions::Absent => String::new(),
        }
    }
}

/// A random UUID, the same for the same uid of the simulation.
fn uuid(uid: &str) -> String {
    let serial =
        uid.bytes().fold(7_u64, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3));
    let (head, tail) = (serial >> 32, serial & 0xffff_ffff);
    format!("{head:08x}-{:04x}-4{:03x}-9{:03x}-{tail:012x}", head & 0xffff, tail & 0xfff, head & 0xfff)
}
