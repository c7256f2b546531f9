//! The text of a scrape: OpenMetrics, and Prometheus' own format, which tools such as `promtool check metrics` read.

/// The same metrics in Prometheus' text format 0.0.4, in which a family has the name of its samples, there are no units, and an
/// info is a gauge.
pub(crate) fn in_prometheus_format(open_metrics: &str) -> String {
    let mut lines = Vec::new();
    let mut help = None;
    for line in open_metrics.lines() {
        if let Some(text) = line.strip_prefix("# HELP ") {
            // The type, which comes next, decides the name.
            help = text.split_once(' ').map(|(_, help)| help);
        } else if let Some((name, kind)) = line.strip_prefix("# TYPE ").and_then(|text| text.rsplit_once(' '))
        {
            let (suffix, kind) = match kind {
                "counter" => ("_total", "counter"),
                "info" => ("_info", "gauge"),
                "unknown" => ("", "untyped"),
                other => ("", other),
            };
            lines.extend(help.take().map(|help| format!("# HELP {name}{suffix} {help}")));
            lines.push(format!("# TYPE {name}{suffix} {kind}"));
        } else if !line.starts_with("# ") {
            lines.push(line.to_owned());
        }
    }
    lines.iter().map(|line| format!("{line}\n")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_family_has_the_name_of_its_samples() {
        let open_metrics = "# HELP a Calls.\n# TYPE a counter\na_total{b=\"# c\"} 1\n\
                            # HELP d_seconds Time.\n# TYPE d_seconds gauge\n# UNIT d_seconds seconds\nd_seconds 2\n\
                            # HELP e Version.\n# TYPE e info\ne_info{v=\"1\"} 1\n# EOF\n";
        assert_eq!(
            in_prometheus_format(open_metrics),
            "# HELP a_total Calls.\n# TYPE a_total counter\na_total{b=\"# c\"} 1\n\
             # HELP d_seconds Time.\n# TYPE d_seconds gauge\nd_seconds 2\n\
             # HELP e_info Version.\n# TYPE e_info gauge\ne_info{v=\"1\"} 1\n"
        );
    }
}
