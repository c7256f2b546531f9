//! A cluster to hand on, without values that may be secret.

use crate::cluster::{is_read_by_plans, items_of, read_documents};
use crate::hostile;
use daemonset::kubernetes::well_known::TEMPLATE_GENERATION_ANNOTATION;
use serde_json::{Map, Value, json};

/// A cluster to hand on: without the fields that no plan reads, and without values that may be secret.
pub struct Left {
    /// The values of environment variables and of the HTTP headers of probes stay, and the messages of ended containers.
    pub environment: bool,
    /// Annotations stay that no plan reads.
    pub annotations: bool,
    /// The values that have been replaced; each has a name of its own, so that templates differ as they did.
    replaced: Vec<String>,
}

impl Left {
    pub fn new(environment: bool, annotations: bool) -> Self {
        Left { environment, annotations, replaced: Vec::new() }
    }

    /// Texts as one, in JSON: a Recording, or a List of all their objects.
    ///
    /// # Errors
    /// A text that can't be read.
    pub fn of(&mut self, texts: &[&[u8]]) -> Result<String, String> {
        let mut documents = Vec::new();
        for text in texts {
            // Data of a revision that can't be read is a problem of its owner alone.
            documents.append(&mut match read_documents(text) {
                Ok(read) => read,
                Err(error) => vec![json!({"items": items_of(text).ok_or(error)?})],
            });
        }
        for document in &mut documents {
            strip_objects(document);
            self.strip(document, ValuePlace::Object);
        }
        let value = match documents.as_mut_slice() {
            [only] => only.take(),
            several => json!({"items": several.iter_mut().flat_map(items).collect::<Vec<_>>()}),
        };
        Ok(hostile::in_json(&value.to_string()))
    }

    fn strip(&mut self, value: &mut Value, place: ValuePlace) {
        match value {
            Value::Object(members) => {
                for member in ["managedFields", "selfLink"] {
                    members.remove(member);
                }
                for (key, member) in members.iter_mut() {
                    match (key.as_str(), place) {
                        ("env" | "httpHeaders", _) if !self.environment => self.strip_values(member),
                        // The end of a container's log may be in it.
                        ("terminated", _) if !self.environment => {
                            member.as_object_mut().map(|terminated| terminated.remove("message"));
                            self.strip(member, place);
                        }
                        ("annotations", ValuePlace::Object) if !self.annotations => strip_annotations(member),
                        ("annotations", ValuePlace::Template) if !self.annotations => {
                            self.replace_all(member)
                        }
                        ("template", _) => self.strip(member, ValuePlace::Template),
                        _ => self.strip(member, place),
                    }
                }
            }
            Value::Array(items) => items.iter_mut().for_each(|item| self.strip(item, place)),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
        }
    }

    /// Of a list of names and values.
    fn strip_values(&mut self, variables: &mut Value) {
        for variable in variables.as_array_mut().into_iter().flatten() {
            if let Some(value) = variable.get_mut("value") {
                self.replace(value);
            }
        }
    }

    fn replace_all(&mut self, annotations: &mut Value) {
        annotations
            .as_object_mut()
            .into_iter()
            .flat_map(|it| it.values_mut())
            .for_each(|value| self.replace(value));
    }

    fn replace(&mut self, value: &mut Value) {
        // YAML that no API server has seen may have numbers and booleans, too.
        let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        if value.is_null() || text.is_empty() {
            return;
        }
        let known = self.replaced.iter().position(|known| *known == text);
        let number = known.unwrap_or_else(|| {
            self.replaced.push(text);
            self.replaced.len() - 1
        });
        *value = format!("left-out-{}", number + 1).into();
    }
}

/// Leaves out what no plan reads of the objects of a List, or of the object itself. A Recording has no other objects.
fn strip_objects(document: &mut Value) {
    if let Some(items) = document.get_mut("items") {
        items.as_array_mut().into_iter().flatten().for_each(strip_object);
    } else if document.get("daemonSet").is_none() {
        strip_object(document);
    }
}

/// Of an object of another kind, such as a Secret, only its times count; of the revision of another kind all but its data.
fn strip_object(object: &mut Value) {
    if !is_read_by_plans(object) {
        *object = with_times_only(object);
    } else if is_revision_of_another_kind(object)
        && let Some(data) = object.get_mut("data")
    {
        *data = json!({});
    }
}

fn is_revision_of_another_kind(object: &Value) -> bool {
    let owners = object.pointer("/metadata/ownerReferences").and_then(Value::as_array);
    let controller =
        owners.into_iter().flatten().find(|owner| owner.get("controller") == Some(&Value::Bool(true)));
    let kind = controller.and_then(|owner| owner.get("kind")?.as_str());
    object.get("kind").and_then(Value::as_str) == Some("ControllerRevision")
        && kind.is_some_and(|kind| kind != "DaemonSet")
}

/// Its kind, its name, and the times that tell how new a dump is.
fn with_times_only(object: &Value) -> Value {
    let members = |value: Option<&Value>, names: &[&str]| -> Map<String, Value> {
        let found = names.iter().filter_map(|name| Some(((*name).to_owned(), value?.get(*name)?.clone())));
        found.collect()
    };
    let conditions = object.pointer("/status/conditions").and_then(Value::as_array);
    let conditions = conditions.into_iter().flatten();
    let conditions = conditions.map(|it| members(Some(it), &["lastTransitionTime", "lastHeartbeatTime"]));
    let mut left = members(Some(object), &["apiVersion", "kind"]);
    let metadata = members(object.get("metadata"), &["name", "namespace", "creationTimestamp"]);
    left.insert("metadata".to_owned(), metadata.into());
    left.insert("status".to_owned(), json!({"conditions": conditions.collect::<Vec<_>>()}));
    left.into()
}

/// The objects of a List, or the object itself.
fn items(document: &mut Value) -> Vec<Value> {
    match document.get_mut("items").map(Value::take) {
        Some(Value::Array(items)) => items,
        Some(_) => Vec::new(),
        None => vec![document.take()],
    }
}

/// Where a value is.
#[derive(Clone, Copy)]
enum ValuePlace {
    Object,
    /// In the template of pods, whose fields tell versions apart.
    Template,
}

fn strip_annotations(annotations: &mut Value) {
    // The prefixes of all that a plan reads end so.
    let is_read = |key: &str| {
        let prefix = key.split_once('/').map(|(prefix, _)| prefix);
        key == TEMPLATE_GENERATION_ANNOTATION || prefix.is_some_and(|prefix| prefix.ends_with(".daemonset"))
    };
    if let Some(annotations) = annotations.as_object_mut() {
        annotations.retain(|key, _| is_read(key));
    }
}

#[cfg(test)]
mod tests {
    use super::Left;
    use crate::cluster::Objects;
    use serde_json::{Value, json};

    fn left(environment: bool, annotations: bool) -> Value {
        let containers = |token: &str| json!([{"name": "a", "env": [{"name": "TOKEN", "value": token}, {"name": "NODE", "valueFrom": {}}]}]);
        let template = |token: &str, restarted: &str| json!({"metadata": {"annotations": {"restartedAt": restarted}}, "spec": {"containers": containers(token)}});
        let list = json!({"items": [
            {"metadata": {"managedFields": [{}], "annotations": {"rollout.daemonset/policy": "waves: []", "last-applied": "secret-a"}},
             "spec": {"template": template("secret-a", "1")}},
            {"data": {"spec": {"template": template("secret-b", "2")}}},
            {"data": {"spec": {"template": template("secret-a", "1")}}},
            {"metadata": {"name": "agent"}, "spec": {"containers": containers("secret-b")}},
        ]});
        let text = Left::new(environment, annotations).of(&[list.to_string().as_bytes()]).unwrap();
        serde_json::from_str(&text).unwrap()
    }

    #[test]
    fn secrets_are_left_out_and_templates_differ_as_they_did() {
        let list = left(false, false);
        assert!(!list.to_string().contains("secret"), "{list}");
        let template = |item: usize, path: &str| list["items"][item].pointer(path).unwrap().clone();
        let (current, old, same) = (
            template(0, "/spec/template"),
            template(1, "/data/spec/template"),
            template(2, "/data/spec/template"),
        );
        assert_eq!(current, same);
        assert_ne!(current, old);
        assert_eq!(current["spec"]["containers"][0]["env"][1], json!({"name": "NODE", "valueFrom": {}}));
        assert_eq!(
            list["items"][0]["metadata"]["annotations"],
            json!({"rollout.daemonset/policy": "waves: []"})
        );
    }

    #[test]
    fn what_others_write_into_a_status_or_an_annotation_is_left_out() {
        let ended = json!({"terminated": {"exitCode": 1, "message": "password=secret"}});
        let pod = json!({"kind": "Pod", "apiVersion": "v1",
            "metadata": {"name": "a", "annotations": {
                "my-daemonset.corp/token": "secret", "deprecated.daemonset.template.generation": "7", "turn.daemonset/agent.01234567": "1 x"}},
            "status": {"containerStatuses": [{"name": "a", "state": ended, "lastState": ended}]}});
        let text = shared(&pod.to_string());
        assert!(!text.contains("secret") && text.contains("exitCode"), "{text}");
        assert!(["template.generation", "turn.daemonset"].iter().all(|kept| text.contains(kept)), "{text}");
        assert!(
            Left::new(true, false).of(&[pod.to_string().as_bytes()]).unwrap().contains("password=secret")
        );
    }

    fn shared(list: &str) -> String {
        Left::new(false, false).of(&[list.as_bytes()]).unwrap()
    }

    #[test]
    fn of_objects_that_no_plan_reads_only_the_times_are_left() {
        let revision = |kind: &str| {
            json!({"apiVersion": "apps/v1", "kind": "ControllerRevision", "data": {"spec": {"userData": format!("secret of {kind}")}},
                   "metadata": {"name": "a", "ownerReferences": [{"kind": kind, "name": "a", "controller": true}]}})
        };
        let list = json!({"items": [
            {"apiVersion": "v1", "kind": "Secret", "data": {"password": "secret"},
             "metadata": {"name": "a", "namespace": "b", "creationTimestamp": "2026-01-01T00:00:00Z", "labels": {"a": "secret"}}},
            {"apiVersion": "example.com/v1", "kind": "Pod", "spec": {"password": "secret"},
             "status": {"conditions": [{"lastTransitionTime": "2026-01-02T00:00:00Z", "message": "secret"}]}},
            revision("VirtualMachine"),
            revision("DaemonSet"),
        ]});
        let text = shared(&list.to_string());
        assert_eq!(text.matches("secret").count(), 1, "{text}");
        assert!(text.contains("secret of DaemonSet"), "{text}");
        let now = |text: &str| Objects::read(text.as_bytes()).unwrap().now();
        assert_eq!(now(&text), now(&list.to_string()));
        assert!(now(&text).is_some());
        assert_eq!(shared("kind: Secret\nstringData: {a: hush}\n").find("hush"), None);
    }

    #[test]
    fn values_of_headers_and_values_that_are_no_texts_are_left_out() {
        let container = json!({
            "env": [{"name": "PIN", "value": 31337}, {"name": "ON", "value": true}, {"name": "NONE", "value": null}],
            "livenessProbe": {"httpGet": {"httpHeaders": [{"name": "Authorization", "value": "Bearer secret"}]}},
        });
        let text = shared(&json!({"kind": "Pod", "spec": {"containers": [container]}}).to_string());
        assert!(!text.contains("secret") && !text.contains("31337") && !text.contains("true"), "{text}");
        assert!(text.contains("\"value\":null"), "{text}");
    }

    /// The API server stores the data of a revision as the bytes that it was sent.
    #[test]
    fn a_revision_that_can_not_be_read_hinders_no_other_object() {
        for data in [r#"{"a":1e999}"#, r#"{"a":"\ud800"}"#] {
            let list =
                format!(r#"{{"items":[{{"kind":"ControllerRevision","data":{data}}},{{"kind":"Node"}}]}}"#);
            let left: Value = serde_json::from_str(&shared(&list)).unwrap();
            assert_eq!(left, json!({"items": [{"kind": "ControllerRevision"}, {"kind": "Node"}]}));
        }
    }

    #[test]
    fn several_texts_are_one_list() {
        let texts: [&[u8]; 2] =
            [br#"{"items": [{"kind": "Node"}, {"kind": "Pod"}]}"#, b"kind: Namespace\n---\nitems: []\n"];
        let list: Value = serde_json::from_str(&Left::new(false, false).of(&texts).unwrap()).unwrap();
        assert_eq!(list, json!({"items": [{"kind": "Node"}, {"kind": "Pod"}, {"kind": "Namespace"}]}));
    }

    #[test]
    fn they_stay_where_somebody_asks_for_them() {
        let list = left(true, true).to_string();
        assert!(
            list.contains("secret-b") && list.contains("last-applied") && !list.contains("managedFields"),
            "{list}"
        );
        assert!(!left(false, true)["items"][3].to_string().contains("secret"));
    }
}
