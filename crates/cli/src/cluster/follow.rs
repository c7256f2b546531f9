//! A cluster that is followed: its objects are listed, and then changed by the events of kubectl's watches.
#![allow(clippy::disallowed_types, reason = "a watch needs a clock; the library reads none")]

use crate::cluster::KubectlEvent;
use crate::cluster::kubectl::{Kubectl, Needs};
use crate::cluster::{Objects, Source};
use crate::shell::console::Stop;
use std::collections::BTreeSet;
use std::io::{self, BufReader};
use std::process::Child;
use std::sync::mpsc::{Receiver, Sender, TryRecvError, channel};
use std::thread;
use std::time::{Duration, Instant};

/// A watch of a kind that has no objects tells nothing: so long after its start it is taken to have begun.
const BEGINS: Duration = Duration::from_secs(5);
/// How long it lists before it watches again, after a watch that broke.
const PAUSE: Duration = Duration::from_secs(60);
/// How often all objects are listed even so: a change that got lost is found then.
const AGAIN: Duration = Duration::from_secs(600);

/// The objects as the watches keep them.
struct KeptCluster {
    objects: Objects,
    listed: Instant,
    /// The namespaces whose powers were asked for; one may not be allowed to read them.
    asked: BTreeSet<String>,
}

impl KeptCluster {
    fn new(objects: Objects) -> Self {
        let asked = objects.namespaces_that_need_powers();
        KeptCluster { objects, listed: Instant::now(), asked }
    }

    /// Namespaces have no watch: those that a changed policy needs are read.
    fn learn_powers(&mut self, source: &Source) -> Result<(), String> {
        let needed = self.objects.namespaces_that_need_powers();
        let new: BTreeSet<String> = needed.difference(&self.asked).cloned().collect();
        if !new.is_empty() {
            source.learn_powers(&mut self.objects, new.clone())?;
            self.asked.extend(new);
        }
        Ok(())
    }
}

/// Looks at a cluster, again and again.
#[derive(Default)]
pub(crate) struct Follow {
    kept: Option<KeptCluster>,
    watches: Option<KubectlWatches>,
    /// The part of the cluster that these are about.
    needs: Option<Needs>,
    /// No watch before this.
    pause_until: Option<Instant>,
}

impl Follow {
    /// The objects as they are now. Only a source that kubectl reads can change.
    pub(crate) fn look(&mut self, source: &Source, needs: Needs) -> Result<Objects, Stop> {
        let Source::Kubectl(kubectl) = source else { return source.objects(needs) };
        if self.needs.replace(needs) != Some(needs) {
            (self.watches, self.kept) = (None, None);
        }
        if let Some(objects) = self.changed(source)? {
            return Ok(objects);
        }
        // A watch that has begun before the list tells each later change: nothing is lost between the two.
        let has_begun = self.watches.as_ref().is_some_and(KubectlWatches::have_begun);
        let objects = source.objects(needs)?;
        match &self.watches {
            Some(_) if has_begun => self.kept = Some(KeptCluster::new(objects.clone())),
            Some(_) => {}
            None if self.pause_until.is_none_or(|until| Instant::now() >= until) => {
                self.watches = KubectlWatches::start(kubectl, needs).ok();
            }
            None => {}
        }
        Ok(objects)
    }

    /// The kept objects with the changes of the watches; `None` where all must be listed.
    fn changed(&mut self, source: &Source) -> Result<Option<Objects>, Stop> {
        let Some(watches) = &mut self.watches else { return Ok(None) };
        let told = match &mut self.kept {
            Some(kept) => watches.tell(|event| kept.objects.apply(event)),
            // Before the list that they build on, they are kept for later.
            None => watches.hear(),
        };
        if told.is_err() {
            // The server ends watches from time to time; one that has no right to watch would end at once, each time.
            let is_short = watches.since.elapsed() < PAUSE;
            self.pause_until = is_short.then(|| Instant::now() + PAUSE);
            (self.watches, self.kept) = (None, None);
            return Ok(None);
        }
        let kept = self.kept.as_mut().filter(|kept| kept.listed.elapsed() < AGAIN);
        let Some(kept) = kept else { return Ok(None) };
        kept.learn_powers(source).map_err(|message| source.stop(message))?;
        Ok(Some(kept.objects.clone()))
    }
}

/// A kubectl for each kind, for it watches one kind at a time.
struct KubectlWatches {
    since: Instant,
    children: Vec<Child>,
    told: Receiver<(usize, Option<KubectlEvent>)>,
    /// Heard, and not told yet.
    waiting: Vec<KubectlEvent>,
    /// Which of them have told anything.
    spoken: Vec<bool>,
}

/// Why the watches are of no use any more: one has ended, or an event can't be read.
struct Broken;

impl KubectlWatches {
    fn start(kubectl: &Kubectl, needs: Needs) -> io::Result<Self> {
        let (sender, told) = channel();
        let mut watches = KubectlWatches {
            since: Instant::now(),
            children: Vec::new(),
            told,
            waiting: Vec::new(),
            spoken: Vec::new(),
        };
        for (number, kind) in needs.kinds().enumerate() {
            let mut child = kubectl.watch(kind)?;
            let stdout = child.stdout.take();
            watches.children.push(child);
            watches.spoken.push(false);
            let sender = sender.clone();
            thread::spawn(move || stdout.map(|stdout| read(stdout, number, &sender)));
        }
        Ok(watches)
    }

    fn have_begun(&self) -> bool {
        self.since.elapsed() >= BEGINS || self.spoken.iter().all(|spoken| *spoken)
    }

    /// Takes in the events that have come.
    fn hear(&mut self) -> Result<(), Broken> {
        loop {
            match self.told.try_recv() {
                Ok((number, Some(event))) => {
                    if let Some(spoken) = self.spoken.get_mut(number) {
                        *spoken = true;
                    }
                    self.waiting.push(event);
                }
                Err(TryRecvError::Empty) => return Ok(()),
                Ok((_, None)) | Err(TryRecvError::Disconnected) => return Err(Broken),
            }
        }
    }

    fn tell(&mut self, mut apply: impl FnMut(KubectlEvent) -> Result<(), String>) -> Result<(), Broken> {
        self.hear()?;
        self.waiting.drain(..).try_for_each(|event| apply(event).map_err(|_| Broken))
    }
}

impl Drop for KubectlWatches {
    fn drop(&mut self) {
        for child in &mut self.children {
            // It may have ended by itself.
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

/// One JSON object after the other, to the end.
fn read(stdout: impl io::Read, number: usize, sender: &Sender<(usize, Option<KubectlEvent>)>) {
    let events = serde_json::Deserializer::from_reader(BufReader::new(stdout)).into_iter::<KubectlEvent>();
    for event in events {
        let Ok(event) = event else { break };
        if sender.send((number, Some(event))).is_err() {
            return;
        }
    }
    let _ = sender.send((number, None));
}
