"""The contracts of plugins as tests to inherit: a class for each contract, a test for each rule."""
