"""System beneath a run: files, versions and provenance, for experiments, the runner and the commands.

It imports neither `shared` nor `statistics` nor `figures`:

    files           files written in one step, on disk before they count; fingerprints
    terminal        lines on the terminal, without signs that control it
    provenance      what rows depend on and were measured with
    versions        versions of packages
"""
