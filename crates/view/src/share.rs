//! A cluster to hand on, without values that may be secret.

use crate::cluster::read_documents;
use crate::hostile;
use serde_json::{Value, json};

/// A cluster to hand on: without the fields that no plan reads, and without values that may be secret.
pub struct Left {
    /// The values of environment variables stay.
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
            documents.append(&mut read_documents(text)?);
        }
        documents.iter_mut().for_each(|document| self.strip(document, Place::Object));
        let value = match documents.as_mut_slice() {
            [only] => only.take(),
            several => json!({"items": several.iter_mut().flat_map(items).collect::<Vec<_>>()}),
        };
        Ok(hostile::in_json(&value.to_string()))
    }

    fn strip(&mut self, value: &mut Value, place: Place) {
        match value {
            Value::Object(members) => {
                for member in ["managedFields", "selfLink"] {
                    members.remove(member);
                }
                for (key, member) in members.iter_mut() {
                    match (key.as_str(), place) {
                        ("env", _) if !self.environment => self.strip_environment(member),
                        ("annotations", Place::Object) if !self.annotations => strip_annotations(member),
                        ("annotations", Place::Template) if !self.annotations => self.replace_all(member),
                        ("template", _) => self.strip(member, Place::Template),
                        _ => self.strip(member, place),
                    }
                }
            }
            Value::Array(items) => items.iter_mut().for_each(|item| self.strip(item, place)),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
        }
    }

    fn strip_environment(&mut self, variables: &mut Value) {
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
        let Some(text) = value.as_str().filter(|text| !text.is_empty()) else { return };
        let known = self.replaced.iter().position(|known| known == text);
        let number = known.unwrap_or_else(|| {
            self.replaced.push(text.to_owned());
            self.replaced.len() - 1
        });
        *value = format!("left-out-{}", number + 1).into();
    }
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
enum Place {
    Object,
    /// In the template of pods, whose fields tell versions apart.
    Template,
}

/// Those that a plan reads have this word in their prefix.
fn strip_annotations(annotations: &mut Value) {
    if let Some(annotations) = annotations.as_object_mut() {
        annotations.retain(|key, _| {
            key.split_once('/').map_or(key.as_str(), |(prefix, _)| prefix).contains("daemonset")
        });
    }
}

#[cfg(test)]
mod tests {
    use super::Left;
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
