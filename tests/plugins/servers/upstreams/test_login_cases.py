"""The cases of logins at mounted servers, each with the test that covers it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import pytest

from tests.clients import test_vault_login as clients
from tests.plugins.servers.upstreams import test_caller_login as caller
from tests.plugins.servers.upstreams import test_callers_apart as apart
from tests.plugins.servers.upstreams import test_host_login as operator

CASES: Mapping[str, Callable[..., Any]] = {
    # refresh
    "concurrent calls of a caller renew a token once": caller.test_a_token_is_renewed_once_among_the_calls_of_a_caller,
    "processes of the operator renew it once": operator.test_a_token_is_renewed_once_among_calls_and_processes,
    "users of the vault's file renew it once": operator.test_the_vault_lets_one_of_its_users_renew_a_token,
    "the issuer refuses the renewal": caller.test_a_renewal_that_the_issuer_refuses_leads_to_one_question,
    "a removed login is not renewed": operator.test_a_login_that_was_removed_is_not_renewed_and_not_saved_again,
    "a request is under way during a login": (
        operator.test_a_call_that_began_before_the_login_carries_its_token_only_for_the_operator
    ),
    "tokens expire while two callers call": apart.test_nothing_of_two_callers_crosses,
    # revocation
    "the server refuses a caller's token": caller.test_a_withdrawn_token_leads_to_one_question,
    "the server refuses the operator's token": operator.test_a_withdrawn_token_and_missing_scopes_name_the_command,
    "the server refuses every token": caller.test_a_server_that_refuses_every_login_asks_twice,
    "the operator logs out": operator.test_a_logout_ends_the_login,
    "the operator ends the login of a caller": caller.test_the_operator_sees_and_ends_logins_of_callers,
    "the operator removes the key of a caller": caller.test_a_caller_pastes_a_key_which_the_operator_can_remove,
    "a caller ends the own login, or removes the own key": caller.test_a_caller_ends_the_own_login,
    # step-up
    "a call needs more scopes": caller.test_more_scopes_need_the_consent_to_what_is_added,
    "another program has extended the login": caller.test_a_program_never_uses_a_login_that_another_program_extends,
    "the issuer grants scopes that no page showed": caller.test_scopes_that_no_page_showed_need_another_consent,
    # forgotten registration
    "the issuer forgot the registration of the operator": (
        operator.test_a_registration_that_the_issuer_forgot_is_made_again_once
    ),
    "the issuer forgot the registration of callers": caller.test_callers_share_a_registration_and_no_login,
    # an issuer that is slow, down, lying, changed
    "the metadata of the issuer do not arrive": caller.test_a_slow_issuer_does_not_hold_a_call,
    "the issuer sends no token": caller.test_an_issuer_that_sends_no_token_ends_the_login,
    "another issuer, for a caller": caller.test_another_issuer_needs_another_consent_and_gets_no_token,
    "another issuer, for the operator": operator.test_another_issuer_needs_a_new_login_and_gets_no_token,
    "an unsafe issuer, for the operator": operator.test_a_login_that_is_not_safe_ends_with_its_reason,
    **dict.fromkeys((*caller.LYING, *caller.WRONG_ENDS), caller.test_an_issuer_that_lies_or_is_down_gets_no_browser),
    # pages
    "another user opens the page": caller.test_a_page_opened_by_another_user_proves_nothing,
    "a login ends without a consent": caller.test_a_login_without_consent_has_no_end,
    "a person refuses": caller.test_a_person_who_refuses_reaches_no_issuer,
    "another program of the caller": caller.test_each_program_needs_the_consent_of_the_person,
    # unmodified clients, with and without URL elicitation
    **{f"client {name}, {mode}": clients.test_a_client_logs_in_at_a_mounted_server for name, mode in clients.CLIENTS},
}


def test_the_table_has_40_cases_which_run() -> None:
    assert len(CASES) >= 40
    assert not [case for case, test in CASES.items() if any(mark.name in ("skip", "xfail") for mark in marks(test))]


def marks(test: Callable[..., Any]) -> list[pytest.Mark]:
    """Return the marks of a test."""
    return getattr(test, "pytestmark", [])
