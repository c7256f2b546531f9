//! The flags by which kubectl finds a cluster and speaks to it: they are passed on as they are.

use clap::Args;
use std::ffi::OsString;
use std::path::PathBuf;

/// Flags of kubectl's own.
#[derive(Args, Clone, Default)]
pub(crate) struct ConnectionArgs {
    /// The kubeconfig context, as for kubectl
    #[arg(long, value_name = "NAME", help_heading = "Cluster")]
    pub(crate) context: Option<String>,
    /// The kubeconfig file, as for kubectl
    #[arg(long, value_name = "FILE", help_heading = "Cluster")]
    kubeconfig: Option<PathBuf>,
    /// The cluster of the kubeconfig, as for kubectl
    #[arg(long, value_name = "NAME", help_heading = "Cluster")]
    cluster: Option<String>,
    /// The user of the kubeconfig, as for kubectl
    #[arg(long, value_name = "NAME", help_heading = "Cluster")]
    user: Option<String>,
    /// Act as this user, as for kubectl
    #[arg(long = "as", value_name = "USER", help_heading = "Cluster")]
    act_as: Option<String>,
    /// Act as a member of this group, as for kubectl; may be repeated
    #[arg(long = "as-group", value_name = "GROUP", help_heading = "Cluster")]
    act_as_group: Vec<String>,
    /// How long one request to the API server may take, as for kubectl
    #[arg(long, value_name = "TIME", help_heading = "Cluster")]
    request_timeout: Option<String>,
}

impl ConnectionArgs {
    pub(crate) fn new(context: Option<String>, kubeconfig: Option<PathBuf>) -> Self {
        ConnectionArgs { context, kubeconfig, ..ConnectionArgs::default() }
    }

    /// Those that are given, each with its value.
    fn flags(&self) -> impl Iterator<Item = (&'static str, OsString)> {
        let one = |flag, value: Option<&String>| value.map(|value| (flag, value.into()));
        [
            one("--context", self.context.as_ref()),
            self.kubeconfig.as_ref().map(|file| ("--kubeconfig", file.into())),
            one("--cluster", self.cluster.as_ref()),
            one("--user", self.user.as_ref()),
            one("--as", self.act_as.as_ref()),
        ]
        .into_iter()
        .flatten()
        .chain(self.act_as_group.iter().map(|group| ("--as-group", group.into())))
        .chain(one("--request-timeout", self.request_timeout.as_ref()))
    }

    /// The first one, if any is given.
    pub(crate) fn first_flag(&self) -> Option<&'static str> {
        self.flags().next().map(|(flag, _)| flag)
    }

    /// The same for a request that goes on and on.
    pub(crate) fn without_timeout(&self) -> Self {
        ConnectionArgs { request_timeout: None, ..self.clone() }
    }

    /// For a call of kubectl.
    pub(crate) fn arguments(&self) -> impl Iterator<Item = OsString> {
        self.flags().flat_map(|(flag, value)| [flag.into(), value])
    }

    /// For a command line that a person pastes into a shell; each after a space.
    pub(crate) fn text(&self) -> String {
        let quoted = |value: OsString| {
            let value = value.to_string_lossy();
            // A value with NUL can't be an argument of any program.
            shlex::try_quote(&value).map_or_else(|_| value.to_string(), Into::into)
        };
        self.flags().map(|(flag, value)| format!(" {flag} {}", quoted(value))).collect()
    }
}
