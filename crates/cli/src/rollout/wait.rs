//! `kubectl daemonset rollout status --watch`: waits for the end of a rollout, as `kubectl rollout status` does.
#![allow(clippy::disallowed_types, reason = "a wait needs a clock; the library reads none")]

use crate::cluster::{Chosen, Follow, Needs, Source, Wanted};
use crate::rollout::args::{From, WaitArgs};
use crate::rollout::status::{RolloutLook, StatusQuestion, WaitStage};
use crate::shell::console::{Format, LOOK, Stop, print, system_clock};
use crate::shell::interrupt::Interrupt;
use crate::shell::response::Response;
use daemonset_view::cluster::{name, namespace, uid};
use daemonset_view::hostile;
use std::collections::BTreeSet;
use std::io::{self, Write};
use std::time::Instant;

/// As of the command `timeout`.
const TIMED_OUT: u8 = 124;
/// As a shell has it after Ctrl-C.
const INTERRUPTED: u8 = 130;

/// Waits until the rollout is done, goes on no more by itself, or its DaemonSet is gone. The first look must succeed; a later one that fails is followed
/// by the next. None takes longer than the timeout.
pub(crate) fn wait(from: &From, question: &StatusQuestion, waiting: &WaitArgs) -> Result<Response, Stop> {
    let interrupt = Interrupt::register()?;
    let (mut source, wanted) = from.resolve()?;
    let Source::Kubectl(kubectl) = &mut source else {
        return Err(source.stop("--watch: only a cluster that kubectl reads can change"));
    };
    kubectl.watch_until(interrupt.flag());
    // One that no clock can tell is no limit.
    let until = waiting.timeout().and_then(|timeout| Instant::now().checked_add(timeout.unsigned_abs()));
    kubectl.give_up_at(until);
    let is_over = || interrupt.is_set() || until.is_some_and(|until| Instant::now() >= until);
    let ended = |last: Option<RolloutLook>| match interrupt.is_set() {
        true => Response::default().with_code(INTERRUPTED),
        false => timed_out(last, from.output),
    };
    source.announce(from.output)?;
    let mut follow = Follow::default();
    let objects = match source.objects(Needs::Rollout) {
        Err(_) if is_over() => return Ok(ended(None)),
        read => read?,
    };
    let mut needs = RolloutLook::needs(&objects, wanted.as_ref());
    // Nothing to wait for: an error, as without --watch.
    let Chosen { daemon_set, .. } =
        objects.choose(wanted.as_ref()).map_err(|message| source.stop(message))?;
    let this = Wanted::named(Some(namespace(&daemon_set)), name(&daemon_set));
    let mut shown = ShownLines::default();
    // `None` where it is gone. Another one that gets its name is not the one to wait for.
    let mut look = |needs: Needs| {
        let objects = follow.look(&source, needs)?;
        let is_there = objects.uid_of(&this) == Some(uid(&daemon_set));
        is_there.then(|| RolloutLook::of(&source, objects, needs, Some(&this), question)).transpose()
    };
    let gone = || Response::refusal(format_args!("error: DaemonSet {this} is gone"));
    let mut last = match look(needs) {
        Err(_) if is_over() => return Ok(ended(None)),
        looked => match looked? {
            Some(status) => status,
            None => return Ok(gone()),
        },
    };
    // The numbers of the versions that were rolled out meanwhile.
    let mut versions = BTreeSet::new();
    loop {
        if interrupt.is_set() {
            return Ok(ended(Some(last)));
        }
        if let Some(failed) = last.restored_for.filter(|failed| versions.contains(failed)) {
            return Ok(undone(last, failed));
        }
        versions.extend(last.version);
        if last.stage != WaitStage::Moving {
            return Ok(last.response);
        }
        if from.output == Format::Text {
            shown.news(&last)?;
        }
        if is_over() {
            return Ok(ended(Some(last)));
        }
        let left = until.map(|until| until.saturating_duration_since(Instant::now()));
        let interval = waiting.interval.unsigned_abs();
        interrupt.wait(left.map_or(interval, |left| left.min(interval)));
        if interrupt.is_set() {
            continue;
        }
        match look(needs) {
            Ok(None) => return Ok(gone()),
            Ok(Some(status)) => {
                // A policy that somebody adds in the meantime steers by nodes and pods.
                needs = status.needs;
                last = status;
                // After a good look the same failure is news again.
                shown.failure.clear();
            }
            // It was ended, and so is the wait.
            Err(Stop::Input(_)) if is_over() => {}
            Err(Stop::Input(message)) => shown.failure(&message)?,
            Err(stop) => return Err(stop),
        }
    }
}

/// The version that somebody waits for has failed, and its DaemonSet has the template before it back.
fn undone(last: RolloutLook, failed: i64) -> Response {
    let stderr = format!("error: revision {failed} has failed, and the template before it is back\n");
    Response { code: LOOK, stderr: last.response.stderr + &stderr, ..last.response }
}

/// kubectl's message, after the last answer where that is data.
fn timed_out(last: Option<RolloutLook>, format: Format) -> Response {
    let data = last.filter(|_| format == Format::Json).map(|last| last.response.stdout);
    let stdout = data.unwrap_or_default();
    let stderr = "error: timed out waiting for the condition\n".to_owned();
    Response { code: TIMED_OUT, stdout, stderr }
}

/// The lines so far.
#[derive(Default)]
struct ShownLines {
    line: String,
    failure: String,
}

impl ShownLines {
    /// A line, where it differs from the one before.
    fn news(&mut self, status: &RolloutLook) -> io::Result<()> {
        if self.line == status.line {
            return Ok(());
        }
        self.line.clone_from(&status.line);
        print(&format!("{}\n", self.line))
    }

    fn failure(&mut self, message: &str) -> io::Result<()> {
        if self.failure == message {
            return Ok(());
        }
        message.clone_into(&mut self.failure);
        writeln!(io::stderr(), "{}: {}; trying again", system_clock(), hostile::in_one_line(message))
    }
}
