//! Thirty manifests of DaemonSets. Together they have every field of a pod template, and text and numbers that JSON's writers
//! write in different ways.

use serde_json::Value;
use std::path::Path;

/// A file of the folder `manifests`.
#[derive(Clone)]
pub struct Manifest {
    /// The name of the file, and the value of the label `app`.
    pub app: String,
    /// The objects that the pods need.
    pub needs: Vec<Value>,
    pub daemon_set: Value,
}

/// All manifests, for a namespace and a node of it.
pub fn read_all(namespace: &str, node: &str) -> Vec<Manifest> {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/story/lives/manifests");
    let mut paths: Vec<_> =
        std::fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    let read = |path: &std::path::PathBuf| {
        let app = path.file_stem().unwrap().to_str().unwrap().to_owned();
        let text = filled_in(&std::fs::read_to_string(path).unwrap(), namespace, node);
        let mut needs: Vec<Value> =
            serde_saphyr::from_multiple(&text).unwrap_or_else(|error| panic!("{app}: {error}"));
        let daemon_set = needs.pop().unwrap();
        Manifest { app, needs, daemon_set }
    };
    paths.iter().map(read).collect()
}

/// Puts the texts that would be long, or that the cluster gives, in their places.
fn filled_in(text: &str, namespace: &str, node: &str) -> String {
    let name =
        |length: usize| "long-name.of-63-letters.".chars().cycle().take(length - 1).collect::<String>() + "z";
    text.replace("${NAMESPACE}", namespace)
        .replace("${NODE}", node)
        .replace("${LABEL_63}", &name(63).replace('.', "-"))
        // Ten letters of a hash and a dash follow in the name of a revision, which has 253 letters at most.
        .replace("${NAME_242}", &name(242))
        .replace("${NAME_253}", &name(253))
        // Of a DaemonSet's annotations and of those of its template, 256 KiB are allowed each.
        .replace("${ANNOTATION}", &"{'<panel>': 'a && b'} ".repeat(200 * 1024 / 22))
}

/// The schema tables of the API server's crate hold the same list; a test there compares them.
mod fields {
    use super::*;
    use std::collections::{BTreeMap, BTreeSet};

    const LISTED: &str = include_str!("../../../../apiserver/src/schema/v1.37.1.txt");

    /// The fields of each struct, with the names of their types.
    type Table = BTreeMap<&'static str, BTreeMap<&'static str, &'static str>>;
    type Fields = BTreeSet<(&'static str, &'static str)>;

    fn table() -> Table {
        let field = |text: &'static str| {
            let (name, kind) = text.split_once(':').unwrap();
            let kind = kind.split('@').next().unwrap().trim_start_matches(['*', '[', ']']);
            (name.trim_end_matches('?'), kind)
        };
        let line = |line: &'static str| {
            let mut words = line.split(' ');
            (words.next().unwrap(), words.map(field).collect())
        };
        LISTED.lines().map(line).collect()
    }

    /// All fields of a struct and of those below it.
    fn below(table: &Table, of: &'static str, found: &mut Fields) {
        for (name, kind) in table.get(of).into_iter().flatten() {
            if found.insert((of, name)) {
                below(table, kind, found);
            }
        }
    }

    /// The fields that an object has.
    fn present(table: &Table, of: &'static str, value: &Value, found: &mut Fields) {
        match value {
            Value::Array(items) => items.iter().for_each(|item| present(table, of, item, found)),
            Value::Object(members) => {
                for (name, kind) in table.get(of).into_iter().flatten() {
                    if let Some(value) = members.get(*name).filter(|value| !value.is_null()) {
                        found.insert((of, name));
                        present(table, kind, value, found);
                    }
                }
            }
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
        }
    }

    #[test]
    fn the_manifests_have_every_field_of_a_pod_template() {
        let (table, manifests) = (table(), read_all("default", "node-1"));
        assert_eq!(manifests.len(), 30);
        let (mut all, mut found) = (Fields::new(), Fields::new());
        below(&table, "PodTemplateSpec", &mut all);
        assert!(all.len() > 500, "{}", all.len());
        for manifest in &manifests {
            present(&table, "PodTemplateSpec", &manifest.daemon_set["spec"]["template"], &mut found);
        }
        assert_eq!(all.difference(&found).collect::<Vec<_>>(), Vec::<&(&str, &str)>::new());
    }
}
