//! The names in the documents exist in the code.

use std::fs;
use std::path::{Path, PathBuf};

const UPSTREAM: &str = include_str!("../../UPSTREAM.md");

/// The cells of each row of the deliberate differences: name, Kubernetes, here, why, story.
fn differences() -> Vec<Vec<&'static str>> {
    let (_, section) = UPSTREAM.split_once("## Deliberate differences\n").unwrap();
    let (section, _) = section.split_once("\n## ").unwrap();
    let rows = section.lines().filter(|line| line.starts_with("| `"));
    rows.map(|row| row.trim_matches('|').split('|').map(str::trim).collect()).collect()
}

/// The test folders in which a story may be: this package's, or those of the one that is named.
fn folders(package: Option<&str>) -> Vec<PathBuf> {
    let workspace = Path::new(env!("CARGO_MANIFEST_DIR"));
    match package.map(|name| name.trim_start_matches("daemonset-")) {
        None => vec![workspace.join("tests/it")],
        Some(name) => {
            let tests = fs::read_dir(workspace.join("crates").join(name).join("tests")).unwrap();
            tests.map(|entry| entry.unwrap().path()).filter(|path| path.is_dir()).collect()
        }
    }
}

/// Whether a story like `stories::surge::name`, or `package path::name`, is a function of that module.
fn exists(story: &str) -> bool {
    let (package, path) =
        story.split_once(' ').map_or((None, story), |(package, path)| (Some(package), path));
    let Some((module, name)) = path.rsplit_once("::") else { return false };
    let file = module.replace("::", "/");
    let files = folders(package)
        .into_iter()
        .flat_map(|folder| [folder.join(format!("{file}.rs")), folder.join(&file).join("mod.rs")]);
    files.filter_map(|file| fs::read_to_string(file).ok()).any(|text| text.contains(&format!("fn {name}(")))
}

#[test]
fn each_deliberate_difference_has_a_story() {
    let rows = differences();
    assert!(rows.len() >= 32, "the table is read");
    for row in rows {
        let [name, _, _, _, story] = row[..] else { panic!("not five cells: {row:?}") };
        let story = story.strip_prefix('`').and_then(|story| story.strip_suffix('`'));
        assert!(story.is_some_and(exists), "{name} has no story that exists: {story:?}");
    }
}

#[test]
fn a_story_is_found_by_its_whole_path() {
    assert!(exists("documents::a_story_is_found_by_its_whole_path"));
    assert!(exists("daemonset-apiserver cascade::stories::another_owner_keeps_a_pod"));
    assert!(!exists("stories::surge::a_story_is_found_by_its_whole_path"), "in another module");
    assert!(!exists("documents::a_story"), "a part of the name");
    assert!(!exists("a_story_is_found_by_its_whole_path"), "without a module");
}
