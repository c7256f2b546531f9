//! An API server in this process: paths and verbs, what is stored, and what goes wrong on purpose.

use crate::faults::{Call, FOR_EVER, Fault, Faults, Verb, status};
use crate::patch;
use crate::pods::node_of;
use crate::store::{By, Id, Kind, Store, id, text};
use crate::watch;
use axum::body::Body;
use daemonset_controller::clock::Clock;
use http::{Method, Request, Response};
use http_body_util::BodyExt;
use kube::Client;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;
use tokio::time::{Instant, sleep};
use tower::{BoxError, service_fn};

pub const NAMESPACE: &str = "monitoring";
/// How long a call takes, and a pod to end.
const LATENCY: Duration = Duration::from_millis(2);
const GRACE: Duration = Duration::from_secs(1);

pub struct State {
    pub store: Store,
    pub faults: Faults,
    pub calls: Vec<Call>,
    /// Events that were recorded about a DaemonSet: reasons.
    pub events: Vec<String>,
    /// How far each kind's watches are behind, and lists.
    pub lag: BTreeMap<Kind, Duration>,
    pub list_lag: Duration,
    /// Watches of another epoch break off.
    pub epoch: u32,
    /// Watches from before this version are answered 410.
    pub compacted: u64,
    pub terminating: bool,
    /// A policy refuses pods for these nodes, and the deletion of these pods.
    pub refused: BTreeSet<String>,
}

#[derive(Clone)]
pub struct Api(Arc<Mutex<State>>);

/// One request, taken apart.
pub struct Asked {
    pub verb: Verb,
    pub kind: Kind,
    pub name: String,
    pub query: BTreeMap<String, String>,
    pub body: Value,
}

/// An answer, or none at all.
pub type Answered = Result<Response<Body>, BoxError>;

impl Api {
    pub fn new(clock: Clock) -> Self {
        Api(Arc::new(Mutex::new(State {
            store: Store::new(clock),
            faults: Faults::default(),
            calls: Vec::new(),
            events: Vec::new(),
            lag: BTreeMap::new(),
            list_lag: Duration::ZERO,
            epoch: 0,
            compacted: 0,
            terminating: false,
            refused: BTreeSet::new(),
        })))
    }

    pub fn client(&self) -> Client {
        let api = self.clone();
        Client::new(service_fn(move |request| api.clone().answer(request)), NAMESPACE)
    }

    pub fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().expect("no test goes on after a panic")
    }

    async fn answer(self, request: Request<kube::client::Body>) -> Answered {
        let asked = asked(request).await?;
        self.state().calls.push(Call { verb: asked.verb, kind: asked.kind });
        sleep(LATENCY).await;
        let fault = self.state().faults.strike(asked.verb, asked.kind);
        match fault {
            None => self.done(&asked),
            Some(Fault::BrokenLongBefore) => {
                let broken = wrong(Fault::Broken, &asked).await;
                tokio::spawn(async move {
                    sleep(Duration::from_secs(55)).await;
                    self.done(&asked)
                });
                broken
            }
            Some(fault) if fault.comes_afterwards() => {
                let _ = self.done(&asked);
                wrong(fault, &asked).await
            }
            Some(fault) => wrong(fault, &asked).await,
        }
    }

    fn done(&self, asked: &Asked) -> Answered {
        if asked.verb == Verb::Watch {
            return Ok(watch::answer(self.clone(), asked));
        }
        Ok(match self.state().done(asked) {
            Ok(object) => json_answer(200, object),
            Err(refused) => json_answer(code(&refused), refused),
        })
    }
}

fn code(status: &Value) -> u16 {
    status["code"].as_u64().and_then(|code| code.try_into().ok()).unwrap_or(500)
}

fn json_answer(code: u16, body: Value) -> Response<Body> {
    Response::builder().status(code).body(Body::from(body.to_string())).expect("an answer")
}

async fn asked(request: Request<kube::client::Body>) -> Result<Asked, BoxError> {
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
        ["namespaces", namespace, path @ ..] => {
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
        (&Method::PATCH, _, "") => Verb::Patch,
        (&Method::DELETE, _, "") => Verb::Delete,
        (&Method::PUT, _, "status") => Verb::UpdateStatus,
        other => panic!("an unknown call {other:?}"),
    };
    let kind = match kind {
        "daemonsets" => Kind::DaemonSet,
        "pods" => Kind::Pod,
        "nodes" => Kind::Node,
        "controllerrevisions" => Kind::Revision,
        "events" => Kind::Event,
        other => panic!("an unknown kind {other}"),
    };
    let body = serde_json::from_slice(&bytes).unwrap_or_default();
    Ok(Asked { verb, kind, name: name.to_owned(), query, body })
}

/// What comes instead of an answer.
async fn wrong(fault: Fault, asked: &Asked) -> Answered {
    let refused = |code, reason, message: &str| Ok(json_answer(code, status(code, reason, message)));
    match fault {
        Fault::Conflict => refused(409, "Conflict", "the object has been modified"),
        Fault::Forbidden => refused(403, "Forbidden", "exceeded quota"),
        Fault::TooManyRequests(seconds) => {
            let mut answer = json_answer(429, status(429, "TooManyRequests", "too many requests"));
            answer.headers_mut().insert("retry-after", seconds.into());
            Ok(answer)
        }
        Fault::Unavailable => refused(503, "ServiceUnavailable", "apiserver is shutting down"),
        Fault::UnavailableAfterwards => Ok(Response::builder()
            .status(503)
            .body(Body::from("upstream connect error or disconnect/reset before headers"))?),
        Fault::Error | Fault::ErrorAfterwards => {
            refused(500, "InternalError", "Internal error occurred: etcdserver: request timed out")
        }
        Fault::Gone => Ok(Response::new(watch::gone())),
        Fault::NotConnected => Err(not_connected().await),
        Fault::Broken | Fault::BrokenAfterwards | Fault::BrokenLongBefore => {
            Err(format!("connection reset by peer: {:?} {:?}", asked.verb, asked.kind).into())
        }
        Fault::Silent | Fault::SilentAfterwards => {
            sleep(FOR_EVER).await;
            Err("at the end of time".into())
        }
    }
}

/// The very error that the client has when nobody listens.
pub async fn not_connected() -> BoxError {
    type Io = hyper_util::rt::TokioIo<tokio::net::TcpStream>;
    let refuses = service_fn(|_: http::Uri| {
        std::future::ready(Err::<Io, _>(std::io::Error::from(std::io::ErrorKind::ConnectionRefused)))
    });
    let client = hyper_util::client::legacy::Client::builder(hyper_util::rt::TokioExecutor::new())
        .build::<_, kube::client::Body>(refuses);
    let request = Request::get("http://10.0.0.1/").body(kube::client::Body::empty()).expect("a request");
    Box::new(client.request(request).await.expect_err("nobody listens"))
}

impl State {
    fn done(&mut self, asked: &Asked) -> Result<Value, Value> {
        let id = id(asked.kind, &asked.name);
        match asked.verb {
            Verb::List => Ok(self.list(asked)),
            Verb::Watch => unreachable!("a watch is no single answer"),
            Verb::Create => self.create(asked),
            Verb::Get => self.found(&id),
            Verb::Patch => {
                let mut object = self.found(&id)?;
                let uid = &asked.body["metadata"]["uid"];
                if !uid.is_null() && *uid != object["metadata"]["uid"] {
                    return Err(status(422, "Invalid", "metadata.uid: Invalid value: field is immutable"));
                }
                patch::apply(&mut object, &asked.body);
                Ok(self.store.put(By::Controller, id, object))
            }
            Verb::Delete => self.delete(&id, &asked.body["preconditions"]),
            Verb::UpdateStatus => {
                let mut object = self.found(&id)?;
                same("uid", &asked.body["metadata"]["uid"], &object)?;
                same("resourceVersion", &asked.body["metadata"]["resourceVersion"], &object)?;
                object["status"] = asked.body["status"].clone();
                Ok(self.store.put(By::Controller, id, object))
            }
        }
    }

    fn list(&self, asked: &Asked) -> Value {
        let version = match self.list_lag {
            Duration::ZERO => self.store.version(),
            lag => self.store.version_at(Instant::now() - lag),
        };
        let mut items = self.store.as_of(version, asked.kind);
        items.retain(|object| is_chosen(object, asked));
        json!({"kind": "List", "apiVersion": "v1", "metadata": {"resourceVersion": version.to_string()},
            "items": items})
    }

    fn create(&mut self, asked: &Asked) -> Result<Value, Value> {
        if self.terminating {
            let mut refused =
                status(403, "Forbidden", "unable to create new content because it is being terminated");
            refused["details"] = json!({"causes": [{"reason": "NamespaceTerminating",
                "message": "namespace is being terminated", "field": "metadata.namespace"}]});
            return Err(refused);
        }
        if asked.kind == Kind::Event {
            self.events.push(text(&asked.body["reason"]).to_owned());
            return Ok(asked.body.clone());
        }
        if asked.kind == Kind::Pod {
            self.allowed(node_of(&asked.body))?;
        }
        let name = text(&asked.body["metadata"]["name"]);
        if self.store.get(&id(asked.kind, name)).is_some() {
            return Err(status(409, "AlreadyExists", &format!("{name} already exists")));
        }
        Ok(self.store.create(By::Controller, asked.kind, asked.body.clone()))
    }

    fn delete(&mut self, id: &Id, preconditions: &Value) -> Result<Value, Value> {
        let mut object = self.found(id)?;
        self.allowed(&id.name)?;
        same("uid", &preconditions["uid"], &object)?;
        same("resourceVersion", &preconditions["resourceVersion"], &object)?;
        // A pod that no kubelet has needs no time.
        if id.kind != Kind::Pod || object["spec"]["nodeName"].is_null() {
            return Ok(self.store.remove(By::Controller, id));
        }
        if object["metadata"]["deletionTimestamp"].is_null() {
            let ends = self.store.clock.now() + GRACE;
            object["metadata"]["deletionTimestamp"] = json!(ends.to_string());
        }
        Ok(self.store.put(By::Controller, id.clone(), object))
    }

    fn allowed(&self, name: &str) -> Result<(), Value> {
        match self.refused.contains(name) {
            true => Err(status(403, "Forbidden", &format!("the policy denied the request: {name}"))),
            false => Ok(()),
        }
    }

    fn found(&self, id: &Id) -> Result<Value, Value> {
        let found = self.store.get(id).cloned();
        found.ok_or_else(|| status(404, "NotFound", &format!("{:?} {} not found", id.kind, id.name)))
    }
}

fn same(field: &str, wanted: &Value, object: &Value) -> Result<(), Value> {
    let now = &object["metadata"][field];
    match wanted.is_null() || wanted == now {
        true => Ok(()),
        false => Err(status(409, "Conflict", &format!("{field} in the precondition: {wanted}, now {now}"))),
    }
}

/// Whether the label selector, one `key=value`, chooses it.
pub fn is_chosen(object: &Value, asked: &Asked) -> bool {
    let selector = asked.query.get("labelSelector").and_then(|selector| selector.split_once('='));
    selector.is_none_or(|(key, value)| object["metadata"]["labels"][key] == value)
}
