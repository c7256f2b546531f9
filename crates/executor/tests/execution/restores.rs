//! The template of a custom kind is put back, and the answers of an API server to that.

use crate::server::{Fault, Server, status};
use daemonset::model::{DaemonSet, ObjectRef};
use daemonset::{Action, ActionOutcome, Memory, Policy, RestoreReason, Snapshot};
use daemonset_executor::{Call, Driver, ExecuteError, Executed, Executor, InFlight};
use jiff::Timestamp;
use serde_json::{Value, from_value, json};

const SET: &str = "/apis/agents.example.com/v1/namespaces/agents/agentsets/edge";
/// The call, as far as a custom kind must differ: a list of operations.
const RESTORE: &str = r#"PATCH /apis/agents.example.com/v1/namespaces/agents/agentsets/edge [{"op":"replace","path":"/metadata/uid""#;

/// A driver of an action that no plan of a driver has.
#[derive(Default)]
struct Forgetful(Memory, Policy);

impl Driver for Forgetful {
    fn record(&mut self, _: &Action, _: &ActionOutcome, _: Timestamp) {}

    fn settle(&mut self, _: &Action, _: &Snapshot<'_>) {}

    fn memory(&self) -> &Memory {
        &self.0
    }

    fn policy(&self) -> &Policy {
        &self.1
    }
}

async fn restored(answer: Value) -> (Result<Executed, ExecuteError>, ActionOutcome) {
    let server = Server::default();
    let set = json!({
        "apiVersion": "agents.example.com/v1", "kind": "AgentSet",
        "metadata": {"name": "edge", "namespace": "agents", "uid": "u1", "resourceVersion": "7"},
    });
    server.state().objects.insert(SET.to_owned(), set.clone());
    // A body of another form is of no known type.
    let unknown = status(415, "UnsupportedMediaType", "the body of the request was in an unknown format");
    server.fail(RESTORE, 1, Fault::Refuses(answer));
    server.fail("PATCH", 1, Fault::Refuses(unknown));
    let ds: DaemonSet = from_value(set).unwrap();
    let revision = ObjectRef::from(&ds);
    let patch = json!({"spec": {"template": {"spec": {}, "$patch": "replace"}}});
    let restore = Action::restore_template((&ds).into(), revision, patch, RestoreReason::RolledBack);
    let mut in_flight = InFlight::new(Forgetful::default());
    let executor = Executor::new(server.client(), "my-operator");
    let mut outcome = ActionOutcome::Done;
    let on_call = |call: &Call<'_>| outcome = call.outcome.clone();
    let executed = executor.execute(&ds, &[restore], &mut in_flight, on_call).await;
    (executed, outcome)
}

fn invalid(field: &str) -> Value {
    let mut answer = status(422, "Invalid", "AgentSet.agents.example.com \"edge\" is invalid");
    answer["details"] = json!({"causes": [{"reason": "FieldValueInvalid", "field": field}]});
    answer
}

/// The API server answers to a resource version and a uid that the patch replaces by others as here.
#[tokio::test(start_paused = true)]
async fn an_object_that_has_changed_is_outdated_and_an_invalid_template_is_refused() {
    let (executed, outcome) = restored(status(409, "Conflict", "the object has been modified")).await;
    assert!(matches!(executed, Err(ExecuteError::Outdated(_))), "{executed:?}");
    assert_eq!(outcome, ActionOutcome::Conflict);
    for replaced in [invalid("metadata.uid"), status(404, "NotFound", "not found")] {
        let (executed, _) = restored(replaced).await;
        assert!(matches!(executed, Err(ExecuteError::Outdated(_))), "{executed:?}");
    }
    let (executed, outcome) = restored(invalid("spec.template.spec.containers[0].name")).await;
    assert!(matches!(executed, Err(ExecuteError::Refused(_))), "{executed:?}");
    assert_eq!(outcome, ActionOutcome::Rejected);
}
