//! The objects of a random fleet, in the language of the stories.

use super::{Oddity, Owner, RandomHistory, RandomMemory, RandomNode, RandomPod, World};
use crate::support::{Given, NodeStory, PodStory, at, given, node, pod, revision, template};
use daemonset::{Action, Recording};
use serde_json::{Value, json};

impl World {
    pub fn recording(&self) -> Recording {
        self.given().recording()
    }

    /// The objects in the API server's form.
    pub fn given(&self) -> Given {
        let mut given = given(self.strategy.clone()).min_ready(self.min_ready).policy(self.policy.clone());
        if let Some(generation) = self.generation {
            given = given.generation(generation);
        }
        for (index, random) in self.nodes.iter().enumerate() {
            given = given.node(random.story(&format!("n{index}")));
        }
        for (index, stray) in self.strays.iter().enumerate() {
            given = given.stray("gone", stray.story().named(&format!("stray-{index}")));
        }
        given = self.history.add_to(given);
        if let Some(memory) = &self.memory {
            let json = memory.json(&given);
            given = given.with("/memory", json);
        }
        if let Some(turns) = &self.turns {
            given = turns.add_to(given);
        }
        self.oddity.add_to(given)
    }
}

impl RandomNode {
    pub(super) fn story(&self, name: &str) -> NodeStory {
        let mut story = node(name);
        if let Some((key, effect)) = self.taint {
            let own_condition = key.starts_with("node.kubernetes.io/");
            story = if own_condition && self.ready.is_none() {
                story.not_ready()
            } else {
                story.taint(key, effect)
            };
        }
        for (kind, (status, age)) in [
            ("Ready", self.ready),
            (self.leaves.map_or("", |(kind, _)| kind), self.leaves.map(|(_, age)| ("True", age))),
        ]
        .into_iter()
        .filter_map(|(kind, condition)| Some((kind, condition?)))
        {
            story = story.condition(kind, status, age.map(|age| at(-age)));
        }
        self.pods.iter().fold(story, |story, pod| story.has(pod.story()))
    }
}

impl RandomPod {
    pub(super) fn story(&self) -> PodStory {
        let mut story = pod(self.version).phase(self.phase).created_ago(self.created);
        if self.version.is_empty() {
            story = story.without_hash();
        }
        story = match self.ready {
            None => story.not_ready(),
            Some(None) => story.ready_without_time(),
            Some(Some(ago)) => story.ready_for(ago),
        };
        if let Some(generation) = self.generation {
            story = story.generation(generation);
        }
        if let Some(seconds) = self.terminating {
            story =
                story.terminating(seconds).with("/metadata/deletionGracePeriodSeconds", json!(self.grace));
        }
        if !self.bound {
            story = story.unbound();
        }
        if self.tolerates {
            story = story.tolerates("dedicated");
        }
        story = match self.owner {
            Owner::Ours => story,
            Owner::Orphan => story.orphan(),
            Owner::Other => story.owned_by("uid-other"),
            Owner::OursNoLongerMatching => story.label("app", "other"),
            Owner::OrphanOfOthers => story.orphan().label("app", "other"),
            Owner::Mirror => story.mirror(),
            Owner::Elsewhere => story.with("/metadata/namespace", json!("elsewhere")),
        };
        if self.target { story } else { story.unbound().nowhere() }
    }
}

impl RandomHistory {
    pub(super) fn add_to(&self, given: Given) -> Given {
        let revisions = self.revisions.iter().map(|(version, number, labelled, owned)| {
            let mut json = revision(version, *number);
            if *version == "twin" {
                let mut stored = template("new");
                stored["$patch"] = json!("replace");
                json["data"]["spec"]["template"] = stored;
            }
            if !labelled {
                json["metadata"]["labels"] = json!({"app": "agent"});
            }
            if !owned {
                json["metadata"]["ownerReferences"] = json!([]);
            }
            if let Some(age) = self.age {
                json["metadata"]["creationTimestamp"] = json!(at(-age));
            }
            json
        });
        let given = given.revisions(revisions);
        given.with("/daemonSet/spec/revisionHistoryLimit", json!(self.limit))
    }
}

impl RandomMemory {
    pub(super) fn json(&self, given: &Given) -> Value {
        let mut json = json!({"creates": {}, "deletes": {}, "failures": {}});
        for (node, ago, current) in &self.creates {
            let revision = if *current { "new" } else { "old" };
            let create = json!({"uid": format!("uid-of-n{node}"), "revision": revision, "at": at(-ago)});
            json["creates"][format!("n{node}")] = create;
        }
        for (pod, ago) in &self.deletes {
            if let Some(uid) = given.json["pods"][*pod]["metadata"]["uid"].as_str() {
                json["deletes"][uid] = json!(at(-ago));
            }
        }
        for (key, nodes) in [("taken", &self.taken), ("refusals", &self.refusals)] {
            json[key] = json!({});
            for (node, ago) in nodes {
                let at = json!(at(-ago));
                json[key][format!("n{node}")] =
                    if key == "taken" { json!({"uid": format!("uid-taken-n{node}"), "at": at}) } else { at };
            }
        }
        for (node, count, ago) in &self.failures {
            json["failures"][format!("n{node}")] =
                json!({"generation": if node % 2 == 0 { 5 } else { 2 }, "count": count, "at": at(-ago)});
        }
        json
    }
}

impl Oddity {
    pub(super) fn add_to(self, given: Given) -> Given {
        match self {
            Oddity::None => given,
            Oddity::EmptySelector => given.with("/daemonSet/spec/selector", json!({})),
            Oddity::Deleted => given.with("/daemonSet/metadata/deletionTimestamp", json!(at(-10))),
            Oddity::HostPort => given.with(
                "/daemonSet/spec/template/spec/containers/0/ports",
                json!([{"hostPort": 9100, "containerPort": 9100}]),
            ),
            Oddity::RightStatus => {
                let status = serde_json::to_value(given.plan().status).unwrap();
                given.with("/daemonSet/status", status)
            }
            Oddity::OldStatus => {
                let status =
                    json!({"currentNumberScheduled": 3, "numberMisscheduled": 1, "observedGeneration": 1});
                given.with("/daemonSet/status", status)
            }
            Oddity::TakenName => beside_the_new_one(given, |new| {
                let mut taken = revision("taken", 1);
                taken["metadata"]["name"] = new["metadata"]["name"].clone();
                taken["metadata"]["ownerReferences"] = json!([{"uid": "uid-other", "controller": true}]);
                taken
            }),
            Oddity::ReleasedRevision => beside_the_new_one(given, |mut released| {
                released["metadata"]["uid"] = json!("uid-released");
                released["metadata"]["labels"] = json!({"controller-revision-hash": "new"});
                released["metadata"]["ownerReferences"] = json!([]);
                released
            }),
        }
    }
}

/// Adds objects made from the revision that the plan creates, if it creates one.
fn beside_the_new_one(mut given: Given, made: impl FnOnce(Value) -> Value) -> Given {
    let created = given.plan().actions.into_iter().find_map(|action| match action {
        Action::CreateRevision { revision, .. } => Some(revision),
        _ => None,
    });
    given.json["revisions"].as_array_mut().unwrap().extend(created.map(made));
    given
}
