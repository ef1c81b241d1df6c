"""Every MUST of the requirement documents, and the tests that prove it.

``*.toml`` here list the requirements: a stable id, where it comes from, and what must hold, in our
own words. A test claims one with ``@pytest.mark.requirement("ID")``. ``test_claims.py`` fails when
a requirement has no test, and when a test claims a requirement that is not listed.
"""
