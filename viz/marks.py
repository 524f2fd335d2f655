"""The page of a class: who solved what, and which mistakes were made how often. Plain data in.

One HTML file that needs no network and runs no script.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from jinja2 import Environment, StrictUndefined

from viz.colours import DARK, LIGHT, properties

__all__ = ["marks_page"]

TEXTS: Mapping[str, Mapping[str, str]] = {
    "en": {
        "title": "Marks and mistakes",
        "mistakes": "Mistakes, the most frequent first",
        "none": "No mistake was recognised.",
        "errors": "Could not be checked",
        "puzzles": "Wrong, but none of the known mistakes",
        "says": "what the check says",
        "marks": "Marks",
        "student": "who",
        "points": "points",
        "exercise": "exercise",
        "what": "mistake",
        "count": "how many",
        "passed": "solved",
        "failed": "wrong",
        "not attempted": "not written",
        "missing": "not handed in",
        "error": "could not be checked",
    },
    "zh": {
        "title": "成绩与错误",
        "mistakes": "错误，按次数排列",
        "none": "没有识别出任何错误。",
        "errors": "无法检查的作业",
        "puzzles": "有误，但不属于已知的错误",
        "says": "检查结果",
        "marks": "成绩",
        "student": "学生",
        "points": "得分",
        "exercise": "练习",
        "what": "错误",
        "count": "人数",
        "passed": "完成",
        "failed": "有误",
        "not attempted": "未编写",
        "missing": "未提交",
        "error": "无法检查",
    },
}

SIGNS = {"passed": "✓", "failed": "✗", "not attempted": "·", "missing": "–", "error": "!"}


def marks_page(
    marked: Sequence[Mapping[str, Any]],
    titles: Mapping[str, str],
    mistakes: Sequence[tuple[str, str, str, Sequence[str]]],
    puzzles: Sequence[tuple[str, str, str, str]] = (),
    *,
    language: str = "en",
) -> str:
    """One HTML page of a class.

    Args:
        marked: of each student the name and the verdicts as data (exercise, status, and why it is
            so, which can be left out).
        titles: of the exercises, by name, in order.
        mistakes: exercise, id, sentence and the students who made it, the most frequent first.
        puzzles: exercise, status, message and student of what is wrong without a name, or could not
            be checked.

    Errors: `ValueError` for a language other than en and zh.

    >>> row = {"student": "<猫>", "verdicts": [{"exercise": "08-softmax", "status": "passed"}]}
    >>> page = marks_page([row], {"08-softmax": "Softmax"}, [])
    >>> "&lt;猫&gt;" in page, "<script" in page
    (True, False)
    """
    if language not in TEXTS:
        raise ValueError(f"language={language!r}; it is one of {', '.join(TEXTS)}")
    rows = [
        (row["student"], {verdict["exercise"]: verdict for verdict in row["verdicts"]})
        for row in marked
    ]
    environment = Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True)
    return environment.from_string(PAGE).render(
        language="zh-CN" if language == "zh" else "en",
        texts=TEXTS[language],
        rows=rows,
        titles=titles,
        mistakes=mistakes,
        errors=[puzzle for puzzle in puzzles if puzzle[1] == "error"],
        puzzles=[puzzle for puzzle in puzzles if puzzle[1] != "error"],
        signs=SIGNS,
        light=properties(LIGHT),
        dark=properties(DARK),
    )


PAGE = """<!DOCTYPE html>
<html lang="{{ language }}">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy"
 content="default-src 'none'; style-src 'unsafe-inline'">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{{ texts.title }}</title>
<style>
:root { color-scheme: light dark; {{ light }} }
@media (prefers-color-scheme: dark) { :root { {{ dark }} } }
body { font: 16px/1.5 system-ui, "Noto Sans CJK SC", sans-serif; margin: 2rem auto; padding: 0 1rem;
  max-width: 75rem; background: var(--paper); color: var(--ink); }
.wide { overflow-x: auto; }
table { border-collapse: collapse; }
th, td { padding: .3rem .6rem; border-bottom: 1px solid var(--rule); text-align: left;
  vertical-align: top; }
th, .key { white-space: nowrap; }
.name { min-width: 8rem; max-width: 16rem; overflow-wrap: break-word; }
.name:first-child { position: sticky; left: 0; background: var(--paper); }
.says { min-width: 16rem; max-width: 40rem; overflow-wrap: break-word; }
.sign { text-align: center; }
.number { text-align: right; }
.error { color: var(--accent); font-weight: bold; }
summary { cursor: pointer; }
code { font-size: .9em; }
</style>
</head>
<body>
<h1>{{ texts.title }}</h1>
{% macro box(label) %}<div class="wide" tabindex="0" role="region" aria-label="{{ label }}">
<table>{{ caller() }}</table></div>{% endmacro %}
{% macro told(puzzles, label) %}{% call box(label) %}
<tr><th>{{ texts.exercise }}</th><th>{{ texts.student }}</th><th>{{ texts.says }}</th></tr>
{% for exercise, status, why, student in puzzles %}
<tr><td class="name">{{ titles.get(exercise, exercise) }}</td><td class="name">{{ student }}</td>
<td class="says">{{ why }}</td></tr>
{% endfor %}{% endcall %}{% endmacro %}
{% if errors %}
<h2 class="error">{{ signs.error }} {{ texts.errors }}</h2>
{{ told(errors, texts.errors) }}
{% endif %}
<h2>{{ texts.mistakes }}</h2>
{% if mistakes %}
{% call box(texts.mistakes) %}
<tr><th>{{ texts.count }}</th><th>{{ texts.exercise }}</th><th>{{ texts.what }}</th>
<th>{{ texts.student }}</th></tr>
{% for exercise, id, says, students in mistakes %}
<tr><td class="number">{{ students|length }}</td>
<td class="name">{{ titles.get(exercise, exercise) }}</td>
<td class="says"><code>{{ id }}</code><br>{{ says }}</td>
<td class="says">{{ students|join(", ") }}</td></tr>
{% endfor %}
{% endcall %}
{% else %}
<p>{{ texts.none }}</p>
{% endif %}
{% if puzzles %}
<h2>{{ texts.puzzles }}</h2>
<details><summary>{{ puzzles|length }}</summary>
{{ told(puzzles, texts.puzzles) }}
</details>
{% endif %}
<h2>{{ texts.marks }}</h2>
<p>{% for status, sign in signs.items() %}
<span class="key">{{ sign }} {{ texts[status] }}</span>&emsp;
{% endfor %}</p>
{% call box(texts.marks) %}
<tr><th>{{ texts.student }}</th><th>{{ texts.points }}</th>
{% for name, title in titles.items() %}<th title="{{ title }}">{{ name.partition("-")[0] }}</th>
{% endfor %}</tr>
{% for student, verdicts in rows %}
<tr><td class="name">{{ student }}</td>
{% set passed = verdicts.values()|selectattr("status", "equalto", "passed")|list %}
<td class="number">{{ passed|length }}</td>
{% for name in titles %}{% set verdict = verdicts.get(name) %}
{% set status = verdict.status if verdict else "missing" %}
{% set why = ": " ~ verdict.why if verdict and verdict.get("why") else "" %}
<td class="sign{{ " error" if status == "error" }}" title="{{ texts[status] }}{{ why }}">
{{ signs[status] }}</td>
{% endfor %}</tr>
{% endfor %}
{% endcall %}
</body>
</html>
"""
