//! Checks the policy of a rollout, field by field.

use crate::input::Policy;
use crate::input::rollout::policy::{FailureAction, FailurePolicy, RolloutPolicy, Wave};
use daemonset_objects::Problem;
use daemonset_objects::internal::{LIMIT_MUST_BE, Problems};
use daemonset_objects::kubernetes::Selector;
use daemonset_objects::kubernetes::names::is_dns_subdomain;
use daemonset_objects::model::{DaemonSet, IntOrString};
use serde_json::Value;

/// The policy's rollout, and its parts that do not go together with a driven update.
pub(crate) fn check_rollout(ds: &DaemonSet, policy: &Policy, inputs: &Value, problems: &mut Problems) {
    if !is_dns_subdomain(&policy.mark_prefix) {
        let must = "must be a DNS subdomain, or the API server would refuse each mark";
        problems.add(Problem::invalid("policy.markPrefix", &policy.mark_prefix, must));
    }
    let Some(rollout) = &policy.rollout else { return };
    check_count(RolloutPolicy::MAX_ENTRIES, rollout.approved.len(), "approved", problems);
    // The waves of a list that is too long are not checked: each of them could be a problem of its own.
    if check_count(RolloutPolicy::MAX_ENTRIES, rollout.waves.len(), "waves", problems) {
        for (index, wave) in rollout.waves.iter().enumerate() {
            check_wave(wave, &format!("policy.rollout.waves[{index}]"), problems);
        }
    }
    if let Some(on_failure) = &rollout.on_failure {
        let reasons = on_failure.waiting_reasons.len();
        check_count(RolloutPolicy::MAX_ENTRIES, reasons, "onFailure.waitingReasons", problems);
        check_failure_policy(on_failure, ds.spec.min_ready_seconds, problems);
        // Pods of the stable revision could only come from the other controller, which knows the DaemonSet's template alone.
        if policy.external_controller.is_some() && on_failure.action == FailureAction::RollBack {
            let must = "must be Pause or Undo: the other controller creates pods of the new version only";
            problems.add(Problem::invalid("policy.rollout.onFailure.action", "RollBack", must));
        }
        // A template alone does not bring back the inputs that belong to it.
        if !inputs.is_null() && on_failure.action == FailureAction::Undo {
            let must =
                "must be Pause or RollBack: the ingredients of the manifests are no part of the template";
            problems.add(Problem::invalid("policy.rollout.onFailure.action", "Undo", must));
        }
    }
}

/// Whether a part of the policy has few enough entries. Each plan pays for them, and a plan of one DaemonSet must not keep the
/// others waiting.
fn check_count(most: usize, found: usize, field: &str, problems: &mut Problems) -> bool {
    if found > most {
        problems.add(Problem::too_many(format!("policy.rollout.{field}"), found, most));
    }
    found <= most
}

fn check_wave(wave: &Wave, path: &str, problems: &mut Problems) {
    if let Some(nodes) = &wave.nodes {
        // Its labels are ones that a node can have: a wave of no nodes is done at once, and a misspelt canary would be skipped.
        Selector::compile(nodes, &format!("{path}.nodes"), problems);
    }
    check_limit(wave.up_to, format!("{path}.upTo"), problems);
}

fn check_failure_policy(policy: &FailurePolicy, min_ready_seconds: i32, problems: &mut Problems) {
    let path = |field: &str| format!("policy.rollout.onFailure.{field}");
    check_limit(policy.max_failures, path("maxFailures"), problems);
    // Otherwise each healthy pod would fail before it can be available. Equal is too short, too: it would
    // fail and be available at the same instant.
    let exceed = [
        ("availableWithinSeconds", policy.available_within_seconds),
        ("progressDeadlineSeconds", policy.progress_deadline_seconds),
    ];
    for (field, seconds) in exceed {
        // In 64 bits: as an unsigned number a negative minReadySeconds, which another check refuses, would be a large one.
        let too_short = |seconds: &u32| i64::from(*seconds) <= i64::from(min_ready_seconds);
        if let Some(seconds) = seconds.filter(too_short) {
            let must = format!("must be greater than spec.minReadySeconds, which is {min_ready_seconds}");
            problems.add(Problem::invalid(path(field), seconds, &must));
        }
    }
}

/// A limit made in code may be out of the range that JSON allows, and a recording of it could not be read again.
fn check_limit(limit: Option<IntOrString>, path: String, problems: &mut Problems) {
    if let Some(limit) = limit.filter(|limit| !limit.is_in_range()) {
        problems.add(Problem::invalid(path, limit.to_string(), LIMIT_MUST_BE));
    }
}
