//! Recordings of decisions, for replay: one JSON object per line, one file per DaemonSet.

use crate::caches::Key;
use anyhow::Context;
use daemonset::{Recording, Snapshot};
use std::fs::{self, OpenOptions};
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

/// Writes recordings into a directory.
#[derive(Debug, Clone)]
pub struct Recorder {
    directory: PathBuf,
}

impl Recorder {
    /// A recorder for this directory, which it creates if needed.
    ///
    /// # Errors
    /// When the directory can't be created.
    pub fn new(directory: &Path) -> anyhow::Result<Self> {
        fs::create_dir_all(directory).with_context(|| format!("create {}", directory.display()))?;
        Ok(Recorder { directory: directory.to_owned() })
    }

    /// Appends the input of a decision; `kubectl-daemonset plan --batch FILE` replays it. Failures are only logged.
    pub fn write(&self, key: &Key, snapshot: &Snapshot<'_>) {
        if let Err(error) = self.append(key, &Recording::from(snapshot)) {
            tracing::warn!(daemonset = %key, %error, "a recording was not written");
        }
    }

    fn append(&self, key: &Key, recording: &Recording) -> anyhow::Result<()> {
        let path = self.directory.join(file_name(key));
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder)?;
        }
        let mut line = serde_json::to_vec(recording)?;
        line.push(b'\n');
        // Only the owner may read the file: the environment in a template may hold secrets.
        let mut file = OpenOptions::new().create(true).append(true).mode(0o600).open(&path)?;
        // One write: the file contains the whole line or no part of it.
        file.write_all(&line)?;
        Ok(())
    }
}

/// The name of the file of a DaemonSet. One that no file system takes has a folder for its begin.
fn file_name(key: &Key) -> String {
    const LONGEST: usize = 255 - ".jsonl".len();
    let name = format!("{}.{}", key.namespace, key.name);
    match name.split_at_checked(LONGEST).filter(|(_, end)| !end.is_empty()) {
        Some((begin, end)) => format!("{begin}/{end}.jsonl"),
        None => name + ".jsonl",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Both names are as long as the API server lets them be; a file system takes 255 bytes.
    #[test]
    fn a_daemon_set_of_any_name_is_recorded() {
        let recording = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/recording.json");
        let recording = Recording::from_json(&fs::read(recording).unwrap()).unwrap();
        let snapshot: Snapshot<'_> = recording.snapshot().unwrap();
        let folder = std::env::temp_dir().join(format!("daemonset-recorder-{}", std::process::id()));
        let recorder = Recorder::new(&folder).unwrap();
        let long = |end: &str| Key { namespace: "n".repeat(63), name: "a".repeat(253 - end.len()) + end };
        for key in [long("b"), long("c"), Key { namespace: "ns".to_owned(), name: "agent".to_owned() }] {
            recorder.append(&key, &Recording::from(&snapshot)).unwrap();
            recorder.append(&key, &Recording::from(&snapshot)).unwrap();
        }
        let files = fs::read_dir(&folder).unwrap().flat_map(|entry| {
            let path = entry.unwrap().path();
            if path.is_dir() {
                fs::read_dir(path).unwrap().map(|entry| entry.unwrap().path()).collect()
            } else {
                vec![path]
            }
        });
        let lines: Vec<usize> = files.map(|file| fs::read_to_string(file).unwrap().lines().count()).collect();
        assert_eq!(lines, [2; 3], "each has a file of its own");
        fs::remove_dir_all(folder).unwrap();
    }
}
