//! Recordings of decisions, for replay: one JSON object a line, in one file for each DaemonSet.

use crate::world::Key;
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
    /// Makes the directory, where it is not there.
    ///
    /// # Errors
    /// When it can't be made.
    pub fn new(directory: &Path) -> anyhow::Result<Self> {
        fs::create_dir_all(directory).with_context(|| format!("make {}", directory.display()))?;
        Ok(Recorder { directory: directory.to_owned() })
    }

    /// Appends what a decision was made from. `plan --batch FILE` replays it.
    pub fn write(&self, key: &Key, snapshot: &Snapshot<'_>) {
        if let Err(error) = self.append(key, &Recording::from(snapshot)) {
            tracing::warn!(daemonset = %key, %error, "a recording was not written");
        }
    }

    fn append(&self, key: &Key, recording: &Recording) -> anyhow::Result<()> {
        let path = self.directory.join(format!("{}.{}.jsonl", key.namespace, key.name));
        let mut line = serde_json::to_vec(recording)?;
        line.push(b'\n');
        // What is in a template, an environment say, is nobody else's business.
        let mut file = OpenOptions::new().create(true).append(true).mode(0o600).open(&path)?;
        // In one write, so that a line is whole or not there.
        file.write_all(&line)?;
        Ok(())
    }
}
