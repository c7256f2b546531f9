//! The cluster that a person has opened, and the questions about it.

use crate::fleet::FleetPage;
use crate::policy;
use crate::rehearsal::RehearsalRequest;
use crate::stories::stories;
use daemonset::model::{DaemonSet, Node};
use daemonset::plan;
use daemonset::policy::Permissions;
use daemonset::turns::plan_with_details;
use daemonset_view::case::View;
use daemonset_view::cluster::{Choice, ClusterNotes, Input, Models, Objects, Wanted};
use daemonset_view::hostile;
use daemonset_view::plan::{Planned, head, next_in_short, planned};
use daemonset_view::share::Left;
use daemonset_view::stuck::{self, Ends, PATIENCE};
use daemonset_view::why::{AboutDaemonSet, about_node};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::json;

/// The words by which a person calls the plugin.
pub(crate) const PLUGIN: &str = "kubectl daemonset";
/// How messages call the text that was opened.
const SOURCE: &str = "the opened file";
/// How a file that gzip made begins.
const GZIP: [u8; 2] = [0x1f, 0x8b];
/// The next changes by time alone that are looked for.
const MOST_INSTANTS: usize = 24;

/// A question of the page.
#[derive(Deserialize)]
#[serde(tag = "ask", rename_all = "camelCase", rename_all_fields = "camelCase")]
enum Question {
    /// The built-in stories.
    Stories,
    /// Opens one of them.
    Story { name: String },
    /// Looks at another of the opened DaemonSets.
    Choose { daemon_set: String },
    /// The plan at an instant.
    At { now: Timestamp },
    /// The instants at which time alone changes something, and why.
    Instants,
    /// Whether the rollout moves, at the instant of the last plan.
    Stuck,
    /// Why a node is as it is, at the same instant.
    Why { node: String },
    /// The rollout of a next version.
    Rehearse(Box<RehearsalRequest>),
    /// The policy in force; another one to try.
    Policy { text: Option<String> },
    /// A manifest for a DaemonSet of the cluster.
    Manifest { text: String },
    /// The DaemonSets of a node, or of a new one like it.
    On { node: String, is_new: bool },
    /// The cluster without what nobody else should see.
    Share { environment: bool, annotations: bool },
}

/// What is open.
#[derive(Default)]
pub struct Session {
    cluster: Option<LoadedCluster>,
}

/// A cluster, and the DaemonSet that is looked at.
struct LoadedCluster {
    /// As it was opened.
    text: Vec<u8>,
    objects: Objects,
    models: Models,
    /// The decision about the DaemonSet, at the instant that is looked at.
    input: Input,
    /// The plans of all DaemonSets at that instant, once somebody asks for them.
    planned: Option<Vec<Planned>>,
    /// A built-in story: its policies may do anything.
    is_story: bool,
}

/// A DaemonSet that can be looked at.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct FleetRow {
    name: String,
    now: String,
    next: String,
    /// Something waits, or is to be done.
    is_busy: bool,
    #[serde(skip)]
    is_planned: bool,
}

/// Whether a rollout moves.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Stuck<'a> {
    name: &'a str,
    headline: String,
    is_stuck: bool,
    findings: Vec<FoundWait<'a>>,
}

/// A thing that nodes wait for.
#[derive(Serialize)]
struct FoundWait<'a> {
    ends: Ends,
    nodes: &'a [String],
    text: &'a str,
    commands: &'a [String],
}

/// Why a node is as it is.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Why<'a> {
    name: &'a str,
    /// The DaemonSet that is looked at comes first.
    daemon_sets: Vec<About>,
    sentences: Vec<String>,
}

#[derive(Serialize)]
struct About {
    name: String,
    sentences: Vec<String>,
    commands: Vec<String>,
}

impl Session {
    /// Opens a List, a Recording or documents, and answers as [`ask`](Session::ask) does.
    ///
    /// # Errors
    /// A text that can't be read or planned, in words.
    pub fn open(&mut self, text: &[u8]) -> Result<String, String> {
        self.open_text(text, false).map_err(|message| hostile::in_one_line(&message))
    }

    /// Answers a question, both in JSON.
    ///
    /// # Errors
    /// The reason why there is no answer, in words.
    pub fn ask(&mut self, question: &str) -> Result<String, String> {
        let question: Question = serde_json::from_str(question).map_err(|error| error.to_string())?;
        self.answer(question).map_err(|message| hostile::in_one_line(&message))
    }

    fn answer(&mut self, question: Question) -> Result<String, String> {
        match question {
            Question::Stories => text(&stories()),
            Question::Story { name } => {
                let story = stories().into_iter().find(|story| story.name == name);
                let story = story.ok_or_else(|| format!("no story is named {name}"))?;
                let dump = story.dump();
                let opened = self.open_text(dump.as_bytes(), true)?;
                let dump = serde_json::to_string(&dump).map_err(|error| error.to_string())?;
                Ok(format!("{{\"opened\":{opened},\"dump\":{dump}}}"))
            }
            Question::Choose { daemon_set } => self.cluster()?.choose(&daemon_set),
            Question::At { now } => self.cluster()?.at(now),
            Question::Instants => self.cluster()?.instants(),
            Question::Stuck => self.cluster()?.stuck(),
            Question::Why { node } => self.cluster()?.why(&node),
            Question::Rehearse(asked) => {
                let cluster = self.cluster()?;
                text(&asked.rehearse(&cluster.input)?)
            }
            Question::Policy { text } => self.cluster()?.policy(text.as_deref()),
            Question::Manifest { text: manifest } => {
                let cluster = self.cluster()?;
                let (powers, now) = (&cluster.input.powers, cluster.now());
                text(&policy::judged(&cluster.objects, &manifest, powers, now)?)
            }
            Question::On { node, is_new } => {
                let cluster = self.cluster()?;
                text(&policy::on_node(&cluster.models.daemon_sets, cluster.node(&node)?, is_new)?)
            }
            Question::Share { environment, annotations } => {
                let shared = Left::new(environment, annotations).of(&[&self.cluster()?.text])?;
                serde_json::to_string(&shared).map_err(|error| error.to_string())
            }
        }
    }

    fn cluster(&mut self) -> Result<&mut LoadedCluster, String> {
        self.cluster.as_mut().ok_or_else(|| "nothing is open".to_owned())
    }

    fn open_text(&mut self, bytes: &[u8], is_story: bool) -> Result<String, String> {
        if bytes.starts_with(&GZIP) {
            return Err(format!("{SOURCE} is compressed: gunzip makes its text"));
        }
        let objects = Objects::read(bytes)?;
        let names = objects.daemon_set_names();
        if !objects.is_cluster() && !names.is_empty() {
            return text(&json!({"manifest": names}));
        }
        let models = objects.clone().models()?;
        if names.is_empty() {
            return Err("there is no DaemonSet in it".to_owned());
        }
        let now = objects.now().ok_or("nothing in it tells the time")?;
        let planned = planned(&models, now);
        let rows: Vec<FleetRow> = planned.iter().map(|planned| row(planned, &models.notes, now)).collect();
        // One that can't be planned hides no other.
        let first =
            rows.iter().find(|row| row.is_busy).or(rows.iter().find(|row| row.is_planned)).or(rows.first());
        let first = first.ok_or("there is no DaemonSet in it")?.name.clone();
        let input = input(&objects, &first, None, is_story)?;
        let planned = Some(planned);
        self.cluster =
            Some(LoadedCluster { text: bytes.to_vec(), objects, models, input, planned, is_story });
        text(&json!({"daemonSets": rows, "chosen": first, "now": now}))
    }
}

/// A DaemonSet by the name that its plan has: one without a namespace has its own problem, which the plan tells.
fn wanted(name: &str) -> Result<Wanted, String> {
    match name.strip_prefix('/') {
        Some(name) => Ok(Wanted::named(Some(""), name)),
        None => Wanted::parse(name),
    }
}

/// The decision about one DaemonSet.
fn input(objects: &Objects, name: &str, now: Option<Timestamp>, is_story: bool) -> Result<Input, String> {
    let choice = Choice { daemon_set: Some(wanted(name)?), now, policy: None };
    let mut input = Input::from_list(objects.clone(), &choice)?;
    if is_story {
        input.powers = Permissions::all();
    }
    Ok(input)
}

fn row(planned: &Planned, notes: &ClusterNotes, now: Timestamp) -> FleetRow {
    let name = planned.name.clone();
    match &planned.plan {
        Err(error) => {
            FleetRow { name, now: error.clone(), next: String::new(), is_busy: false, is_planned: false }
        }
        Ok(plan) => FleetRow {
            name,
            now: head::now(plan, notes),
            next: next_in_short(plan, now),
            is_busy: plan.acts() || head::any_waits(plan),
            is_planned: true,
        },
    }
}

impl LoadedCluster {
    fn now(&self) -> Timestamp {
        self.input.recording.now
    }

    fn choose(&mut self, name: &str) -> Result<String, String> {
        self.input = input(&self.objects, name, Some(self.now()), self.is_story)?;
        text(&name)
    }

    /// Everything on the first screen.
    fn at(&mut self, now: Timestamp) -> Result<String, String> {
        if self.now() != now {
            self.planned = None;
        }
        self.input.recording.now = now;
        let snapshot = self.input.snapshot()?;
        let (plan, details) = plan_with_details(&snapshot);
        drop(snapshot);
        let head = head::lines(&SOURCE, &self.input, &plan, &details, PLUGIN);
        text(&FleetPage::new(&self.input, &plan, &details, head))
    }

    fn instants(&self) -> Result<String, String> {
        let mut recording = self.input.recording.clone();
        let mut instants = Vec::new();
        while instants.len() < MOST_INSTANTS {
            let Ok(snapshot) = recording.snapshot() else { break };
            let Some((at, reason)) = plan(&snapshot).requeue() else { break };
            drop(snapshot);
            if at <= recording.now {
                break;
            }
            instants.push(json!({"at": at, "why": daemonset_view::words::waking(reason)}));
            recording.now = at;
        }
        text(&instants)
    }

    fn stuck(&mut self) -> Result<String, String> {
        let now = self.now();
        let name = self.input.recording.name.clone();
        self.planned.get_or_insert_with(|| planned(&self.models, now));
        let (planned, plan) = self.planned_as(&name)?;
        let case = self.view().case(planned, plan);
        let answer = stuck::StuckAnswer::new(&case, PATIENCE)?;
        let findings = answer.findings.iter().map(|finding| FoundWait {
            ends: finding.ends,
            nodes: &finding.nodes,
            text: &finding.text,
            commands: &finding.commands,
        });
        text(&Stuck {
            name: answer.name,
            headline: answer.headline(),
            is_stuck: answer.is_stuck(),
            findings: findings.collect(),
        })
    }

    fn why(&mut self, node: &str) -> Result<String, String> {
        let now = self.now();
        self.planned.get_or_insert_with(|| planned(&self.models, now));
        let found = self.node(node)?;
        let planned = self.planned.as_deref().unwrap_or_default();
        let all: &[DaemonSet] = &self.models.daemon_sets;
        let answer = about_node(found, planned, all, &self.view());
        let of = |about: AboutDaemonSet<'_>| About {
            name: about.name.to_owned(),
            sentences: about.sentences,
            commands: about.commands,
        };
        let mut daemon_sets: Vec<About> = answer.daemon_sets.into_iter().map(of).collect();
        daemon_sets.sort_by_key(|about| about.name != self.input.recording.name);
        text(&Why { name: answer.name, daemon_sets, sentences: answer.sentences })
    }

    fn node(&self, name: &str) -> Result<&Node, String> {
        let found = self.models.nodes.iter().find(|it| hostile::in_text(it.metadata.name.as_str()) == name);
        found.ok_or_else(|| format!("no node is named {name}"))
    }

    fn policy(&self, tried: Option<&str>) -> Result<String, String> {
        let now = self.now();
        let Input { recording, powers, .. } = &self.input;
        match tried {
            None => text(&policy::in_force(&recording.daemon_set)),
            Some(tried) => text(&policy::tried(&self.objects, &recording.name, tried, powers, now)?),
        }
    }

    fn planned_as(&self, name: &str) -> Result<(&Planned, &daemonset::Plan), String> {
        let planned = self.planned.iter().flatten().find(|planned| planned.name == name);
        let planned = planned.ok_or_else(|| format!("no DaemonSet is named {name}"))?;
        Ok((planned, planned.plan.as_ref().map_err(Clone::clone)?))
    }

    fn view(&self) -> View<'_> {
        View { models: &self.models, now: self.now(), plugin: PLUGIN, connection: "" }
    }
}

/// As JSON whose texts can be shown.
fn text(answer: &impl Serialize) -> Result<String, String> {
    let json = serde_json::to_string(answer).map_err(|error| error.to_string())?;
    Ok(hostile::escaped_in_json(&json))
}
