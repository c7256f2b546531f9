//! Several DaemonSets of a cluster, one row each.

use crate::cluster::{Choice, Objects, Source};
use crate::shell::called::plugin;
use crate::shell::console::Stop;
use anstyle::Style;
use comfy_table::{Attribute, Cell, Table, presets};
use daemonset::Plan;
use daemonset_view::cluster::ClusterNotes;
use daemonset_view::plan::{Named, Planned, fingerprint, planned};
use daemonset_view::plan::{head, next_in_short};
use jiff::Timestamp;
use serde_json::{Value, json};

const HEADER: [&str; 7] = ["DAEMONSET", "STRATEGY", "UPDATED", "READY", "AVAILABLE", "NOW", "NEXT"];
const LABEL: Style = Style::new().bold();

/// Plans of all DaemonSets, by name.
pub(crate) struct Overview {
    now: Timestamp,
    rows: Vec<Planned>,
    notes: ClusterNotes,
}

impl Overview {
    pub(crate) fn new(objects: Objects, choice: &Choice, source: &Source) -> Result<Self, Stop> {
        let stop = |message: String| source.stop(message);
        let now = source.instant(choice.now, &objects)?;
        source.check(&objects, choice.daemon_set.as_ref())?;
        let mut models = objects.models().map_err(stop)?;
        models.policy = choice.policy.clone().or(models.policy);
        models.daemon_sets.retain(|ds| choice.daemon_set.as_ref().is_none_or(|wanted| wanted.is(ds)));
        let rows = planned(&models, now);
        Ok(Overview { now, rows, notes: models.notes })
    }

    /// With its styles.
    pub(crate) fn text(&self, source: &Source) -> String {
        let mut table = Table::new();
        table
            .load_style(presets::NOTHING)
            .enforce_styling()
            .set_header(HEADER.map(|title| Cell::new(title).add_attribute(Attribute::Bold)))
            .add_rows(self.rows.iter().map(|row| cells(row, &self.notes, self.now)));
        for (position, column) in table.column_iter_mut().enumerate() {
            column.set_padding((0, if position + 1 == HEADER.len() { 0 } else { 2 }));
        }
        let (count, plugin) = (daemonset_view::words::count(self.rows.len(), "DaemonSet"), plugin());
        let (flags, scope) = (source.flags(), source.scope());
        format!(
            "{table}\n\n{LABEL}As of{LABEL:#}      {}, {source}: {count}\n\
             {LABEL}More{LABEL:#}       {plugin} plan NAMESPACE/NAME{flags}, {plugin} why NODE{scope}{flags}\n",
            self.now
        )
    }

    pub(crate) fn json(&self) -> Value {
        let rows = self.rows.iter().map(|row| match &row.plan {
            Ok(plan) => {
                let Planned { name, policy_problems, details, .. } = row;
                json!(Named { name, now: self.now, policy_problems, plan, details })
            }
            Err(error) => json!({"name": row.name, "now": self.now, "error": error}),
        });
        json!({"daemonSets": rows.collect::<Vec<_>>()})
    }

    pub(crate) fn fingerprint(&self) -> Value {
        let rows = self.rows.iter().map(|row| match &row.plan {
            Ok(plan) => {
                let policy = (&row.policy, &row.policy_problems);
                json!([row.name, policy, fingerprint(plan, &row.daemon_set.status)])
            }
            Err(error) => json!([row.name, error]),
        });
        rows.collect()
    }
}

/// The actions, and how far a steered rollout is.
fn now_in_short(row: &Planned, plan: &Plan, notes: &ClusterNotes, now: Timestamp) -> String {
    let rollout = row.steered(plan, now, plugin()).map(|steered| steered.in_short());
    [Some(head::now(plan, notes)), rollout].into_iter().flatten().collect::<Vec<_>>().join("; ")
}

fn cells(row: &Planned, notes: &ClusterNotes, now: Timestamp) -> [String; 7] {
    let name = row.name.clone();
    let plan = match &row.plan {
        Ok(plan) => plan,
        Err(error) => {
            return [name, "-".into(), "-".into(), "-".into(), "-".into(), error.clone(), "-".into()];
        }
    };
    let status = plan.status.as_ref().unwrap_or(&row.daemon_set.status);
    let of_desired = |number: i32| format!("{number}/{}", status.desired_number_scheduled);
    [
        name,
        head::strategy(&row.daemon_set, plan).unwrap_or_else(|| "-".to_owned()),
        of_desired(status.updated_number_scheduled),
        of_desired(status.number_ready),
        of_desired(status.number_available),
        now_in_short(row, plan, notes, now),
        next_in_short(plan, now),
    ]
}
