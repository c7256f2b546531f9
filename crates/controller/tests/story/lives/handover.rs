//! Parts of many lives side by side, and the command that hands a cluster over to Kubernetes' own controller.

use super::{Life, TOGETHER};
use futures::{FutureExt, StreamExt, stream};
use std::collections::BTreeSet;
use std::panic::AssertUnwindSafe;

/// Lives the same part of several lives, and returns those that pass.
pub async fn each(lives: Vec<Life>, failed: &mut BTreeSet<String>, part: impl AsyncFn(Life)) -> Vec<Life> {
    let ended = stream::iter(lives).map(async |life| {
        let passed = AssertUnwindSafe(part(life.clone())).catch_unwind().await.is_ok();
        (life, passed)
    });
    let ended: Vec<_> = ended.buffer_unordered(TOGETHER).collect().await;
    failed.extend(ended.iter().filter(|(_, passed)| !passed).map(|(life, _)| life.app.clone()));
    ended.into_iter().filter_map(|(life, passed)| passed.then_some(life)).collect()
}

/// Kubernetes' own controller.
pub struct Upstream {
    command: String,
}

impl Upstream {
    pub fn find() -> Option<Self> {
        let command = std::env::var("UPSTREAM_CONTROLLER").ok();
        if command.is_none() {
            println!("skipped: UPSTREAM_CONTROLLER names no command, so no life is handed over");
        }
        command.map(|command| Upstream { command })
    }

    pub async fn turn(&self, state: &str) {
        let command = format!("{} {state}", self.command);
        let ended = tokio::task::spawn_blocking(move || {
            std::process::Command::new("sh").args(["-c", &command]).status().unwrap()
        });
        assert!(ended.await.unwrap().success());
    }
}

/// Notes the objects that another controller must leave as they are.
pub async fn noted(lives: Vec<Life>) -> Vec<Life> {
    let with_objects = async |life: Life| Life { before: life.objects().await, ..life };
    stream::iter(lives).then(with_objects).collect().await
}
