"""`--config` pairs: what YAML made of them is what the user typed, or it is said."""

import pytest

from scripts.campaign.errors import CampaignError
from scripts.campaign.options import check_options


@pytest.mark.parametrize(
    ("key", "value", "typed", "said"),
    [
        ("name", 20241201, "name=2024_12_01", """2024_12_01 is no text for YAML; write name='"2024_12_01"'"""),
        ("name", 100000.0, "name=1e5", "1e5 is no text"),
        ("input", 8, "input=010", "010 is no text"),
        ("input", True, "input=yes", "yes is no text"),
        ("input", ["a", "b"], "input=[a,b]", "[a,b] is no text"),
        ("input", None, "input=", "empty"),
        ("name", "", "name=", "empty"),
    ],
)
def test_what_yaml_does_not_leave_as_it_was_typed_is_said(monkeypatch, key, value, typed, said):
    monkeypatch.setattr("sys.argv", ["snakemake", "--config", "campaign=imported", typed])
    with pytest.raises(CampaignError) as caught:
        check_options({"campaign": "imported", "input": "x", key: value})
    assert said in str(caught.value)


@pytest.mark.parametrize(("value", "typed"), [(2024, "name=2024"), ("2024_12", """name='"2024_12"'"""), (2024, "")])
def test_numbers_that_are_what_was_typed_are_texts(monkeypatch, value, typed):
    monkeypatch.setattr("sys.argv", ["snakemake", "--config", typed])
    assert check_options({"campaign": "imported", "input": "x", "name": value}).name == str(value)
