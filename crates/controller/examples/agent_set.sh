#!/usr/bin/env bash
# Tries the example agent_set on a real control plane: KUBECONFIG=... agent_set.sh
#
# Needs kubectl, jq and python3, nodes that run pods (kwok's will do), and rights to create a CustomResourceDefinition.
# Ends the controller that it starts, and removes its namespace and the kind.
set -uo pipefail
cd "$(dirname "$0")/../../.."
: "${KUBECONFIG:?the control plane to try it on}"
kubectl=${KUBECTL:-kubectl} ns=agents-$$ tmp=$(mktemp -d) pass=0 fail=0 controller= watcher=
k() { "$kubectl" -n "$ns" "$@"; }
finish() {
  for process in $watcher $controller; do kill "$process" 2>/dev/null; done
  k delete namespace "$ns" --wait=false >/dev/null 2>&1
  k delete crd agentsets.agents.example.com --wait=false >/dev/null 2>&1
  rm -rf "$tmp"
}
trap finish EXIT
step() { # step NAME COMMAND...
  local name=$1; shift
  if "$@" >"$tmp/out" 2>&1; then pass=$((pass+1)); echo "ok    $name$(sed -n '$s/^/: /p' "$tmp/out")"
  else fail=$((fail+1)); echo "FAIL  $name"; sed 's/^/      /' "$tmp/out"; fi
}
within() { # within SECONDS COMMAND...: until it succeeds
  local end=$((SECONDS+$1)); shift
  until "$@"; do [ $SECONDS -lt $end ] || return 1; sleep 0.3; done
}

crd() { cat <<'Y'
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: agentsets.agents.example.com}
spec:
  group: agents.example.com
  scope: Namespaced
  names: {kind: AgentSet, listKind: AgentSetList, plural: agentsets, singular: agentset}
  versions:
  - name: v1
    served: true
    storage: true
    subresources: {status: {}}
    schema:
      openAPIV3Schema:
        type: object
        required: [spec]
        properties:
          spec:
            type: object
            required: [daemonSet]
            properties:
              daemonSet: {type: object, x-kubernetes-preserve-unknown-fields: true}
          status: {type: object, x-kubernetes-preserve-unknown-fields: true}
Y
}
agent_set() { cat <<'Y'
apiVersion: agents.example.com/v1
kind: AgentSet
metadata: {name: edge}
spec:
  daemonSet:
    selector: {matchLabels: {app: edge}}
    updateStrategy: {type: RollingUpdate, rollingUpdate: {maxUnavailable: 1, maxSurge: 0}}
    template:
      metadata: {labels: {app: edge}}
      spec:
        containers: [{name: agent, image: "registry.example/agent:v1"}]
Y
}
# All nodes have one pod, Ready and of this image.
settled() { # settled VERSION
  k get pods -l app=edge -o json | jq -e --arg image "registry.example/agent:$1" --argjson n "$N" '
    [.items[] | select(.metadata.deletionTimestamp == null)] as $pods
    | ($pods | length) == $n and (.items | length) == $n and ([$pods[].spec.nodeName] | unique | length) == $n
    and ($pods | all(.spec.containers[0].image == $image
      and any(.status.conditions[]?; .type == "Ready" and .status == "True")))' >/dev/null
}
status_is_full() {
  k get --raw "/apis/agents.example.com/v1/namespaces/$ns/agentsets/edge/status" | jq -e --argjson n "$N" '
    .kind == "AgentSet" and .status.observedGeneration == .metadata.generation
    and ([.status.desiredNumberScheduled, .status.updatedNumberScheduled, .status.numberAvailable] | all(. == $n))' >/dev/null
}
owners() { # each pod and revision has the AgentSet as its one controller
  local uid; uid=$(k get agentset edge -o jsonpath='{.metadata.uid}')
  k get pods,controllerrevisions -o json | jq -e --arg uid "$uid" '.items | length > 0 and all(
    [.metadata.ownerReferences[] | {apiVersion, kind, name, uid, controller, blockOwnerDeletion}] == [{
      apiVersion: "agents.example.com/v1", kind: "AgentSet", name: "edge", uid: $uid, controller: true,
      blockOwnerDeletion: true}])' >/dev/null && k get pods,controllerrevisions -o json | jq -r '
    .items | group_by(.kind) | map("\(length) \(.[0].kind)s") | join(", ") + " of agents.example.com/v1 AgentSet"'
}
events() {
  k get events -o json | jq -e '[.items[] | select(.source.component == "agent-set-controller")] | length > 0 and all(
    .involvedObject.kind == "AgentSet" and .involvedObject.apiVersion == "agents.example.com/v1"
    and .involvedObject.name == "edge")' >/dev/null && k get events --field-selector involvedObject.kind=AgentSet -o json | jq -r '
    .items | group_by(.reason) | map("\(length) \(.[0].reason)") | join(", ")'
}
status_writes() { # the controller writes the status at the path of its kind
  grep -o "UpdateStatus.*PUT /apis/agents.example.com/v1/namespaces/$ns/agentsets/edge/status" "$tmp/controller.log" | tail -1 | grep -o '/apis.*'
}

watch_start() {
  "$kubectl" -n "$ns" get pods -l app=edge -w -o json --output-watch-events >"$tmp/watch" 2>/dev/null &
  watcher=$!
  within 5 sh -c "[ \$(grep -c '\"type\": \"ADDED\"' $tmp/watch) -ge $N ]"
}
watch_end() { sleep 1; kill "$watcher" 2>/dev/null; wait "$watcher" 2>/dev/null; watcher=; }
# Replays the watch: after no event may more nodes than UNAVAILABLE lack an available pod, or more than SURGE have two.
budget() { # budget UNAVAILABLE SURGE
  python3 - "$tmp/watch" "$N" "$1" "$2" <<'P'
import json, sys
path, nodes, unavailable, surge = sys.argv[1], *map(int, sys.argv[2:])
text, at, pods, steady, worst, doubled, events = open(path).read(), 0, {}, False, 0, 0, 0
while (at := next((i for i in range(at, len(text)) if not text[i].isspace()), len(text))) < len(text):
    try:
        event, at = json.JSONDecoder().raw_decode(text, at)
    except ValueError:  # the watch ended in the middle of an event
        break
    pod, events = event["object"], events + 1
    pods.pop(pod["metadata"]["uid"], None) if event["type"] == "DELETED" else pods.__setitem__(pod["metadata"]["uid"], pod)
    ready = lambda pod: any(c["type"] == "Ready" and c["status"] == "True" for c in pod["status"].get("conditions", []))
    # A grace period of 0 s ends a pod: the kubelet has stopped it, and removes the object next.
    ended = lambda pod: pod["metadata"].get("deletionGracePeriodSeconds") == 0
    bound = [p for p in pods.values() if p["spec"].get("nodeName") and not ended(p)]
    up = {p["spec"]["nodeName"] for p in bound if ready(p) and "deletionTimestamp" not in p["metadata"]}
    steady = steady or len(up) == nodes
    if steady:
        worst = max(worst, nodes - len(up))
        doubled = max(doubled, len(bound) - len({p["spec"]["nodeName"] for p in bound}))
print(f"{events} events, at most {worst} nodes without an available pod ({unavailable} may), {doubled} with two pods ({surge} may)")
sys.exit(not steady or worst > unavailable or doubled > surge or (surge > 0 and doubled == 0))
P
}
change() { # change NAME VERSION UNAVAILABLE SURGE COMMAND...: a rollout under watch
  local name=$1 version=$2 unavailable=$3 surge=$4; shift 4
  watch_start
  step "$name" "$@"
  step "  all pods are $version" within 120 settled "$version"
  watch_end
  step "  the budget, at every event" budget "$unavailable" "$surge"
  step "  the status, at its path" within 20 status_is_full
}
set_image() {
  k patch agentset edge --type=json -p "[{\"op\": \"replace\", \"path\": \"/spec/daemonSet/template/spec/containers/0/image\", \"value\": \"registry.example/agent:$1\"}]"
}
set_limits() {
  k patch agentset edge --type=merge -p "{\"spec\": {\"daemonSet\": {\"updateStrategy\": {\"rollingUpdate\": $1}}}}"
}
undo() { # undo NUMBER: the template of this revision again, as kubectl rollout undo does
  local template
  template=$(k get controllerrevisions -o json | jq -ce --argjson n "$1" '
    .items[] | select(.revision == $n) | .data.spec.template | del(."$patch")') || return 1
  k patch agentset edge --type=json -p "[{\"op\": \"replace\", \"path\": \"/spec/daemonSet/template\", \"value\": $template}]"
}
numbers() { # numbers LIST: the numbers of the revisions
  [ "$(k get controllerrevisions -o json | jq -c '[.items[].revision] | sort')" = "$1" ]
}
revived() {
  k delete "$(k get pods -l app=edge -o name | head -1)" >/dev/null && within 30 settled "$1"
}
gone() { [ -z "$(k get pods,controllerrevisions -o name)" ]; }

cargo build -q -p daemonset-controller --example agent_set || exit 1
N=$("$kubectl" get nodes -o name | wc -l)
step "create the kind" "$kubectl" apply -f <(crd)
step "the kind is served" "$kubectl" wait --for=condition=Established crd/agentsets.agents.example.com --timeout=30s
step "create the namespace" "$kubectl" create namespace "$ns"
"${CARGO_TARGET_DIR:-target}/debug/examples/agent_set" >"$tmp/controller.log" 2>&1 &
controller=$!
step "create an AgentSet" within 10 k apply -f <(agent_set)
step "a pod on each of $N nodes" within 60 settled v1
step "owner references" owners
step "the status, at its path" within 20 status_is_full
step "the path of the controller's writes" status_writes
step "events regard the AgentSet" events
change "a new image, maxUnavailable 1" v2 1 0 set_image v2
step "two revisions" numbers '[1,2]'
change "undo to revision 1" v1 1 0 undo 1
step "revision 1 became 3" numbers '[2,3]'
step "limits: 40 % unavailable" set_limits '{"maxUnavailable": "40%"}'
change "a new image within 40 %" v3 $(( (N*40+99)/100 )) 0 set_image v3
step "limits: surge by 1" set_limits '{"maxUnavailable": 0, "maxSurge": 1}'
change "a new image by surge" v4 0 1 set_image v4
step "a deleted pod comes back" revived v4
step "owner references" owners
step "delete the AgentSet" k delete agentset edge --timeout=30s
step "the garbage collector deletes pods and revisions" within 90 gone
kill -0 "$controller" 2>/dev/null || { fail=$((fail+1)); echo "FAIL  the controller has ended"; tail "$tmp/controller.log"; }
echo "$pass passed, $fail failed"
[ "$fail" = 0 ]
