"""JSON, JSON-RPC and `_meta`: the formats that every protocol on the wire shares."""
