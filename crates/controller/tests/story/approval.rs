//! The admission policy of deploy/approval: two users may edit DaemonSets, and one of them may approve.

use crate::cluster::{Cluster, IMAGE};
use crate::process::apply;
use http::Method;
use serde_json::{Value, json};

const MERGE: &str = "application/merge-patch+json";
const APPLY: &str = "application/apply-patch+yaml";
const APPROVED: &str = "rollout.daemonset/approved";
const POLICY: &str = "rollout.daemonset/policy";
const WITH_APPROVAL: &str = "waves: [{upTo: 1}, {needsApproval: true}]";

/// Two users with the same rights but for the verb `approve`, which `approver` has for the DaemonSet `web`.
struct Users {
    cluster: Cluster,
}

#[derive(Debug, PartialEq)]
enum Answer {
    Done,
    Denied,
}

impl Users {
    async fn new(cluster: Cluster) -> Self {
        let rules = json!([
            {"apiGroups": ["apps"], "resources": ["daemonsets", "daemonsets/status"],
             "verbs": ["get", "create", "update", "patch", "delete"]},
        ]);
        let approve = json!([
            {"apiGroups": ["apps"], "resources": ["daemonsets"], "resourceNames": ["web"], "verbs": ["approve"]},
        ]);
        let users = Users { cluster };
        users.bind("editors", rules, &["editor", "approver"]).await;
        users.bind("approvers", approve, &["approver"]).await;
        users
    }

    async fn bind(&self, name: &str, rules: Value, users: &[&str]) {
        let metadata = json!({"name": name, "namespace": self.cluster.namespace});
        let group = "rbac.authorization.k8s.io";
        let subjects: Vec<Value> =
            users.iter().map(|user| json!({"apiGroup": group, "kind": "User", "name": user})).collect();
        let version = format!("{group}/v1");
        for object in [
            json!({"apiVersion": version, "kind": "Role", "metadata": metadata, "rules": rules}),
            json!({"apiVersion": version, "kind": "RoleBinding", "metadata": metadata, "subjects": subjects,
                   "roleRef": {"apiGroup": group, "kind": "Role", "name": name}}),
        ] {
            apply(&self.cluster, &object).await;
        }
    }

    async fn call(&self, user: &str, call: (Method, &str), body: Value, content: &str) -> Answer {
        match self.cluster.request_as(user, call, body, content).await {
            Ok(_) => Answer::Done,
            Err(kube::Error::Api(status)) if status.message.contains("daemonset-approval") => {
                assert_eq!(status.code, 403, "{status:?}");
                Answer::Denied
            }
            Err(error) => panic!("{user}: {error}"),
        }
    }

    async fn create(&self, user: &str, name: &str, annotations: Value) -> Answer {
        self.call(user, (Method::POST, &self.cluster.apps("daemonsets")), daemon_set(name, annotations), JSON)
            .await
    }

    async fn annotate(&self, user: &str, annotations: Value) -> Answer {
        self.patch(user, "daemonsets/web", json!({"metadata": {"annotations": annotations}}), MERGE).await
    }

    async fn patch(&self, user: &str, path: &str, body: Value, content: &str) -> Answer {
        self.call(user, (Method::PATCH, &self.cluster.apps(path)), body, content).await
    }
}

const JSON: &str = "application/json";

fn daemon_set(name: &str, annotations: Value) -> Value {
    json!({
        "apiVersion": "apps/v1", "kind": "DaemonSet", "metadata": {"name": name, "annotations": annotations},
        "spec": {
            "selector": {"matchLabels": {"app": name}},
            "template": {
                "metadata": {"labels": {"app": name}},
                "spec": {
                    "nodeSelector": {"no": "node"},
                    "containers": [{"name": "web", "image": format!("{IMAGE}:v1")}],
                },
            },
        },
    })
}

#[tokio::test]
async fn only_who_may_approve_sets_the_approval() {
    let Some(cluster) = Cluster::find("approval").await else { return };
    let text = include_str!("../../deploy/approval/policy.yaml");
    let policy: Vec<Value> = serde_saphyr::from_multiple(text).unwrap();
    let users = Users::new(cluster.clone()).await;
    for object in &policy {
        apply(&cluster, object).await;
    }
    // Rights and policies reach the API server's caches a moment later.
    cluster
        .until("the policy is in force", async |cluster| {
            let (path, probe) =
                (cluster.apps("daemonsets?dryRun=All"), daemon_set("web", json!({APPROVED: "1=1"})));
            let answers = ["editor", "approver"]
                .map(|user| cluster.request_as(user, (Method::POST, &path), probe.clone(), JSON));
            let [editor, approver] = answers;
            editor.await.is_err_and(|error| error.to_string().contains("daemonset-approval"))
                && approver.await.is_ok()
        })
        .await;

    // A new DaemonSet may have a policy, but no approval, in whatever spelling.
    for hidden in ["approved: {2: 9}", r#"{"\u0061pproved": {"2": 9}}"#, "? !!binary YXBwcm92ZWQ=\n: {2: 9}"]
    {
        assert_eq!(
            users.create("editor", "probe", json!({POLICY: hidden})).await,
            Answer::Denied,
            "{hidden}"
        );
    }
    assert_eq!(users.create("editor", "web", json!({POLICY: WITH_APPROVAL})).await, Answer::Done);

    // By all ways that lead to the annotation.
    let approval = json!({APPROVED: "1=2"});
    let map = json!({"metadata": {"annotations": {POLICY: WITH_APPROVAL, APPROVED: "1=2"}}});
    let json_patch =
        json!([{"op": "add", "path": "/metadata/annotations", "value": map["metadata"]["annotations"]}]);
    let applied =
        json!({"apiVersion": "apps/v1", "kind": "DaemonSet", "metadata": {"annotations": approval}});
    for (path, body, content) in [
        ("daemonsets/web", map.clone(), MERGE),
        ("daemonsets/web", map.clone(), "application/strategic-merge-patch+json"),
        ("daemonsets/web/status", map.clone(), MERGE),
        ("daemonsets/web", json_patch, "application/json-patch+json"),
        ("daemonsets/web?fieldManager=e&force=true", applied.clone(), APPLY),
        ("daemonsets/web/status?fieldManager=e&force=true", applied, APPLY),
    ] {
        assert_eq!(users.patch("editor", path, body, content).await, Answer::Denied, "{path} {content}");
    }
    let mut whole = cluster.daemon_set("web").await;
    whole["metadata"]["annotations"][APPROVED] = json!("1=2");
    for path in ["daemonsets/web", "daemonsets/web/status"] {
        let call = (Method::PUT, &*cluster.apps(path));
        assert_eq!(users.call("editor", call, whole.clone(), JSON).await, Answer::Denied, "{path}");
    }

    // Nor without the wave that waits.
    for policy in [json!("waves: [{upTo: 1}, {}]"), Value::Null, json!("approved: {1: 9}")] {
        assert_eq!(users.annotate("editor", json!({POLICY: policy})).await, Answer::Denied, "{policy}");
    }

    // Everything else is as before.
    assert_eq!(users.annotate("editor", json!({"rollout.daemonset/paused": "true"})).await, Answer::Done);
    let image = json!({"spec": {"template": {"metadata": {"annotations": {"a": "b"}}}}});
    assert_eq!(users.patch("editor", "daemonsets/web", image, MERGE).await, Answer::Done);

    assert_eq!(users.annotate("approver", approval).await, Answer::Done);
    for change in [json!({APPROVED: "2=2"}), json!({APPROVED: null})] {
        assert_eq!(users.annotate("editor", change.clone()).await, Answer::Denied, "{change}");
    }
    assert_eq!(
        users.annotate("editor", json!({APPROVED: "1=2", "other": "x"})).await,
        Answer::Done,
        "no change"
    );
    assert_eq!(
        users.annotate("approver", json!({APPROVED: null, POLICY: "waves: [{}]"})).await,
        Answer::Done
    );
    assert_eq!(users.annotate("editor", json!({POLICY: "waves: [{upTo: 3}, {}]"})).await, Answer::Done);

    // The right has the name of one DaemonSet.
    assert_eq!(users.create("approver", "another", json!({APPROVED: "1=1"})).await, Answer::Denied);
    for object in policy.iter().rev() {
        let kind = object["kind"].as_str().unwrap().to_lowercase();
        let plural = kind.strip_suffix('y').map_or(format!("{kind}s"), |stem| format!("{stem}ies"));
        cluster.delete(&format!("/apis/admissionregistration.k8s.io/v1/{plural}/daemonset-approval")).await;
    }
    cluster.delete(&format!("/api/v1/namespaces/{}", cluster.namespace)).await;
}
