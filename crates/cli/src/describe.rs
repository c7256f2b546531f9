//! `kubectl daemonset describe`: a DaemonSet, its plan in short, and its pod template or that of a revision.

use crate::cluster::{Choice, MIDROLLOUT, Needs, TargetArgs};
use crate::shell::called::plugin;
use crate::shell::console::{Format, Stop};
use crate::shell::response::Response;
use daemonset::turns::plan_with_details;
use daemonset_view::plan::head::{any_waits, lines as head_lines};
use daemonset_view::plan::next;
use kubectl_daemonset::kubectl::{self, describe_template};
use serde_json::{Value, json};

#[derive(clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    target: TargetArgs,
    /// The template of this revision instead of the current one
    #[arg(long, value_name = "NUMBER")]
    revision: Option<i64>,
    /// The format of the answer
    #[arg(short, long, value_enum, default_value_t)]
    output: Format,
}

/// Exit code 1 where there is no such revision.
pub(crate) fn describe(args: &Args) -> Result<Response, Stop> {
    let target = args.target.resolve(MIDROLLOUT)?;
    let source = &target.source;
    let objects = source.objects(Needs::Plan)?;
    let chosen = objects.choose(target.wanted.as_ref()).map_err(|message| source.stop(message))?;
    let choice = Choice { daemon_set: target.wanted.clone(), now: None, policy: None };
    let input = source.input_of(objects, &choice)?;
    let snapshot = input.snapshot().map_err(|message| source.stop(message))?;
    let (plan, details) = plan_with_details(&snapshot);
    drop(snapshot);
    let template = match args.revision {
        None => chosen.daemon_set.pointer("/spec/template").cloned().unwrap_or_default(),
        Some(number) => match kubectl::history_of(&chosen.daemon_set, &chosen.revisions, number) {
            Ok(Some(found)) => found.template,
            Ok(None) | Err(_) => {
                return Ok(Response::refusal("error: unable to find the specified revision"));
            }
        },
    };
    source.announce(args.output)?;
    let (name, now) = (&input.recording.name, input.recording.now);
    match args.output {
        Format::Json => Response::json(&json!({
            "name": name, "now": now, "revision": args.revision, "template": template, "plan": plan,
        })),
        Format::Text => {
            let mut text = String::new();
            for (label, content) in head_lines(source, &input, &plan, &details, plugin()) {
                text.push_str(&format!("{label:<11}{content}\n"));
            }
            text.push_str(&format!("{:<11}{}\n", "Next", next(&plan, now)));
            if any_waits(&plan) {
                text.push_str(&format!("{:<11}{} stuck {name}{}\n", "Run", plugin(), source.flags()));
            }
            text.push('\n');
            text.push_str(&conditions(&input.recording.daemon_set.status.conditions));
            text.push_str(&template_of(args.revision, &template));
            Ok(Response::text(text))
        }
    }
}

/// The stored conditions in the form that `kubectl describe` has for a Deployment's, with their messages; nothing if there
/// are none. kubectl shows none of a DaemonSet (v1.36 `describe.go describeDaemonSet`), since Kubernetes sets none.
fn conditions(conditions: &[Value]) -> String {
    if conditions.is_empty() {
        return String::new();
    }
    let header = ["Type", "Status", "Reason", "Message"].map(str::to_owned);
    let mut rows = vec![header.clone(), header.map(|title| "-".repeat(title.len()))];
    rows.extend(conditions.iter().map(|condition| {
        ["type", "status", "reason", "message"]
            .map(|member| condition.get(member).and_then(Value::as_str).unwrap_or_default().to_owned())
    }));
    let width = |column: fn(&[String; 4]) -> &String| {
        rows.iter().map(|row| column(row).chars().count()).max().unwrap_or_default()
    };
    let [kinds, statuses, reasons] =
        [width(|[kind, ..]| kind), width(|[_, status, ..]| status), width(|[_, _, reason, _]| reason)];
    let mut text = "Conditions:\n".to_owned();
    for [kind, status, reason, message] in &rows {
        let line = format!("  {kind:<kinds$}  {status:<statuses$}  {reason:<reasons$}  {message}");
        text.push_str(line.trim_end());
        text.push('\n');
    }
    text + "\n"
}

fn template_of(revision: Option<i64>, template: &Value) -> String {
    let described = aligned(&describe_template(template));
    match revision {
        None => described,
        Some(number) => {
            described.replacen("Pod Template:", &format!("Pod Template of revision {number}:"), 1)
        }
    }
}

/// kubectl separates names and values by tabs, and `kubectl describe` aligns them: the values of neighbouring lines begin
/// in one column.
fn aligned(text: &str) -> String {
    let mut aligned = String::new();
    let mut block: Vec<(&str, &str)> = Vec::new();
    let flush = |block: &mut Vec<(&str, &str)>, aligned: &mut String| {
        let width = block.iter().map(|(name, _)| name.chars().count()).max().unwrap_or_default();
        for (name, value) in block.drain(..) {
            aligned.push_str(format!("{name:<width$}  {value}").trim_end());
            aligned.push('\n');
        }
    };
    for line in text.lines() {
        match line.split_once('\t') {
            Some((name, value)) => block.push((name, value)),
            None => {
                flush(&mut block, &mut aligned);
                aligned.push_str(line);
                aligned.push('\n');
            }
        }
    }
    flush(&mut block, &mut aligned);
    aligned
}
