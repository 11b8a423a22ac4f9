"""The sample `acme_audit` as a distribution that hosts under test find."""

from __future__ import annotations

from pathlib import Path

from tests.support.distributions import make_sample_site


def make_audit_site(site: Path) -> Path:
    return make_sample_site(site, "acme_audit")
