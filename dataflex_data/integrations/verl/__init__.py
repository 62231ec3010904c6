"""What plugs into verl. Importing this package needs neither verl nor torch."""
