# SPDX-License-Identifier: Apache-2.0
"""Tables read, tables in Markdown and scatter plots in SVG, without a library."""

import csv
import math

COLOURS = ["#1f77b4", "#d62728", "#2ca02c", "#9467bd", "#ff7f0e", "#8c564b", "#17becf", "#7f7f7f"]
WIDTH, HEIGHT, LEFT, BOTTOM, TOP, RIGHT = 720, 400, 64, 48, 16, 150


def read(path):
    with open(path, newline="") as file:
        return list(csv.DictReader(file))


def table(heads, rows):
    lines = ["| " + " | ".join(heads) + " |", "|" + "---|" * len(heads)]
    return "\n".join(lines + ["| " + " | ".join(str(cell) for cell in row) + " |" for row in rows])


def decades(low, high):
    return [10.0 ** e for e in range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
            if low * 0.999 <= 10.0 ** e <= high * 1.001]


def short(value):
    for size, unit in [(1e15, "P"), (1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k")]:
        if value >= size:
            return f"{value / size:g}{unit}"
    return f"{value:g}"


def scatter(path, points, x_title, y_title, log_x=True, ratio=True, diagonal=False):
    """points: (series, x, y). ratio: y from 1/4 to 4 in logarithm, with lines at 1 and 10 % around it."""
    points = [p for p in points if p[1] > 0 and p[2] > 0]
    x = math.log10 if log_x else float
    low_x, high_x = min(p[1] for p in points), max(p[1] for p in points)
    low_y, high_y = (0.25, 4) if ratio else (min(p[2] for p in points), max(p[2] for p in points))
    if diagonal:
        low_x = low_y = min(low_x, low_y)
        high_x = high_y = max(high_x, high_y)

    def at(px, py):
        py = min(max(py, low_y), high_y)
        wide = (x(high_x) - x(low_x)) or 1
        return (LEFT + (x(px) - x(low_x)) / wide * (WIDTH - LEFT - RIGHT),
                TOP + (math.log10(high_y) - math.log10(py)) / math.log10(high_y / low_y) * (HEIGHT - TOP - BOTTOM))

    out = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" font-family="sans-serif" '
           'font-size="11">', f'<rect width="{WIDTH}" height="{HEIGHT}" fill="white"/>']

    def line(x1, y1, x2, y2, colour):
        (a, b), (c, d) = at(x1, y1), at(x2, y2)
        out.append(f'<path d="M{a:.1f} {b:.1f}L{c:.1f} {d:.1f}" stroke="{colour}"/>')

    y_ticks = [0.25, 0.5, 0.9, 1, 1.1, 2, 4] if ratio else decades(low_y, high_y)
    for tick in y_ticks:
        line(low_x, tick, high_x, tick, "#888" if tick == 1 else "#ddd")
        if tick not in (0.9, 1.1):
            out.append(f'<text x="{LEFT - 6}" y="{at(low_x, tick)[1] + 4:.1f}" text-anchor="end">{short(tick)}</text>')
    for tick in (decades(low_x, high_x) if log_x else []):
        line(tick, low_y, tick, high_y, "#eee")
        out.append(f'<text x="{at(tick, low_y)[0]:.1f}" y="{HEIGHT - BOTTOM + 16}" text-anchor="middle">{short(tick)}</text>')
    if diagonal:
        line(low_x, low_y, high_x, high_y, "#888")
    for i, series in enumerate(dict.fromkeys(p[0] for p in points)):
        colour = COLOURS[i % len(COLOURS)]
        for _, px, py in (p for p in points if p[0] == series):
            a, b = at(px, py)
            out.append(f'<circle cx="{a:.1f}" cy="{b:.1f}" r="2" fill="{colour}" fill-opacity="0.5"/>')
        out.append(f'<circle cx="{WIDTH - RIGHT + 14}" cy="{TOP + 10 + 16 * i}" r="4" fill="{colour}"/>')
        out.append(f'<text x="{WIDTH - RIGHT + 24}" y="{TOP + 14 + 16 * i}">{series}</text>')
    out.append(f'<text x="{(LEFT + WIDTH - RIGHT) / 2}" y="{HEIGHT - 10}" text-anchor="middle">{x_title}</text>')
    out.append(f'<text transform="translate(16 {HEIGHT / 2}) rotate(-90)" text-anchor="middle">{y_title}</text>')
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join(out + ["</svg>"]) + "\n")
