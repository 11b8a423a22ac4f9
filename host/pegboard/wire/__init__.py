"""JSON, JSON-RPC and `_meta`: the formats that all protocols share."""
