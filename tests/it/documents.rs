//! The names in the documents exist in the code, and their links lead somewhere.

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

/// Every document of the workspace.
fn documents() -> Vec<PathBuf> {
    let workspace = Path::new(env!("CARGO_MANIFEST_DIR"));
    let crates = fs::read_dir(workspace.join("crates")).unwrap().map(|entry| entry.unwrap().path());
    let folders = ["", "docs", "tests"].iter().map(|folder| workspace.join(folder)).chain(crates);
    let folders = folders.flat_map(|folder| [folder.join("docs"), folder]);
    let files =
        folders.filter_map(|folder| fs::read_dir(folder).ok()).flatten().map(|entry| entry.unwrap().path());
    let documents: std::collections::BTreeSet<_> =
        files.filter(|file| file.extension().is_some_and(|end| end == "md")).collect();
    documents.into_iter().collect()
}

/// The text without its code blocks, in which brackets are no links.
fn prose(text: &str) -> String {
    let mut is_code = false;
    let lines = text.lines().filter(|line| {
        let is_fence = line.trim_start().starts_with("```");
        is_code ^= is_fence;
        !is_code && !is_fence
    });
    lines.map(|line| format!("{line}\n")).collect()
}

/// The anchors of a document: its headings, as GitHub and mdBook write them.
fn anchors(text: &str) -> Vec<String> {
    let prose = prose(text);
    let headings = prose.lines().filter(|line| line.starts_with('#'));
    let slug = |heading: &str| {
        let words = heading.trim_start_matches('#').trim().to_lowercase();
        let kept = words.chars().filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'));
        kept.map(|c| if c == ' ' { '-' } else { c }).collect()
    };
    headings.map(slug).collect()
}

/// The targets of a document's links that are neither a web page nor one of rustdoc.
fn links(text: &str) -> Vec<String> {
    let prose = prose(text);
    let targets = prose.split("](").skip(1).filter_map(|rest| rest.split_once(')')).map(|(target, _)| target);
    targets.filter(|target| !target.contains("://") && !target.contains("::")).map(str::to_owned).collect()
}

#[test]
fn each_link_leads_to_a_file_and_a_heading() {
    let (mut count, mut broken) = (0, Vec::new());
    for document in documents() {
        let text = fs::read_to_string(&document).unwrap();
        for link in links(&text) {
            let (path, anchor) = link.split_once('#').unwrap_or((&link, ""));
            let target =
                if path.is_empty() { document.clone() } else { document.parent().unwrap().join(path) };
            let has_heading = |text: String| anchors(&text).iter().any(|heading| heading == anchor);
            let leads =
                target.exists() && (anchor.is_empty() || fs::read_to_string(&target).is_ok_and(has_heading));
            count += 1;
            if !leads {
                broken.push(format!("{}: {link}", document.display()));
            }
        }
    }
    assert!(broken.is_empty(), "{broken:#?}");
    assert!(count > 50, "{count}: the documents are read");
}

/// A link to a document that is no chapter leads nowhere in the book.
#[test]
fn each_document_is_a_chapter_of_the_book() {
    let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs");
    let summary = docs.join("SUMMARY.md");
    let chapters = links(&fs::read_to_string(&summary).unwrap());
    let chapters: Vec<PathBuf> =
        chapters.iter().map(|chapter| docs.join(chapter).canonicalize().unwrap()).collect();
    let missing: Vec<PathBuf> = documents()
        .into_iter()
        .map(|document| document.canonicalize().unwrap())
        .filter(|document| *document != summary.canonicalize().unwrap() && !chapters.contains(document))
        .collect();
    assert!(missing.is_empty(), "{missing:#?}");
}
