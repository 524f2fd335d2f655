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
        "marks": "Marks",
        "student": "student",
        "points": "points",
        "exercise": "exercise",
        "what": "mistake",
        "count": "students",
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
    *,
    language: str = "en",
) -> str:
    """One HTML page of a class.

    Args:
        marked: of each student the name and the verdicts as data (exercise, status, diagnosis).
        titles: of the exercises, by name, in order.
        mistakes: exercise, id, sentence and the students who made it, the most frequent first.

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
  vertical-align: top; overflow-wrap: anywhere; }
td.sign { text-align: center; }
td.number { text-align: right; }
code { font-size: .9em; }
</style>
</head>
<body>
<h1>{{ texts.title }}</h1>
<h2>{{ texts.mistakes }}</h2>
{% if mistakes %}
<div class="wide"><table>
<tr><th>{{ texts.count }}</th><th>{{ texts.exercise }}</th><th>{{ texts.what }}</th>
<th>{{ texts.student }}</th></tr>
{% for exercise, id, says, students in mistakes %}
<tr><td class="number">{{ students|length }}</td><td>{{ titles.get(exercise, exercise) }}</td>
<td><code>{{ id }}</code><br>{{ says }}</td><td>{{ students|join(", ") }}</td></tr>
{% endfor %}
</table></div>
{% else %}
<p>{{ texts.none }}</p>
{% endif %}
<h2>{{ texts.marks }}</h2>
<p>{% for status, sign in signs.items() %}{{ sign }} {{ texts[status] }}&emsp;{% endfor %}</p>
<div class="wide"><table>
<tr><th>{{ texts.student }}</th><th>{{ texts.points }}</th>
{% for name, title in titles.items() %}<th title="{{ title }}">{{ name.partition("-")[0] }}</th>
{% endfor %}</tr>
{% for student, verdicts in rows %}
<tr><td>{{ student }}</td>
{% set passed = verdicts.values()|selectattr("status", "equalto", "passed")|list %}
<td class="number">{{ passed|length }}</td>
{% for name in titles %}{% set verdict = verdicts.get(name) %}
{% set status = verdict.status if verdict else "missing" %}
{% set why = ": " ~ verdict.diagnosis if verdict and verdict.get("diagnosis") else "" %}
<td class="sign" title="{{ texts[status] }}{{ why }}">{{ signs[status] }}</td>
{% endfor %}</tr>
{% endfor %}
</table></div>
</body>
</html>
"""
