"""Figures: what an experiment shows, as data, and the files and pages made of it.

An experiment defines `panels(table, summary) -> list[Panel]`, which reads nothing but these two. A panel holds series
of numbers between two axes; `curves` makes series from a frame of means, beside single series:

        from experiments.figures.panel import Axis, Panel, curves, guide

        def panels(table, summary):
            means = means_by_group(table, ["neurons", "load"], "overlap", "sample")
            found = curves(means, "load", "mean", by="neurons", label="$N={}$", theory="theory")
            return [Panel("overlap", Axis(r"load $\\alpha$"), Axis("overlap $m$", limits=(0, 1)), [*found, guide(0.5)])]

        curves(frame, x, y, by=, theory=, ...)  a curve for each value of `by`, errors, theory in its colour
        shares(frame, x, ...)                   the same of `clusters.by_group`, with its intervals
        heat(frame, x, y, title, ...)           panel of a table of numbers as coloured cells
        free(draw, title)                       panel that a function draws on axes of Matplotlib: a picture

and as single series `Series(x, y, error, ...)`, `theory_line`, `band`, `level`, `upright`, `guide`, and `entry` of the
legend. `label`s are texts, formulas between dollars; a look is `style.series(labels)[label]`. Panels of several runs
are compared by their `key`, else by title and labels of the axes.

    panel        panels, axes and series as data, and their makers
    draw         figures of Matplotlib: rows of panels, letters, legends, wrapped texts
    legends      entries of legends, and the place that they take
    extents      ends of the axes
    fitting      widths of texts, and lines that fit
    web          the same panels as traces of plotly
    compare      panels of several runs as one, a colour for each
    style        house style with what a person asks of it; colours, markers
    labels       names of memories and patterns, the same in all figures
    saving       SVG, PNG and PDF, small and the same bytes every time
    svg          SVG of Matplotlib, shortened
    words        texts of a figure for a page, formulas as plain signs
    sentences    words of the estimates: last lines of a run, report, lists
    swept        panels of a sweep: headlines against the option that was swept
    report       the page of a run, with everything in it
"""
