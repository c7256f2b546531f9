//! The commands that tell more about a cause, or that end it.

use crate::case::{Case, View};
use crate::cause::Cause;
use crate::cause::find::NO_FREE_PORT;
use daemonset::Plan;
use daemonset::model::{ControllerRevision, DaemonSetMeta, OwnerReference};
use daemonset::report::NodeVerdict;
use serde_json::Value;
use std::borrow::Cow;

impl Case<'_> {
    /// In the order in which a person would run them; each can be pasted into a shell.
    pub fn commands(&self, node: &NodeVerdict, cause: &Cause) -> Vec<String> {
        // A pod that is merely not Ready may become so by itself.
        let undo = self.undo_for(cause).filter(|_| cause.is_failure());
        self.looks(node, cause).into_iter().chain(undo).collect()
    }

    fn looks(&self, node: &NodeVerdict, cause: &Cause) -> Vec<String> {
        let node = node.node.as_str();
        let describe_node = self.describe_node(node);
        match cause {
            Cause::NodeSilent { pod, ends, .. } => {
                let delete = self.delete_node(node);
                let describe_pod = pod.as_ref().filter(|_| !ends).map(|pod| self.describe_pod(pod));
                [Some(describe_node), describe_pod, Some(delete)].into_iter().flatten().collect()
            }
            Cause::NodeNotReady { pod, .. } | Cause::NodeFlaps { pod, .. } => {
                let describe_pod = pod.as_ref().map(|pod| self.describe_pod(pod));
                [Some(describe_node), describe_pod].into_iter().flatten().collect()
            }
            // No container of it has a log, or has it still.
            Cause::PodFailed { trouble, ran: false, .. } => {
                vec![self.describe_pod(&trouble.pod), describe_node]
            }
            Cause::PodFailed { trouble, .. } => {
                let logs = self.logs(&trouble.pod, "") + " --all-containers";
                vec![self.describe_pod(&trouble.pod), logs, describe_node]
            }
            Cause::ImageNotPulled { trouble, .. }
            | Cause::ContainerNotStarted { trouble, .. }
            | Cause::NotScheduled { trouble, .. } => {
                // The pod that holds it may be in a namespace that was not read.
                let others =
                    matches!(cause, Cause::NotScheduled { said, .. } if said.message.contains(NO_FREE_PORT));
                let others = others.then(|| {
                    format!("kubectl get pods{} -A --field-selector spec.nodeName={node}", self.connection)
                });
                [Some(self.describe_pod(&trouble.pod)), others].into_iter().flatten().collect()
            }
            Cause::CrashLoop { trouble, container, .. } => {
                let logs = self.logs(&trouble.pod, container) + " --previous";
                vec![logs, self.describe_pod(&trouble.pod)]
            }
            Cause::InitNotDone { trouble, container, .. } => {
                vec![self.logs(&trouble.pod, container), self.describe_pod(&trouble.pod)]
            }
            Cause::PortHeld { trouble, namespace, by, .. } => vec![
                format!("kubectl describe pod{} -n {} {}", self.connection, quoted(namespace), quoted(by)),
                self.describe_pod(&trouble.pod),
            ],
            Cause::NotGone { trouble, finalizers } if finalizers.is_empty() => {
                vec![self.describe_pod(&trouble.pod), describe_node]
            }
            // An undo surges, too.
            Cause::PortTaken { trouble, .. } => {
                vec![self.replace_in_place_of_surge(), self.describe_pod(&trouble.pod)]
            }
            Cause::NotGone { trouble, finalizers } => {
                vec![self.describe_pod(&trouble.pod), self.drop_pod_finalizers(&trouble.pod, finalizers)]
            }
            Cause::NotReady { trouble, pending, containers, gates, .. } => {
                let logs = match containers.as_slice() {
                    _ if *pending || !gates.is_empty() => None,
                    [only] => Some(self.logs(&trouble.pod, only)),
                    _ => Some(self.logs(&trouble.pod, "") + " --all-containers"),
                };
                [Some(self.describe_pod(&trouble.pod)), logs].into_iter().flatten().collect()
            }
        }
    }

    /// The undo, where the current version may be the cause.
    pub(crate) fn undo_for(&self, cause: &Cause) -> Option<String> {
        let (trouble, may_be) = match cause {
            Cause::ImageNotPulled { trouble, container, .. }
            | Cause::CrashLoop { trouble, container, .. }
            | Cause::ContainerNotStarted { trouble, container, .. }
            | Cause::InitNotDone { trouble, container, .. } => {
                (trouble, container.is_empty() || self.version_changed(&|name| name == container))
            }
            Cause::NotReady { trouble, containers, gates, .. } => {
                let all = containers.is_empty() && gates.is_empty();
                (trouble, self.version_changed(&|name| all || containers.iter().any(|it| it == name)))
            }
            Cause::NotScheduled { trouble, .. } => (trouble, true),
            // What a kubelet has rejected, it may admit in another version.
            Cause::PodFailed { trouble, said, ran, .. } => (trouble, !ran && said.reason != "Evicted"),
            // The version before may have had no such port.
            Cause::PortHeld { trouble, port, .. } => {
                let of_before = self.template_before().map(Value::to_string).unwrap_or_default();
                let had_it = of_before.is_empty() || of_before.contains(&format!("\"hostPort\":{port}"));
                (trouble, !had_it)
            }
            Cause::NodeSilent { .. }
            | Cause::NodeNotReady { .. }
            | Cause::NodeFlaps { .. }
            | Cause::PortTaken { .. }
            | Cause::NotGone { .. } => return None,
        };
        self.undo().filter(|_| trouble.updated && may_be)
    }

    /// Whether the template differs from that of the version before, in these containers or in what all containers share. Where the
    /// latter can't be read, it may.
    fn version_changed(&self, concerns: &dyn Fn(&str) -> bool) -> bool {
        self.template_before().is_none_or(|before| {
            concerned(before, concerns) != concerned(&self.planned.daemon_set.spec.template, concerns)
        })
    }

    /// Of the version before the current one, as far as it can be read.
    fn template_before(&self) -> Option<&Value> {
        let before = self.older_revisions().max_by_key(|revision| revision.revision);
        before?.data.pointer("/spec/template")
    }

    /// The revisions of the DaemonSet before the current one.
    fn older_revisions(&self) -> impl Iterator<Item = &ControllerRevision> {
        let meta = &self.planned.daemon_set.metadata;
        let current = self.plan.report.current_revision.as_ref().map(|current| current.number);
        self.models.revisions.iter().filter(move |revision| {
            let owners = &revision.metadata.owner_references;
            revision.metadata.namespace == meta.namespace
                && owners.iter().any(|owner| owner.uid == meta.uid)
                && current.is_some_and(|current| revision.revision < current)
        })
    }

    /// There is a version to go back to.
    pub(crate) fn has_older_version(&self) -> bool {
        self.older_revisions().next().is_some()
    }

    /// Back to the version before, if there is one.
    pub fn undo(&self) -> Option<String> {
        self.has_older_version().then(|| {
            let number = stable_to_name(&self.models.revisions, self.plan);
            undo_of(&self.planned.daemon_set.metadata, self.connection, number)
        })
    }

    pub(crate) fn describe_pod(&self, pod: &str) -> String {
        self.on_pod("describe", pod)
    }

    /// Whatever its finalizers wait for is left undone.
    pub(crate) fn drop_pod_finalizers(&self, pod: &str, finalizers: &[String]) -> String {
        format!(
            "{} --type=merge -p '{{\"metadata\":{{\"finalizers\":null}}}}'    # if nobody does the work that {} waits for",
            self.on_pod("patch", pod),
            finalizers.join(" ")
        )
    }

    /// Of a pod whose kubelet is gone.
    pub(crate) fn force_delete(&self, pod: &str) -> String {
        self.on_pod("delete", pod) + " --force"
    }

    /// The pods of a node that is deleted go with it.
    pub(crate) fn delete_node(&self, node: &str) -> String {
        format!(
            "kubectl delete node{} {}    # if the machine is gone for good",
            self.connection,
            quoted(node)
        )
    }

    fn on_pod(&self, verb: &str, pod: &str) -> String {
        format!("kubectl {verb} pod{}{} {}", self.connection, self.in_namespace(), quoted(pod))
    }

    fn logs(&self, pod: &str, container: &str) -> String {
        let container =
            if container.is_empty() { String::new() } else { format!(" -c {}", quoted(container)) };
        format!("kubectl logs{}{} {}{container}", self.connection, self.in_namespace(), quoted(pod))
    }

    /// ` -n monitoring`.
    pub fn in_namespace(&self) -> String {
        format!(" -n {}", quoted(&self.planned.daemon_set.metadata.namespace))
    }
}

/// A template without the containers that do not matter, and without the marks of a restart and of a patch.
fn concerned(template: &Value, concerns: &dyn Fn(&str) -> bool) -> Value {
    let mut template = template.clone();
    for containers in ["/spec/containers", "/spec/initContainers"] {
        if let Some(Value::Array(containers)) = template.pointer_mut(containers) {
            containers.retain(|it| it.get("name").and_then(Value::as_str).is_some_and(concerns));
        }
    }
    for (parent, member) in [("", "$patch"), ("/metadata/annotations", "kubectl.kubernetes.io/restartedAt")] {
        if let Some(Value::Object(parent)) = template.pointer_mut(parent) {
            parent.remove(member);
        }
    }
    template
}

/// The command by which a person puts the version before back, or the one with this number.
pub(crate) fn undo_of(meta: &DaemonSetMeta, connection: &str, number: Option<i64>) -> String {
    let daemon_set = on_daemon_set(connection, &meta.namespace, &meta.name);
    let number = number.map(|number| format!(" --to-revision={number}")).unwrap_or_default();
    format!("kubectl rollout undo{daemon_set}{number}")
}

/// The rest of a kubectl command about a DaemonSet, after its verb: ` -n monitoring daemonset/agent`.
pub fn on_daemon_set(connection: &str, namespace: &str, name: &str) -> String {
    let namespace = if namespace.is_empty() { String::new() } else { format!(" -n {}", quoted(namespace)) };
    format!("{connection}{namespace} daemonset/{}", quoted(name))
}

/// The number of the stable revision, where kubectl would go back to another revision by itself: to the one before, which may have failed, too.
pub(crate) fn stable_to_name(revisions: &[ControllerRevision], plan: &Plan) -> Option<i64> {
    let stable = plan.report.rollout.as_ref()?.stable.as_deref()?;
    let current = plan.report.current_revision.as_ref()?;
    let stable = revisions.iter().find(|revision| revision.metadata.name == stable)?;
    let uid = |revision: &ControllerRevision| {
        OwnerReference::controller_of(&revision.metadata.owner_references).map(str::to_owned)
    };
    let is_beside = |revision: &&ControllerRevision| {
        revision.metadata.namespace == stable.metadata.namespace && uid(revision) == uid(stable)
    };
    let older = revisions.iter().filter(is_beside).filter(|revision| revision.revision < current.number);
    let newest = older.max_by_key(|revision| revision.revision)?;
    (newest.metadata.name != stable.metadata.name).then_some(stable.revision)
}

/// The command by which a person edits the DaemonSet.
pub(crate) fn edit_of(meta: &DaemonSetMeta, connection: &str) -> String {
    format!("kubectl edit daemonset{connection} -n {} {}", quoted(&meta.namespace), quoted(&meta.name))
}

/// The command that tells of a node of the DaemonSet, whose namespace need not be that of the context.
pub(crate) fn why_node(view: &View<'_>, daemon_set: &str, node: &str) -> String {
    let (plugin, connection) = (view.plugin, view.connection);
    format!("{plugin} why node/{} --daemonset {}{connection}", quoted(node), quoted(daemon_set))
}

/// As a word of a shell: no API server allows another name, but a dump may come from anywhere.
pub fn quoted(name: &str) -> Cow<'_, str> {
    // A name with NUL can't be an argument of any program.
    shlex::try_quote(name).unwrap_or(Cow::Borrowed(name))
}

/// Commands about other things than a pod in trouble.
impl Case<'_> {
    pub fn describe_daemon_set(&self) -> String {
        let name = quoted(&self.planned.daemon_set.metadata.name);
        format!("kubectl describe daemonset{}{} {name}", self.connection, self.in_namespace())
    }

    /// Whatever its finalizers wait for is left undone.
    pub(crate) fn drop_finalizers(&self, waiting: &str) -> String {
        let name = quoted(&self.planned.daemon_set.metadata.name);
        let (connection, namespace) = (self.connection, self.in_namespace());
        format!(
            "kubectl patch daemonset{connection}{namespace} {name} --type=merge -p '{{\"metadata\":{{\"finalizers\":null}}}}'    \
             # if nobody does the work that {waiting} waits for"
        )
    }

    pub(crate) fn describe_namespace(&self) -> String {
        let namespace = quoted(&self.planned.daemon_set.metadata.namespace);
        format!("kubectl describe namespace{} {namespace}", self.connection)
    }

    pub fn get_quotas(&self) -> String {
        format!("kubectl get resourcequotas{}{}", self.connection, self.in_namespace())
    }

    pub fn get_webhooks(&self) -> String {
        let connection = self.connection;
        format!("kubectl get validatingwebhookconfigurations,mutatingwebhookconfigurations{connection}")
    }

    pub fn describe_node(&self, node: &str) -> String {
        format!("kubectl describe node{} {}", self.connection, quoted(node))
    }

    pub fn delete_pod(&self, pod: &str) -> String {
        self.on_pod("delete", pod)
    }

    pub fn edit_policy(&self) -> String {
        edit_of(&self.planned.daemon_set.metadata, self.connection)
    }

    /// The strategy for a DaemonSet whose nodes can't hold two pods.
    fn replace_in_place_of_surge(&self) -> String {
        self.patch_strategy(r#"{"type":"RollingUpdate","rollingUpdate":{"maxSurge":0,"maxUnavailable":1}}"#)
    }

    /// The ways out for a DaemonSet whose pods nobody deletes.
    pub fn roll_by_itself(&self) -> Vec<String> {
        let patch = self.patch_strategy(r#"{"type":"RollingUpdate"}"#);
        let policy = self.steered().map(|steered| steered.policy);
        if policy.is_none_or(|policy| policy.waves.is_empty() && !policy.paused) {
            return vec![patch + "    # if nobody wants OnDelete"];
        }
        let driven = self.edit_policy()
            + "    # with externalController in its policy the driver deletes the pods, wave by wave";
        let past = "    # Kubernetes' own controller then updates all nodes within maxUnavailable, whatever the policy says";
        vec![driven, patch + past]
    }

    fn patch_strategy(&self, strategy: &str) -> String {
        let name = quoted(&self.planned.daemon_set.metadata.name);
        let (connection, namespace) = (self.connection, self.in_namespace());
        let patch = format!("'{{\"spec\":{{\"updateStrategy\":{strategy}}}}}'");
        format!("kubectl patch daemonset{connection}{namespace} {name} --type=merge -p {patch}")
    }

    /// Its events tell of refused calls; the lease, which controller runs, unless it is known that one does; then the things that refuse calls.
    pub fn look_for_the_controller(&self, runs: bool) -> Vec<String> {
        let connection = self.connection;
        // The labels and the lease of this repository's controllers (`deploy/controller`, `deploy/driver`), and those of Kubernetes' own.
        let is_driven = self.planned.policy.external_controller.is_some();
        let name = if is_driven { "daemonset-driver" } else { "daemonset-controller" };
        let steers = self.steered().into_iter().flat_map(|_| {
            [
                format!("kubectl get lease{connection} -n kube-system {name}"),
                format!("kubectl get pods{connection} -n kube-system -l app={name}"),
            ]
        });
        let own = [
            format!("kubectl get lease{connection} -n kube-system kube-controller-manager"),
            format!("kubectl get pods{connection} -n kube-system -l component=kube-controller-manager"),
        ];
        let refuse = [self.get_quotas(), self.get_webhooks()];
        let who = steers.into_iter().chain(own).filter(|_| !runs);
        [self.describe_daemon_set()].into_iter().chain(who).chain(refuse).collect()
    }
}
