//! An API server on a port of this machine, for the program: it has a lease, one DaemonSet, and the nodes that the test adds.
//! It answers creates of pods only when the test lets it.

use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::PathBuf;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Condvar, Mutex};
use std::time::{Duration, Instant};

/// How long the program may take for anything: a test that waits longer has failed.
const LIMIT: Duration = Duration::from_secs(60);

#[derive(Default)]
struct State {
    nodes: Vec<Value>,
    /// Null before it is created.
    lease: Value,
    version: u64,
    /// Creates of pods that may be answered.
    answers: usize,
}

pub struct Api {
    port: u16,
    shared: Arc<(Mutex<State>, Condvar)>,
    /// `METHOD /path` of each write but events, and the holder of each lease.
    writes: Receiver<String>,
}

impl Api {
    /// Listens for the program.
    pub fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let shared: Arc<(Mutex<State>, Condvar)> = Arc::default();
        let (report, writes) = channel();
        let of_listener = shared.clone();
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let connection = Connection { shared: of_listener.clone(), report: report.clone() };
                std::thread::spawn(move || connection.serve(stream));
            }
        });
        Api { port, shared, writes }
    }

    /// A kubeconfig that names it.
    pub fn kubeconfig(&self, name: &str) -> PathBuf {
        crate::kubeconfig(name, &format!("http://127.0.0.1:{}", self.port))
    }

    /// Adds nodes.
    pub fn add_nodes(&self, count: usize) {
        let mut state = self.shared.0.lock().unwrap();
        for _ in 0..count {
            state.version += 1;
            let (name, version) = (format!("n{}", state.version), state.version.to_string());
            state.nodes.push(json!({"apiVersion": "v1", "kind": "Node",
                "metadata": {"name": name, "resourceVersion": version}, "spec": {},
                "status": {"conditions": [{"type": "Ready", "status": "True"}]}}));
        }
        self.shared.1.notify_all();
    }

    /// Lets it answer so many more creates of pods.
    pub fn answer(&self, creates: usize) {
        self.shared.0.lock().unwrap().answers += creates;
        self.shared.1.notify_all();
    }

    /// The next write of the program that contains this text.
    pub fn wait_for(&self, text: &str) -> String {
        let begin = Instant::now();
        loop {
            let left = LIMIT.saturating_sub(begin.elapsed());
            let write = self.writes.recv_timeout(left).unwrap_or_else(|_| panic!("no {text}"));
            if write.contains(text) {
                return write;
            }
        }
    }

    /// Whether the lease has no holder any more.
    pub fn given_back(&self) -> bool {
        self.shared.0.lock().unwrap().lease["spec"]["holderIdentity"] == ""
    }

    /// The writes so far that no one has waited for.
    pub fn rest(&self) -> Vec<String> {
        self.writes.try_iter().collect()
    }
}

struct Connection {
    shared: Arc<(Mutex<State>, Condvar)>,
    report: Sender<String>,
}

impl Connection {
    fn serve(self, stream: TcpStream) {
        let mut reader = BufReader::new(stream.try_clone().unwrap());
        while let Some((method, path, body)) = request(&mut reader) {
            if path.contains("watch=") {
                self.watch(&path, stream);
                return;
            }
            let (code, body) = self.response(&method, &path, body);
            let body = body.to_string();
            let head = format!(
                "HTTP/1.1 {code} \r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n",
                body.len()
            );
            if (&stream).write_all((head + &body).as_bytes()).is_err() {
                return;
            }
        }
    }

    fn response(&self, method: &str, path: &str, mut body: Value) -> (u16, Value) {
        if method != "GET" && !path.contains("/events") {
            let holder = body["spec"]["holderIdentity"].as_str();
            let _ = self
                .report
                .send(holder.map_or(format!("{method} {path}"), |holder| format!("lease {holder}")));
        }
        let mut state = self.shared.0.lock().unwrap();
        state.version += 1;
        match method {
            "GET" if path.contains("/leases") && state.lease.is_object() => (200, state.lease.clone()),
            "GET" if path.contains("/leases") => {
                (404, json!({"kind": "Status", "status": "Failure", "reason": "NotFound", "code": 404}))
            }
            "GET" => (200, list(&state, path)),
            _ => {
                body["metadata"]["resourceVersion"] = json!(state.version.to_string());
                body["metadata"]["uid"] = json!(format!("uid-{}", state.version));
                if path.contains("/leases") {
                    state.lease = body.clone();
                }
                if path.contains("/pods") {
                    body["metadata"]["name"] = json!(format!("agent-{}", state.version));
                    let mut state = self.shared.1.wait_while(state, |state| state.answers == 0).unwrap();
                    state.answers -= 1;
                }
                (201, body)
            }
        }
    }

    /// Sends each node that is added, and nothing of other kinds.
    fn watch(&self, path: &str, mut stream: TcpStream) {
        let head = "HTTP/1.1 200 \r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n";
        // A node may have been added after the list.
        let since =
            path.split_once("resourceVersion=").map(|(_, rest)| rest.split('&').next().unwrap_or_default());
        let since: u64 = since.and_then(|version| version.parse().ok()).unwrap_or(0);
        let is_listed = |node: &Value| {
            node["metadata"]["resourceVersion"].as_str().unwrap().parse::<u64>().unwrap() <= since
        };
        let mut sent = self.shared.0.lock().unwrap().nodes.partition_point(is_listed);
        let mut is_open = stream.write_all(head.as_bytes()).is_ok();
        while is_open {
            let state = self.shared.0.lock().unwrap();
            let is_quiet = |state: &mut State| !path.contains("/nodes") || state.nodes.len() == sent;
            let state = self.shared.1.wait_while(state, is_quiet).unwrap();
            for node in &state.nodes[sent..] {
                // The type comes first, as the API server sends it.
                let event = format!("{{\"type\":\"ADDED\",\"object\":{node}}}\n");
                is_open &= write!(stream, "{:x}\r\n{event}\r\n", event.len()).is_ok();
            }
            sent = state.nodes.len();
        }
    }
}

/// Method, path with query, and body of the next request; `None` at the end of the connection.
fn request(reader: &mut BufReader<TcpStream>) -> Option<(String, String, Value)> {
    let mut head = Vec::new();
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line).ok()? == 0 {
            return None;
        }
        if line.trim().is_empty() {
            break;
        }
        head.push(line.trim().to_owned());
    }
    let (method, path) = head.first()?.split_once(' ')?;
    let length =
        head.iter().find_map(|line| line.to_lowercase().strip_prefix("content-length: ")?.parse().ok());
    let mut body = vec![0; length.unwrap_or(0)];
    reader.read_exact(&mut body).ok()?;
    let path = path.split(' ').next().unwrap_or_default();
    Some((method.to_owned(), path.to_owned(), serde_json::from_slice(&body).unwrap_or_default()))
}

fn list(state: &State, path: &str) -> Value {
    let items = match path {
        _ if path.contains("/nodes") => json!(state.nodes),
        _ if path.contains("/daemonsets") => json!([{
            "apiVersion": "apps/v1", "kind": "DaemonSet",
            "metadata": {"name": "agent", "namespace": "ns", "uid": "u", "generation": 1, "resourceVersion": "1"},
            "spec": {
                "selector": {"matchLabels": {"app": "agent"}},
                "template": {"metadata": {"labels": {"app": "agent"}}, "spec": {"containers": []}},
                "updateStrategy": {"type": "RollingUpdate", "rollingUpdate": {"maxUnavailable": 1, "maxSurge": 0}},
            },
            "status": {},
        }]),
        _ => json!([]),
    };
    json!({"kind": "List", "apiVersion": "v1", "metadata": {"resourceVersion": state.version.to_string()}, "items": items})
}
