/** A policy file that exists for one reading, and what came of it in words. */

import { temporaryFolder } from "@fairlead/test-servers";
import { type FileTier, type ReadPolicyFile, readPolicyFile } from "../../src/policy/rules/policy-file.ts";
import type { PolicyRule } from "../../src/policy/rules/rule.ts";

const servers = ["github", "a", "a_b", "__proto__"];

export async function read(text: string, tier: FileTier = "user"): Promise<ReadPolicyFile & { readonly file: string }> {
  await using folder = await temporaryFolder();
  const file = await folder.write("rules.toml", text);
  const found = await readPolicyFile(file, { tier, servers });
  if (found === undefined) throw new Error("the file is gone");
  return { file, ...found };
}

/** A rule in one line: decision, priority, server/tool, and the line it stands on. */
export function told({ decision, priority, server, tool, kind, origin, ...rest }: PolicyRule): string {
  const names = `${server?.text ?? "·"}/${tool?.text ?? "·"}${kind === undefined ? "" : ` ${kind}`}`;
  const more = Object.entries<unknown>(rest).flatMap(([name, value]) =>
    name === "tier" || value === undefined ? [] : [name],
  );
  return [`${decision} ${priority} ${names}`, ...more, `:${origin.line}`].join(" ");
}

export function said({ problems }: ReadPolicyFile): readonly string[] {
  return problems.map(
    ({ severity, origin, message, next }) =>
      `${severity} ${origin?.line}:${origin?.column} ${message}${next === undefined ? "" : ` | ${next}`}`,
  );
}
