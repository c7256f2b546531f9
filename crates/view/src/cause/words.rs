//! Causes in words: a clause without its end, about the nodes that share the cause.

use crate::cause::Cause;
use crate::cluster::{CRASH_LOOP, Said};
use crate::words;
use jiff::Timestamp;
use std::collections::BTreeSet;

/// Names at most so many pods.
const MOST_PODS: usize = 3;

impl Cause {
    /// Causes with the same key are told together.
    pub fn key(&self) -> String {
        match self {
            // How often a container has been restarted, and how, differs from pod to pod.
            Cause::CrashLoop { container, .. } => format!("crash {container}"),
            Cause::NodeFlaps { .. } => "flaps".to_owned(),
            Cause::PodFailed { said, .. } => format!("failed {}", said.reason),
            Cause::ImageNotPulled { container, image, .. } => format!("image {container} {image}"),
            Cause::NotReady { trouble, pending, said, containers, gates } => {
                let event =
                    trouble.event.as_ref().map(|event| event.said.reason.as_str()).unwrap_or_default();
                let (containers, gates) = (containers.join(" "), gates.join(" "));
                format!("not Ready {pending} {} {containers} {gates} {event}", said.reason)
            }
            Cause::NotScheduled { said, .. } => format!("scheduler {}", said.reason),
            Cause::NodeSilent { ends, pod, .. } => format!("silent {ends} {}", pod.is_some()),
            Cause::NodeNotReady { said, pod, .. } => format!("node {} {}", said.reason, pod.is_some()),
            Cause::ContainerNotStarted { container, said, .. } => format!("start {container} {said}"),
            Cause::InitNotDone { container, .. } => format!("init {container}"),
            Cause::PortTaken { .. } => "port".to_owned(),
            Cause::PortHeld { port, owner, overdue, .. } => {
                format!("port {port} {owner:?} {}", overdue.is_some())
            }
            Cause::NotGone { finalizers, .. } => format!("gone {}", finalizers.join(" ")),
        }
    }

    /// One cause alone: `pod agent-x can't pull the image …, since 2026-01-01T00:00:00Z (for 5m)`.
    pub fn text(&self, now: Timestamp) -> String {
        Cause::together(&[self], now)
    }

    /// Causes of one key, with the time of the first.
    pub fn together(causes: &[&Cause], now: Timestamp) -> String {
        let Some(first) = causes.first() else { return String::new() };
        let pods: Vec<&str> = causes.iter().filter_map(|cause| cause.pod()).collect();
        let restarts = causes.iter().filter_map(|cause| match cause {
            Cause::CrashLoop { restarts, .. } => Some(*restarts as usize),
            _ => None,
        });
        let failures = causes.iter().map(|cause| match cause {
            Cause::PodFailed { times, .. } => *times,
            _ => 0,
        });
        let holders = causes.iter().filter_map(|cause| match cause {
            Cause::PortHeld { namespace, by, .. } => Some(format!("{namespace}/{by}")),
            _ => None,
        });
        let clause = first.clause(&Subjects {
            pods,
            nodes: causes.len(),
            restarts: restarts.collect(),
            failures: failures.fold(0, u64::saturating_add),
            holders: holders.collect(),
        });
        let event = first.trouble().and_then(|trouble| trouble.event.as_ref()).filter(|_| first.is_open());
        let clause = match event {
            Some(event) => format!("{clause}: {}", event.text(now)),
            None => clause,
        };
        let troubles = causes.iter().filter_map(|cause| cause.trouble());
        let pressure: BTreeSet<&String> = troubles.flat_map(|trouble| &trouble.pressure).collect();
        let clause = match pressure.len() {
            0 => clause,
            all => format!(
                "{clause}; {} {}",
                if causes.len() == 1 { "the node has" } else { "the nodes have" },
                words::names(pressure, all)
            ),
        };
        match causes.iter().filter_map(|cause| cause.since()).min() {
            Some(since) => format!("{clause}, since {since} ({})", words::relative(since.min(now), now)),
            None => clause,
        }
    }

    fn clause(&self, of: &Subjects<'_>) -> String {
        let (pods, nodes) = (of.pods(), of.nodes());
        match self {
            Cause::NodeSilent { said, pod, ends, .. } => {
                let then = match (pod, ends) {
                    (None, _) => String::new(),
                    (Some(_), true) => format!(", so that {pods} can't end"),
                    (Some(_), false) => format!(", so that {pods} can't become Ready"),
                };
                let do_not = if of.nodes == 1 { "does not" } else { "do not" };
                format!("{nodes} {do_not} report{}{then}", so(said))
            }
            Cause::NodeNotReady { said, pod, .. } => {
                let is = if of.nodes == 1 { "is" } else { "are" };
                let then = pod.as_ref().map(|_| format!(", and neither {} {pods}", of.is()));
                format!("{nodes} {is} not Ready{}{}", so(said), then.unwrap_or_default())
            }
            Cause::NodeFlaps { how, pod, restarts, .. } => {
                let (node, has) = if of.nodes == 1 { ("the node", "has") } else { ("the nodes", "have") };
                let own = match (pod, restarts) {
                    (Some(_), 0) => format!("; {pods} itself has not been restarted")
                        .replace("pods itself", "pods themselves"),
                    _ => String::new(),
                };
                format!("{node} {has} become NotReady {} times{own}", how.times)
            }
            Cause::PodFailed { said: Said { reason, message }, ran, .. } => {
                let was = if of.pods.len() == 1 { "was" } else { "were" };
                let times = if of.failures > 1 { format!(", {} times", of.failures) } else { String::new() };
                let how = match (reason.as_str(), ran) {
                    ("Evicted", _) => {
                        format!(
                            "{was} evicted{}",
                            so(&Said { reason: String::new(), message: message.clone() })
                        )
                    }
                    (_, true) | ("", _) => {
                        format!("failed{}", so(&Said { reason: reason.clone(), message: message.clone() }))
                    }
                    (reason, false) => format!(
                        "{was} rejected by the kubelet{}",
                        so(&Said {
                            reason: reason.to_owned(),
                            message: message.trim_start_matches("Pod was rejected: ").to_owned()
                        })
                    ),
                };
                format!("{pods} {how}{times}")
            }
            Cause::ImageNotPulled { container, image, said, .. } => {
                let image =
                    if image.is_empty() { "the image".to_owned() } else { format!("the image {image}") };
                format!("{pods} can't pull {image}{}: {said}", of_container(container))
            }
            Cause::CrashLoop { container, said, ended, exit_code, .. } => {
                let waits = Some(said.reason.clone()).filter(|reason| reason == CRASH_LOOP);
                let exit = exit_code.map(|code| match ended {
                    Some(ended) => format!("exit code {code} ({ended})"),
                    None => format!("exit code {code}"),
                });
                let facts: Vec<String> = waits.into_iter().chain([of.restarts()]).chain(exit).collect();
                format!("{}of {pods} crashes again and again: {}", a_container(container), facts.join(", "))
            }
            Cause::ContainerNotStarted { container, said, .. } => {
                format!("{}of {pods} can't be started: {said}", a_container(container))
            }
            Cause::InitNotDone { container, sidecar: true, .. } => {
                format!("sidecar {container} of {pods} is running, but has not started")
            }
            Cause::InitNotDone { container, .. } => {
                format!("init container {container} of {pods} is still running")
            }
            Cause::NotScheduled { said, .. } => format!("the scheduler finds no place for {pods}: {said}"),
            Cause::PortTaken { ports, by, .. } => {
                let noun = if ports.len() == 1 { "host port" } else { "host ports" };
                let ports = format!("{noun} {}", words::names(ports, ports.len()));
                let beside = match of.pods.len() {
                    1 => format!("finds {ports} taken by the old pod {by} of its node"),
                    _ => format!("find {ports} taken by the old pods of their nodes"),
                };
                format!("{pods} {beside}: with maxSurge neither the update nor an undo can go on")
            }
            Cause::PortHeld { port, owner, overdue, .. } => {
                let noun = if of.holders.len() == 1 { "pod" } else { "pods" };
                let holders = words::names(&of.holders, MOST_PODS);
                let owner = owner.as_ref().map(|owner| format!(" of {owner}")).unwrap_or_default();
                let ends = match (overdue, of.holders.len()) {
                    (None, _) => "",
                    (Some(_), 1) => ", which is terminating and overdue",
                    (Some(_), _) => ", which are terminating and overdue",
                };
                format!(
                    "{pods} can't be scheduled: host port {port} is held by {noun} {holders}{owner}{ends}"
                )
            }
            Cause::NotGone { finalizers, .. } => match finalizers.as_slice() {
                [] => format!("{pods} should be gone, and the kubelet has not ended {}", of.it()),
                finalizers => {
                    format!("{pods} should be gone, and {} {}", words::of_finalizers(finalizers), of.it())
                }
            },
            Cause::NotReady { gates, said, .. } if !gates.is_empty() => {
                let (noun, is) = if gates.len() == 1 { ("gate", "is") } else { ("gates", "are") };
                let gates = words::names(gates, MOST_PODS);
                format!("{pods} {} not Ready: readiness {noun} {gates} {is} not True{}", of.is(), so(said))
            }
            Cause::NotReady { containers, said, .. } if !containers.is_empty() => {
                let (noun, is) =
                    if containers.len() == 1 { ("container", "is") } else { ("containers", "are") };
                let containers = words::names(containers, MOST_PODS);
                format!("{noun} {containers} of {pods} {is} running, but not ready{}", so(said))
            }
            Cause::NotReady { pending: true, said, .. } => format!("{pods} {} Pending{}", of.is(), so(said)),
            Cause::NotReady { pending: false, said, .. } => {
                let has = if of.pods.len() == 1 { "runs, but has" } else { "run, but have" };
                format!("{pods} {has} not become Ready{}", so(said))
            }
        }
    }
}

/// In parentheses, without a pair of its own: the clause may stand in parentheses itself.
fn so(Said { reason, message }: &Said) -> String {
    let message = words::first_sentences(message);
    match (reason.as_str(), message.as_str()) {
        ("", "") => String::new(),
        (reason, "") => format!(" ({reason})"),
        ("", message) => format!(" ({message})"),
        (reason, message) => format!(" ({reason}: {message})"),
    }
}

/// The pods and nodes of a clause.
struct Subjects<'a> {
    pods: Vec<&'a str>,
    nodes: usize,
    /// Of the container that crashes, in each pod.
    restarts: Vec<usize>,
    /// Of pods of the nodes.
    failures: u64,
    /// The pods that hold their ports.
    holders: Vec<String>,
}

impl Subjects<'_> {
    fn pods(&self) -> String {
        let noun = if self.pods.len() == 1 { "pod" } else { "pods" };
        format!("{noun} {}", words::names(&self.pods, MOST_PODS))
    }

    /// `3 restarts`, `3 to 6 restarts`.
    fn restarts(&self) -> String {
        let (least, most) = (self.restarts.iter().min(), self.restarts.iter().max());
        match (least, most) {
            (Some(least), Some(most)) if least < most => format!("{least} to {most} restarts"),
            (_, most) => words::count(most.copied().unwrap_or_default(), "restart"),
        }
    }

    fn nodes(&self) -> &'static str {
        if self.nodes == 1 { "the node" } else { "the nodes" }
    }

    fn is(&self) -> &'static str {
        if self.pods.len() == 1 { "is" } else { "are" }
    }

    fn it(&self) -> &'static str {
        if self.pods.len() == 1 { "it" } else { "them" }
    }
}

/// A recording of lean pods has no names of containers.
fn a_container(name: &str) -> String {
    if name.is_empty() { "a container ".to_owned() } else { format!("container {name} ") }
}

fn of_container(name: &str) -> String {
    if name.is_empty() { String::new() } else { format!(" of container {name}") }
}
