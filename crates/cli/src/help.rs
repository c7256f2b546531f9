//! The examples and exit codes at the end of each `--help`.

pub(crate) const ALL: &str = "\
Examples:
  kubectl daemonset plan --example
  kubectl daemonset why node-1 --example
  kubectl daemonset simulate --max-unavailable 10%

Exit codes: 0 fine, 1 something to look at, 2 bad input

The variable KUBECTL names another kubectl; NO_COLOR switches colours off.";

pub(crate) const PLAN: &str = "\
Examples:
  kubectl daemonset plan --example
  kubectl daemonset plan -A
  kubectl daemonset plan -n monitoring node-exporter
  kubectl get daemonsets,pods,nodes,controllerrevisions -A -o json | kubectl daemonset plan - --daemonset monitoring/node-exporter

Without a file and without a cluster flag it reads the current context; where kubectl has none, the built-in example.

The policy of a DaemonSet, in annotation rollout.daemonset/policy, may have turn, drain and priorityClassName as far as annotation rollout.daemonset/powers of its Namespace has turn, evict and priority; the Namespace is read from the cluster, or is an object of the file, and without it there are no powers.

Exit codes: 0 the plan is printed, 1 it can't be written, or one of --time-events differs, 2 bad input";

pub(crate) const WHY: &str = "\
Examples:
  kubectl daemonset why node-1 --example
  kubectl daemonset why node-exporter-hxw9r --example
  kubectl daemonset why node-exporter --example
  kubectl daemonset why node-1 -n monitoring --daemonset monitoring/node-exporter

Exit codes: 0 the answer is printed, 2 bad input: no node, pod or DaemonSet has that name";

pub(crate) const ON: &str = "\
Examples:
  kubectl daemonset on node-1 --example
  kubectl daemonset on node-1 --example --new --unknown-label topology.kubernetes.io/zone
  kubectl daemonset on --node new-node.yaml

It answers yes, no or maybe for each DaemonSet, whatever the node's free resources are.

Exit codes: 0 the answer is printed, 1 two pods want one port or a DaemonSet is invalid, 2 bad input";

pub(crate) const PAGE: &str = "\
Examples:
  kubectl daemonset page
  kubectl daemonset page --open
  kubectl daemonset page --open -f cluster.json --to cluster.html

The file holds the cluster, and sends it nowhere. Values of environment variables and of the HTTP headers of probes, annotations that no plan reads and objects such as Secrets are left out; commands and arguments are in it.

Exit codes: 0 the page is written, 1 it can't be written, 2 bad input, or no program opens it";

pub(crate) const DRAIN: &str = "\
Examples:
  kubectl daemonset drain node-1 --example
  kubectl daemonset drain node-1 --example --force --delete-emptydir-data
  kubectl daemonset drain node-1 --pod-selector app!=db --skip-wait-for-delete-timeout 60
  kubectl daemonset drain node-1 -f cluster.json

Its flags are those of kubectl drain, whose command it prints; the pods of DaemonSets are always left alone.

Exit codes: 0 no pod blocks the drain, 1 a pod blocks it, 2 bad input";

pub(crate) const SIMULATE: &str = "\
Examples:
  kubectl daemonset simulate --max-unavailable 10%
  kubectl daemonset simulate --compare maxUnavailable=1 maxUnavailable=10% maxSurge=10%
  kubectl daemonset simulate -n monitoring node-exporter --broken
  kubectl daemonset simulate --policy canary.yaml --broken --compare

Without a file, a name and a cluster flag it starts from a cluster that is built in.

A policy with `externalController` is simulated beside Kubernetes' own controller, which creates the pods; --strategy OnDelete makes a DaemonSet one that can be driven.

A policy may have turn, drain and priorityClassName as far as annotation rollout.daemonset/powers of its Namespace has turn, evict and priority; the Namespace is read from the cluster, or is an object of the file, and without it there are no powers.

Exit codes: 0 the rollout completes, or is held as its policy asks, 1 it is stuck, out of time, stopped or rolled back (one of those that are compared, too), or a file can't be written, 2 bad input";

pub(crate) const LINT: &str = "\
Examples:
  kubectl daemonset lint --example
  kubectl daemonset lint -n monitoring node-exporter
  kubectl daemonset lint --manifest node-exporter.yaml
  kubectl daemonset lint --example --policy canary.yaml

A policy is also rehearsed: a simulated version that works must meet its deadlines.

A policy may have turn, drain and priorityClassName as far as annotation rollout.daemonset/powers of its Namespace has turn, evict and priority; the Namespace is read from the cluster, or is an object of the file, and without it there are no powers.

Exit codes: 0 fine, 1 errors or warnings are found, 2 bad input";

pub(crate) const WOULD_RESTART: &str = "\
Examples:
  kubectl daemonset would-restart --example
  kubectl daemonset would-restart --manifest node-exporter.yaml

Under OnDelete applying it restarts no pod, unless a policy is driven: each pod gets the new version when it is deleted.

Exit codes: 0 applying it restarts no pod, 1 it restarts every pod or is refused, 2 bad input";

pub(crate) const CREATE: &str = "\
Examples:
  kubectl daemonset create --manifest node-exporter.yaml
  kubectl daemonset create --manifest node-exporter.yaml -o json
  kubectl daemonset create --manifest node-exporter.yaml --validate=warn

The API server's warnings are on stderr.

Exit codes: 0 it is stored, 1 kubectl or the API server refuses it, 2 bad input";

pub(crate) const UPDATE: &str = "\
Examples:
  kubectl daemonset update --manifest node-exporter.yaml
  kubectl daemonset update --example --patch '{\"spec\": {\"minReadySeconds\": 10}}'

The API server's warnings are on stderr.

Exit codes: 0 it is stored, 1 kubectl or the API server refuses it, 2 bad input";

pub(crate) const DESCRIBE: &str = "\
Examples:
  kubectl daemonset describe --example
  kubectl daemonset describe --example --revision 1
  kubectl daemonset describe -n monitoring node-exporter

Exit codes: 0 the description is printed, 1 there is no such revision, 2 bad input";

pub(crate) const ROLLOUT: &str = "\
Examples:
  kubectl daemonset rollout status --example
  kubectl daemonset rollout history -n monitoring node-exporter
  kubectl daemonset rollout plan --example

pause, resume, approve and plan are about a rollout that annotations of the DaemonSet steer: waves, pauses, failures.

Exit codes: 0 fine, 1 something to look at (kubectl's refusals too), 2 bad input";

pub(crate) const STATUS: &str = "\
Examples:
  kubectl daemonset rollout status --example
  kubectl daemonset rollout status -n monitoring node-exporter

Where annotations of the DaemonSet steer its rollout, the waves follow kubectl's answer, with the nodes that fail. With --watch it waits until the rollout is done, or goes on no more by itself.

Exit codes: 0 done, or without --watch on its way, 1 failed, rolled back, paused or waiting for approval, or kubectl refuses, 2 an invalid policy or bad input, 124 timed out";

pub(crate) const ROLLOUT_PLAN: &str = "\
Examples:
  kubectl daemonset rollout plan --example
  kubectl daemonset rollout plan --policy policy.yaml -n monitoring node-exporter
  kubectl daemonset rollout plan --policy policy.yaml -f cluster.json

A policy has waves, onFailure, paused and approved; without --policy it is that of annotation rollout.daemonset/policy.

A policy may have turn, drain and priorityClassName as far as annotation rollout.daemonset/powers of its Namespace has turn, evict and priority; the Namespace is read from the cluster, or is an object of the file, and without it there are no powers.

Exit codes: 0 the waves are printed, 1 the DaemonSet has no rollout policy, 2 bad input: each problem of the policy, with its field";

pub(crate) const PAUSE: &str = "\
Examples:
  kubectl daemonset rollout pause --example
  kubectl daemonset rollout pause -n monitoring node-exporter

It prints the command that sets annotation rollout.daemonset/paused, with -o json also the patches; it sends nothing.

Exit codes: 0 the command is printed, 1 it is already paused, 2 bad input";

pub(crate) const RESUME: &str = "\
Examples:
  kubectl daemonset rollout resume -n monitoring node-exporter

It prints the command that removes annotation rollout.daemonset/paused, with -o json also the patches; it sends nothing.

Exit codes: 0 the command is printed, 1 it is not paused, 2 bad input";

pub(crate) const APPROVE: &str = "\
Examples:
  kubectl daemonset rollout approve --example --wave 2
  kubectl daemonset rollout approve -n monitoring node-exporter

It prints the command that sets annotation rollout.daemonset/approved, with -o json also the patches; it sends nothing.

Exit codes: 0 the command is printed, 1 no wave waits for approval, 2 bad input";

pub(crate) const HISTORY: &str = "\
Examples:
  kubectl daemonset rollout history --example
  kubectl daemonset rollout history -n monitoring node-exporter --revision 1
  kubectl daemonset rollout history -n monitoring node-exporter -o yaml

-o yaml is kubectl's: the DaemonSet that each revision restores. -o json is a list of the revisions.

Exit codes: 0 the history is printed, 1 kubectl refuses, 2 bad input";

pub(crate) const UNDO: &str = "\
Examples:
  kubectl daemonset rollout undo --example
  kubectl daemonset rollout undo -n monitoring node-exporter --to-revision 1 -o json

It prints kubectl's answer, or with -o json the patches; it sends nothing.

Exit codes: 0 kubectl would undo it, 1 kubectl refuses, 2 bad input";

pub(crate) const RESTART: &str = "\
Examples:
  kubectl daemonset rollout restart --example
  kubectl daemonset rollout restart -n monitoring node-exporter -o json

It prints kubectl's answer, or with -o json the patches; it sends nothing.

Exit codes: 0 kubectl would restart it, 1 kubectl refuses, 2 bad input";

pub(crate) const DIFF: &str = "\
Examples:
  kubectl daemonset rollout diff --example
  kubectl daemonset rollout diff 1 2 --example
  kubectl daemonset rollout diff 1 -n monitoring node-exporter

Exit codes: 0 the difference is printed, 1 there is no such revision, 2 bad input";

pub(crate) const STUCK: &str = "\
Examples:
  kubectl daemonset stuck --example
  kubectl daemonset stuck -A
  kubectl daemonset stuck -n monitoring node-exporter --patience 5m

Exit codes: 0 complete or moving, 1 stuck, 2 bad input";

pub(crate) const SCHEMA: &str = "Examples:
  kubectl daemonset schema > rollout-policy.schema.json

An editor that reads `# yaml-language-server: $schema=rollout-policy.schema.json` in the first line of a policy completes and checks it.";

pub(crate) const COMPLETION: &str = "\
Examples:
  kubectl daemonset completion bash
  kubectl daemonset completion kubectl

`kubectl` prints a script for kubectl's own completion: save it in PATH as kubectl_complete-daemonset.";

pub(crate) const MAN: &str = "\
Examples:
  kubectl daemonset man --dir man";
