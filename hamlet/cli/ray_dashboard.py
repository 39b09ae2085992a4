"""Talks to the dashboard of a Ray cluster about the jobs that were submitted to it."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated

import typer

from hamlet.cli.stderr import Notices
from runtime.errors import EnvironmentFailure, HamletError

if TYPE_CHECKING:
    from ray.job_submission import JobSubmissionClient

Address = Annotated[
    str,
    typer.Option(
        metavar="URL",
        envvar="RAY_API_SERVER_ADDRESS",
        help="The cluster's dashboard, such as http://head:8265.",
    ),
]
# The metadata of a Ray job that holds its name.
NAME = "hamlet_name"


def check_address(address: str) -> None:
    if not address.startswith(("http://", "https://")):
        raise HamletError(f"{address} is not the address of a dashboard", "use http://HOST:8265")


def stop_jobs_named(
    client: JobSubmissionClient, name: str, limit_s: float, notices: Notices
) -> dict[str, bool]:
    """Stops the jobs with this name. Returns, for each of them, whether it ended in time."""
    ended = {}
    for found in client.list_jobs():
        job = found.submission_id
        called = (found.metadata or {}).get(NAME) == name
        if job is not None and called and not found.status.is_terminal():
            notices.say(f"stopping job {job}, which is called {name}")
            client.stop_job(job)
            ended[job] = await_end(client, job, limit_s)
    return ended


def await_end(client: JobSubmissionClient, job: str, limit_s: float) -> bool:
    deadline = time.monotonic() + limit_s
    while not client.get_job_status(job).is_terminal():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.2)
    return True


@contextmanager
def ray_errors(address: str) -> Iterator[None]:
    """Turns errors of Ray's client into messages for the user."""
    from ray.exceptions import AuthenticationError
    from requests import RequestException

    try:
        yield
    except RequestException as error:
        raise EnvironmentFailure(
            f"the cluster at {address} stopped answering: {' '.join(str(error).split())}"
        ) from error
    except ConnectionError as error:
        raise EnvironmentFailure(
            f"cannot reach a Ray cluster at {address}", "is that the address of its dashboard?"
        ) from error
    except AuthenticationError as error:
        raise HamletError(
            f"the cluster at {address} needs a token, and got none or a wrong one",
            "set RAY_AUTH_MODE=token, and RAY_AUTH_TOKEN or RAY_AUTH_TOKEN_PATH",
        ) from error
    except RuntimeError as error:
        raise HamletError(f"the cluster at {address} refused: {error}") from error
