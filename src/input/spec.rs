//! The DaemonSet and the caller's choices, compiled: the part of a snapshot that does not depend on nodes and pods.

use crate::input::index::{Criteria, RevisionFacts};
use crate::input::placement::CompiledTemplate;
use crate::input::policy::Policy;
use crate::input::rollout::check::check_rollout;
use crate::input::rollout::marks::MarkKeys;
use crate::input::strategy::Strategy;
use crate::input::{check, strategy, turn_check};
use daemonset_objects::internal::{
    ClaimVerdict, Ownership, Problems, cut_name, first_hex_digits, recovered_template, revision,
};
use daemonset_objects::kubernetes::Selector;
use daemonset_objects::model::DaemonSet;
use daemonset_objects::{PodView, RevisionView};
use jiff::SignedDuration;
use serde_json::Value;
use std::borrow::Cow;
use std::sync::OnceLock;

/// A DaemonSet and the caller's choices, compiled.
#[derive(Debug, Clone)]
pub struct Spec<'a> {
    pub daemon_set: Cow<'a, DaemonSet>,
    pub policy: Policy,
    pub selector: Selector<'a>,
    /// The template that the API server holds, if the DaemonSet's has lost fields.
    pub(crate) recovered_template: Option<Cow<'a, Value>>,
    /// The inputs of the caller's manifests; null without any.
    pub inputs: Value,
    pub template: CompiledTemplate,
    /// The one to drive, if the policy has one.
    pub strategy: Strategy,
    /// In the form of a pod's label.
    pub template_generation: Option<String>,
    pub(crate) mark_keys: MarkKeys,
    /// See [`turn_key`](Self::turn_key).
    turn_key: OnceLock<String>,
}

impl<'a> Spec<'a> {
    /// Checks and compiles a DaemonSet. The revisions are those that its template is recovered from.
    pub fn compile(
        daemon_set: &'a DaemonSet,
        policy: Policy,
        inputs: Value,
        revisions: &[RevisionView<'a>],
        problems: &mut Problems,
    ) -> Self {
        check::metadata(daemon_set, problems);
        let selector = check::selector(daemon_set, problems);
        let recovered_template = recovered_template(daemon_set, &selector, revisions, &inputs);
        let raw_template = recovered_template.as_deref().unwrap_or(&daemon_set.spec.template);
        let template = check::template(raw_template, &selector, problems);
        let template = CompiledTemplate::new(template, &policy.daemon_tolerations, problems);
        let strategy = strategy::in_force(daemon_set, &policy, problems);
        check::policy(&policy, problems);
        check_rollout(daemon_set, &policy, &inputs, problems);
        turn_check::check((daemon_set, &template), &policy, (&selector, strategy), problems);
        check::changing_labels(daemon_set, &policy, problems);
        // A generation does not count changes of the inputs: a pod with it may be outdated.
        let counted = inputs.is_null();
        let template_generation = check::template_generation(daemon_set).filter(|_| counted);
        Spec {
            daemon_set: Cow::Borrowed(daemon_set),
            mark_keys: MarkKeys::new(&policy.mark_prefix),
            policy,
            selector,
            recovered_template,
            inputs,
            template,
            strategy,
            template_generation,
            turn_key: OnceLock::new(),
        }
    }

    /// The same, borrowing nothing.
    pub fn into_owned(self) -> Spec<'static> {
        Spec {
            daemon_set: Cow::Owned(self.daemon_set.into_owned()),
            policy: self.policy,
            selector: self.selector.into_owned(),
            recovered_template: self.recovered_template.map(|template| Cow::Owned(template.into_owned())),
            inputs: self.inputs,
            template: self.template,
            strategy: self.strategy,
            template_generation: self.template_generation,
            mark_keys: self.mark_keys,
            turn_key: self.turn_key,
        }
    }

    /// The template that the API server holds, as far as it is known. A large one is not kept twice.
    pub fn raw_template(&self) -> &Value {
        self.recovered_template.as_deref().unwrap_or(&self.daemon_set.spec.template)
    }

    /// The relation of a pod's owner to the DaemonSet.
    pub fn ownership(&self, pod: &PodView<'_>) -> Ownership {
        self.criteria().ownership(pod)
    }

    /// The parts that a pod is compared with.
    pub(crate) fn criteria(&self) -> Criteria<'_> {
        Criteria {
            daemon_set: &self.daemon_set,
            selector: &self.selector,
            unique_label_key: &self.policy.unique_label_key,
            template_generation: self.template_generation.as_deref(),
        }
    }

    /// The relation of a revision to the DaemonSet.
    pub fn revision_facts(&self, view: &RevisionView<'_>) -> RevisionFacts {
        let claim = revision::claim(&self.daemon_set, &self.selector, view);
        let has_content = || revision::has_content(view.data, self.raw_template(), &self.inputs);
        RevisionFacts { claim, has_content: claim.is_ours() && has_content() }
    }

    /// Whether the data of a revision was read, or does not matter: that of another owner.
    pub fn can_read(&self, view: &RevisionView<'_>) -> bool {
        !view.data.is_null() || self.revision_facts(view).claim == ClaimVerdict::Ignore
    }

    /// The name of the DaemonSet in annotations of nodes. It is made at the first use: few nodes have a turn.
    pub fn turn_key(&self) -> &str {
        self.turn_key.get_or_init(|| turn_key(&self.daemon_set))
    }

    /// `spec.minReadySeconds`.
    pub fn min_ready(&self) -> SignedDuration {
        SignedDuration::from_secs(self.daemon_set.spec.min_ready_seconds.into())
    }

    /// `Policy::in_flight_expiry_seconds`.
    pub fn in_flight_expiry(&self) -> SignedDuration {
        SignedDuration::from_secs(self.policy.in_flight_expiry_seconds.into())
    }

    /// The generation that a failure counts against: the template generation or, without one, `metadata.generation`.
    pub fn failure_generation(&self) -> i64 {
        let template = self.template_generation.as_deref().and_then(|text| text.parse().ok());
        template.unwrap_or(self.daemon_set.metadata.generation)
    }
}

/// The name of a DaemonSet in annotations of nodes.
pub(crate) fn turn_key(daemon_set: &DaemonSet) -> String {
    let metadata = &daemon_set.metadata;
    format!("{}.{}", cut_name(&metadata.name, 40), first_hex_digits(metadata.uid.as_str()))
}
