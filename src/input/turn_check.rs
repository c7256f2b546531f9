//! Checks the choices about turns, pulls and names of pods, field by field.

use crate::input::placement::CompiledTemplate;
use crate::input::policy::{OnTimeout, PodNames, Policy, PullPolicy, TurnMode, TurnPolicy};
use crate::input::strategy::Strategy;
use crate::input::{check, strategy};
use daemonset_objects::Problem;
use daemonset_objects::internal::{Problems, TaintView, tolerated};
use daemonset_objects::kubernetes::Selector;
use daemonset_objects::kubernetes::names::is_dns_label;
use daemonset_objects::kubernetes::well_known::{PULL_OWNER_LABEL, PULL_REVISION_LABEL, TAINT_UNSCHEDULABLE};
use daemonset_objects::model::{DaemonSet, Labels};

/// The longest name of a gate: that of a DNS label.
const LONGEST_GATE: usize = 63;

/// Finds choices that can't be carried out, and those that do not go together.
pub(crate) fn check(
    (ds, template): (&DaemonSet, &CompiledTemplate),
    policy: &Policy,
    (selector, strategy): (&Selector<'_>, Strategy),
    problems: &mut Problems,
) {
    let surges = matches!(strategy, Strategy::Surge { .. });
    if surges && policy.pod_names == PodNames::OnePerNode {
        let must = "must be another one under surge, which needs two pods on a node";
        problems.add(Problem::invalid("policy.podNames", "OnePerNode", must));
    }
    if let Some(TurnMode::Take(turn)) = &policy.turn {
        if surges {
            let must = "must be absent under surge, which leaves the old pod where it is";
            problems.add(Problem::invalid("policy.turn", "a turn", must));
        }
        check_turn(turn, template, problems);
    }
    if let Some(pull) = &policy.pull {
        check_pull(ds, pull, selector, problems);
    }
}

/// As [`check`], without the problems of the DaemonSet itself, which are not its policy's.
pub(crate) fn check_alone(ds: &DaemonSet, policy: &Policy, problems: &mut Problems) {
    // Most policies have none of these choices, and need no compiled template.
    if policy.turn.is_none() && policy.pull.is_none() && policy.pod_names != PodNames::OnePerNode {
        return;
    }
    let mut of_daemon_set = Problems::default();
    let selector = check::selector(ds, &mut of_daemon_set);
    let template = check::template(&ds.spec.template, &selector, &mut of_daemon_set);
    let template = CompiledTemplate::new(template, &policy.daemon_tolerations, &mut of_daemon_set);
    let strategy = strategy::in_force(ds, policy, &mut of_daemon_set);
    check((ds, &template), policy, (&selector, strategy), problems);
}

fn check_turn(turn: &TurnPolicy, template: &CompiledTemplate, problems: &mut Problems) {
    for (index, gate) in turn.gates.iter().enumerate() {
        let is_repeated = turn.gates.iter().take(index).any(|before| before == gate);
        let must = if gate.len() > LONGEST_GATE || !is_dns_label(gate) {
            "must match [a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?"
        } else if is_repeated {
            "must be there once"
        } else {
            continue;
        };
        problems.add(Problem::invalid(format!("policy.turn.gates[{index}]"), gate, must));
    }
    if turn.on_timeout == OnTimeout::Proceed && turn.timeout_seconds.is_none() {
        let must = "must be Wait without timeoutSeconds: the time never comes";
        problems.add(Problem::invalid("policy.turn.onTimeout", "Proceed", must));
    }
    // The new pod could not come to a node that its own turn has cordoned.
    let cordon = TaintView { key: TAINT_UNSCHEDULABLE, value: "", effect: "NoSchedule" };
    if turn.cordon && !tolerated(cordon, &template.tolerations) {
        let must =
            "must be false: neither the template nor daemonTolerations let the pods tolerate cordoned nodes";
        problems.add(Problem::invalid("policy.turn.cordon", true, must));
    }
}

fn check_pull(ds: &DaemonSet, pull: &PullPolicy, selector: &Selector<'_>, problems: &mut Problems) {
    if pull.parallel.is_zero() {
        let must = "must be more than 0: no node would ever pull";
        problems.add(Problem::invalid("policy.pull.parallel", pull.parallel, must));
    }
    // Whatever the revision is.
    let labels =
        Labels::from_iter([(PULL_OWNER_LABEL, ds.metadata.uid.as_str()), (PULL_REVISION_LABEL, "hash")]);
    if !selector.is_empty() && selector.matches(&labels) {
        let must = "must be absent: spec.selector matches the labels of pull pods, which would be adopted";
        problems.add(Problem::invalid("policy.pull", "a pull", must));
    }
}
