//! The sliders of the rehearsal, as the simulation takes them.

use daemonset_sim::{Distribution, Probability};
use daemonset_view::cluster::Input;
use daemonset_view::simulate::policy::PolicyChoice;
use daemonset_view::simulate::rehearsal::{Refused, Rehearsal};
use daemonset_view::simulate::run::Run;
use daemonset_view::simulate::scene::{Ran, Scene};
use daemonset_view::simulate::setting::Setting;
use daemonset_view::simulate::world::{self, World};
use daemonset_view::simulate::{compare, html, report};
use jiff::SignedDuration;
use serde::Deserialize;
use serde_json::{Value, json};

/// How long nothing happens before a rollout counts as stuck, as for the plugin.
const PATIENCE: SignedDuration = SignedDuration::from_mins(30);
/// How long a rollout may take, as for the plugin.
const BOUND: SignedDuration = SignedDuration::from_hours(24);

/// A rehearsal. Times and percentages are texts, as on the plugin's command line; an empty one is its default.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct Asked {
    nodes: Option<u32>,
    seed: u64,
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
    as_is: bool,
    /// One, or several beside each other.
    settings: Vec<AskedSetting>,
}

impl Default for Asked {
    fn default() -> Self {
        let empty = String::new;
        Asked {
            nodes: None,
            seed: 1,
            startup: empty(),
            pull: empty(),
            stop: empty(),
            failure_rate: empty(),
            broken: empty(),
            crash_loops: empty(),
            pull_fails: empty(),
            crash: empty(),
            lag: empty(),
            churn: empty(),
            approve_after: empty(),
            as_is: false,
            settings: Vec::new(),
        }
    }
}

/// A setting; an empty text leaves the DaemonSet as it is.
#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct AskedSetting {
    max_unavailable: String,
    max_surge: String,
    min_ready_seconds: String,
    /// In YAML or JSON; null for the DaemonSet's own, empty for none.
    policy: Option<String>,
}

impl AskedSetting {
    fn setting(&self) -> Result<Setting, String> {
        let mut setting = Setting::default();
        let parts = [
            ("maxUnavailable", &self.max_unavailable),
            ("maxSurge", &self.max_surge),
            ("minReadySeconds", &self.min_ready_seconds),
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

impl Asked {
    /// The pictures and the summary of each run, and the picture of all beside each other.
    pub(crate) fn rehearse(&self, input: &Input) -> Result<Value, String> {
        let settings = self.settings.iter().map(AskedSetting::setting).collect::<Result<Vec<_>, _>>()?;
        let (scene, setting) = (self.scene()?, Setting::default());
        let (setting, compare) = match settings.as_slice() {
            [] => (&setting, [].as_slice()),
            [only] => (only, [].as_slice()),
            several => (&setting, several),
        };
        let rehearsal = Rehearsal { input, scene: &scene, setting, compare, downtime: false };
        let refused = |refused: Refused| match refused {
            Refused::Policy(message) | Refused::Cluster(message) => message,
        };
        let knows_images = rehearsal.knows_images().map_err(refused)?;
        let ran = rehearsal.settings().iter().map(|setting| rehearsal.run(setting, knows_images, |_| ()));
        let ran: Vec<Ran> = ran.collect::<Result<_, _>>().map_err(refused)?;
        let pictures: Vec<Run<'_>> = ran.iter().map(Ran::picture).collect();
        let beside = (pictures.len() > 1).then(|| {
            let figures = compare::table(&pictures);
            json!({"svg": compare::svg(&pictures), "titles": figures.titles, "rows": figures.rows})
        });
        let runs = ran.iter().zip(&pictures).map(|(ran, picture)| {
            let mut played = html::played(picture);
            if let Some(members) = played.as_object_mut() {
                members.insert("label".to_owned(), ran.label.clone().into());
                members.insert("text".to_owned(), report::text(ran, "the opened file", self.seed).into());
            }
            played
        });
        Ok(json!({"runs": runs.collect::<Vec<_>>(), "beside": beside, "seed": self.seed}))
    }

    fn scene(&self) -> Result<Scene, String> {
        let world = World {
            startup: time("startup", &self.startup, world::STARTUP)?,
            pull: time("pull", &self.pull, world::PULL)?,
            stop: time("stop", &self.stop, world::STOP)?,
            failure_rate: chance("failureRate", &self.failure_rate)?,
            evicted: Probability::NEVER,
            broken: chance("broken", &self.broken)?,
            crash_loops: chance("crashLoops", &self.crash_loops)?,
            pull_fails: chance("pullFails", &self.pull_fails)?,
            panics_node: Probability::NEVER,
            lifetime: None,
            churn: match self.churn.as_str() {
                "" => None,
                churn => Some(time("churn", churn, "")?),
            },
            absence_taint: None,
            crash: chance("crash", &self.crash)?,
            lag: time("lag", &self.lag, world::LAG)?,
            approve_after: match self.approve_after.as_str() {
                "" => None,
                after => Some(after.parse().map_err(|error| format!("approveAfter: {error}"))?),
            },
            gates: Vec::new(),
            as_is: self.as_is,
        };
        let (settings, release) = world.settings();
        Ok(Scene {
            nodes: self.nodes,
            settings,
            release,
            pause_at: None,
            resume_at: None,
            workloads: 0,
            disruption_budget: None,
            seed: self.seed,
            patience: PATIENCE,
            bound: BOUND,
        })
    }
}

fn time(name: &str, text: &str, default: &str) -> Result<Distribution, String> {
    let text = if text.is_empty() { default } else { text };
    text.parse().map_err(|error| format!("{name}: {error}"))
}

fn chance(name: &str, text: &str) -> Result<Probability, String> {
    let text = if text.is_empty() { "0%" } else { text };
    text.parse().map_err(|error| format!("{name}: {error}"))
}
