"""Runner: from a command line to files on disk.

Its files in the order of a run; to the right the tests in `tests/experiments/runner/`, which stand by behaviour.

    boundary         every command ends in one line and an exit code            test_boundary, test_process, test_exits
    words            words of the command line: overrides and flags             test_run, test_mistakes
    catalogue        what `conf=` accepts, for `--help`                         test_run
    registry         experiments found by folder, imported when asked for       test_outside
    command          from overrides and flags to jobs, and what becomes of them test_run
    session          Hydra with `conf/` and the schema that a choice names      test_configs, test_yaml_files
    hydra_internals  private parts of Hydra, imported in one place              test_configs, test_yaml_files, test_run
    yaml_files       user-defined configuration files, read as data             test_yaml_files
    overrides        overrides: parsed, swept, contradictions                   test_mistakes
    configuration    these words and a choice of `conf=`, composed by Hydra     test_configs, test_mistakes
    values           values of options as their types have them                 test_mistakes, test_api
    compose          typed jobs, judged by their experiments                    test_configs, test_data_mistakes
    errors           one sentence for every mistake in a configuration          test_mistakes
    idle             options that would do nothing, refused                     test_idle
    job              one configuration to run, its folder, how to run it again  test_run
    folders          folders named by options; the record of what was asked     test_folders, test_untouched
    planning         all that is checked before a run; the forecast of `dry`    test_budget
    budget           what a run would take, and what no machine can do          test_budget
    launching        jobs handed to Hydra's launchers, taken up in workers      test_run, test_pieces
    execute          plans carried out: what is missing is measured             test_resume, test_faults, test_process
    locks            claims on folders, by locks of the system                   test_locks
    numerics         JAX's precision and compiled programs while measuring      test_process
    pieces           long work behind the points                                 test_pieces
    ledger           rows on disk at once, with checksums                       test_record, test_resume, test_code
    mirror           rows sent to Weights & Biases                              test_mirror
    series           means and errors for the live charts there                 test_series, test_mirror
    tables           the table as a file, its texts read as they were recorded  test_tables, test_sweeps
    conclusion       table, summary and last lines of a finished run            test_run, test_record
    results          figure and report from the table, then and again later     test_redraw, test_received
    pooling          finished runs side by side: differences, joined rows       test_sweeps
    sweeps           several runs as one table, summary, figure and report      test_sweeps
    listing          `hopfield runs`: what lies in the folders               test_listing
    help             the text of `conf=NAME --help`                             test_run
"""
