//! The answer: each pod of the node with its verdict, the state of the drain, and the command that would do it.

use crate::drain::args::DrainQuestion;
use daemonset::model::ObjectRef;
use daemonset_drain::{BlockReason, Drain, DrainPolicy, LeftAlone, PodVerdict, drain, verdicts};
use jiff::Timestamp;
use serde::Serialize;

/// The answer as JSON.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct DrainAnswer {
    node: String,
    now: Timestamp,
    pub(crate) drain: Drain,
    /// The pods of the node, by namespace and name.
    pub(crate) pods: Vec<DrainRow>,
    /// The command of kubectl that drains the node, with the flags that give up the pods that block.
    pub(crate) command: String,
    /// These flags.
    pub(crate) missing_flags: Vec<&'static str>,
}

#[derive(Serialize)]
pub(crate) struct DrainRow {
    pub(crate) pod: ObjectRef,
    pub(crate) verdict: PodVerdict,
}

impl DrainAnswer {
    pub(crate) fn new(question: &DrainQuestion) -> Self {
        let DrainQuestion { node, pods, daemon_sets, policy, now, .. } = question;
        let verdicts = verdicts(node, pods, daemon_sets, policy, *now);
        let here = pods.iter().zip(verdicts).filter(|(_, verdict)| !is_elsewhere(verdict));
        let mut rows: Vec<DrainRow> =
            here.map(|(pod, verdict)| DrainRow { pod: ObjectRef::from(&pod.metadata), verdict }).collect();
        rows.sort_by(|a, b| (&a.pod.namespace, &a.pod.name).cmp(&(&b.pod.namespace, &b.pod.name)));
        let (missing_flags, unblocked) = missing_flags(question);
        DrainAnswer {
            node: node.metadata.name.to_string(),
            now: *now,
            drain: drain(node, pods, daemon_sets, policy, *now),
            pods: rows,
            command: command(question, &unblocked),
            missing_flags,
        }
    }
}

fn is_elsewhere(verdict: &PodVerdict) -> bool {
    matches!(verdict, PodVerdict::LeftAlone { why: LeftAlone::OtherNode, .. })
}

/// The flags without which pods block, and the policy with them: a pod may lack both.
fn missing_flags(question: &DrainQuestion) -> (Vec<&'static str>, DrainPolicy) {
    let DrainQuestion { node, pods, daemon_sets, now, .. } = question;
    let (mut flags, mut policy) = (Vec::new(), question.policy.clone());
    for (reason, flag) in
        [(BlockReason::LocalStorage, "--delete-emptydir-data"), (BlockReason::Unmanaged, "--force")]
    {
        // Without its first reason, a pod may have the second one.
        let decided = drain(node, pods, daemon_sets, &policy, *now);
        if decided.state.blocked_by().iter().any(|blocked| blocked.reason == reason) {
            flags.push(flag);
            policy = match reason {
                BlockReason::LocalStorage => policy.delete_empty_dir_data(true),
                _ => policy.evict_without_controller(true),
            };
        }
    }
    (flags, policy)
}

/// The command with its flags in the order of the help.
fn command(question: &DrainQuestion, policy: &DrainPolicy) -> String {
    let node = &question.node.metadata.name;
    let mut command = format!("kubectl drain {} --ignore-daemonsets", quoted(node.as_str()));
    if let Some(selector) = &question.pod_selector {
        command.push_str(&format!(" --pod-selector {}", quoted(selector)));
    }
    if policy.evict_without_controller {
        command.push_str(" --force");
    }
    if policy.delete_empty_dir_data {
        command.push_str(" --delete-emptydir-data");
    }
    if let Some(seconds) = policy.grace_seconds {
        command.push_str(&format!(" --grace-period {seconds}"));
    }
    if policy.skip_wait_for_delete_seconds > 0 {
        command.push_str(&format!(" --skip-wait-for-delete-timeout {}", policy.skip_wait_for_delete_seconds));
    }
    command + &question.connection
}

/// As a shell reads it back. A value with NUL can't be an argument of any program.
fn quoted(value: &str) -> String {
    shlex::try_quote(value).map(Into::into).unwrap_or_else(|_| value.to_owned())
}
