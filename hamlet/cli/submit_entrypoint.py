"""The process that `hamlet submit` starts on the cluster: runs a command and logs its exit code.

Ray reports only whether a job failed. So the last line of the job's log is the exit code, after a
mark that only the submitter knows. `JobLog` reads it on the other side.
"""

from __future__ import annotations

import os

from hamlet.cli.job_log import ADDRESS, log_exit_code


def main() -> None:
    code: object = None
    # A submitted run uses the cluster that it was submitted to.
    os.environ.setdefault(ADDRESS, os.environ.get("RAY_ADDRESS", "auto"))
    try:
        from hamlet.cli import main as hamlet

        hamlet()
    except SystemExit as end:
        code = end.code
        raise
    finally:
        log_exit_code(code if isinstance(code, int) else int(code is not None))


if __name__ == "__main__":
    main()
