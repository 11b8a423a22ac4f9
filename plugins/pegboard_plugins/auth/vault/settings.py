"""The settings of the vault."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Self
from urllib.parse import urlsplit

from pydantic import Field, SecretStr, field_validator, model_validator

from pegboard import PluginConfig
from pegboard.plugin import RecordStore, SharedKeys, StoreName, WidensAccess
from pegboard_plugins.auth.vault.named_providers import NAMED_PROVIDERS
from pegboard_plugins.support.bearer import Scopes
from pegboard_plugins.support.login_questions import DEFAULT_WAIT_SECONDS, MAX_WAIT_SECONDS
from pegboard_plugins.support.secret_strength import is_weak_secret

ADDRESSES = (
    "issuer",
    "authorization_endpoint",
    "token_endpoint",
    "refresh_endpoint",
    "revocation_endpoint",
    "device_endpoint",
    "account_endpoint",
)
"""The keys of a provider that are URLs."""
_EXAMPLE_REDIRECT = "http://127.0.0.1:3000/callback"
_OWN_PARAMETERS = frozenset(
    ("client_id", "code_challenge", "code_challenge_method", "redirect_uri", "response_mode", "response_type", "state")
)
"""Parameters of the page for logins that the host sets. Other values would weaken or prevent the login."""


class ProviderSettings(PluginConfig):
    """`[plugins.vault.providers.NAME]`: a registration at a provider.

    Attributes:
        client_id: the id of the registration.
        client_secret: its secret; None for a public client.
        provider: the named provider, such as "github", if the section has another name.
        issuer: the issuer of another provider that has metadata (OpenID Connect Discovery, RFC 8414).
        authorization_endpoint: the page for logins, of a provider without metadata.
        token_endpoint: the address for tokens, of a provider without metadata.
        refresh_endpoint: the address that renews tokens, if it is not the address for tokens.
        revocation_endpoint: the address for revocation (RFC 7009).
        device_endpoint: the address for device authorization (RFC 8628).
        account_endpoint: an address that describes the user of a token.
        scopes: scopes that every login requests, in addition to those of the tool.
        parameters: more parameters of the page for logins.
        pkce: False for a provider that rejects PKCE.
        device: True to log in with a code on any device (RFC 8628) instead of a browser on this machine.
        redirect_uri: the redirect URI of the registration, on this machine and with a port; by default a free port.
    """

    client_id: str = Field(min_length=1, pattern=r"^[\x20-\x7e]+$")
    client_secret: SecretStr | None = Field(None, min_length=1)
    provider: str | None = None
    issuer: str | None = None
    authorization_endpoint: str | None = None
    token_endpoint: str | None = None
    refresh_endpoint: str | None = None
    revocation_endpoint: str | None = None
    device_endpoint: str | None = None
    account_endpoint: str | None = None
    scopes: Scopes = ()
    parameters: Mapping[str, str] = {}
    pkce: bool | None = None
    device: bool = False
    redirect_uri: str | None = None

    @field_validator("provider")
    @classmethod
    def _is_named(cls, name: str | None) -> str | None:
        if name is not None and name not in NAMED_PROVIDERS:
            raise ValueError(f"it is not a named provider: use {', '.join(NAMED_PROVIDERS)}")
        return name

    @field_validator(*ADDRESSES)
    @classmethod
    def _is_safe(cls, url: str | None) -> str | None:
        from pegboard_client import checked_url

        return None if url is None else checked_url(url)

    @field_validator("parameters")
    @classmethod
    def _are_more(cls, parameters: Mapping[str, str]) -> Mapping[str, str]:
        if own := sorted(_OWN_PARAMETERS & parameters.keys()):
            raise ValueError(f"the host sets {own[0]} itself: remove it")
        if "scope" in parameters:
            raise ValueError("scope is not a parameter here: set scopes instead")
        return parameters

    @field_validator("redirect_uri")
    @classmethod
    def _is_of_this_machine(cls, url: str | None) -> str | None:
        if url is None:
            return None
        from pegboard_client import names_this_machine

        if not names_this_machine(url) or any(character in url for character in "#{}"):  # false for a URL with a user
            raise ValueError("use an address of this machine without a user and a fragment: " + _EXAMPLE_REDIRECT)
        parts = urlsplit(url)
        if parts.scheme != "http" or parts.port is None or len(parts.path) < 2:
            raise ValueError(f"use an http address of this machine with a port and a path: {_EXAMPLE_REDIRECT}")
        return url


class CallerSettings(PluginConfig):
    """`[plugins.vault.callers]`: the login of callers from the network, who use their own accounts.

    Attributes:
        url: the public address of the host, such as "https://tools.example.com". The redirect URI at each provider is
            this address with the path /vault/callback.
        issuer: the OpenID provider at which callers log in. Its subjects must be the same for the access tokens and
            for the `client_id`.
        access_issuer: the issuer of the callers' access tokens, if another server issues them. For the plugin `login`,
            this is the origin of its `resource`. The tokens must have the subjects of `issuer`.
        client_id: the id of the host at the issuer. Its redirect URI is `url` with the path /vault/identity.
        client_secret: the secret of the host there; None for a public client.
        subject_claim: the claim of ID tokens with the subject of access tokens.
    """

    url: str
    issuer: str = Field(min_length=1)
    access_issuer: str | None = Field(None, min_length=1)
    client_id: str = Field(min_length=1)
    client_secret: SecretStr | None = Field(None, min_length=1)
    subject_claim: str = "sub"

    @field_validator("url")
    @classmethod
    def _is_origin(cls, url: str) -> str:
        from pegboard_client import checked_url

        parts = urlsplit(checked_url(url))
        if parts.path.strip("/") or parts.query:
            raise ValueError("use an https address without a path, such as https://tools.example.com")
        return f"{parts.scheme}://{parts.netloc}"

    @field_validator("issuer", "access_issuer")
    @classmethod
    def _is_safe(cls, url: str | None) -> str | None:
        from pegboard_client import checked_url

        return None if url is None else checked_url(url)

    @model_validator(mode="after")
    def _is_provider(self) -> Self:
        if self.issuer.rstrip("/") == self.url:
            raise ValueError(
                "issuer is this host, which issues no ID tokens: set issuer to the issuer in [plugins.login.provider], "
                f'and access_issuer = "{self.issuer}"'
            )
        return self


class VaultConfig(PluginConfig):
    """`[plugins.vault]`.

    Attributes:
        providers: registrations at providers, by provider id such as "github", or by the `id` of a tool's requirement.
        keys: the secrets that encrypt tokens; by default a key in the state directory. The first encrypts, all decrypt.
        callers: the login of callers from the network; without it they receive neither tokens nor links.
        wait_seconds: the time for which a call waits for a login. Then the client must repeat the call.
        keyring: True to keep the key in the keyring of the operating system, with the library `keyring`.
        store: the plugin that stores tokens instead of a file, for several machines. The default is `[host]
            state`.
        state_keys: the keys that encrypt tokens in this store. The default is `[host] state_keys`.
    """

    providers: Annotated[
        Mapping[str, ProviderSettings],
        WidensAccess("gives tools the tokens of the operator's accounts at these providers"),
    ] = {}
    keys: tuple[SecretStr, ...] = ()
    callers: Annotated[CallerSettings | None, WidensAccess("gives tools the tokens of callers from the network")] = None
    wait_seconds: float = Field(DEFAULT_WAIT_SECONDS, gt=0, le=MAX_WAIT_SECONDS)
    keyring: bool = False
    store: Annotated[str | None, StoreName(RecordStore)] = None
    state_keys: Annotated[tuple[SecretStr, ...], SharedKeys()] = ()

    @field_validator("providers")
    @classmethod
    def _have_addresses(cls, providers: Mapping[str, ProviderSettings]) -> Mapping[str, ProviderSettings]:
        for name, provider in providers.items():
            is_known = (provider.provider or name) in NAMED_PROVIDERS
            if (
                not is_known
                and not provider.issuer
                and not (provider.authorization_endpoint and provider.token_endpoint)
            ):
                from difflib import get_close_matches  # slow to import

                close = get_close_matches(name, NAMED_PROVIDERS, 1)
                hint = f"did you mean {close[0]}? For another provider, " if close else ""
                raise ValueError(
                    f"{name} is not a named provider: {hint}set its issuer, or its authorization_endpoint and "
                    "token_endpoint"
                )
        return providers

    @field_validator("keys", "state_keys")
    @classmethod
    def _are_strong(cls, keys: tuple[SecretStr, ...]) -> tuple[SecretStr, ...]:
        if any(is_weak_secret(key.get_secret_value()) for key in keys):
            raise ValueError("a key is weak: use the output of `openssl rand -hex 32`")
        return keys

    @model_validator(mode="after")
    def _check(self) -> Self:
        if self.keys and self.keyring:
            raise ValueError("keys and keyring are both set: remove one of them")
        if self.store is not None and not self.state_keys:
            raise ValueError("a login may reach other processes: set state_keys, the same for all of them")
        return self
