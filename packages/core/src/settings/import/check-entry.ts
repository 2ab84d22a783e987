/** Holds a converted entry against the rules of the settings: what they would refuse is not taken over. */

import { parseJsonc } from "../../files/json/jsonc.ts";
import { readTransport } from "../define/entry-transport.ts";
import { findVariables, type Mistake } from "../define/mentions.ts";
import { childNode } from "../read/nodes.ts";
import { validate, whyNotUrl } from "../schema/validate.ts";
import type { Remark } from "./program.ts";

export function checkEntry(name: string, entry: Readonly<Record<string, unknown>>): readonly Remark[] {
  const servers = Object.fromEntries([[name, entry]]);
  const { root } = parseJsonc(JSON.stringify({ mcpServers: servers }));
  const node = childNode(root, "mcpServers", name);
  if (root === undefined || node === undefined) return [];
  const findings = validate(root).filter(({ severity }) => severity === "error");
  const mistakes: Remark[] = [];
  readTransport(node, (severity, _node, message) => severity === "error" && mistakes.push(obstacle("", message)));
  return [
    ...mistakes,
    ...findings.map(({ path, message }) => obstacle(path.slice(2).join("."), message)),
    ...findVariables(node, undefined).mistakes.map((mistake) => obstacle(mistake.text.where, whatIsWrong(mistake))),
    ...checkAddress(entry["url"]),
  ];
}

function whatIsWrong(mistake: Mistake): string {
  switch (mistake.kind) {
    case "malformed":
      return `cannot be expanded: ${mistake.reason}`;
    case "secret-in-path":
      return `uses the secret ${mistake.secret}; a command and its folder are shown and approved, so they cannot hold one`;
    case "unset":
    case "confined":
      return `uses ${mistake.variable}, which has no value`;
  }
}

/** With a variable in it, an address is checked when it is used. The message quotes nothing: a key may be part of it. */
function checkAddress(value: unknown): readonly Remark[] {
  const isWrong = typeof value === "string" && !value.includes("$") && whyNotUrl(value, "url") !== undefined;
  return isWrong ? [obstacle("url", "is not an http:// or https:// address")] : [];
}

function obstacle(key: string, message: string): Remark {
  return { kind: "obstacle", key, message };
}
