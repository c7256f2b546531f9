//! The sliders of the rehearsal, as the simulation takes them.

use daemonset_pictures::rehearsal::{Refused, Rehearsal};
use daemonset_pictures::run::Run;
use daemonset_pictures::scene::{Ran, Scene};
use daemonset_pictures::setting::Setting;
use daemonset_pictures::world::{self, World};
use daemonset_pictures::{compare, downtime, html, report};
use daemonset_sim::{Distribution, Probability};
use daemonset_view::cluster::Input;
use daemonset_view::policy::PolicyChoice;
use jiff::SignedDuration;
use serde::Deserialize;
use serde_json::{Value, json};
use std::fmt::Display;
use std::str::FromStr;

/// How long nothing happens before a rollout counts as stuck, as for the plugin.
const PATIENCE: SignedDuration = SignedDuration::from_mins(30);
/// How long a rollout may take, as for the plugin.
const BOUND: SignedDuration = SignedDuration::from_hours(24);

/// A rehearsal. Times and percentages are texts, as on the plugin's command line; an empty one is its default.
#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct RehearsalRequest {
    nodes: Option<u32>,
    /// 1, unless another one is asked for.
    seed: Option<u64>,
    startup: String,
    pull: String,
    stop: String,
    failure_rate: String,
    broken: String,
    crash_loops: String,
    pull_fails: String,
    crash: String,
    lag: String,
    churn: String,
    approve_after: String,
    /// Somebody opens each gate of a turn, but that of the drain.
    gates_after: String,
    pause_at: String,
    resume_at: String,
    lifetime: String,
    evicted: String,
    panics_node: String,
    workloads: String,
    disruption_budget: String,
    /// Its key; empty for none.
    absence_taint: String,
    as_is: bool,
    /// Compares by the time for which each node is down.
    downtime: bool,
    /// One, or several beside each other.
    settings: Vec<AskedSetting>,
}

/// A setting; an empty text leaves the DaemonSet as it is.
#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct AskedSetting {
    /// That of the update strategy.
    #[serde(rename = "type")]
    kind: String,
    max_unavailable: String,
    max_surge: String,
    min_ready_seconds: String,
    /// On how many nodes at a time the images are pulled ahead.
    parallel: String,
    in_place: String,
    /// In YAML or JSON; null for the DaemonSet's own, empty for none.
    policy: Option<String>,
}

impl AskedSetting {
    fn setting(&self) -> Result<Setting, String> {
        let mut setting = Setting::default();
        let parts = [
            ("type", &self.kind),
            ("maxUnavailable", &self.max_unavailable),
            ("maxSurge", &self.max_surge),
            ("minReadySeconds", &self.min_ready_seconds),
            ("pull", &self.parallel),
            ("inPlace", &self.in_place),
        ];
        for (key, value) in parts.into_iter().filter(|(_, value)| !value.is_empty()) {
            setting.set(key, value)?;
        }
        match self.policy.as_deref().map(str::trim) {
            None => {}
            Some("") => setting.choose(PolicyChoice::None),
            Some(text) => setting.choose(PolicyChoice::named("policy", text.as_bytes())?),
        }
        if setting.label.is_empty() {
            "as it is".clone_into(&mut setting.label);
        }
        Ok(setting)
    }
}

impl RehearsalRequest {
    /// The pictures and the summary of each run, and the picture of all beside each other.
    pub(crate) fn rehearse(&self, input: &Input) -> Result<Value, String> {
        let settings = self.settings.iter().map(AskedSetting::setting).collect::<Result<Vec<_>, _>>()?;
        let (mut scene, setting) = (self.scene()?, Setting::default());
        let (setting, compare) = match settings.as_slice() {
            [] => (&setting, [].as_slice()),
            [only] => (only, [].as_slice()),
            several => (&setting, several),
        };
        let refused = |refused: Refused| match refused {
            Refused::Setting(message) | Refused::Cluster(message) => message,
        };
        if !self.gates_after.is_empty() {
            let after = time("gatesAfter", &self.gates_after, "")?;
            let asks = Rehearsal { input, scene: &scene, setting, compare, downtime: self.downtime };
            let gates = asks.gates().map_err(refused)?;
            scene.settings.gates = gates.into_iter().map(|gate| (gate, after)).collect();
        }
        let rehearsal = Rehearsal { input, scene: &scene, setting, compare, downtime: self.downtime };
        rehearsal.check_people().map_err(refused)?;
        let knows_images = rehearsal.knows_images().map_err(refused)?;
        let ran = rehearsal.settings().iter().map(|setting| rehearsal.run(setting, knows_images, |_| ()));
        let ran: Vec<Ran> = ran.collect::<Result<_, _>>().map_err(refused)?;
        let pictures: Vec<Run<'_>> = ran.iter().map(Ran::picture).collect();
        let beside = (pictures.len() > 1).then(|| {
            let (figures, svg) = match self.downtime {
                true => (downtime::table(&pictures), downtime::svg(&pictures)),
                false => (compare::table(&pictures), compare::svg(&pictures)),
            };
            json!({"svg": svg, "titles": figures.titles, "rows": figures.rows})
        });
        let seed = self.seed();
        let runs = ran.iter().zip(&pictures).map(|(ran, picture)| {
            let mut played = html::played(picture);
            if let Some(members) = played.as_object_mut() {
                members.insert("label".to_owned(), ran.label.clone().into());
                members.insert("text".to_owned(), report::text(ran, "the opened file", seed).into());
            }
            played
        });
        Ok(json!({"runs": runs.collect::<Vec<_>>(), "beside": beside, "seed": seed}))
    }

    fn seed(&self) -> u64 {
        self.seed.unwrap_or(1)
    }

    fn scene(&self) -> Result<Scene, String> {
        let world = World {
            startup: time("startup", &self.startup, world::STARTUP)?,
            pull: time("pull", &self.pull, world::PULL)?,
            stop: time("stop", &self.stop, world::STOP)?,
            failure_rate: chance("failureRate", &self.failure_rate)?,
            evicted: chance("evicted", &self.evicted)?,
            broken: chance("broken", &self.broken)?,
            crash_loops: chance("crashLoops", &self.crash_loops)?,
            pull_fails: chance("pullFails", &self.pull_fails)?,
            panics_node: chance("panicsNode", &self.panics_node)?,
            lifetime: maybe("lifetime", &self.lifetime)?,
            churn: maybe("churn", &self.churn)?,
            absence_taint: Some(self.absence_taint.clone()).filter(|key| !key.is_empty()),
            crash: chance("crash", &self.crash)?,
            lag: time("lag", &self.lag, world::LAG)?,
            approve_after: maybe("approveAfter", &self.approve_after)?,
            gates: Vec::new(),
            as_is: self.as_is,
        };
        let (settings, release) = world.settings();
        Ok(Scene {
            nodes: self.nodes,
            settings,
            release,
            pause_at: maybe("pauseAt", &self.pause_at)?,
            resume_at: maybe("resumeAt", &self.resume_at)?,
            workloads: maybe("workloads", &self.workloads)?.unwrap_or_default(),
            disruption_budget: maybe("disruptionBudget", &self.disruption_budget)?,
            seed: self.seed(),
            patience: PATIENCE,
            bound: BOUND,
        })
    }
}

fn time(name: &str, text: &str, default: &str) -> Result<Distribution, String> {
    let text = if text.is_empty() { default } else { text };
    text.parse().map_err(|error| format!("{name}: {error}"))
}

/// None where the text is empty.
fn maybe<T: FromStr<Err: Display>>(name: &str, text: &str) -> Result<Option<T>, String> {
    let read = Some(text).filter(|text| !text.is_empty()).map(str::parse).transpose();
    read.map_err(|error| format!("{name}: {error}"))
}

fn chance(name: &str, text: &str) -> Result<Probability, String> {
    let text = if text.is_empty() { "0%" } else { text };
    text.parse().map_err(|error| format!("{name}: {error}"))
}
