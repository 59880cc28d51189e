"""Device: randomizes and seals answers, keeps its state, checks receipts."""
