"""The smallest known counterexamples, each with a program of five lines that shows it."""
