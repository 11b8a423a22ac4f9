"""Texts for models: what is wrong with arguments and results, and which characters texts may hold."""
