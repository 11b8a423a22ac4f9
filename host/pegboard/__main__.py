"""`python -m pegboard` is the command `pegboard`."""

import sys

from pegboard.cli import main

sys.exit(main())
