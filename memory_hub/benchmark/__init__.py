"""How well and how fast recall finds what is stored, measured on a hub made for it: bin/manage benchmark_recall."""
