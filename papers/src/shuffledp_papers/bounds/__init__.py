"""The literature's bounds as their authors printed them: for comparison, not for proof."""
