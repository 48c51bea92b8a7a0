import pytest

from tests.browser.chromium import Page


@pytest.fixture(scope="session")
def browser(tmp_path_factory):
    page = Page(tmp_path_factory.mktemp("profile"))
    yield page
    page.close()
