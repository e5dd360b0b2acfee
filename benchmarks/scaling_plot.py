"""Draws the results of scaling.py --csv: a dot for each side of each row, private and shared objects side by side.

Usage: scaling_plot.py FILE.csv FILE.svg [--dark]. The plot shows the largest number of threads; with two threads, a bar
shows the goal. Text stays text, so that it can be searched; equal input makes equal files.
"""

from __future__ import annotations

import csv
import sys
from pathlib import Path

import matplotlib

matplotlib.use("svg")
from matplotlib import pyplot

MODES = {"own": "things of each thread's own", "shared": "the same things for all"}
SHAPES = {
    "ours": "o",
    "ours, bound": "D",
    "before": "o",
    "tvm_ffi": "s",
    "nanobind": "^",
    "pybind11": "v",
    "Python": "|",
}
LIGHT = {
    "page": "#ffffff",
    "text": "#1f2328",
    "grid": "#d8dee4",
    "goal": "#8c959f",
    "ours": "#0a58ca",
    "ours, bound": "#4d8fe8",
    "before": "#9ec5fe",
    "tvm_ffi": "#d1560b",
    "nanobind": "#1a7f37",
    "pybind11": "#8250df",
    "Python": "#1f2328",
}
DARK = {
    "page": "#0d1117",
    "text": "#e6edf3",
    "grid": "#30363d",
    "goal": "#7d8590",
    "ours": "#58a6ff",
    "ours, bound": "#2f6fc0",
    "before": "#1f4b80",
    "tvm_ffi": "#f0883e",
    "nanobind": "#3fb950",
    "pybind11": "#bc8cff",
    "Python": "#e6edf3",
}
INCHES_PER_ROW = 0.26


def set_up(colours: dict[str, str]) -> None:
    matplotlib.rcParams.update(
        {
            **dict.fromkeys(("figure.facecolor", "axes.facecolor", "savefig.facecolor"), colours["page"]),
            **dict.fromkeys(("text.color", "xtick.color", "ytick.color", "axes.labelcolor"), colours["text"]),
            "axes.edgecolor": colours["grid"],
            "font.size": 9,
            "svg.fonttype": "none",
            "svg.hashsalt": "scaling",
        }
    )


def draw_mode(axes: pyplot.Axes, lines: list[dict[str, str]], rows: list[str], colours: dict[str, str]) -> None:
    """Draw the rows, the first at the top."""
    heights = {row: -i for i, row in enumerate(rows)}
    for side, shape in SHAPES.items():
        found = [line for line in lines if line["side"] == side]
        if found:
            x = [float(line["speedup"]) for line in found]
            y = [heights[line["row"]] for line in found]
            size = 110 if side == "Python" else 30
            axes.scatter(x, y, s=size, c=colours[side], marker=shape, label=side, zorder=3 + (side == "ours"))
    goals = {line["row"]: float(line["goal_for_two"]) for line in lines if line["goal_for_two"]}
    if all(line["threads"] == "2" for line in lines):
        middles = [heights[row] for row in goals]
        low, high = [y - 0.4 for y in middles], [y + 0.4 for y in middles]
        axes.vlines(list(goals.values()), low, high, colors=colours["goal"], linewidth=2, label="goal", zorder=2)
    axes.set_yticks(list(heights.values()), rows)
    axes.set_ylim(-len(rows) + 0.4, 0.6)
    axes.set_xlim(left=0)
    axes.grid(color=colours["grid"], linewidth=0.5)
    axes.tick_params(length=0)


def main() -> None:
    csv_file, svg_file, *options = sys.argv[1:]
    colours = DARK if "--dark" in options else LIGHT
    set_up(colours)
    with Path(csv_file).open(newline="") as stream:
        lines = list(csv.DictReader(stream))
    most = max((line["threads"] for line in lines), key=int)
    lines = [line for line in lines if line["threads"] == most]
    by_mode = {mode: [line for line in lines if line["mode"] == mode] for mode in MODES}
    rows = {mode: list(dict.fromkeys(line["row"] for line in found)) for mode, found in by_mode.items()}
    height = 1.2 + INCHES_PER_ROW * max(map(len, rows.values()))
    figure, both = pyplot.subplots(1, 2, figsize=(11, height), layout="constrained")
    for axes, mode in zip(both, MODES):
        draw_mode(axes, by_mode[mode], rows[mode], colours)
        axes.set_title(MODES[mode], fontsize=10, color=colours["text"])
        axes.set_xlabel(f"calls per second of {most} threads, one thread's being 1")
    handles, labels = both[1].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside upper center", ncols=len(labels), frameon=False)
    figure.savefig(svg_file, metadata={"Date": None})


if __name__ == "__main__":
    main()
