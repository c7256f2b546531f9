//! The floors of the crates: each file imports from its own floor and from those below.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// A crate whose modules have floors.
struct Floored {
    sources: &'static str,
    /// The modules of each floor, the lowest first. The longest name that fits a module is its own.
    floors: &'static [(&'static str, &'static [&'static str])],
}

/// `daemonset-objects`, beneath the core: the compiler holds that it imports nothing of the core.
const OBJECTS: Floored = Floored {
    sources: "crates/objects/src",
    floors: &[
        ("words", &["words"]),
        ("model", &["escaped", "model", "problem"]),
        ("view", &["view"]),
        ("kubernetes", &["kubernetes"]),
        ("edges", &["k8s_openapi", "kube", "lib", "recovery"]),
    ],
};

const CORE: Floored = Floored {
    sources: "src",
    floors: &[
        ("ground", &["bug", "mutants", "planted", "position"]),
        ("action", &["action", "pod_manifest"]),
        ("input", &["input"]),
        ("pods", &["pods"]),
        ("rollout", &["rollout"]),
        ("node", &["node", "rules"]),
        ("choose", &["choose"]),
        ("plan", &["plan"]),
        ("report", &["report"]),
        ("drivers", &["k8s_openapi", "kube", "lib", "reconciler", "recording"]),
    ],
};

const AUDIT: Floored = Floored {
    sources: "crates/audit/src",
    floors: &[
        ("findings", &["kind", "violation"]),
        ("facts", &["facts"]),
        ("goals", &["goals"]),
        ("fleet", &["fleet"]),
        ("rules", &["rules"]),
        ("audits", &["counted", "lib"]),
    ],
};

const SIM: Floored = Floored {
    sources: "crates/sim/src",
    floors: &[
        (
            "settings",
            &[
                "event",
                "event_queue",
                "probability",
                "random",
                "requirements",
                "settings",
                "steering",
                "watch",
                "workload",
            ],
        ),
        ("environment", &["environment"]),
        ("controllers", &["controller"]),
        ("cluster", &["cluster"]),
        ("figures", &["figures", "lib"]),
    ],
};

const ALL: [Floored; 4] = [OBJECTS, CORE, AUDIT, SIM];

/// The words before a name that a module shows from another one.
const SHOWS: [&str; 3] = ["pub use ", "pub(crate) use ", "pub(super) use "];

/// The sources of the modules of a crate, without comments and tests.
fn modules(sources: &str) -> BTreeMap<String, String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join(sources);
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

/// `reconcile::fleet` for `node/fleet/mod.rs`.
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

/// The modules, and the names that a module shows from others.
struct Names {
    modules: BTreeMap<String, String>,
    /// The path that a name stands for, by the module and the name.
    shown: BTreeMap<(String, String), String>,
}

impl Names {
    fn new(sources: &str) -> Self {
        let modules = modules(sources);
        let mut shown = BTreeMap::new();
        for (module, code) in &modules {
            for statement in code.split(';') {
                let start = SHOWS.iter().find_map(|start| statement.find(start).map(|at| at + start.len()));
                let Some(path) = start.map(|at| &statement[at..]) else { continue };
                for path in paths(path) {
                    let whole = match absolute(module, &path) {
                        Some(path) => path,
                        None if module == "lib" => path.clone(),
                        None => format!("{module}::{path}"),
                    };
                    let whole = whole.trim_end_matches("::self").to_owned();
                    let name = whole.rsplit("::").next().unwrap().to_owned();
                    shown.insert((module.clone(), name), whole);
                }
            }
        }
        Names { modules, shown }
    }

    /// The module that a path leads to, or through.
    fn nearest(&self, path: &str) -> Option<String> {
        let mut module = path;
        while !self.modules.contains_key(module) {
            module = module.rsplit_once("::").map_or("lib", |(module, _)| module);
        }
        let rest = if module == "lib" { path } else { path[module.len()..].trim_start_matches("::") };
        let (name, inside) = rest.split_once("::").unwrap_or((rest, ""));
        match self.shown.get(&(module.to_owned(), name.to_owned())) {
            Some(whole) if whole != name && *whole != format!("{module}::{name}") => {
                self.nearest(format!("{whole}::{inside}").trim_end_matches(':'))
            }
            _ => (module != "lib").then(|| module.to_owned()),
        }
    }
}

/// The paths of a `use`: `a::{b, c}` has two.
fn paths(path: &str) -> Vec<String> {
    let Some((start, list)) = path.split_once('{') else { return vec![path.trim().to_owned()] };
    let items =
        list.trim_end().trim_end_matches('}').split(',').map(str::trim).filter(|item| !item.is_empty());
    items.map(|item| format!("{}{item}", start.trim())).collect()
}

/// A path from the root of the crate, for one by `crate::` or by `super::`.
fn absolute(module: &str, path: &str) -> Option<String> {
    if let Some(path) = path.strip_prefix("crate::") {
        return Some(path.to_owned());
    }
    let (mut from, mut rest) = (module, path);
    while let Some(path) = rest.strip_prefix("super::") {
        from = from.rsplit_once("::").map_or("", |(parent, _)| parent);
        rest = path;
    }
    let whole = if from.is_empty() { rest.to_owned() } else { format!("{from}::{rest}") };
    (rest.len() < path.len()).then_some(whole)
}

/// The modules that a module names by `crate::` or `super::`, and its children, which it names without. The names that it shows from others
/// are the business of the modules that use these names.
fn imports(name: &str, names: &Names) -> BTreeSet<String> {
    let code: Vec<_> = names.modules[name]
        .split(';')
        .filter(|statement| SHOWS.iter().all(|shows| !statement.contains(shows)))
        .collect();
    let code = code.join(";");
    let is_start = |at: usize| !code[..at].ends_with(|c: char| c.is_alphanumeric() || c == '_' || c == ':');
    let mut imports = BTreeSet::new();
    let starts = ["crate::", "super::"].iter().flat_map(|prefix| code.match_indices(prefix));
    for (position, _) in starts.filter(|(at, _)| is_start(*at)) {
        let rest = &code[position..];
        let end = rest.find(|c: char| !(c.is_alphanumeric() || c == '_' || c == ':')).unwrap_or(rest.len());
        let list = rest[end..].starts_with('{').then(|| rest.find('}')).flatten();
        let named = paths(&rest[..list.map_or(end, |list| list + 1)]);
        imports
            .extend(named.iter().filter_map(|path| absolute(name, path)).filter_map(|p| names.nearest(&p)));
    }
    let children =
        names.modules.keys().filter(|module| module.rsplit_once("::").is_some_and(|(of, _)| of == name));
    let is_named = |child: &&String| {
        let path = format!("{}::", child.rsplit("::").next().unwrap());
        code.match_indices(&path).any(|(at, _)| is_start(at))
    };
    imports.extend(children.filter(is_named).cloned());
    imports.remove(name);
    imports
}

impl Floored {
    fn floor(&self, module: &str) -> usize {
        let fits = |name: &&str| {
            module == *name || module.strip_prefix(*name).is_some_and(|rest| rest.starts_with("::"))
        };
        let floors = self.floors.iter().enumerate();
        let named = floors.flat_map(|(floor, (_, names))| names.iter().map(move |name| (floor, name)));
        let best = named.filter(|(_, name)| fits(name)).max_by_key(|(_, name)| name.len());
        best.unwrap_or_else(|| panic!("{module} has no floor")).0
    }

    fn graph(&self) -> BTreeMap<String, BTreeSet<String>> {
        let names = Names::new(self.sources);
        names.modules.keys().map(|name| (name.clone(), imports(name, &names))).collect()
    }
}

#[test]
fn imports_are_found() {
    assert!(CORE.graph()["choose"].contains("choose::limits"));
    assert!(OBJECTS.graph()["view"].contains("model::pod"), "also those that another module shows");
    assert!(AUDIT.graph()["fleet::leaving"].contains("fleet::context"), "also those of `super`");
}

#[test]
fn imports_only_go_down() {
    for floored in ALL {
        let graph = floored.graph();
        let arrows =
            graph.iter().flat_map(|(from, to)| to.iter().map(move |to| (from.as_str(), to.as_str())));
        let up: Vec<_> = arrows.filter(|(from, to)| floored.floor(from) < floored.floor(to)).collect();
        assert!(up.is_empty(), "these imports of {} go up: {up:?}", floored.sources);
    }
}

/// Files that import each other are read together.
#[test]
fn no_circle_has_more_than_three_files() {
    for graph in ALL.map(|floored| floored.graph()) {
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
            let circle: Vec<_> =
                reached.iter().filter(|other| reach[other.as_str()].contains(*module)).collect();
            assert!(circle.len() <= 3, "{circle:?}");
        }
    }
}
