//! Objects of a real API server, and the plans made from them.
//!
//! The files are the output of `kubectl get daemonsets,pods,nodes,controllerrevisions -A -o json` for Kubernetes
//! v1.36.3. Its own DaemonSet controller was stopped at that moment; kwok simulated the nodes.

mod compare;
mod manifests;
mod replay;
mod stories;
mod words;

use daemonset::Recording;
use flate2::read::GzDecoder;
use jiff::Timestamp;
use serde_json::{Value, json};
use std::fs::File;
use std::io::Read;
use std::path::Path;

pub const DUMPS: [&str; 7] = ["fresh", "steady", "midrollout", "surge", "tainted", "undo", "large"];

/// One file as raw JSON.
pub struct Dump {
    items: Vec<Value>,
    /// The newest creation time or condition change in the file.
    now: Timestamp,
}

impl Dump {
    pub fn load(name: &str) -> Dump {
        let mut list: Value = serde_json::from_slice(&read(name)).unwrap();
        let now = newest(&list).unwrap();
        let items = list["items"].take();
        Dump { items: serde_json::from_value(items).unwrap(), now }
    }

    /// `namespace/name` of each DaemonSet.
    pub fn daemon_sets(&self) -> Vec<String> {
        self.of_kind("DaemonSet").map(full_name).collect()
    }

    /// The input of a decision on this DaemonSet.
    pub fn daemon_set(&self, name: &str) -> Recording {
        Recording::from_json(self.recording(name).to_string().as_bytes()).unwrap()
    }

    /// The input of a decision on this DaemonSet, as raw JSON.
    pub fn recording(&self, name: &str) -> Value {
        let daemon_set = self.of_kind("DaemonSet").find(|ds| full_name(ds) == name).unwrap();
        let namespace = &daemon_set["metadata"]["namespace"];
        let beside = |kind| {
            let all = self.of_kind(kind);
            all.filter(|object| object["metadata"]["namespace"] == *namespace).collect::<Vec<_>>()
        };
        json!({
            "name": name,
            "now": self.now,
            "daemonSet": daemon_set,
            "nodes": self.of_kind("Node").collect::<Vec<_>>(),
            "pods": beside("Pod"),
            "revisions": beside("ControllerRevision"),
        })
    }

    /// The raw objects of this kind that belong to a DaemonSet.
    fn owned<'a>(&'a self, kind: &'a str, recording: &'a Recording) -> impl Iterator<Item = &'a Value> {
        let uid = recording.daemon_set.metadata.uid.as_str();
        self.of_kind(kind).filter(move |object| object["metadata"]["ownerReferences"][0]["uid"] == uid)
    }

    fn of_kind(&self, kind: &str) -> impl Iterator<Item = &Value> {
        self.items.iter().filter(move |item| item["kind"] == kind)
    }
}

fn full_name(object: &Value) -> String {
    let part = |name: &str| object["metadata"][name].as_str().unwrap().to_owned();
    format!("{}/{}", part("namespace"), part("name"))
}

/// The template that a revision restores.
fn stored_template(data: &Value) -> Value {
    let mut template = data["spec"]["template"].clone();
    let patch = template.as_object_mut().unwrap().remove("$patch");
    assert_eq!(patch, Some(json!("replace")));
    template
}

fn read(name: &str) -> Vec<u8> {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/dumps");
    let Ok(file) = File::open(directory.join(format!("{name}.json.gz"))) else {
        return std::fs::read(directory.join(format!("{name}.json"))).unwrap();
    };
    let mut bytes = Vec::new();
    GzDecoder::new(file).read_to_end(&mut bytes).unwrap();
    bytes
}

fn newest(value: &Value) -> Option<Timestamp> {
    match value {
        Value::Array(items) => items.iter().filter_map(newest).max(),
        Value::Object(members) => members.iter().filter_map(|(key, member)| instant(key, member)).max(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => None,
    }
}

fn instant(key: &str, member: &Value) -> Option<Timestamp> {
    match (key, member) {
        ("creationTimestamp" | "lastTransitionTime", Value::String(time)) => time.parse().ok(),
        _ => newest(member),
    }
}
