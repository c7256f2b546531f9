//! Properties of every history.

use super::support::{stored, template, web, with};
use kubectl_daemonset::kubectl::{Command, DryRun, Undo, answer, describe_template, undo};
use proptest::prelude::*;
use serde_json::{Value, json};

/// Templates that the API server accepts, some of them equal.
fn templates() -> impl Strategy<Value = Value> {
    let env = proptest::option::of("[A-Z]{1,2}");
    (0..4_u8, env, proptest::option::of(1..5_i64)).prop_map(|(version, env, grace)| {
        let mut template = template(&format!("v{version}"));
        if let Some(name) = env {
            template["spec"]["containers"][0]["env"] = json!([{"name": name, "value": "x"}]);
        }
        if let Some(grace) = grace {
            template["spec"]["terminationGracePeriodSeconds"] = json!(grace);
        }
        template
    })
}

/// Any JSON, with keys that occur in templates.
fn anything() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        "\\PC{0,4}".prop_map(Value::from),
    ];
    let keys = proptest::sample::select(vec![
        "metadata",
        "labels",
        "annotations",
        "spec",
        "template",
        "containers",
        "volumes",
        "env",
        "valueFrom",
        "resourceFieldRef",
        "resource",
        "limits",
        "cpu",
        "livenessProbe",
        "httpGet",
        "port",
        "host",
        "path",
        "tolerations",
        "topologySpreadConstraints",
        "labelSelector",
        "matchExpressions",
        "projected",
        "sources",
        "csi",
        "volumeAttributes",
        "ephemeral",
        "volumeClaimTemplate",
        "name",
        "data",
        "selector",
        "ownerReferences",
        "revision",
        "status",
        "updateStrategy",
        "type",
    ]);
    leaf.prop_recursive(6, 60, 5, move |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            proptest::collection::vec((keys.clone(), inner), 0..5).prop_map(|members| {
                Value::Object(members.into_iter().map(|(key, value)| (key.to_owned(), value)).collect())
            }),
        ]
    })
}

proptest! {
    #[test]
    fn undo_of_undo_is_the_identity_on_the_template(old in templates(), current in templates()) {
        let daemon_set = web(current.clone());
        let revisions = [stored("web-a", 1, old.clone()), stored("web-b", 2, current.clone())];
        let once = undo(&daemon_set, &revisions, None, DryRun::None).unwrap();
        let Undo::RolledBack(change) = once else {
            prop_assert_eq!(old, current, "skipped");
            return Ok(());
        };
        prop_assert_eq!(&change.after["spec"]["template"], &old);
        // The controller gives the current revision a new number.
        let renumbered = [stored("web-a", 3, old), revisions[1].clone()];
        let Undo::RolledBack(back) = undo(&change.after, &renumbered, None, DryRun::None).unwrap() else {
            return Err(TestCaseError::fail("skipped"));
        };
        prop_assert_eq!(&back.after["spec"]["template"], &current);
        prop_assert_eq!(&back.after["metadata"]["generation"], 7);
    }

    #[test]
    fn the_order_of_revisions_does_not_matter(
        (sorted, shuffled) in proptest::collection::vec((templates(), -1..4_i64), 0..5).prop_flat_map(|history| {
            let revisions: Vec<Value> = history
                .into_iter()
                .enumerate()
                .map(|(index, (template, number))| stored(&format!("web-{index}"), number, template))
                .collect();
            (Just(revisions.clone()), Just(revisions).prop_shuffle())
        }),
        to in 0..4_i64,
    ) {
        let daemon_set = web(template("v1"));
        let undo = Command::Undo { to_revision: Some(to), dry_run: DryRun::None };
        for command in [undo, Command::History { revision: Some(to) }] {
            prop_assert_eq!(answer(&command, &daemon_set, &sorted), answer(&command, &daemon_set, &shuffled));
        }
    }

    #[test]
    fn nothing_panics_on_any_json(
        object in anything(),
        revision in anything(),
        template in anything(),
    ) {
        let _ = describe_template(&template);
        let printed = with(web(template.clone()), "/status", revision.clone());
        let data = with(stored("web-a", 1, json!({})), "/data", object.clone());
        let mut odd = stored("web-b", 2, json!({}));
        odd["data"]["spec"]["template"] = template;
        let now = "2026-01-01T00:00:00Z".parse().unwrap();
        for command in [
            Command::Status { revision: None },
            Command::History { revision: None },
            Command::History { revision: Some(1) },
            Command::History { revision: Some(2) },
            Command::Undo { to_revision: Some(1), dry_run: DryRun::None },
            Command::Undo { to_revision: Some(2), dry_run: DryRun::None },
            Command::Undo { to_revision: None, dry_run: DryRun::Client },
            Command::Restart { now },
        ] {
            let _ = answer(&command, &printed, &[data.clone(), odd.clone(), revision.clone()]);
            let _ = answer(&command, &object, std::slice::from_ref(&revision));
        }
    }
}
