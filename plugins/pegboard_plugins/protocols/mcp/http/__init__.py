"""Sessions over Streamable HTTP: their requests, calls, streams and stores."""
