"""`python -m pegboard` is the command `pegboard`."""

import sys

from pegboard.module_path import leave_out_working_directory

if __name__ == "__main__":
    leave_out_working_directory(as_module=True)  # before anything else is imported
    from pegboard.cli import main

    sys.exit(main())
