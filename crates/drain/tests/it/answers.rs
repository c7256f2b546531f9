//! Answers of the API server to an eviction.

use crate::support::{at, now};
use daemonset_drain::EvictionOutcome::{Accepted, Gone, Refused, Rejected};
use daemonset_drain::{EvictionOutcome, Status};
use serde_json::{Value, from_value, json};

fn outcome(status: Value) -> EvictionOutcome {
    from_value::<Status>(status).unwrap().outcome()
}

fn failure(code: u16, reason: &str, message: &str) -> EvictionOutcome {
    outcome(
        json!({"kind": "Status", "status": "Failure", "code": code, "reason": reason, "message": message, "details": null}),
    )
}

#[test]
fn an_accepted_eviction_has_done_its_work() {
    assert_eq!(outcome(json!({"status": "Success", "code": 201})), Accepted);
    assert_eq!((Accepted.retry_at(now()), Accepted.is_reported()), (None, false));
}

#[test]
fn a_pod_that_is_not_found_or_that_another_one_has_followed_is_gone() {
    assert_eq!(failure(404, "NotFound", "pods \"web-x\" not found"), Gone);
    let before = "Operation cannot be fulfilled on Pod \"web-x\": the UID in the precondition (u1) does not match the UID in record (u2). \
                  The object might have been deleted and then recreated";
    assert_eq!(failure(409, "Conflict", before), Gone);
    let stored = "Operation cannot be fulfilled on pods \"web-x\": Precondition failed: UID in precondition: u1, UID in object meta: u2";
    assert_eq!(failure(409, "Conflict", stored), Gone);
    assert_eq!((Gone.retry_at(now()), Gone.is_reported()), (None, false));
}

#[test]
fn a_conflict_about_anything_else_is_refused() {
    let version = "Operation cannot be fulfilled on Pod \"web-x\": the ResourceVersion in the precondition (1) does not match the \
                   ResourceVersion in record (2). The object might have been modified";
    assert_eq!(failure(409, "Conflict", version), Refused);
    assert_eq!(failure(409, "AlreadyExists", "the UID in the precondition"), Refused);
}

#[test]
fn a_budget_a_busy_server_and_a_namespace_that_ends_ask_for_patience() {
    let budget = "Cannot evict pod as it would violate the pod's disruption budget.";
    assert_eq!(failure(429, "TooManyRequests", budget), Rejected);
    assert_eq!(failure(429, "", "slow down"), Rejected);
    assert_eq!(
        failure(504, "Timeout", "couldn't update PodDisruptionBudget \"web\" due to conflicts"),
        Rejected
    );
    let ends =
        json!([{"reason": "Other"}, {"reason": "NamespaceTerminating", "field": "metadata.namespace"}]);
    let forbidden = |causes: Value| json!({"code": 403, "reason": "Forbidden", "details": {"name": "web-x", "causes": causes}});
    assert_eq!(outcome(forbidden(ends)), Rejected);
    assert_eq!((Rejected.retry_at(now()), Rejected.is_reported()), (Some(at(5)), false));
    // Without that cause it is a lack of rights.
    assert_eq!(outcome(forbidden(json!([]))), Refused);
    assert_eq!(outcome(forbidden(Value::Null)), Refused);
    let elsewhere = json!({"code": 422, "reason": "Invalid", "details": {"causes": [{"reason": "NamespaceTerminating"}]}});
    assert_eq!(outcome(elsewhere), Refused);
}

#[test]
fn another_refusal_is_reported_and_asked_for_again() {
    let two =
        "This pod has more than one PodDisruptionBudget, which the eviction subresource does not support.";
    assert_eq!(failure(500, "", two), Refused);
    assert_eq!(failure(500, "InternalError", "failed calling webhook"), Refused);
    assert_eq!(failure(400, "BadRequest", "name in URL does not match name in Eviction object"), Refused);
    // A known reason decides, not the code.
    assert_eq!(failure(404, "Forbidden", ""), Refused);
    assert_eq!((Refused.retry_at(now()), Refused.is_reported()), (Some(at(5)), true));
}

#[test]
fn a_proxy_s_answer_without_a_reason_counts_by_its_code() {
    assert_eq!((failure(404, "", ""), failure(504, "", ""), failure(502, "", "")), (Gone, Rejected, Refused));
    assert_eq!(outcome(json!({})), Refused);
}
