//! Objects of a list or a watch, read so that one that can't be decoded stops nobody else.
//!
//! Few fields are free-form, but a list is one text: an error in one of its objects would make all of them unreadable, and with
//! them every DaemonSet. An object that can't be decoded is read without the part that is at fault, so that it keeps its name.

use daemonset::model::{ControllerRevision, DaemonSet, Node, OwnerReference, Pod};
use kube::Resource;
use kube::core::ObjectMeta;
use serde::de::{DeserializeOwned, Error};
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::value::RawValue;
use std::borrow::Cow;

/// An object that is read from JSON text.
pub trait FromJson: DeserializeOwned + Resource<DynamicType = ()> {
    /// Whether a tenant can store text in it that no type here decodes. The API server stores all other objects by its own types.
    const HAS_TEXT_OF_TENANTS: bool = false;

    /// Reads one object.
    ///
    /// # Errors
    /// When it can't be decoded.
    fn from_json(json: &str) -> serde_json::Result<Self> {
        serde_json::from_str(json)
    }
}

impl FromJson for DaemonSet {}
impl FromJson for Pod {}
impl FromJson for Node {}

impl FromJson for ControllerRevision {
    const HAS_TEXT_OF_TENANTS: bool = true;

    /// The data of StatefulSets is not kept, which may be much. All other owners may be those of the caller: a DaemonSet, or a custom kind.
    fn from_json(json: &str) -> serde_json::Result<Self> {
        let mut revision = ControllerRevision::from_json(json)?;
        let controller =
            revision.metadata.owner_references.iter().find(|owner| owner.controller == Some(true));
        let is_stateful_set =
            |owner: &OwnerReference| owner.kind == "StatefulSet" && owner.api_version.starts_with("apps/");
        if controller.is_some_and(is_stateful_set) {
            revision.data = serde_json::Value::Null;
        }
        Ok(revision)
    }
}

/// An object whose decoding fails only where the API server has given it no identity. It is read from text that is in memory as a whole.
#[derive(Debug, Clone)]
#[expect(clippy::exhaustive_structs, reason = "it is taken apart")]
pub struct Tolerant<K>(pub K);

impl<'de, K: FromJson> Deserialize<'de> for Tolerant<K> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let json = <&RawValue>::deserialize(deserializer)?.get();
        K::from_json(json)
            .or_else(|error| without_fault(json, &error))
            .map(Tolerant)
            .map_err(D::Error::custom)
    }
}

/// The parts of an object.
#[derive(Serialize, Deserialize)]
struct RawParts<'j> {
    #[serde(borrow)]
    metadata: &'j RawValue,
    #[serde(borrow, skip_serializing_if = "Option::is_none")]
    spec: Option<&'j RawValue>,
}

/// The metadata that the API server alone writes.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Identity<'j> {
    #[serde(borrow)]
    name: Cow<'j, str>,
    #[serde(borrow, skip_serializing_if = "Option::is_none")]
    namespace: Option<Cow<'j, str>>,
    #[serde(borrow)]
    uid: Cow<'j, str>,
    #[serde(borrow)]
    resource_version: Cow<'j, str>,
}

/// Reads an object without its status or, where that is not the part at fault, by its identity alone: a DaemonSet without a
/// selector is left alone, a pod without an owner is nobody's, and no pod is deleted for it.
fn without_fault<K: FromJson>(json: &str, fault: &serde_json::Error) -> serde_json::Result<K> {
    let parts: RawParts<'_> = serde_json::from_str(json)?;
    let identity: Identity<'_> = serde_json::from_str(parts.metadata.get())?;
    let (objects, namespace, name) =
        (K::plural(&()), identity.namespace.as_deref().unwrap_or_default(), &*identity.name);
    tracing::warn!(%objects, namespace, name, error = %fault, "an object can't be decoded and is read in part");
    K::from_json(&serde_json::to_string(&parts)?)
        .or_else(|_| K::from_json(&serde_json::json!({"metadata": identity}).to_string()))
}

impl<K: Resource<DynamicType = ()>> Resource for Tolerant<K> {
    type DynamicType = ();
    type Scope = K::Scope;

    fn kind((): &()) -> Cow<'_, str> {
        K::kind(&())
    }

    fn group((): &()) -> Cow<'_, str> {
        K::group(&())
    }

    fn version((): &()) -> Cow<'_, str> {
        K::version(&())
    }

    fn plural((): &()) -> Cow<'_, str> {
        K::plural(&())
    }

    fn meta(&self) -> &ObjectMeta {
        self.0.meta()
    }

    fn meta_mut(&mut self) -> &mut ObjectMeta {
        self.0.meta_mut()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use kube::core::{ObjectList, WatchEvent};

    /// Bytes that an API server stores and sends, and that are no value of any type here.
    fn unreadable() -> [String; 4] {
        let deep = |depth| format!("{}{}", "[".repeat(depth), "]".repeat(depth));
        [deep(200), deep(9000), "1e999".to_owned(), r#"["\ud800"]"#.to_owned()]
    }

    fn revision(name: &str, kind: &str, data: &str) -> String {
        format!(
            r#"{{"apiVersion":"apps/v1","kind":"ControllerRevision","metadata":{{"name":"{name}","namespace":"ns","uid":"{name}",
            "resourceVersion":"7","ownerReferences":[{{"apiVersion":"apps/v1","kind":"{kind}","name":"o","uid":"o",
            "controller":true}}]}},"data":{data},"revision":3}}"#
        )
    }

    #[test]
    fn one_revision_does_not_make_a_list_unreadable() {
        for data in unreadable() {
            let [bad, good] =
                [revision("bad", "DaemonSet", &data), revision("good", "DaemonSet", r#"{"a":1}"#)];
            let list = format!(
                r#"{{"kind":"List","apiVersion":"v1","metadata":{{"resourceVersion":"9"}},"items":[{bad},{good}]}}"#
            );
            assert!(serde_json::from_str::<ObjectList<ControllerRevision>>(&list).is_err(), "as before");
            let list: ObjectList<Tolerant<ControllerRevision>> = serde_json::from_str(&list).unwrap();
            let [Tolerant(bad), Tolerant(good)] = list.items.as_slice() else { panic!("two items") };
            assert_eq!((bad.metadata.name.as_str(), bad.revision, bad.data.is_null()), ("bad", 3, true));
            assert_eq!(good.data["a"], 1);
        }
    }

    #[test]
    fn nor_a_watch() {
        for data in unreadable() {
            let line = format!(r#"{{"type":"ADDED","object":{}}}"#, revision("bad", "DaemonSet", &data));
            let event: WatchEvent<Tolerant<ControllerRevision>> = serde_json::from_str(&line).unwrap();
            let WatchEvent::Added(Tolerant(bad)) = event else { panic!("it was added") };
            assert_eq!(bad.meta().resource_version.as_deref(), Some("7"));
        }
    }

    #[test]
    fn data_is_read_for_all_owners_but_stateful_sets() {
        let read = |kind: &str| {
            <ControllerRevision as FromJson>::from_json(&revision("r", kind, r#"{"a":1}"#)).unwrap().data
        };
        assert_eq!(read("DaemonSet")["a"], 1);
        assert_eq!(read("AgentSet")["a"], 1, "a custom kind");
        assert!(read("StatefulSet").is_null());
        let orphan = r#"{"metadata":{"name":"r"},"data":{"a":1}}"#;
        assert_eq!(<ControllerRevision as FromJson>::from_json(orphan).unwrap().data["a"], 1);
    }

    #[test]
    fn an_object_is_read_without_the_part_at_fault() {
        let pod = |owners: &str, phase: &str| {
            let json = format!(
                r#"{{"metadata":{{"name":"p","namespace":"ns","uid":"u","resourceVersion":"7","ownerReferences":{owners}}},
                "spec":{{"nodeName":"a"}},"status":{{"phase":{phase}}}}}"#
            );
            serde_json::from_str::<Tolerant<Pod>>(&json).unwrap().0
        };
        let whole = pod("[]", r#""Running""#);
        assert_eq!((whole.spec.node_name.as_str(), whole.status.phase.as_ref()), ("a", "Running"));
        let without_status = pod("[]", "5");
        assert_eq!((without_status.spec.node_name.as_str(), without_status.status.phase.as_ref()), ("a", ""));
        let identity = pod("5", r#""Running""#);
        assert_eq!((identity.metadata.uid.as_str(), identity.spec.node_name.as_str()), ("u", ""));
        assert!(serde_json::from_str::<Tolerant<Pod>>("5").is_err());
    }
}
