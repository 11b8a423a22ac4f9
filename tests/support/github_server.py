"""A server on loopback that responds as GitHub documents it: the web application flow, and the API of one account.

https://docs.github.com/en/apps/oauth-apps/building-oauth-apps/authorizing-oauth-apps
"""

from __future__ import annotations

from urllib.parse import urlencode, urlsplit

from aiohttp import web

from tests.support.loopback_server import LoopbackServer, challenge_of, redirected


class GitHubServer(LoopbackServer):
    """The server: `async with GitHubServer() as github`. The person agrees to everything.

    Attributes:
        scopes: the scopes of the token.
    """

    TOKEN = "gho_16C7e42F292c6912E7710c838347Ae178B4a"
    SECRET = "client-secret-canary"

    def __init__(self) -> None:
        self.scopes: list[str] = []
        self._page: dict[str, str] = {}

    def application(self) -> web.Application:
        application = web.Application()
        application.router.add_get("/login/oauth/authorize", self._authorize)
        application.router.add_post("/login/oauth/access_token", self._token)
        application.router.add_get("/user", self._user)
        return application

    async def _authorize(self, request: web.Request) -> web.Response:
        self._page = dict(request.query)
        target = urlsplit(self._page["redirect_uri"])  # the port may differ from that of http://127.0.0.1/callback
        assert (target.hostname, target.path) == ("127.0.0.1", "/callback")
        return redirected(self._page, {"code": "code", "state": self._page["state"]})

    async def _token(self, request: web.Request) -> web.Response:
        form = {name: str(value) for name, value in (await request.post()).items()}
        is_right = challenge_of(form.get("code_verifier", "")) == self._page["code_challenge"]
        if form["client_secret"] != self.SECRET or form["code"] != "code" or not is_right:
            document = {"error": "bad_verification_code", "error_description": "The code passed is incorrect."}
        else:
            self.scopes = self._page["scope"].split()
            document = {"access_token": self.TOKEN, "scope": ",".join(self.scopes), "token_type": "bearer"}
        if request.headers.get("Accept") == "application/json":
            return web.json_response(document)  # an error has the status 200, too
        return web.Response(text=urlencode(document), content_type="application/x-www-form-urlencoded")

    async def _user(self, request: web.Request) -> web.Response:
        if request.headers.get("Authorization") not in (f"Bearer {self.TOKEN}", f"token {self.TOKEN}"):
            return web.json_response({"message": "Requires authentication"}, status=401)
        assert request.headers.get("User-Agent"), "GitHub refuses requests without it"
        account = {"login": "octocat", "id": 583231, "name": None, "html_url": "https://github.com/octocat"}
        return web.json_response(account, headers={"X-OAuth-Scopes": ", ".join(self.scopes)})
