"""The product's own modules: no import cycles, no name twice, no long files and functions."""

from pathlib import Path

import pytest

from house.figures import House
from house.layers import LAYERS, layer_of
from house.source_tree import read_working_tree


@pytest.fixture(scope="module")
def house() -> House:
    return House(read_working_tree(Path(__file__).parents[2]))


def test_every_file_is_in_a_layer(house):
    assert [path for path in house.sources if layer_of(path) not in LAYERS] == []


def test_packages_import_one_another_in_one_direction(house):
    assert house.package_cycles == []


def test_modules_import_one_another_in_one_direction(house):
    assert house.module_cycles == []


def test_a_public_class_name_is_defined_once(house):
    assert house.duplicate_classes == {}


def test_a_basename_is_used_once_in_a_package(house):
    assert house.shared_basenames == {}


def test_files_are_short(house):
    assert house.long_files == []


def test_functions_outside_kernels_are_short(house):
    assert house.long_functions == []
