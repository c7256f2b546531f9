//! The figures of this process, under the names that Prometheus' client libraries give them. Linux alone tells them.
#![allow(clippy::float_arithmetic, reason = "Prometheus counts in seconds")]

use prometheus_client::collector::Collector;
use prometheus_client::encoding::{DescriptorEncoder, EncodeMetric};
use prometheus_client::metrics::counter::ConstCounter;
use prometheus_client::metrics::gauge::ConstGauge;
use rustix::param::{clock_ticks_per_second, page_size};
use std::fmt;
use std::fs::{read_dir, read_to_string};

/// Reads `/proc` at each scrape.
#[derive(Debug)]
pub(super) struct ProcessMetrics;

/// The figures that could be read.
#[derive(Debug, Default, Clone, Copy, PartialEq)]
struct ProcessFigures {
    cpu_seconds: Option<f64>,
    /// Seconds since 1970.
    start_time: Option<f64>,
    virtual_bytes: Option<u64>,
    resident_bytes: Option<u64>,
    open_files: Option<u64>,
    max_files: Option<u64>,
}

/// The units of the kernel.
struct Units {
    ticks_per_second: f64,
    page_bytes: u64,
}

impl ProcessFigures {
    fn read() -> Self {
        let file = |path| read_to_string(path).unwrap_or_default();
        let units =
            Units { ticks_per_second: clock_ticks_per_second() as f64, page_bytes: page_size() as u64 };
        ProcessFigures {
            // The folder itself is open while it is read.
            open_files: read_dir("/proc/self/fd").ok().map(|files| (files.count() as u64).saturating_sub(1)),
            ..ProcessFigures::of(
                &file("/proc/self/stat"),
                &file("/proc/stat"),
                &file("/proc/self/limits"),
                &units,
            )
        }
    }

    /// `proc_pid_stat(5)`, `proc_stat(5)`, `proc_pid_limits(5)`.
    fn of(stat: &str, machine: &str, limits: &str, units: &Units) -> Self {
        // The second field, the name of the program in parentheses, may contain anything.
        let fields: Vec<&str> =
            stat.rsplit_once(')').map_or("", |(_, rest)| rest).split_whitespace().collect();
        // The manual counts from 1, and the fields here begin with the third one.
        let field = |number: usize| fields.get(number - 3)?.parse::<u64>().ok();
        let seconds = |ticks: u64| ticks as f64 / units.ticks_per_second;
        let started =
            machine.lines().find_map(|line| line.strip_prefix("btime ")?.trim().parse::<f64>().ok());
        let limit = limits.lines().find_map(|line| line.strip_prefix("Max open files"));
        ProcessFigures {
            cpu_seconds: field(14).zip(field(15)).map(|(user, system)| seconds(user + system)),
            start_time: started.zip(field(22)).map(|(machine, after)| machine + seconds(after)),
            virtual_bytes: field(23),
            resident_bytes: field(24).map(|pages| pages * units.page_bytes),
            open_files: None,
            max_files: limit.and_then(|limit| limit.split_whitespace().next()?.parse().ok()),
        }
    }
}

impl Collector for ProcessMetrics {
    fn encode(&self, mut encoder: DescriptorEncoder) -> fmt::Result {
        let figures = ProcessFigures::read();
        let mut show = |name, help, metric: Option<&dyn EncodeMetric>| {
            let Some(metric) = metric else { return Ok(()) };
            metric.encode(encoder.encode_descriptor(name, help, None, metric.metric_type())?)
        };
        let cpu = figures.cpu_seconds.map(ConstCounter::new);
        let start = figures.start_time.map(ConstGauge::new);
        show("process_cpu_seconds", "CPU seconds of user and system.", cpu.as_ref().map(|it| it as _))?;
        show(
            "process_start_time_seconds",
            "Start of the process, in seconds since 1970.",
            start.as_ref().map(|it| it as _),
        )?;
        for (name, help, value) in [
            ("process_virtual_memory_bytes", "Virtual memory.", figures.virtual_bytes),
            ("process_resident_memory_bytes", "Resident memory.", figures.resident_bytes),
            ("process_open_fds", "Open files.", figures.open_files),
            ("process_max_fds", "Limit of open files.", figures.max_files),
        ] {
            let gauge = value.map(ConstGauge::new);
            show(name, help, gauge.as_ref().map(|it| it as _))?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_fields_are_those_of_the_manual() {
        // From a kernel 6.1: pid, name, state, then ppid and so on.
        let stat = "42 (a) b (c)) S 1 42 42 0 -1 4194560 1000 0 3 0 250 50 0 0 20 0 5 0 12300 104857600 2560 \
                    18446744073709551615 1 1 0 0 0 0 0 4096 16384 0 0 0 17 1 0 0 0 0 0\n";
        let machine = "cpu  1 2 3\nbtime 1795818806\nprocesses 7\n";
        let limits = "Limit                     Soft Limit           Hard Limit           Units     \n\
                      Max open files            1024                 524288               files     \n";
        let units = Units { ticks_per_second: 100.0, page_bytes: 4096 };
        assert_eq!(
            ProcessFigures::of(stat, machine, limits, &units),
            ProcessFigures {
                cpu_seconds: Some(3.0),
                start_time: Some(1_795_818_929.0),
                virtual_bytes: Some(104_857_600),
                resident_bytes: Some(2560 * 4096),
                open_files: None,
                max_files: Some(1024),
            }
        );
        assert_eq!(ProcessFigures::of("", "", "Max open files unlimited", &units), ProcessFigures::default());
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn this_process_has_figures() {
        let ProcessFigures { cpu_seconds, start_time, virtual_bytes, resident_bytes, open_files, max_files } =
            ProcessFigures::read();
        let now = jiff::Timestamp::now().as_second() as f64;
        assert!(cpu_seconds.is_some_and(|seconds| seconds < 1000.0), "{cpu_seconds:?}");
        assert!(start_time.is_some_and(|at| (now - 3600.0..now + 2.0).contains(&at)), "{start_time:?} {now}");
        assert!(resident_bytes > Some(1 << 20) && resident_bytes < virtual_bytes, "{resident_bytes:?}");
        assert!(open_files >= Some(3) && open_files <= max_files, "{open_files:?} {max_files:?}");
    }
}
