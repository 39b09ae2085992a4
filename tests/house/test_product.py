"""The product's own modules: no import cycles, and no public class name twice."""

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
