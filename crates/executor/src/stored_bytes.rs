//! Revisions that no patch can change, since their `data` is stored in other bytes than Go writes.
//!
//! A client that is not written in Go has created them. The API server lets such a revision change only by an update that has
//! exactly the stored bytes. An API server shows other bytes than it stores; those of serde_json are the likely ones, as they are for
//! the revisions of earlier versions of this library. A revision with yet other bytes is left as it is, for a person to replace: to
//! delete it here would lose live history if the create after it failed.

use crate::error::{ExecuteError, Refusal};
use crate::executor::{CallResult, Executor, marked, rejected, unanswered};
use crate::refusals::refuse;
use crate::response::{ApiResponse, Sender};
use daemonset::Action;
use daemonset::kube::{ApiCall, Caller};
use kube::api::{GetParams, PostParams};
use kube::core::{Request, Status};
use serde_json::{Map, Value};

impl<S: Sender> Executor<S> {
    /// Changes a revision by an update in the place of a patch.
    pub(crate) async fn change_stored_bytes(
        &self,
        caller: &Caller<'_>,
        (action, call): (&Action, &ApiCall),
        refusal: &Status,
    ) -> CallResult {
        let name = call.name.as_deref().unwrap_or_default();
        let request = Request::new(call.collection.as_str());
        let mut revision: Value = match self.request(request.get(name, &GetParams::default())).await {
            Ok(Some(revision)) => revision,
            Ok(None) => return rejected(ExecuteError::Outdated("the revision is gone".to_owned())),
            Err(error) => return rejected(error),
        };
        let uid = revision.pointer("/metadata/uid").and_then(Value::as_str);
        if uid != call.preconditions.uid.as_ref().map(|uid| uid.as_str()) {
            return rejected(ExecuteError::Outdated("another revision has the name".to_owned()));
        }
        merge(&mut revision, &call.body);
        // Its resource version is a precondition: no other change is lost.
        let update = match request.replace(name, &PostParams::default(), revision.to_string().into_bytes()) {
            Ok(update) => update,
            Err(error) => return rejected(ExecuteError::Failed(error.to_string())),
        };
        match self.sender.send_once(update).await {
            ApiResponse::Done(body) => CallResult { marked: marked(action, &body), ..CallResult::done() },
            ApiResponse::Rejected(status) if status.is_invalid() || status.is_forbidden() => {
                let message = remedy(caller, name, &refusal.message);
                refuse(refusal, ExecuteError::Refused(Refusal::new(message)))
            }
            response => unanswered(&response),
        }
    }
}

/// kubectl writes Go's bytes.
fn remedy(caller: &Caller<'_>, name: &str, answer: &str) -> String {
    let namespace = &caller.daemon_set.metadata.namespace;
    let get = format!("kubectl get controllerrevision -n {namespace} {name} -o json");
    format!(
        "the data of the revision is stored in bytes that no patch can keep; replace it by hand: {get} | kubectl replace --force \
         -f -: {answer}"
    )
}

/// Applies a patch of a revision: maps are merged, a null removes a member, and owners are merged by uid.
fn merge(object: &mut Value, patch: &Value) {
    let (Some(object), Some(patch)) = (object.as_object_mut(), patch.as_object()) else { return };
    for (key, value) in patch {
        match value {
            Value::Null => {
                object.remove(key);
            }
            Value::Object(_) => merge(object.entry(key).or_insert_with(|| Value::Object(Map::new())), value),
            Value::Array(owners) => {
                if let Value::Array(kept) = object.entry(key).or_insert_with(|| Value::Array(Vec::new())) {
                    owners.iter().for_each(|owner| merge_owner(kept, owner));
                }
            }
            Value::Bool(_) | Value::Number(_) | Value::String(_) => {
                object.insert(key.clone(), value.clone());
            }
        }
    }
}

fn merge_owner(owners: &mut Vec<Value>, owner: &Value) {
    owners.retain(|kept| kept.get("uid") != owner.get("uid"));
    if owner.get("$patch").is_none() {
        owners.push(owner.clone());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_patch_is_merged() {
        let revision = json!({"data": {"a": 1}, "revision": 3, "metadata": {"labels": {"a": "b"}, "uid": "r",
            "ownerReferences": [{"uid": "other"}, {"uid": "ds", "controller": false}]}});
        let merged = |patch: Value| {
            let mut object = revision.clone();
            merge(&mut object, &patch);
            object
        };
        assert_eq!(merged(json!({"revision": 4}))["revision"], 4);
        let annotated =
            merged(json!({"metadata": {"annotations": {"x": "y", "z": null}, "labels": {"a": null}}}));
        assert_eq!(annotated["metadata"]["annotations"], json!({"x": "y"}));
        assert_eq!(annotated["metadata"]["labels"], json!({}));
        let owners = |owner: Value| {
            merged(json!({"metadata": {"ownerReferences": [owner]}}))["metadata"]["ownerReferences"].clone()
        };
        assert_eq!(owners(json!({"$patch": "delete", "uid": "ds"})), json!([{"uid": "other"}]));
        assert_eq!(
            owners(json!({"uid": "ds", "controller": true})),
            json!([{"uid": "other"}, {"uid": "ds", "controller": true}])
        );
        assert_eq!(
            owners(json!({"$patch": "delete", "uid": "none"})),
            revision["metadata"]["ownerReferences"]
        );
    }
}
