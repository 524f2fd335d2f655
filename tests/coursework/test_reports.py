"""What others read of a verdict: JUnit, Gradescope, Classroom, and JSON of our own."""

import base64
import json
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

import pytest

from minigrad.coursework import Verdict, grade, load
from minigrad.coursework.grading import ERROR, Outcome
from minigrad.coursework.reports import (
    FORMATS,
    as_classroom,
    as_data,
    as_gradescope,
    as_json,
    as_junit,
    from_data,
)
from minigrad.coursework.values import Text
from tests.coursework.helpers import answer, written

LANGUAGES = ("en", "zh")


@pytest.fixture(scope="module")
def verdicts(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Verdict]:
    folder = tmp_path_factory.mktemp("course")
    scale = load(written(folder))
    wrong = "def scaled_gradient(g, c):\n    print('\\x1b[31m<&猫')\n    return g / c"
    found = {
        "passed": grade(scale, answer(folder, "")),
        "failed": grade(scale, answer(folder, wrong)),
        "not attempted": grade(scale, scale.folder / "exercise.py"),
    }
    bad = Outcome("harness", Text("a", "b"), "failed", Text("\x00\ud800 <broken>", "坏"))
    found[ERROR] = replace(found["failed"], status=ERROR, outcomes=(bad,), diagnosis="")
    assert {name: v.status for name, v in found.items()} == {name: name for name in found}
    return found


@pytest.mark.slow
@pytest.mark.parametrize("language", LANGUAGES)
def test_junit_is_valid_by_its_schema(verdicts: dict[str, Verdict], language: str) -> None:
    xmlschema = pytest.importorskip("xmlschema", reason="reads the schema of JUnit")
    schema = xmlschema.XMLSchema(Path(__file__).parents[1] / "reference" / "junit.xsd")
    report = as_junit([*verdicts.values()], language)
    schema.validate(report)
    for good, bad in [
        ('tests="', 'test="'),
        ("<skipped", "<left"),
        ('failures="1"', 'failures=""'),
    ]:
        assert good in report
        assert not schema.is_valid(report.replace(good, bad, 1))


@pytest.mark.parametrize("language", LANGUAGES)
def test_junit_has_a_suite_for_each_exercise_and_counts_what_it_has(
    verdicts: dict[str, Verdict], language: str
) -> None:
    root = ElementTree.fromstring(as_junit([*verdicts.values()], language).encode())
    assert root.tag == "testsuites"
    assert [suite.tag for suite in root] == ["testsuite"] * 4
    for suite in root:
        assert set(suite.attrib) == {"name", "tests", "failures", "errors", "skipped", "time"}
        cases = suite.findall("testcase")
        assert [child.tag for child in suite if child.tag != "system-out"] == ["testcase"] * len(
            cases
        )
        assert int(suite.attrib["tests"]) == len(cases)
        for tag, name in (("failure", "failures"), ("error", "errors"), ("skipped", "skipped")):
            assert int(suite.attrib[name]) == sum(case.find(tag) is not None for case in cases)
        for case in cases:
            assert set(case.attrib) == {"classname", "name", "time"}
            assert len(case) <= 1
            assert {child.tag for child in case} <= {"failure", "error", "skipped"}
    failures = root.findall(".//failure")
    assert len(failures) == 1
    assert failures[0].attrib["type"] == "scale.divided"
    text = {"en": "It is divided by c.", "zh": "除以了 c。"}[language]
    assert text in str(failures[0].text)
    assert [len(suite.findall(".//error")) for suite in root] == [0, 0, 0, 1]
    assert "\\x1b[31m<&猫" in str(root[1].findtext("system-out"))


def test_gradescope_gets_its_documented_fields(verdicts: dict[str, Verdict]) -> None:
    found = json.loads(as_gradescope([*verdicts.values()]))
    assert set(found) == {"tests", "execution_time", "visibility", "stdout_visibility"}
    assert found["visibility"] in ("visible", "hidden", "after_due_date", "after_published")
    assert found["execution_time"] >= 0
    for test in found["tests"]:
        assert set(test) == {
            "name", "number", "score", "max_score", "status", "output", "output_format",
            "visibility", "tags",
        }  # fmt: skip
        assert test["status"] in ("passed", "failed")
        assert test["output_format"] == "text"
        assert 0 <= test["score"] <= test["max_score"] == 1.0
    assert [test["score"] for test in found["tests"]] == [1, 0, 0, 0]
    assert found["tests"][1]["tags"] == ["scale.divided"]
    assert "It is divided by c." in found["tests"][1]["output"]


def test_classroom_gets_its_documented_fields(verdicts: dict[str, Verdict]) -> None:
    found = json.loads(as_classroom([*verdicts.values()]))
    assert set(found) == {"version", "status", "max_score", "tests"}
    assert (found["version"], found["status"], found["max_score"]) == (1, "error", 4.0)
    for test in found["tests"]:
        assert set(test) == {"name", "status", "score", "message", "filename", "line_no"}
        assert isinstance(test["line_no"], int)
    assert [test["status"] for test in found["tests"]] == ["pass", "fail", "fail", "error"]
    passed = json.loads(as_classroom([verdicts["passed"]]))
    assert passed["status"] == "pass"


def test_our_own_json_is_the_verdict_and_comes_back(verdicts: dict[str, Verdict]) -> None:
    told = json.loads(as_json([*verdicts.values()]))
    assert told["version"] == 1
    for data, verdict in zip(told["exercises"], verdicts.values(), strict=True):
        if verdict.status != ERROR:  # lone surrogates are not text
            assert from_data(data) == verdict
        assert data == json.loads(json.dumps(as_data(verdict)))


def test_what_is_no_verdict_is_refused() -> None:
    with pytest.raises(ValueError, match="this is no verdict"):
        from_data({"exercise": "08-softmax"})


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("language", LANGUAGES)
def test_every_format_can_be_written_to_a_file(
    form: str, language: str, verdicts: dict[str, Verdict], tmp_path: Path
) -> None:
    text = FORMATS[form]([verdicts["failed"]], language)
    (tmp_path / "report").write_text(text, encoding="utf-8")
    assert "03-scale" in (base64.b64decode(text).decode() if "base64" in form else text)
