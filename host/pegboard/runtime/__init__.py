"""Everything that runs beside calls: transports, streams, stores, and the watchdog of the event loop."""
