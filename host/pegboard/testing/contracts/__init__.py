"""What the host expects of what plugins bring, as tests to inherit: a class for each contract, a test for each rule."""
