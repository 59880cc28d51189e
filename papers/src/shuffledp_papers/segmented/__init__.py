"""Wang et al. (2025): segmented multi-message aggregation."""
