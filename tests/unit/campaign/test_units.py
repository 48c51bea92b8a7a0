import pytest

from scripts.campaign.units import parse_bytes, parse_seconds, short_bytes


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("4k", 4096),
        ("4K", 4096),
        ("4kb", 4096),
        ("64KiB", 65536),
        ("1g", 1 << 30),
        ("1.5g", 3 << 29),
        ("0x1000", 4096),
        ("512", 512),
        (512, 512),
        ("2t", 2 << 40),
        ("16 MiB", 16 << 20),
        (0, 0),
    ],
)
def test_sizes(text, expected):
    assert parse_bytes(text) == expected


@pytest.mark.parametrize("text", ["4q", "", "k", "-1", -1, True, None, 1.5, "4k4", "1.0001k", "4 k b"])
def test_sizes_that_are_none(text):
    with pytest.raises(ValueError, match="size in bytes"):
        parse_bytes(text)


@pytest.mark.parametrize(
    ("text", "expected"),
    [("30", 30), ("30s", 30), ("500ms", 0.5), ("2m", 120), ("1h", 3600), (1.5, 1.5), ("10us", 1e-5)],
)
def test_times(text, expected):
    assert parse_seconds(text) == pytest.approx(expected)


@pytest.mark.parametrize("text", ["x", "-1", "1w", True, None, float("inf"), float("nan")])
def test_times_that_are_none(text):
    with pytest.raises(ValueError, match="a time such as"):
        parse_seconds(text)


def test_short():
    assert [short_bytes(n) for n in (4096, 1536, 1 << 30, 0)] == ["4k", "1536", "1g", "0"]
