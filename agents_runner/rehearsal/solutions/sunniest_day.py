import pandas as pd


def find_sunniest_day(path: str) -> dict[str, object]:
    """Find the day with most sunlight in a TMY3 weather file (hourly, one station, station line above the header).

    The clock in these files runs from 01:00 to 24:00 and marks the END of each hour, and 24:00 is no time that
    pandas accepts. The start of the hour, one earlier, is always valid and keeps 24:00 on its own day.

    Returns {"station", "days", "sunniest_day" (ISO date), "sunlight" and "mean_sunlight" (Wh/m^2 per day)}.
    """
    station = pd.read_csv(path, header=None, nrows=1)[1][0]
    hours = pd.read_csv(path, skiprows=1)

    start_hour = hours["Time (HH:MM)"].str.slice(0, 2).astype(int) - 1
    date = pd.to_datetime(hours["Date (MM/DD/YYYY)"], format="%m/%d/%Y")
    start = date + pd.to_timedelta(start_hour, unit="h")

    # a mean power of 1 W/m^2 over one hour is 1 Wh/m^2
    daily = hours["GHI (W/m^2)"].groupby(start.dt.date).sum()
    return {
        "station": station.strip(),
        "days": len(daily),
        "sunniest_day": daily.idxmax().isoformat(),
        "sunlight": int(daily.max()),
        "mean_sunlight": round(float(daily.mean()), 1),
    }
