"""Mix actuators: one file each, registered by name in `dataflex_data.samplers.mixer.MIXERS`."""
