"""The settings of the plugin `login`."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Annotated, Literal, NamedTuple, Self, TypeAlias
from urllib.parse import urlsplit

from pydantic import AfterValidator, Field, SecretStr, StringConstraints, field_validator, model_validator

from pegboard import PluginConfig
from pegboard.plugin import RecordStore, SharedKeys, StoreName, WidensAccess
from pegboard_client import names_this_machine
from pegboard_plugins.support.bearer import Scopes
from pegboard_plugins.support.secret_strength import is_weak_secret

GITHUB = "https://github.com"
_UNSAFE_SCHEMES = frozenset(("about", "blob", "data", "file", "ftp", "http", "https", "javascript", "vbscript"))
_OWN_PARAMETERS = frozenset(
    (
        *("client_id", "code_challenge", "code_challenge_method", "nonce"),
        *("redirect_uri", "response_mode", "response_type", "scope", "state"),
    )
)
"""The parameters of the login page that have a setting, or are different in each login."""
_UNSTABLE_CLAIMS = frozenset(("email", "name", "nickname", "phone_number", "preferred_username"))
"""Claims that can change, and that another person can then have (OpenID Connect Core, section 5.7)."""
_DEFAULT_PORTS = {"http": ":80", "https": ":443"}


def _checked_domain(domain: str) -> str:
    if not re.fullmatch(r"[a-z0-9-]+(\.[a-z0-9-]+)*", domain.lower()):
        raise ValueError(f"invalid domain {domain!r}: write one such as example.com, and each subdomain by itself")
    return domain.lower()


def _checked_scheme(scheme: str) -> str:
    if not re.fullmatch("[a-z][a-z0-9+.-]*", scheme):
        raise ValueError(f"invalid scheme {scheme!r}: write it in small letters and without '://', such as cursor")
    if scheme in _UNSAFE_SCHEMES:
        raise ValueError(f"the scheme {scheme} belongs to browsers, not to an application: remove it")
    return scheme


Name: TypeAlias = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1)]
Domain: TypeAlias = Annotated[str, AfterValidator(_checked_domain)]
Scheme: TypeAlias = Annotated[str, AfterValidator(_checked_scheme)]


class Person(NamedTuple):
    """A person who logged in at the identity provider.

    Attributes:
        subject: the stable id of the person at the provider.
        login: the name that entries of `allowed_users` without "@" are compared with: the subject, or the user name
            at GitHub.
        email: the address that the provider has verified; "" for none.
        domain: the domain that the account belongs to; "" for none.
        groups: the groups of the settings that the person is a member of.
        name: the name for people to read.
    """

    subject: str
    login: str
    email: str = ""
    domain: str = ""
    groups: tuple[str, ...] = ()
    name: str = ""


class IdentityProviderSettings(PluginConfig):
    """`[plugins.login.provider]`: the registration of this host at the identity provider.

    Attributes:
        issuer: the issuer of an OpenID provider, such as "https://accounts.google.com", or the address of GitHub,
            "https://github.com".
        client_id: the id of the registration. Its redirect URI is the path `/login/callback` of this host.
        client_secret: its secret.
        kind: "github" for GitHub Enterprise Server, which is not an OpenID provider.
        scopes: the scopes that every login requests; by default those for the identity of the person.
        parameters: more parameters of the login page, such as `{ prompt = "select_account" }`.
        subject_claim: the claim with the stable id of a person, such as "oid" for Microsoft Entra ID.
        groups_claim: the claim with the groups of a person.
    """

    issuer: str
    client_id: Name
    client_secret: SecretStr | None = Field(None, min_length=1)
    kind: Literal["openid", "github"] = "openid"
    scopes: Scopes = ()
    parameters: Mapping[str, str] = {}
    subject_claim: Name = "sub"
    groups_claim: Name = "groups"

    @field_validator("issuer")
    @classmethod
    def _check_issuer(cls, url: str) -> str:
        issuer, well_known, _ = _checked_url(url).partition("/.well-known/")
        if well_known:
            raise ValueError(f"this is the address of the metadata: the issuer is {issuer}")
        return GITHUB if issuer.rstrip("/") == GITHUB else issuer

    @field_validator("parameters")
    @classmethod
    def _check_parameters(cls, parameters: Mapping[str, str]) -> Mapping[str, str]:
        if own := _OWN_PARAMETERS & set(parameters):
            raise ValueError(f"the host sets {min(own)} itself: remove it from parameters")
        return parameters

    @field_validator("subject_claim")
    @classmethod
    def _check_subject_claim(cls, claim: str) -> str:
        if claim in _UNSTABLE_CLAIMS:
            raise ValueError(f"another person can have the same {claim} later: use a stable claim, such as sub")
        return claim

    @model_validator(mode="after")
    def _check(self) -> Self:
        if self.scopes and "openid" not in self.scopes and not self.is_github:
            raise ValueError("without the scope openid, the provider sends no ID token: add it to scopes")
        return self

    @property
    def is_github(self) -> bool:
        return self.kind == "github" or self.issuer == GITHUB


class LoginConfig(PluginConfig):
    """`[plugins.login]`.

    Attributes:
        resource: the public URL of the MCP endpoint. Its origin is the issuer of the tokens.
        provider: the identity provider, at which people log in.
        allowed_users: the people who may log in: verified email addresses or subjects, or user names at GitHub.
        allowed_groups: groups whose members may log in, such as "organization/team" or "organization" at GitHub.
        allowed_domains: domains whose accounts may log in.
        everyone: True to let everyone with an account at the provider log in.
        scopes: the scopes that clients may request.
        challenge_scopes: the scopes that clients request at first, and receive if they request none.
        scope_groups: the groups whose members receive a scope, by scope. Everyone receives the other scopes.
        keys: the secrets that sign tokens. The first signs, all verify. Processes that serve the same resource need the
            same keys. The default is `[host] state_keys`, else a key in the state directory.
        database: the file of the logins; by default `login.db` in the state directory.
        store: the plugin that stores the logins instead of this file, for several machines. The default is `[host]
            state`.
        access_seconds: the lifetime of access tokens.
        login_seconds: the time after which a person must log in again.
        checked_seconds: the maximum time for which an access token is accepted after its login was revoked.
        redirect_schemes: schemes of applications that may receive the result of a login, such as "cursor".
        client_metadata_documents: False to accept only registered clients, if this host cannot send requests to the
            web.
    """

    resource: str
    provider: Annotated[IdentityProviderSettings, WidensAccess("admits callers who log in at this provider")]
    allowed_users: Annotated[tuple[Name, ...], WidensAccess("lets these people log in")] = ()
    allowed_groups: Annotated[tuple[Name, ...], WidensAccess("lets members of these groups log in")] = ()
    allowed_domains: Annotated[tuple[Domain, ...], WidensAccess("lets accounts of these domains log in")] = ()
    everyone: Annotated[bool, WidensAccess("lets everyone with an account at the provider log in")] = False
    scopes: Scopes = ()
    challenge_scopes: Scopes = ()
    scope_groups: Mapping[str, tuple[str, ...]] = {}
    keys: Annotated[tuple[SecretStr, ...], SharedKeys()] = ()
    database: Name | None = None
    store: Annotated[str | None, StoreName(RecordStore)] = None
    access_seconds: float = Field(600, ge=30, le=3600)
    login_seconds: float = Field(7 * 24 * 3600, ge=60, allow_inf_nan=False)
    checked_seconds: float = Field(30, ge=0, le=600)
    redirect_schemes: tuple[Scheme, ...] = ()
    client_metadata_documents: bool = True

    @field_validator("resource")
    @classmethod
    def _check_resource(cls, url: str) -> str:
        return _normal(_checked_url(url))

    @model_validator(mode="after")
    def _check(self) -> Self:
        if not (self.allowed_users or self.allowed_groups or self.allowed_domains or self.everyone):
            raise ValueError("no person may log in: set allowed_users, allowed_groups, allowed_domains or everyone")
        if unknown := {*self.challenge_scopes, *self.scope_groups} - set(self.scopes):
            raise ValueError(f"scope {min(unknown)!r} is missing in scopes: add it there")
        if self.provider.is_github and (self.allowed_domains or any("@" in user for user in self.allowed_users)):
            raise ValueError("GitHub does not prove addresses: set user names in allowed_users, or allowed_groups")
        if any(is_weak_secret(key.get_secret_value()) for key in self.keys):
            raise ValueError("a key is weak: use the output of `openssl rand -hex 32`")
        if self.store is not None and not self.keys:
            raise ValueError("the pages of a login may reach other processes: set keys, the same for all of them")
        return self

    @property
    def issuer(self) -> str:
        """The issuer of the tokens: the origin of the resource."""
        parts = urlsplit(self.resource)
        return f"{parts.scheme}://{parts.netloc}"

    def is_resource(self, url: str | None) -> bool:
        """Return True if a client names the resource, or none. Some libraries add a slash to a URL without a path."""
        return url is None or _normal(url).rstrip("/") == self.resource.rstrip("/")

    @property
    def is_secure(self) -> bool:
        """True if browsers reach the host over https."""
        return self.resource.startswith("https:")

    @property
    def known_groups(self) -> tuple[str, ...]:
        """The groups that the settings name."""
        of_scopes = (group for groups in self.scope_groups.values() for group in groups)
        return tuple(dict.fromkeys((*self.allowed_groups, *of_scopes)))

    def admits(self, person: Person) -> bool:
        """Return True if a person may log in."""
        addresses = {user.lower() for user in self.allowed_users if "@" in user}
        logins = {user.lower() if self.provider.is_github else user for user in self.allowed_users if "@" not in user}
        return (
            self.everyone
            or person.login in logins
            or person.email in addresses
            or person.domain in self.allowed_domains
            or not set(self.allowed_groups).isdisjoint(person.groups)
        )

    def granted(self, scopes: tuple[str, ...], person: Person) -> tuple[str, ...]:
        """Return the scopes that a person may grant."""
        return tuple(
            scope
            for scope in scopes
            if scope in self.scopes
            and (scope not in self.scope_groups or not set(self.scope_groups[scope]).isdisjoint(person.groups))
        )


_INVALID_URL = "invalid URL: write https://, a host and a path, without user, query and fragment"


def _checked_url(url: str) -> str:
    try:
        parts = urlsplit(url)
        host, _ = parts.hostname, parts.port
    except ValueError:
        raise ValueError(_INVALID_URL) from None
    if not host or not url.isascii() or not url.isprintable() or any(character in url for character in ' "\\<>@?#'):
        raise ValueError(_INVALID_URL)
    if parts.scheme != "https" and not (parts.scheme == "http" and names_this_machine(url)):
        raise ValueError("the URL must be https: only servers on this machine may use http")
    return url


def _normal(url: str) -> str:
    """Return a URL with scheme and host in small letters, and without a default port (RFC 3986, section 6.2)."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return ""
    netloc = parts.netloc.lower().removesuffix(_DEFAULT_PORTS.get(parts.scheme, ""))
    return parts._replace(netloc=netloc).geturl()
