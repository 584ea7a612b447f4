"""Figures: how all experiments look, and the files and pages made of them.

A figure reads the table and the summary of its run alone; what draws it is shared by all experiments.

    style        house style with what a person asks of it; colours, markers, axes of panels
    labels       names of memories and patterns, the same in all figures
    panels       galleries of lettered panels, looks of data and theory, legends
    saving       SVG, PNG and PDF, small and the same bytes every time
    svg          SVG of Matplotlib, shortened
    extraction   data of a drawn figure: panels as series of numbers
    overlay      one figure of several, a colour for each group of runs
    maps         images and cells drawn again from their data
    interactive  these data as traces of plotly
    words        texts of a figure for a page, formulas as plain signs
    headlines    numbers that a summary is about, each with its error and theory
    report       the page of a run, with everything in it
"""
