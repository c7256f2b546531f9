//! An API server in process: objects by path, and faults by method and path.

use http::{Method, Request, Response};
use http_body_util::BodyExt;
use kube::Client;
use kube::client::Body;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard};
use tower::{BoxError, service_fn};

/// The end of one kind of call.
#[derive(Clone)]
pub enum Fault {
    /// It is done, and the connection breaks.
    LosesAnswer,
    /// It is not done, and the connection breaks.
    Breaks,
    /// It is refused with this `Status`.
    Refuses(Value),
}

#[derive(Default)]
pub struct State {
    /// The objects by their path.
    pub objects: BTreeMap<String, Value>,
    /// Each call that is no read: its method and path.
    pub calls: Vec<String>,
    /// The answers of calls whose line, a method, a path and a body, contains the text, and how many calls have them.
    pub faults: Vec<(&'static str, usize, Fault)>,
    version: u64,
}

#[derive(Clone, Default)]
pub struct Server(Arc<Mutex<State>>);

impl Server {
    pub fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap()
    }

    pub fn fail(&self, line: &'static str, times: usize, fault: Fault) {
        self.state().faults.push((line, times, fault));
    }

    pub fn client(&self) -> Client {
        let server = self.clone();
        let service = service_fn(move |request: Request<Body>| {
            let server = server.clone();
            async move {
                let (head, body) = request.into_parts();
                let body = body.collect().await?.to_bytes();
                let body = serde_json::from_slice(&body).unwrap_or_default();
                server.state().answer(&head.method, &head.uri, body)
            }
        });
        Client::new(service, "agents")
    }
}

impl State {
    fn answer(&mut self, method: &Method, uri: &http::Uri, body: Value) -> Result<Response<Body>, BoxError> {
        let path = uri.path();
        if method != Method::GET {
            self.calls.push(format!("{method} {path}"));
        }
        let line = format!("{method} {path} {body}");
        let fault = self.faults.iter_mut().find(|(text, times, _)| *times > 0 && line.contains(text));
        let fault = fault.map(|(_, times, fault)| {
            *times -= 1;
            fault.clone()
        });
        match fault {
            Some(Fault::Refuses(status)) => return response(status["code"].as_u64().unwrap(), &status),
            Some(Fault::Breaks) => return Err("connection reset by peer".into()),
            Some(Fault::LosesAnswer) | None => {}
        }
        let (code, object) = self.done(method, path, body);
        match fault {
            Some(_) => Err("connection reset by peer".into()),
            None => response(code, &object),
        }
    }

    fn done(&mut self, method: &Method, path: &str, mut body: Value) -> (u64, Value) {
        self.version += 1;
        if method == Method::POST {
            let metadata = &mut body["metadata"];
            let prefix = metadata["generateName"].as_str().unwrap_or_default().to_owned();
            let name = metadata["name"].as_str().map_or(format!("{prefix}{}", self.version), str::to_owned);
            (metadata["uid"], metadata["name"]) = (json!(format!("uid-{name}")), json!(name));
            metadata["resourceVersion"] = json!(self.version.to_string());
            self.objects.insert(format!("{path}/{name}"), body.clone());
            return (201, body);
        }
        if method == Method::GET && path.ends_with('s') && !self.objects.contains_key(path) {
            let below = format!("{path}/");
            let items: Vec<&Value> = self
                .objects
                .iter()
                .filter(|(path, _)| path.starts_with(&below))
                .map(|(_, object)| object)
                .collect();
            return (200, json!({"metadata": {"resourceVersion": self.version.to_string()}, "items": items}));
        }
        let Some(stored) = self.objects.get_mut(path.trim_end_matches("/status")) else {
            return (404, status(404, "NotFound", "not found"));
        };
        if method == Method::PUT {
            stored["status"] = body["status"].clone();
        }
        (200, stored.clone())
    }
}

fn response(code: u64, body: &Value) -> Result<Response<Body>, BoxError> {
    Ok(Response::builder().status(u16::try_from(code)?).body(Body::from(body.to_string().into_bytes()))?)
}

pub fn status(code: u16, reason: &str, message: &str) -> Value {
    json!({"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure",
        "message": message, "reason": reason, "code": code})
}

/// The error that the client has when no server listens.
pub async fn not_connected() -> BoxError {
    type Io = hyper_util::rt::TokioIo<tokio::net::TcpStream>;
    let refuses = service_fn(|_: http::Uri| {
        std::future::ready(Err::<Io, _>(std::io::Error::from(std::io::ErrorKind::ConnectionRefused)))
    });
    let client = hyper_util::client::legacy::Client::builder(hyper_util::rt::TokioExecutor::new())
        .build::<_, Body>(refuses);
    let request = Request::get("http://10.0.0.1/").body(Body::empty()).unwrap();
    Box::new(client.request(request).await.unwrap_err())
}
