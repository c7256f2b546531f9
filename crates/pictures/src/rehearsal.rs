//! One setting after the other, tried in the same cluster.

use crate::scene::{Ran, Scene};
use crate::setting::Setting;
use crate::turn_lanes::DRAINED;
use daemonset::policy::TurnMode;
use daemonset::{Policy, Recording};
use daemonset_sim::{Cluster, Runtime};
use daemonset_view::cluster::Input;
use daemonset_view::policy;
use daemonset_view::words;
use std::collections::BTreeSet;

/// A cluster, and the settings that are tried in it.
pub struct Rehearsal<'r> {
    pub input: &'r Input,
    pub scene: &'r Scene,
    /// Holds for every setting that is compared.
    pub setting: &'r Setting,
    /// Several beside each other; where it is empty, only `setting`.
    pub compare: &'r [Setting],
    /// They are compared by the time for which each node has no Ready pod.
    pub downtime: bool,
}

/// Why a setting can't be tried.
#[derive(Debug)]
pub enum Refused {
    /// Its policy can't be read, or the API server refuses its limits.
    Setting(String),
    /// The cluster can't be planned.
    Cluster(String),
}

impl Rehearsal<'_> {
    /// Each setting to try.
    pub fn settings(&self) -> &[Setting] {
        match self.compare {
            [] => std::slice::from_ref(self.setting),
            several => several,
        }
    }

    /// How the run of a setting is called.
    pub fn label<'s>(&'s self, setting: &'s Setting) -> &'s str {
        if self.compare.is_empty() { &self.input.recording.name } else { &setting.label }
    }

    /// Whether the nodes know which images they have: in all runs, so that they are in one world, in which a node is as fast in
    /// each of them.
    ///
    /// # Errors
    /// A policy that can't be read.
    pub fn knows_images(&self) -> Result<bool, Refused> {
        let mut knows_images = self.downtime;
        for setting in self.settings() {
            knows_images |= policy::asks_for_turns(&self.policy_of(setting)?);
        }
        Ok(knows_images)
    }

    /// The gates of the turns of all settings, but that of the drain, which opens its own.
    ///
    /// # Errors
    /// A policy that can't be read.
    pub fn gates(&self) -> Result<BTreeSet<String>, Refused> {
        let mut gates = self.all_gates()?;
        gates.remove(DRAINED);
        Ok(gates)
    }

    fn all_gates(&self) -> Result<BTreeSet<String>, Refused> {
        let mut gates = BTreeSet::new();
        for setting in self.settings() {
            if let Some(TurnMode::Take(turn)) = self.policy_of(setting)?.turn {
                gates.extend(turn.gates);
            }
        }
        Ok(gates)
    }

    /// Checks the steps of people: they open gates that a setting has, and resume after they have paused.
    ///
    /// # Errors
    /// A gate that no setting has, times in another order, and a policy that can't be read.
    pub fn check_people(&self) -> Result<(), Refused> {
        let times = self.scene.pause_at.zip(self.scene.resume_at);
        if let Some((pause, resume)) = times.filter(|(pause, resume)| resume <= pause) {
            let [pause, resume] = [pause, resume].map(words::duration);
            let message =
                format!("resume after {resume}: must be later than the pause, which is after {pause}");
            return Err(Refused::Setting(message));
        }
        let gates = self.all_gates()?;
        let opened = &self.scene.settings.gates;
        let Some(unknown) = opened.keys().find(|gate| !gates.contains(*gate)) else { return Ok(()) };
        let has = match gates.is_empty() {
            true => "no policy has gates".to_owned(),
            false => format!("the gates are {}", words::names(&gates, gates.len())),
        };
        Err(Refused::Setting(format!("{unknown}: no such gate: {has}")))
    }

    /// Tries a setting, and shows the cluster at each step.
    ///
    /// # Errors
    /// A policy that can't be read, and a cluster that can't be planned.
    pub fn run(
        &self,
        setting: &Setting,
        knows_images: bool,
        look: impl FnMut(&Cluster),
    ) -> Result<Ran, Refused> {
        let mut recording = self.scene.grown(&self.input.recording);
        Setting::apply(&[self.setting, setting], &mut recording).map_err(Refused::Setting)?;
        let policy = self.normalized(setting, &mut recording)?;
        recording.snapshot().map_err(|error| Refused::Cluster(error.to_string()))?;
        let runtime = knows_images.then_some(Runtime::Containerd);
        Ok(self.scene.run(recording, (self.label(setting), runtime), policy::words(&policy), look))
    }

    /// The policy that a run has.
    fn policy_of(&self, setting: &Setting) -> Result<Policy, Refused> {
        let recorded = &self.input.recording;
        let mut recording = Recording::new(recorded.daemon_set.clone(), recorded.now);
        recording.policy = recorded.policy.clone();
        Setting::apply(&[self.setting, setting], &mut recording).map_err(Refused::Setting)?;
        self.normalized(setting, &mut recording)
    }

    fn normalized(&self, setting: &Setting, recording: &mut Recording) -> Result<Policy, Refused> {
        let policy = policy::normalize(&mut recording.daemon_set, &recording.policy, &self.input.powers);
        policy.map_err(|error| {
            let file = [setting, self.setting].into_iter().find_map(Setting::policy_file);
            Refused::Setting(policy::message(&error, file))
        })
    }
}
