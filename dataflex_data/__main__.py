"""``python -m dataflex_data`` is ``dfdata``."""

from dataflex_data.cli.main import main

main()
