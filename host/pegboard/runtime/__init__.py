"""The services that run beside calls: transports, message streams, stores, and the watchdog of the event loop."""
