"""The index of a folder with which a release is rehearsed."""

from __future__ import annotations

import sys
from pathlib import Path
from urllib.error import HTTPError
from urllib.request import HTTPRedirectHandler, build_opener, urlopen

import pytest

from tests.support.environments import built_wheels, run
from tools.local_index import serving


class NoRedirect(HTTPRedirectHandler):
    def redirect_request(self, *_: object) -> None:
        pass


def test_files_are_uploaded_and_listed_and_other_names_are_those_of_the_index(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PIP_INDEX_URL", "https://index.example/simple/")
    wheel = next(built_wheels().glob("toolkit_math-*.whl"))
    with serving(tmp_path) as url:
        with pytest.raises(HTTPError, match="302") as other:
            build_opener(NoRedirect).open(f"{url}/toolkit-math/")
        other.value.close()
        assert other.value.headers["Location"] == "https://index.example/simple/toolkit-math/"
        login = ["--username", "any", "--password", "any", "--repository-url", url]
        run(sys.executable, "-m", "twine", "upload", "--disable-progress-bar", *login, wheel)
        pip = [sys.executable, "-m", "pip", "download", "--quiet", "--isolated", "--no-deps", "--index-url", url]
        run(*pip, "--dest", tmp_path / "downloaded", "toolkit_math")
        with urlopen(f"{url}/toolkit-math/") as page:
            assert f"/{wheel.name}#sha256=" in page.read().decode()
    assert (tmp_path / "downloaded" / wheel.name).read_bytes() == wheel.read_bytes()
