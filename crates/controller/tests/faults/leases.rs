//! An API server that has one lease, and several who ask for it: what is stored, and what goes wrong with whom.

use crate::faults::{FOR_EVER, Fault, status};
use axum::body::Body;
use clap::Parser;
use daemonset_controller::args::Args;
use daemonset_controller::leader_election::{Leadership, Standby};
use daemonset_controller::lease::LeaseLock;
use http::{Method, Request, Response};
use http_body_util::BodyExt;
use kube::Client;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;
use tokio::time::{Instant, sleep};
use tower::{BoxError, service_fn};

const PATH: &str = "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases";

#[derive(Default)]
pub struct State {
    pub lease: Option<Value>,
    pub has_no_namespace: bool,
    /// What goes wrong with all that one asks for.
    pub faults: BTreeMap<usize, Fault>,
    /// Answers take their time, and every tenth call goes wrong.
    pub random: Option<fastrand::Rng>,
    pub happened: BTreeSet<Fault>,
    /// When which holder was stored.
    pub stored: Vec<(Instant, String)>,
    /// Who has seen this lease since it was made.
    pub has_seen: BTreeSet<usize>,
    version: u64,
}

#[derive(Clone, Default)]
pub struct Leases(Arc<Mutex<State>>);

impl Leases {
    pub fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().expect("no test goes on after a panic")
    }

    /// One more who wants it.
    pub fn lock(&self, who: usize) -> LeaseLock {
        let api = self.clone();
        let service = service_fn(move |request| api.clone().answer(who, request));
        let args = Args::parse_from(["daemonset-controller", "--lease-seconds=15"]);
        LeaseLock::new(Client::new(service, "default"), crate::cluster::clock(), &args)
    }

    /// One more who gets it, sooner or later.
    pub async fn leader(&self, who: usize) -> Leadership {
        Leadership::acquire(self.lock(who), &Standby::default()).await
    }

    /// As somebody else writes it.
    pub fn put(&self, spec: &Value) {
        let mut state = self.state();
        let lease = json!({"apiVersion": "coordination.k8s.io/v1", "kind": "Lease", "spec": spec,
            "metadata": {"name": "daemonset-controller", "namespace": "kube-system", "uid": "of-another"}});
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

    async fn answer(
        self,
        who: usize,
        request: Request<kube::client::Body>,
    ) -> Result<Response<Body>, BoxError> {
        let (head, body) = request.into_parts();
        let body: Value = serde_json::from_slice(&body.collect().await?.to_bytes()).unwrap_or_default();
        let begun = Instant::now();
        let (fault, before, after) = self.state().luck(who);
        // What has arrived is done, though nobody waits for the answer any more.
        let api = self.clone();
        let is_done = fault.is_none_or(Fault::comes_afterwards);
        let done = tokio::spawn(async move {
            sleep(before).await;
            is_done.then(|| api.state().done(&head.method, head.uri.path(), &body))
        });
        let done = done.await?;
        sleep(after).await;
        let refused = |code, reason: &str| Ok(answer(&status(code, reason, "went wrong on purpose")));
        match fault {
            Some(Fault::Forbidden) => refused(403, "Forbidden"),
            Some(Fault::Error | Fault::ErrorAfterwards) => refused(500, "InternalError"),
            Some(Fault::Silent | Fault::SilentAfterwards) => {
                sleep(FOR_EVER).await;
                Err("at the end of time".into())
            }
            Some(Fault::NotConnected) => Err(crate::api::not_connected().await),
            Some(_) => Err("connection reset by peer".into()),
            None => {
                let object = done.unwrap_or_default();
                if begun.elapsed() < Duration::from_secs(4) {
                    self.state().seen_by(who, &object);
                }
                Ok(answer(&object))
            }
        }
    }
}

fn answer(object: &Value) -> Response<Body> {
    let code = object["code"].as_u64().and_then(|code| code.try_into().ok()).unwrap_or(200);
    Response::builder().status(code).body(Body::from(object.to_string())).expect("an answer")
}

impl State {
    /// What goes wrong, and how long it takes until it is done, and until that is told.
    fn luck(&mut self, who: usize) -> (Option<Fault>, Duration, Duration) {
        let quick = Duration::from_millis(2);
        let mut fault = self.faults.get(&who).copied();
        let mut pauses = (quick, quick);
        if let Some(rng) = &mut self.random {
            let mut pause = || {
                let longest = if rng.u32(..30) == 0 { 8_000 } else { 100 };
                Duration::from_millis(rng.u64(1..longest))
            };
            pauses = (pause(), pause());
            if fault.is_none() && rng.u32(..10) == 0 {
                fault = rng.choice(FAULTS.iter()).copied();
            }
        }
        self.happened.extend(fault);
        (fault, pauses.0, pauses.1)
    }

    fn seen_by(&mut self, who: usize, object: &Value) {
        let uid = |lease: &Value| lease["metadata"]["uid"].clone();
        if self.lease.as_ref().is_some_and(|lease| uid(lease) == uid(object)) {
            self.has_seen.insert(who);
        }
    }

    fn done(&mut self, method: &Method, path: &str, body: &Value) -> Value {
        match (method, path.strip_prefix(PATH)) {
            (&Method::GET, Some("/daemonset-controller")) => self.lease.clone().unwrap_or_else(not_found),
            (&Method::POST, Some("")) if self.has_no_namespace => not_found(),
            (&Method::POST, Some("")) if self.lease.is_some() => {
                status(409, "AlreadyExists", "leases.coordination.k8s.io already exists")
            }
            (&Method::POST, Some("")) => self.created(body),
            (&Method::PUT, Some("/daemonset-controller")) => self.updated(body),
            other => panic!("an unknown call {other:?}"),
        }
    }

    fn created(&mut self, lease: &Value) -> Value {
        let mut lease = lease.clone();
        self.has_seen.clear();
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

/// What can go wrong with a lease.
pub const FAULTS: [Fault; 8] = [
    Fault::Error,
    Fault::ErrorAfterwards,
    Fault::Forbidden,
    Fault::Silent,
    Fault::SilentAfterwards,
    Fault::NotConnected,
    Fault::Broken,
    Fault::BrokenAfterwards,
];
