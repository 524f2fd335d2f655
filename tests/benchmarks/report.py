"""What was measured, as a table, as JSON, as figures, and as the README's table."""

from __future__ import annotations

import json
import math
import os
import platform
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path
from typing import Any

import numpy as np
from rich.table import Table
from threadpoolctl import threadpool_info

from tests.benchmarks.contenders import HAND, PEERS, PRODUCTS
from tests.benchmarks.curves import GROWTHS, Curve
from tests.benchmarks.measuring import Fit, Row
from tests.benchmarks.workloads import IMPORTS, WORKLOADS, Workload
from viz.figures import new_axes, new_picture, save_figure
from viz.speed import growth, ratios

VERSION = 1
IMPORT_TARGET = 15
"""Milliseconds beyond NumPy's own import."""

ALL = {**WORKLOADS, "W8": IMPORTS}


@dataclass
class Report:
    """All that is written down: where and when, what was left out, the rows and the curves."""

    machine: dict[str, Any]
    date: str
    peers: dict[str, str]  # with their versions
    left_out: list[str]
    rows: dict[str, list[Row]] = field(default_factory=dict)  # by workload
    curves: list[Curve] = field(default_factory=list)
    version: int = VERSION


def new_report(peers: Iterable[str], left_out: list[str]) -> Report:
    """An empty one, of this machine and this moment."""
    versions = {peer: metadata.version(peer) for peer in peers}
    return Report(machine(), datetime.now(UTC).isoformat("T", "seconds"), versions, left_out)


def machine() -> dict[str, Any]:
    """What the numbers depend on, beside the program."""
    blas: dict[str, Any] = next((x for x in threadpool_info() if x["user_api"] == "blas"), {})
    cores = getattr(os, "sched_getaffinity", None)
    return {
        "cpu": _cpu(),
        "cores": len(cores(0)) if cores else os.cpu_count(),
        "os": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
        "numpy": np.__version__,
        "blas": f"{blas.get('internal_api', 'unknown')} {blas.get('version') or ''}".strip(),
        "blas_kernel": blas.get("architecture"),
        "blas_threads": blas.get("num_threads"),
    }


def _cpu() -> str:
    """The processor's name, with family and model, since virtual machines often hide the rest."""
    try:
        text = Path("/proc/cpuinfo").read_text(encoding="utf-8")
    except OSError:
        return platform.processor() or platform.machine()
    lines = [line.partition(":") for line in text.splitlines()]
    known = {name.strip(): value.strip() for name, _, value in reversed(lines)}
    name = known.get("model name", platform.machine())
    where = [f"{key} {known[key]}" for key in ("cpu family", "model") if key in known]
    return f"{name} ({', '.join(where)})" if where else name


# --------------------------------------------------------------------------------------------- JSON


def to_json(report: Report) -> str:
    """All of it, to be read again by `from_json`."""
    return json.dumps(asdict(report), ensure_ascii=False, indent=1) + "\n"


def from_json(text: str) -> Report:
    """What `to_json` wrote. Errors: `ValueError` for anything else, or another version."""
    read = json.loads(text)
    if not isinstance(read, dict) or read.get("version") != VERSION:
        raise ValueError(f"this is no report of benchmarks, version {VERSION}.")
    read["rows"] = {
        name: [Row(**{**row, "ratio": _tuple(row["ratio"])}) for row in rows]
        for name, rows in read["rows"].items()
    }
    read["curves"] = [
        Curve(**{**c, **{key: c[key] and Fit(*c[key]) for key in ("time_fit", "memory_fit")}})
        for c in read["curves"]
    ]
    return Report(**read)


def _tuple(values: list[float] | None) -> tuple[float, float, float] | None:
    return None if values is None else (values[0], values[1], values[2])


# ------------------------------------------------------------------------------------------- tables


def table(workload: Workload, rows: list[Row]) -> Table:
    """What was measured of a workload, for the terminal."""
    base = "× NumPy" if workload is IMPORTS else "× hand"
    foreign = max((row.foreign or 0.0 for row in rows), default=0.0)
    noise = f" (other processes kept {foreign:.2f} cores busy)" if foreign >= 0.05 else ""
    made = Table(title=f"{workload.name}  {workload.what}{noise}", title_justify="left")
    made.add_column("contender", no_wrap=True)
    for column in ("time", base, "quartiles", "× products", "faults", "cores", "extra", "target"):
        made.add_column(column, justify="right", no_wrap=True)
    for row in rows:
        if row.error is not None:
            made.add_row(row.contender, row.error)
            continue
        low, middle, high = row.ratio or (math.nan,) * 3
        made.add_row(
            row.contender,
            duration(row.seconds),
            f"{middle:.2f}" if row.ratio else "",
            f"{low:.2f} – {high:.2f}" if row.ratio else "",
            "" if row.products is None else f"{row.products:.2f}",
            "" if row.faults is None else f"{row.faults:,.0f}",
            "" if row.cores is None else f"{row.cores:.1f}",
            size(row.extra),
            f"≤ {workload.targets[row.contender]}" if row.contender in workload.targets else "",
        )
    beyond = _beyond_numpy(rows) if workload is IMPORTS else None
    if beyond is not None:
        made.caption = f"minigrad takes {beyond:.0f} ms beyond NumPy; the target is {IMPORT_TARGET}"
    return made


def _beyond_numpy(rows: Iterable[Row]) -> float | None:
    """Milliseconds that `import minigrad` takes beyond `import numpy`."""
    seconds = {row.contender: row.seconds for row in rows}
    ours, base = seconds.get("minigrad"), seconds.get("numpy")
    return None if ours is None or base is None else 1e3 * (ours - base)


def curve_table(curves: Iterable[Curve]) -> Table:
    """The exponents, and the largest that was measured."""
    made = Table(title="Growth: exponents over the upper half of the points", title_justify="left")
    for column in ("over", "contender"):
        made.add_column(column, no_wrap=True)
    for column in ("time", "memory", "fitted over", "at n =", "time there", "extra there"):
        made.add_column(column, justify="right", no_wrap=True)
    for curve in curves:
        fits = (curve.time_fit, curve.memory_fit)
        some = next((fit for fit in fits if fit), None)
        made.add_row(
            curve.over,
            curve.contender,
            *[f"{fit.slope:.2f}" if fit else "" for fit in fits],
            f"{some.start:,} – {some.stop:,}" if some else "",
            f"{curve.n[-1]:,}",
            duration(curve.seconds[-1]),
            size(curve.extra[-1]),
        )
    return made


def duration(seconds: float | None) -> str:
    """
    >>> duration(9.14e-6), duration(0.0829), duration(2.0), duration(None)
    ('9.1 µs', '82.9 ms', '2.00 s', '')
    """
    if seconds is None:
        return ""
    for unit, factor in (("µs", 1e6), ("ms", 1e3)):
        if seconds * factor < 999.5:
            shown = seconds * factor
            return f"{shown:.0f} {unit}" if shown >= 99.95 else f"{shown:.1f} {unit}"
    return f"{seconds:.2f} s"


def size(count: int | None) -> str:
    """
    >>> size(43_000_000), size(300_000), size(None)
    ('43 MB', '0.3 MB', '')
    """
    if count is None:
        return ""
    return f"{count / 1e6:,.0f} MB" if count >= 9.95e6 else f"{count / 1e6:.1f} MB"


# ----------------------------------------------------------------------------------------- Markdown

WORDS = {
    "en": {
        "head": "workload|minigrad|by hand|ratio",
        "memory": "memory",
        "target": "target",
        "composed": "composed",
        "fused": "fused",
        "threads": "{} threads",
        "same": "the same",
        "comma": ", ",
        "ratios": "Ratios are to the hand-written NumPy in one thread, medians of {} rounds; those "
        "of peers too, in bold where they are ahead of minigrad in that row. Memory is what a step "
        "needs at its peak beyond inputs and results.",
        "machine": "Measured on {cpu}, {cores} cores, {os}, Python {python}, NumPy {numpy}, {blas} "
        "({blas_kernel}); {peers}.",
        "import": "`import minigrad` takes {:.0f} ms beyond NumPy's own import (target: {}).",
        "ahead": "Where a peer is ahead of minigrad at its best with as many threads: {}.",
        "none ahead": "No peer is ahead of minigrad at its best with as many threads.",
        "missed": "Targets missed: {}.",
        "none missed": "All targets are met.",
        "left out": "Left out: {}.",
    },
    "zh": {
        "head": "任务|minigrad|手写|比值",
        "memory": "内存",
        "target": "目标",
        "composed": "逐步组成",
        "fused": "合成一个算子",
        "threads": "{} 个线程",
        "same": "同上",
        "comma": "，",
        "ratios": "比值都以单线程的手写 NumPy 为 1，取 {} 轮的中位数；其他库的一栏也是如此，"
        "比同一行的 minigrad 快的用粗体标出。内存指一步计算的峰值，输入和结果不计在内。",
        "machine": "测量环境：{cpu}，{cores} 核，{os}，Python {python}，NumPy {numpy}，{blas}"
        "（{blas_kernel}）；{peers}。",
        "import": "`import minigrad` 比 NumPy 自身的导入多用 {:.0f} 毫秒（目标：{}）。",
        "ahead": "线程数相同时，比最快的 minigrad 还快的库：{}。",
        "none ahead": "线程数相同时，没有哪个库比最快的 minigrad 更快。",
        "missed": "未达到的目标：{}。",
        "none missed": "所有目标都已达到。",
        "left out": "未参加测量：{}。",
    },
}


def markdown(report: Report, language: str = "en") -> str:
    """The README's table: a row for each form of minigrad, a column for each peer, and below it
    where it was measured, where a peer is ahead, and which targets are missed."""
    words = WORDS[language]
    columns = ["", *words["head"].split("|"), *report.peers, words["memory"], words["target"]]
    lines = [columns, ["---"] * len(columns)]
    for name, rows in report.rows.items():
        if name != IMPORTS.name:
            lines += _cells(WORKLOADS[name], rows, [*report.peers], language)
    found = ["| " + " | ".join(line) + " |" for line in lines]
    return "\n".join(
        [found[0].replace("|  |", "| |", 1), found[1].replace(" ", ""), *found[2:]]
    ) + ("\n\n" + "\n".join(_notes(report, language)) + "\n")


def _cells(workload: Workload, rows: list[Row], peers: list[str], language: str) -> list[list[str]]:
    """The rows of a workload. The first holds its name, so that it can be found."""
    words, by_label = WORDS[language], {row.contender: row for row in rows}
    ours = [row for row in rows if row.contender.startswith("minigrad")]
    lines = []
    for place, row in enumerate(ours):
        what = workload.what if language == "en" else workload.chinese
        form = [words["composed" if "fused" not in row.contender else "fused"]]
        form += [words["threads"].format(row.threads)] if row.threads > 1 else []
        told = [words["same"] if place else what, *(form if len(ours) > 1 else [])]
        target = workload.targets.get(row.contender)
        lines.append(
            [
                "" if place else workload.name,
                words["comma"].join(told),
                duration(row.seconds) or "–",
                duration(by_label[HAND].seconds),
                _ratio(row),
                *[_against(row, _rival(peer, row, by_label)) for peer in peers],
                size(row.extra) or "–",
                "" if target is None else f"≤ {target}",
            ]
        )
    return lines


def _rival(peer: str, row: Row, by_label: Mapping[str, Row]) -> Row | None:
    """The row of a peer that is most like one of ours: fused or not, with as many threads."""
    label = row.contender.replace("minigrad", peer, 1)
    found = by_label.get(label)
    return found if found is None or found.error is None else None


def _ratio(row: Row) -> str:
    return f"{row.ratio[1]:.2f}" if row.ratio else "–"


def _against(row: Row, rival: Row | None) -> str:
    if rival is None or rival.ratio is None:
        return "–"
    ahead = row.ratio is not None and rival.ratio[1] < row.ratio[1]
    return f"**{_ratio(rival)}**" if ahead else _ratio(rival)


def _notes(report: Report, language: str) -> list[str]:
    """The sentences below the table."""
    words = WORDS[language]
    rows = {name: some for name, some in report.rows.items() if name != IMPORTS.name}
    rounds = {row.rounds for some in rows.values() for row in some if row.rounds}
    told = [words["ratios"].format("–".join(str(n) for n in sorted({min(rounds), max(rounds)})))]
    versions = ", ".join([f"{peer} {version}" for peer, version in report.peers.items()])
    told.append(words["machine"].format(**report.machine, peers=versions or "–"))
    beyond = _beyond_numpy(report.rows.get(IMPORTS.name, []))
    if beyond is not None:
        told.append(words["import"].format(beyond, f"≤ {IMPORT_TARGET}"))
    for name, found in (("ahead", _ahead(rows)), ("missed", _missed(rows))):
        text = words[name].format(said(words["comma"].join(found), language))
        told.append(text if found else words[f"none {name}"])
    if report.left_out:
        told.append(words["left out"].format(words["comma"].join(_short(report.left_out))))
    return told


def _short(left_out: Iterable[str]) -> list[str]:
    """Without the reasons, which are English.

    >>> _short(["W3 micrograd: it would take minutes"])
    ['W3 micrograd']
    """
    return [line.partition(":")[0] for line in left_out]


def _ahead(rows: Mapping[str, list[Row]]) -> list[str]:
    """Each form of a peer that is faster than the best of minigrad with as many threads."""
    found = []
    for name, some in rows.items():
        for row in some:
            rivals = [own for own in some if own.threads == row.threads and _is_ours(own)]
            best = min([own.ratio[1] for own in rivals if own.ratio], default=0.0)
            if row.ratio and row.contender.startswith(tuple(PEERS)) and row.ratio[1] < best:
                found.append(f"{name} {row.contender} ({_ratio(row)} : {best:.2f})")
    return found


def _is_ours(row: Row) -> bool:
    return row.contender.startswith("minigrad")


def _missed(rows: Mapping[str, list[Row]]) -> list[str]:
    return [
        f"{name} {row.contender} ({_ratio(row)} > {target})"
        for name, some in rows.items()
        for row in some
        if (target := WORKLOADS[name].targets.get(row.contender)) is not None
        if row.ratio is not None and row.ratio[1] > target
    ]


# ------------------------------------------------------------------------------------------ figures

CHINESE = {
    HAND: "手写",
    "products alone": "仅矩阵乘积",
    " fused": "（合成一个算子）",
    ", causal": "，因果",
    ", 2 threads": "，2 线程",
}


def said(label: str, language: str) -> str:
    """The name of a contender in a language."""
    for english, chinese in CHINESE.items() if language == "zh" else ():
        label = label.replace(english, chinese)
    return label


def draw(report: Report, folder: Path) -> list[Path]:
    """Write the figures of what there is, in both languages; returns where they are."""
    written = []
    for language in ("en", "zh"):
        ending = ".svg" if language == "en" else ".zh.svg"
        if report.rows:
            written.append(folder / f"ratios{ending}")
            save_figure(_draw_ratios(report, language), written[-1])
        if report.curves:
            written.append(folder / f"growth{ending}")
            save_figure(_draw_growth(report, language), written[-1])
    return written


def _draw_ratios(report: Report, language: str) -> Any:
    """A panel for each workload."""
    shown = {
        name: {said(row.contender, language): row for row in rows if row.ratio}
        for name, rows in report.rows.items()
    }
    grey = tuple([said(name, language) for name in (HAND, PRODUCTS, "numpy")])
    across = 2
    down = math.ceil(len(shown) / across)
    most = max(len(rows) for rows in shown.values())
    picture = new_picture(12.0, down * (1.4 + 0.23 * most))
    for number, (name, rows) in enumerate(shown.items(), 1):
        workload = ALL[name]
        targets = {said(key, language): value for key, value in workload.targets.items()}
        ratios(
            {label: row.ratio for label, row in rows.items() if row.ratio},
            ours=[label for label in rows if label.startswith("minigrad")],
            grey=[label for label in rows if label.startswith(grey)],
            targets={label: targets[label] for label in rows if label in targets},
            title=f"{name}  {workload.what if language == 'en' else workload.chinese}",
            ax=new_axes(picture, down, across, number),
            language=language,
        )
    return picture


def _draw_growth(report: Report, language: str) -> Any:
    """Time above, memory below; a column for each thing that grows."""
    overs = [over for over in GROWTHS if any(curve.over == over for curve in report.curves)]
    picture = new_picture(5.2 * len(overs), 10.0)
    for column, over in enumerate(overs, 1):
        some = {said(c.contender, language): c for c in report.curves if c.over == over}
        fits = {name: (c.time_fit, c.memory_fit) for name, c in some.items()}
        values = (
            {name: (c.n, c.seconds) for name, c in some.items()},
            {name: (c.n, [(x or 0) / 1e6 for x in c.extra]) for name, c in some.items()},
        )
        for row, unit in enumerate(("seconds", "megabytes")):
            growth(
                values[row],
                exponents={name: fit.slope for name, both in fits.items() if (fit := both[row])},
                ours=[name for name in some if name.startswith("minigrad")],
                grey=[said(HAND, language)],
                of=unit,
                over=over,
                ax=new_axes(picture, 2, len(overs), row * len(overs) + column),
                language=language,
            )
    return picture
