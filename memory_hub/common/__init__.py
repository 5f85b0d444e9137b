"""What every room may use: errors, ids, clock, text, pagination. No models, no import from other rooms."""
