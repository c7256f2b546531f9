//! How long each step takes.
#![allow(clippy::disallowed_types, reason = "a stopwatch needs a clock; the library reads none")]

use crate::cluster::{Choice, Input, InputForm, Source};
use crate::shell::console::{self, Stop};
use daemonset::{plan, reconcile};
use serde::Serialize;
use std::hint::black_box;
use std::time::{Duration, Instant};

/// The output; durations are nanoseconds.
#[derive(Serialize)]
struct PlanTimes {
    nodes: usize,
    pods: usize,
    actions: usize,
    /// From bytes to model objects.
    parse: Timings,
    /// Building and checking the snapshot.
    check: Timings,
    reconcile: Timings,
    plan: Timings,
}

#[derive(Serialize)]
pub(super) struct Timings {
    min: u64,
    median: u64,
}

/// Plans the input so many times, at least once, and prints the figures.
pub(crate) fn run(source: &Source, choice: &Choice, times: u32) -> Result<u8, Stop> {
    let stop = |message: String| source.stop(message);
    let bytes = source.bytes().map_err(stop)?;
    let form = InputForm::of(&bytes).map_err(stop)?;
    let input = Input::parse(&bytes, form, choice).map_err(stop)?;
    let snapshot = input.snapshot().map_err(stop)?;
    let report = PlanTimes {
        nodes: input.recording.nodes.len(),
        pods: input.recording.pods.len(),
        actions: reconcile(&snapshot).len(),
        parse: Timings::of(times, || Input::parse(black_box(&bytes), form, choice)),
        check: Timings::of(times, || black_box(&input).snapshot()),
        reconcile: Timings::of(times, || reconcile(black_box(&snapshot))),
        plan: Timings::of(times, || plan(black_box(&snapshot))),
    };
    let json = serde_json::to_string(&report).map_err(std::io::Error::from)?;
    console::print(&json)?;
    Ok(0)
}

impl Timings {
    /// Does the work so many times; dropping the result is not counted.
    fn of<T>(times: u32, work: impl Fn() -> T) -> Self {
        Timings::of_each(times, || {
            let start = Instant::now();
            let result = black_box(work());
            let took = nanoseconds(start.elapsed());
            drop(result);
            took
        })
    }

    /// Takes so many samples.
    pub(super) fn of_each(times: u32, mut sample: impl FnMut() -> u64) -> Self {
        let mut samples: Vec<u64> = (0..times).map(|_| sample()).collect();
        samples.sort_unstable();
        Timings::from_sorted(&samples)
    }

    pub(super) fn from_sorted(samples: &[u64]) -> Self {
        let at = |position: usize| samples.get(position).copied().unwrap_or_default();
        let middle = samples.len() / 2;
        let below = samples.len().saturating_sub(1) / 2;
        Timings { min: at(0), median: at(below).midpoint(at(middle)) }
    }
}

pub(super) fn nanoseconds(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}
