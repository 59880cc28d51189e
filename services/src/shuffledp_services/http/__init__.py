"""HTTP for both services and their clients: limits, deadlines, problem documents."""
