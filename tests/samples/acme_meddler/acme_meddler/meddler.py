"""Changes the process while it is imported."""

import asyncio
import gc
import io
import locale
import logging
import os
import signal
import sys
import warnings

os.chdir("/")
sys.stdout = io.StringIO()
signal.signal(signal.SIGHUP, lambda *_: None)
logging.getLogger().addHandler(logging.NullHandler())
with warnings.catch_warnings(action="ignore"):  # policies are deprecated since Python 3.14
    asyncio.set_event_loop_policy(asyncio.DefaultEventLoopPolicy())
warnings.simplefilter("error")
locale.setlocale(locale.LC_CTYPE, "C")
sys.path.append("/nowhere")
gc.set_threshold(12345)
