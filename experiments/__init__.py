"""Experiments: one folder each, run by one command. User-defined ones are found as well while they are measured.

In the folder of an experiment `experiment` has its options and columns, its points, what is measured of one, and what
is made of the table. Where that is long, `config` has options and columns, `measurement` the compiled part, and
`summary` and `figure` what is made of the table.

Capacity:

    capacity             the share of patterns that is retained against the load, for any memory, dynamics and start
    capacity_asymptotic  finite-size thresholds of the exponential memory, far beyond any computer
    capacity_dynamics    the classical network by its dynamics: sweeps, greedy, reluctant, at once, cooled
    capacity_features    random features of fixed size instead of the patterns
    capacity_gardner     couplings learned up to Gardner's bound: spins held, stabilities, basins
    capacity_learned     patterns that a memory holds after learning a metric, β and a separation
    capacity_linear      fast weights: the share of keys that find their value
    capacity_sparse      patterns of low activity, and disturbed couplings
    capacity_structured  patterns that share features, a manifold or ancestors

Dynamics:

    attractors           a network that is given: its states of rest, beside shuffled couplings
    basins               where a query ends that starts at a given overlap
    examples             patterns that only noisy examples show
    entropy              entropy of the weights while a query is retrieved, at every β
    hierarchy            digits made of parts beside whole ones
    landscape            what random starts end in
    overlap_dynamics     overlap in time beside statistical neurodynamics
    phase_diagram        states over load and temperature
    relaxation           correlation and escape times near the spinodal load
    retrieval            retrieval against β
    retrieval_story      digits retrieved step by step
    thermal              continuous states at a temperature, sampled by Langevin chains
    separation           similarity and separation on real images
    sequences            sequences of patterns

Layers:

    bags                 multiple-instance learning
    efficient_attention  ways to compute attention: time, memory and error
    heads                heads of a trained transformer
    mqar                 associative recall in language models
    novelty              queries that no pattern matches, by softmax₁
    optimisers           natural gradients against first-order optimisers
    training             classifiers with a Hopfield layer

Checks:

    gradients            gradients by hand against automatic ones
    papers               claims of papers that one number or curve each tests
    throughput           time and memory of reading
    worked_examples      printed numbers beside computed ones

Commands:

    run                  runs an experiment
    plot                 draws runs again, or several as one
    runs                 lists runs
    new                  begins a memory, its parts, patterns, a layer, an optimiser, an experiment

What they are made of:

    api                  experiments as functions of Python
    contract             what an experiment is, and how it declares its options
    bounds               what an option's value may be
    columns              what a column of a table means
    shared               patterns, starts, draws, compiled grids
    system               files, versions, provenance
    statistics           standard errors, thresholds, clusters
    figures              style, panels, reports
    runner               from the command line to the results
"""

import os

FOLDERS = "HOPFIELD_EXPERIMENTS"
"""Variable with the folders of user-defined experiments, for processes that launchers start."""

__path__.extend(filter(None, os.environ.get(FOLDERS, "").split(os.pathsep)))
