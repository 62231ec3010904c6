"""What lets the real verl 0.9 train on a machine without a GPU, for tests and the CPU demo only.

Two doubles enter through verl's own registries, a platform named ``cpu`` and a rollout backend
named ``hfcpu``; trainer, replay buffer, TransferQueue, agent loop, FSDP engine, loss, weight sync
and checkpoints are verl's. Not part of the wheel.
"""
