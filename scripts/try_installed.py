"""Uses installed packages as people do: commands, and the page of a shuffler.

Arguments: which of library, services and papers must be there, and no other.
"""

import json
import re
import subprocess
import sys
import tempfile
import urllib.request
from contextlib import chdir
from pathlib import Path

import shuffledp

PACKAGES = {
    "services": ("explore", "task", "enrol", "serve", "device"),
    "papers": ("reproduce", "claims", "leaderboard"),
}
COMMAND = str(Path(sys.executable).with_name("shuffledp"))
TASK = (
    "task", "create", "survey", "--name", "Survey", "--question", "Do you smoke?",
    "--asker", "Somebody", "--contact", "somebody@example.org",
    "--consent", "All answers are counted.",
    "--statistic", "sum", "--levels", "0.5,1,2", "--minimum", "1000",
    "--shuffler", "survey/shuffler.public.json",
    "--enroller", "survey/enroller.public.json",
)  # fmt: skip
SHUFFLER = (
    "serve", "shuffler", "survey", "--database", "sqlite:///shuffler.db",
    "--analyst", "http://localhost:9", "--port", "0",
)  # fmt: skip


def run(*arguments: str) -> str:
    """Returns what a command prints."""
    return subprocess.run(
        [COMMAND, *arguments], check=True, stdout=subprocess.PIPE, text=True
    ).stdout


def try_commands() -> None:
    """The accountant's answer is as documented; quickstart writes its report."""
    question = ("--levels", "0.5:25000,1:50000,2:25000", "--categories", "17")
    answer = json.loads(run("account", *question, "--delta", "1e-6", "--json"))
    certified = [level["epsilon_central"] for level in answer["levels"]]
    assert certified == [0.00189552, 0.00523309, 0.0172219], certified
    run("quickstart")
    assert list(Path("shuffledp-report").glob("*.html")), "quickstart wrote no report"


def try_packages(names: list[str]) -> None:
    """Commands of a package are listed, or it is stated which package has them."""
    listed = run("--help")
    for name, commands in PACKAGES.items():
        missing = f"shuffledp-{name}" in listed
        assert missing == (name not in names), listed
        assert all(command in listed for command in commands), listed


def try_claims() -> None:
    """A published claim falls by its own five lines of Python."""
    program = run("claims", "--case", "V7b", "--python")
    subprocess.run([sys.executable, "-c", program], check=True)


def try_page() -> None:
    """The shuffler's link leads to the page, and the page to its script."""
    for role in ("analyst", "shuffler", "enroller"):
        run("task", "init", role, "survey")
    run(*TASK)
    run("task", "sign", "survey")
    # Each party has a folder of its own: a shuffler does not start beside these keys.
    Path("survey/analyst.json").rename("analyst.json")
    shuffler = subprocess.Popen([COMMAND, *SHUFFLER], stdout=subprocess.PIPE, text=True)
    try:
        assert shuffler.stdout is not None
        said = shuffler.stdout.readline()
        link = re.search(r"take part at (http\S+)#token=", said)
        assert link is not None, f"no link to the page: {said!r}"
        page = link[1]
        root = page[: page.index("/tasks/")]
        for address, kind in (
            (page, "text/html"),
            (f"{root}/take-part/page.js", "text/javascript"),
            (f"{root}/take-part/style.css", "text/css"),
        ):
            with urllib.request.urlopen(address) as answer:
                assert answer.headers.get_content_type() == kind, address
                assert len(answer.read()) > 1000, address
    finally:
        shuffler.terminate()
        shuffler.wait(30)


def main() -> None:
    """Tries everything, in a folder that is removed afterwards."""
    installed = Path(shuffledp.__file__).parent
    assert "site-packages" in installed.parts, f"not an installed package: {installed}"
    names = sys.argv[1:]
    with tempfile.TemporaryDirectory() as folder, chdir(folder):
        try_commands()
        try_packages(names)
        if "services" in names:
            try_page()
        if "papers" in names:
            try_claims()
    print(f"shuffledp {shuffledp.__version__} works: {', '.join(names)}.")


if __name__ == "__main__":
    main()
