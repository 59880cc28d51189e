"""A randomizer per level, a shuffle and an estimator that fit together."""
