"""The command ``dfdata``: one file per verb, each with ``register(app)``; heavy imports inside."""
