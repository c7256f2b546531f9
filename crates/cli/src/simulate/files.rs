//! The files that are drawn and written beside the summary.

use crate::shell::console::Stop;
use crate::simulate::args::Simulation;
use daemonset_pictures::run::Run;
use daemonset_pictures::scene::Ran;
use daemonset_pictures::{compare, downtime, html, svg};
use daemonset_view::hostile;
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;

/// Runs as they are drawn.
pub(crate) fn pictures(runs: &[Ran]) -> Vec<Run<'_>> {
    runs.iter().map(Ran::picture).collect()
}

/// Writes the files that the command line asks for.
pub(crate) fn write(simulation: &Simulation, runs: &[Ran]) -> Result<(), Stop> {
    let pictures = pictures(runs);
    if let Some(file) = &simulation.svg {
        let svg = match pictures.as_slice() {
            [only] => svg::timeline(only),
            several => compared(simulation, several),
        };
        into(file, |out| out.write_all(hostile::in_text(&svg).as_bytes()))?;
    }
    if let Some(file) = &simulation.html {
        let page = match pictures.as_slice() {
            [only] => html::page(only),
            several if simulation.downtime => {
                html::comparison(downtime::TITLE, &downtime::svg(several), several)
            }
            several => html::comparison(compare::TITLE, &compare::svg(several), several),
        };
        into(file, |out| out.write_all(hostile::in_text(&page).as_bytes()))?;
    }
    if let (Some(file), [only]) = (&simulation.trace, runs) {
        into(file, |out| {
            for event in only.cluster.history() {
                writeln!(out, "{}", hostile::in_json(&serde_json::to_string(event)?))?;
            }
            Ok(())
        })?;
    }
    Ok(())
}

fn compared(simulation: &Simulation, runs: &[Run<'_>]) -> String {
    if simulation.downtime { downtime::svg(runs) } else { compare::svg(runs) }
}

fn into(file: &Path, content: impl FnOnce(&mut BufWriter<File>) -> io::Result<()>) -> Result<(), Stop> {
    let named =
        |error: io::Error| Stop::Output(io::Error::new(error.kind(), format!("{}: {error}", file.display())));
    let mut out = BufWriter::new(File::create(file).map_err(named)?);
    content(&mut out).and_then(|()| out.flush()).map_err(named)
}
