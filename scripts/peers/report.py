"""What scripts/compare measured, as a table for the terminal, as markdown, or as JSON."""
import datetime
import json
import os
import platform
from statistics import median

WORDS = {
    "prompt": "prompt of {} tokens",
    "cached": "one token after {} kept ones",
    "recomputed_text": "{} tokens written, everything recomputed",
    "cached_text": "{} tokens written, keys and values kept",
}
NOISY = 0.10


def machine():
    with open("/proc/cpuinfo") as file:
        names = [line.split(":", 1)[1].strip() for line in file if line.startswith("model name")]
    memory = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") / 2**30
    name = names[0] if names else platform.machine()
    return f"{name}, {len(os.sched_getaffinity(0))} cores for this process, {memory:.0f} GiB"


def tokens_of(kind, length):
    return 1 if kind == "cached" else length


def summarize(measured, base):
    """One row for each workload and contestant. `measured[kind, length][name]` holds the median of each round."""
    rows = []
    for (kind, length), by_name in measured.items():
        for name, rounds in by_name.items():
            middle = median(rounds)
            rows.append({
                "workload": kind, "length": length, "contestant": name, "median_s": middle,
                "tokens_per_s": tokens_of(kind, length) / middle,
                # Each round by itself, since what disturbs the machine mostly disturbs all of a round.
                "ratio": median(theirs / ours for theirs, ours in zip(rounds, by_name[base])),
                "spread": (max(rounds) - min(rounds)) / middle, "rounds_s": rounds,
            })
    return rows


def digits(value):
    return f"{value:.{2 if value < 10 else 1 if value < 100 else 0}f}"


def cells_of(row):
    return [row["contestant"], digits(1000 * row["median_s"]), digits(row["tokens_per_s"]), f"{row['ratio']:.2f}",
            f"{100 * row['spread']:.0f} %" + (" *" if row["spread"] > NOISY else "")]


def workloads_of(report):
    """Rows by workload, in the order measured."""
    grouped = {}
    for row in report["rows"]:
        grouped.setdefault((row["workload"], row["length"]), []).append(row)
    return [(WORDS[kind].format(length), rows) for (kind, length), rows in grouped.items()]


def heading(report):
    yield f"{report['date']}, {report['machine']}; threads: {report['threads']}"
    yield (f"{report['model']}; {report['rounds']} rounds, {report['repeats']} samples of each in a round; "
           f"other programs kept {report['cores_taken_by_others']:.2f} cores busy")


def table(report):
    lines = list(heading(report))
    lines += ["", "contestants, and how far their logits are from qkv's (prompt at once, last token after kept ones):"]
    for name, about in report["contestants"].items():
        there = report["agreement"].get(name)
        lines.append(f"  {name:12} {about}" + (f"; {there[0]:.1e} and {there[1]:.1e}" if there else ""))
    titles = ["", "ms", "tokens/s", "ratio", "spread"]
    for title, rows in workloads_of(report):
        lines += ["", title]
        for cells in [titles] + [cells_of(row) for row in rows]:
            lines.append(f"  {cells[0]:12} {cells[1]:>9} {cells[2]:>9} {cells[3]:>7} {cells[4]:>7}")
    return "\n".join(lines + [""] + report["notes"]) + "\n"


def markdown(report):
    """One row for each workload, as short as can be: milliseconds, and how many times as long as qkv."""
    names = list(report["contestants"])
    lines = list(heading(report)) + ["", "| | " + " | ".join(names) + " |", "|---" + "|--:" * len(names) + "|"]
    for title, rows in workloads_of(report):
        by_name = {row["contestant"]: row for row in rows}
        cells = [cell(by_name.get(name), name == names[0]) for name in names]
        lines.append(f"| {title} | " + " | ".join(cells) + " |")
    lines += ["", "Milliseconds, and how many times as long as qkv takes in the same round (medians); * where the rounds "
              f"spread by more than {100 * NOISY:.0f} %."]
    lines += [""] + [f"- {name}: {about}" for name, about in report["contestants"].items()]
    return "\n".join(lines + [f"- {note}" for note in report["notes"]]) + "\n"


def cell(row, is_base):
    if row is None:
        return "–"
    star = " *" if row["spread"] > NOISY else ""
    return digits(1000 * row["median_s"]) + ("" if is_base else f" ({row['ratio']:.2f})") + star


def as_json(report):
    return json.dumps(report, indent=2) + "\n"


FORMATS = {"table": table, "md": markdown, "json": as_json}


def now():
    return datetime.datetime.now().astimezone().strftime("%Y-%m-%d %H:%M")
