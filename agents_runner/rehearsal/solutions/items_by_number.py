import pandas as pd


def summarise_items(path: str) -> dict[str, object]:
    """Merge the shipments of a surplus list into one entry per item, known by its stock number ("nsn").

    A row is one shipment, and the same row may stand there many times: each repetition is another shipment, so
    quantities and values are added up and nothing is dropped.

    Returns {"rows", "repeated_rows", "items", "units", "value" (dollars), "most_valuable": {"nsn", "name",
    "units", "value"}}.
    """
    shipments = pd.read_csv(path, dtype={"nsn": str})
    items = shipments.groupby("nsn").agg(
        name=("item_name", "first"), units=("quantity", "sum"), value=("total_cost", "sum")
    )
    top = items["value"].idxmax()
    return {
        "rows": len(shipments),
        "repeated_rows": int(shipments.duplicated().sum()),
        "items": len(items),
        "units": int(items["units"].sum()),
        "value": round(float(items["value"].sum()), 2),
        "most_valuable": {
            "nsn": top,
            "name": items.loc[top, "name"],
            "units": int(items.loc[top, "units"]),
            "value": round(float(items.loc[top, "value"]), 2),
        },
    }
