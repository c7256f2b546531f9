//! The floors of the core: each file imports from its own floor and from those below.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// The modules of each floor, the lowest first. The longest name that fits a module is its own.
const FLOORS: &[(&str, &[&str])] = &[
    ("objects", &["model", "view", "kubernetes", "problem", "escaped", "snapshot::position", "mutants"]),
    ("action", &["action", "pod_manifest"]),
    ("input", &["snapshot", "memory"]),
    ("pods", &["reconcile::claim", "reconcile::classify", "reconcile::history", "rollout_report"]),
    (
        "node",
        &[
            "reconcile::authority",
            "reconcile::budget",
            "reconcile::candidate",
            "reconcile::counts",
            "reconcile::excuse",
            "reconcile::figures",
            "reconcile::fleet",
            "reconcile::node_sync",
            "reconcile::unavailable",
            "unavailable",
        ],
    ),
    ("rollout", &["reconcile::goal"]),
    ("choose", &["reconcile::choose"]),
    (
        "plan",
        &[
            "conditions",
            "manifests",
            "reconcile::actions",
            "reconcile::burst",
            "reconcile::observe",
            "reconcile::outside",
            "reconcile::pod_template",
            "reconcile::progress",
            "reconcile::status",
            "reconcile::steps",
            "reconcile::taken",
            "reconcile::update",
        ],
    ),
    ("report", &["outlook", "reconcile", "report"]),
    ("drivers", &["k8s_openapi", "kube", "lib", "reconciler", "recording"]),
];

/// The arrows that go up, each with its reason.
const UP: &[(&str, &str)] = &[
    // A node has a goal, and the facts of a rollout are facts about nodes.
    ("reconcile::candidate", "reconcile::goal"),
    ("reconcile::fleet", "reconcile::goal"),
    ("reconcile::fleet", "reconcile::goal::base"),
    ("reconcile::fleet::build", "reconcile::goal"),
    // A snapshot is checked together with the caller's manifests, which have a plan and a recording of their own.
    ("snapshot::builder", "manifests"),
    ("manifests", "reconcile"),
    ("manifests", "recording"),
    ("manifests", "report"),
    // The fields that the types of k8s-openapi lose are found again in the revisions.
    ("snapshot::template_recovery", "k8s_openapi"),
];

/// The sources of the modules of the core, without comments and tests.
fn modules() -> BTreeMap<String, String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut folders = vec![root.clone()];
    let mut modules = BTreeMap::new();
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                modules.insert(module(&root, &path), code(&fs::read_to_string(&path).unwrap()));
            }
        }
    }
    modules
}

/// `reconcile::fleet` for `reconcile/fleet/mod.rs`.
fn module(root: &Path, file: &Path) -> String {
    let path: PathBuf = file.strip_prefix(root).unwrap().with_extension("");
    let parts: Vec<_> = path.iter().map(|part| part.to_str().unwrap()).collect();
    let parts = parts.strip_suffix(&["mod"]).unwrap_or(&parts);
    parts.join("::")
}

fn code(source: &str) -> String {
    let code = source.split("#[cfg(test)]\nmod tests").next().unwrap();
    code.lines().map(|line| line.split("//").next().unwrap()).collect::<Vec<_>>().join("\n")
}

/// The modules that a module names by `crate::` and `super::`.
fn imports(name: &str, code: &str, modules: &BTreeMap<String, String>) -> BTreeSet<String> {
    let parent = name.rsplit_once("::").map_or("", |(parent, _)| parent);
    let mut imports = BTreeSet::new();
    for (prefix, start) in [("crate::", ""), ("super::", parent)] {
        for (position, _) in code.match_indices(prefix) {
            let rest = &code[position + prefix.len()..];
            let end =
                rest.find(|c: char| !(c.is_alphanumeric() || c == '_' || c == ':')).unwrap_or(rest.len());
            let list = rest[end..].strip_prefix('{').and_then(|list| list.split('}').next());
            let path = rest[..end].trim_end_matches(':');
            for item in list.map_or(vec![""], |list| list.split(',').collect()) {
                let full: Vec<_> =
                    [start, path, item.trim()].into_iter().filter(|part| !part.is_empty()).collect();
                imports.extend(nearest(&full.join("::"), modules));
            }
        }
    }
    imports.remove(name);
    imports
}

/// The module that a path leads to, or through.
fn nearest(path: &str, modules: &BTreeMap<String, String>) -> Option<String> {
    let mut path = path;
    while !modules.contains_key(path) {
        path = path.rsplit_once("::")?.0;
    }
    Some(path.to_owned())
}

fn floor(module: &str) -> usize {
    let fits = |name: &&str| {
        module == *name || module.strip_prefix(*name).is_some_and(|rest| rest.starts_with("::"))
    };
    let named =
        FLOORS.iter().enumerate().flat_map(|(floor, (_, names))| names.iter().map(move |name| (floor, name)));
    let best = named.filter(|(_, name)| fits(name)).max_by_key(|(_, name)| name.len());
    best.unwrap_or_else(|| panic!("{module} has no floor")).0
}

fn graph() -> BTreeMap<String, BTreeSet<String>> {
    let modules = modules();
    modules.iter().map(|(name, code)| (name.clone(), imports(name, code, &modules))).collect()
}

#[test]
fn imports_only_go_down() {
    let graph = graph();
    assert!(graph["reconcile::choose"].contains("reconcile::budget"), "imports are found");
    assert!(graph["reconcile::choose::unsorted"].contains("reconcile::choose"), "also those by super");
    let arrows = graph.iter().flat_map(|(from, to)| to.iter().map(move |to| (from.as_str(), to.as_str())));
    let up: BTreeSet<_> = arrows.filter(|(from, to)| floor(from) < floor(to)).collect();
    let known: BTreeSet<_> = UP.iter().copied().collect();
    let new: Vec<_> = up.difference(&known).collect();
    assert!(new.is_empty(), "these imports go up: {new:?}");
    let gone: Vec<_> = known.difference(&up).collect();
    assert!(gone.is_empty(), "these are no imports any more: {gone:?}");
}

/// Files that import each other are read together.
#[test]
fn no_circle_has_more_than_three_files() {
    let graph = graph();
    let reached = |from: &str| {
        let (mut reached, mut next) = (BTreeSet::new(), vec![from.to_owned()]);
        while let Some(module) = next.pop() {
            next.extend(graph[&module].iter().filter(|to| reached.insert((*to).clone())).cloned());
        }
        reached
    };
    let reach: BTreeMap<&str, BTreeSet<String>> =
        graph.keys().map(|module| (module.as_str(), reached(module))).collect();
    for (module, reached) in &reach {
        let circle: Vec<_> = reached.iter().filter(|other| reach[other.as_str()].contains(*module)).collect();
        assert!(circle.len() <= 3, "{circle:?}");
    }
}
