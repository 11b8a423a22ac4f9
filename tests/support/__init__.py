"""What several groups of tests share: no tests in here."""
