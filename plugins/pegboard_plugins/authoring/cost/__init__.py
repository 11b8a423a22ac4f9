"""`pegboard cost`: the estimated number of tokens that the tools cost in each request of a model."""
