"""What all tests share: readable failures from the checking code beside them."""

import pytest

pytest.register_assert_rewrite("reference")
