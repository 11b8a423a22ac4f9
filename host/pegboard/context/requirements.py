"""The secrets, tokens and metadata that functions require, and their values in a call."""

from collections.abc import Collection, Iterator, Mapping
from typing import NamedTuple

from pegboard.context.bound_function import PluginData
from pegboard.errors import ToolDefinitionError
from pegboard.types.authorization import ToolAuthorization
from pegboard.types.callers import EMPTY, Authorization, Supplied
from pegboard.types.calls import Call


class Requirements(NamedTuple):
    """The declared requirements of a function, with the host's values for them.

    Attributes:
        secrets: the secrets by declared name; None for a secret that is not set.
        authorization: the provider and scopes of the required token, or None if no token is required.
        scopes: the scopes that the caller's own token must have.
        metadata: the metadata by key in lower case; None for unknown values.
        token_hint: advice on the setting of the token for this machine's user; "" if no setting applies.
        needs: the secrets and tokens that the host does not have and cannot obtain; only a request can bring them.
    """

    secrets: Mapping[str, str | None] = EMPTY
    authorization: ToolAuthorization | None = None
    scopes: frozenset[str] = frozenset()
    metadata: Mapping[str, str | None] = EMPTY
    token_hint: str = ""
    needs: tuple[str, ...] = ()

    def __repr__(self) -> str:
        names = f"secrets={list(self.secrets)}, metadata={list(self.metadata)}"
        return f"Requirements({names}, authorization={self.authorization!r}, scopes={sorted(self.scopes)})"

    @property
    def guard(self) -> str:
        """The reason why anonymous callers must not run the function, as a predicate; "" if they may."""
        if self.secrets or self.metadata or self.authorization is not None:
            return "uses secrets, tokens or metadata of the operator"
        return "requires scopes" if self.scopes else ""


NO_REQUIREMENTS = Requirements()
"""The requirements of resources, of prompts, and of tools that require nothing."""


class Declared(Mapping[str, str]):
    """The declared secrets or metadata that a call has, by case-insensitive name. The repr does not show values.

    Args:
        what: "Secrets" or "Metadata".
        values: the values by declared name.
    """

    def __init__(self, what: str, values: Mapping[str, str]) -> None:
        self._what = what
        self._values = values

    def __getitem__(self, name: str) -> str:
        key = spelt(name, self._values)
        if key is None:
            raise KeyError(name)
        return self._values[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    def __repr__(self) -> str:
        return f"{self._what}({', '.join(self._values)})"


def secrets_of(required: Requirements, supplied: Supplied | None) -> Declared:
    """Return the declared secrets that a call has."""
    values = {name: _first(name, kept, _given(supplied)) for name, kept in required.secrets.items()}
    return Declared("Secrets", {name: value for name, value in values.items() if value})


def missing_secrets(required: Requirements, supplied: Supplied | None) -> list[str]:
    """Return the declared secrets that a call lacks. An empty secret is missing."""
    return [name for name, kept in required.secrets.items() if not _first(name, kept, _given(supplied))]


def secret_of(function: str, required: Requirements, supplied: Supplied | None, name: str) -> str:
    """Return one declared secret: from the request, else from the host.

    Args:
        function: the tool's name.
        required: the requirements that the tool declares.
        supplied: the values in the request.
        name: the name of the secret, case-insensitive.

    Raises:
        ToolDefinitionError: the secret was not declared, or is not set.
    """
    key = spelt(name, required.secrets)
    if key is None:
        raise ToolDefinitionError(f"the tool {function} does not declare the secret {name!r} in requires_secrets")
    value = _first(key, required.secrets[key], _given(supplied))
    if not value:
        raise ToolDefinitionError(f"the secret {key!r} is not set")
    return value


def spelt(name: str, names: Collection[str]) -> str | None:
    """Return the item of `names` that equals `name` in upper or lower case. Return None if no item does."""
    if name in names:
        return name
    folded = name.casefold()
    return next((candidate for candidate in names if candidate.casefold() == folded), None)


def _given(supplied: Supplied | None) -> Mapping[str, str]:
    return EMPTY if supplied is None else supplied.secrets


def _first(name: str, kept: str | None, values: Mapping[str, str]) -> str | None:
    """Return the value from the request, else the value from the host."""
    if not values:
        return kept
    key = spelt(name, values)
    return (values[key] or kept) if key is not None else kept


# --- metadata


def missing_metadata(required: Requirements, call: Call) -> list[str]:
    """Return the keys of declared metadata whose values are unknown for a call."""
    return [key for key, kept in required.metadata.items() if not _metadata(key, kept, call)]


def all_metadata(required: Requirements, call: Call) -> Declared:
    """Return the declared metadata whose values are known for a call."""
    values = {key: _metadata(key, kept, call) for key, kept in required.metadata.items()}
    return Declared("Metadata", {key: value for key, value in values.items() if value})


def metadata_of(function: str, required: Requirements, call: Call, key: str) -> str:
    """Return one declared metadata value: from the request, else from the caller, else from the host.

    Raises:
        ToolDefinitionError: the key was not declared, or its value is unknown.
    """
    if key.lower() not in required.metadata:
        raise ToolDefinitionError(f"the tool {function} does not declare the metadata {key!r} in requires_metadata")
    value = _metadata(key.lower(), required.metadata[key.lower()], call)
    if not value:
        raise ToolDefinitionError(f"the metadata {key!r} has no value")
    return value


def _metadata(key: str, kept: str | None, call: Call) -> str | None:
    named, metadata = (None, EMPTY) if call.supplied is None else (call.supplied.user_id, call.supplied.metadata)
    return _first(key, (named or call.caller.subject or kept) if key == "user_id" else kept, metadata)


# --- tokens


def authorization_of(function: str, required: Requirements, supplied: Supplied | None) -> Authorization:
    """Return the token that a function requires, or an empty token if the call has no token.

    Raises:
        ToolDefinitionError: the function does not declare `requires_auth`.
    """
    if required.authorization is None:
        raise ToolDefinitionError(f"the tool {function} does not declare requires_auth")
    authorization = None if supplied is None else supplied.authorization
    return Authorization("") if authorization is None else authorization


def user_of(owner: PluginData, call: Call) -> str | None:
    """Return the user id: from the request if it may name one, else from the caller, else from the operator."""
    named = None if call.supplied is None else call.supplied.user_id
    return named or call.caller.subject or owner.user
