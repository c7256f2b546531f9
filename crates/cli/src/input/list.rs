//! A List of `kubectl get -o json`, and one DaemonSet out of it.

use crate::input::Choice;
use crate::input::places::Places;
use daemonset::Recording;
use daemonset::model::{ControllerRevision, DaemonSet, Node, Pod};
use jiff::Timestamp;
use serde::de::{DeserializeOwned, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::Value;
use std::fmt;

/// The objects of a List that a plan reads, each with its position in it.
#[derive(Default)]
pub(crate) struct List {
    daemon_sets: Vec<(usize, DaemonSet)>,
    nodes: Vec<(usize, Node)>,
    pods: Vec<(usize, Pod)>,
    revisions: Vec<(usize, ControllerRevision)>,
    /// The newest creation or condition change of any object.
    newest: Option<Timestamp>,
}

impl List {
    /// Reads all objects, whatever their namespace: a broken one anywhere is told. Those of other kinds are ignored.
    pub(crate) fn parse(json: &[u8]) -> Result<Self, String> {
        #[derive(Deserialize)]
        struct Members {
            items: Items,
        }
        let deserializer = &mut serde_json::Deserializer::from_slice(json);
        let read: Result<Members, _> = serde_path_to_error::deserialize(deserializer);
        read.map_err(|error| error.to_string())?.items.0
    }

    fn with(mut self, place: usize, item: &Value) -> Result<Self, String> {
        let kind = Kind::of(place, item)?;
        match kind {
            Kind::DaemonSet => self.daemon_sets.push((place, object(place, item)?)),
            Kind::Node => self.nodes.push((place, object(place, item)?)),
            Kind::Pod => self.pods.push((place, object(place, item)?)),
            Kind::ControllerRevision => self.revisions.push((place, object(place, item)?)),
            Kind::Other => {}
        }
        for (path, time) in times(item) {
            match time.parse() {
                Ok(time) => self.newest = self.newest.max(Some(time)),
                Err(_) if kind == Kind::Other => {}
                Err(error) => return Err(at(place, &path, item, &error)),
            }
        }
        Ok(self)
    }

    /// Takes one DaemonSet, the nodes, and what is in its namespace.
    pub(crate) fn recording(self, choice: &Choice) -> Result<(Recording, Places), String> {
        let (place, daemon_set) = select(self.daemon_sets, choice.daemon_set.as_deref())?;
        let Some(now) = choice.now.or(self.newest) else {
            return Err("nothing in the List tells the time: pass --now".to_owned());
        };
        let policy = choice.policy.clone().unwrap_or_default();
        let namespace = &daemon_set.metadata.namespace;
        let of_namespace = self.pods.into_iter().filter(|(_, pod)| pod.metadata.namespace == *namespace);
        let (pod_places, pods) = of_namespace.unzip();
        let of_namespace = self.revisions.into_iter().filter(|(_, r)| r.metadata.namespace == *namespace);
        let (revision_places, revisions) = of_namespace.unzip();
        let (node_places, nodes) = self.nodes.into_iter().unzip();
        let places =
            Places { daemon_set: place, nodes: node_places, pods: pod_places, revisions: revision_places };
        let name = name(&daemon_set);
        Ok((Recording { name, now, daemon_set, nodes, pods, revisions, policy, memory: None }, places))
    }
}

/// A List, or the first thing that is wrong with its items. Holds one raw item at a time: they are large.
struct Items(Result<List, String>);

impl<'de> Deserialize<'de> for Items {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Reader;

        impl<'de> Visitor<'de> for Reader {
            type Value = Items;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a list")
            }

            /// `null` is an empty list.
            fn visit_unit<E>(self) -> Result<Items, E> {
                Ok(Items(Ok(List::default())))
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Items, A::Error> {
                let mut list = Ok(List::default());
                let mut place = 0;
                while let Some(item) = items.next_element::<Value>()? {
                    list = list.and_then(|list| list.with(place, &item));
                    place += 1;
                }
                Ok(Items(list))
            }
        }

        deserializer.deserialize_any(Reader)
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    DaemonSet,
    Node,
    Pod,
    ControllerRevision,
    Other,
}

impl Kind {
    /// By group and kind, for other groups have kinds of these names too.
    fn of(place: usize, item: &Value) -> Result<Kind, String> {
        let Some(kind) = item.get("kind").and_then(Value::as_str) else {
            return Err(format!("items[{place}].kind: Required value"));
        };
        let version = item.get("apiVersion").and_then(Value::as_str).unwrap_or_default();
        Ok(match (kind, version) {
            ("DaemonSet", "apps/v1" | "apps/v1beta2" | "extensions/v1beta1" | "") => Kind::DaemonSet,
            ("ControllerRevision", "apps/v1" | "apps/v1beta2" | "apps/v1beta1" | "") => {
                Kind::ControllerRevision
            }
            ("Node", "v1" | "") => Kind::Node,
            ("Pod", "v1" | "") => Kind::Pod,
            _ => Kind::Other,
        })
    }
}

/// Reads an object; only where that fails, again with its path.
fn object<T: DeserializeOwned>(place: usize, item: &Value) -> Result<T, String> {
    T::deserialize(item).or_else(|_| {
        let read: Result<T, _> = serde_path_to_error::deserialize(item);
        read.map_err(|error| at(place, &error.path().to_string(), item, error.inner()))
    })
}

/// An error in a field of an item.
fn at(place: usize, path: &str, item: &Value, error: &dyn fmt::Display) -> String {
    let text = |pointer| item.pointer(pointer).and_then(Value::as_str);
    let kind = text("/kind").unwrap_or_default();
    let name = text("/metadata/name").unwrap_or("without a name");
    let name = text("/metadata/namespace").map_or_else(|| name.to_owned(), |n| format!("{n}/{name}"));
    let dot = if path == "." { "" } else { "." };
    format!("items[{place}]{dot}{} ({kind} {name}): {error}", path.trim_start_matches('.'))
}

/// When the object was created, and when its conditions changed, each with its path.
fn times(item: &Value) -> impl Iterator<Item = (String, &str)> {
    let created = item.pointer("/metadata/creationTimestamp").and_then(Value::as_str);
    let created = created.map(|time| ("metadata.creationTimestamp".to_owned(), time));
    let conditions = item.pointer("/status/conditions").and_then(Value::as_array);
    let changed = conditions.into_iter().flatten().enumerate().filter_map(|(index, condition)| {
        let time = condition.get("lastTransitionTime")?.as_str()?;
        Some((format!("status.conditions[{index}].lastTransitionTime"), time))
    });
    created.into_iter().chain(changed)
}

fn name(daemon_set: &DaemonSet) -> String {
    format!("{}/{}", daemon_set.metadata.namespace, daemon_set.metadata.name)
}

/// The DaemonSet of this name; without one, the only one.
fn select(daemon_sets: Vec<(usize, DaemonSet)>, wanted: Option<&str>) -> Result<(usize, DaemonSet), String> {
    let there = daemon_sets.iter().map(|(_, ds)| name(ds)).collect::<Vec<_>>();
    let matching = daemon_sets.into_iter().filter(|(_, ds)| wanted.is_none_or(|wanted| name(ds) == wanted));
    let mut matching = matching.collect::<Vec<_>>();
    match (matching.pop(), matching.first(), wanted) {
        (Some(only), None, _) => Ok(only),
        (Some((last, _)), Some((first, _)), Some(wanted)) => {
            Err(format!("items[{first}] and items[{last}] are both DaemonSet {wanted}"))
        }
        (Some(_), Some(_), None) => {
            let count = there.len();
            Err(format!("{count} DaemonSets: choose one with --daemonset: {}", there.join(", ")))
        }
        (None, _, _) if there.is_empty() => Err("no DaemonSet in the List".to_owned()),
        (None, _, wanted) => {
            let wanted = wanted.unwrap_or_default();
            Err(format!("no DaemonSet {wanted} in the List: there is {}", there.join(", ")))
        }
    }
}
