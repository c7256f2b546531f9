//! Turns of nodes, in words: gates that are closed, images that are pulled, pods that settle or do not fit, and the choices about them.

use crate::hostile;
use crate::words::{self, count};
use daemonset::Policy;
use daemonset::model::NodeName;
use daemonset::policy::{OnTimeout, PullPolicy, Rule, TurnMode, TurnPolicy};
use daemonset::report::{FitDetail, InPlaceDetail, NodeDetail, PullDetail, TurnDetail};
use jiff::{SignedDuration, Timestamp};
use serde_json::{Map, Value};
use std::collections::BTreeMap;

/// Names at most so many nodes.
const MOST_NAMES: usize = 5;

/// The details of the nodes that have any, by name.
pub type Details = BTreeMap<NodeName, NodeDetail>;

/// Lines for the head of a plan, each with its label.
pub fn lines(details: &Details, now: Timestamp) -> Vec<(&'static str, String)> {
    let turns = named(details, |detail| Some(turn(detail.turn.as_ref()?, now)));
    let pulls = named(details, |detail| Some(pull(detail.pull.as_ref()?, now)));
    let fits = named(details, |detail| Some(fit(detail.fit.as_ref()?)));
    let pods = details.iter().flat_map(|(node, detail)| detail.in_place.iter().map(move |pod| (node, pod)));
    let pods: Vec<String> = pods.map(|(node, pod)| settling(node, pod, now)).collect();
    let line = |label, nodes: Vec<String>, one: &str, several: &str| {
        let verb = if nodes.len() == 1 { one } else { several };
        let text = format!("{} {verb}: {}", count(nodes.len(), "node"), words::names(&nodes, MOST_NAMES));
        (!nodes.is_empty()).then_some((label, text))
    };
    let in_place = format!("{} settling: {}", is(pods.len(), "pod"), words::names(&pods, MOST_NAMES));
    [
        line("Turns", turns, "is in turn", "are in turn"),
        line("Pulls", pulls, "waits for images", "wait for images"),
        line("Fit", fits, "has too little for the new pod", "have too little for the new pod"),
        (!pods.is_empty()).then_some(("In place", in_place)),
    ]
    .into_iter()
    .flatten()
    .collect()
}

/// `1 pod is`, `2 pods are`.
fn is(number: usize, noun: &str) -> String {
    format!("{} {}", count(number, noun), if number == 1 { "is" } else { "are" })
}

/// Each node of which something is told, with it.
fn named(details: &Details, tell: impl Fn(&NodeDetail) -> Option<String>) -> Vec<String> {
    details.iter().filter_map(|(node, detail)| Some(format!("{node} ({})", tell(detail)?))).collect()
}

/// `for 15m, waits for drained, overdue for 5m`.
fn turn(turn: &TurnDetail, now: Timestamp) -> String {
    let mut text = words::relative(turn.since.min(now), now);
    if !turn.closed.is_empty() {
        text.push_str(&format!(", waits for {}", list(&turn.closed)));
    }
    if let Some(at) = turn.overdue_at {
        text.push_str(&format!(", overdue {}", words::relative(at, now)));
    }
    text
}

/// `agent:2, pulled for 40s`.
fn pull(pull: &PullDetail, now: Timestamp) -> String {
    // A template keeps its characters, which would act on a terminal, or make a line look like two.
    let images = pull.images.iter().map(|image| hostile::with_stand_ins(image));
    let images = words::names(images, MOST_NAMES);
    match (&pull.pod, pull.since) {
        (Some(_), Some(since)) => format!("{images}, pulled {}", words::relative(since.min(now), now)),
        (Some(_), None) => format!("{images}, pulled"),
        (None, _) => format!("{images}, not pulled yet"),
    }
}

/// `memory: 4Gi requested, 2Gi free`.
pub fn fit(fit: &FitDetail) -> String {
    let FitDetail { resource, requested, free, .. } = fit;
    format!("{resource}: {requested} requested, {free} free")
}

/// `agent-x on a for 40s`.
fn settling(node: &NodeName, pod: &InPlaceDetail, now: Timestamp) -> String {
    let stuck = if pod.stuck { ", stuck" } else { "" };
    format!("{} on {node} {}{stuck}", pod.pod, words::relative(pod.since.min(now), now))
}

/// `drained`, `drained and backup`, `a, b and c`.
pub fn list(names: &[String]) -> String {
    match names.split_last() {
        None => String::new(),
        Some((only, [])) => only.clone(),
        Some((last, others)) => format!("{} and {last}", others.join(", ")),
    }
}

/// The members of a policy that choose what happens before and after a pod is replaced, where they are not the default.
pub fn choices(policy: &Policy) -> Map<String, Value> {
    let members = |policy: &Policy| serde_json::to_value(policy).unwrap_or_default();
    let (members, default) = (members(policy), members(&Policy::default()));
    let chosen = Rule::ALL.iter().filter(|rule| is_choice(**rule)).filter_map(|rule| {
        let value = members.get(rule.member()).filter(|value| default.get(rule.member()) != Some(value))?;
        Some((rule.member().to_owned(), value.clone()))
    });
    chosen.collect()
}

/// Whether a rule is about the replacement of a pod, and not about nodes that are down or leave, nor about pods of others.
fn is_choice(rule: Rule) -> bool {
    match rule {
        Rule::DownNodes | Rule::Lifecycle | Rule::Drain => false,
        Rule::PodNames | Rule::Turn | Rule::Pull | Rule::InPlace | Rule::Fit | Rule::Priority => true,
    }
}

/// The same in a few words: `turns (cordon, gates drained and backup), drain, pull 10%, in place`. `None` for none.
pub fn in_short(policy: &Policy) -> Option<String> {
    let mut on: Vec<Rule> = Rule::ALL.iter().copied().filter(|rule| rule.is_on(policy)).collect();
    // What happens to a node comes first.
    on.sort_by_key(|rule| *rule == Rule::PodNames);
    let words: Vec<String> = on.into_iter().filter_map(|rule| one_in_short(rule, policy)).collect();
    (!words.is_empty()).then(|| words.join(", "))
}

fn one_in_short(rule: Rule, policy: &Policy) -> Option<String> {
    match rule {
        Rule::Turn => policy.turn.as_ref().map(turns_in_short),
        Rule::Drain => Some("drain".to_owned()),
        Rule::Pull => policy.pull.as_ref().map(|pull| format!("pull {}", pull.parallel)),
        Rule::InPlace => Some("in place".to_owned()),
        Rule::Fit => Some("fit".to_owned()),
        Rule::PodNames => Some("one name for each node".to_owned()),
        Rule::DownNodes | Rule::Lifecycle | Rule::Priority => None,
    }
}

fn turns_in_short(mode: &TurnMode) -> String {
    match mode {
        TurnMode::Take(turn) => {
            let gates = if turn.gates.len() == 1 { "gate" } else { "gates" };
            let gates = (!turn.gates.is_empty()).then(|| format!("{gates} {}", list(&turn.gates)));
            let parts: Vec<String> =
                turn.cordon.then(|| "cordon".to_owned()).into_iter().chain(gates).collect();
            if parts.is_empty() { "turns".to_owned() } else { format!("turns ({})", parts.join(", ")) }
        }
        TurnMode::Keep | _ => "no turn begins or ends".to_owned(),
    }
}

/// The same in words, a line each: what happens to each node, in the order in which it happens.
pub fn choices_in_words(policy: &Policy) -> Vec<String> {
    let mut on: Vec<Rule> = Rule::ALL.iter().copied().filter(|rule| rule.is_on(policy)).collect();
    on.sort_by_key(|rule| *rule == Rule::InPlace);
    on.sort_by_key(|rule| matches!(rule, Rule::Turn | Rule::InPlace));
    on.into_iter().filter_map(|rule| one_in_words(rule, policy)).collect()
}

fn one_in_words(rule: Rule, policy: &Policy) -> Option<String> {
    let words = match rule {
        Rule::PodNames => "has one name for its pods, so that it never has two",
        Rule::Pull => return policy.pull.as_ref().map(pulls),
        Rule::Fit => "keeps its pod while the new one would not fit on it",
        Rule::Turn => return policy.turn.as_ref().map(turns),
        Rule::InPlace => {
            "keeps its pod where nothing but images, labels and annotations is new: it is changed in its place"
        }
        Rule::DownNodes | Rule::Lifecycle | Rule::Drain | Rule::Priority => return None,
    };
    Some(words.to_owned())
}

/// Switches off what the policy of a file, or none, takes the place of. Choices of the caller beside a rollout stay.
pub(crate) fn forget(policy: &mut Policy) {
    (policy.rollout, policy.external_controller) = (None, None);
    for rule in Rule::ALL {
        match rule {
            Rule::Turn | Rule::Drain | Rule::Pull | Rule::InPlace => rule.switch_off(policy),
            Rule::PodNames | Rule::DownNodes | Rule::Lifecycle | Rule::Fit | Rule::Priority => {}
        }
    }
}

fn pulls(pull: &PullPolicy) -> String {
    let nodes = match pull.parallel {
        daemonset::model::IntOrString::Int(1) => "1 node pulls".to_owned(),
        parallel => format!("{parallel} of the nodes pull"),
    };
    format!(
        "has the new images before its pod goes: {nodes} at a time, each for {} at most",
        seconds(pull.timeout_seconds)
    )
}

fn turns(mode: &TurnMode) -> String {
    match mode {
        TurnMode::Take(turn) => turn_in_words(turn),
        TurnMode::Keep | _ => "keeps its pod: the policy of turns can't be read".to_owned(),
    }
}

/// `is cordoned, waits for the gates drained and backup, …`
fn turn_in_words(turn: &TurnPolicy) -> String {
    let gates = match turn.gates.as_slice() {
        [] => None,
        [only] => Some(format!("waits for the gate {only}")),
        several => Some(format!("waits for the gates {}", list(several))),
    };
    let timeout = turn.timeout_seconds.filter(|_| gates.is_some()).map(|time| match turn.on_timeout {
        OnTimeout::Proceed => format!(" for {} at most", seconds(time)),
        _ => format!(" (overdue after {})", seconds(time)),
    });
    let gates = gates.map(|gates| gates + &timeout.unwrap_or_default());
    let cordoned = turn.cordon.then(|| "is cordoned".to_owned());
    let back = if turn.cordon { ", and is uncordoned once the new one is available" } else { "" };
    let before: Vec<String> = cordoned.into_iter().chain(gates).collect();
    let then =
        if before.is_empty() { "takes its turn, and then loses its pod" } else { "then loses its pod" };
    let before = before.into_iter().map(|step| step + ", ").collect::<String>();
    format!("{before}{then}{back}")
}

fn seconds(seconds: u32) -> String {
    words::duration(SignedDuration::from_secs(seconds.into()))
}
