//! The name by which the plugin was called: its hints and its help have that one, so that they can be copied.
//!
//! kubectl runs `kubectl-a_b` for `kubectl a-b`. Package managers of plugins give the file a name of their own.

use clap::Command;
use std::path::Path;
use std::sync::LazyLock;

const FILE: &str = "kubectl-daemonset";
const WORDS: &str = "kubectl daemonset";

static NAMES: LazyLock<(String, String)> = LazyLock::new(|| {
    let path = std::env::args_os().next().unwrap_or_default();
    let file = Path::new(&path).file_name().and_then(|file| file.to_str()).unwrap_or_default();
    let file = file.strip_suffix(".exe").unwrap_or(file);
    match words(file) {
        Some(words) => (file.to_owned(), words),
        None => (FILE.to_owned(), WORDS.to_owned()),
    }
});

/// The file's name without its extension: `kubectl-daemonset`.
pub(crate) fn file() -> &'static str {
    &NAMES.0
}

/// The words that a person types: `kubectl daemonset`.
pub(crate) fn plugin() -> &'static str {
    &NAMES.1
}

/// A command line whose usage and examples have this name.
pub(crate) fn named(command: Command) -> Command {
    if plugin() == WORDS { command } else { renamed(command.bin_name(plugin())) }
}

fn renamed(command: Command) -> Command {
    let examples = command.get_after_help().map(|text| text.to_string().replace(WORDS, plugin()));
    let command = command.mut_subcommands(renamed);
    match examples {
        Some(examples) => command.after_help(examples),
        None => command,
    }
}

/// As kubectl reads the name of a plugin's file; none for a file of another name, or with characters that a shell could read.
fn words(file: &str) -> Option<String> {
    let plugin = file.strip_prefix("kubectl-")?;
    let plain = |letter: char| letter.is_ascii_alphanumeric() || "-_".contains(letter);
    (!plugin.is_empty() && plugin.chars().all(plain))
        .then(|| format!("kubectl {}", plugin.replace('-', " ").replace('_', "-")))
}

#[cfg(test)]
mod tests {
    use super::words;

    #[test]
    fn a_plugin_is_named_after_its_file() {
        assert_eq!(words("kubectl-daemonset").as_deref(), Some("kubectl daemonset"));
        assert_eq!(words("kubectl-daemonset_rollout").as_deref(), Some("kubectl daemonset-rollout"));
        assert_eq!(words("kubectl-ds-rollout").as_deref(), Some("kubectl ds rollout"));
        for other in ["daemonset", "kubectl", "kubectl-", "kubectl-a;b", "kubectl-\u{1b}", "kubectl-a b"] {
            assert_eq!(words(other), None, "{other}");
        }
    }
}
