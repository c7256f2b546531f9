//! `plan --watch`: follows a rollout by the changes that kubectl tells. On a terminal one screen is redrawn; elsewhere each plan that differs from the one
//! before is printed after a line with its time.

use crate::cluster::{Follow, Needs, Source};
use crate::plan::args::PlanQuestion;
use crate::plan::view::PlanView;
use crate::shell::console::{Stop, print, system_clock};
use crate::shell::interrupt::Interrupt;
use anstream::adapter::strip_str;
use anstream::{AutoStream, ColorChoice};
use anstyle::{AnsiColor, Style};
use crossterm::cursor::{Hide, MoveTo, Show};
use crossterm::queue;
use crossterm::terminal::{
    self, BeginSynchronizedUpdate, Clear, ClearType, EndSynchronizedUpdate, EnterAlternateScreen,
    LeaveAlternateScreen,
};
use daemonset_view::hostile;
use jiff::SignedDuration;
use serde_json::Value;
use std::io::{self, IsTerminal, Write};

/// For a terminal that does not know its size.
const SIZE: (u16, u16) = (120, 40);
const FAILURE: Style = AnsiColor::Red.on_default();

/// Runs until Ctrl-C. The first look must succeed; a later one that fails is shown, and followed by the next.
pub(crate) fn run(mut asked: PlanQuestion, interval: SignedDuration) -> Result<u8, Stop> {
    let interrupt = Interrupt::register()?;
    if let Source::Kubectl(kubectl) = &mut asked.source {
        kubectl.watch_until(interrupt.flag());
    }
    let interval = interval.unsigned_abs();
    let mut show: Box<dyn Display> = match io::stdout().is_terminal() {
        true => Box::new(Screen::default()),
        false => Box::new(PlanLog::default()),
    };
    let mut follow = Follow::default();
    let mut look = || PlanView::of(follow.look(&asked.source, Needs::Plan)?, &asked);
    let mut looked = look();
    if interrupt.is_set() {
        return Ok(0);
    }
    looked = Ok(looked?);
    show.begin()?;
    let ended = loop {
        let shown = match looked {
            Ok(view) => show.view(&view, &asked.source),
            Err(Stop::Input(message)) => show.failure(&message),
            Err(stop) => break Err(stop),
        };
        if let Err(error) = shown {
            break Err(error.into());
        }
        interrupt.wait(interval);
        if interrupt.is_set() {
            break Ok(0);
        }
        looked = look();
        if interrupt.is_set() {
            break Ok(0);
        }
    };
    show.end()?;
    ended
}

/// How looks at a cluster are shown.
trait Display {
    fn begin(&mut self) -> io::Result<()>;
    fn view(&mut self, view: &PlanView, source: &Source) -> io::Result<()>;
    fn failure(&mut self, message: &str) -> io::Result<()>;
    fn end(&mut self) -> io::Result<()>;
}

/// Lines for a file or a pipe.
#[derive(Default)]
struct PlanLog {
    last: Option<Value>,
    last_failure: Option<String>,
}

impl Display for PlanLog {
    fn begin(&mut self) -> io::Result<()> {
        Ok(())
    }

    fn view(&mut self, view: &PlanView, source: &Source) -> io::Result<()> {
        self.last_failure = None;
        let fingerprint = view.fingerprint();
        if self.last.as_ref() == Some(&fingerprint) {
            return Ok(());
        }
        let gap = if self.last.is_some() { "\n" } else { "" };
        self.last = Some(fingerprint);
        print(&format!("{gap}--- {}\n{}", system_clock(), view.text(source)))
    }

    /// The same failure again is no news.
    fn failure(&mut self, message: &str) -> io::Result<()> {
        if self.last_failure.as_deref() == Some(message) {
            return Ok(());
        }
        self.last_failure = Some(message.to_owned());
        let message = hostile::in_one_line(message);
        writeln!(io::stderr(), "{}: {message}; trying again", system_clock())
    }

    fn end(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// The alternate screen of a terminal, drawn anew only where the text differs.
#[derive(Default)]
struct Screen {
    /// The last good look.
    text: String,
    drawn: String,
}

impl Screen {
    fn draw(&mut self, text: &str) -> io::Result<()> {
        let size = terminal::size().ok().filter(|(width, height)| *width > 0 && *height > 1);
        let text = match AutoStream::choice(&io::stdout()) {
            ColorChoice::Never => strip_str(text).to_string(),
            ColorChoice::Auto | ColorChoice::AlwaysAnsi | ColorChoice::Always => text.to_owned(),
        };
        let text = fit(&text, size.unwrap_or(SIZE));
        if text == self.drawn {
            return Ok(());
        }
        let mut frame = Vec::new();
        queue!(frame, BeginSynchronizedUpdate, MoveTo(0, 0), Clear(ClearType::FromCursorDown))?;
        frame.extend(text.replace('\n', "\r\n").bytes());
        queue!(frame, EndSynchronizedUpdate)?;
        self.drawn = text;
        write_out(&frame)
    }
}

impl Display for Screen {
    fn begin(&mut self) -> io::Result<()> {
        let mut frame = Vec::new();
        queue!(frame, EnterAlternateScreen, Hide)?;
        write_out(&frame)
    }

    fn view(&mut self, view: &PlanView, source: &Source) -> io::Result<()> {
        self.text = hostile::in_styled_text(&view.text(source));
        let text = self.text.clone();
        self.draw(&text)
    }

    /// Above the last good look, which may be longer than the screen.
    fn failure(&mut self, message: &str) -> io::Result<()> {
        let message = hostile::in_one_line(message);
        let text = format!("{FAILURE}{message}; trying again{FAILURE:#}\n\n{}", self.text);
        self.draw(&text)
    }

    fn end(&mut self) -> io::Result<()> {
        let mut frame = Vec::new();
        queue!(frame, Show, LeaveAlternateScreen)?;
        write_out(&frame)
    }
}

fn write_out(frame: &[u8]) -> io::Result<()> {
    let mut out = io::stdout().lock();
    out.write_all(frame)?;
    out.flush()
}

/// The first lines of a text, as many as there is room for, without a line break at the end.
fn fit(text: &str, (width, height): (u16, u16)) -> String {
    let (width, height) = (usize::from(width), usize::from(height));
    let rows = |line: &str| strip_str(line).to_string().chars().count().div_ceil(width).max(1);
    let lines: Vec<&str> = text.trim_end().lines().collect();
    let mut left = height;
    let fitting = lines.iter().take_while(|line| {
        let fits = rows(line) <= left;
        left = left.saturating_sub(rows(line));
        fits
    });
    match fitting.count() {
        all if all == lines.len() => lines.join("\n"),
        some => {
            let shown = some.saturating_sub(1);
            let hidden = lines.len() - shown;
            let shown = lines.iter().take(shown).copied().collect::<Vec<_>>().join("\n");
            format!("{shown}\n… {hidden} more lines: the window is too small")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::fit;

    #[test]
    fn a_text_is_cut_to_the_window() {
        assert_eq!(fit("a\nb\n", (10, 2)), "a\nb");
        assert_eq!(fit("a\nb\nc\n", (60, 2)), "a\n… 2 more lines: the window is too small");
        assert_eq!(
            fit("0123456789abc\nb\nc", (10, 3)),
            "0123456789abc\n… 2 more lines: the window is too small"
        );
    }
}
