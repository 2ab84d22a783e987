/** The first steps of the app: chooses the model, shows the welcome text, and asks whether to trust the folder. */

import { demoName, type HostTool } from "@fairlead/core/host";
import type { ModelChoice } from "@fairlead/core/model";
import { type SettingsFile, sandboxLine } from "@fairlead/core/settings";
import { toVisibleLine } from "@fairlead/core/text/safe-text";
import { type Configuration, howToTrust, setFolderTrust, TrustLevel } from "@fairlead/core/trust";
import { firstProfile } from "../../commands/mcp/add/sandbox-offer.ts";
import { approveAnswered, type Pending, type Review, review } from "../../commands/trust.ts";
import { exampleCall } from "../../output/tools/signature.ts";
import { exampleServer } from "../../shell/example-server.ts";
import { hasDemo } from "../../targets/with-host.ts";
import { captured } from "../captured.ts";
import type { Services } from "../services.ts";

type TrustServices = Pick<Services, "session" | "context">;

/** Finds the servers of the folder that the user has not approved yet. Prints nothing on the screen. */
export function reviewHere({ context }: Pick<Services, "context">): Promise<Review> {
  return review(captured(context).context);
}

function hasWaiting({ servers }: Configuration): boolean {
  return servers.some(
    ({ admission }) =>
      admission.status === "blocked" &&
      (admission.reason === "awaiting_approval" || admission.reason === "untrusted_folder"),
  );
}

/**
 * Asks whether to trust the folder and approve all its servers. This is one question; `fairlead trust add` asks about
 * each server.
 */
export async function askTrust(found: Review, { session, context }: TrustServices): Promise<void> {
  const { root, pending, approved: before, needsTrust, trustedFolders, noSandbox } = found;
  const servers = pending.map((one) => ({
    server: one.server,
    definition: one.definition,
    changed: one.changed,
    offered: noSandbox === undefined ? offeredWords(one) : undefined,
  }));
  const answer = await session.ask("trust", { kind: "trust", root, servers, approved: before });
  if (!answer)
    return session.note(
      "info",
      `Not trusted: ${toVisibleLine(root)}. None of its servers was started.`,
      "/trust asks again",
    );
  const answered = pending.map((server) =>
    answer === "sandboxed" && server.paths !== undefined ? { server, profile: firstProfile(server.paths) } : { server },
  );
  await session.host.changeSettings(async () => {
    if (needsTrust) await setFolderTrust(trustedFolders, root, TrustLevel.TRUST_FOLDER);
    await approveAnswered(answered, found, captured(context).context);
  });
  const { trust, locations } = session.host.configuration;
  if (!trust.trusted)
    return session.note("warning", `The folder is still not trusted: ${trust.detail}`, howToTrust(trust, locations));
  session.note(
    "info",
    `Trusted: ${toVisibleLine(root)}. Approved: ${pending.map(({ name }) => toVisibleLine(name)).join(", ") || "no servers"}.`,
    "to revoke this: /trust remove",
  );
  session.host.start().catch(session.fail);
}

/** The sandbox of the answer `sandboxed`: the program reads what its entry names. Undefined if the entry says something. */
function offeredWords({ paths, definition }: Pending): string | undefined {
  if (paths === undefined) return undefined;
  const profile = firstProfile(paths);
  const read = typeof profile === "object" && Array.isArray(profile["read"]) ? profile["read"].map(String) : [];
  return sandboxLine({
    ...definition,
    sandbox: { read, write: [], hosts: [], tcp: [], env: [], isNamed: true, origin: undefined },
  });
}

/** Chooses the model and shows the welcome text. `wanted`: the value of `--model`. */
export async function chooseAtStart({ session, models }: Services, wanted: string | undefined): Promise<void> {
  const choice = wanted === models.manual.name ? undefined : await models.find(wanted);
  if (choice?.kind === "model") session.setModel(choice.model);
  const { configuration } = session.host;
  if (hasDemo(configuration)) await session.host.start({ servers: [demoName] });
  const tools = session.host.tools(demoName);
  const example = configuration.servers.length === 0 ? await exampleServer(configuration) : undefined;
  session.show("Fairlead", welcomeText({ configuration, tools, choice, wanted, example }));
}

/**
 * Asks whether to trust the folder if some of its servers need that to start. Does not ask if the folder's trust rule
 * is `DO_NOT_TRUST`, or if the IDE does not trust the folder.
 */
export async function askIfWaiting(services: Services): Promise<void> {
  const { configuration } = services.session.host;
  if (!hasWaiting(configuration)) return;
  const { trusted, source } = configuration.trust;
  // If the IDE does not trust the folder, a new rule would have no effect.
  if (source === "ide" && !trusted) return;
  const found = await reviewHere(services);
  // A server added with `/mcp add` is already approved, so it is not pending. It only waits for the folder to be
  // trusted.
  const isWaiting = found.pending.length > 0 || (found.needsTrust && found.approved.length > 0);
  if (isWaiting && found.rule !== TrustLevel.DO_NOT_TRUST) await askTrust(found, services);
}

interface Welcome {
  readonly configuration: Configuration;
  readonly tools: readonly HostTool[];
  readonly choice: ModelChoice | undefined;
  readonly wanted: string | undefined;
  /** The name and the command of a server that can start here. */
  readonly example: string | undefined;
}

const mostModels = 5;

function welcomeText(welcome: Welcome): string {
  const { configuration, tools, example } = welcome;
  const { servers } = configuration;
  return [
    ...foundLines(configuration),
    ...modelLines(welcome),
    ...(servers.length > 0 ? [] : ["", ...demoLines(tools), "", ...addLines(example)]),
    "",
    "/help shows everything; /mcp shows the servers.",
  ].join("\n");
}

function foundLines({ settings, locations, trust, servers }: Configuration): readonly string[] {
  const read = settings.files.filter(({ state }) => state !== "absent").map(fileWords);
  const trustWords = trust.trusted ? "trusted" : "not trusted";
  return [
    `workspace  ${toVisibleLine(locations.root)} (${trustWords}: ${toVisibleLine(trust.detail)})`,
    `settings   ${read.length === 0 ? "none yet" : read.join(", ")}`,
    `servers    ${servers.length === 0 ? "none configured" : servers.map(({ server }) => toVisibleLine(server.name)).join(", ")}`,
  ];
}

function fileWords({ file, state }: SettingsFile): string {
  const name = toVisibleLine(file);
  return state === "read" ? name : `${name} (${state})`;
}

function modelLines({ choice, wanted }: Welcome): readonly string[] {
  if (choice?.kind === "model") return [`model      ${toVisibleLine(choice.model.name)}`];
  const none = "model      no model configured: call tools yourself, as server.tool key=value";
  if (choice === undefined) return ["model      none (--model manual): call tools yourself, as server.tool key=value"];
  if (choice.kind === "none") return [none, `           ${choice.next} Then start Fairlead again.`];
  const models = choice.ollama.models.map(toVisibleLine);
  const named = `${models.slice(0, mostModels).join(", ")}${models.length > mostModels ? ", …" : ""}`;
  const unknown = wanted === undefined ? "" : ` No configured provider has the model "${toVisibleLine(wanted)}".`;
  return [none, `          ${unknown} Ollama is running with ${named}. To use one: /model ${models[0] ?? "NAME"}`];
}

function demoLines(tools: readonly HostTool[]): readonly string[] {
  const [first] = tools;
  if (first === undefined) return [];
  return [
    `To try things out, use the built-in server ${first.server}: ${tools.map(({ serverToolName }) => serverToolName).join(", ")}.`,
    `  ${exampleCall(first)}`,
    `  /form ${first.server}.${first.serverToolName}     the same, as a form`,
    `  /tools     list the tools`,
  ];
}

function addLines(example: string | undefined): readonly string[] {
  return [
    "To add a server:",
    ...(example === undefined ? [] : [`  /mcp add -s user ${example}`]),
    "  /mcp add -s user NAME https://…     a server on the network",
    "  /mcp import     the servers of your other programs",
  ];
}
