"""Tables and figures of the paper."""
