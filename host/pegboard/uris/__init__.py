"""URI templates (RFC 6570), expanded and matched."""
