"""Text that people or agents wrote, turned into safe HTML: code, differences, Markdown. No models, no requests."""
