"""What every report shares: terminal tables and progress, plots, the self-contained HTML shell."""
