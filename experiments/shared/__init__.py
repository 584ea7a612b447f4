"""Shared parts of the experiments: what they store, and how it is measured.

An experiment imports no other one: what several of them need stands here.

Points, patterns and starts:

    axes            points from the values of every axis; whether all have the same names
    pattern_sets    where patterns come from: random ensembles, images, files
    corruptions     starts of queries: their names in tables, their words in figures
    streams         patterns that are never stored: memories of them, starts of their queries, columns of their rows
    draws           random numbers, patterns and memory of one draw
    memories        memories from outside in summaries, made again without their code
    loads           numbers of patterns from loads, whole and odd where asked; networks at loads of theory
    notes           lines on what was asked for and is not measured as such
    precedence      common values over a part's, over smoke scale
    spellings       which texts name one and the same thing

Compiled measurement, and what it is read by:

    grids           compiled grids: from points to rows through one program per structure
    traced          numbers of points as arrays that compiled measurements take
    retention       all patterns of a draw stored, some queried: behind capacity curves
    retrievals      stored patterns read at many κ: behind retrieval curves
    training_loops  networks trained in compiled loops
    parallel        pieces of a table measured in threads
    hardware        what a run is measured on: cores, or accelerators with draws side by side
    compiling       compiler options by program: short runs are compiled in less time
    timing          seconds that compiled programs take
    footprint       memory that compiled programs take
    convergence     what states are where dynamics end, and whether theory of states at rest is theirs
    kappa_theory    theory of retrieval against κ = β‖ξ‖²
"""
