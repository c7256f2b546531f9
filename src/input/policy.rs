//! The caller's choices where Kubernetes, its proposals and its users differ.

pub use crate::input::drain::DrainPolicy;
pub use crate::input::permissions::{Permission, Permissions};
pub use crate::input::pod_selector::PodSelector;
pub use crate::input::rollout::annotations::{AnnotationProblem, InvalidRolloutPolicy};
pub use crate::input::rollout::policy::{FailureAction, FailurePolicy, RolloutPolicy, Wave};
pub use crate::input::turn::{FitPolicy, InPlacePolicy, OnTimeout, PullPolicy, TurnMode, TurnPolicy};

use crate::input::members::{first, first_type, policy};
use crate::input::strategy::Strategy;
use crate::input::strict_strategy::strict_strategy;
use daemonset_objects::internal::{
    daemon_toleration_list, is_default, null_is_default, some_object, some_objects,
};
use daemonset_objects::model::{Toleration, UpdateStrategy};
use serde::{Deserialize, Deserializer, Serialize};
use std::collections::BTreeMap;

policy! {
    /// The choices of the caller, which setters change one by one. The default is what v1.36's controller does.
    ///
    /// ```
    /// use daemonset::Policy;
    /// use daemonset::policy::ClassificationPolicy;
    ///
    /// let policy = Policy::default().classification(ClassificationPolicy::HashFirst).burst(100);
    /// assert_eq!((policy.burst, policy.in_flight_expiry_seconds), (100, 300));
    /// ```
    ///
    /// A literal does not compile, since the policy may grow:
    ///
    /// ```compile_fail,E0639
    /// let policy = daemonset::Policy { burst: 100, ..daemonset::Policy::default() };
    /// ```
    #[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
    #[serde(rename_all = "camelCase", default, deny_unknown_fields)]
    #[non_exhaustive]
    pub struct Policy {
        /// Whether generation or hash label decides when they disagree about a pod.
        #[serde(deserialize_with = "null_is_default")]
        pub classification: ClassificationPolicy;
        /// Whether outdated pods that are not Ready wait for the budget.
        #[serde(deserialize_with = "null_is_default")]
        pub unready: UnreadyPolicy;
        /// The origin of the names of new pods.
        #[serde(deserialize_with = "null_is_default")]
        pub pod_names: PodNames, annotation pod_names, rule PodNames "podNames" reads(names) under(Replace Surge OnDelete);
        /// The label that holds a revision's hash. Default `controller-revision-hash`; the proposal wrote
        /// `daemonset-controller-hash`. Any label key but `pod-template-generation`.
        pub unique_label_key: String = "controller-revision-hash".to_owned(), set impl Into<String>;
        /// The most creates, and the most deletes, in one plan; at least 1. Default 250
        /// (v1.36 `daemon_controller.go BurstReplicas`).
        #[doc(alias = "BurstReplicas")]
        pub burst: u32 = 250;
        /// Seconds for which [`Memory`](crate::Memory) expects an accepted action to show in a snapshot. Default 300. Changes by
        /// others are not in the memory: see [`UnreadyPolicy::AtOnce`] for the effect of a lag of seconds.
        pub in_flight_expiry_seconds: u32 = 300;
        /// Seconds after which [`Memory`](crate::Memory) no longer waits for a Ready pod on a node whose pod an update deleted,
        /// if the node is a Ready target node. Default 3600.
        #[serde(rename = "takenExpirySeconds")]
        pub deleted_by_update_expiry_seconds: u32 = 3600;
        /// Whether nodes that were down before the update reached them count against the limits.
        #[serde(deserialize_with = "null_is_default")]
        pub down_nodes: DownNodesPolicy, annotation down_nodes, rule DownNodes "downNodes" reads() under(Replace Surge OnDelete);
        /// Whether nodes that leave, such as drained ones, get pods and count against the limits.
        #[serde(deserialize_with = "null_is_default")]
        pub lifecycle: LifecyclePolicy, annotation lifecycle, rule Lifecycle "lifecycle" reads() under(Replace Surge OnDelete);
        /// Whether the status has the conditions `Available` and `Progressing`
        /// ([`Plan::conditions`](crate::Plan::conditions)). Default false: conditions stay as they are (v1.36 sets none).
        #[serde(deserialize_with = "null_is_default")]
        pub conditions: bool, annotation conditions;
        /// The tolerations that each pod gets beside the template's own.
        #[serde(deserialize_with = "null_is_default", skip_serializing_if = "is_default")]
        pub daemon_tolerations: DaemonTolerations;
        /// How a created pod is tied to its node.
        #[serde(deserialize_with = "null_is_default", skip_serializing_if = "is_default")]
        pub binding: Binding;
        /// Which nodes get a new version, in which order, and when to stop. Default `None`: all within the limits of the update strategy,
        /// and no revision is marked (v1.36).
        #[serde(deserialize_with = "some_object", skip_serializing_if = "Option::is_none")]
        pub rollout: Option<RolloutPolicy>, set impl Into<Option<RolloutPolicy>>;
        /// The strategy by which a DaemonSet with `OnDelete` is updated beside Kubernetes' own controller, which creates its pods. Default
        /// `None`. Of the plan only the update's deletes and changes in place, the marks on revisions, the restored template, the patches
        /// of nodes, the pull pods and the Requeue remain. In JSON it is `drive`, and `externalController` is read as well.
        #[serde(
            rename = "drive",
            alias = "externalController",
            deserialize_with = "strict_strategy",
            skip_serializing_if = "Option::is_none"
        )]
        pub external_controller: Option<UpdateStrategy>, set impl Into<Option<UpdateStrategy>>, annotation external_controller;
        /// Each node takes its turn, perhaps cordoned and drained, before its pod is replaced. Default `None`: no node is changed, and turns
        /// that nodes have end.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub turn: Option<TurnMode>, set impl Into<Option<TurnMode>>, annotation turn, rule Turn "turn" reads(patches) under(Replace Surge) needs Turn;
        /// How a node in turn is drained, so that its gate `drained` opens. The planner does not read it: the caller drains, with the crate
        /// daemonset-drain. Default `None`: this caller drains no node, and somebody else opens the gate.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub drain: Option<DrainPolicy>, set impl Into<Option<DrainPolicy>>, annotation drain,
        rule Drain "drain" reads() under(Replace Surge OnDelete) needs Evict;
        /// New images are pulled on a node before its pod is taken. Default `None`. No effect under surge, nor under OnDelete without
        /// [`external_controller`](field@Self::external_controller).
        #[serde(deserialize_with = "some_object", skip_serializing_if = "Option::is_none")]
        pub pull: Option<PullPolicy>, set impl Into<Option<PullPolicy>>, annotation pull, rule Pull "pull" reads(images) under(Replace);
        /// Whether pods are changed in their place where that is possible. No effect under surge, nor under OnDelete without
        /// [`external_controller`](field@Self::external_controller).
        #[serde(deserialize_with = "null_is_default", skip_serializing_if = "is_default")]
        pub in_place: InPlacePolicy, annotation in_place, rule InPlace "inPlace" reads(whole_pods) under(Replace);
        /// Whether a Ready pod stays while its successor would not fit on the node. It needs [`NodeView::free`](crate::NodeView::free).
        #[serde(deserialize_with = "null_is_default", skip_serializing_if = "is_default")]
        pub fit: FitPolicy, annotation fit, rule Fit "fit" reads(free whole_pods) under(Replace Surge);
        /// The priority class of created pods whose template has neither `priorityClassName` nor `priority`. It is no part of the template:
        /// no pod is outdated for it.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub priority_class_name: Option<String>, set impl Into<Option<String>>,
        annotation priority_class_name, rule Priority "priorityClassName" reads() under(Replace Surge OnDelete) needs Priority;
        /// The prefix of the annotations of a ControllerRevision that hold the state of its rollout: `<prefix>/started`, `wave`, `failed`,
        /// `completed`, `restored` and `undone`. Default `rollout.daemonset`; any DNS subdomain. The prefixes that end in `.daemonset`
        /// (`rollout.`, `turn.`, `gate.`, `pull.` and `in-place.`) are names of this protocol: they are no one's domain, and stay as they are.
        #[serde(skip_serializing_if = "is_default_prefix")]
        pub mark_prefix: String = MARK_PREFIX.to_owned(), set impl Into<String>;
    }
}

/// The value of the annotation `rollout.daemonset/policy`, in the order in which its errors name the fields.
#[derive(Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct PolicyAnnotation {
    // Options: an absent member of the rollout has its default, and an absent choice beside it leaves the caller's own. The docs are those
    // of the schema.
    /// Whether the rollout is paused: no further node is updated.
    paused: Option<bool>,
    /// How many waves are approved, by the number of the revision.
    approved: Option<BTreeMap<i64, u32>>,
    /// The nodes that get the new version one after the other; without waves all at once. A node of no wave keeps the old version.
    #[serde(default, deserialize_with = "some_objects")]
    waves: Option<Vec<Wave>>,
    /// When the new version has failed, and what follows; without it nothing is judged.
    #[serde(default, deserialize_with = "some_object")]
    on_failure: Option<FailurePolicy>,
    /// How to update a DaemonSet with OnDelete, beside a controller that creates its pods.
    #[cfg_attr(feature = "schemars", schemars(with = "Option<crate::input::schema::ExternalController>"))]
    #[serde(default, rename = "externalController", alias = "drive", deserialize_with = "strict_strategy")]
    external_controller: Option<UpdateStrategy>,
    /// Whether nodes that are down before the update reaches them count as unavailable.
    down_nodes: Option<DownNodesPolicy>,
    /// Whether nodes that leave get pods and updates.
    lifecycle: Option<LifecyclePolicy>,
    /// Whether the status has the conditions `Available` and `Progressing`.
    conditions: Option<bool>,
    /// How pods are named.
    pod_names: Option<PodNames>,
    /// The turn of a node: it is cordoned, and its pod goes once all gates are open. Needs the power `turn`.
    turn: Option<TurnMode>,
    /// The drain of a node in turn. Needs the power `evict`.
    pub(crate) drain: Option<DrainPolicy>,
    /// The new images are on a node before its pod goes.
    #[serde(default, deserialize_with = "some_object")]
    pull: Option<PullPolicy>,
    /// Whether a pod stays, and gets new images, where nothing else is new.
    in_place: Option<InPlacePolicy>,
    /// Whether a Ready pod stays while the new one would not fit on its node.
    fit: Option<FitPolicy>,
    /// The priority class of created pods whose template has none. Needs the power `priority`.
    priority_class_name: Option<String>,
}

/// What rules read beside the facts that each plan reads. Who keeps objects keeps these parts only where a rule reads them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[doc(hidden)]
#[allow(clippy::exhaustive_structs, reason = "internal: who keeps facts must learn of a new one")]
pub struct RuleReads {
    /// The identity of nodes, which are patched.
    pub patches: bool,
    /// The images on nodes.
    pub images: bool,
    /// The free resources of nodes.
    pub free: bool,
    /// The whole pods of the DaemonSet.
    pub whole_pods: bool,
    /// The names of all pods of the namespace.
    pub names: bool,
}

impl RuleReads {
    /// What a policy reads.
    #[must_use]
    pub fn of(policy: &Policy) -> Self {
        RuleReads::of_rules(|rule| rule.is_on(policy))
    }

    /// Whether a plan looks at such parts at all.
    #[must_use]
    pub fn any(self) -> bool {
        self != RuleReads::default()
    }
}

/// A member of a policy that switches a [`Rule`] on.
trait RuleMember {
    fn is_on(&self) -> bool;
}

impl<T> RuleMember for Option<T> {
    fn is_on(&self) -> bool {
        self.is_some()
    }
}

/// Enums of two values, of which the default is off.
macro_rules! on_if_not_default {
    ($($type:ty)*) => {$(
        impl RuleMember for $type {
            fn is_on(&self) -> bool {
                *self != Self::default()
            }
        }
    )*};
}

on_if_not_default!(DownNodesPolicy LifecyclePolicy InPlacePolicy FitPolicy);

impl RuleMember for PodNames {
    /// Other names are no rule: nothing depends on them.
    fn is_on(&self) -> bool {
        *self == PodNames::OnePerNode
    }
}

/// The default of [`Policy::mark_prefix`](field@Policy::mark_prefix).
pub const MARK_PREFIX: &str = "rollout.daemonset";

fn is_default_prefix(prefix: &String) -> bool {
    prefix == MARK_PREFIX
}

impl Policy {
    pub(crate) fn is_default(&self) -> bool {
        is_default(self)
    }
}

/// See [`Policy::classification`].
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub enum ClassificationPolicy {
    /// A pod with the DaemonSet's template generation is updated, regardless of its hash label; otherwise the hash label
    /// decides (proposal: Controller, and v1.36 `IsPodUpdated`: generation equal or hash equal).
    #[default]
    TemplateGenerationFirst,
    /// The hash label alone decides; the generation decides only for a pod without one. For callers whose generations may
    /// repeat, for example because a DaemonSet is deleted with its pods orphaned and created again.
    HashFirst,
}

/// See [`Policy::unready`].
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub enum UnreadyPolicy {
    /// They are replaced at once: a fix must reach a broken fleet (v1.36 `rollingUpdate`). One that has become Ready since the
    /// snapshot was taken goes as well, whatever maxUnavailable is: a lag of seconds is enough.
    #[default]
    AtOnce,
    /// They are replaced only while fewer nodes than maxUnavailable are being replaced: neither a readiness blip of the whole
    /// fleet nor an old snapshot that shows it as not Ready must restart it. No effect under surge, where maxUnavailable does
    /// not count.
    WithinBudget,
}

/// See [`Policy::down_nodes`].
///
/// Twenty dead nodes of 288, a template that tolerates everything and maxUnavailable 5 % let no update ever begin
/// (NVSentinel#1764; also test-infra#31706 and kubernetes#138240).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub enum DownNodesPolicy {
    /// They count, as each target node without an available pod does (v1.36 `updatedDesiredNodeCounts`).
    #[default]
    Count,
    /// They do not count if they went down before anything of this update reached them. A node that goes down under the
    /// new version, or after the update deleted its pod, counts.
    ExcuseIfDownBefore,
}

/// See [`Policy::lifecycle`].
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub enum LifecyclePolicy {
    /// They are nodes as any other (v1.36).
    #[default]
    Ignore,
    /// A node in a [`Lifecycle`](crate::Lifecycle) state gets no pod, its pods are not updated, and its finished ones stay. If
    /// it is down as well, it is excused as with [`DownNodesPolicy::ExcuseIfDownBefore`].
    Respect,
}

/// See [`Policy::pod_names`].
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub enum PodNames {
    /// The API server, by `generateName`.
    #[default]
    Generated,
    /// This crate: the same snapshot gives the same name, so that a create repeated after a crash is refused as
    /// AlreadyExists instead of making a second pod.
    Deterministic,
    /// This crate, and the same name for every revision: the API server itself refuses a second pod on a node, whatever a cache, a
    /// crash or a second controller makes one believe. Refused with surge.
    OnePerNode,
}

/// See [`Policy::daemon_tolerations`]. One list for both: the nodes on which a pod may run, and the created pods.
///
/// ```
/// use daemonset::{Policy, model::Toleration};
/// use daemonset::policy::DaemonTolerations;
/// use serde_json::{from_value, json};
///
/// let policy: Policy = from_value(json!({"daemonTolerations": {"Given": [{"key": "gpu", "operator": "Exists"}]}}))?;
/// let gpu = Toleration { key: "gpu".into(), operator: "Exists".into(), ..Toleration::default() };
/// assert_eq!(policy, Policy::default().daemon_tolerations(DaemonTolerations::Given(vec![gpu])));
/// let none: Policy = from_value(json!({"daemonTolerations": "None"}))?;
/// assert_eq!(none.daemon_tolerations, DaemonTolerations::None);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub enum DaemonTolerations {
    /// Kubernetes' list: not-ready, unreachable, pressure, unschedulable, and network-unavailable with hostNetwork
    /// (v1.36 `util.AddOrUpdateDaemonPodTolerations`).
    #[default]
    Kubernetes,
    /// Only the template's own: cordoned nodes get no pod, and a node that is not Ready loses its pod.
    None,
    /// These. A toleration of the template with the same key, operator, value and effect is replaced, as with
    /// Kubernetes' list.
    Given(#[serde(deserialize_with = "whole_tolerations")] Vec<Toleration>),
}

impl DaemonTolerations {
    /// The tolerations, in the order in which a pod gets them.
    pub(crate) fn list(&self, host_network: bool) -> Vec<Toleration> {
        match self {
            DaemonTolerations::Kubernetes => daemon_toleration_list(host_network).collect(),
            DaemonTolerations::None => Vec::new(),
            DaemonTolerations::Given(list) => list.clone(),
        }
    }
}

/// Refuses members that the model does not have: a pod would lack a given `tolerationSeconds`.
fn whole_tolerations<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<Toleration>, D::Error> {
    #[derive(Deserialize)]
    #[serde(deny_unknown_fields, remote = "Toleration")]
    struct Whole {
        #[serde(default)]
        key: String,
        #[serde(default)]
        operator: String,
        #[serde(default)]
        value: String,
        #[serde(default)]
        effect: String,
    }
    #[derive(Deserialize)]
    struct Element(#[serde(with = "Whole")] Toleration);

    let list = Vec::<Element>::deserialize(deserializer)?;
    Ok(list.into_iter().map(|Element(toleration)| toleration).collect())
}

/// See [`Policy::binding`].
///
/// ```
/// use daemonset::{Action, Recording, reconcile};
/// use serde_json::{from_value, json};
///
/// let recording: Recording = from_value(json!({
///     "now": "2026-01-01T12:00:00Z",
///     "daemonSet": {
///         "metadata": {"name": "agent", "namespace": "ns", "uid": "u1"},
///         "spec": {"selector": {"matchLabels": {"app": "agent"}}, "template": {"metadata": {"labels": {"app": "agent"}}}},
///     },
///     "nodes": [{"metadata": {"name": "a"}}],
///     "policy": {"binding": "NodeName"},
/// }))?;
/// let actions = reconcile(&recording.snapshot().unwrap());
/// let Action::CreatePod { pod, .. } = &actions[1] else { panic!("the node lacks a pod") };
/// assert_eq!(pod.to_value()["spec"]["nodeName"], "a");
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub enum Binding {
    /// By required node affinity, and the scheduler binds it
    /// (v1.36 `util.ReplaceDaemonSetPodNodeNameNodeAffinity`).
    #[default]
    NodeAffinity,
    /// By `spec.nodeName`, for clusters without a scheduler: the pod is bound from the beginning, its affinity is the
    /// template's, and if its node goes, it is the pod garbage collector's.
    NodeName,
}
