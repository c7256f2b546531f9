//! An API server in this process: parses requests, reads and writes the store, and injects faults.

use crate::bytes::sent;
use crate::faults::{Call, FOREVER, Fault, Faults, Verb, invalid, status};
use crate::patch;
use crate::pods::node_of;
use crate::revision_data::{PatchPath, RevisionData};
use crate::rights::Rights;
use crate::store::{Actor, Id, Kind, Store, id, text};
use crate::watch_server;
use axum::body::Body;
use daemonset_controller::clock::Clock;
use daemonset_controller::connection::Connection;
use http::{Method, Request, Response};
use http_body_util::BodyExt;
use kube::Client;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;
use tokio::time::{Instant, sleep};
use tower::{BoxError, Layer, service_fn};

pub const NAMESPACE: &str = "monitoring";
/// How long a call takes.
const LATENCY: Duration = Duration::from_millis(2);
/// The deletion grace period of a pod.
const GRACE: Duration = Duration::from_secs(1);

pub struct State {
    pub store: Store,
    pub faults: Faults,
    pub calls: Vec<Call>,
    /// The reasons of the events that were recorded about DaemonSets.
    pub events: Vec<String>,
    /// The events as they are stored.
    pub stored_events: BTreeMap<String, Value>,
    /// The clients that have created them.
    event_clients: BTreeMap<String, &'static str>,
    /// How far the watches of each kind lag behind.
    pub lag: BTreeMap<Kind, Duration>,
    /// How far lists lag behind.
    pub list_lag: Duration,
    /// Watches of an earlier epoch break.
    pub epoch: u32,
    /// The connections of watches of earlier epochs than this are half open: nothing comes any more, not even their end.
    pub half_open: u32,
    /// The next change of these kinds is sent as a line that is no JSON.
    pub garbled: BTreeSet<Kind>,
    /// The largest page that a list has asked for; `None` for all.
    pub largest_page: Option<usize>,
    /// How many objects lists have returned.
    pub listed: BTreeMap<Kind, usize>,
    /// Watches from before this version get 410.
    pub compacted: u64,
    /// How much longer the creates of pods take, by the label `app` of the pod: a webhook looks at them.
    pub slow_creates: BTreeMap<&'static str, Duration>,
    pub terminating: bool,
    /// No server listens.
    pub is_down: bool,
    /// Every request is forbidden: the server has just started, and still reads its RBAC rules.
    pub knows_no_rights: bool,
    /// A policy rejects pods for these nodes, and the deletion of these pods.
    pub rejected_names: BTreeSet<String>,
    /// The end of each message of the policy.
    pub rejection_suffix: String,
    /// The data of revisions, as they are stored.
    pub revision_data: RevisionData,
    /// Pods that a PodDisruptionBudget keeps from being evicted for now.
    pub protected_pods: BTreeSet<String>,
    /// Evictions that were asked for: of which pod, and when.
    pub evictions: Vec<(String, Instant)>,
    /// The rights that each client has beside those of its role.
    pub further_rights: Rights,
}

#[derive(Clone)]
pub struct ApiServer(Arc<Mutex<State>>);

/// One request, parsed.
pub struct ApiRequest {
    /// The name of the client.
    pub client: &'static str,
    pub verb: Verb,
    pub kind: Kind,
    pub name: String,
    pub query: BTreeMap<String, String>,
    pub body: Value,
    /// The bytes of the body.
    pub text: String,
    /// How the API server applies the body, if it is a patch.
    pub path: PatchPath,
}

/// A response, or a broken connection.
pub type ApiResult = Result<Response<Body>, BoxError>;

impl ApiServer {
    pub fn new(clock: Clock) -> Self {
        ApiServer(Arc::new(Mutex::new(State {
            store: Store::new(clock),
            faults: Faults::default(),
            calls: Vec::new(),
            events: Vec::new(),
            stored_events: BTreeMap::new(),
            event_clients: BTreeMap::new(),
            lag: BTreeMap::new(),
            list_lag: Duration::ZERO,
            epoch: 0,
            half_open: 0,
            garbled: BTreeSet::new(),
            largest_page: Some(0),
            listed: BTreeMap::new(),
            compacted: 0,
            slow_creates: BTreeMap::new(),
            terminating: false,
            is_down: false,
            knows_no_rights: false,
            rejected_names: BTreeSet::new(),
            rejection_suffix: String::new(),
            revision_data: RevisionData::default(),
            protected_pods: BTreeSet::new(),
            evictions: Vec::new(),
            further_rights: Rights::none(),
        })))
    }

    /// A client with this name, which may do what these rights allow.
    pub fn client(&self, name: &'static str, rights: Rights, connection: &Connection) -> Client {
        let api = self.clone();
        let rights = Arc::new(rights);
        let service = service_fn(move |request| api.clone().respond(name, rights.clone(), request));
        Client::new(connection.layer().layer(service), NAMESPACE)
    }

    pub fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().expect("a panic ends the test")
    }

    async fn respond(
        self,
        client: &'static str,
        rights: Arc<Rights>,
        request: Request<kube::client::Body>,
    ) -> ApiResult {
        let request = parse(client, request).await?;
        let fields = request.query.get("fieldSelector").cloned();
        self.state().calls.push(Call { client, verb: request.verb, kind: request.kind, fields });
        let has_further = self.state().further_rights.allow(request.verb, request.kind);
        if !has_further && !rights.allow(request.verb, request.kind) {
            let missing =
                format!("the role of {client} does not allow {:?} of {:?}", request.verb, request.kind);
            self.state().store.invariants.broken.push(missing);
        }
        let slow = self.state().slowness(&request);
        sleep(LATENCY + slow).await;
        let is_down = self.state().is_down;
        let knows_no_rights = self.state().knows_no_rights;
        if is_down {
            return Err(not_connected().await);
        }
        if knows_no_rights {
            let message = format!("User \"agent\" cannot {:?} {:?}", request.verb, request.kind);
            return Ok(json_response(403, status(403, "Forbidden", &message)));
        }
        let fault = self.state().faults.take(request.verb, request.kind);
        match fault {
            None => self.execute(&request),
            Some(Fault::BrokenLongBefore) => {
                let broken = faulty(Fault::Broken, &request).await;
                tokio::spawn(async move {
                    sleep(Duration::from_secs(55)).await;
                    self.execute(&request)
                });
                broken
            }
            Some(fault) if fault.comes_afterwards() => {
                let _ = self.execute(&request);
                faulty(fault, &request).await
            }
            Some(fault) => faulty(fault, &request).await,
        }
    }

    fn execute(&self, request: &ApiRequest) -> ApiResult {
        if request.verb == Verb::Watch {
            return Ok(watch_server::respond(self.clone(), request));
        }
        Ok(match self.state().execute(request) {
            Ok(object) => json_response(200, object),
            Err(status) => json_response(code(&status), status),
        })
    }
}

fn code(status: &Value) -> u16 {
    status["code"].as_u64().and_then(|code| code.try_into().ok()).unwrap_or(500)
}

fn json_response(code: u16, body: Value) -> Response<Body> {
    Response::builder().status(code).body(Body::from(sent(&body))).expect("a response")
}

async fn parse(client: &'static str, request: Request<kube::client::Body>) -> Result<ApiRequest, BoxError> {
    let (head, body) = request.into_parts();
    let bytes = body.collect().await?.to_bytes();
    let pairs = head.uri.query().unwrap_or_default().split('&').filter_map(|pair| pair.split_once('='));
    let query: BTreeMap<String, String> =
        pairs.map(|(key, value)| (key.to_owned(), value.replace("%3D", "="))).collect();
    let path: Vec<&str> = head.uri.path().trim_matches('/').split('/').collect();
    let path = match path.as_slice() {
        ["api", "v1", path @ ..] | ["apis", "apps", "v1", path @ ..] => path,
        other => panic!("an unknown path {other:?}"),
    };
    let path = match path {
        ["namespaces", namespace, path @ ..] if !path.is_empty() => {
            assert_eq!(*namespace, NAMESPACE);
            path
        }
        path => path,
    };
    let (kind, name, subresource) = match path {
        [kind] => (*kind, "", ""),
        [kind, name] => (*kind, *name, ""),
        [kind, name, subresource] => (*kind, *name, *subresource),
        other => panic!("an unknown path {other:?}"),
    };
    let verb = match (&head.method, name, subresource) {
        (&Method::GET, "", "") if query.contains_key("watch") => Verb::Watch,
        (&Method::GET, "", "") => Verb::List,
        (&Method::GET, _, "") => Verb::Get,
        (&Method::POST, "", "") => Verb::Create,
        (&Method::POST, _, "eviction") => Verb::Evict,
        (&Method::PATCH, _, "") => Verb::Patch,
        (&Method::DELETE, _, "") => Verb::Delete,
        (&Method::PUT, _, "status") => Verb::UpdateStatus,
        (&Method::PUT, _, "") => Verb::Update,
        other => panic!("an unknown call {other:?}"),
    };
    let kind = match kind {
        "daemonsets" => Kind::DaemonSet,
        "pods" => Kind::Pod,
        "nodes" => Kind::Node,
        "namespaces" => Kind::Namespace,
        "controllerrevisions" => Kind::Revision,
        "events" => Kind::Event,
        other => panic!("an unknown kind {other}"),
    };
    let body = serde_json::from_slice(&bytes).unwrap_or_default();
    let text = String::from_utf8(bytes.to_vec())?;
    let path = match head.headers.get("content-type").and_then(|content| content.to_str().ok()) {
        Some("application/merge-patch+json") => PatchPath::Merge,
        _ => PatchPath::StrategicMerge,
    };
    Ok(ApiRequest { client, verb, kind, name: name.to_owned(), query, body, text, path })
}

/// The response, or its absence, that a fault causes.
async fn faulty(fault: Fault, request: &ApiRequest) -> ApiResult {
    let rejected = |code, reason, message: &str| Ok(json_response(code, status(code, reason, message)));
    match fault {
        Fault::Conflict => rejected(409, "Conflict", "the object has been modified"),
        Fault::AlreadyExists => rejected(409, "AlreadyExists", "the name already exists"),
        Fault::Forbidden => rejected(403, "Forbidden", "exceeded quota"),
        Fault::Invalid => Ok(json_response(
            422,
            invalid("Pod", &[("spec.containers[0].image", "Required value".to_owned())]),
        )),
        Fault::TooManyRequests(seconds) => {
            let mut response = json_response(429, status(429, "TooManyRequests", "too many requests"));
            response.headers_mut().insert("retry-after", seconds.into());
            Ok(response)
        }
        Fault::Unavailable => rejected(503, "ServiceUnavailable", "apiserver is shutting down"),
        Fault::UnavailableAfterwards => Ok(Response::builder()
            .status(503)
            .body(Body::from("upstream connect error or disconnect/reset before headers"))?),
        Fault::Error | Fault::ErrorAfterwards => {
            rejected(500, "InternalError", "Internal error occurred: etcdserver: request timed out")
        }
        Fault::Gone => Ok(Response::new(watch_server::gone())),
        Fault::NotConnected => Err(not_connected().await),
        Fault::Broken | Fault::BrokenAfterwards | Fault::BrokenLongBefore => {
            Err(format!("connection reset by peer: {:?} {:?}", request.verb, request.kind).into())
        }
        Fault::Silent | Fault::SilentAfterwards => {
            sleep(FOREVER).await;
            Err("at the end of time".into())
        }
    }
}

/// The error that the client has when no server listens.
pub async fn not_connected() -> BoxError {
    type Io = hyper_util::rt::TokioIo<tokio::net::TcpStream>;
    let refuses = service_fn(|_: http::Uri| {
        std::future::ready(Err::<Io, _>(std::io::Error::from(std::io::ErrorKind::ConnectionRefused)))
    });
    let client = hyper_util::client::legacy::Client::builder(hyper_util::rt::TokioExecutor::new())
        .build::<_, kube::client::Body>(refuses);
    let request = Request::get("http://10.0.0.1/").body(kube::client::Body::empty()).expect("a request");
    Box::new(client.request(request).await.expect_err("no server listens"))
}

impl State {
    fn slowness(&self, request: &ApiRequest) -> Duration {
        let app = text(&request.body["metadata"]["labels"]["app"]);
        match (request.verb, request.kind) {
            (Verb::Create, Kind::Pod) => self.slow_creates.get(app).copied().unwrap_or_default(),
            _ => Duration::ZERO,
        }
    }

    fn execute(&mut self, request: &ApiRequest) -> Result<Value, Value> {
        let id = id(request.kind, &request.name);
        match request.verb {
            Verb::List => Ok(self.list(request)),
            Verb::Watch => unreachable!("a watch has no single response"),
            Verb::Create => self.create(request),
            Verb::Get => self.get(&id),
            Verb::Patch if request.kind == Kind::Event => {
                let Some(event) = self.stored_events.get_mut(&request.name) else {
                    return Err(status(404, "NotFound", "no such event"));
                };
                self.events.push(text(&event["reason"]).to_owned());
                patch::apply(event, &request.body);
                Ok(event.clone())
            }
            Verb::Patch => {
                let mut object = self.get(&id)?;
                let mut causes = Vec::new();
                check_precondition("resourceVersion", &request.body["metadata"]["resourceVersion"], &object)?;
                let uid = &request.body["metadata"]["uid"];
                if !uid.is_null() && *uid != object["metadata"]["uid"] {
                    causes.push(("metadata.uid", format!("Invalid value: {uid}: field is immutable")));
                }
                if request.kind == Kind::Revision && self.revision_data.is_changed_by(&object, request.path) {
                    causes.push(("data", data_is_immutable(&object)));
                }
                if request.kind == Kind::DaemonSet {
                    let version = &request.body["metadata"]["resourceVersion"];
                    check_precondition("resourceVersion", version, &object)?;
                    raise_generation(&mut object);
                }
                if !causes.is_empty() {
                    return Err(invalid(&format!("{:?} {:?}", id.kind, id.name), &causes));
                }
                patch::apply(&mut object, &request.body);
                Ok(self.store.put(Actor::Controller, id, object))
            }
            Verb::Update => {
                assert_eq!(request.kind, Kind::Revision, "only revisions are updated as a whole");
                let object = self.get(&id)?;
                check_precondition("resourceVersion", &request.body["metadata"]["resourceVersion"], &object)?;
                check_precondition("uid", &request.body["metadata"]["uid"], &object)?;
                if !self.revision_data.is(&object, &request.text) {
                    return Err(invalid(&id.name, &[("data", data_is_immutable(&object))]));
                }
                Ok(self.store.put(Actor::Controller, id, request.body.clone()))
            }
            Verb::Delete => self.delete(&id, &request.body["preconditions"]),
            Verb::Evict => self.evict(&id, &request.body["deleteOptions"]["preconditions"]),
            Verb::UpdateStatus => {
                let mut object = self.get(&id)?;
                check_precondition("uid", &request.body["metadata"]["uid"], &object)?;
                check_precondition("resourceVersion", &request.body["metadata"]["resourceVersion"], &object)?;
                object["status"] = request.body["status"].clone();
                Ok(self.store.put(Actor::Controller, id, object))
            }
        }
    }

    /// A page of a list as of one version, which the token of its next page names.
    fn list(&mut self, request: &ApiRequest) -> Value {
        let token = request.query.get("continue").and_then(|token| token.split_once('.'));
        let token = token.and_then(|(version, begin)| Some((version.parse().ok()?, begin.parse().ok()?)));
        let now = match self.list_lag {
            Duration::ZERO => self.store.version(),
            lag => self.store.version_at(Instant::now() - lag),
        };
        let (version, begin) = token.unwrap_or((now, 0));
        let limit = request.query.get("limit").and_then(|limit| limit.parse::<usize>().ok());
        self.largest_page = self.largest_page.zip(limit).map(|(largest, limit)| largest.max(limit));
        let mut items = self.store.as_of(version, request.kind);
        items.retain(|object| is_selected(object, request));
        let rest = items.split_off(begin.min(items.len()));
        let page: Vec<Value> = rest.iter().take(limit.unwrap_or(usize::MAX)).cloned().collect();
        *self.listed.entry(request.kind).or_default() += page.len();
        let mut metadata = json!({"resourceVersion": version.to_string()});
        if page.len() < rest.len() {
            metadata["continue"] = json!(format!("{version}.{}", begin + page.len()));
        }
        json!({"kind": "List", "apiVersion": "v1", "metadata": metadata, "items": page})
    }

    fn create(&mut self, request: &ApiRequest) -> Result<Value, Value> {
        if self.terminating {
            let mut rejected =
                status(403, "Forbidden", "unable to create new content because it is being terminated");
            rejected["details"] = json!({"causes": [{"reason": "NamespaceTerminating",
                "message": "namespace is being terminated", "field": "metadata.namespace"}]});
            return Err(rejected);
        }
        if request.kind == Kind::Event {
            self.events.push(text(&request.body["reason"]).to_owned());
            let name = text(&request.body["metadata"]["name"]).to_owned();
            if self.stored_events.contains_key(&name) {
                // Two processes may name events of the same instant alike.
                assert_ne!(self.event_clients[&name], request.client, "{name} exists already");
                return Err(status(409, "AlreadyExists", &format!("{name} already exists")));
            }
            self.event_clients.insert(name.clone(), request.client);
            self.stored_events.insert(name, request.body.clone());
            return Ok(request.body.clone());
        }
        if request.kind == Kind::Pod {
            self.check_policy(node_of(&request.body))?;
        }
        let name = text(&request.body["metadata"]["name"]);
        if self.store.get(&id(request.kind, name)).is_some() {
            return Err(status(409, "AlreadyExists", &format!("{name} already exists")));
        }
        let created = self.store.create(Actor::Controller, request.kind, request.body.clone());
        if request.kind == Kind::Revision {
            self.revision_data.keep(&created, &request.text);
        }
        Ok(created)
    }

    fn delete(&mut self, id: &Id, preconditions: &Value) -> Result<Value, Value> {
        let mut object = self.get(id)?;
        self.check_policy(&id.name)?;
        check_precondition("uid", &preconditions["uid"], &object)?;
        check_precondition("resourceVersion", &preconditions["resourceVersion"], &object)?;
        // A pod without a node is removed at once.
        if id.kind != Kind::Pod || object["spec"]["nodeName"].is_null() {
            return Ok(self.store.remove(Actor::Controller, id));
        }
        if object["metadata"]["deletionTimestamp"].is_null() {
            let ends = self.store.clock.now() + GRACE;
            object["metadata"]["deletionTimestamp"] = json!(ends.to_string());
        }
        Ok(self.store.put(Actor::Controller, id.clone(), object))
    }

    /// As a delete, unless a PodDisruptionBudget forbids it (v1.36 `eviction.go`).
    fn evict(&mut self, id: &Id, preconditions: &Value) -> Result<Value, Value> {
        self.evictions.push((id.name.clone(), Instant::now()));
        let object = self.get(id)?;
        check_precondition("uid", &preconditions["uid"], &object)?;
        if self.protected_pods.contains(&id.name) {
            let message = "Cannot evict pod as it would violate the pod's disruption budget.";
            let mut rejected = status(429, "TooManyRequests", message);
            rejected["details"] = json!({"causes": [{"reason": "DisruptionBudget",
                "message": "The disruption budget db needs 1 healthy pods and has 1 currently"}]});
            return Err(rejected);
        }
        self.delete(id, preconditions)?;
        Ok(json!({"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success", "code": 201}))
    }

    fn check_policy(&self, name: &str) -> Result<(), Value> {
        match self.rejected_names.contains(name) {
            true => Err(status(
                403,
                "Forbidden",
                &format!("the policy denied the request: {name}{}", self.rejection_suffix),
            )),
            false => Ok(()),
        }
    }

    fn get(&self, id: &Id) -> Result<Value, Value> {
        let found = self.store.get(id).cloned();
        found.ok_or_else(|| status(404, "NotFound", &format!("{:?} {} not found", id.kind, id.name)))
    }
}

fn data_is_immutable(revision: &Value) -> String {
    format!("Invalid value: {}: field is immutable", revision["data"])
}

/// As the API server does when the template changes.
pub fn raise_generation(ds: &mut Value) {
    let generation = ds["metadata"]["generation"].as_i64().expect("a number") + 1;
    ds["metadata"]["generation"] = json!(generation);
    ds["metadata"]["annotations"]["deprecated.daemonset.template.generation"] = json!(generation.to_string());
}

fn check_precondition(field: &str, wanted: &Value, object: &Value) -> Result<(), Value> {
    let now = &object["metadata"][field];
    let word = if field == "uid" { "UID" } else { field };
    match wanted.is_null() || wanted == now {
        true => Ok(()),
        // v1.36 storage/interfaces.go Preconditions.Check
        false => Err(status(
            409,
            "Conflict",
            &format!(
                "Precondition failed: {word} in precondition: {}, {word} in object meta: {}",
                text(wanted),
                text(now)
            ),
        )),
    }
}

/// Whether the selectors of the request match the object: one label `key=value`, and the node of a pod.
pub fn is_selected(object: &Value, request: &ApiRequest) -> bool {
    if let Some(field) = request.query.get("fieldSelector") {
        let node = field.strip_prefix("spec.nodeName=").expect("the only field");
        if object["spec"]["nodeName"] != node {
            return false;
        }
    }
    let selector = request.query.get("labelSelector").and_then(|selector| selector.split_once('='));
    selector.is_none_or(|(key, value)| object["metadata"]["labels"][key] == value)
}
