"""The contamination audit over Ray Data, for corpora that outgrow one machine."""
