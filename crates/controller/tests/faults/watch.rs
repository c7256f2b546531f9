//! Watches: each change from a version on, later than it was where they lag, and to their end when they are broken off.

use crate::api::{Api, Asked, State, is_chosen};
use crate::faults::status;
use crate::store::{Change, What};
use axum::body::{Body, Bytes};
use futures::stream;
use http::Response;
use serde_json::{Value, json};
use std::time::Duration;
use tokio::time::{Instant, sleep_until};

struct Watch {
    api: Api,
    asked: Asked,
    /// The last version that was told.
    told: u64,
    epoch: u32,
    ends: Instant,
}

enum Next {
    Line(Value),
    /// Until then there is nothing to tell.
    Wait(Instant),
    /// The server ends it, as it does every few minutes.
    End,
    BrokenOff,
}

pub fn answer(api: Api, asked: &Asked) -> Response<Body> {
    let number = |key: &str| asked.query.get(key).and_then(|text| text.parse::<u64>().ok()).unwrap_or(0);
    let (told, epoch, compacted) = {
        let state = api.state();
        (number("resourceVersion"), state.epoch, state.compacted)
    };
    if told < compacted {
        return Response::new(gone());
    }
    let ends = Instant::now() + Duration::from_secs(number("timeoutSeconds").max(1));
    let asked = Asked { query: asked.query.clone(), name: String::new(), body: Value::Null, ..*asked };
    let watch = Watch { api, asked, told, epoch, ends };
    let lines = stream::unfold(watch, |mut watch| async move { Some((watch.next().await?, watch)) });
    Response::new(Body::from_stream(lines))
}

/// History from then on is no longer there.
pub fn gone() -> Body {
    let gone = status(410, "Expired", "too old resource version");
    Body::from(line(&json!({"type": "ERROR", "object": gone})))
}

fn line(event: &Value) -> String {
    format!("{event}\n")
}

impl Watch {
    async fn next(&mut self) -> Option<Result<Bytes, std::io::Error>> {
        let mut changed = self.api.state().store.changed.subscribe();
        loop {
            changed.mark_unchanged();
            let next = self.look();
            match next {
                Next::Line(event) => return Some(Ok(Bytes::from(line(&event)))),
                Next::Wait(at) => tokio::select! { _ = changed.changed() => {}, () = sleep_until(at) => {} },
                Next::End => return None,
                Next::BrokenOff => {
                    // An error, and then the end.
                    self.ends = Instant::now();
                    self.epoch = self.api.state().epoch;
                    return Some(Err(std::io::ErrorKind::ConnectionReset.into()));
                }
            }
        }
    }

    fn look(&mut self) -> Next {
        let api = self.api.clone();
        let state = api.state();
        let now = Instant::now();
        if state.epoch != self.epoch {
            return Next::BrokenOff;
        }
        if now >= self.ends {
            return Next::End;
        }
        let Some(change) = self.upcoming(&state) else { return Next::Wait(self.ends) };
        let due = change.at + state.lag.get(&self.asked.kind).copied().unwrap_or_default();
        if due > now {
            return Next::Wait(due.min(self.ends));
        }
        self.told = change.version;
        let word = match change.what {
            What::Added => "ADDED",
            What::Modified => "MODIFIED",
            What::Deleted => "DELETED",
        };
        Next::Line(json!({"type": word, "object": change.object}))
    }

    fn upcoming<'s>(&self, state: &'s State) -> Option<&'s Change> {
        let log = &state.store.log;
        // Versions count from 1 without gaps.
        let new = log.get(usize::try_from(self.told).unwrap_or(usize::MAX)..).unwrap_or_default();
        new.iter().find(|change| change.id.kind == self.asked.kind && is_chosen(&change.object, &self.asked))
    }
}
