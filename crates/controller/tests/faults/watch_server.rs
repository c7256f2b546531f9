//! The API server's watches: they send each change from a version on, late if the kind lags, until they end or break.

use crate::api_server::{ApiRequest, ApiServer, State, is_selected};
use crate::bytes::sent;
use crate::faults::{FOREVER, status};
use crate::store::{Change, ChangeKind};
use axum::body::{Body, Bytes};
use futures::stream;
use http::Response;
use serde_json::Value;
use std::time::Duration;
use tokio::time::{Instant, sleep_until};

struct Watch {
    api: ApiServer,
    request: ApiRequest,
    /// The last version that was sent.
    sent: u64,
    epoch: u32,
    ends: Instant,
}

enum Next {
    Line(Vec<u8>),
    /// No change is due before this instant.
    Wait(Instant),
    /// The server ends the watch, as it does every few minutes.
    End,
    Broken,
}

pub fn respond(api: ApiServer, request: &ApiRequest) -> Response<Body> {
    let number = |key: &str| request.query.get(key).and_then(|text| text.parse::<u64>().ok()).unwrap_or(0);
    let (sent, epoch, compacted) = {
        let state = api.state();
        (number("resourceVersion"), state.epoch, state.compacted)
    };
    if sent < compacted {
        return Response::new(gone());
    }
    let ends = Instant::now() + Duration::from_secs(number("timeoutSeconds").max(1));
    let request = ApiRequest {
        query: request.query.clone(),
        name: String::new(),
        body: Value::Null,
        text: String::new(),
        ..*request
    };
    let watch = Watch { api, request, sent, epoch, ends };
    let lines = stream::unfold(watch, |mut watch| async move { Some((watch.next().await?, watch)) });
    Response::new(Body::from_stream(lines))
}

/// The response 410: the history from that version on is compacted.
pub fn gone() -> Body {
    let gone = status(410, "Expired", "too old resource version");
    Body::from(line("ERROR", &gone))
}

/// The type comes first, as in Kubernetes.
fn line(event_type: &str, object: &Value) -> Vec<u8> {
    let begin = format!("{{\"type\":\"{event_type}\",\"object\":");
    [begin.as_bytes(), &sent(object), b"}\n"].concat()
}

impl Watch {
    async fn next(&mut self) -> Option<Result<Bytes, std::io::Error>> {
        let mut changed = self.api.state().store.changed.subscribe();
        loop {
            changed.mark_unchanged();
            let next = self.next_step();
            match next {
                Next::Line(line) => return Some(Ok(Bytes::from(line))),
                Next::Wait(at) => tokio::select! { _ = changed.changed() => {}, () = sleep_until(at) => {} },
                Next::End => return None,
                Next::Broken => {
                    // The next call ends the stream.
                    self.ends = Instant::now();
                    self.epoch = self.api.state().epoch;
                    return Some(Err(std::io::ErrorKind::ConnectionReset.into()));
                }
            }
        }
    }

    fn next_step(&mut self) -> Next {
        let api = self.api.clone();
        let mut state = api.state();
        let now = Instant::now();
        if self.epoch < state.half_open {
            return Next::Wait(now + FOREVER);
        }
        if state.epoch != self.epoch {
            return Next::Broken;
        }
        if now >= self.ends {
            return Next::End;
        }
        let Some(change) = self.upcoming(&state) else { return Next::Wait(self.ends) };
        let due = change.at + state.lag.get(&self.request.kind).copied().unwrap_or_default();
        if due > now {
            return Next::Wait(due.min(self.ends));
        }
        self.sent = change.version;
        let word = match change.change_kind {
            ChangeKind::Added => "ADDED",
            ChangeKind::Modified => "MODIFIED",
            ChangeKind::Deleted => "DELETED",
        };
        let line = line(word, &change.object);
        match state.garbled.remove(&self.request.kind) {
            true => Next::Line(b"{\"type\":\"MODIFIED\",\"object\":}\n".to_vec()),
            false => Next::Line(line),
        }
    }

    fn upcoming<'s>(&self, state: &'s State) -> Option<&'s Change> {
        let log = &state.store.log;
        // Versions count from 1 without gaps, so that a version is the position of the next change.
        let new = log.get(usize::try_from(self.sent).unwrap_or(usize::MAX)..).unwrap_or_default();
        new.iter()
            .find(|change| change.id.kind == self.request.kind && is_selected(&change.object, &self.request))
    }
}
