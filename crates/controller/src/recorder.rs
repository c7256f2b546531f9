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
        let path = self.directory.join(format!("{}.{}.jsonl", key.namespace, key.name));
        let mut line = serde_json::to_vec(recording)?;
        line.push(b'\n');
        // Only the owner may read the file: the environment in a template may hold secrets.
        let mut file = OpenOptions::new().create(true).append(true).mode(0o600).open(&path)?;
        // One write: the file contains the whole line or no part of it.
        file.write_all(&line)?;
        Ok(())
    }
}
