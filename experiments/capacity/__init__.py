"""The experiment `capacity`.

Besides the roles that `experiments.contract` describes it has words of its own:

    scale      the sizes, loads, samples and starts that one memory is measured at, common ones or its own
    streamed   patterns that are never stored: passes cut into pieces
    theory     predictions beside measurements, by the name of a memory
    lines      what of them a figure draws, as lines of the summary
    panels     panels of the figure that hold measurements against theory
    starts     panels of critical loads against the starts that were swept
    parameters the same against the parameter of a memory, and overlaps

The compiled measurement stands in `experiments.shared.retention`.
"""
