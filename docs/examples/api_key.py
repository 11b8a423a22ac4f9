"""A tool declares the secrets that it reads, and is given these and no others.

$ WEATHER_KEY=k-12345 pegboard call --file api_key.py station_measure
measured with a key of 7 characters
"""

from pegboard import Context, Toolkit

kit = Toolkit("station")


@kit.tool(requires_secrets=["WEATHER_KEY"])
def measure(context: Context) -> str:
    """Ask a weather station."""
    return f"measured with a key of {len(context.get_secret('WEATHER_KEY'))} characters"


if __name__ == "__main__":
    kit.run()
