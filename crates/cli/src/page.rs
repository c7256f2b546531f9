//! `kubectl daemonset page`: the page that tells in a browser why each node waits; empty, or filled with a cluster. A file, and no
//! server.

use crate::cluster::{Objects, STEADY, Source, TargetArgs, Wanted};
use crate::shell::console::{Stop, system_clock};
use daemonset_view::hostile;
use daemonset_view::share::Left;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// The name of the page beside this program, and of the file that is written.
const NAME: &str = "daemonset.html";
/// The place in the page where the cluster goes.
const PLACE: &str = "<!-- cluster -->";
/// How the cluster begins that has taken it.
const FILLED: &str = "<script type=\"application/json\" id=\"cluster\"";

/// Writes the page, and opens it.
#[derive(clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    target: TargetArgs,
    /// Fill it with the cluster, and open it with the program that the desktop has for it
    #[arg(long)]
    open: bool,
    /// The file to write; `-` is stdout
    #[arg(long, value_name = "FILE", default_value = NAME)]
    to: PathBuf,
    /// The page to write or to fill. Default: daemonset.html beside this program, where a release has it
    #[arg(long, value_name = "FILE")]
    page: Option<PathBuf>,
    /// Leave the values of environment variables and of the HTTP headers of probes in the cluster
    #[arg(long)]
    with_environment: bool,
    /// Leave all annotations in the cluster, and not only those that a plan reads
    #[arg(long)]
    with_annotations: bool,
}

/// Runs the subcommand. Nothing is read of a cluster that nobody asked for.
pub(crate) fn run(args: &Args) -> Result<u8, Stop> {
    let page = read_page(args.page.as_deref())?;
    let page = match args.open || !args.target.is_open() || args.target.names_daemon_set() {
        true => filled(&page, args)?,
        false => page,
    };
    if args.to.as_os_str() == "-" {
        io::stdout().write_all(page.as_bytes())?;
        return Ok(0);
    }
    let named = |error: io::Error| io::Error::new(error.kind(), format!("{}: {error}", args.to.display()));
    fs::write(&args.to, page).map_err(named)?;
    writeln!(io::stdout(), "{}", args.to.display())?;
    if args.open {
        show(&args.to)?;
    }
    Ok(0)
}

fn read_page(given: Option<&Path>) -> Result<String, Stop> {
    let beside = || Some(std::env::current_exe().ok()?.parent()?.join(NAME));
    let file = given.map(Path::to_path_buf).or_else(beside).unwrap_or_else(|| PathBuf::from(NAME));
    let page = fs::read_to_string(&file).map_err(|error| match given {
        Some(_) => Stop::Input(format!("--page {}: {error}", file.display())),
        None => Stop::Input(format!(
            "the page is not beside this program ({}: {error}): a release has it there, `just page` builds it, and --page names it",
            file.display()
        )),
    })?;
    match page.matches(PLACE).count() {
        1 => Ok(page),
        // In the folder of the program, the page that was filled last has taken its place.
        0 => emptied(&page).ok_or_else(|| Stop::Input(format!("{}: is no page", file.display()))),
        _ => Err(Stop::Input(format!("{}: is no empty page", file.display()))),
    }
}

/// A filled page without its cluster, which has no `<`.
fn emptied(page: &str) -> Option<String> {
    let (before, filled) = page.split_once(FILLED)?;
    let (_, after) = filled.split_once("</script>")?;
    Some(format!("{before}{PLACE}{after}"))
}

fn filled(page: &str, args: &Args) -> Result<String, Stop> {
    let mut target = args.target.clone();
    target.cluster = target.cluster.of_all_namespaces();
    let target = target.resolve(STEADY)?;
    let source = &target.source;
    let stop = |message: String| source.stop(message);
    let texts = source.texts().map_err(stop)?;
    let texts: Vec<&[u8]> = texts.iter().map(Vec::as_slice).collect();
    let chosen = match &target.wanted {
        Some(wanted) => {
            format!(" data-daemonset=\"{}\"", in_attribute(&first(&texts, wanted).map_err(stop)?))
        }
        None => String::new(),
    };
    let cluster = Left::new(args.with_environment, args.with_annotations).of(&texts).map_err(stop)?;
    // In JSON a `<` can be written otherwise; in HTML it could end the script.
    let cluster = cluster.replace('<', "\\u003c");
    let now = match source {
        Source::Kubectl(_) => format!(" data-now=\"{}\"", system_clock()),
        Source::Example { .. } | Source::Stdin | Source::File(_) => String::new(),
    };
    let script = format!("{FILLED}{now}{chosen}>{cluster}</script>");
    Ok(page.replacen(PLACE, &script, 1))
}

/// The name of the first DaemonSet that is wanted.
fn first(texts: &[&[u8]], wanted: &Wanted) -> Result<String, String> {
    let mut objects = Objects::default();
    for text in texts {
        objects.append(Objects::read(text)?);
    }
    let each = objects.each(Some(wanted))?;
    Ok(each.first().map(Wanted::to_string).unwrap_or_default())
}

fn in_attribute(text: &str) -> String {
    hostile::in_one_line(text).replace('&', "&amp;").replace('"', "&quot;").replace('<', "&lt;")
}

/// Lets the desktop open the file.
fn show(file: &Path) -> Result<(), Stop> {
    let mut command = if cfg!(windows) {
        let mut command = Command::new("cmd");
        command.args(["/C", "start", ""]);
        command
    } else {
        Command::new(if cfg!(target_os = "macos") { "open" } else { "xdg-open" })
    };
    let program = command.get_program().to_string_lossy().into_owned();
    let ended = command.arg(file).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).status();
    match ended {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(Stop::Input(format!("{program}: {status}; open {} in a browser", file.display()))),
        Err(error) => Err(Stop::Input(format!("{program}: {error}; open {} in a browser", file.display()))),
    }
}
