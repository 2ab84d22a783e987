/** `fairlead mcp outdated`: shows what the registries say about the servers that come from them. */

import { HostError } from "@fairlead/core/errors";
import { toShellWord } from "@fairlead/core/plain-text";
import { joinSafe, padSafe, type SafeText, safe, toSafeLine, toVisibleLine } from "@fairlead/core/text/safe-text";
import { count, type Output } from "../../output/output.ts";
import { ageWords } from "../../output/time-text.ts";
import { downloadOf } from "../../pin/pin-server.ts";
import { configurationOf } from "../../shell/configuration.ts";
import type { Verb } from "../../shell/verb.ts";
import { type PublishedState, publishedServers, publishedStates } from "./registry/published-servers.ts";

export const verb: Verb = {
  help: `
Reads the registries of the servers that fairlead mcp add took from a registry, and shows the newest version of each. Names
servers that are deprecated or deleted there: a deleted one is usually malware or spam. Names also servers whose package has
no exact version (fairlead mcp pin). Changes nothing.

Examples:
  fairlead mcp outdated
  fairlead mcp outdated --json
  fairlead mcp update weather       update one of them`,

  async run(context) {
    const { io, out, globals } = context;
    const configuration = await configurationOf(context);
    const { servers } = configuration;
    const states = await publishedStates(publishedServers(servers), configuration, io);
    const unpinned = servers.flatMap(({ server: { name, definition } }) =>
      definition !== undefined && downloadOf(definition)?.pinned === false ? [name] : [],
    );
    const [failure] = states.flatMap((state) => state.failure ?? []);
    // There is nothing to show: no registry answers, and nothing is on disk.
    if (failure !== undefined && states.every((state) => state.failure !== undefined))
      throw new HostError(failure.code, failure.message, failure.next === undefined ? {} : { next: failure.next });
    if (globals.json) return out.json({ servers: states.map(document), unpinned });
    const widest = Math.max(0, ...states.map(({ server }) => server.name.length));
    for (const state of states) out.print(stateText(state, widest, out));
    for (const { cached, origin } of states)
      if (cached !== undefined)
        out.warnOnce(
          safe`${toSafeLine(cached.why.message)}; ${toSafeLine(origin.registry ?? "")} is shown as of ${ageWords(cached.age)} ago`,
        );
    if (states.length === 0) out.say(safe`no server comes from a registry`);
    if (unpinned.length > 0)
      out.say(
        safe`${count(unpinned.length, "server")} without an exact version: ${toVisibleLine(unpinned.join(", "))}\n  next: fairlead mcp pin --all`,
      );
  },
};

function document({ server, origin, status, newest, message, cached }: PublishedState): object {
  return {
    name: server.name,
    published: origin.name,
    registry: origin.registry,
    version: origin.version,
    newest: newest?.version,
    status,
    message,
    age: cached?.age,
  };
}

function stateText(
  { server, origin, status, newest, message }: PublishedState,
  widest: number,
  { style }: Output,
): SafeText {
  const name = padSafe(toVisibleLine(server.name), widest);
  const head = safe`${name}  ${toVisibleLine(origin.version)}`;
  const why = message === undefined ? safe`` : safe`: ${toVisibleLine(message)}`;
  const update = safe`next: fairlead mcp update ${toSafeLine(toShellWord(server.name))}`;
  switch (status) {
    case "current":
      return safe`${head}  newest`;
    case "outdated":
      return joinSafe([
        safe`${head}  ${style.yellow(safe`newer: ${toVisibleLine(newest?.version ?? "")}`)}`,
        safe`  ${update}`,
      ]);
    case "deprecated":
      return joinSafe([
        safe`${head}  ${style.yellow(safe`deprecated`)}${why}`,
        ...(newest === undefined || newest.version === origin.version ? [] : [safe`  ${update}`]),
      ]);
    case "deleted":
      return joinSafe([
        safe`${head}  ${style.red(safe`deleted from the registry`)}${why}`,
        safe`  next: fairlead mcp remove ${toSafeLine(toShellWord(server.name))}`,
      ]);
    case "unknown":
      return safe`${head}  unknown${why}`;
  }
}
