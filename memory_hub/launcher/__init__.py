"""What `bin/start` and `bin/manage` do once the install is complete. Plain Python: Django runs in children only."""
