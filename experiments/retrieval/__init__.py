"""The experiment `retrieval`.

Besides the roles that `experiments.contract` describes it has words of its own:

    streamed   patterns that are never stored: every pass serves all memories, β and starts
    lines      theory that the figure draws
    critical   the panel of critical κ against load, beside theory

The compiled measurement stands in `experiments.shared.retrievals`, its theory in `experiments.shared.kappa_theory`.
"""
