//! A fleet of a custom kind, from nothing, while calls fail.

use crate::server::{Fault, Server, status};
use daemonset::model::{ControllerRevision, DaemonSet, Node, Owner, Pod};
use daemonset::policy::InPlacePolicy;
use daemonset::{ActionOutcome, Observed, Policy, Reconciler};
use daemonset_executor::{ApiResponse, Call, ExecuteError, Executed, Executor, InFlight, Sender};
use jiff::{SignedDuration, Timestamp};
use serde::de::DeserializeOwned;
use serde_json::{Value, from_value, json};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;
use tokio::time::{Instant, advance};

const SET: &str = "/apis/agents.example.com/v1/namespaces/agents/agentsets/edge";
const PODS: &str = "/api/v1/namespaces/agents/pods/";

fn agent_set() -> Owner {
    Owner::new("agents.example.com/v1", "AgentSet")
}

/// An operator that has listed the objects once, and whose cache of pods shows nothing after that unless it is told to.
struct Operator<S> {
    server: Server,
    executor: Executor<S>,
    in_flight: InFlight<Reconciler>,
    /// How the calls of the last plan went.
    calls: Vec<String>,
    /// The events about them.
    events: Vec<String>,
    cached_pods: Vec<Pod>,
    /// What the cache of revisions shows, if it lags behind.
    cached_revisions: Option<Vec<ControllerRevision>>,
    image: &'static str,
    /// The time until the next pass.
    next_plan: Option<Duration>,
    /// The AgentSet, if the cache lags behind.
    cached_set: Option<Value>,
}

fn operator<S: Sender>(server: &Server, sender: S) -> Operator<S> {
    let set = json!({"metadata": {"name": "edge", "namespace": "agents", "uid": "u1", "generation": 1}});
    server.state().objects.insert(SET.to_owned(), set);
    let began = Instant::now();
    let clock = move || Timestamp::UNIX_EPOCH + SignedDuration::try_from(began.elapsed()).unwrap();
    Operator {
        server: server.clone(),
        executor: Executor::new(sender, "my-operator").with_clock(clock),
        in_flight: InFlight::new(Reconciler::new("u1", Policy::default()).with_kind(agent_set())),
        calls: Vec::new(),
        events: Vec::new(),
        cached_pods: Vec::new(),
        cached_revisions: None,
        image: "a:1",
        next_plan: None,
        cached_set: None,
    }
}

impl<S: Sender> Operator<S> {
    fn objects<T: DeserializeOwned>(&self, below: &str) -> Vec<T> {
        let state = self.server.state();
        let found = state.objects.iter().filter(|(path, _)| path.contains(below));
        found.map(|(_, object)| from_value(object.clone()).unwrap()).collect()
    }

    async fn sync(&mut self) -> Result<Executed, ExecuteError> {
        let labels = json!({"agent-set": "edge"});
        let spec = json!({
            "selector": {"matchLabels": labels},
            "updateStrategy": {"type": "RollingUpdate"},
            "template": {"metadata": {"labels": labels}, "spec": {"containers": [{"name": "a", "image": self.image}]}},
        });
        let mut set = self.cached_set.clone().unwrap_or_else(|| self.server.state().objects[SET].clone());
        set["spec"] = spec;
        let ds = DaemonSet { owner: agent_set(), ..from_value(set).unwrap() };
        let nodes: Vec<Node> =
            ["a", "b", "c"].map(|name| from_value(json!({"metadata": {"name": name}})).unwrap()).into();
        let revisions =
            self.cached_revisions.clone().unwrap_or_else(|| self.objects("/controllerrevisions/"));
        let observed =
            Observed { daemon_set: &ds, nodes: &nodes, pods: &self.cached_pods, revisions: &revisions };
        self.calls.clear();
        self.events.clear();
        let (calls, events) = (&mut self.calls, &mut self.events);
        let on_call = |call: &Call<'_>| {
            calls.push(format!("{}: {}", call.subject(), outcome(call.outcome)));
            events.extend(call.event().map(|event| format!("{}: {}", event.reason, event.message)));
        };
        let synced = self.executor.sync(observed, &mut self.in_flight, on_call).await.unwrap();
        self.next_plan = synced.next_plan;
        synced.executed
    }

    /// Passes at the instants that each names, while no watch tells of a change; until storage has so many pods.
    async fn sync_alone_until(&mut self, pods: usize) -> Duration {
        let began = Instant::now();
        for _ in 0..50 {
            let _ = self.sync().await;
            if self.nodes_of_pods().len() == pods {
                return began.elapsed();
            }
            advance(self.next_plan.expect("there is something to do")).await;
        }
        panic!("{:?}", self.nodes_of_pods());
    }

    /// Until a plan does nothing more.
    async fn sync_until_quiet(&mut self) {
        for _ in 0..10 {
            self.cached_pods = self.objects(PODS);
            self.sync().await.unwrap();
            if self.calls.iter().all(|call| call.starts_with("plan again")) {
                return;
            }
        }
        panic!("{:?}", self.calls);
    }

    /// The nodes of the stored pods.
    fn nodes_of_pods(&self) -> Vec<String> {
        let pods: Vec<Pod> = self.objects(PODS);
        let mut nodes: Vec<String> = pods.iter().map(node_of).collect();
        nodes.sort();
        nodes
    }
}

fn outcome(outcome: &ActionOutcome) -> &'static str {
    match outcome {
        ActionOutcome::Created(_) | ActionOutcome::Done => "done",
        ActionOutcome::Rejected => "rejected",
        ActionOutcome::Conflict => "undecided",
        ActionOutcome::Unknown => "unknown",
        _ => "other",
    }
}

/// The node to which the pod is tied.
fn node_of(pod: &Pod) -> String {
    let text = serde_json::to_string(&pod.spec).unwrap();
    ["a", "b", "c"].into_iter().find(|node| text.contains(&format!("[\"{node}\"]"))).unwrap().to_owned()
}

#[tokio::test(start_paused = true)]
async fn a_fleet_of_a_custom_kind_comes_to_be() {
    let server = Server::default();
    let mut operator = operator(&server, server.client());
    operator.sync_until_quiet().await;
    assert_eq!(operator.nodes_of_pods(), ["a", "b", "c"]);
    let state = server.state();
    assert_eq!(state.objects[SET]["status"]["desiredNumberScheduled"], 3);
    assert!(state.calls.contains(&format!("PUT {SET}/status")), "{:?}", state.calls);
    let pods = state.objects.iter().filter(|(path, _)| path.starts_with(PODS));
    assert!(pods.clone().all(|(_, pod)| pod["metadata"]["ownerReferences"][0]["kind"] == "AgentSet"));
}

#[tokio::test(start_paused = true)]
async fn a_create_whose_answer_was_lost_is_not_repeated() {
    let server = Server::default();
    server.fail("POST /api/v1/namespaces/agents/pods", 1, Fault::LosesAnswer);
    let mut operator = operator(&server, server.client());
    let error = operator.sync().await.unwrap_err();
    assert!(matches!(error, ExecuteError::Unknown(_)), "{error:?}");
    // The cache does not show the pod, neither before nor after storage has told.
    for wait in [1, 80, 80] {
        operator.sync().await.unwrap();
        advance(Duration::from_secs(wait)).await;
    }
    assert_eq!(operator.nodes_of_pods(), ["a", "b", "c"]);
    assert!(operator.in_flight.next_settle().is_none());
}

#[tokio::test(start_paused = true)]
async fn a_create_that_was_lost_and_not_done_is_repeated_once_storage_tells() {
    let server = Server::default();
    server.fail("POST /api/v1/namespaces/agents/pods", 1, Fault::Breaks);
    let mut operator = operator(&server, server.client());
    operator.sync().await.unwrap_err();
    operator.sync().await.unwrap();
    assert_eq!(operator.nodes_of_pods().len(), 2, "it may still be done");
    advance(Duration::from_secs(80)).await;
    operator.sync().await.unwrap();
    assert_eq!(operator.nodes_of_pods(), ["a", "b", "c"]);
}

#[tokio::test(start_paused = true)]
async fn a_node_whose_pod_is_refused_holds_up_no_other_and_the_status_is_written() {
    let server = Server::default();
    let forbidden = Fault::Refuses(status(403, "Forbidden", "a policy says no"));
    server.fail(r#"["a"]"#, usize::MAX, forbidden);
    let mut operator = operator(&server, server.client());
    let error = operator.sync().await.unwrap_err();
    let ExecuteError::Forbidden(refusal) = &error else { panic!("{error:?}") };
    assert_eq!(refusal.to_string(), "create a pod on a: a policy says no");
    assert_eq!(server.state().objects[SET]["status"]["desiredNumberScheduled"], 3);
    operator.sync().await.unwrap_err();
    assert_eq!(operator.nodes_of_pods(), ["b", "c"]);
}

#[tokio::test(start_paused = true)]
async fn a_busy_api_server_is_asked_nothing_more() {
    let server = Server::default();
    let busy = Fault::Refuses(status(429, "TooManyRequests", "slow down"));
    server.fail("POST /api/v1/namespaces/agents/pods", 1, busy);
    let mut operator = operator(&server, server.client());
    assert_eq!(operator.sync().await, Err(ExecuteError::RetryAfter(Duration::from_secs(1))));
    assert_eq!(operator.next_plan, Some(Duration::from_secs(1)), "no back-off");
    assert!(!server.state().calls.contains(&format!("PUT {SET}/status")));
}

/// A client whose first connections are refused.
struct NotConnected(kube::Client, AtomicUsize);

impl Sender for NotConnected {
    async fn send_once(&self, request: http::Request<Vec<u8>>) -> ApiResponse {
        let left = self.1.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |left| left.checked_sub(1));
        match left {
            Ok(_) => ApiResponse::NotSent("connection refused".to_owned()),
            Err(_) => self.0.send_once(request).await,
        }
    }
}

/// A sender whose process may act no more.
struct Former;

impl Sender for Former {
    async fn send_once(&self, _: http::Request<Vec<u8>>) -> ApiResponse {
        ApiResponse::MayNotAct("another process may hold the lease".to_owned())
    }
}

#[tokio::test(start_paused = true)]
async fn a_process_that_may_not_act_sends_nothing() {
    let server = Server::default();
    let mut former = operator(&server, Former);
    assert_eq!(former.sync().await, Err(ExecuteError::MayNotAct));
    assert!(former.calls.is_empty(), "the read before the plan was not sent: {:?}", former.calls);
    // Where nothing must be read before, the first call of the plan is not sent.
    operator(&server, server.client()).sync().await.unwrap();
    let mut former = operator(&server, Former);
    assert_eq!(former.sync().await, Err(ExecuteError::MayNotAct));
    assert!(matches!(former.calls.as_slice(), [one] if one.ends_with(": undecided")), "{:?}", former.calls);
}

#[tokio::test(start_paused = true)]
async fn an_object_that_was_replaced_adopts_nothing() {
    let server = Server::default();
    let mut operator = operator(&server, server.client());
    operator.sync_until_quiet().await;
    let mut orphan = operator.objects::<Value>(PODS).remove(0);
    orphan["metadata"]["ownerReferences"] = json!([]);
    operator.cached_pods = operator.objects(PODS);
    operator.cached_pods[0] = from_value(orphan).unwrap();
    // Only storage knows that another object has the name.
    let replaced = json!({"metadata": {"name": "edge", "namespace": "agents", "uid": "u2"}});
    operator.cached_set = server.state().objects.insert(SET.to_owned(), replaced);
    let calls = server.state().calls.len();
    let error = operator.sync().await.unwrap_err();
    assert_eq!(error, ExecuteError::Outdated("the DaemonSet was deleted or replaced".to_owned()));
    assert_eq!(server.state().calls.len(), calls);
}

#[tokio::test(start_paused = true)]
async fn the_instants_of_the_passes_alone_lead_to_the_end() {
    let server = Server::default();
    let pods = "POST /api/v1/namespaces/agents/pods";
    server.fail(pods, 1, Fault::Refuses(status(429, "TooManyRequests", "slow down")));
    server.fail(pods, 2, Fault::Refuses(status(403, "Forbidden", "a policy says no")));
    server.fail(pods, 1, Fault::Breaks);
    let mut operator = operator(&server, server.client());
    let took = operator.sync_alone_until(3).await;
    // The create that was lost is read back from storage. Without that instant its node would wait for five minutes.
    assert!(took < Duration::from_secs(100), "{took:?}");
}

#[tokio::test(start_paused = true)]
async fn a_list_that_fails_is_read_again() {
    let server = Server::default();
    server.fail("GET /apis/apps/v1/namespaces/agents/controllerrevisions", 3, Fault::Breaks);
    let mut operator = operator(&server, server.client());
    for back_off in [5, 10, 20] {
        operator.sync().await.unwrap_err();
        assert_eq!(operator.next_plan, Some(Duration::from_millis(back_off)));
        // A change of an object in between postpones nothing.
        operator.server.state().faults[0].1 += 1;
        operator.sync().await.unwrap_err();
        assert_eq!(operator.next_plan, Some(Duration::from_millis(back_off)));
        advance(Duration::from_millis(back_off)).await;
    }
    assert_eq!(operator.sync().await, Ok(Executed::Whole));
    assert_eq!(operator.nodes_of_pods(), ["a", "b", "c"]);
    assert_eq!(operator.next_plan, None, "time alone changes nothing");
    operator.image = "a:2";
    server.fail("GET /apis/apps/v1/namespaces/agents/controllerrevisions", 1, Fault::Breaks);
    operator.sync().await.unwrap_err();
    assert_eq!(operator.next_plan, Some(Duration::from_millis(5)), "the back-off begins anew");
}

#[tokio::test(start_paused = true)]
async fn other_nodes_do_not_wait_for_the_back_off() {
    let server = Server::default();
    server.fail("GET /apis/apps/v1/namespaces/agents/controllerrevisions", 12, Fault::Breaks);
    server.fail(r#"["a"]"#, 1, Fault::Refuses(status(403, "Forbidden", "a policy says no")));
    let mut operator = operator(&server, server.client());
    for _ in 0..12 {
        operator.sync().await.unwrap_err();
        advance(operator.next_plan.unwrap()).await;
    }
    assert!(operator.next_plan > Some(Duration::from_secs(5)), "{:?}", operator.next_plan);
    operator.sync().await.unwrap_err();
    assert_eq!(operator.next_plan, Some(Duration::from_secs(1)));
}

#[tokio::test(start_paused = true)]
async fn a_number_of_a_revision_that_no_watch_has_shown_is_not_given_again() {
    let server = Server::default();
    let mut operator = operator(&server, server.client());
    operator.cached_revisions = Some(Vec::new());
    operator.sync().await.unwrap();
    operator.image = "a:2";
    operator.sync().await.unwrap();
    let mut numbers: Vec<i64> =
        operator.objects::<ControllerRevision>("/controllerrevisions/").iter().map(|r| r.revision).collect();
    numbers.sort_unstable();
    assert_eq!(numbers, [1, 2]);
}

/// A rejected change is tried as a delete: a webhook may forbid the one and not the other.
#[tokio::test(start_paused = true)]
async fn a_change_in_place_that_nobody_has_rejected_is_tried_again() {
    let server = Server::default();
    let refused_once = AtomicUsize::new(0);
    let mut operator = operator(&server, NotConnected(server.client(), refused_once));
    let mut policy = Policy::default();
    policy.in_place = InPlacePolicy::IfPossible;
    operator.in_flight = InFlight::new(Reconciler::new("u1", policy).with_kind(agent_set()));
    operator.sync_until_quiet().await;
    let run = |pod: &mut Value, node: &str| {
        pod["spec"]["nodeName"] = json!(node);
        pod["status"] = json!({"phase": "Running",
            "conditions": [{"type": "Ready", "status": "True", "lastTransitionTime": "1970-01-01T00:00:00Z"}],
            "containerStatuses": [{"name": "a", "image": "a:1", "imageID": "i1", "containerID": "c1", "restartCount": 0}]});
    };
    let pods = operator.objects::<Pod>(PODS).iter().map(node_of).collect::<Vec<_>>();
    let paths =
        server.state().objects.keys().filter(|path| path.starts_with(PODS)).cloned().collect::<Vec<_>>();
    for (path, node) in paths.iter().zip(&pods) {
        run(server.state().objects.get_mut(path).unwrap(), node);
    }
    operator.cached_pods = operator.objects(PODS);
    operator.image = "a:2";
    server.fail(
        "PATCH /api/v1/namespaces/agents/pods",
        1,
        Fault::Refuses(status(429, "TooManyRequests", "slow down")),
    );
    let change = |operator: &Operator<NotConnected>| {
        operator.calls.iter().find(|call| call.contains(" pod edge-")).cloned().unwrap_or_default()
    };
    assert_eq!(operator.sync().await, Err(ExecuteError::RetryAfter(Duration::from_secs(1))));
    let first = change(&operator);
    advance(Duration::from_secs(1)).await;
    let starts = status(503, "ServiceUnavailable", "apiserver is starting");
    server.fail("PATCH /api/v1/namespaces/agents/pods", 1, Fault::Refuses(starts));
    assert!(matches!(operator.sync().await, Err(ExecuteError::Failed(_))), "{:?}", operator.calls);
    assert_eq!(change(&operator), first);
    advance(Duration::from_secs(2)).await;
    operator.executor.sender().1.store(1, Ordering::SeqCst);
    assert!(matches!(operator.sync().await, Err(ExecuteError::Unreachable(_))), "{:?}", operator.calls);
    assert_eq!(change(&operator), first);
    advance(Duration::from_secs(4)).await;
    operator.sync().await.unwrap();
    assert_eq!(change(&operator), first.replace("undecided", "other"), "it is no delete");
}

#[tokio::test(start_paused = true)]
async fn the_calls_of_a_batch_may_have_been_of_several() {
    let server = Server::default();
    for node in [r#"["a"]"#, r#"["b"]"#] {
        server.fail(node, usize::MAX, Fault::Refuses(status(403, "Forbidden", "a policy says no")));
    }
    let mut operator = operator(&server, server.client());
    for _ in 0..4 {
        operator.sync().await.unwrap_err();
    }
    assert_eq!(operator.nodes_of_pods(), ["c"]);
}

/// Webhooks choose code and reason of a denial, and many give the error of a request of their own.
#[tokio::test(start_paused = true)]
async fn a_webhook_that_denies_is_refused_whatever_its_code() {
    for (code, reason) in [
        (404, "NotFound"),
        (409, "AlreadyExists"),
        (409, "Conflict"),
        (429, "TooManyRequests"),
        (500, "InternalError"),
        (504, "Timeout"),
    ] {
        let server = Server::default();
        let denial = format!(
            "pods \"edge-x\" is forbidden: admission webhook \"a.example\" denied the request: {reason}"
        );
        server.fail(r#"["a"]"#, usize::MAX, Fault::Refuses(status(code, reason, &denial)));
        let mut operator = operator(&server, server.client());
        let error = operator.sync().await.unwrap_err();
        let ExecuteError::Forbidden(refusal) = &error else { panic!("{code} {reason}: {error:?}") };
        assert_eq!(refusal.to_string(), format!("create a pod on a: {denial}"));
        assert_eq!(operator.events, [format!("FailedCreate: Error creating: {denial}")]);
        assert_eq!(
            server.state().objects[SET]["status"]["desiredNumberScheduled"],
            3,
            "the status is written"
        );
        operator.sync().await.unwrap_err();
        assert_eq!(operator.nodes_of_pods(), ["b", "c"], "{code} {reason}: no other node waits");
    }
}

#[tokio::test(start_paused = true)]
async fn a_create_without_a_pod_in_its_answer_is_read_back() {
    let server = Server::default();
    // A page to log in, say.
    server.fail("POST /api/v1/namespaces/agents/pods", 1, Fault::Refuses(json!({"code": 200})));
    let mut operator = operator(&server, server.client());
    let error = operator.sync().await.unwrap_err();
    assert!(matches!(error, ExecuteError::Unknown(_)), "{error:?}");
    let event = r#"FailedCreate: Error creating: the answer has no pod: {"code":200}"#;
    assert_eq!(operator.events, [event]);
    let took = operator.sync_alone_until(3).await;
    assert!(took < Duration::from_secs(15), "{took:?}");
}

#[tokio::test(start_paused = true)]
async fn a_list_that_is_not_found_is_no_empty_one() {
    let server = Server::default();
    server.fail("POST /api/v1/namespaces/agents/pods", 1, Fault::LosesAnswer);
    let mut operator = operator(&server, server.client());
    operator.sync().await.unwrap_err();
    advance(Duration::from_secs(80)).await;
    // A proxy without an API server behind it.
    server.fail(
        "GET /api/v1/namespaces/agents/pods",
        1,
        Fault::Refuses(status(404, "NotFound", "no such cluster")),
    );
    let error = operator.sync().await.unwrap_err();
    assert!(matches!(&error, ExecuteError::Failed(text) if text.contains("no such cluster")), "{error:?}");
    operator.sync().await.unwrap();
    assert_eq!(operator.nodes_of_pods(), ["a", "b", "c"], "no second pod on a node");
}

/// The next list has another token: nobody refuses it.
#[tokio::test(start_paused = true)]
async fn an_expired_token_is_no_refusal() {
    for answer in
        [status(410, "Expired", "the continue token is too old"), status(401, "Unauthorized", "Unauthorized")]
    {
        let server = Server::default();
        server.fail("GET /apis/apps/v1/namespaces/agents/controllerrevisions", 1, Fault::Refuses(answer));
        let mut operator = operator(&server, server.client());
        let error = operator.sync().await.unwrap_err();
        assert!(matches!(error, ExecuteError::Failed(_)), "{error:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn nothing_waits_for_minutes_after_a_long_outage() {
    let server = Server::default();
    let mut operator = operator(&server, NotConnected(server.client(), 60.into()));
    for _ in 0..60 {
        assert!(matches!(operator.sync().await, Err(ExecuteError::Unreachable(_))));
        advance(operator.next_plan.unwrap()).await;
    }
    // An API server that has just started.
    let starts = status(503, "ServiceUnavailable", "apiserver is starting");
    server.fail("GET /apis/apps/v1/namespaces/agents/controllerrevisions", 1, Fault::Refuses(starts));
    operator.sync().await.unwrap_err();
    assert!(operator.next_plan < Some(Duration::from_secs(20)), "{:?}", operator.next_plan);
}
