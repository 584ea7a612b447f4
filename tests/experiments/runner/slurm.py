"""SLURM in small: the commands that submitit calls, which run the tasks of a job array on this machine."""

from pathlib import Path

COMMANDS = {
    "sbatch": """
for task in $(seq 0 $(sed -n 's/^#SBATCH --array=0-\\([0-9]*\\).*/\\1/p' "$1")); do
    export SLURM_JOB_ID=$((71 + task)) SLURM_ARRAY_JOB_ID=71 SLURM_ARRAY_TASK_ID=$task
    export SLURM_NTASKS=1 SLURM_JOB_NUM_NODES=1 SLURM_JOB_NODELIST=here SLURM_NODEID=0 SLURM_PROCID=0 SLURM_LOCALID=0
    bash "$1" > /dev/null 2>&1 &
done
echo Submitted batch job 71
""",
    "srun": """
while [[ $1 == --* ]]; do
    [[ $1 == --unbuffered ]] || shift
    shift
done
exec "$@"
""",
    "sacct": """
echo "JobID|State|NodeList"
""",
}
"""Bash of each: an array of tasks 0 … n, a step of a task, and the states of jobs, an empty table."""


def folder_of_commands(folder: Path) -> Path:
    """A new folder with the commands, for the front of PATH."""
    folder.mkdir()
    for name, lines in COMMANDS.items():
        (folder / name).write_text(f"#!/bin/bash{lines}", encoding="utf-8")
        (folder / name).chmod(0o755)
    return folder
