"""Files that contain credentials, and the rule that closes entries to every tool. The module reads no files.

A glob without a `/` closes matching names at any depth. A glob with a `/` closes paths below a root. Globs are
also compared with absolute paths, because a root may itself be below a closed directory.
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from toolkit_files.patterns import Globs

__all__ = ["CLOSED", "OPEN", "ClosedEntries", "Views"]

_KEYS = (
    *("id_rsa*", "id_dsa*", "id_ecdsa*", "id_ed25519*", "id_xmss*"),
    *("*.pem", "*.key", "*.p8", "*.p12", "*.pfx", "*.pkcs12", "*.ppk", "*.jks", "*.keystore", "*.keytab"),
    *("*.kdb", "*.kdbx", "*.agekey", "*.ovpn"),
)
_SETTINGS = (
    *(".env", ".env.*", ".envrc", ".netrc", "_netrc", ".npmrc", ".pypirc", ".git-credentials", ".pgpass", ".my.cnf"),
    *(
        ".mylogin.cnf",
        ".htpasswd",
        ".dockercfg",
        ".dockerconfigjson",
        ".s3cfg",
        ".boto",
        ".terraformrc",
        ".vault-token",
    ),
    *(".vault_pass", ".databrickscfg", ".snowsql", "rclone.conf", "kubeconfig", "*.kubeconfig", "*.tfstate"),
    *("*.tfstate.*", "credentials.json", ".credentials.json", "client_secret*.json", "service-account*.json"),
    *("service_account*.json", "application_default_credentials.json"),
)
_DIRECTORIES = (
    *(".ssh", ".aws", ".azure", ".gnupg", ".kube", ".oci", ".password-store", ".subversion", ".mozilla"),
    *("**/.config/gcloud", "**/.config/pegboard", "**/.local/state/pegboard", "**/.local/share/keyrings"),
    *("**/.config/google-chrome", "**/.config/chromium", "**/Library/Keychains"),
    "**/Library/Application Support/{gcloud,pegboard,Google,Firefox}",
)
_PATHS = (
    *("**/.git/config", "**/.git/config.worktree", "**/.git/modules/**/config", "**/.git/worktrees/*/config.worktree"),
    *("**/.config/git/credentials", "**/.hg/hgrc", "**/.docker/config.json", "**/.config/gh/hosts.yml"),
    *("**/.config/hub", "**/.cargo/credentials", "**/.cargo/credentials.toml", "**/.gem/credentials"),
    *("**/.composer/auth.json", "**/.codex/auth.json", "**/.m2/settings.xml", "**/.m2/settings-security.xml"),
    *(
        "**/.gradle/gradle.properties",
        "**/.streamlit/secrets.toml",
        "**/.aws/credentials",
        "**/.kube/config",
        "**/.gnupg/private-keys-v1.d",
    ),
    *("proc/*/environ", "proc/*/task/*/environ", "etc/shadow*", "etc/gshadow*", "run/secrets"),
)
_HISTORIES = (".*_history", ".history", "fish_history", ".histfile", ".lesshst", ".viminfo", ".Xauthority")

CLOSED = _KEYS + _SETTINGS + _DIRECTORIES + _PATHS + _HISTORIES
"""The globs of closed entries. `deny` adds to them, and `allow` reopens some."""

OPEN = ("id_*.pub", ".env.example", ".env.sample", ".env.template", ".env.dist", ".env.defaults")
"""Entries that match `CLOSED` but contain no secrets."""


class Views(NamedTuple):
    """The forms of a path for matching: relative to each root that contains it, and absolute."""

    inside: tuple[tuple[str, ...], ...]
    whole: tuple[str, ...]


class ClosedEntries:
    """The rule that decides which entries are closed. Immutable.

    Globs of `deny` and of the defaults close an entry and everything below it. Globs of `allow` open these again.
    If globs match several directories on the path of an entry, the match nearest to the entry decides. If both kinds
    match the same directory, `allow` decides.
    """

    def __init__(self, deny: Sequence[str] = (), allow: Sequence[str] = ()) -> None:
        """Compile the globs. Raise FileProblem for an invalid glob."""
        self._default = Globs(CLOSED)
        self._open = Globs(OPEN)
        self._deny = Globs(deny)
        self._allow = Globs(allow)

    def closes(self, way: Iterator[Views]) -> bool:
        """Return True if a path is closed.

        Args:
            way: the path, then each directory above it, up to the root.
        """
        for views in way:
            if not views.inside or self._reopens(views):
                return False
            if self._matches(views):
                return True
        return False

    def closes_last(self, views: Views) -> bool:
        """Return True if an entry of an open directory is closed."""
        return self._matches(views) and not self._reopens(views)

    def _matches(self, views: Views) -> bool:
        paths = (*views.inside, views.whole)
        if self._default.match_last(*paths) and not self._open.match_last(*paths):
            return True
        return self._deny.match_last(*paths)

    def _reopens(self, views: Views) -> bool:
        return self._allow.match_last(*views.inside)
