//! Lifecycle hooks and the stop signal of a container.

use super::handlers::{self, Occasion};
use crate::admission::error::ErrorList;
use crate::admission::path::FieldPath;
use crate::admission::validate::pod::Pod;
use crate::go::GoValue;
use crate::json::{member, text_if_set};
use serde_json::Value;

/// v1.36 core/validation `supportedStopSignalsLinux`, as Go sorts them.
#[rustfmt::skip]
const LINUX: [&str; 65] = [
    "SIGABRT", "SIGALRM", "SIGBUS", "SIGCHLD", "SIGCLD", "SIGCONT", "SIGFPE",
    "SIGHUP", "SIGILL", "SIGINT", "SIGIO", "SIGIOT", "SIGKILL", "SIGPIPE",
    "SIGPOLL", "SIGPROF", "SIGPWR", "SIGQUIT", "SIGRTMAX", "SIGRTMAX-1", "SIGRTMAX-10",
    "SIGRTMAX-11", "SIGRTMAX-12", "SIGRTMAX-13", "SIGRTMAX-14", "SIGRTMAX-2", "SIGRTMAX-3", "SIGRTMAX-4",
    "SIGRTMAX-5", "SIGRTMAX-6", "SIGRTMAX-7", "SIGRTMAX-8", "SIGRTMAX-9", "SIGRTMIN", "SIGRTMIN+1",
    "SIGRTMIN+10", "SIGRTMIN+11", "SIGRTMIN+12", "SIGRTMIN+13", "SIGRTMIN+14", "SIGRTMIN+15", "SIGRTMIN+2",
    "SIGRTMIN+3", "SIGRTMIN+4", "SIGRTMIN+5", "SIGRTMIN+6", "SIGRTMIN+7", "SIGRTMIN+8", "SIGRTMIN+9",
    "SIGSEGV", "SIGSTKFLT", "SIGSTOP", "SIGSYS", "SIGTERM", "SIGTRAP", "SIGTSTP",
    "SIGTTIN", "SIGTTOU", "SIGURG", "SIGUSR1", "SIGUSR2", "SIGVTALRM", "SIGWINCH",
    "SIGXCPU", "SIGXFSZ",
];

/// v1.36 core/validation `supportedStopSignalsWindows`.
const WINDOWS: [&str; 2] = ["SIGKILL", "SIGTERM"];

/// v1.36 core/validation `validateLifecycle`.
pub(super) fn lifecycle(container: &Value, pod: &Pod<'_>, path: &FieldPath<'_>, errors: &mut ErrorList) {
    let Some(lifecycle) = member(container, "lifecycle") else { return };
    let path = path.child("lifecycle");
    for field in ["postStart", "preStop"] {
        if let Some(handler) = member(lifecycle, field) {
            handlers::handler(handler, Occasion::Lifecycle, pod, &path.child(field), errors);
        }
    }
    if let Some(signal) = text_if_set(lifecycle, "stopSignal") {
        stop_signal(signal, pod, &path.child("stopSignal"), errors);
    }
}

/// v1.36 core/validation `validateStopSignal`.
fn stop_signal(signal: &str, pod: &Pod<'_>, path: &FieldPath<'_>, errors: &mut ErrorList) {
    let supported: &[&str] = match pod.os() {
        None => return errors.forbidden(path, "may not be set for containers with empty `spec.os.name`"),
        Some("windows") => &WINDOWS,
        Some("linux") => &LINUX,
        // Another operating system has an error of its own.
        Some(_) => return,
    };
    if !supported.contains(&signal) {
        errors.not_supported(path, GoValue::named(signal), supported);
    }
}
