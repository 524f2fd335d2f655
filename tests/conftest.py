"""What every run of the tests has in common."""

import attention  # noqa: F401 - its primitives are registered, so the tests walk them too
