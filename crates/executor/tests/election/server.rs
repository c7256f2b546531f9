//! An API server with one lease and several clients, each with its own faults.

use crate::fault::{Fault, not_connected, status};
use crate::machine::{Machine, clock};
use daemonset_executor::lease::{Election, Leadership, LeaseConfig, RenewDeadline};
use http::{Method, Request, Response};
use http_body_util::{BodyExt, Full};
use hyper::body::Bytes;
use kube::Client;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;
use tokio::time::{Instant, sleep};
use tower::{BoxError, service_fn};

pub const NAME: &str = "my-operator";
const PATH: &str = "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases";

#[derive(Default)]
pub struct State {
    pub lease: Option<Value>,
    pub has_no_namespace: bool,
    /// The fault of all requests of a client.
    pub faults: BTreeMap<usize, Fault>,
    /// Delays responses, and injects a fault into every tenth call.
    pub random: Option<fastrand::Rng>,
    pub happened: BTreeSet<Fault>,
    /// Each stored holder with its instant.
    pub stored: Vec<(Instant, String)>,
    /// The clients that have read this lease since it was created.
    pub has_read: BTreeSet<usize>,
    version: u64,
}

/// The election of a process that runs on this machine.
pub fn election(machine: &Machine) -> Election {
    let deadline = RenewDeadline::new(machine.clock());
    Election::new(LeaseConfig::new("kube-system", NAME)).with_deadline(deadline).with_clock(clock())
}

#[derive(Clone, Default)]
pub struct LeaseServer(Arc<Mutex<State>>);

impl LeaseServer {
    pub fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().expect("a panic ends the test")
    }

    /// The client of one process.
    pub fn client(&self, number: usize) -> Client {
        let api = self.clone();
        Client::new(service_fn(move |request| api.clone().respond(number, request)), "default")
    }

    /// The leadership of one process, once it has it.
    pub async fn leader(&self, number: usize) -> Leadership {
        election(&Machine::default()).acquire(self.client(number)).await.expect("no panic")
    }

    /// Stores a lease of another client.
    pub fn put(&self, spec: &Value) {
        let mut state = self.state();
        let lease = json!({"apiVersion": "coordination.k8s.io/v1", "kind": "Lease", "spec": spec,
            "metadata": {"name": NAME, "namespace": "kube-system", "uid": "of-another"}});
        state.store(lease);
    }

    pub fn change(&self, change: impl FnOnce(&mut Value)) {
        let mut state = self.state();
        if let Some(mut lease) = state.lease.clone() {
            change(&mut lease);
            state.store(lease);
        }
    }

    pub fn spec(&self) -> Value {
        self.state().lease.as_ref().map(|lease| lease["spec"].clone()).unwrap_or_default()
    }

    pub fn last_stored(&self) -> Instant {
        self.state().stored.last().expect("something was stored").0
    }

    async fn respond(
        self,
        client: usize,
        request: Request<kube::client::Body>,
    ) -> Result<Response<Full<Bytes>>, BoxError> {
        let (head, body) = request.into_parts();
        let body: Value = serde_json::from_slice(&body.collect().await?.to_bytes()).unwrap_or_default();
        let start = Instant::now();
        let (fault, before, after) = self.state().draw(client);
        // A request that has arrived is executed, even if its client has given it up.
        let api = self.clone();
        let is_done = fault.is_none_or(Fault::comes_afterwards);
        let done = tokio::spawn(async move {
            sleep(before).await;
            is_done.then(|| api.state().execute(&head.method, head.uri.path(), &body))
        });
        let done = done.await?;
        sleep(after).await;
        let rejected = |code, reason: &str| Ok(response(&status(code, reason, "injected fault")));
        match fault {
            Some(Fault::Forbidden) => rejected(403, "Forbidden"),
            Some(Fault::Error | Fault::ErrorAfterwards) => rejected(500, "InternalError"),
            Some(Fault::Silent | Fault::SilentAfterwards) => {
                sleep(Duration::from_secs(1_000_000)).await;
                Err("at the end of time".into())
            }
            Some(Fault::NotConnected) => Err(not_connected().await),
            Some(_) => Err("connection reset by peer".into()),
            None => {
                let object = done.unwrap_or_default();
                if start.elapsed() < Duration::from_secs(4) {
                    self.state().read_by(client, &object);
                }
                Ok(response(&object))
            }
        }
    }
}

fn response(object: &Value) -> Response<Full<Bytes>> {
    let code = object["code"].as_u64().and_then(|code| code.try_into().ok()).unwrap_or(200);
    Response::builder().status(code).body(Full::from(object.to_string())).expect("a response")
}

impl State {
    /// The fault of a request, and its delays before and after it is executed.
    fn draw(&mut self, client: usize) -> (Option<Fault>, Duration, Duration) {
        let quick = Duration::from_millis(2);
        let mut fault = self.faults.get(&client).copied();
        let mut pauses = (quick, quick);
        if let Some(rng) = &mut self.random {
            let mut pause = || {
                let longest = if rng.u32(..30) == 0 { 8_000 } else { 100 };
                Duration::from_millis(rng.u64(1..longest))
            };
            pauses = (pause(), pause());
            if fault.is_none() && rng.u32(..10) == 0 {
                fault = rng.choice(Fault::ALL.iter()).copied();
            }
        }
        self.happened.extend(fault);
        (fault, pauses.0, pauses.1)
    }

    fn read_by(&mut self, client: usize, object: &Value) {
        let uid = |lease: &Value| lease["metadata"]["uid"].clone();
        if self.lease.as_ref().is_some_and(|lease| uid(lease) == uid(object)) {
            self.has_read.insert(client);
        }
    }

    fn execute(&mut self, method: &Method, path: &str, body: &Value) -> Value {
        match (method, path.strip_prefix(PATH)) {
            (&Method::GET, Some("/my-operator")) => self.lease.clone().unwrap_or_else(not_found),
            (&Method::POST, Some("")) if self.has_no_namespace => not_found(),
            (&Method::POST, Some("")) if self.lease.is_some() => {
                status(409, "AlreadyExists", "leases.coordination.k8s.io already exists")
            }
            (&Method::POST, Some("")) => self.created(body),
            (&Method::PUT, Some("/my-operator")) => self.updated(body),
            other => panic!("an unknown call {other:?}"),
        }
    }

    fn created(&mut self, lease: &Value) -> Value {
        let mut lease = lease.clone();
        self.has_read.clear();
        lease["metadata"]["uid"] = json!(format!("uid-{}", self.version));
        self.store(lease)
    }

    /// As v1.36 `registry/store.go` `Update`: a lease may be created by one, unless it has a uid.
    fn updated(&mut self, lease: &Value) -> Value {
        let was = |field: &str| lease["metadata"][field].clone();
        let Some(stored) = &self.lease else {
            return match was("uid") {
                Value::Null => self.created(lease),
                _ => status(409, "Conflict", "Precondition failed: UID in object meta: "),
            };
        };
        let differs = |field: &str| !was(field).is_null() && was(field) != stored["metadata"][field];
        match differs("uid") || differs("resourceVersion") {
            true => status(409, "Conflict", "the object has been modified"),
            false => self.store(lease.clone()),
        }
    }

    fn store(&mut self, mut lease: Value) -> Value {
        self.version += 1;
        lease["metadata"]["resourceVersion"] = json!(self.version.to_string());
        let holder = lease["spec"]["holderIdentity"].as_str().unwrap_or_default().to_owned();
        self.stored.push((Instant::now(), holder));
        self.lease = Some(lease.clone());
        lease
    }
}

fn not_found() -> Value {
    status(404, "NotFound", "not found")
}
