"""What all tests share: no test reads or writes the user's store of tuned plans."""

from collections.abc import Iterator

import pytest


@pytest.fixture(autouse=True, scope="session")
def _store_of_the_session(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("INDEXING_TUNE_STORE", str(tmp_path_factory.mktemp("tuning") / "tuning.sqlite"))
        yield
