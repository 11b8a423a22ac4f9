"""URI templates (RFC 6570), parsed and matched against URIs."""
