"""Rules about hosts: no spelling of a URL gets past ``WebFetch(domain:…)``; one that allows takes the plain one only."""

from typing import Any

import pytest
from tests.tables import rows

from interpose import BadHook
from interpose.matching import compile_condition


def condition(rule: str) -> Any:
    found = compile_condition(rule)
    assert found is not None
    return found


def fields(given: Any, tool: str = "WebFetch") -> dict[str, Any]:
    return {"tool_name": tool, "tool_input": given, "cwd": "/project"}


EVIL = [
    "https://evil.org/", "http://evil.org", "evil.org", "evil.org/path", "//evil.org/x", "HTTPS://EVIL.ORG/", "https://evil.org./", "https://evil.org.:443/x",
    "https://evil.org:8443/", "https://user:word@evil.org/", "https://good.org@evil.org/", "https://a@b@evil.org/", "https://sub.evil.org/", "https://a.b.Evil.Org.",
    "http:evil.org", "http:/evil.org", "http:///evil.org", "https:////evil.org/x", "http:\\\\evil.org\\x", "\\\\evil.org\\x", "https:\\/evil.org",
    " https://evil.org/", "\x00https://evil.org", "ht\ntps://ev\til.org/", "https://evil.\norg/", "https://e%76il.org/", "https://%65%76%69%6c.org", "https://evil%2eorg/",
    "https://evil\u3002org/", "https://evil\uff0eorg/", "https://evil\uff61org/", "https://\uff45\uff56\uff49\uff4c.org/", "https://ev\u00adil.org/", "https://ev\u200bil.org/",
    "https://\u24d4vil.org/", "https://\U0001d41evil.org", "https://evil.org\\@good.org/", "https://good.org\\@evil.org/", "https://evil.org#@good.org/", "https://evil.org?@good.org",
    "https://evil.org/@good.org", "ftp://evil.org/x", "ws://evil.org", "view-source:https://evil.org/", "evil.org:8080/x", "https://evil.org\\.good.org/", "https://xn--evil-.org/", "EVIL.ORG://good.org", "evil.org://x",
    "\u3000http://evil.org/", "http://evil.org;.good.org/", "http://evil.org`.good.org", "http://evil.org'x/", "http://evil.org%2f.good.org/", "http://good.org%40evil.org/", "http://evil.org\uff0fgood.org",
]  # fmt: skip
GOOD = [
    "https://good.org/", "https://a@b@good.org/", "https://evil.org.good.org/", "https://notevil.org/", "https://good.org/evil.org", "https://good.org/?u=https://evil.org", "https://good.org/#evil.org",
    "https://evil.org@good.org/", "https://evil.or/", "https://evilorg/", "https://evil-org.good.net", "https://good.org:443/evil.org", "https://10.0.0.1/", "https://[::1]/",
]  # fmt: skip


@rows("url", EVIL, ids=ascii)
def test_a_rule_that_denies_sees_a_host_in_every_spelling(url: str) -> None:
    assert condition("WebFetch(domain:evil.org)")(fields({"url": url, "prompt": "what does it say?"}))
    assert condition("WebFetch(domain:evil.org)").grade(fields({"url": url})) in ("certain", "possible")


@rows("url", GOOD, ids=ascii)
def test_another_host_is_none_of_the_rules_business(url: str) -> None:
    call = fields({"url": url, "prompt": "compare it with https://evil.org/ please"})

    assert condition("WebFetch(domain:evil.org)").grade(call) is None


def test_a_plain_url_is_certain() -> None:
    for url in ("https://evil.org/x", "http://sub.evil.org:80/?q", "evil.org"):
        assert condition("WebFetch(domain:evil.org)").grade(fields({"url": url})) == "certain"


def test_a_dot_of_another_script_is_a_dot() -> None:
    for url in ("https://evil\u3002org/", "https://evil\uff61org/", "https://evil\uff0eorg/"):
        assert condition("WebFetch(domain:evil.org)").grade(fields({"url": url})) == "certain"


def test_a_rule_about_a_host_is_about_no_file_that_a_search_finds() -> None:
    assert condition("Read(domain:evil.org)").files("Grep", "/project") is None


def test_a_url_that_programs_read_in_two_ways_is_possible() -> None:
    for url in ("https://evil.org\\@good.org/", "https://good.org\\@evil.org/"):
        assert condition("WebFetch(domain:evil.org)").grade(fields({"url": url})) == "possible"


LOOPBACK = [
    "http://127.0.0.1/", "http://127.0.0.1./", "http://127.1/", "http://127.0.1", "http://2130706433/", "http://0x7f000001/", "http://0x7f.1/", "http://0177.0.0.1/", "http://017700000001",
    "http://0x7F.0X0.0.1:8080/", "http://[::ffff:127.0.0.1]/", "http://[::ffff:7f00:1]/", "http://[0:0:0:0:0:FFFF:7F00:0001]:80/", "http://[::127.0.0.1]/", "http://[64:ff9b::7f00:1]/", "http://[2002:7f00:1::]/",
    "http://\uff11\uff12\uff17.0.0.1/", "http://127\u30020\u30020\u30021/", "http://%31%32%37.0.0.1", "http://user@127.1:9/", "127.1", "http:0x7f.1",
]  # fmt: skip


@rows("url", LOOPBACK, ids=ascii)
def test_an_address_is_seen_however_its_number_is_written(url: str) -> None:
    assert condition("WebFetch(domain:127.0.0.1)")(fields({"url": url}))
    assert condition("WebFetch(domain:2130706433)")(fields({"url": url}))


@rows("url", ["http://127.0.0.2/", "http://10.127.0.0.1.org/", "http://[::1]/", "http://1.127.0.0.1.nip.io/"])
def test_another_address_is_not_meant(url: str) -> None:
    assert condition("WebFetch(domain:127.0.0.1)").grade(fields({"url": url})) is None


@rows(
    ("address", "url"),
    [
        ("127.0.1.0", "http://127.0.0.256/"),
        ("127.1.0.0", "http://127.0.65536/"),
        ("128.0.0.0", "http://127.16777216/"),
        ("0.0.0.0", "http://4294967296/"),
    ],
)
def test_a_number_that_is_too_large_for_its_place_does_not_run_over_into_the_next(address: str, url: str) -> None:
    rule = condition(f"WebFetch(domain:{address})")

    assert rule.grade(fields({"url": url})) == "opaque"
    assert not rule.covers(fields({"url": url}))


def test_an_address_of_the_sixth_version_has_many_spellings() -> None:
    for url in (
        "http://[::1]/",
        "http://[0:0:0:0:0:0:0:1]:80/",
        "http://[0000::0001]",
        "http://[::1%25eth0]/",
        "http://[0:0::0.0.0.1]",
    ):
        assert condition("WebFetch(domain:[::1])")(fields({"url": url})), url
        assert condition("WebFetch(domain:::1)")(fields({"url": url})), url


def test_names_in_other_scripts_are_compared_as_the_name_system_writes_them() -> None:
    for rule in ("bücher.example", "BÜCHER.example", "xn--bcher-kva.example", "bu\u0308cher.example"):
        for url in (
            "https://bücher.example/",
            "https://XN--BCHER-KVA.example./",
            "https://b%C3%BCcher.example",
            "https://www.BU\u0308CHER.EXAMPLE",
        ):
            assert condition(f"WebFetch(domain:{rule})")(fields({"url": url})), (rule, url)


@rows(
    "url", ["", " ", "http://", "http://[::1", "http://]", "http://a b.org/", "http://%zz.org", "http://<x>/", "http://%00/", "http://\ud800.org", "http://." , "http://" + "a." * 70_000]
)  # fmt: skip
def test_a_url_that_cannot_be_read_is_not_passed_over_and_not_allowed(url: str) -> None:
    for rule in ("WebFetch(domain:evil.org)", "WebFetch(domain:*.evil.org)"):
        assert condition(rule).grade(fields({"url": url})) == "opaque"
        assert not condition(rule).covers(fields({"url": url}))


@rows(
    ("given", "grade"),
    [
        ({"uri": "https://evil.org"}, "certain"),
        ({"href": "https://evil.org"}, "certain"),
        ({"urls": ["https://good.org", "https://evil.org"]}, "certain"),
        ({"links": [{"href": "https://evil.org"}]}, "certain"),
        ({"requests": [{"url": "https://good.org"}, {"url": "https://evil.org"}]}, "certain"),
        ({"url": ["https://good.org"]}, "opaque"),
        ({"url": 5}, "opaque"),
        ({"url": None}, "opaque"),
        ({}, "opaque"),
        ({"query": "evil.org"}, "opaque"),
        ({"url": "https://good.org", "endpoint": "https://evil.org/"}, "possible"),
        ({"url": "https://good.org", "endpoint": "https://good.org/"}, None),
        ({"url": "https://good.org", "content": "https://evil.org"}, None),
    ],
    ids=repr,
)
def test_a_url_is_found_where_tools_have_it(given: Any, grade: str | None) -> None:
    assert condition("WebFetch(domain:evil.org)").grade(fields(given)) == grade


def test_a_name_that_ends_in_a_digit_has_subdomains() -> None:
    assert condition("WebFetch(domain:host1)").grade(fields({"url": "http://a.host1/"})) == "certain"


def test_a_long_url_is_judged_by_its_host() -> None:
    long = "https://good.org/?" + "x" * 90_000

    assert condition("WebFetch(domain:evil.org)").grade(fields({"url": long})) is None
    assert condition("WebFetch(domain:good.org)").grade(fields({"url": long})) == "certain"


class TestAllow:
    @rows(
        "url", ["https://good.org/", "https://good.org/a?b#c", "http://GOOD.org:8080/", "good.org", "https://good.org."]
    )
    def test_the_host_itself_is_covered(self, url: str) -> None:
        assert condition("WebFetch(domain:good.org)").covers(fields({"url": url, "prompt": "read it"}))

    @rows(
        "url",
        [
            *EVIL,
            "https://sub.good.org/",
            "https://good.org\\@good.org",
            "http:good.org",
            "ftp://x",
            "https://good.org\u3002/",
            "https://go%6fd.org",
            " https://good.org",
        ],
        ids=ascii,
    )
    def test_nothing_else_is(self, url: str) -> None:
        assert not condition("WebFetch(domain:good.org)").covers(fields({"url": url}))

    def test_subdomains_are_covered_if_the_rule_says_so(self) -> None:
        wide = condition("WebFetch(domain:*.good.org)")

        assert wide.covers(fields({"url": "https://a.b.good.org/"}))
        assert not wide.covers(fields({"url": "https://good.org/"}))
        assert not wide.covers(fields({"url": "https://evil.org/.good.org"}))
        assert wide.grade(fields({"url": "https://A.GOOD.org./"})) == "certain"

    def test_wildcards_stand_beside_names_in_other_scripts(self) -> None:
        assert (
            condition("WebFetch(domain:*.bücher.example)").grade(fields({"url": "https://a.BÜCHER.example"}))
            == "certain"
        )

    def test_a_host_that_can_be_read_in_two_ways_is_not_covered(self) -> None:
        for rule, url in (
            ("straße.example", "https://strasse.example"),
            ("010.0.0.1", "http://10.0.0.1"),
            ("010.0.0.1", "http://8.0.0.1"),
            ("010.0.0.1", "http://010.0.0.1"),
        ):
            assert condition(f"WebFetch(domain:{rule})").grade(fields({"url": url})) is not None
            assert not condition(f"WebFetch(domain:{rule})").covers(fields({"url": url}))

    def test_every_url_has_to_be(self) -> None:
        good = condition("WebFetch(domain:good.org)")

        assert good.covers(fields({"urls": ["https://good.org/a", "https://good.org/b"]}))
        assert not good.covers(fields({"urls": ["https://good.org/a", "https://evil.org/b"]}))
        assert not good.covers(fields({"urls": []}))
        assert not good.covers(fields({"url": "https://good.org/", "proxy": "http://evil.org"}))


@rows(
    ("url", "expected"),
    [
        ("https://good.org/docs/a", True),
        ("https://good.org/docs/a%20b?q=../x", True),
        ("https://good.org/docs/a/../b/", True),
        ("https://good.org/docs/../admin", False),
        ("https://good.org/docs/%2e%2e/admin", False),
        ("https://good.org/docs/..%2fadmin", False),
        ("https://good.org/docs/..\\admin", False),
    ],
)
def test_a_rule_that_allows_a_part_of_a_site_allows_no_way_out_of_it(url: str, expected: bool) -> None:
    assert condition("WebFetch(https://good.org/docs/*)").covers(fields({"url": url})) is expected


def test_the_part_of_a_url_that_is_not_sent_hides_nothing() -> None:
    assert condition("WebFetch(https://evil.org/x)").grade(fields({"url": "https://evil.org/x#y"})) == "certain"


@rows(
    ("url", "expected"),
    [
        ("https://evil.org/x", True),
        ("HTTPS://EVIL.ORG/x", True),
        ("https://evil.org:443/x", True),
        ("https://user@evil.org./x", True),
        ("https:\\\\evil.org\\x", True),
        ("https://evil.org/a/../x", True),
        ("https://evil.org//x", True),
        ("https://evil.org/%78", True),
        ("https://evil.org/a/%2e%2E/x", True),
        ("https://evil.org/x/../y", True),  # as written
        ("https://evil.org/y/../z#x", False),
        ("https://evil.org/X", False),
        ("https://evil.org:8443/x", False),
        ("https://good.org/x", False),
        ("http://evil.org/x", False),
    ],
)
def test_a_rule_with_a_url_is_compared_as_written_and_in_its_plain_spelling(url: str, expected: bool) -> None:
    for rule in ("WebFetch(https://evil.org/x*)", "WebFetch(https://Evil.org/x*)"):
        assert condition(rule)(fields({"url": url})) is expected


@rows("rule", ["WebFetch(domain:)", "WebFetch(domain: )", "WebFetch(domain:http://)", "WebFetch(domain:a b)"])
def test_a_rule_that_names_no_host_is_refused(rule: str) -> None:
    with pytest.raises(BadHook, match="host"):
        compile_condition(rule)


@rows(
    "rule",
    [
        "good.org/docs",
        "*.good.org/docs",
        "good.org:8080",
        "user@good.org",
        "https://good.org/x",
        "[::1]:80",
        "good.org#x",
    ],
)
def test_a_rule_that_says_more_than_it_compares_is_refused(rule: str) -> None:
    with pytest.raises(BadHook, match="more than a host"):
        compile_condition(f"WebFetch(domain:{rule})")


@rows("rule", ["good.org", "https://good.org/", "*.good.org", "[::1]", "::1", "1.2.3.4", "localhost"])
def test_a_rule_that_is_a_host_is_taken(rule: str) -> None:
    assert compile_condition(f"WebFetch(domain:{rule})") is not None
