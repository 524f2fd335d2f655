"""Verdicts as others want to read them: JUnit, Gradescope, GitHub Classroom, and JSON of our own.

Sources: the JUnit XML schema of the Jenkins xUnit plugin; Gradescope, "Autograder specifications";
GitHub, "classroom-resources/autograding-json" (version 1 of the result).
"""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Sequence
from typing import Any
from xml.etree import ElementTree

from minigrad.coursework.grading import (
    ERROR,
    FAILED,
    MISSING,
    NOT_ATTEMPTED,
    PASSED,
    Outcome,
    Verdict,
)
from minigrad.coursework.values import Text

VERSION = 1
"""Of the JSON."""


def message_of(verdict: Verdict, language: str = "en") -> str:
    """The one message that matters: what failed, and which mistake it is if that is known."""
    bad = verdict.failed
    if verdict.status == PASSED:
        return ""
    if verdict.status == NOT_ATTEMPTED:
        return Text("not written yet", "尚未编写").of(language)
    lines = [said_of(bad, language)] if bad else []
    if verdict.diagnosis:
        lines.insert(0, verdict.says.of(language))
    return "\n".join(lines)


LABELS = (("\n  got: ", "\n  实际："), ("\n  expected: ", "\n  应为："))
"""In the engine's errors, which come through student's code."""


def said_of(outcome: Outcome, language: str = "en") -> str:
    """What a check says."""
    said = outcome.message.of(language)
    for en, zh in LABELS if language == "zh" else ():
        said = said.replace(en, zh)
    return said


def as_json(verdicts: Sequence[Verdict], language: str = "en") -> str:
    """JSON of our own: verdicts with their diagnosis ids, in both languages where there are two."""
    return json.dumps(
        {"version": VERSION, "exercises": [as_data(v) for v in verdicts]},
        ensure_ascii=False,
        indent=1,
    )


def as_data(verdict: Verdict) -> dict[str, Any]:
    """A verdict as plain data."""
    return {
        "exercise": verdict.exercise,
        "title": verdict.title._asdict(),
        "status": verdict.status,
        "score": points(verdict),
        "checks_passed": round(verdict.score, 6),
        "diagnosis": verdict.diagnosis or None,
        "says": verdict.says._asdict(),
        "hint": verdict.hint._asdict(),
        "where": verdict.where._asdict(),
        "line": verdict.line,
        "seed": verdict.seed,
        "printed": verdict.printed,
        "checks": [
            {
                "name": o.name,
                "title": o.title._asdict(),
                "status": o.status,
                "message": o.message._asdict(),
                "seconds": o.seconds,
            }
            for o in verdict.outcomes
        ],
    }


def from_data(data: dict[str, Any]) -> Verdict:
    """The verdict again. Errors: `ValueError` for data that is none."""
    try:
        outcomes = [
            Outcome(o["name"], _text(o["title"]), o["status"], _text(o["message"]), o["seconds"])
            for o in data["checks"]
        ]
        if data["status"] not in (PASSED, FAILED, ERROR, NOT_ATTEMPTED, MISSING):
            raise ValueError(f"its status is {data['status']!r}")
        return Verdict(
            data["exercise"],
            _text(data["title"]),
            data["status"],
            tuple(outcomes),
            (data["diagnosis"] or "") + "",
            _text(data["says"]),
            _text(data["hint"]),
            _text(data["where"]),
            data["line"],
            data["printed"],
            data["seed"],
        )
    except (KeyError, TypeError) as error:
        raise ValueError(f"this is no verdict: {error}") from error


def _text(data: dict[str, str]) -> Text:
    return Text(data["en"] + "", data["zh"] + "")  # a text and nothing else


def as_junit(verdicts: Sequence[Verdict], language: str = "en") -> str:
    """JUnit XML: a suite for each exercise, a case for each check."""
    root = ElementTree.Element("testsuites")
    for verdict in verdicts:
        counts = dict.fromkeys((FAILED, ERROR), 0)
        for outcome in verdict.outcomes:
            counts[_status(verdict, outcome)] = counts.get(_status(verdict, outcome), 0) + 1
        suite = ElementTree.SubElement(
            root,
            "testsuite",
            name=verdict.exercise,
            tests=str(len(verdict.outcomes)),
            failures=str(counts[FAILED]),
            errors=str(counts[ERROR]),
            skipped=str(
                len(verdict.outcomes) - counts[FAILED] - counts[ERROR] - counts.get(PASSED, 0)
            ),
            time=f"{sum(o.seconds for o in verdict.outcomes):.4f}",
        )
        for outcome in verdict.outcomes:
            case = ElementTree.SubElement(
                suite,
                "testcase",
                classname=verdict.exercise,
                name=_clean(outcome.name),
                time=f"{outcome.seconds:.4f}",
            )
            _explain(case, verdict, outcome, language)
        if verdict.printed:
            ElementTree.SubElement(suite, "system-out").text = _clean(verdict.printed)
    ElementTree.indent(root)
    return ElementTree.tostring(root, encoding="unicode", xml_declaration=True) + "\n"


def _status(verdict: Verdict, outcome: Outcome) -> str:
    return ERROR if verdict.status == ERROR and outcome.status == FAILED else outcome.status


def _explain(case: ElementTree.Element, verdict: Verdict, outcome: Outcome, language: str) -> None:
    status = _status(verdict, outcome)
    if status == PASSED:
        return
    if status not in (FAILED, ERROR):
        ElementTree.SubElement(case, "skipped")
        return
    element = ElementTree.SubElement(
        case,
        "failure" if status == FAILED else "error",
        message=_clean(said_of(outcome, language)),
    )
    if verdict.diagnosis:
        element.set("type", _clean(verdict.diagnosis))
    element.text = _clean(message_of(verdict, language))


def _clean(text: str) -> str:
    """Without the characters that XML has no place for, which become their escapes."""
    return "".join(
        c
        if c in "\t\n"
        or (c >= " " and c not in "\x7f\ufffe\uffff" and not "\ud800" <= c <= "\udfff")
        else repr(c)[1:-1]
        for c in text
    )


def as_gradescope(verdicts: Sequence[Verdict], language: str = "en") -> str:
    """Gradescope's results.json: a test for each exercise, one point each."""
    tests = [
        {
            "name": f"{verdict.exercise}: {verdict.title.of(language)}",
            "number": verdict.exercise.partition("-")[0].lstrip("0") or "0",
            "score": round(points(verdict), 4),
            "max_score": 1.0,
            "status": "passed" if verdict.status == PASSED else "failed",
            "output": message_of(verdict, language),
            "output_format": "text",
            "visibility": "visible",
            "tags": [verdict.diagnosis] if verdict.diagnosis else [],
        }
        for verdict in verdicts
    ]
    seconds = sum(o.seconds for verdict in verdicts for o in verdict.outcomes)
    return json.dumps(
        {
            "tests": tests,
            "execution_time": round(seconds, 3),
            "visibility": "visible",
            "stdout_visibility": "hidden",
        },
        ensure_ascii=False,
        indent=1,
    )


def points(verdict: Verdict) -> float:
    """1 for an exercise that passed, and nothing for the rest: a wrong gradient is of no use."""
    return 1.0 if verdict.status == PASSED else 0.0


def as_classroom(verdicts: Sequence[Verdict], language: str = "en") -> str:
    """GitHub Classroom's result: a test for each exercise."""
    statuses = {PASSED: "pass", ERROR: "error"}
    tests = [
        {
            "name": f"{verdict.exercise}: {verdict.title.of(language)}",
            "status": statuses.get(verdict.status, "fail"),
            "score": points(verdict),
            "message": message_of(verdict, language),
            "filename": f"{verdict.exercise}/exercise.py",
            "line_no": verdict.line or 0,
        }
        for verdict in verdicts
    ]
    worst = "error" if any(t["status"] == "error" for t in tests) else "fail"
    passed = all(test["status"] == "pass" for test in tests)
    return json.dumps(
        {
            "version": 1,
            "status": "pass" if passed else worst,
            "max_score": float(len(tests)),
            "tests": tests,
        },
        ensure_ascii=False,
        indent=1,
    )


def _in_base64(text: str) -> str:
    """As the steps of a workflow pass a result on to each other."""
    return base64.b64encode(text.encode()).decode("ascii")


FORMATS: dict[str, Callable[[Sequence[Verdict], str], str]] = {
    "junit": as_junit,
    "gradescope": as_gradescope,
    "classroom": as_classroom,
    "classroom-base64": lambda verdicts, language: _in_base64(as_classroom(verdicts, language)),
    "json": as_json,
}
"""How verdicts can be written, by the name of the format."""
