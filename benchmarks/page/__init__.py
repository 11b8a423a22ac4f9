"""The results page of the documentation and its pictures, made from the results of a run."""
