"""What authors wrote, run: one function, once, with whatever it does kept inside its call."""
