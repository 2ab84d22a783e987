/** Events of turns, written by hand, for tests of outputs. */

import { HostError } from "@fairlead/core/errors";
import type { CallEvent, TurnEvent } from "@fairlead/core/turn/events";

const greet = { type: "call", id: "1", name: "greet", server: "demo", serverToolName: "greet", args: { name: "Ada" } };
const wipe = { type: "call", id: "2", name: "wipe", server: "disk", serverToolName: "wipe", args: {} };
const picture = { type: "call", id: "3", name: "picture", server: "demo", serverToolName: "picture", args: {} };

export const denial = { code: "denied", message: "disk.wipe may not run", next: "fairlead policy allow disk.wipe" };
export const media: CallEvent["media"] = [{ mimeType: "image/png", data: "iVBORw0KGgo=" }];

/** One of everything, but for errors. */
export const wholeTurn = [
  { type: "waiting", servers: ["demo", "disk", "slow"] },
  { type: "missing", servers: [{ server: "slow", message: "did not answer in time", next: "fairlead mcp test slow" }] },
  { type: "quarantined", server: "odd", serverToolName: "twist", reason: "schema: no such type" },
  { type: "note", message: "12 tools were left out" },
  { type: "retry", attempt: 1, delayMs: 1250, reason: "429" },
  { type: "thought", text: "I should greet." },
  { type: "text", text: "Let me " },
  { type: "text", text: "see." },
  { type: "usage", inputTokens: 100, outputTokens: 10, cachedTokens: 40 },
  { ...greet, status: "requested" },
  { ...wipe, status: "requested" },
  { ...picture, status: "requested" },
  { ...greet, status: "queued" },
  { ...greet, status: "running", rule: "--allow" },
  { type: "progress", id: "1", progress: 1, total: 2, message: "half" },
  { ...greet, status: "ok", rule: "--allow", display: "Hello, Ada!", durationMs: 12, files: ["/kept/1.txt"] },
  { ...wipe, status: "denied", error: denial },
  { ...picture, status: "running" },
  { ...picture, status: "ok", display: "[image]", durationMs: 3, media },
  { type: "text", text: "Ada is greeted,\nthe disk " },
  { type: "text", text: "is not wiped." },
  { type: "usage", inputTokens: 200, outputTokens: 20 },
  {
    type: "done",
    reason: "stop",
    text: "Ada is greeted,\nthe disk is not wiped.",
    denied: 1,
    calls: 3,
  },
] as readonly TurnEvent[];

export const failure: HostError = new HostError("model", "the quota is used up", { next: "Wait until tomorrow." });
