"""The tools, by what they are about. Importing one of these modules puts its tools into the toolkit."""
