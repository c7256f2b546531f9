//! Whether a rollout makes progress, and how long it may take.

use crate::support::{Given, at, given, new, node, now, old, on_delete, rolling, surging};
use daemonset::outlook::{Hints, ObstacleKind, Obstacles, Outlook, RolloutState};
use jiff::SignedDuration;
use serde_json::{Value, json};

fn outlook(given: &Given) -> Outlook {
    Outlook::new(&given.plan(), now(), SignedDuration::from_secs(600)).unwrap()
}

/// The state, the outdated pods and the rounds left.
fn parts(given: &Given) -> (Value, u32, Option<u32>) {
    let outlook = outlook(given);
    (json!(outlook.state), outlook.outdated, outlook.rounds_left)
}

fn moving(acting: u32, waiting: u32) -> Value {
    json!({"type": "Moving", "acting": acting, "waiting": waiting})
}

/// `NotReady: a b`.
fn obstacles(given: &Given) -> Vec<String> {
    obstacles_of(outlook(given))
}

fn obstacles_of(outlook: Outlook) -> Vec<String> {
    match outlook.state {
        RolloutState::Stuck { obstacles, .. } => obstacles
            .iter()
            .map(|found| {
                let nodes: Vec<_> = found.nodes.iter().map(|node| format!(" {node}")).collect();
                format!("{:?}:{}", found.kind, nodes.concat())
            })
            .collect(),
        other => vec![format!("{other:?}")],
    }
}

fn unready(seconds: i64) -> crate::support::PodStory {
    let since = (now() - SignedDuration::from_secs(seconds)).to_string();
    new().not_ready().with("/status/conditions/0/lastTransitionTime", json!(since)).created_ago(seconds)
}

#[test]
fn a_complete_rollout_has_no_rounds_left() {
    let all = given(rolling(1)).node(node("a").has(new())).node(node("b").taint("x", "NoSchedule"));
    assert_eq!(parts(&all), (json!({"type": "Complete"}), 0, Some(0)));
}

#[test]
fn rounds_are_outdated_nodes_over_the_limit_rounded_up() {
    let fleet = |strategy| given(strategy).nodes(["a", "b", "c", "d", "e"], old());
    for (strategy, acting, rounds) in [
        (rolling(1), 1, Some(5)),
        (rolling(2), 2, Some(3)),
        (rolling("100%"), 5, Some(1)),
        (surging(2), 2, Some(3)),
        (surging(5), 5, Some(1)),
    ] {
        assert_eq!(parts(&fleet(strategy)), (moving(acting, 0), 5, rounds));
    }
    let by_hand = outlook(&fleet(on_delete()));
    assert_eq!((by_hand.outdated, by_hand.rounds_left), (5, None));
}

#[test]
fn outdated_pods_that_are_not_ready_take_no_round_of_their_own() {
    let fleet = given(rolling(1)).node(node("a").has(old().not_ready())).node(node("b").has(old()));
    let outlook = outlook(&fleet);
    assert_eq!((outlook.outdated, outlook.rounds_left), (2, Some(1)));
    let last = given(rolling(1)).node(node("a").has(new().ready_for(1))).min_ready(60);
    assert_eq!(parts(&last), (moving(0, 1), 0, Some(1)));
}

#[test]
fn a_pod_that_does_not_become_ready_stops_all_others_once_patience_is_over() {
    let fleet = |seconds| given(rolling(1)).node(node("a").has(unready(seconds))).node(node("b").has(old()));
    assert_eq!(obstacles(&fleet(599)), ["Moving { acting: 0, waiting: 1 }"]);
    assert_eq!(obstacles(&fleet(600)), ["NotReady: a"]);
    assert_eq!(outlook(&fleet(600)).rounds_left, Some(1));
}

#[test]
fn a_rollout_waits_for_a_user_under_on_delete() {
    let fleet = given(on_delete()).node(node("a").has(old())).node(node("b").has(new()));
    assert_eq!(obstacles(&fleet), ["WaitsForDelete: a"]);
}

#[test]
fn a_terminating_pod_is_an_obstacle_once_it_is_overdue() {
    let fleet = |seconds| {
        given(rolling(1)).node(node("a").has(old().terminating(seconds))).node(node("b").has(old()))
    };
    assert_eq!(obstacles(&fleet(30)), ["Moving { acting: 0, waiting: 1 }"]);
    assert_eq!(obstacles(&fleet(0)), ["Overdue: a"]);
}

/// Under surge the outdated pod of an updated node has until its grace period is over: then the next node has its place.
#[test]
fn a_rollout_waits_for_an_outdated_pod_that_ends_beside_its_successor() {
    let updated = |seconds| node("a").has(new()).has(old().terminating(seconds));
    let fleet = |seconds| given(surging(1)).node(updated(seconds)).node(node("b").has(old()));
    let kinds = |given: &Given| Obstacles::new(&given.plan()).at(now(), SignedDuration::from_secs(600));
    assert_eq!((parts(&fleet(30)).0, kinds(&fleet(30))), (moving(0, 1), vec![]));
    assert_eq!(parts(&fleet(0)).0, moving(1, 0), "an overdue pod holds no place");
    let last = given(surging(1)).node(updated(30)).node(node("b").has(new()));
    assert_eq!(parts(&last), (json!({"type": "Complete"}), 0, Some(0)), "nobody waits for the place");
}

#[test]
fn a_ready_pod_without_a_time_never_becomes_available() {
    let fleet = given(rolling(1))
        .min_ready(60)
        .node(node("a").has(new().ready_without_time()))
        .node(node("b").has(old()));
    assert_eq!(obstacles(&fleet), ["NoReadyTime: a"]);
}

#[test]
fn a_node_that_the_update_took_down_is_an_obstacle() {
    let lost =
        node("a").not_ready().taint("node.kubernetes.io/unreachable", "NoSchedule").has(new().not_ready());
    let fleet = given(rolling(1)).node(lost).node(node("b").has(old()));
    assert_eq!(obstacles(&fleet), ["DownAfterUpdate: a"]);
}

#[test]
fn a_rollout_is_stuck_while_the_controller_does_nothing() {
    let fleet = given(rolling(1)).node(node("a").has(old()));
    let all = fleet.clone().with("/daemonSet/spec/selector", json!({}));
    assert_eq!(obstacles(&all), ["SelectingAll:"]);
    let deleted = fleet.with("/daemonSet/metadata/deletionTimestamp", json!(now().to_string()));
    assert_eq!(obstacles(&deleted), ["BeingDeleted:"]);
    assert_eq!(outlook(&deleted).rounds_left, None);
}

#[test]
fn an_outlook_has_a_json_form() {
    let fleet = given(on_delete()).node(node("a").has(old()));
    let outlook = outlook(&fleet);
    assert_eq!(
        json!(outlook),
        json!({
            "standing": {"type": "Stuck", "obstacles": [{"kind": "WaitsForDelete", "nodes": ["a"]}]},
            "obstacles": [{"kind": "WaitsForDelete", "nodes": ["a"]}], "outdated": 1, "roundsLeft": null,
        })
    );
    assert!(ObstacleKind::SelectingAll < ObstacleKind::NoRoom);
}

/// The obstacles while the kubelet of `a` has not reported for so many seconds, under a template that tolerates it.
fn while_silent(seconds: i64, fleet: &Given) -> Vec<String> {
    let hints = Hints::default().silent_node("a", Some(now() - SignedDuration::from_secs(seconds)));
    let outlook = Outlook::with_hints(&fleet.plan(), now(), SignedDuration::from_secs(600), &hints);
    obstacles_of(outlook.unwrap())
}

/// The plan deletes its pod, which only a kubelet can end.
#[test]
fn a_node_that_does_not_report_moves_nothing() {
    let fleet = |pod| given(rolling(1)).node(node("a").has(pod)).node(node("b").has(old()));
    let outdated = || fleet(old().not_ready());
    assert_eq!(while_silent(599, &outdated()), ["Moving { acting: 0, waiting: 1 }"]);
    assert_eq!(while_silent(600, &outdated()), ["NodeUnreachable: a"]);
    assert_eq!(while_silent(600, &fleet(old().terminating(30))), ["NodeUnreachable: a"]);
    assert_eq!(while_silent(599, &fleet(old().terminating(30))), ["Moving { acting: 0, waiting: 1 }"]);
    // Its updated pod is not the one to look at.
    assert_eq!(while_silent(600, &fleet(unready(700))), ["DownAfterUpdate: a"]);
    assert_eq!(while_silent(599, &fleet(unready(700))), ["NotReady: a"]);
    // A failed pod is removed by the API server itself.
    assert_eq!(while_silent(600, &fleet(old().failed())), ["Moving { acting: 1, waiting: 0 }"]);
    let empty = given(rolling(1)).node(node("a")).node(node("b").has(new()));
    assert_eq!(while_silent(600, &empty), ["NodeUnreachable: a"]);
    let updated = given(rolling(1)).node(node("a").has(new())).node(node("b").has(new()));
    assert_eq!(while_silent(600, &updated), ["Complete"]);
}

/// A controller that runs does them within seconds.
#[test]
fn actions_that_nobody_does_are_an_obstacle() {
    let fleet = given(rolling(1)).node(node("a").has(old())).node(node("b").has(old()));
    let after = |seconds| {
        let hints = Hints::default().last_change(now() - SignedDuration::from_secs(seconds));
        Outlook::with_hints(&fleet.plan(), now(), SignedDuration::from_secs(600), &hints).unwrap()
    };
    assert_eq!(obstacles_of(after(599)), ["Moving { acting: 1, waiting: 0 }"]);
    assert_eq!(obstacles_of(after(600)), ["NotDone: a"]);
}

/// Its pods end by themselves.
#[test]
fn a_deletion_is_an_obstacle_once_nothing_has_changed_for_long() {
    let fleet = given(rolling(1)).node(node("a").has(new()));
    let deleted = fleet.with("/daemonSet/metadata/deletionTimestamp", json!(now().to_string()));
    let after = |seconds| {
        let hints = Hints::default().last_change(now() - SignedDuration::from_secs(seconds));
        Outlook::with_hints(&deleted.plan(), now(), SignedDuration::from_secs(600), &hints).unwrap()
    };
    assert_eq!(json!(after(599).state), moving(0, 0));
    assert_eq!(obstacles_of(after(600)), ["BeingDeleted:"]);
}

/// One node may be stuck while others move.
#[test]
fn a_rollout_that_moves_may_have_obstacles() {
    let fleet = given(rolling(2)).node(node("a").has(unready(700))).node(node("b").has(unready(1)));
    let outlook = outlook(&fleet);
    assert_eq!(json!(outlook.state), moving(0, 1));
    assert_eq!(json!(outlook.obstacles), json!([{"kind": "NotReady", "nodes": ["a"]}]));
}

/// The pod of the canary pulls its image and may become Ready: nobody gets the new version for that.
#[test]
fn a_rollout_that_has_failed_is_stuck_though_a_pod_may_become_ready() {
    let policy = |action: &str| {
        let rules = json!({"action": action, "availableWithinSeconds": 30});
        json!({"rollout": {"waves": [{"upTo": 1}, {}], "onFailure": rules}})
    };
    let fleet = |action| {
        let fleet = given(rolling(1)).policy(policy(action));
        fleet.node(node("a").has(unready(60))).node(node("b").has(old()))
    };
    assert_eq!(obstacles(&fleet("Pause")), ["RolloutFailed: b"]);
    assert_eq!(json!(outlook(&fleet("RollBack")).state), moving(1, 0), "node a goes back");
    let kinds = Obstacles::new(&fleet("Pause").plan()).at(now(), SignedDuration::from_secs(600));
    assert_eq!(kinds, [ObstacleKind::RolloutFailed]);
}

/// Wave 0 bakes, and the one after it needs an approval, so that no node has an instant.
#[test]
fn a_rollout_whose_wave_bakes_waits_for_time() {
    let waves = json!([{"upTo": 1, "bakeSeconds": 600}, {"needsApproval": true}]);
    let policy = json!({"rollout": {"waves": waves}});
    let fleet = |ready: i64| {
        let fleet = given(rolling(1)).policy(policy.clone());
        fleet.node(node("a").has(new().ready_for(ready))).node(node("b").has(old()))
    };
    let kinds = |ready| Obstacles::new(&fleet(ready).plan()).at(now(), SignedDuration::from_secs(600));
    assert_eq!((json!(outlook(&fleet(60)).state), kinds(60)), (moving(0, 1), vec![]));
    assert_eq!(
        (obstacles(&fleet(600)), kinds(600)),
        (vec!["WaitsForApproval: b".to_owned()], vec![ObstacleKind::WaitsForApproval])
    );
}

/// A node that no wave has reached uses up the limit for a moment: the wave goes on after it.
#[test]
fn a_held_node_that_is_unavailable_for_a_moment_is_waited_for() {
    let policy = |second: Value| json!({"rollout": {"waves": [{"upTo": 1}, second]}});
    let approval = json!({"needsApproval": true});
    let kinds = |given: &Given| Obstacles::new(&given.plan()).at(now(), SignedDuration::from_secs(600));
    let fleet = |second: &Value, pod| {
        let fleet = given(rolling(1)).min_ready(60).policy(policy(second.clone()));
        fleet.node(node("a").has(old().ready_for(100))).node(node("b").has(pod))
    };
    for pod in [old().ready_for(10), old().terminating(20)] {
        let given = fleet(&approval, pod);
        assert_eq!((parts(&given).0, kinds(&given)), (moving(0, 1), vec![]));
    }
    let overdue = fleet(&approval, old().terminating(0));
    assert_eq!(
        (obstacles(&overdue), kinds(&overdue)),
        (vec!["Overdue: b".to_owned()], vec![ObstacleKind::Overdue])
    );
    // Time brings no available pod here.
    let stays = fleet(&approval, old().ready_without_time());
    assert_eq!(
        (obstacles(&stays), kinds(&stays)),
        (vec!["NoRoom: a b".to_owned()], vec![ObstacleKind::NoRoom])
    );
}

/// One failure is tolerated, and the wave bakes on: time alone opens the next one.
#[test]
fn a_wave_that_bakes_beside_a_tolerated_failure_moves() {
    let policy = json!({"rollout": {
        "waves": [{"upTo": 2, "bakeSeconds": 600}, {"needsApproval": true}],
        "onFailure": {"maxFailures": 1, "availableWithinSeconds": 60},
    }});
    let unready = json!([{"type": "Ready", "status": "False", "lastTransitionTime": at(-3600).to_string()}]);
    let given = given(rolling(1))
        .policy(policy)
        .node(node("a").has(new().ready_for(60)))
        .node(node("b").has(new().created_ago(3600).with("/status/conditions", unready)))
        .node(node("c").has(old()));
    assert_eq!(parts(&given).0["type"], "Moving");
    assert_eq!(Obstacles::new(&given.plan()).at(now(), SignedDuration::from_secs(600)), []);
}

/// Nobody is needed while the drain goes on, nor where the policy takes the pod all the same.
#[test]
fn closed_gates_are_an_obstacle_once_patience_is_over() {
    let fleet = |seconds, turn: Value| {
        given(rolling(1)).policy(json!({"turn": turn})).node(node("a").in_turn(seconds).has(old()))
    };
    let kinds = |given: &Given| Obstacles::new(&given.plan()).at(now(), SignedDuration::from_secs(600));
    let gates = json!({"gates": ["x"]});
    let overdue = json!({"gates": ["x"], "timeoutSeconds": 60});
    let proceeds = json!({"gates": ["x"], "timeoutSeconds": 3600, "onTimeout": "Proceed"});
    for (seconds, turn) in [(10, &gates), (599, &gates), (659, &overdue), (10, &proceeds), (3599, &proceeds)]
    {
        let given = fleet(seconds, turn.clone());
        assert_eq!((parts(&given).0, kinds(&given)), (moving(0, 1), vec![]), "{seconds} {turn}");
    }
    for (seconds, turn) in [(600, &gates), (660, &overdue)] {
        let given = fleet(seconds, turn.clone());
        let found = (obstacles(&given), kinds(&given));
        assert_eq!(
            found,
            (vec!["ClosedGates: a".to_owned()], vec![ObstacleKind::ClosedGates]),
            "{seconds} {turn}"
        );
    }
    assert_eq!(parts(&fleet(3600, proceeds)).0, moving(1, 0), "the plan takes the pod");
}

/// A report of an older version tells no turn.
#[test]
fn closed_gates_without_their_turn_are_an_obstacle_at_once() {
    let policy = json!({"turn": {"gates": ["x"]}});
    let mut plan = given(rolling(1)).policy(policy).node(node("a").in_turn(10).has(old())).plan();
    let mut outcome = json!(plan.report.nodes[0].outcome);
    outcome.as_object_mut().unwrap().remove("turn").unwrap();
    plan.report.nodes[0].outcome = serde_json::from_value(outcome).unwrap();
    let outlook = Outlook::new(&plan, now(), SignedDuration::from_secs(600));
    assert_eq!(obstacles_of(outlook.unwrap()), ["ClosedGates: a"]);
}
