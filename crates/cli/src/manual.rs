//! Completion scripts and man pages, made from the command line's own definition, and the schema of a policy.

use crate::Cli;
use crate::cluster::{ConnectionArgs, Kubectl, Scope};
use crate::shell::called;
use crate::shell::console::Stop;
use clap::{Args, Command, CommandFactory, ValueEnum};
use clap_complete::Shell;
use std::io::{self, Write};
use std::path::PathBuf;

#[derive(Args)]
pub(crate) struct CompletionArgs {
    /// The shell; kubectl has a way of its own to complete the words of plugins
    #[arg(value_enum)]
    shell: CompletionShell,
}

#[derive(Clone, Copy, ValueEnum)]
enum CompletionShell {
    Bash,
    Elvish,
    Fish,
    Powershell,
    Zsh,
    /// A script to be saved in PATH as kubectl_complete-daemonset, for the plugin kubectl-daemonset
    Kubectl,
}

#[derive(Args)]
pub(crate) struct ManArgs {
    /// The directory to write into; made where it is missing
    #[arg(long, value_name = "DIR")]
    dir: PathBuf,
}

/// The words that a person has typed, the last of them unfinished.
#[derive(Args)]
pub(crate) struct CompleteArgs {
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    words: Vec<String>,
}

/// The schema of the annotation, for editors and for admission.
pub(crate) fn schema() -> Result<u8, Stop> {
    let schema = serde_json::to_string_pretty(&daemonset::Policy::annotation_schema());
    let text = schema.map_err(|error| Stop::Output(error.into()))?;
    write_out(format!("{text}\n").as_bytes())?;
    Ok(0)
}

pub(crate) fn completion(args: &CompletionArgs) -> Result<u8, Stop> {
    let shell = match args.shell {
        CompletionShell::Bash => Shell::Bash,
        CompletionShell::Elvish => Shell::Elvish,
        CompletionShell::Fish => Shell::Fish,
        CompletionShell::Powershell => Shell::PowerShell,
        CompletionShell::Zsh => Shell::Zsh,
        CompletionShell::Kubectl => {
            write_out(format!("#!/bin/sh\nexec {} __complete \"$@\"\n", called::file()).as_bytes())?;
            return Ok(0);
        }
    };
    let mut script = Vec::new();
    // The script is for the program's own name: kubectl completes `kubectl daemonset` itself.
    clap_complete::generate(shell, &mut of_file(), called::file(), &mut script);
    write_out(&script)?;
    Ok(0)
}

pub(crate) fn man(args: &ManArgs) -> Result<u8, Stop> {
    let named = |error: io::Error| io::Error::new(error.kind(), format!("{}: {error}", args.dir.display()));
    std::fs::create_dir_all(&args.dir).map_err(named)?;
    clap_mangen::generate_to(of_file(), &args.dir).map_err(named)?;
    Ok(0)
}

/// The command line under the name of the program's file.
fn of_file() -> Command {
    called::named(Cli::command()).name(called::file()).bin_name(called::file())
}

/// One candidate a line, and cobra's directive: 4, no file names; 0, file names too.
pub(crate) fn complete(args: &CompleteArgs) -> Result<u8, Stop> {
    let (unfinished, words) = args.words.split_last().map_or(("", [].as_slice()), |(last, all)| (last, all));
    let mut command = Cli::command();
    command.build();
    let mut command = &command;
    for word in words {
        command = command.find_subcommand(word).unwrap_or(command);
    }
    let candidates: Vec<String> = candidates(command, words, unfinished)
        .into_iter()
        .filter(|candidate| candidate.starts_with(unfinished))
        .collect();
    let directive = if candidates.is_empty() { 0 } else { 4 };
    let lines: String = candidates.iter().map(|candidate| format!("{candidate}\n")).collect();
    write_out(format!("{lines}:{directive}\n").as_bytes())?;
    Ok(0)
}

/// The values of the flag before; or subcommands, flags, and names of the cluster.
fn candidates(command: &Command, words: &[String], unfinished: &str) -> Vec<String> {
    let flag = words.last().and_then(|word| {
        let long = word.strip_prefix("--");
        let short = word.strip_prefix('-').and_then(|letter| letter.parse::<char>().ok());
        command.get_arguments().find(|arg| {
            (long.is_some() && arg.get_long() == long) || (short.is_some() && arg.get_short() == short)
        })
    });
    if let Some(flag) = flag.filter(|flag| flag.get_action().takes_values()) {
        return flag.get_possible_values().iter().map(|value| value.get_name().to_owned()).collect();
    }
    let subcommands = command.get_subcommands().filter(|command| !command.is_hide_set());
    let flags = command.get_arguments().filter(|arg| !arg.is_hide_set()).filter_map(|arg| arg.get_long());
    let flags = flags.map(|flag| format!("--{flag}"));
    let names = if unfinished.starts_with('-') { Vec::new() } else { names(command, words) };
    subcommands.map(|command| command.get_name().to_owned()).chain(flags).chain(names).collect()
}

/// Names of a cluster that fit the first argument of a command, as far as the flags before it choose one.
fn names(command: &Command, words: &[String]) -> Vec<String> {
    let wanted = command.get_positionals().next().and_then(|arg| arg.get_value_names()?.first());
    let kinds = match wanted.map(|name| name.as_str()) {
        Some("NAME|FILE") => "daemonsets",
        Some("NODE|POD|DAEMONSET") => "nodes,pods,daemonsets",
        Some("NODE|FILE" | "NODE") => "nodes",
        _ => return Vec::new(),
    };
    let value = |flags: &[&str]| {
        let separate =
            words.iter().zip(words.iter().skip(1)).filter(|(flag, _)| flags.contains(&flag.as_str()));
        let joined = words.iter().filter_map(|word| word.split_once('='));
        let joined = joined.filter(|(flag, _)| flags.contains(flag)).map(|(_, value)| value.to_owned());
        separate.map(|(_, value)| value.clone()).chain(joined).last()
    };
    let scope = match value(&["-n", "--namespace"]) {
        Some(namespace) => Scope::Namespace(namespace),
        None => Scope::Current,
    };
    let (context, kubeconfig) = (value(&["--context"]), value(&["--kubeconfig"]).map(Into::into));
    let kubectl = Kubectl::connect(ConnectionArgs::new(context, kubeconfig), scope, None);
    kubectl.map(|kubectl| kubectl.names(kinds)).unwrap_or_default()
}

fn write_out(bytes: &[u8]) -> io::Result<()> {
    let mut out = io::stdout().lock();
    out.write_all(bytes)?;
    out.flush()
}
