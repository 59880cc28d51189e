"""Training a model with personal privacy levels: clients, frameworks, guarantees."""
