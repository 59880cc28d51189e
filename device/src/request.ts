// Requests to a shuffler, which carry nothing that names the participant.

import { DeviceError } from "./device-error.js";
import type { Problem } from "./device-error.js";

const OPTIONS: RequestInit = {
  cache: "no-store",
  credentials: "omit",
  redirect: "error",
  referrerPolicy: "no-referrer",
};

/**
 * Returns the text of a shuffler's answer.
 *
 * @throws DeviceError if there is none, or if it is a refusal.
 */
export async function request(url: string, options: RequestInit = {}): Promise<string> {
  let response: Response;
  let text: string;
  try {
    response = await fetch(url, { ...options, ...OPTIONS });
    text = await response.text();
  } catch {
    throw new DeviceError("unreachable", { retry: true });
  }
  if (!response.ok) {
    throw new DeviceError("refused", { problem: readProblem(text), retry: response.status >= 500 });
  }
  return text;
}

function readProblem(text: string): Problem {
  try {
    return (JSON.parse(text) as Problem | null) ?? {};
  } catch {
    return {};
  }
}
