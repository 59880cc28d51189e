// A task for the services, of what is shown: the link to its certificate says what that is.

const found = (id) => document.getElementById(id);
const shown = () => new URL(found("certificate").href).search;

async function write() {
  const query = shown();
  found("making").textContent = "";
  found("task").hidden = true;
  try {
    const response = await fetch(`/task${query}`);
    const content = await response.json();
    // It may have changed meanwhile.
    if (query !== shown()) return;
    found("making").textContent = response.ok ? "Replace its texts, and the minimum if fewer people may come." : content.detail;
    found("task").textContent = response.ok ? content.command : "";
    found("task").hidden = !response.ok;
  } catch {
    found("making").textContent = "The server does not answer: start shuffledp explore again.";
  }
}

function follow() {
  if (found("as-task").open) write();
}

found("as-task").addEventListener("toggle", follow);
new MutationObserver(follow).observe(found("certificate"), { attributeFilter: ["href"] });
