"""Vocabulary and ground floor shared by every sub-package; imports neither torch, verl nor ray."""
