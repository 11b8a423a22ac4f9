"""Content blocks: what may be in them, and what authors return made into them."""
