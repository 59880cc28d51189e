"""What passes through the documented proxy, and what does not."""

from pathlib import Path

import httpx
import numpy as np
import pytest
from documented_proxy import NGINX, nginx
from live_collection import task_for
from live_services import pair

from shuffledp_services.wire.step import Step
from shuffledp_services.wire.upload_format import max_reports, report_size, write_header


@pytest.mark.slow
@pytest.mark.skipif(NGINX is None, reason="Needs nginx.")
def test_the_documented_proxy_passes_answers_on_and_notes_no_address(
    tmp_path: Path,
) -> None:
    who = task_for("frequency")
    shuffler, _ = pair(who, tmp_path)
    step, rng = Step(who.task, 1), np.random.default_rng(1)
    rows = rng.integers(0, 256, (max_reports(step), report_size(step)), dtype=np.uint8)
    forged = write_header(step) + rows.tobytes()

    with shuffler, nginx(tmp_path, shuffler.setup.port) as port:
        url = f"http://127.0.0.1:{port}/tasks/{who.task.identity}"
        # The service ends these while the proxy is still writing.
        refused = [
            httpx.post(f"{url}/reports", content=forged, trust_env=False)
            for _ in range(5)
        ]
        with httpx.Client(trust_env=False) as client:
            many = [client.get(url).status_code for _ in range(80)]
        large = httpx.post(f"{url}/reports", content=bytes(2**24), trust_env=False)
    noted = (tmp_path / "error.log").read_text()

    assert [answer.status_code for answer in refused] == [403] * 5
    assert all("token-forged" in answer.text for answer in refused)
    assert many[0] == 200
    assert 503 in many
    assert large.status_code in (413, 503)
    assert "client:" not in noted
    assert not list((tmp_path / "client_body").iterdir())
