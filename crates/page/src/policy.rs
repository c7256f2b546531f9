//! A policy or a manifest to try on the opened cluster, and the DaemonSets of a node.

use crate::fleet::Fleet;
use daemonset::model::{DaemonSet, Node};
use daemonset::policy::Permissions;
use daemonset::turns::details;
use daemonset::{Policy, plan};
use daemonset_apiserver::admission::template_change;
use daemonset_placement::NodeShape;
use daemonset_view::cause::{on_daemon_set, quoted};
use daemonset_view::cluster::policy::{self, AnnotationProblem};
use daemonset_view::cluster::{Choice, Input, Lines, Objects, Wanted, read_documents};
use daemonset_view::lint::{Finding, Rule};
use daemonset_view::on::{self, Answer};
use daemonset_view::{lint, policy as rollout_policy};
use jiff::Timestamp;
use serde::Serialize;

/// A policy, tried.
#[derive(Serialize)]
pub(crate) struct Tried {
    /// Why it can't be used; empty where it can.
    problems: String,
    /// The policy in a few words.
    words: Option<String>,
    findings: Vec<Remark>,
    /// The fleet with it.
    fleet: Option<Fleet>,
    /// The command that puts it in force.
    command: String,
}

/// A manifest, judged.
#[derive(Serialize)]
pub(crate) struct Judged {
    name: String,
    /// Whether applying it restarts pods, in words.
    restart: String,
    /// The differences that do.
    differences: Vec<String>,
    findings: Vec<Remark>,
}

/// A finding, and the line of the text that it is about.
#[derive(Serialize)]
pub(crate) struct Remark {
    severity: String,
    path: String,
    why: String,
    remedy: String,
    /// From 1; none where it is about something else than the text.
    #[serde(skip_serializing_if = "Option::is_none")]
    line: Option<u64>,
}

impl Remark {
    fn new(finding: Finding, line: Option<u64>) -> Self {
        let Finding { severity, path, why, remedy, .. } = finding;
        Remark { severity: format!("{severity:?}"), path, why, remedy, line }
    }

    /// A problem that the linter leaves to the next look, since it stops at the first field that can't be read.
    fn of_problem(problem: &AnnotationProblem, path: String, line: Option<u64>) -> Self {
        let severity = "Error".to_owned();
        Remark { severity, path, why: problem.problem.kind.to_string(), remedy: String::new(), line }
    }
}

/// The DaemonSets of a node.
#[derive(Serialize)]
pub(crate) struct OnNode {
    rows: Vec<[String; 5]>,
    sums: Vec<(&'static str, String)>,
}

/// The text of the policy in force, as the DaemonSet has it.
pub(crate) fn in_force(daemon_set: &DaemonSet) -> &str {
    daemon_set.metadata.annotations.get(policy::POLICY).unwrap_or_default()
}

/// Tries a policy; an empty text is none.
pub(crate) fn tried(
    objects: &Objects,
    name: &str,
    text: &str,
    powers: &Permissions,
    now: Timestamp,
) -> Result<Tried, String> {
    let wanted = Wanted::parse(name)?;
    let choice = || Choice { daemon_set: Some(wanted.clone()), now: Some(now), policy: None };
    let mut objects = objects.clone();
    objects.annotate(Some(&wanted), policy::POLICY, Some(text).filter(|text| !text.trim().is_empty()))?;
    let daemon_set = objects.model_of(Some(&wanted))?;
    let read = |text: &str| rollout_policy::read(text.as_bytes());
    let input = Input::from_list(objects.clone(), &choice())?;
    let models = objects.clone().models()?;
    let findings = lint::look((&objects, &models), &daemon_set, None, name, (powers, now));
    let asked = Policy::default().with_annotations(&daemon_set, powers, read);
    let problems = match &asked {
        Ok(_) => String::new(),
        Err(_) => policy::in_words(&input.policy_problems, Some("the policy")),
    };
    let fleet = match (&asked, input.snapshot()) {
        (Ok(_), Ok(snapshot)) => {
            let (plan, details) = (plan(&snapshot), details(&snapshot));
            Some(Fleet::new(&input, &plan, &details, Vec::new()))
        }
        _ => None,
    };
    let findings = in_margin(text, findings, &input.policy_problems);
    let on = on_daemon_set("", &daemon_set.metadata.namespace, &daemon_set.metadata.name);
    let value = format!("{}={}", policy::POLICY, text.trim());
    let command = format!("kubectl annotate{on} --overwrite {}", quoted(&value));
    Ok(Tried {
        command,
        problems,
        words: asked.ok().as_ref().and_then(rollout_policy::words),
        findings,
        fleet,
    })
}

/// The findings at the lines of a policy, with those problems that the linter has not told.
fn in_margin(text: &str, findings: Vec<Finding>, problems: &[AnnotationProblem]) -> Vec<Remark> {
    let annotation = format!("metadata.annotations[{}]", policy::POLICY);
    // A text that is too large is not read at all.
    let lines = (text.len() <= Policy::MAX_ANNOTATION_BYTES).then(|| Lines::of(text));
    let line = |path: &str| lines.as_ref()?.line(path.strip_prefix(&annotation)?);
    let path_of = |problem: &AnnotationProblem| match problem.problem.path.as_str() {
        "" => annotation.clone(),
        path => format!("{annotation}.{path}"),
    };
    let is_told = |path: &String| {
        findings.iter().any(|finding| finding.rule == Rule::InvalidRolloutPolicy && finding.path == *path)
    };
    let others = problems.iter().filter(|problem| problem.annotation == policy::POLICY);
    let others = others.map(|problem| (problem, path_of(problem))).filter(|(_, path)| !is_told(path));
    let others = others.map(|(problem, path)| {
        let line = line(&path);
        Remark::of_problem(problem, path, line)
    });
    let mut remarks: Vec<Remark> = others.collect();
    remarks.extend(findings.into_iter().map(|finding| {
        let line = line(&finding.path);
        Remark::new(finding, line)
    }));
    remarks
}

/// Judges a manifest of a DaemonSet that is in the cluster.
pub(crate) fn judged(
    objects: &Objects,
    text: &str,
    powers: &Permissions,
    now: Timestamp,
) -> Result<Judged, String> {
    let documents = read_documents(text.as_bytes())?;
    let mut manifest = Objects::of_documents(documents)?;
    manifest.found_in("the manifest".to_owned(), "");
    let manifest = manifest.choose(None)?.daemon_set;
    let namespace =
        Some(daemonset_view::cluster::namespace(&manifest)).filter(|namespace| !namespace.is_empty());
    let wanted = Wanted::named(namespace, daemonset_view::cluster::name(&manifest));
    let stored = objects.choose(Some(&wanted))?.daemon_set;
    let name = daemonset_view::cluster::full_name(&stored);
    let change = template_change(&stored, &manifest).map_err(|refusal| refusal.to_string())?;
    let restart = lint::Restarts::of(change.as_ref(), &stored, &manifest).in_words();
    let differences = change.iter().flat_map(|change| &change.differences).map(ToString::to_string).collect();
    let (admitted, refusals) = lint::admitted(Some(&stored), &manifest);
    let applied = lint::as_stored(admitted, &manifest)?;
    let before = objects.model_of(Some(&wanted))?;
    let models = objects.clone().models()?;
    let findings = lint::look((objects, &models), &applied, Some(&before), &name, (powers, now));
    let findings = lint::with_refusals(findings, &refusals);
    let lines = Lines::of(text);
    let remark = |finding: Finding| {
        let line = lines.line(&finding.path);
        Remark::new(finding, line)
    };
    let findings = findings.into_iter().map(remark).collect();
    Ok(Judged { restart: restart.to_owned(), differences, findings, name })
}

/// The DaemonSets that run on a node, or on a new one like it.
pub(crate) fn on_node(daemon_sets: &[DaemonSet], node: &Node, is_new: bool) -> Result<OnNode, String> {
    let shape = if is_new { NodeShape::like(node) } else { NodeShape::from(node) };
    let answer = Answer::new(daemon_sets, &shape)?;
    let rows = answer.daemon_sets.iter().map(|row| {
        let ports = row.daemon.host_ports.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
        let runs = on::words::runs(&row.daemon.runs).to_owned();
        [on::name(&row.daemon), runs, on::words::amounts(&row.requests), ports, row.why.clone()]
    });
    let (certain, possible) = (&answer.requests.certain, &answer.requests.possible);
    let mut sums = match certain == possible {
        true => vec![("Total", on::words::sum(certain))],
        false => vec![("At least", on::words::sum(certain)), ("At most", on::words::sum(possible))],
    };
    sums.extend(answer.port_conflicts.iter().map(|conflict| {
        let on::Conflict { first, second, port } = conflict;
        ("Conflict", format!("{port} is wanted by {first} and {second}: only one of their pods gets it"))
    }));
    Ok(OnNode { rows: rows.collect(), sums })
}
