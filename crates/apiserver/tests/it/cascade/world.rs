//! A namespace with a DaemonSet that is deleted: an API server on `delete` and `removed_by_update`, an executor,
//! kubelets, and owners of other finalizers.

use crate::now;
use daemonset_apiserver::cascade::{
    CascadeAction, DeleteOptions, Deletion, Kind, Object, Propagation, Stage, State, cascade, delete,
    removed_by_update,
};
use daemonset_objects::model::ObjectRef;
use serde_json::{Value, json};

/// Objects by kind; the DaemonSet is `ns/web` with uid `ours`.
#[derive(Debug, Clone, PartialEq)]
pub struct World {
    pub daemon_set: Option<Value>,
    pub pods: Vec<Value>,
    pub revisions: Vec<Value>,
    /// The uids of removed objects, in order.
    pub removed: Vec<String>,
    version: u64,
}

pub fn owner(uid: &str) -> Value {
    json!({"apiVersion": "apps/v1", "kind": "DaemonSet", "name": "web", "uid": uid, "controller": true,
        "blockOwnerDeletion": true})
}

/// An object of the namespace with these owners.
pub fn object(name: &str, owners: Value) -> Value {
    json!({
        "metadata": {"name": name, "namespace": "ns", "uid": format!("uid-{name}"), "resourceVersion": "1",
            "ownerReferences": owners},
        "spec": {"nodeName": "n", "terminationGracePeriodSeconds": 30},
        "status": {"phase": "Running"},
    })
}

/// An object that the DaemonSet alone owns.
pub fn owned(name: &str) -> Value {
    object(name, json!([owner("ours")]))
}

pub fn with(mut object: Value, field: &str, value: Value) -> Value {
    object["metadata"][field] = value;
    object
}

/// Two pods and a revision of the DaemonSet.
pub fn world() -> World {
    World {
        daemon_set: Some(json!({"metadata": {
            "name": "web", "namespace": "ns", "uid": "ours", "resourceVersion": "1", "generation": 3,
        }})),
        pods: vec![owned("web-b"), owned("web-a")],
        revisions: vec![owned("web-1")],
        removed: Vec::new(),
        version: 1,
    }
}

impl World {
    /// Replaces the pods and revisions.
    pub fn only(self, pods: Vec<Value>, revisions: Vec<Value>) -> Self {
        World { pods, revisions, ..self }
    }

    pub fn pod(mut self, pod: Value) -> Self {
        self.pods.push(pod);
        self
    }

    pub fn finalizers(mut self, finalizers: Value) -> Self {
        self.daemon_set.as_mut().unwrap()["metadata"]["finalizers"] = finalizers;
        self
    }

    /// The user's DELETE.
    pub fn deleted(mut self, policy: Propagation) -> Self {
        self.delete(Kind::DaemonSet, "ours", &DeleteOptions::new().propagation_policy(policy));
        self
    }

    pub fn identity() -> ObjectRef {
        ObjectRef {
            namespace: "ns".to_owned(),
            name: "web".to_owned(),
            uid: "ours".into(),
            ..ObjectRef::default()
        }
    }

    fn ask<T>(&self, question: impl FnOnce(&State<'_>) -> T) -> T {
        let read = |object: &Value| Object::from_json(object).unwrap();
        let found = self.daemon_set.as_ref().map(read);
        let pods: Vec<Object> = self.pods.iter().map(read).collect();
        let revisions: Vec<Object> = self.revisions.iter().map(read).collect();
        question(&State::new(&World::identity(), found.as_ref()).pods(&pods).revisions(&revisions))
    }

    pub fn actions(&self) -> Vec<CascadeAction> {
        self.ask(cascade)
    }

    pub fn stage(&self) -> Stage {
        self.ask(|state| state.stage())
    }

    /// The next actions, one line each.
    pub fn steps(&self) -> Vec<String> {
        self.actions().iter().map(line).collect()
    }

    fn list(&mut self, kind: Kind) -> Vec<&mut Value> {
        match kind {
            Kind::DaemonSet => self.daemon_set.iter_mut().collect(),
            Kind::Pod => self.pods.iter_mut().collect(),
            Kind::ControllerRevision => self.revisions.iter_mut().collect(),
        }
    }

    /// Executes one action by its requests. NotFound and conflicts change nothing.
    pub fn execute(&mut self, action: &CascadeAction) {
        let kind = match action {
            CascadeAction::ReleasePod { .. } | CascadeAction::DeletePod { .. } => Kind::Pod,
            CascadeAction::ReleaseRevision { .. } | CascadeAction::DeleteRevision { .. } => {
                Kind::ControllerRevision
            }
            CascadeAction::RemoveFinalizer { .. } | CascadeAction::DeleteDaemonSet { .. } => Kind::DaemonSet,
        };
        let uid = action.object().uid.to_string();
        match (action.patch(), action.delete_options()) {
            (Some(patch), None) => self.patch(kind, &uid, &patch),
            (None, Some(options)) => self.delete(kind, &uid, &options),
            other => panic!("neither a patch nor a delete: {other:?}"),
        }
    }

    fn patch(&mut self, kind: Kind, uid: &str, patch: &Value) {
        self.version += 1;
        let version = self.version.to_string();
        let Some(stored) = self.list(kind).into_iter().find(|o| o["metadata"]["uid"] == uid) else { return };
        let expected = &patch["metadata"]["resourceVersion"];
        if !expected.is_null() && *expected != stored["metadata"]["resourceVersion"] {
            return;
        }
        let before = stored.clone();
        let metadata = &mut stored["metadata"];
        metadata["resourceVersion"] = json!(version);
        for gone in patch["metadata"]["ownerReferences"].as_array().into_iter().flatten() {
            assert_eq!(gone["$patch"], "delete");
            metadata["ownerReferences"].as_array_mut().unwrap().retain(|owner| owner["uid"] != gone["uid"]);
        }
        if let Some(finalizers) = patch["metadata"].get("finalizers") {
            metadata["finalizers"] = finalizers.clone();
        }
        if removed_by_update(&before, &stored.clone()).unwrap() {
            self.remove(kind, uid);
        }
    }

    fn delete(&mut self, kind: Kind, uid: &str, options: &DeleteOptions) {
        let Some(stored) = self.list(kind).into_iter().find(|o| o["metadata"]["uid"] == uid) else { return };
        match delete(kind, stored, options, now()) {
            Ok(Deletion::Removed) => self.remove(kind, uid),
            Ok(Deletion::Pending(after)) => *stored = after,
            Ok(Deletion::Unchanged) | Err(_) => {}
        }
    }

    fn remove(&mut self, kind: Kind, uid: &str) {
        self.removed.push(uid.to_owned());
        match kind {
            Kind::DaemonSet => self.daemon_set = None,
            Kind::Pod => self.pods.retain(|object| object["metadata"]["uid"] != uid),
            Kind::ControllerRevision => self.revisions.retain(|object| object["metadata"]["uid"] != uid),
        }
    }

    /// Kubelets stop terminating pods, and others remove their finalizers. Returns whether anything changed.
    pub fn settle(&mut self) -> bool {
        let before = self.clone();
        for kind in [Kind::Pod, Kind::ControllerRevision, Kind::DaemonSet] {
            let terminating =
                self.list(kind).into_iter().filter(|o| o["metadata"]["deletionTimestamp"].is_string());
            let mut ended = Vec::new();
            for object in terminating {
                let metadata = &mut object["metadata"];
                // Dependents of a pod are left to the pod's own cascade, which removes these finalizers.
                let foreign = |finalizer: &Value| {
                    kind != Kind::DaemonSet || finalizer.as_str().is_some_and(|f| f.contains('/'))
                };
                if let Some(finalizers) = metadata["finalizers"].as_array_mut() {
                    finalizers.retain(|finalizer| !foreign(finalizer));
                }
                if kind != Kind::DaemonSet || metadata["finalizers"] == json!([]) {
                    ended.push(metadata["uid"].as_str().unwrap().to_owned());
                }
            }
            ended.iter().for_each(|uid| self.remove(kind, uid));
        }
        *self != before
    }

    /// Runs until there is no action and nothing changes by itself.
    pub fn run_out(&mut self) {
        for _ in 0..20 {
            let actions = self.actions();
            actions.iter().for_each(|action| self.execute(action));
            if !self.settle() && actions.is_empty() {
                return;
            }
        }
        panic!("no end: {:#?}", self.actions());
    }

    pub fn names(&self) -> Vec<&str> {
        let all = self.daemon_set.iter().chain(&self.pods).chain(&self.revisions);
        all.map(|object| object["metadata"]["name"].as_str().unwrap()).collect()
    }
}

pub fn line(action: &CascadeAction) -> String {
    let name = &action.object().name;
    match action {
        CascadeAction::ReleasePod { reason, .. } => format!("release pod {name}: {reason:?}"),
        CascadeAction::ReleaseRevision { reason, .. } => format!("release revision {name}: {reason:?}"),
        CascadeAction::DeletePod { propagation_policy, reason, .. } => {
            format!("delete pod {name} {propagation_policy:?}: {reason:?}")
        }
        CascadeAction::DeleteRevision { propagation_policy, reason, .. } => {
            format!("delete revision {name} {propagation_policy:?}: {reason:?}")
        }
        CascadeAction::RemoveFinalizer { finalizer, reason, .. } => format!("remove {finalizer}: {reason:?}"),
        CascadeAction::DeleteDaemonSet { reason, .. } => format!("delete {name}: {reason:?}"),
    }
}
