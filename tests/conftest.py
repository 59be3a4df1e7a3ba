"""What all tests share: random tests have fixed seeds, and no test reads or writes the user's store of tuned plans.

`pytest --hypothesis-profile=default` draws new examples.
"""

import gc
from collections.abc import Generator, Iterator

import pytest
from hypothesis import settings

settings.register_profile("fixed", derandomize=True, deadline=None, database=None)
settings.load_profile("fixed")


gc.set_threshold(
    50_000, 20, 100
)  # JAX and Hypothesis watch each collection, and little of what tests make is in cycles


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Modules, functions and parameters of tests stay: the garbage collector need not go through them again and again."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


@pytest.fixture(autouse=True, scope="session")
def _store_of_the_session(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    store = tmp_path_factory.mktemp("tuning") / "tuning.sqlite"
    store.touch()  # an empty store, for a named one that isn't there is refused
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("INDEXING_TUNE_STORE", str(store))
        yield
