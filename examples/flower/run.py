"""Trains a model on digits with 100 simulated devices, offline.

    pip install "shuffledp[federated]" "flwr[simulation]" scikit-learn
    python examples/flower/run.py

README.md says what is printed, and how to run the folder with `flwr run`.
"""

import os
import sys

# Before Flower is imported: nothing is reported to anybody, nothing is looked up.
os.environ["FLWR_TELEMETRY_ENABLED"] = "0"
os.environ["FLWR_DISABLE_UPDATE_CHECK"] = "1"
os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
os.environ["RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO"] = "0"

from shuffledp.errors import MissingExtraError
from shuffledp.federated.flower_extra import require_flower


def main() -> None:
    """Runs server and devices, or says what to install."""
    try:
        require_flower()
    except MissingExtraError as error:
        print(error, file=sys.stderr)
        sys.exit(2)
    import client_app
    import server_app
    import setting
    from flwr.simulation import run_simulation

    run_simulation(server_app.app, client_app.app, setting.NUM_CLIENTS)


if __name__ == "__main__":
    main()
