"""Published toolkits of the Arcade system in pegboard, beside the same toolkits in their own framework.

`make toolkits` installs them in `.cache/toolkits`: all together for pegboard, and each generation with its framework.
It compares every definition, and the results of calls over the worker protocol and MCP. The services of the toolkits
are fakes on this machine (`services.py`). Small toolkits in `tests/samples/arcade_toolkits` are compared, too. The
answers of their own framework are kept in `captures`, which `make test` reads without a network.
"""
